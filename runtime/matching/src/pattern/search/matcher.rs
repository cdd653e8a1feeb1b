//! The cheapest engine that decides whether a pattern matches somewhere in a text.

use crate::MemoryBudget;
use crate::pattern::analysis::small_alphabet::reduce;
use crate::pattern::analysis::{self, analyze};
use crate::pattern::search::anchored_dfa::AnchoredDfa;
use crate::pattern::search::ascii_regex::AsciiRegex;
use crate::pattern::search::dfa_search::BYTES_PER_STEP;
use crate::pattern::search::engine::{engine, engine_of};
use crate::pattern::search::lazy::LazyMatcher;
use crate::pattern::search::meter::{Meter, Unmetered};
use crate::pattern::search::metered_regex::MeteredRegex;
use crate::pattern::syntax::dialect::Pattern;
use crate::pattern::syntax::limits::{MAX_PROGRAM_BYTES, PatternError, Syntax};
use crate::pattern::syntax::parse::parse;
use crate::pattern::syntax::parsed::ParsedPattern;
use regex_syntax::hir::Hir;

/// Decides whether a pattern matches somewhere in a text, as [`MeteredRegex::is_match`] does.
///
/// A small pattern that matches only at the start of the text, or only at its end, becomes a dense
/// automaton: one table lookup for each byte, and no memory that threads compete for. Every other
/// pattern is a [`MeteredRegex`], which is good at finding the places where a match can begin.
///
/// ```
/// use celero_matching::Matcher;
///
/// let matcher = Matcher::new("^/user/([^/]+)/view$")?;
/// assert_eq!(matcher.is_match("/user/1234/view"), Ok(true));
/// assert_eq!(matcher.is_match("/user//view"), Ok(false));
/// # Ok::<(), celero_matching::pattern::PatternError>(())
/// ```
#[derive(Debug)]
pub struct Matcher(pub(in crate::pattern) Engine);

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a search follows one pointer less")]
pub(in crate::pattern) enum Engine {
    /// A small pattern that is anchored to an end.
    Anchored(AnchoredDfa),
    /// Any pattern.
    Search(MeteredRegex),
    /// An engine for ASCII texts, and one for all others that is built when such a text is met.
    Ascii(Box<AsciiRegex>, Box<LazyMatcher<MeteredRegex>>),
    /// One of the other engines, built on first use.
    Lazy(Box<LazyMatcher<Box<Engine>>>),
}

/// The memory budget did not allow the engine of a lazy matcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget<'m> {
    /// The pattern, for a caller that wants to search with a temporary engine.
    pub pattern: Pattern<'m>,
}

/// Why a search has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecided<'m, E> {
    /// The memory budget did not allow the engine.
    NoEngine(OverBudget<'m>),
    /// The search costs more than the meter had left: its error.
    Spent(E),
}

impl std::fmt::Display for OverBudget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no memory is left in the budget for the pattern {:?}", self.pattern.text)
    }
}

impl std::error::Error for OverBudget<'_> {}

