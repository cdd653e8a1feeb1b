//! One evaluation of a set: the rules that the index found, then the linear scan, until the answer is known.

use super::index::{Found, Residual};
use super::results::{Bits, Results};
use super::{ErrorPolicy, Excluded, RuleSet};
use crate::arena::Arena;
use crate::context::Context;
use crate::error::{ErrorKind, EvalError};
use crate::native::{RuleBits, StopConditions};
use crate::scratch::{IndexSearch, Verdict};
use celero_lists::View as ListsView;

/// The evaluation of a set on a context.
pub(super) struct Evaluation<'e, S, A, C> {
    pub(super) set: &'e RuleSet<S, A>,
    pub(super) context: &'e C,
    pub(super) arena: &'e mut Arena,
    /// The lists of the generation that the evaluation asks.
    pub(super) lists: Option<&'e ListsView>,
    /// Rules to be ignored.
    pub(super) excluded: Option<&'e Excluded>,
    /// Whether rules after the first that matches are not wanted.
    pub(super) once: bool,
    /// The first rule so far that ends the evaluation: later ones are not wanted.
    pub(super) end: u32,
}

impl<S: Context + 'static, A, C: Context<Static = S>> Evaluation<'_, S, A, C> {
    /// Takes a rule that matched.
    #[inline(always)]
    fn take_match(&mut self, rule: u32, results: &mut impl Results) {
        if rule > self.end {
            return;
        }
        results.verdict(Verdict { rule, error: None });
        if self.once {
            self.end = rule;
        }
    }

    /// Takes the result of a rule.
    #[inline]
    fn take(&mut self, rule: u32, answer: Result<bool, EvalError>, results: &mut impl Results) {
        let (error, ends) = match answer {
            Ok(false) => return,
            Ok(true) => (None, self.once),
            Err(error) => (Some(error), ends(self.set.policy(rule as usize), self.once)),
        };
        if rule > self.end {
            return;
        }
        results.verdict(Verdict { rule, error });
        if ends {
            self.end = rule;
        }
    }

    /// Evaluates rules one by one, in order, until no more are wanted.
    pub(super) fn all(
        &mut self,
        rules: impl Iterator<Item = u32>,
        mut answer: impl FnMut(&mut Self, u32) -> Result<bool, EvalError>,
        results: &mut impl Results,
    ) {
        for rule in rules {
            if rule >= self.end {
                return;
            }
            if self.is_excluded(rule) {
                continue;
            }
            let answer = answer(self, rule);
            self.take(rule, answer, results);
        }
    }

    fn is_excluded(&self, rule: u32) -> bool {
        self.excluded.is_some_and(|excluded| excluded.has(rule as usize))
    }

    /// Interprets a rule.
    fn standalone(&mut self, rule: u32) -> Result<bool, EvalError> {
        let rule = self.set.rules.get(rule as usize).ok_or(EvalError::HOST)?;
        self.set.standalone.test(&rule.source, self.context, self.arena, self.lists)
    }

    /// Evaluates the rules that the index found.
    pub(super) fn found(&mut self, found: Found, search: &mut IndexSearch, results: &mut impl Results) {
        let Some(index) = &self.set.index else { return };
        match found {
            Found::Nothing => return,
            Found::Some => {}
            Found::All => return self.all(index.rules(), Self::standalone, results),
        }
        let mut recycled = false;
        for (rule, residual) in index.found(search) {
            if rule >= self.end {
                return;
            }
            if self.is_excluded(rule) {
                continue;
            }
            let answer = match residual {
                Residual::None => {
                    self.take_match(rule, results);
                    continue;
                }
                Residual::Native(row) => {
                    if !std::mem::replace(&mut recycled, true) {
                        self.arena.recycle(self.set.standalone.limits.memory);
                    }
                    self.row(rule, row)
                }
                Residual::Interpreted => self.standalone(rule),
            };
            self.take(rule, answer, results);
        }
    }

    /// Evaluates a residual predicate.
    fn row(&mut self, rule: u32, row: u32) -> Result<bool, EvalError> {
        let set = self.set;
        let Some((native, builds)) = set.native.as_ref().and_then(|native| Some((native, native.builds(row)?))) else {
            return self.standalone(rule);
        };
        if builds {
            self.arena.recycle(set.standalone.limits.memory);
        }
        let answer =
            native.test(row, self.context, &set.standalone.functions, set.standalone.cx(self.arena, self.lists));
        match answer {
            // Other rules may have used up the memory.
            Err(error) if error.kind == ErrorKind::OutOfBudget && !builds => self.standalone(rule),
            Err(error) => Err(error.widen_budget_error(set.source(rule as usize).unwrap_or_default())),
            answer => answer,
        }
    }

    /// Takes the results of a function, some of which are failures or excluded.
    #[cold]
    fn take_each(&mut self, rules: &[u32], answer: &RuleBits, results: &mut impl Results) {
        for number in Bits(answer.reported()) {
            if let Some(&rule) = rules.get(number as usize)
                && !self.is_excluded(rule)
            {
                self.take(rule, answer.error(number).map_or(Ok(true), Err), results);
            }
        }
    }

    /// Evaluates the unindexed rules, block by block.
    pub(super) fn linear(&mut self, results: &mut impl Results) {
        let set = self.set;
        let stops = StopConditions { on_match: self.once, on_error: !set.mixed && ends(set.on_error, self.once) };
        let mut answer = RuleBits::new();
        let mut rest = &*set.linear;
        for part in &set.parts {
            let Some((rules, others)) = rest.split_at_checked(part.count) else { return };
            rest = others;
            if rules.first().is_none_or(|first| *first >= self.end) {
                continue;
            }
            let (without, never) = self
                .excluded
                .map_or((false, false), |excluded| excluded.among(rules.iter().map(|&rule| rule as usize)));
            if let (Some(function), Some(native), false) = (part.function, &set.native, never) {
                // An excluded rule must not end the function.
                let stops = if without { StopConditions { on_match: false, on_error: false } } else { stops };
                self.arena.recycle(set.standalone.limits.memory);
                let cx = set.standalone.cx(self.arena, self.lists);
                if native.call(function, self.context, &set.standalone.functions, cx, stops, &mut answer) {
                    if without || answer.has_failures() {
                        self.take_each(rules, &answer, results);
                    } else if self.end == u32::MAX && !self.once {
                        results.matched(rules, answer.reported());
                    } else {
                        for number in Bits(answer.reported()) {
                            if let Some(&rule) = rules.get(number as usize) {
                                self.take_match(rule, results);
                            }
                        }
                    }
                    continue;
                }
            }
            self.all(rules.iter().copied(), Self::standalone, results);
        }
    }
}

/// Whether a rule that fails ends the evaluation; with `once`, a match does.
fn ends(policy: ErrorPolicy, once: bool) -> bool {
    policy == ErrorPolicy::Stop || policy == ErrorPolicy::Match && once
}
