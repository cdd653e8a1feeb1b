//! What threads that answer requests hold: a way to the rules of the moment, and these rules.

use super::shadow::Shadow;
use super::state::Shared;
use super::views::Views;
use crate::context::Context;
use crate::counters::{Board, Counts, RuleCounts};
use crate::rules::{ErrorPolicy, Match, RuleError};
use crate::scratch::Scratch;
use arc_swap::Guard;
use celero_frontend::Diagnostic;
use std::fmt;
use std::sync::Arc;

/// What is published at once.
pub(super) struct Snapshot<S, A> {
    pub(super) generation: u64,
    /// Where counts are kept, if they are wanted.
    pub(super) board: Option<Arc<Board>>,
    pub(super) live: Views<S, A>,
    pub(super) shadow: Option<Shadow<S, A>>,
}

/// A way to the rules of a [`Live`](super::Live) for a thread that evaluates them. Cheap to clone. It outlives the `Live`: the rules
/// then stay as they are.
pub struct Reader<S, A = ()> {
    pub(super) shared: Arc<Shared<S, A>>,
}

impl<S, A> Reader<S, A> {
    /// The rules of this moment. Never waits, whatever happens to the rules meanwhile.
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

/// The rules of a [`Live`](super::Live) at a moment. All answers are of these rules, however often they are asked and whatever
/// happens to the `Live` meanwhile: what a [`RuleSet`](crate::RuleSet) of the same rules in the same order would answer.
///
/// Load it for each request and let it go afterwards: as long as it is held, so is the memory of its rules.
///
/// The index of a rule is a handle: it stands for one rule as long as this value is there, and means nothing to another one. It
/// does not tell the rule's place: where rules were [inserted](super::Live::insert), what [`all`](Rules::all) gives is in the order of
/// the rules, but the indices are not ascending.
pub struct Rules<S, A = ()> {
    snapshot: Guard<Arc<Snapshot<S, A>>>,
}

impl<S, A> Rules<S, A> {
    /// Which generation this is: each change, also native code that takes the place of the interpreter, makes a new one with a
    /// higher number.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.snapshot.generation
    }

    /// How many rules there are. Those that are disabled are not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.snapshot.live.len()
    }

    /// Whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rule of an index, as a match. `None` if there is none, or it is disabled.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Match<'_, A>> {
        self.snapshot.live.get(index)
    }

    /// The text of the rule of an index.
    #[must_use]
    pub fn source(&self, index: usize) -> Option<&str> {
        self.snapshot.live.source(index)
    }

    /// The tags of the rule of an index.
    pub fn tags(&self, index: usize) -> impl Iterator<Item = &str> {
        self.snapshot.live.tags(index)
    }

    /// All rules in their order, those that are disabled left out. Sorts them: it is for people, not for requests.
    pub fn iter(&self) -> impl Iterator<Item = Match<'_, A>> {
        self.snapshot.live.handles().into_iter().filter_map(|handle| self.get(handle))
    }

    /// What a rule that fails counts as.
    #[must_use]
    pub fn on_error(&self) -> ErrorPolicy {
        self.snapshot.live.on_error
    }

    /// What was counted so far; `None` unless the `Live` was [told](super::Live::with_counters) to count. The evaluations are those
    /// of all generations; each rule counts from when it was added, also while it is merged or compiled with others. For people
    /// and for metrics, not for requests.
    ///
    /// ```
    /// # use celero::{Bindings, Engine, Env, Live, Scratch};
    /// # let env = Env::dynamic();
    /// let live = Live::with_counters(Engine::new(), env.clone());
    /// live.insert("old", "true", ())?;
    /// live.load().count(&Bindings::new(&env), &mut Scratch::new())?;
    /// live.insert("new", "true", ())?;
    /// live.load().count(&Bindings::new(&env), &mut Scratch::new())?;
    /// let rules = live.load();
    /// let counts = rules.counts().expect("counters are on");
    /// assert_eq!(counts.evaluations, 2);
    /// assert!(counts.rules.iter().map(|rule| (rule.name, rule.matches)).eq([("old", 2), ("new", 1)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn counts(&self) -> Option<Counts<'_>> {
        let Snapshot { board, live, .. } = &**self.snapshot;
        let board = board.as_ref()?;
        let rules = live.handles().into_iter().filter_map(|handle| Some((live.counted(handle)?, self.get(handle)?)));
        let (places, rules): (Vec<u32>, Vec<Match<'_, A>>) = rules.unzip();
        let mut counts = Vec::with_capacity(rules.len());
        let mut rest = rules.iter();
        board.read(places.into_iter(), |matches, errors| {
            let rule = rest.next().map(|&Match { index, name, .. }| RuleCounts { index, name, matches, errors });
            counts.extend(rule);
        });
        let (evaluations, mean_time) = board.evaluations();
        Some(Counts { evaluations, mean_time, rules: counts })
    }

    /// What is valid in a rule, but probably not what its author means, with the rule's index.
    pub fn warnings(&self) -> impl Iterator<Item = (usize, &Diagnostic)> {
        let of_all = self.snapshot.live.segments().flat_map(|view| {
            let warnings = view.segment.set().map_or(&[][..], |set| set.warnings());
            warnings.iter().map(|(rule, warning)| (view.first.saturating_add(*rule), warning))
        });
        of_all.filter(|(handle, _)| self.get(*handle).is_some())
    }
}

