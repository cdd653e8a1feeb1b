//! Asking a set: part by part, rule by rule, until the answer is known.

use super::alone::HOST;
use super::index::{Search, Todo};
use super::{ErrorPolicy, LeftOut, Match, Rule, RuleError, RuleSet};
use crate::arena::Arena;
use crate::context::Context;
use crate::error::{ErrorKind, EvalError};
use crate::function::contained;
use crate::native::{Answer, Stops};
use crate::scratch::Scratch;

impl<S: Context + 'static, A> RuleSet<S, A> {
    /// The first rule that matches; those after it are not evaluated.
    ///
    /// # Errors
    /// Under [`ErrorPolicy::Stop`], the first error, if no rule before it matches. Never under another policy.
    pub fn first<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<Option<Match<'_, A>>, RuleError> {
        let mut found = None;
        self.ask(context, scratch, true, |rule| found = Some(rule))?;
        Ok(found.and_then(|rule| self.get(rule)))
    }

    /// Whether any rule matches. Rules after the first that does are not evaluated.
    ///
    /// # Errors
    /// As [`first`](Self::first).
    pub fn any<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<bool, RuleError> {
        let mut found = false;
        self.ask(context, scratch, true, |_| found = true)?;
        Ok(found)
    }

    /// How many rules match.
    ///
    /// # Errors
    /// Under [`ErrorPolicy::Stop`], the first error. Never under another policy.
    pub fn count<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<usize, RuleError> {
        let mut found = 0_usize;
        self.ask(context, scratch, false, |_| found = found.saturating_add(1))?;
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
        let done = self.ask(context, scratch, false, |rule| matched.push(rule));
        scratch.matched = matched;
        done.map(|()| &*scratch.matched)
    }

    /// For each tag of which a rule matches, the first that does; in the order in which the builder was told of the tags.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn first_per_tag<'s, C: Context<Static = S>>(
        &'s self,
        context: &C,
        scratch: &'s mut Scratch,
    ) -> Result<impl Iterator<Item = (&'s str, Match<'s, A>)> + use<'s, C, S, A>, RuleError> {
        let mut first = std::mem::take(&mut scratch.first);
        first.clear();
        first.resize(self.tags.len(), None);
        let done = self.ask(context, scratch, false, |rule| {
            for &tag in self.tag_numbers(rule) {
                if let Some(first) = first.get_mut(tag as usize) {
                    first.get_or_insert(rule);
                }
            }
        });
        scratch.first = first;
        done?;
        let found = self.tags.iter().zip(&scratch.first);
        Ok(found.filter_map(|(tag, rule)| Some((&**tag, self.get((*rule)?)?))))
    }

    /// The rules that the index finds for a context, in order: of the [`indexed_rules`](Self::indexed_rules), those that an
    /// evaluation has to look at, because they may be true. For figures about a set; nothing is evaluated.
    pub fn found<'s, C: Context<Static = S>>(&self, context: &C, scratch: &'s mut Scratch) -> &'s [usize] {
        let Scratch { read, search, matched, .. } = scratch;
        matched.clear();
        if let Some(index) = &self.index {
            read.recycle(usize::MAX);
            match contained(|| index.find(context, read, search)).ok().flatten() {
                Some(found) => matched.extend(found.map(|(rule, _)| rule as usize)),
                None => matched.extend(index.rules().map(|rule| rule as usize)),
            }
        }
        matched
    }

    /// What [`Program::test`](crate::Program::test) of the rule of an index would answer; `None` if there is no such rule. The rule is
    /// evaluated by itself, without the index: by native code if the builder was [asked](crate::RuleSetBuilder::alone) for it, else by the
    /// interpreter. Nothing is counted, and [`Scratch::errors`] stay as they are.
    ///
    /// ```
    /// use celero::{Bindings, Engine, Env, Scratch, Type, Value};
    ///
    /// let env = Env::dynamic().variable("age", Type::Int);
    /// let rules = Engine::new().rules(&env).rule("adult", "age >= 18", ()).rule("share", "100 / age > 10", ());
    /// let rules = rules.alone(true).build()?;
    /// let mut call = Bindings::new(&env);
    /// call.set("age", Value::Int(0))?;
    /// let mut scratch = Scratch::new();
    /// assert_eq!(rules.test(0, &call, &mut scratch), Some(Ok(false)));
    /// assert!(rules.test(1, &call, &mut scratch).is_some_and(|answer| answer.is_err()));
    /// assert_eq!(rules.test(2, &call, &mut scratch), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn test<C: Context<Static = S>>(
        &self,
        rule: usize,
        context: &C,
        scratch: &mut Scratch,
    ) -> Option<Result<bool, EvalError>> {
        let Rule { text, .. } = self.rules.get(rule)?;
        if self.is_for_others(context) {
            return Some(Err(HOST));
        }
        let (alone, arena) = (&self.alone, &mut scratch.arena);
        let row = self.whole.get(rule).copied().flatten();
        Some(match (row, &self.native) {
            (Some(row), Some(native)) if native.builds(row).is_some() => {
                arena.recycle(alone.limits.memory);
                native.test(row, context, &alone.functions, alone.cx(arena))
            }
            _ => alone.test(text, context, arena),
        })
    }

    /// Whether a context is one of the right type whose variables are others.
    fn is_for_others<C: Context>(&self, context: &C) -> bool {
        context.declarations().is_some_and(|declarations| declarations != self.alone.variables)
    }

    /// Evaluates the rules and counts what they do, if that is wanted; tells as [`evaluate`](Self::evaluate) does.
    fn ask<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
        once: bool,
        mut on_match: impl FnMut(usize),
    ) -> Result<(), RuleError> {
        let Some(board) = &self.board else {
            return self.evaluate(context, scratch, None, once, on_match);
        };
        let mut shards = std::mem::take(&mut scratch.shards);
        let mut counting = shards.begin(board);
        let place = |rule: usize| u32::try_from(rule).unwrap_or(u32::MAX);
        let result = self.evaluate(context, scratch, None, once, |rule| {
            counting.matched(place(rule));
            on_match(rule);
        });
        scratch.errors.iter().for_each(|error| counting.failed(place(error.rule)));
        counting.end();
        scratch.shards = shards;
        result
    }

    /// Evaluates the rules, as if those that are left out were not there, and tells, in order, which match; with `once` only
    /// the first.
    pub(crate) fn evaluate<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
        left_out: Option<&LeftOut>,
        once: bool,
        mut on_match: impl FnMut(usize),
    ) -> Result<(), RuleError> {
        let Scratch { arena, errors, read, search, verdicts, .. } = scratch;
        errors.clear();
        let mut stopped = None;
        let mut settle = |verdict: Verdict| {
            let rule = verdict.rule as usize;
            if let Some(error) = verdict.error {
                let error = RuleError { rule, error };
                errors.push(error);
                match self.policy(rule) {
                    ErrorPolicy::Stop => stopped = Some(error),
                    ErrorPolicy::NoMatch => return,
                    ErrorPolicy::Match => {}
                }
            }
            if stopped.is_none() {
                on_match(rule);
            }
        };
        let mut evaluation = Evaluation { set: self, context, arena, left_out, once, end: u32::MAX };
        if self.is_for_others(context) {
            evaluation.all(0..u32::try_from(self.len()).unwrap_or(u32::MAX), |_, _| Err(HOST), &mut settle);
        } else if self.in_order {
            evaluation.straight(&mut settle);
        } else {
            verdicts.clear();
            evaluation.found(read, search, &mut |verdict| verdicts.push(verdict));
            evaluation.straight(&mut |verdict| verdicts.push(verdict));
            // What is behind the first rule that ends the evaluation is not wanted.
            let end = evaluation.end;
            verdicts.sort_unstable_by_key(|verdict| verdict.rule);
            verdicts.iter().take_while(|verdict| verdict.rule <= end).for_each(|verdict| settle(*verdict));
        }
        stopped.map_or(Ok(()), Err)
    }
}

