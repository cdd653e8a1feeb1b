//! Asking a set: part by part, rule by rule, until the answer is known.

use super::alone::HOST;
use super::{Match, OnError, Rule, RuleError, RuleSet};
use crate::context::Context;
use crate::error::EvalError;
use crate::native::{Answer, Stops};
use crate::scratch::Scratch;

impl<S: Context + 'static, A> RuleSet<S, A> {
    /// The first rule that matches; those after it are not evaluated.
    ///
    /// # Errors
    /// Under [`OnError::Stop`], the first error, if no rule before it matches. Never under another policy.
    pub fn first<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<Option<Match<'_, A>>, RuleError> {
        let mut found = None;
        self.evaluate(context, scratch, true, |rule| found = Some(rule))?;
        Ok(found.and_then(|rule| self.get(rule)))
    }

    /// Whether any rule matches. Rules after the first that does are not evaluated.
    ///
    /// # Errors
    /// As [`first`](Self::first).
    pub fn any<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<bool, RuleError> {
        let mut found = false;
        self.evaluate(context, scratch, true, |_| found = true)?;
        Ok(found)
    }

    /// How many rules match.
    ///
    /// # Errors
    /// Under [`OnError::Stop`], the first error. Never under another policy.
    pub fn count<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<usize, RuleError> {
        let mut found = 0_usize;
        self.evaluate(context, scratch, false, |_| found = found.saturating_add(1))?;
        Ok(found)
    }

    /// The indices of the rules that match, in order.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn all<'s, C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &'s mut Scratch,
    ) -> Result<&'s [usize], RuleError> {
        let mut matched = std::mem::take(&mut scratch.matched);
        matched.clear();
        let done = self.evaluate(context, scratch, false, |rule| matched.push(rule));
        scratch.matched = matched;
        done.map(|()| &*scratch.matched)
    }

    /// Evaluates the rules in order and tells which match; with `once` only until one does.
    fn evaluate<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
        once: bool,
        on_match: impl FnMut(usize),
    ) -> Result<(), RuleError> {
        let Scratch { arena, errors, .. } = scratch;
        errors.clear();
        let policy = self.on_error;
        let mut verdicts = Verdicts { policy, once, errors, on_match };
        if context.declarations().is_some_and(|declarations| declarations != self.alone.variables) {
            for rule in 0..self.len() {
                if verdicts.take(rule, Err(HOST))? {
                    break;
                }
            }
            return Ok(());
        }
        let on_error = policy == OnError::Stop || policy == OnError::Match && once;
        let stops = Stops { on_match: once, on_error };
        let mut answer = Answer::new();
        for part in &self.parts {
            if let (Some(function), Some(native)) = (part.function, &self.native) {
                arena.recycle(self.alone.limits.memory);
                let cx = self.alone.cx(arena);
                if native.call(function, context, &self.alone.functions, cx, stops, &mut answer) {
                    let mut left = answer.told();
                    while left != 0 {
                        let number = left.trailing_zeros();
                        let verdict = answer.error(number).map_or(Ok(true), Err);
                        if verdicts.take(part.first.saturating_add(number as usize), verdict)? {
                            return Ok(());
                        }
                        left &= left.wrapping_sub(1);
                    }
                    continue;
                }
            }
            let rules = self.rules.iter().enumerate().skip(part.first).take(part.count);
            for (rule, Rule { text, .. }) in rules {
                if verdicts.take(rule, self.alone.test(text, context, arena))? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// What becomes of the rules' answers.
struct Verdicts<'v, F> {
    policy: OnError,
    once: bool,
    errors: &'v mut Vec<RuleError>,
    on_match: F,
}

impl<F: FnMut(usize)> Verdicts<'_, F> {
    /// Takes the answer of the next rule; `true` when no further one is wanted.
    fn take(&mut self, rule: usize, verdict: Result<bool, EvalError>) -> Result<bool, RuleError> {
        let matches = match verdict {
            Ok(matches) => matches,
            Err(error) => {
                let error = RuleError { rule, error };
                self.errors.push(error);
                if self.policy == OnError::Stop {
                    return Err(error);
                }
                self.policy == OnError::Match
            }
        };
        if matches {
            (self.on_match)(rule);
        }
        Ok(matches && self.once)
    }
}
