//! Consumers of the rules that match: collect, count, first, any.

use super::ErrorPolicy;
use super::RuleSet;
use crate::error::{EvalError, RuleError};
use crate::scratch::Verdict;

/// What is done with the rules that match.
pub(crate) trait Matches {
    /// Takes a rule.
    fn take(&mut self, rule: usize);

    /// Takes those of `rules` whose bits are set.
    #[inline]
    fn take_bits(&mut self, rules: &[u32], bits: u64) {
        for number in Bits(bits) {
            if let Some(&rule) = rules.get(number as usize) {
                self.take(rule as usize);
            }
        }
    }
}

impl<F: FnMut(usize)> Matches for F {
    #[inline]
    fn take(&mut self, rule: usize) {
        self(rule);
    }
}

/// The number of rules that match.
pub(super) struct Tally(pub(super) usize);

impl Matches for Tally {
    #[inline]
    fn take(&mut self, _: usize) {
        self.0 = self.0.saturating_add(1);
    }

    #[inline]
    fn take_bits(&mut self, _: &[u32], bits: u64) {
        self.0 = self.0.saturating_add(bits.count_ones() as usize);
    }
}

/// Takes the results of rules.
pub(super) trait Results {
    /// Takes a rule that matched or failed.
    fn verdict(&mut self, verdict: Verdict);

    /// Takes those of `rules` whose bits are set: they matched.
    fn matched(&mut self, rules: &[u32], bits: u64);
}

/// Collects results that are not in the order of the rules.
impl Results for Vec<Verdict> {
    fn verdict(&mut self, verdict: Verdict) {
        self.push(verdict);
    }

    fn matched(&mut self, rules: &[u32], bits: u64) {
        let rules = Bits(bits).filter_map(|number| rules.get(number as usize));
        self.extend(rules.map(|&rule| Verdict { rule, error: None }));
    }
}

/// Takes results in the order of the rules, under the policies for errors.
pub(super) struct MatchSink<'s, S, A, M> {
    pub(super) set: &'s RuleSet<S, A>,
    pub(super) errors: &'s mut Vec<RuleError>,
    pub(super) matches: &'s mut M,
    /// The error that ended the evaluation.
    pub(super) stopped: Option<(usize, EvalError)>,
}

impl<S, A, M: Matches> Results for MatchSink<'_, S, A, M> {
    #[inline]
    fn verdict(&mut self, Verdict { rule, error }: Verdict) {
        let rule = rule as usize;
        if let Some(error) = error
            && !self.counts_as_match(rule, error)
        {
            return;
        }
        if self.stopped.is_none() {
            self.matches.take(rule);
        }
    }

    #[inline]
    fn matched(&mut self, rules: &[u32], bits: u64) {
        if self.stopped.is_none() {
            self.matches.take_bits(rules, bits);
        }
    }
}

impl<S, A, M> MatchSink<'_, S, A, M> {
    /// Notes an error. Returns whether it counts as a match.
    #[cold]
    fn counts_as_match(&mut self, rule: usize, error: EvalError) -> bool {
        self.errors.push(RuleError::new(rule, error));
        match self.set.policy(rule) {
            ErrorPolicy::Stop => self.stopped = Some((rule, error)),
            ErrorPolicy::NoMatch => {}
            ErrorPolicy::Match => return true,
        }
        false
    }
}

/// The numbers of the bits that are set, in order.
pub(super) struct Bits(pub(super) u64);

impl Iterator for Bits {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let left = self.0;
        self.0 = left & left.wrapping_sub(1);
        (left != 0).then(|| left.trailing_zeros())
    }
}
