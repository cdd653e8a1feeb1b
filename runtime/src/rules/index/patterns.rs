//! Which rules have their patterns looked into. Finding out which texts a pattern requires takes longer than all else that is
//! done for a rule, and it is in vain where a better key finds the rule anyway.

use super::access::Finder;
use super::estimate::{LEAST_OF_PARTS, chance_of_turn};
use super::keys::{AccessId, GroupId, KeyId};
use super::node::MapKind;
use super::plan::{CROWD, MOST_CONJUNCTS, conjuncts};
use crate::rules::common::Common;
use celero_ir::NodeId;

/// What is known of the keys of all rules before their patterns are looked into.
pub(super) struct Others {
    /// By key, how many rules have it.
    rules: Vec<u32>,
    /// By group, how many keys it has.
    distinct: Vec<u32>,
}

impl Others {
    pub(super) fn new(common: &Common, finder: &mut Finder<'_>) -> Self {
        let all = common.rules.iter().flat_map(|rule| conjuncts(common, &rule.root));
        let accesses: Vec<AccessId> = all.filter_map(|&id| finder.access_but_of_pattern(id)).collect();
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

    /// Whether a rule of these conjuncts is found without its patterns as well as with them: by a text that few rules compare
    /// with, and that is rarer than any part of a text is taken to be.
    pub(super) fn suffice(&self, finder: &mut Finder<'_>, conjuncts: &[NodeId]) -> bool {
        conjuncts.iter().take(MOST_CONJUNCTS).any(|&id| {
            let access = finder.access_but_of_pattern(id).and_then(|access| finder.keys.get(access));
            let keys = access.map_or(&[][..], |access| finder.keys.list(access.keys));
            let chances = keys.iter().map(|&key| self.chance(finder, key));
            !keys.is_empty() && chances.sum::<f64>() < LEAST_OF_PARTS
        })
    }

    /// How likely a key is taken to hold, if it is a text that few rules compare with.
    fn chance(&self, finder: &Finder<'_>, key: KeyId) -> f64 {
        let is_of_few = self.rules.get(key as usize).is_some_and(|rules| *rules as usize <= CROWD);
        let is_text = |group: &GroupId| finder.keys.group(*group).is_some_and(|(_, kind)| kind == MapKind::Is);
        let group = finder.keys.group_of(key).filter(is_text).filter(|_| is_of_few);
        let distinct = group.and_then(|group| self.distinct.get(group as usize));
        distinct.map_or(1.0, |distinct| chance_of_turn(*distinct))
    }
}