/// A rule that is true or failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    rule: u32,
    error: Option<EvalError>,
}

/// The evaluation of a set on a context.
struct Evaluation<'e, S, A, C> {
    set: &'e RuleSet<S, A>,
    context: &'e C,
    arena: &'e mut Arena,
    /// Rules that count as not there.
    left_out: Option<&'e LeftOut>,
    /// Whether rules after the first that matches are not wanted.
    once: bool,
    /// The first rule that ends the evaluation, of those that came by: no later one is wanted.
    end: u32,
}

impl<S: Context + 'static, A, C: Context<Static = S>> Evaluation<'_, S, A, C> {
    /// Takes a rule that is true, as most are that are told of.
    #[inline(always)]
    fn take_match(&mut self, rule: u32, tell: &mut impl FnMut(Verdict)) {
        if rule > self.end {
            return;
        }
        tell(Verdict { rule, error: None });
        if self.once {
            self.end = rule;
        }
    }

    /// Takes the answer of a rule.
    #[inline]
    fn take(&mut self, rule: u32, answer: Result<bool, EvalError>, tell: &mut impl FnMut(Verdict)) {
        let (error, ends) = match answer {
            Ok(false) => return,
            Ok(true) => (None, self.once),
            Err(error) => (Some(error), ends(self.set.policy(rule as usize), self.once)),
        };
        if rule > self.end {
            return;
        }
        tell(Verdict { rule, error });
        if ends {
            self.end = rule;
        }
    }

