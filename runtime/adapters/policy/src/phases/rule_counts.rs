//! What the rules of a phase have done so far, in numbers.

use crate::host::outcome::{PhaseInfo, RuleInfo};
use crate::phases::phase::{PhaseRules, slot};
use celero::counting::{Evaluations, SlotCounts};
use std::sync::Arc;

impl<S> PhaseRules<S> {
    /// Returns the rules with their counters.
    pub(crate) fn infos(&self) -> impl Iterator<Item = RuleInfo> {
        let evaluated = self.counters.evaluations().number;
        self.rules.iter().enumerate().map(move |(index, rule)| {
            let SlotCounts { matches: matched, errors: failed, .. } = self.counters.slot(slot(index));
            let (timed, time) = self.times.of(index);
            RuleInfo { phase: self.phase, name: Arc::clone(&rule.name), index, evaluated, matched, failed, timed, time }
        })
    }

    /// Returns the counters of the phase, if it has rules.
    pub(crate) fn info(&self) -> Option<PhaseInfo> {
        let Evaluations { number: evaluated, timed, time, .. } = self.counters.evaluations();
        (!self.rules.is_empty()).then_some(PhaseInfo { phase: self.phase, evaluated, timed, time })
    }

    /// Adds the matches of each rule to the named counter that the rule increments.
    pub(crate) fn add_named(&self, counters: &mut [u64]) {
        for (index, rule) in self.rules.iter().enumerate() {
            if let Some(counter) = rule.counter.and_then(|counter| counters.get_mut(counter)) {
                *counter = counter.wrapping_add(self.counters.slot(slot(index)).matches);
            }
        }
    }
}
