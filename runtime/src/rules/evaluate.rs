//! Asking a set: the search of its index, and what is done with the rules that match.
//!
//! The index is searched before anything else is prepared. A query for which it finds nothing, in a set without
//! unindexed rules, calls no compiled code.
//!
//! Invariant: a rule with impure calls is evaluated once. Other rules may run a second time, with memory, after a first
//! run without. Test:
//! `runtime/adapters/policy/tests/policy/actions.rs::rules_with_impure_calls_are_never_evaluated_a_second_time`.

use super::evaluation::Evaluation;
use super::index::{Found, Index, Mode};
use super::results::{MatchSink, Matches, Results, Tally};
use super::{ErrorPolicy, Excluded, Match, RuleSet, SetRule};
use crate::context::Context;
use crate::error::{EvalError, RuleError};
use crate::expression::Trace;
use crate::function::with_lists;
use crate::native::HostData;
use crate::report::Report;
use crate::scratch::Scratch;
use celero_lists::{Lists, View as ListsView};

impl<S: Context + 'static, A> RuleSet<S, A> {
    /// Returns the first rule that matches. Later rules are not evaluated, as far as rules are evaluated one by one.
    ///
    /// # Errors
    /// Under [`ErrorPolicy::Stop`], the first error, if no rule before it matches. Never under another policy.
    pub fn first<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<Option<Match<'_, A>>, RuleError> {
        let mut found = None;
        self.evaluate_counted(context, scratch, Mode::First, &mut |rule| found = Some(rule))?;
        Ok(found.and_then(|rule| self.get(rule)))
    }

    /// Returns whether any rule matches. Costs what [`first`](Self::first) does, or less: where the
    /// index proves every rule that it finds, and the set has no other rules, the evaluation ends
    /// at whichever rule is found first.
    ///
    /// # Errors
    /// As [`first`](Self::first).
    pub fn any<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<bool, RuleError> {
        let mut found = false;
        // Counters count the first rule that matches, and under `Stop` a value that can't be read
        // may end the evaluation before it.
        let stops = self.mixed || self.on_error == ErrorPolicy::Stop;
        let is_plain = self.linear.is_empty() && self.counters.is_none() && !stops;
        let proves = is_plain && self.index.as_ref().is_some_and(Index::proves);
        let mode = if proves { Mode::Any } else { Mode::First };
        self.evaluate_counted(context, scratch, mode, &mut |_| found = true)?;
        Ok(found)
    }

    /// Returns the number of rules that match.
    ///
    /// # Errors
    /// Under [`ErrorPolicy::Stop`], the first error. Never under another policy.
    pub fn count<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<usize, RuleError> {
        let mut found = Tally(0);
        self.evaluate_counted(context, scratch, Mode::All, &mut found)?;
        Ok(found.0)
    }

    /// Returns the rules that match, in order, each with its index, name and action.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn all<'s, C: Context<Static = S>>(
        &'s self,
        context: &C,
        scratch: &'s mut Scratch,
    ) -> Result<impl Iterator<Item = Match<'s, A>> + use<'s, C, S, A>, RuleError> {
        Ok(self.indices(context, scratch)?.iter().filter_map(|&rule| self.get(rule)))
    }

    /// Returns the indices of the rules that match, in order.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn indices<'s, C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &'s mut Scratch,
    ) -> Result<&'s [usize], RuleError> {
        let mut matched = std::mem::take(&mut scratch.matched);
        matched.clear();
        let done = self.evaluate_counted(context, scratch, Mode::All, &mut |rule| matched.push(rule));
        scratch.matched = matched;
        done.map(|()| &*scratch.matched)
    }

    /// Returns, for each tag that a matching rule has, the first rule with it that matches. The
    /// tags are in the order of these rules; several tags of one rule are in alphabetical order.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn first_per_tag<'s, C: Context<Static = S>>(
        &'s self,
        context: &C,
        scratch: &'s mut Scratch,
    ) -> Result<impl Iterator<Item = (&'s str, Match<'s, A>)> + use<'s, C, S, A>, RuleError> {
        let mut first = std::mem::take(&mut scratch.tags);
        first.start(self.tags.len());
        let done = self.evaluate_counted(context, scratch, Mode::All, &mut |rule| {
            for &tag in self.tag_numbers(rule) {
                first.add(tag, rule);
            }
        });
        scratch.tags = first;
        done?;
        let found = scratch.tags.first.iter();
        Ok(found.filter_map(|&(tag, rule)| Some((&**self.tags.get(tag as usize)?, self.get(rule)?))))
    }

    /// Returns the candidates for a context: the [indexed rules](Self::indexed_rules) that an
    /// evaluation must look at, because they may be true, in order. Evaluates no rule. For
    /// statistics about a set.
    pub fn candidates<'s, C: Context<Static = S>>(&self, context: &C, scratch: &'s mut Scratch) -> &'s [usize] {
        let Scratch { read, search, matched, .. } = scratch;
        matched.clear();
        if let Some(index) = &self.index {
            let found = if self.is_for_others(context) {
                Found::All
            } else {
                with_lists(self.lists(), |lists| {
                    index.search(HostData::new(context), read, search, Mode::All, None, lists)
                })
            };
            match found {
                Found::Nothing => {}
                Found::Some => matched.extend(index.found(search).map(|(rule, _)| rule as usize)),
                Found::All => matched.extend(index.rules().map(|rule| rule as usize)),
            }
        }
        matched
    }

    /// Evaluates one rule, without the index, and returns what
    /// [`Program::test`](crate::Program::test) of it would; `None` if there is no such rule. Uses
    /// native code if the set has [standalone code](crate::sets::RuleSetBuilder::standalone), otherwise
    /// the interpreter. Does not count, and does not change [`Scratch::errors`].
    ///
    /// ```
    /// use celero::{Bindings, Engine, Env, Scratch, Type, Value};
    ///
    /// let env = Env::dynamic().variable("age", Type::Int);
    /// let rules = Engine::new().rules(&env).rule("adult", "age >= 18", ()).rule("share", "100 / age > 10", ());
    /// let rules = rules.standalone(true).build()?;
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
        let SetRule { source, .. } = self.rules.get(rule)?;
        if self.is_for_others(context) {
            return Some(Err(EvalError::HOST));
        }
        let (standalone, arena) = (&self.standalone, &mut scratch.arena);
        let row = self.whole.get(rule).copied().flatten();
        Some(with_lists(standalone.lists.as_ref(), |lists| match (row, &self.native) {
            (Some(row), Some(native)) if native.builds(row).is_some() => {
                arena.recycle(standalone.limits.memory);
                let answer = native.test(row, context, &standalone.functions, standalone.cx(arena, lists));
                answer.map_err(|error| error.widen_budget_error(source.text()))
            }
            _ => standalone.test(source, context, arena, lists),
        }))
    }

    /// Puts an error of a rule into words, as [`Program::describe`](crate::Program::describe) does,
    /// with the rule's name; `None` if there is no such rule. `context` is the context of the
    /// evaluation that gave the error. A rule with native code is parsed again the first time.
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env, Scratch};
    ///
    /// let env = Env::<RequestContext>::new();
    /// let rules = Engine::new().rules(&env).rule("admin", r#"request.headers["x-team"] == "ops""#, ()).build()?;
    /// let request = http::Request::new(());
    /// let context = RequestContext::new(&request);
    /// let error = rules.first(&context, &mut Scratch::new()).unwrap_err();
    /// let report = rules.describe(&error, &context).expect("the rule exists");
    /// assert!(report.to_string().starts_with(r#"rule "admin": no header "x-team" (at 0..25); guard it with"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn describe<C: Context<Static = S>>(&self, error: &RuleError, context: &C) -> Option<Report> {
        let SetRule { source, name, .. } = self.rules.get(error.rule)?;
        Some(self.standalone.report(source, error.error, context)?.of_rule(name))
    }

    /// Evaluates a rule with the interpreter and returns what each part of it evaluated to, as
    /// [`Program::trace`](crate::Program::trace) does; `None` if there is no such rule. A rule with
    /// native code is parsed again the first time.
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env, Scratch};
    ///
    /// let env = Env::<RequestContext>::new();
    /// let rules = Engine::new().rules(&env).rule("admin", r#"request.path.startsWith("/admin")"#, ()).build()?;
    /// let request = http::Request::get("/x").body(())?;
    /// let (context, mut scratch) = (RequestContext::new(&request), Scratch::new());
    /// let trace = rules.trace(0, &context, &mut scratch).expect("the rule exists")?;
    /// assert_eq!(trace.render(), "request.path.startsWith(\"/admin\") is false: request.path is \"/x\"\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Program::trace`](crate::Program::trace).
    pub fn trace<'a, C: Context<Static = S>>(
        &'a self,
        rule: usize,
        context: &'a C,
        scratch: &'a mut Scratch,
    ) -> Option<Result<Trace<'a>, EvalError>> {
        let SetRule { source, .. } = self.rules.get(rule)?;
        if self.is_for_others(context) {
            return Some(Err(EvalError::HOST));
        }
        let standalone = &self.standalone;
        let (arena, lists) = scratch.prepare(standalone.limits.memory, standalone.lists.as_ref());
        Some(standalone.trace(source, context, &standalone.cx(arena, lists)))
    }

    /// Whether a context of the right type has other variables than the set, or other data in its extension.
    fn is_for_others<C: Context>(&self, context: &C) -> bool {
        context.declarations().is_some_and(|declarations| declarations != self.standalone.variables)
            || context.extension().is_some_and(|extension| !extension.is_for(self.standalone.extension))
    }

    /// Evaluates the rules as [`evaluate`](Self::evaluate) does, and updates the counters, if there are any.
    #[inline]
    fn evaluate_counted<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
        mode: Mode,
        matches: &mut impl Matches,
    ) -> Result<(), RuleError> {
        with_lists(self.lists(), |lists| {
            self.count_query(&Query { context, mode, excluded: None, lists }, scratch, matches)
        })
    }

    /// Evaluates the rules that the query needs, and updates the counters, if there are any.
    #[inline]
    fn count_query<C: Context<Static = S>>(
        &self,
        query: &Query<'_, C>,
        scratch: &mut Scratch,
        matches: &mut impl Matches,
    ) -> Result<(), RuleError> {
        let Some(counters) = &self.counters else {
            return self.evaluate_query(query, scratch, matches).map_err(|error| self.named(error));
        };
        let mut shards = std::mem::take(&mut scratch.shards);
        let mut counting = shards.begin(counters);
        let place = |rule: usize| u32::try_from(rule).unwrap_or(u32::MAX);
        let result = self.evaluate_query(query, scratch, &mut |rule| {
            counting.matched(place(rule));
            matches.take(rule);
        });
        scratch.errors.iter().for_each(|error| counting.failed(place(error.rule)));
        counting.end();
        scratch.shards = shards;
        result.map_err(|error| self.named(error))
    }

    /// The error with the name of its rule.
    #[cold]
    fn named(&self, error: RuleError) -> RuleError {
        match self.rules.get(error.rule) {
            Some(rule) => error.named(&rule.name),
            None => error,
        }
    }

    /// The lists of the host, if a rule asks any.
    pub(crate) fn lists(&self) -> Option<&Lists> {
        self.standalone.lists.as_ref()
    }

    /// Evaluates all rules that are not excluded, with the [`lists`](Self::lists) of one
    /// generation. Calls `on_match` for those that match, in order; with `once` only for the first.
    pub(crate) fn evaluate<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
        excluded: Option<&Excluded>,
        once: bool,
        lists: Option<&ListsView>,
        mut on_match: impl FnMut(usize),
    ) -> Result<(), RuleError> {
        let mode = if once { Mode::First } else { Mode::All };
        self.evaluate_query(&Query { context, mode, excluded, lists }, scratch, &mut on_match)
    }

    /// Evaluates the rules that are not excluded, as far as the query needs them. Passes those that
    /// match to `matches`, in order; only one unless all are asked for.
    ///
    /// The index is searched first. Where it finds nothing, and no rules remain to be scanned, nothing else is done.
    #[inline]
    fn evaluate_query<C: Context<Static = S>>(
        &self,
        query: &Query<'_, C>,
        scratch: &mut Scratch,
        matches: &mut impl Matches,
    ) -> Result<(), RuleError> {
        let &Query { context, mode, excluded, lists } = query;
        scratch.errors.clear();
        scratch.release_lists();
        if self.is_for_others(context) {
            return self.evaluate_candidates(query, scratch, matches, None);
        }
        let Scratch { read, search, .. } = scratch;
        let found = match &self.index {
            Some(index) => index.search(HostData::new(context), read, search, mode, excluded, lists),
            None => Found::Nothing,
        };
        if found == Found::Nothing && self.linear.is_empty() {
            return Ok(());
        }
        self.evaluate_candidates(query, scratch, matches, Some(found))
    }

    /// Evaluates the rules that were found and those that are not indexed. Without `found`, all
    /// rules fail: the context has other variables than the set.
    #[inline(never)]
    fn evaluate_candidates<C: Context<Static = S>>(
        &self,
        &Query { context, mode, excluded, lists }: &Query<'_, C>,
        scratch: &mut Scratch,
        matches: &mut impl Matches,
        found: Option<Found>,
    ) -> Result<(), RuleError> {
        let Scratch { arena, errors, search, verdicts, .. } = scratch;
        let mut sink = MatchSink { set: self, errors, matches, stopped: None };
        let once = mode != Mode::All;
        let mut evaluation = Evaluation { set: self, context, arena, lists, excluded, once, end: u32::MAX };
        match found {
            None => {
                let rules = 0..u32::try_from(self.len()).unwrap_or(u32::MAX);
                evaluation.all(rules, |_, _| Err(EvalError::HOST), &mut sink);
            }
            Some(_) if self.in_order => evaluation.linear(&mut sink),
            Some(found) if self.linear.is_empty() => evaluation.found(found, search, &mut sink),
            Some(found) => {
                verdicts.clear();
                evaluation.found(found, search, verdicts);
                evaluation.linear(verdicts);
                // Results after the first rule that ends the evaluation are not wanted.
                let end = evaluation.end;
                verdicts.sort_unstable_by_key(|verdict| verdict.rule);
                let wanted = verdicts.iter().take_while(|verdict| verdict.rule <= end);
                wanted.for_each(|verdict| sink.verdict(*verdict));
            }
        }
        sink.stopped.map_or(Ok(()), |(rule, error)| Err(RuleError::new(rule, error)))
    }
}

/// What is evaluated, for which context.
struct Query<'q, C> {
    context: &'q C,
    mode: Mode,
    /// Rules to be ignored.
    excluded: Option<&'q Excluded>,
    /// The lists of the generation that the evaluation asks.
    lists: Option<&'q ListsView>,
}