    /// Takes the answers of rules, which come in order, as far as they are wanted.
    fn all(
        &mut self,
        rules: impl Iterator<Item = u32>,
        mut answer: impl FnMut(&mut Self, u32) -> Result<bool, EvalError>,
        tell: &mut impl FnMut(Verdict),
    ) {
        for rule in rules {
            if rule >= self.end {
                return;
            }
            if self.is_left_out(rule) {
                continue;
            }
            let answer = answer(self, rule);
            self.take(rule, answer, tell);
        }
    }

    fn is_left_out(&self, rule: u32) -> bool {
        self.left_out.is_some_and(|left_out| left_out.has(rule as usize))
    }

    /// A rule by itself.
    fn alone(&mut self, rule: u32) -> Result<bool, EvalError> {
        let rule = self.set.rules.get(rule as usize).ok_or(HOST)?;
        self.set.alone.test(&rule.text, self.context, self.arena)
    }

    /// The rules that the index finds.
    fn found(&mut self, read: &mut Arena, search: &mut Search, tell: &mut impl FnMut(Verdict)) {
        let Some(index) = &self.set.index else { return };
        read.recycle(usize::MAX);
        let context = self.context;
        // A panic of the host's data ends as what can't be read does.
        let found = contained(|| index.find(context, read, search)).ok().flatten();
        let Some(found) = found else {
            self.all(index.rules(), Self::alone, tell);
            return;
        };
        self.arena.recycle(self.set.alone.limits.memory);
        for (rule, todo) in found {
            if rule >= self.end {
                return;
            }
            if self.is_left_out(rule) {
                continue;
            }
            let answer = match todo {
                Todo::Matches => Ok(true),
                Todo::Rest(row) => self.row(rule, row),
                Todo::Whole => self.alone(rule),
            };
            self.take(rule, answer, tell);
        }
    }

    /// What is left of a rule that was found.
    fn row(&mut self, rule: u32, row: u32) -> Result<bool, EvalError> {
        let set = self.set;
        let Some((native, builds)) = set.native.as_ref().and_then(|native| Some((native, native.builds(row)?))) else {
            return self.alone(rule);
        };
        if builds {
            self.arena.recycle(set.alone.limits.memory);
        }
        let answer = native.test(row, self.context, &set.alone.functions, set.alone.cx(self.arena));
        match answer {
            // Others may have left too little memory.
            Err(error) if error.kind == ErrorKind::OutOfBudget && !builds => self.alone(rule),
            answer => answer,
        }
    }

    /// Takes what a function answered for these rules.
    #[cold]
    fn take_each(&mut self, rules: &[u32], answer: &Answer, tell: &mut impl FnMut(Verdict)) {
        for number in Bits(answer.told()) {
            if let Some(&rule) = rules.get(number as usize)
                && !self.is_left_out(rule)
            {
                self.take(rule, answer.error(number).map_or(Ok(true), Err), tell);
            }
        }
    }

    /// The rules that the index leaves out.
    fn straight(&mut self, tell: &mut impl FnMut(Verdict)) {
        let set = self.set;
        let stops = Stops { on_match: self.once, on_error: !set.mixed && ends(set.on_error, self.once) };
        let mut answer = Answer::new();
        let mut rest = &*set.straight;
        for part in &set.parts {
            let Some((rules, others)) = rest.split_at_checked(part.count) else { return };
            rest = others;
            if rules.first().is_none_or(|first| *first >= self.end) {
                continue;
            }
            let (without, never) = self
                .left_out
                .map_or((false, false), |left_out| left_out.among(rules.iter().map(|&rule| rule as usize)));
            if let (Some(function), Some(native), false) = (part.function, &set.native, never) {
                // A rule that is left out must not end the function.
                let stops = if without { Stops { on_match: false, on_error: false } } else { stops };
                self.arena.recycle(set.alone.limits.memory);
                let cx = set.alone.cx(self.arena);
                if native.call(function, self.context, &set.alone.functions, cx, stops, &mut answer) {
                    if without || answer.has_failures() {
                        self.take_each(rules, &answer, tell);
                    } else {
                        for number in Bits(answer.told()) {
                            if let Some(&rule) = rules.get(number as usize) {
                                self.take_match(rule, tell);
                            }
                        }
                    }
                    continue;
                }
            }
            self.all(rules.iter().copied(), Self::alone, tell);
        }
    }
}

/// Whether a rule that fails ends the evaluation; with `once`, a match does.
fn ends(policy: ErrorPolicy, once: bool) -> bool {
    policy == ErrorPolicy::Stop || policy == ErrorPolicy::Match && once
}

/// The numbers of the bits that are set, in order.
struct Bits(u64);

impl Iterator for Bits {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let left = self.0;
        self.0 = left & left.wrapping_sub(1);
        (left != 0).then(|| left.trailing_zeros())
    }
}
