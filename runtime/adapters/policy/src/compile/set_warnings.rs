//! Warnings about rules that can never act: their conditions exclude each other, or a rule before
//! them ends the phase wherever they match.
//!
//! Invariant: a rule that lets the phase go on makes no other rule pointless. Test:
//! `runtime/adapters/policy/tests/policy/shadowing.rs::only_rules_that_end_the_phase_shadow_others`.

use super::{Compilation, Condition, OrderedRule};
use crate::rules::actions::PhaseEnd;
use celero::RuleSet;

/// Returns, for each rule, the index of the first rule that is asked even where this one matches: 0
/// if the rule does not end the phase whenever it matches.
///
/// `allow` ends only its own level. It also skips the denials behind it in its level, which then do
/// not keep the message from lower levels.
pub(super) fn ends_until<S>(rules: &[OrderedRule<S>]) -> Vec<usize> {
    let mut allowing = None;
    let until = |OrderedRule { rule, .. }: &OrderedRule<S>| {
        let of_level = || rules.partition_point(|other| other.rule.level <= rule.level);
        let acts_always = rule.require.is_none() && rule.sample.is_none_or(|share| share >= 1.0);
        let is_skipped = allowing == Some(rule.level);
        if rule.may_allow() {
            allowing = Some(rule.level);
        }
        match &rule.end {
            None => 0,
            Some(_) if !acts_always => 0,
            Some(PhaseEnd::Allow) => of_level(),
            Some(PhaseEnd::Deny(_) | PhaseEnd::Respond(_)) if is_skipped => of_level(),
            Some(PhaseEnd::Deny(_) | PhaseEnd::Respond(_)) => usize::MAX,
        }
    };
    rules.iter().map(until).collect()
}

impl Compilation<'_> {
    /// Warns of rules of a phase that can never act.
    pub(super) fn warn_of_set<S>(&mut self, set: &RuleSet<S, ()>, placed: &[OrderedRule<S>]) {
        for (number, found) in set.warnings() {
            let Some(OrderedRule { rule, when, place, is_reported, .. }) = placed.get(*number) else { continue };
            let other = set.shadowed_by(*number).and_then(|other| placed.get(other));
            let message = match (found.code, other, when) {
                // The condition has the mistake, whatever the action is.
                ("never-matches", _, Some(when)) => {
                    when.report(found, self.problems);
                    continue;
                }
                ("shadowed-rule", Some(other), _) if !is_reported => format!(
                    "this rule is never reached: `{}` before it ends the phase wherever this one matches",
                    other.rule.name
                ),
                ("duplicate-rule", Some(other), _) if !is_reported => format!(
                    "this rule is never reached: `{}` before it has the same condition and ends the phase",
                    other.rule.name
                ),
                // What is about a single condition was reported with it.
                _ => continue,
            };
            let condition = |when: &Option<Condition>, place| when.as_ref().map_or(place, |when| when.text.place);
            let problem = self.problems.warn(found.code, condition(when, *place), message);
            if let Some(other) = other {
                problem.also(condition(&other.when, other.place), "the other rule");
            }
            // No rule of a lower level can be put before one of a higher level.
            problem.help(match other {
                Some(other) if other.rule.level != rule.level => {
                    "the higher level already decides this: remove the rule"
                }
                _ => "put this rule before the other one, or give the other one a narrower condition",
            });
        }
    }
}
