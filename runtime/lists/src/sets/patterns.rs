//! Regular expressions that are searched for in a text, and wildcards that are compared with a whole one.
//!
//! The set of patterns of `celero-matching` decides most of them in one search. Those that it
//! leaves open, for texts that are not ASCII for instance, have an engine of their own.
//!
//! Invariant: searching for patterns is charged to the meter of the reader. Test:
//! `runtime/lists/tests/patterns.rs::searches_are_paid_for`.

use super::strings::Strings;
use super::{EntrySet, Keys};
use crate::entry::Key;
use crate::entry::pattern_text::{
    DIALECT, MAX_CASE_STEPS, MAX_COMPILED_BYTES, MAX_PATTERNS, case_steps, pattern_of, wildcard_bytes, wildcard_pieces,
};
use crate::error::TooLarge;
use celero_matching::pattern::{Meter, PatternCache, Undecided, Unmetered};
use celero_matching::{Matcher, PatternMatch, PatternSet, Wildcard};
use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::Arc;

/// Most bytes of the tables of a set.
const TABLE_BYTES: usize = 1 << 20;
/// Most bytes of what searches build when they first need it: engines for ASCII texts, automata for
/// long ones. Without it they are slower.
const SEARCH_BYTES: usize = 32 << 20;

/// A set of regular expressions; with `WILDCARDS`, of wildcards.
pub(crate) struct Patterns<const WILDCARDS: bool> {
    set: PatternSet,
    engines: Box<[Engine]>,
    texts: Strings,
    /// Indexed as the engines.
    each: Box<[Compiled]>,
    compiled: Compiled,
}

/// What compiled entries take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compiled {
    /// Bytes of the engines, of wildcards an upper bound.
    bytes: usize,
    /// Steps that one parsing takes for letter cases.
    case_steps: usize,
}

impl Compiled {
    /// What both take.
    pub(crate) fn and(self, other: Self) -> Self {
        let case_steps = self.case_steps.saturating_add(other.case_steps);
        Self { bytes: self.bytes.saturating_add(other.bytes), case_steps }
    }
}

/// Decides about one entry.
enum Engine {
    Pattern(Box<Matcher>),
    Wildcard(Wildcard),
}

/// A text, and who pays for searches in it: `charge` returns false if less is left. What a search
/// that was not paid for returns means nothing.
#[derive(Clone, Copy)]
pub(crate) struct PatternText<'a> {
    text: &'a str,
    charge: &'a dyn Fn(usize) -> bool,
    left: &'a dyn Fn() -> usize,
}

/// More steps are needed than are left.
#[derive(Debug)]
pub(crate) struct Spent;

impl Meter for PatternText<'_> {
    type Error = Spent;

    fn charge(&self, steps: usize) -> Result<(), Spent> {
        if (self.charge)(steps) { Ok(()) } else { Err(Spent) }
    }

    fn left(&self) -> usize {
        (self.left)()
    }
}

