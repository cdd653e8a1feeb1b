//! Decides for which rules patterns are analysed. Finding the literals that a pattern requires takes longer than everything else that
//! planning does for a rule, and is useless if a better key finds the rule anyway.

use super::access_path::Finder;
use super::conjuncts::{MOST_CONJUNCTS, conjuncts};
use super::estimate::{CROWD, LEAST_OF_PARTS, chance_of_turn};
use super::keys::{AccessPathId, KeyGroupId, KeyId, LookupKind};
use crate::lower::merge::MergedGraph;
use celero_ir::NodeId;

/// What is known of the keys of all rules before patterns are analysed.
pub(super) struct OtherKeys {
    /// Indexed by key: number of rules that have it.
    rules: Vec<u32>,
    /// Indexed by group: number of its keys.
    distinct: Vec<u32>,
}

impl OtherKeys {
    pub(super) fn new(merged: &MergedGraph, finder: &mut Finder<'_>) -> Self {
        let all = merged.rules.iter().flat_map(|rule| conjuncts(merged, &rule.root));
        let accesses: Vec<AccessPathId> = all.filter_map(|&id| finder.access_but_of_pattern(id)).collect();
        let [keys, groups, _] = finder.keys.len();
        let mut own = Self { rules: vec![0; keys], distinct: vec![0; groups] };
        for access in accesses.into_iter().filter_map(|access| finder.keys.get(access)) {
            for &key in finder.keys.list(access.keys) {
                let group = finder.keys.group_of(key).and_then(|group| own.distinct.get_mut(group as usize));
                let Some((rules, distinct)) = own.rules.get_mut(key as usize).zip(group) else { continue };
                *distinct = distinct.saturating_add(u32::from(*rules == 0));
                *rules = rules.saturating_add(1);
            }
        }
        own
    }

    /// Whether a rule with these conjuncts is found well without its patterns: by a text that few rules compare with, and that is rarer
    /// than any literal of a pattern is estimated to be.
    pub(super) fn suffice(&self, finder: &mut Finder<'_>, conjuncts: &[NodeId]) -> bool {
        conjuncts.iter().take(MOST_CONJUNCTS).any(|&id| {
            let access = finder.access_but_of_pattern(id).and_then(|access| finder.keys.get(access));
            let keys = access.map_or(&[][..], |access| finder.keys.list(access.keys));
            let chances = keys.iter().map(|&key| self.chance(finder, key));
            !keys.is_empty() && chances.sum::<f64>() < LEAST_OF_PARTS
        })
    }

    /// Estimated probability that a key holds, if it is a text that few rules compare with; otherwise 1.
    fn chance(&self, finder: &Finder<'_>, key: KeyId) -> f64 {
        let is_of_few = self.rules.get(key as usize).is_some_and(|rules| *rules as usize <= CROWD);
        let is_text = |group: &KeyGroupId| finder.keys.group(*group).is_some_and(|(_, kind)| kind == LookupKind::Is);
        let group = finder.keys.group_of(key).filter(is_text).filter(|_| is_of_few);
        let distinct = group.and_then(|group| self.distinct.get(group as usize));
        distinct.map_or(1.0, |distinct| chance_of_turn(*distinct))
    }
}
