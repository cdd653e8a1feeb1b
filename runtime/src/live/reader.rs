//! [`Reader`] and [`Rules`]: what threads that answer requests use.
//!
//! Loading a snapshot takes no lock.
//!
//! Invariant: loading a snapshot allocates nothing. Test:
//! `tests/tests/process/allocations.rs::live_rules_take_nothing`.

use super::snapshot::Snapshot;
use super::state::Shared;
use crate::context::Context;
use crate::counters::{Counts, RuleCounts};
use crate::error::RuleError;
use crate::report::Report;
use crate::rules::{ErrorPolicy, Match};
use crate::scratch::Scratch;
use arc_swap::Guard;
use celero_frontend::Diagnostic;
use std::fmt;
use std::sync::Arc;

/// Loads the current rules of a [`Live`](super::Live). Have one per thread; cheap to clone. It may
/// outlive the `Live`, whose rules do not change any more then.
pub struct Reader<S, A = ()> {
    pub(super) shared: Arc<Shared<S, A>>,
}

impl<S, A> Reader<S, A> {
    /// Returns the current rules. Never waits, whatever happens to the rules meanwhile.
    #[must_use]
    pub fn load(&self) -> Rules<S, A> {
        Rules { snapshot: self.shared.current.load() }
    }
}

impl<S, A> Clone for Reader<S, A> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S, A> fmt::Debug for Reader<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reader").field(&self.load()).finish()
    }
}

/// The rules of a [`Live`](super::Live) of one generation. They do not change. Evaluations return what those of a
/// [`RuleSet`](crate::RuleSet) of the same rules in the same order would.
///
/// Load it for each request and drop it afterwards: it keeps the memory of its rules alive.
///
/// The index of a rule is a handle, valid for this value only. Handles are not positions: where
/// rules were [inserted](super::Live::insert), [`all`](Rules::all) returns rules in their order,
/// but the indices are not ascending.
pub struct Rules<S, A = ()> {
    snapshot: Guard<Arc<Snapshot<S, A>>>,
}

impl<S, A> Rules<S, A> {
    /// Returns the number of the generation. Each change makes a new one with a higher number, and
    /// so does native code that replaces the interpreter.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.snapshot.generation
    }

    /// Returns the number of rules, without disabled ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.snapshot.live.len()
    }

    /// Returns whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the rule with this index; `None` if there is none, or it is disabled.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Match<'_, A>> {
        self.snapshot.live.get(index)
    }

    /// Returns the source of a rule.
    #[must_use]
    pub fn source(&self, index: usize) -> Option<&str> {
        self.snapshot.live.source(index)
    }

    /// Returns the tags of a rule, in alphabetical order.
    pub fn tags(&self, index: usize) -> impl Iterator<Item = &str> {
        self.snapshot.live.tags(index)
    }

    /// Returns all rules in their order, without disabled ones. Sorts all rules: not for each request.
    pub fn iter(&self) -> impl Iterator<Item = Match<'_, A>> {
        self.snapshot.live.handles().into_iter().filter_map(|handle| self.get(handle))
    }

    /// Returns what a rule that fails counts as, unless it has a policy of its own.
    #[must_use]
    pub fn on_error(&self) -> ErrorPolicy {
        self.snapshot.live.on_error
    }

    /// Returns the counters; `None` unless the `Live` was made [with
    /// counters](super::Live::with_counters). Evaluations of all generations are counted; each rule
    /// counts from the moment it was added. Takes time linear in the number of rules: not for each
    /// request.
    ///
    /// ```
    /// # use celero::{Bindings, Engine, Env, Live, Rule, Scratch};
    /// # let env = Env::dynamic();
    /// let live = Live::with_counters(Engine::new(), env.clone());
    /// live.insert(Rule::new("old", "true", ()))?;
    /// live.load().count(&Bindings::new(&env), &mut Scratch::new())?;
    /// live.insert(Rule::new("new", "true", ()))?;
    /// live.load().count(&Bindings::new(&env), &mut Scratch::new())?;
    /// let rules = live.load();
    /// let counts = rules.counts().expect("counters are on");
    /// assert_eq!(counts.evaluations, 2);
    /// assert!(counts.rules.iter().map(|rule| (rule.name, rule.matches)).eq([("old", 2), ("new", 1)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn counts(&self) -> Option<Counts<'_>> {
        let Snapshot { counters, live, .. } = &**self.snapshot;
        let counters = counters.as_ref()?;
        let rules = live.handles().into_iter().filter_map(|handle| Some((live.counted(handle)?, self.get(handle)?)));
        let (slots, rules): (Vec<u32>, Vec<Match<'_, A>>) = rules.unzip();
        let counted = rules.iter().zip(counters.slots(slots.into_iter()));
        let rules = counted.map(|(rule, counts)| RuleCounts::new(rule.index, rule.name, counts)).collect();
        Some(Counts::new(counters, rules))
    }

    /// Returns the warnings with the indices of their rules: what is valid, but probably not what the author means.
    pub fn warnings(&self) -> impl Iterator<Item = (usize, &Diagnostic)> {
        let of_all = self.snapshot.live.segments().flat_map(|view| {
            let warnings = view.segment.set().map_or(&[][..], |set| set.warnings());
            warnings.iter().map(|(rule, warning)| (view.first.saturating_add(*rule), warning))
        });
        of_all.filter(|(handle, _)| self.get(*handle).is_some())
    }
}

