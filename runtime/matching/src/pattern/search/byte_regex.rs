//! Regular expressions on bytes, without Unicode, whose searches charge what they cost.

use crate::MemoryBudget;
use crate::pattern::search::engine::{Compiled, engine, engine_of};
use crate::pattern::search::lazy_dfa::{Direction, LazyDfa, Stop};
use crate::pattern::search::leftmost::find_with;
use crate::pattern::search::meter::Meter;
use crate::pattern::search::metered_regex::{Groups, MAX_ASSUMED, MAX_ASSUMED_FOR_EACH, STATE_BYTES_PER_STEP};
use crate::pattern::syntax::groups::keep_groups;
use crate::pattern::syntax::limits::{MAX_BYTE_PROGRAM_BYTES, PatternError, Syntax};
use regex_automata::{Anchored, Input, meta};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A compiled pattern on bytes whose searches take their cost from a [`Meter`], as those of a
/// [`MeteredRegex`](crate::pattern::MeteredRegex) do.
///
/// The syntax, and what is found, are those of `regex::bytes::RegexBuilder` with `unicode(false)`:
/// `.` and negated classes match single bytes, the classes `\d \s \w` and `\b` are those of ASCII,
/// and `(?i)` folds ASCII letters only. `(?u)` in a pattern switches Unicode on. Clones share the
/// program.
///
/// ```
/// use celero_matching::pattern::{ByteRegex, Unmetered};
///
/// let regex = ByteRegex::new(r"id=[^&]\xff")?;
/// assert_eq!(regex.is_match(b"?id=\x80\xff", &Unmetered), Ok(true));
/// assert_eq!(regex.find_at(b"?id=\x80\xff", 0, &Unmetered), Ok(Some(1..6)));
/// # Ok::<(), celero_matching::pattern::PatternError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ByteRegex(pub(in crate::pattern) Arc<Program>);

#[derive(Debug)]
pub(in crate::pattern) struct Program {
    pattern: Box<str>,
    regex: meta::Regex,
    /// Upper bound of the states of the program.
    states: usize,
    /// For memory of what is built later.
    budget: MemoryBudget,
    /// Finds the end of a match.
    forward: OnceLock<Option<LazyDfa>>,
    /// Finds the start of a match.
    backward: OnceLock<Option<LazyDfa>>,
}

impl ByteRegex {
    /// Compiles a pattern for searches that read no groups.
    ///
    /// # Errors
    /// If the pattern is not valid, or its program would exceed [`MAX_BYTE_PROGRAM_BYTES`].
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        let compiled = engine(pattern.into(), Syntax::Bytes, MAX_BYTE_PROGRAM_BYTES)?;
        Ok(Self::from_compiled(pattern, compiled, &MemoryBudget::default()))
    }

    /// Compiles a pattern for searches that read its first `most` groups. Each takes memory in
    /// every state of the program, in each thread that searches.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn with_groups(pattern: &str, most: u32) -> Result<Self, PatternError> {
        let hir = keep_groups(Syntax::Bytes.parse(pattern.into())?, most);
        let compiled = engine_of(&hir, Syntax::Bytes, MAX_BYTE_PROGRAM_BYTES)?;
        Ok(Self::from_compiled(pattern, compiled, &MemoryBudget::default()))
    }

    pub(in crate::pattern) fn from_compiled(
        pattern: &str,
        Compiled { regex, states }: Compiled,
        budget: &MemoryBudget,
    ) -> Self {
        Self(Arc::new(Program {
            pattern: pattern.into(),
            regex,
            states,
            budget: budget.clone(),
            forward: OnceLock::new(),
            backward: OnceLock::new(),
        }))
    }

    /// Returns whether the pattern matches somewhere in `bytes`.
    ///
    /// # Errors
    /// That of the meter, if the search costs more than is left.
    #[inline]
    pub fn is_match<M: Meter>(&self, bytes: &[u8], meter: &M) -> Result<bool, M::Error> {
        let worst = self.0.states.saturating_mul(bytes.len()) / STATE_BYTES_PER_STEP;
        if worst > MAX_ASSUMED {
            return self.0.is_match(bytes, meter);
        }
        meter.charge(worst)?;
        Ok(self.0.regex.is_match(bytes))
    }

    /// Returns the leftmost match that begins at byte `at` or later.
    ///
    /// # Errors
    /// That of the meter, if the search costs more than is left.
    pub fn find_at<M: Meter>(&self, bytes: &[u8], at: usize, meter: &M) -> Result<Option<Range<usize>>, M::Error> {
        let worst = self.0.states.saturating_mul(bytes.len().saturating_sub(at)) / STATE_BYTES_PER_STEP;
        if worst > MAX_ASSUMED_FOR_EACH {
            return self.0.find_at(bytes, at, meter);
        }
        meter.charge(worst)?;
        Ok(self.0.assume(bytes, at))
    }

    /// Finds the groups of a match that [`find_at`](Self::find_at) returned: those that
    /// [`with_groups`](Self::with_groups) keeps. Returns `None` if there is no match in that range.
    ///
    /// # Errors
    /// That of the meter, if the search costs more than is left.
    pub fn groups<M: Meter>(&self, bytes: &[u8], found: Range<usize>, meter: &M) -> Result<Option<Groups>, M::Error> {
        meter.charge(self.0.states.saturating_mul(found.len()) / STATE_BYTES_PER_STEP)?;
        meter.charge(self.0.regex.captures_len())?;
        if bytes.get(found.clone()).is_none() {
            return Ok(None);
        }
        Ok(Groups::of(&self.0.regex, &Input::new(bytes).range(found).anchored(Anchored::Yes)))
    }

    /// Bytes of the compiled program, without what is built for the first long text.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.0.regex.memory_usage()
    }
}

