//! [`Scratch`]: memory that evaluations reuse.

mod search;

pub(crate) use search::{IndexSearch, NumberMap};

use crate::arena::Arena;
use crate::counters::CounterShards;
use crate::error::{EvalError, RuleError};
use celero_lists::{Lists, Reader as ListsReader, View as ListsView};
use std::cell::Cell;

/// Working memory of evaluations. Keep one per worker thread: after the first evaluations, further
/// ones do not allocate.
///
/// Values that an evaluation returns borrow from it. It may be used with any number of programs and rule sets.
#[derive(Debug)]
pub struct Scratch {
    pub(crate) arena: Arena,
    /// An arena without capacity, for code that hardly ever allocates.
    pub(crate) no_memory: Arena,
    /// Indices of the rules that matched in the last evaluation of a set.
    pub(crate) matched: Vec<usize>,
    pub(crate) tags: FirstPerTag,
    /// The rules that failed in the last evaluation of a set.
    pub(crate) errors: Vec<RuleError>,
    /// The errors of several sets that are evaluated as one.
    pub(crate) gathered: Vec<RuleError>,
    /// What the index of a set reads of the context.
    pub(crate) read: Arena,
    pub(crate) search: IndexSearch,
    /// The results that may matter, before they are sorted.
    pub(crate) verdicts: Vec<Verdict>,
    /// Has the named lists of the last evaluation that returned a value, which may borrow from them.
    lists: ListsReader,
    /// Shards of the counters of sets that count.
    pub(crate) shards: CounterShards,
}

/// A rule that matched or failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    pub(crate) rule: u32,
    /// `None` if the rule matched.
    pub(crate) error: Option<EvalError>,
}

/// The first matching rule of each tag.
#[derive(Debug, Default)]
pub(crate) struct FirstPerTag {
    /// Indexed by tag: whether a rule with it has matched.
    seen: Vec<bool>,
    /// Tags with the first rule that matched, in the order of these rules.
    pub(crate) first: Vec<(u32, usize)>,
}

impl FirstPerTag {
    /// Forgets everything, for a set with `tags` tags.
    pub(crate) fn start(&mut self, tags: usize) {
        self.seen.clear();
        self.seen.resize(tags, false);
        self.first.clear();
    }

    /// Adds a rule that matches and has a tag. Rules are added in their order.
    pub(crate) fn add(&mut self, tag: u32, rule: usize) {
        if let Some(seen) = self.seen.get_mut(tag as usize)
            && !std::mem::replace(seen, true)
        {
            self.first.push((tag, rule));
        }
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// Creates an empty scratch. Does not allocate.
    #[must_use]
    pub fn new() -> Self {
        Self {
            arena: Arena::new(usize::MAX),
            no_memory: Arena::new(0),
            matched: Vec::new(),
            tags: FirstPerTag::default(),
            errors: Vec::new(),
            gathered: Vec::new(),
            read: Arena::new(usize::MAX),
            search: IndexSearch::default(),
            verdicts: Vec::new(),
            lists: ListsReader::default(),
            shards: CounterShards::default(),
        }
    }

    /// Returns the errors of the last evaluation of a [`RuleSet`](crate::RuleSet) or of
    /// [`Rules`](crate::sets::Rules) with this scratch, in the order of the rules.
    #[must_use]
    pub fn errors(&self) -> &[RuleError] {
        &self.errors
    }

    /// The arena, emptied, with this limit in bytes, and the lists of the current generation.
    #[inline(always)]
    pub(crate) fn prepare(&mut self, limit: usize, lists: Option<&Lists>) -> (&Arena, Option<&ListsView>) {
        self.arena.recycle(limit);
        let Some(lists) = lists else {
            self.lists.clear();
            return (&self.arena, None);
        };
        (&self.arena, Some(self.lists.view(lists)))
    }

    /// The arena with this limit in bytes, if it is empty.
    #[inline(always)]
    pub(crate) fn fresh_arena(&mut self, limit: usize) -> Option<&Arena> {
        self.arena.is_fresh(limit).then_some(&self.arena)
    }

    /// Lets go of the lists of the last evaluation.
    #[inline]
    pub(crate) fn release_lists(&mut self) {
        self.lists.clear();
    }
}

thread_local! {
    // Boxed, because a scratch is too large to be moved for each evaluation.
    static SPARE: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Runs `f` with the thread's own scratch. If that is in use, because a host function evaluates a rule during another
/// evaluation, `f` gets a fresh one.
pub(crate) fn with_thread_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut scratch = SPARE.try_with(Cell::take).ok().flatten().unwrap_or_default();
    let result = f(&mut scratch);
    // A thread that is ending can't keep it: it is dropped.
    let _ = SPARE.try_with(|spare| spare.set(Some(scratch)));
    result
}