impl<S: Context + 'static, A> Rules<S, A> {
    /// Returns the first rule that matches.
    ///
    /// # Errors
    /// Under [`ErrorPolicy::Stop`], the first error, if no rule before it matches. Never under another policy.
    pub fn first<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<Option<Match<'_, A>>, RuleError> {
        self.evaluate(context, scratch, true)?;
        Ok(scratch.matched.first().and_then(|&rule| self.get(rule)))
    }

    /// Puts an error of a rule into words, as [`RuleSet::describe`](crate::RuleSet::describe) does;
    /// `None` if the rule is not there.
    pub fn describe<C: Context<Static = S>>(&self, error: &RuleError, context: &C) -> Option<Report> {
        self.snapshot.live.describe(error, context)
    }

    /// Returns whether any rule matches.
    ///
    /// # Errors
    /// As [`first`](Self::first).
    pub fn any<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<bool, RuleError> {
        self.evaluate(context, scratch, true)?;
        Ok(!scratch.matched.is_empty())
    }

    /// Returns the number of rules that match.
    ///
    /// # Errors
    /// Under [`ErrorPolicy::Stop`], the first error. Never under another policy.
    pub fn count<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<usize, RuleError> {
        self.indices(context, scratch).map(<[usize]>::len)
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

    /// Returns the indices of the rules that match, in the order of the rules.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn indices<'s, C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &'s mut Scratch,
    ) -> Result<&'s [usize], RuleError> {
        self.evaluate(context, scratch, false)?;
        Ok(&scratch.matched)
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
        self.evaluate(context, scratch, false)?;
        let live = &self.snapshot.live;
        live.first_of_tags(&scratch.matched, &mut scratch.tags);
        let found = scratch.tags.first.iter();
        Ok(found.filter_map(|&(tag, rule)| Some((&**live.all_tags().get(tag as usize)?, live.get(rule)?))))
    }

    fn evaluate<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
        once: bool,
    ) -> Result<(), RuleError> {
        let Snapshot { counters, live, shadow, .. } = &**self.snapshot;
        let result = match counters {
            Some(counters) => live.evaluate_counted(context, scratch, once, counters),
            None => live.evaluate(context, scratch, once),
        };
        if let Some(shadow) = shadow {
            shadow.compare(live, context, scratch, &result, once);
        }
        result.map_err(|error| match self.get(error.rule) {
            Some(rule) => error.named(rule.name),
            None => error,
        })
    }
}

impl<S, A> fmt::Debug for Rules<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("generation", &self.generation())
            .field("rules", &self.len())
            .field("on_error", &self.on_error())
            .finish_non_exhaustive()
    }
}