/// Asks about a text, and takes the cost of searches from `meter`. What is not UTF-8 in the text counts as U+FFFD.
///
/// # Errors
/// That of the meter.
pub(crate) fn with_meter<M: Meter, R>(
    text: &[u8],
    meter: &M,
    ask: impl FnOnce(PatternText<'_>) -> R,
) -> Result<R, M::Error> {
    let spent = Cell::new(None);
    let charge = |steps| match meter.charge(steps) {
        Ok(()) => true,
        Err(error) => {
            spent.set(Some(error));
            false
        }
    };
    let text = String::from_utf8_lossy(text);
    let result = ask(PatternText { text: &text, charge: &charge, left: &|| meter.left() });
    spent.into_inner().map_or(Ok(result), Err)
}

/// Whether an entry matches a value, without a set.
pub(crate) fn entry_matches(entry: &str, is_wildcard: bool, value: &[u8]) -> bool {
    let engine = if is_wildcard {
        Engine::Wildcard(wildcard(entry))
    } else {
        // Entries were checked.
        let Ok(matcher) = Matcher::new(DIALECT.pattern(entry)) else { return false };
        Engine::Pattern(Box::new(matcher))
    };
    let Ok(found) = with_meter(value, &Unmetered, |text| engine.is_match(text).unwrap_or(false));
    found
}

fn wildcard(entry: &str) -> Wildcard {
    // Entries were checked.
    let pieces = wildcard_pieces(entry).unwrap_or_default();
    Wildcard::new(pieces.iter().map(String::as_bytes), true)
}

impl Engine {
    fn is_match(&self, text: PatternText<'_>) -> Result<bool, Spent> {
        match self {
            Self::Wildcard(wildcard) => wildcard.matches(text.text.as_bytes(), &text),
            Self::Pattern(matcher) => match matcher.search(text.text, &text) {
                Ok(found) => Ok(found),
                Err(Undecided::Spent(spent)) => Err(spent),
                // Never: the engine is there. It would be an error of the meter, not a text in which nothing is found.
                Err(Undecided::NoEngine(_)) => text.charge(usize::MAX).and(Err(Spent)),
            },
        }
    }
}

impl<const WILDCARDS: bool> EntrySet for Patterns<WILDCARDS> {
    type Key = Arc<str>;
    type Value<'a> = PatternText<'a>;
    /// The longer entry, and of equally long ones the one that sorts first.
    type Rank = (usize, Reverse<Arc<str>>);

    const MAX: usize = MAX_PATTERNS;
    /// Compiling takes some ten microseconds for each.
    const MERGED_AT_ONCE: usize = 64;
    const COMPILES: bool = true;

    fn build(keys: Vec<Arc<str>>) -> Result<Self, TooLarge> {
        let texts = Strings::new(&keys).ok_or(TooLarge::Numbers)?;
        let cache = PatternCache::with_budget(SEARCH_BYTES).of_dialect(DIALECT);
        let mut engines = Vec::with_capacity(keys.len());
        let mut each = Vec::with_capacity(keys.len());
        let mut compiled = Compiled::default();
        for key in &keys {
            let case_steps = if WILDCARDS { 0 } else { case_steps(key) };
            check_compiled(compiled.and(Compiled { bytes: 0, case_steps }))?;
            let (engine, bytes) = if WILDCARDS {
                let wildcard = wildcard(key);
                let bytes = wildcard_bytes(key).saturating_add(wildcard.heap_bytes());
                (Engine::Wildcard(wildcard), bytes)
            } else {
                // Entries were checked.
                let Ok(regex) = cache.regex(key) else { return Err(TooLarge::Numbers) };
                // It keeps the text.
                let bytes = regex.heap_bytes().saturating_add(key.len());
                (Engine::Pattern(Box::new(Matcher::from_regex(regex))), bytes)
            };
            let own = Compiled { bytes, case_steps };
            compiled = compiled.and(own);
            // Before more is compiled.
            check_compiled(compiled)?;
            engines.push(engine);
            each.push(own);
        }
        let pattern = |key: &str| pattern_of(&wildcard_pieces(key).unwrap_or_default());
        let patterns: Vec<Cow<'_, str>> =
            keys.iter().map(|key| if WILDCARDS { pattern(key).into() } else { Cow::Borrowed(&**key) }).collect();
        let patterns: Vec<_> = patterns.iter().map(|pattern| DIALECT.pattern(pattern)).collect();
        let set = PatternSet::new(&patterns, TABLE_BYTES, cache.budget());
        Ok(Self { set, engines: engines.into(), texts, each: each.into(), compiled })
    }

    fn len(&self) -> usize {
        self.texts.len()
    }

    fn key(&self, id: u32) -> Option<Arc<str>> {
        self.texts.get(id).map(Arc::from)
    }

    fn any(&self, text: PatternText<'_>, mut counts: impl FnMut(u32) -> bool) -> bool {
        let mut found = false;
        self.for_each(text, |id| {
            found = found || counts(id);
            found
        });
        found
    }

    fn most_specific(&self, text: PatternText<'_>, mut counts: impl FnMut(u32) -> bool) -> Option<u32> {
        // Numbers are in the order of the texts, so no text is copied for its rank.
        let mut best: Option<(usize, Reverse<u32>)> = None;
        self.for_each(text, |id| {
            let rank = (self.texts.get(id).map_or(0, str::len), Reverse(id));
            if best.is_none_or(|best| rank > best) && counts(id) {
                best = Some(rank);
            }
            false
        });
        best.map(|(_, Reverse(id))| id)
    }

    fn rank(&self, id: u32) -> Self::Rank {
        let text = self.texts.get(id).unwrap_or_default();
        (text.len(), Reverse(text.into()))
    }

    fn id_of(&self, key: &Arc<str>) -> Option<u32> {
        self.texts.position(key)
    }

    fn is_among(&self, id: u32, keys: &Keys<Arc<str>>) -> bool {
        self.texts.get(id).is_some_and(|text| keys.contains(text))
    }

    fn key_of(key: Key) -> Option<Arc<str>> {
        if let Key::Text(text) = key { Some(text) } else { None }
    }

    fn heap_bytes(&self) -> usize {
        let engines = self.compiled.bytes.saturating_add(size_of_val(&*self.engines));
        let engines = engines.saturating_add(size_of_val(&*self.each));
        engines.saturating_add(self.texts.heap_bytes()).saturating_add(self.set.heap_bytes())
    }

    fn compiled(&self) -> Compiled {
        self.compiled
    }

    fn compiled_of(&self, id: u32) -> Compiled {
        self.each.get(id as usize).copied().unwrap_or_default()
    }
}

impl<const WILDCARDS: bool> Patterns<WILDCARDS> {
    /// Calls `hit` with the entries that match, until it returns true or the steps are spent. Each entry once.
    fn for_each(&self, text: PatternText<'_>, mut hit: impl FnMut(u32) -> bool) {
        let (mut is_done, mut open) = (false, Vec::new());
        let searched = self.set.for_each_metered(text.text, &text, |id, found| match found {
            PatternMatch::Certain => is_done = is_done || hit(id),
            PatternMatch::Possible => open.push(id),
        });
        if searched.is_err() || is_done {
            return;
        }
        for id in open {
            let Some(engine) = self.engines.get(id as usize) else { continue };
            match text.charge(1).and_then(|()| engine.is_match(text)) {
                Ok(true) if hit(id) => return,
                Ok(_) => {}
                Err(Spent) => return,
            }
        }
    }
}

/// Checks how much the compiled entries of a list take.
///
/// # Errors
/// It is more than [`MAX_COMPILED_BYTES`], or their letter cases take more than [`MAX_CASE_STEPS`].
pub(crate) fn check_compiled(Compiled { bytes, case_steps }: Compiled) -> Result<(), TooLarge> {
    let checks = [
        ("bytes of compiled patterns in a list", bytes, MAX_COMPILED_BYTES),
        ("steps for letter cases of the patterns in a list", case_steps, MAX_CASE_STEPS),
    ];
    match checks.into_iter().find(|(_, wanted, limit)| wanted > limit) {
        Some((what, wanted, limit)) => Err(TooLarge::Kind { what, wanted, limit }),
        None => Ok(()),
    }
}