impl<S: Context + 'static, A> Rules<S, A> {
    /// The first rule that matches.
    ///
    /// # Errors
    /// Under [`ErrorPolicy::Stop`], the first error, if no rule before it matches. Never under another policy.
    pub fn first<C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &mut Scratch,
    ) -> Result<Option<Match<'_, A>>, RuleError> {
        self.ask(context, scratch, true)?;
        Ok(scratch.matched.first().and_then(|&rule| self.get(rule)))
    }

    /// Whether any rule matches.
    ///
    /// # Errors
    /// As [`first`](Self::first).
    pub fn any<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<bool, RuleError> {
        self.ask(context, scratch, true)?;
        Ok(!scratch.matched.is_empty())
    }

    /// How many rules match.
    ///
    /// # Errors
    /// Under [`ErrorPolicy::Stop`], the first error. Never under another policy.
    pub fn count<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch) -> Result<usize, RuleError> {
        self.all(context, scratch).map(<[usize]>::len)
    }

    /// The indices of the rules that match, in the order of the rules.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn all<'s, C: Context<Static = S>>(
        &self,
        context: &C,
        scratch: &'s mut Scratch,
    ) -> Result<&'s [usize], RuleError> {
        self.ask(context, scratch, false)?;
        Ok(&scratch.matched)
    }

    /// For each tag of which a rule matches, the first that does; in the alphabetical order of the tags.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn first_per_tag<'s, C: Context<Static = S>>(
        &'s self,
        context: &C,
        scratch: &'s mut Scratch,
    ) -> Result<impl Iterator<Item = (&'s str, Match<'s, A>)> + use<'s, C, S, A>, RuleError> {
        self.ask(context, scratch, false)?;
        let live = &self.snapshot.live;
        live.first_of_tags(&scratch.matched, &mut scratch.first);
        let found = live.all_tags().iter().zip(&scratch.first);
        Ok(found.filter_map(|(tag, rule)| Some((&**tag, live.get((*rule)?)?))))
    }

    fn ask<C: Context<Static = S>>(&self, context: &C, scratch: &mut Scratch, once: bool) -> Result<(), RuleError> {
        let Snapshot { board, live, shadow, .. } = &**self.snapshot;
        let result = match board {
            Some(board) => live.ask_counted(context, scratch, once, board),
            None => live.ask(context, scratch, once),
        };
        if let Some(shadow) = shadow {
            shadow.compare(live, context, scratch, &result, once);
        }
        result
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
