//! Decides for which rules patterns are analysed. Finding the literals that a pattern requires
//! takes longer than everything else that planning does for a rule, and is useless if a better key
//! finds the rule anyway.

use super::conjuncts::{MAX_CONJUNCTS, conjuncts};
use super::estimate::{CROWD, LEAST_OF_PARTS, chance_of_turn};
use super::finder::Finder;
use super::keys::{KeyGroupId, KeyId, LookupKind};
use crate::lower::merge::MergedGraph;
use celero_ir::NodeId;

/// What is known of the keys of all rules before patterns are analysed.
#[derive(Default)]
pub(super) struct OtherKeys {
    /// Number of rules, the first of the merged graph, whose keys are counted.
    counted: usize,
    /// Indexed by key: number of rules that have it.
    rules: Vec<u32>,
    /// Indexed by group: number of its keys.
    distinct: Vec<u32>,
}

impl OtherKeys {
    /// Counts the keys of the rules that were added to the merged graph since the last call.
    pub(super) fn count(&mut self, merged: &MergedGraph, finder: &mut Finder<'_>) {
        let rules = merged.rules.get(self.counted..).unwrap_or_default();
        self.counted = merged.rules.len();
        for &id in rules.iter().flat_map(|rule| conjuncts(merged, &rule.root)) {
            let Some(access) = finder.access_but_of_pattern(id) else { continue };
            let keys = &finder.paths.keys;
            let [all, groups, _] = keys.len();
            self.rules.resize(all, 0);
            self.distinct.resize(groups, 0);
            for &key in keys.get(access).map_or(&[][..], |access| keys.list(access.keys)) {
                let group = keys.group_of(key).and_then(|group| self.distinct.get_mut(group as usize));
                let Some((rules, distinct)) = self.rules.get_mut(key as usize).zip(group) else { continue };
                *distinct = distinct.saturating_add(u32::from(*rules == 0));
                *rules = rules.saturating_add(1);
            }
        }
    }

    /// Whether a rule with these conjuncts is found well without its patterns: by a text that few
    /// rules compare with, and that is rarer than any literal of a pattern is estimated to be.
    pub(super) fn suffice(&self, finder: &mut Finder<'_>, conjuncts: &[NodeId]) -> bool {
        conjuncts.iter().take(MAX_CONJUNCTS).any(|&id| {
            let access = finder.access_but_of_pattern(id).and_then(|access| finder.paths.keys.get(access));
            let keys = access.map_or(&[][..], |access| finder.paths.keys.list(access.keys));
            let chances = keys.iter().map(|&key| self.chance(finder, key));
            !keys.is_empty() && chances.sum::<f64>() < LEAST_OF_PARTS
        })
    }

    /// Estimated probability that a key holds, if it is a text that few rules compare with; otherwise 1.
    fn chance(&self, finder: &Finder<'_>, key: KeyId) -> f64 {
        let is_of_few = self.rules.get(key as usize).is_some_and(|rules| *rules as usize <= CROWD);
        let is_text =
            |group: &KeyGroupId| finder.paths.keys.group(*group).is_some_and(|(_, kind)| kind == LookupKind::Is);
        let group = finder.paths.keys.group_of(key).filter(is_text).filter(|_| is_of_few);
        let distinct = group.and_then(|group| self.distinct.get(group as usize));
        distinct.map_or(1.0, |distinct| chance_of_turn(*distinct))
    }
}