impl Matcher {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// See [`compile`](crate::pattern::compile()).
    pub fn new<'p>(pattern: impl Into<Pattern<'p>>) -> Result<Self, PatternError> {
        Self::from_parsed(&ParsedPattern::new(pattern)?)
    }

    /// Compiles a pattern that was parsed before.
    ///
    /// # Errors
    /// If the compiled program would exceed [`MAX_PROGRAM_BYTES`].
    pub fn from_parsed(pattern: &ParsedPattern<'_>) -> Result<Self, PatternError> {
        let (hir, pattern) = (pattern.hir(), pattern.pattern());
        match Self::anchored(hir) {
            // Nothing else is compiled, unless that shows whether the program is too large.
            Some(anchored) if analysis::program_bound(hir) <= MAX_PROGRAM_BYTES => Ok(anchored),
            anchored => {
                let compiled = engine_of(hir, Syntax::Text, MAX_PROGRAM_BYTES)?;
                let search = || Self(Engine::Search(MeteredRegex::new(pattern, compiled, &MemoryBudget::default())));
                Ok(anchored.unwrap_or_else(search))
            }
        }
    }

    /// A matcher of the pattern that was compiled before.
    #[must_use]
    pub fn from_regex(regex: MeteredRegex) -> Self {
        parse(regex.pattern()).and_then(|hir| Self::anchored(&hir)).unwrap_or(Self(Engine::Search(regex)))
    }

    /// A matcher of `hir`, a pattern that is anchored to an end of the text; `None` if it is not, or not small.
    pub(in crate::pattern) fn anchored(hir: &Hir) -> Option<Self> {
        AnchoredDfa::of_text(hir).map(|dfa| Self(Engine::Anchored(dfa)))
    }

    /// A matcher of a valid pattern that is compiled on first use, with memory from `budget`.
    #[must_use]
    pub fn lazy<'p>(pattern: impl Into<Pattern<'p>>, budget: &MemoryBudget) -> Self {
        Self(Engine::Lazy(Box::new(LazyMatcher::new(pattern, budget))))
    }

    /// Upper bound of the bytes that the engine holds, without what each searching thread caches.
    /// `program_bytes` bounds those of the pattern's program.
    pub(in crate::pattern) fn heap_bytes(&self, program_bytes: usize) -> usize {
        self.0.heap_bytes(program_bytes)
    }

    /// Returns whether the pattern matches somewhere in `text`, in time linear in the text.
    ///
    /// # Errors
    /// If the matcher is [lazy](Self::lazy) and the memory budget did not allow its engine.
    #[inline]
    pub fn is_match(&self, text: &str) -> Result<bool, OverBudget<'_>> {
        self.search(text, &Unmetered).map_err(|undecided| match undecided {
            Undecided::NoEngine(over) => over,
            Undecided::Spent(never) => match never {},
        })
    }

    /// As [`is_match`](Self::is_match), and takes the cost of the search from `meter`. See
    /// [`MeteredRegex`] for what it charges; an automaton charges one step for eight bytes of text.
    ///
    /// # Errors
    /// Also if the search costs more than is left.
    #[inline]
    pub fn search<M: Meter>(&self, text: &str, meter: &M) -> Result<bool, Undecided<'_, M::Error>> {
        match &self.0 {
            Engine::Lazy(lazy) => match lazy.get(build) {
                Some(engine) => engine.is_match(text, meter),
                None => Err(Undecided::NoEngine(OverBudget { pattern: lazy.pattern() })),
            },
            engine => engine.is_match(text, meter),
        }
    }
}

impl Engine {
    fn heap_bytes(&self, program_bytes: usize) -> usize {
        match self {
            Self::Anchored(dfa) => dfa.heap_bytes(),
            Self::Ascii(ascii, _) => ascii.heap_bytes(),
            Self::Search(_) => program_bytes,
            Self::Lazy(_) => 0,
        }
    }

    #[inline]
    fn is_match<M: Meter>(&self, text: &str, meter: &M) -> Result<bool, Undecided<'_, M::Error>> {
        match self {
            Self::Search(regex) => regex.is_match(text, meter),
            Self::Anchored(dfa) => read_all(text, meter).map(|()| dfa.is_match(text.as_bytes())),
            Self::Ascii(ascii, _) if text.is_ascii() => ascii.is_match(text, meter),
            Self::Ascii(_, others) => match others.get(build_regex) {
                Some(regex) => regex.is_match(text, meter),
                None => return Err(Undecided::NoEngine(OverBudget { pattern: others.pattern() })),
            },
            Self::Lazy(lazy) => return Err(Undecided::NoEngine(OverBudget { pattern: lazy.pattern() })),
        }
        .map_err(Undecided::Spent)
    }
}

/// Charges reading a text once.
#[inline]
fn read_all<M: Meter>(text: &str, meter: &M) -> Result<(), M::Error> {
    meter.charge(text.len() / BYTES_PER_STEP)
}

/// Builds the engine of a lazy matcher. Most texts are ASCII, and a smaller engine is enough for them.
#[cold]
fn build(pattern: Pattern<'_>, budget: &MemoryBudget) -> Option<Box<Engine>> {
    let hir = parse(pattern)?;
    let ascii = || {
        let ascii = Box::new(AsciiRegex::of(pattern, &reduce(&hir)?.hir)?);
        Some(Engine::Ascii(ascii, Box::new(LazyMatcher::new(pattern, budget))))
    };
    let engine = match AnchoredDfa::of_text(&hir).map(Engine::Anchored).or_else(ascii) {
        Some(engine) => engine,
        None => return build_regex(pattern, budget).map(|regex| Box::new(Engine::Search(regex))),
    };
    let bytes = engine.heap_bytes(MAX_PROGRAM_BYTES);
    budget.keep(Box::new(engine), bytes)
}

#[cold]
fn build_regex(pattern: Pattern<'_>, budget: &MemoryBudget) -> Option<MeteredRegex> {
    let compiled =
        budget.take(program_bound(pattern)).then(|| engine(pattern, Syntax::Text, MAX_PROGRAM_BYTES).ok()).flatten();
    compiled.map(|compiled| MeteredRegex::new(pattern, compiled, budget))
}

/// Upper bound of the bytes of a valid pattern's program.
fn program_bound(pattern: Pattern<'_>) -> usize {
    analyze(pattern).map_or(0, |analysis| analysis.program_bytes).min(MAX_PROGRAM_BYTES)
}
