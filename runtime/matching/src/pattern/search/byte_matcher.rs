//! The cheapest engine that decides whether a pattern on bytes matches somewhere.

use crate::MemoryBudget;
use crate::pattern::search::anchored_dfa::AnchoredDfa;
use crate::pattern::search::byte_regex::ByteRegex;
use crate::pattern::search::dfa_search::BYTES_PER_STEP;
use crate::pattern::search::engine::engine;
use crate::pattern::search::lazy::LazyMatcher;
use crate::pattern::search::matcher::{OverBudget, Undecided};
use crate::pattern::search::meter::Meter;
use crate::pattern::syntax::dialect::Pattern;
use crate::pattern::syntax::limits::{MAX_BYTE_PROGRAM_BYTES, PatternError, Syntax};

/// Decides whether a pattern matches somewhere in bytes, as [`ByteRegex::is_match`] does. It is to that what
/// [`Matcher`](crate::pattern::Matcher) is to [`MeteredRegex`](crate::pattern::MeteredRegex).
///
/// ```
/// use celero_matching::pattern::{ByteMatcher, Unmetered};
///
/// let matcher = ByteMatcher::new(r"^/img/[^/]*\.(gif|png)$")?;
/// assert_eq!(matcher.search(b"/img/caf\xe9.png", &Unmetered), Ok(true));
/// assert_eq!(matcher.search(b"/img/a/b.png", &Unmetered), Ok(false));
/// # Ok::<(), celero_matching::pattern::PatternError>(())
/// ```
#[derive(Debug)]
pub struct ByteMatcher(Engine);

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a search follows one pointer less")]
enum Engine {
    /// A small pattern that is anchored to an end.
    Anchored(AnchoredDfa),
    /// Any pattern.
    Search(ByteRegex),
    /// One of the other engines, built on first use.
    Lazy(Box<LazyMatcher<Box<Engine>>>),
}

impl ByteMatcher {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Those of [`ByteRegex::new`].
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        ByteRegex::new(pattern).map(|regex| Self::from_regex(pattern, regex))
    }

    /// A matcher of `pattern`, which `regex` was compiled from.
    #[must_use]
    pub fn from_regex(pattern: &str, regex: ByteRegex) -> Self {
        Self(Engine::anchored(pattern).unwrap_or(Engine::Search(regex)))
    }

    /// A matcher of a valid pattern that is compiled on first use, with memory from `budget`.
    #[must_use]
    pub fn lazy(pattern: &str, budget: &MemoryBudget) -> Self {
        Self(Engine::Lazy(Box::new(LazyMatcher::new(pattern, budget))))
    }

    /// Bytes that the engine holds, without what each searching thread caches.
    pub(in crate::pattern) fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }

    /// Returns whether the pattern matches somewhere in `bytes`, in time linear in them, and takes
    /// the cost from `meter`. See [`ByteRegex`] for what it charges; an automaton charges one step
    /// for eight bytes.
    ///
    /// # Errors
    /// If the search costs more than is left, or if the matcher is [lazy](Self::lazy) and the
    /// memory budget did not allow its engine.
    #[inline]
    pub fn search<M: Meter>(&self, bytes: &[u8], meter: &M) -> Result<bool, Undecided<'_, M::Error>> {
        match &self.0 {
            Engine::Lazy(lazy) => match lazy.get(build) {
                Some(engine) => engine.is_match(bytes, meter),
                None => Err(Undecided::NoEngine(OverBudget { pattern: lazy.pattern() })),
            },
            engine => engine.is_match(bytes, meter),
        }
    }
}

impl Engine {
    /// The automaton of a pattern that is anchored to an end, if it is small.
    fn anchored(pattern: &str) -> Option<Self> {
        AnchoredDfa::new(&Syntax::Bytes.parse(pattern.into()).ok()?).map(Self::Anchored)
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Self::Anchored(dfa) => dfa.heap_bytes(),
            Self::Search(regex) => regex.heap_bytes(),
            Self::Lazy(_) => 0,
        }
    }

    #[inline]
    fn is_match<M: Meter>(&self, bytes: &[u8], meter: &M) -> Result<bool, Undecided<'_, M::Error>> {
        let read_all = || meter.charge(bytes.len() / BYTES_PER_STEP);
        match self {
            Self::Search(regex) => regex.is_match(bytes, meter),
            Self::Anchored(dfa) => read_all().map(|()| dfa.is_match(bytes)),
            Self::Lazy(lazy) => return Err(Undecided::NoEngine(OverBudget { pattern: lazy.pattern() })),
        }
        .map_err(Undecided::Spent)
    }
}

#[cold]
fn build(pattern: Pattern<'_>, budget: &MemoryBudget) -> Option<Box<Engine>> {
    let engine = match Engine::anchored(pattern.text) {
        Some(engine) => engine,
        None => {
            let compiled = engine(pattern, Syntax::Bytes, MAX_BYTE_PROGRAM_BYTES).ok()?;
            Engine::Search(ByteRegex::from_compiled(pattern.text, compiled, budget))
        }
    };
    let bytes = engine.heap_bytes();
    budget.keep(Box::new(engine), bytes)
}
