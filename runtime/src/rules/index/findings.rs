//! What a search of the index has found, and what it need not look for any more.
//!
//! Invariant: a search for the first match leaves out candidates after a rule that is proved true. A search for any
//! match, where the index proves every rule, ends at the first rule found. Test:
//! `runtime/src/rules/index/findings.rs::only_what_may_matter_is_found`.

use super::residual::Residual;
use crate::rules::excluded::Excluded;

/// What a query wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Mode {
    /// Which rules match.
    All,
    /// Which rule is the first that matches.
    First,
    /// Whether a rule matches. Only for sets of which each rule that the index finds is true, and
    /// which has no other rules.
    Any,
}

/// A rule that may be true, and what remains to be evaluated of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) rule: u32,
    pub(super) residual: Residual,
}

/// The candidates that a search has found.
pub(super) struct Findings<'f> {
    /// Their numbers, in no order; some may be repeated.
    found: &'f mut Vec<u32>,
    /// All candidates of the index, sorted by rule.
    candidates: &'f [Candidate],
    /// Rules to be ignored.
    excluded: Option<&'f Excluded>,
    mode: Mode,
    /// Candidates from this number on are not wanted: one before them is a rule that is true.
    end: u32,
}

impl<'f> Findings<'f> {
    pub(super) fn new(
        found: &'f mut Vec<u32>,
        candidates: &'f [Candidate],
        mode: Mode,
        excluded: Option<&'f Excluded>,
    ) -> Self {
        found.clear();
        Self { found, candidates, excluded, mode, end: u32::MAX }
    }

    /// Whether a place is worth visiting that leads to no candidate before `least`.
    #[inline]
    pub(super) fn want(&self, least: u32) -> bool {
        least < self.end
    }

    /// Adds candidates, given in order, as far as they are wanted.
    #[inline]
    pub(super) fn add(&mut self, candidates: &[u32]) {
        if self.mode == Mode::All {
            self.found.extend_from_slice(candidates);
        } else {
            self.add_wanted(candidates);
        }
    }

    fn add_wanted(&mut self, candidates: &[u32]) {
        for &number in candidates {
            if !self.want(number) {
                return;
            }
            self.found.push(number);
            let Some(Candidate { rule, residual: Residual::None }) = self.candidates.get(number as usize) else {
                continue;
            };
            if !self.excluded.is_some_and(|excluded| excluded.has(*rule as usize)) {
                self.end = if self.mode == Mode::Any { 0 } else { number };
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANDIDATES: [Candidate; 4] = [
        Candidate { rule: 0, residual: Residual::None },
        Candidate { rule: 1, residual: Residual::Native(0) },
        Candidate { rule: 2, residual: Residual::None },
        Candidate { rule: 3, residual: Residual::None },
    ];

    fn found(mode: Mode, excluded: Option<&Excluded>, lists: &[&[u32]]) -> (Vec<u32>, bool) {
        let mut found = vec![9];
        let mut findings = Findings::new(&mut found, &CANDIDATES, mode, excluded);
        lists.iter().for_each(|list| findings.add(list));
        let more = findings.want(0);
        (found, more)
    }

    #[test]
    fn only_what_may_matter_is_found() {
        let lists: [&[u32]; 3] = [&[2, 3], &[1, 3], &[0, 1]];
        assert_eq!(found(Mode::All, None, &lists), (vec![2, 3, 1, 3, 0, 1], true));
        assert_eq!(found(Mode::First, None, &lists), (vec![2, 1, 0], false));
        assert_eq!(found(Mode::First, None, &lists[..2]), (vec![2, 1], true));
        assert_eq!(found(Mode::Any, None, &lists), (vec![2], false));
        let mut excluded = Excluded::default();
        excluded.disable(0, true);
        excluded.remove(2);
        assert_eq!(found(Mode::First, Some(&excluded), &lists), (vec![2, 3, 1, 0, 1], true));
    }
}