impl Program {
    /// Searches with the engine whose cost is only known as a bound.
    fn assume(&self, bytes: &[u8], at: usize) -> Option<Range<usize>> {
        bytes.get(at..)?;
        self.regex.find(Input::new(bytes).range(at..)).map(|found| found.range())
    }

    #[cold]
    #[inline(never)]
    pub(in crate::pattern) fn is_match<M: Meter>(&self, bytes: &[u8], meter: &M) -> Result<bool, M::Error> {
        let mut states = self.states;
        if let Some(dfa) = self.built(&self.forward, Direction::Forward) {
            states = states.min(dfa.program_states());
            match dfa.search(bytes, 0..bytes.len(), true, meter) {
                Ok(end) => return Ok(end.is_some()),
                Err(Stop::Spent(error)) => return Err(error),
                // A word boundary of Unicode, by `(?u)`.
                Err(Stop::Undecided) => {}
            }
        }
        meter.charge(states.saturating_mul(bytes.len()) / STATE_BYTES_PER_STEP)?;
        Ok(self.regex.is_match(bytes))
    }

    #[cold]
    #[inline(never)]
    pub(in crate::pattern) fn find_at<M: Meter>(
        &self,
        bytes: &[u8],
        at: usize,
        meter: &M,
    ) -> Result<Option<Range<usize>>, M::Error> {
        let forward = self.built(&self.forward, Direction::Forward);
        let backward = self.built(&self.backward, Direction::Backward);
        let mut states = self.states;
        if let (Some(forward), Some(backward)) = (forward, backward) {
            states = states.min(forward.program_states());
            match find_with(forward, backward, bytes, at, meter) {
                Ok(found) => return Ok(found),
                Err(Stop::Spent(error)) => return Err(error),
                Err(Stop::Undecided) => {}
            }
        }
        meter.charge(states.saturating_mul(bytes.len().saturating_sub(at)) / STATE_BYTES_PER_STEP)?;
        Ok(self.assume(bytes, at))
    }

    /// Returns the automaton for long texts, which the first call builds if the memory budget allows it.
    fn built<'p>(&'p self, place: &'p OnceLock<Option<LazyDfa>>, direction: Direction) -> Option<&'p LazyDfa> {
        let build = || {
            let dfa = LazyDfa::new(&Syntax::Bytes.parse((&*self.pattern).into()).ok()?, direction)?;
            let bytes = dfa.heap_bytes();
            self.budget.keep(dfa, bytes)
        };
        place.get_or_init(build).as_ref()
    }
}
