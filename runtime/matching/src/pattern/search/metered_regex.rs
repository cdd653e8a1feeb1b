//! Regular expressions whose searches charge what they cost.
//!
//! Invariant: a search charges its `Meter` for the work that it does, including what depends on the pattern. Test:
//! `runtime/matching/src/pattern/metered_tests.rs::matches_that_read_the_whole_text_are_charged`.

use crate::MemoryBudget;
use crate::pattern::analysis::program_states;
use crate::pattern::analysis::required::{RequiredLiterals, required_literals};
use crate::pattern::analysis::small_alphabet::reduce;
use crate::pattern::search::engine::Compiled;
use crate::pattern::search::lazy_dfa::{Direction, LazyDfa, Stop};
use crate::pattern::search::leftmost::find_with;
use crate::pattern::search::meter::{Meter, Unmetered};
use crate::pattern::syntax::dialect::{OwnedPattern, Pattern};
use crate::pattern::syntax::limits::PROGRAM_BYTES_PER_STEP;
use crate::pattern::syntax::parse::parse;
use regex_automata::util::captures::Captures;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchKind, PatternID, meta};
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Steps of program states on bytes of text for each step charged. The slowest search takes some
/// twelve nanoseconds for each.
pub(in crate::pattern) const STATE_BYTES_PER_STEP: usize = 8;
/// Most steps charged for what a search may cost. A search that may cost more is charged for what it does cost.
pub(in crate::pattern) const MAX_ASSUMED: usize = 4096;
/// Shortest text that is searched for required literals first, in bytes: finding out which literals
/// are required takes long.
const LONG: usize = 4096;
/// Bytes of text searched for literals for each step charged.
const BYTES_SCANNED_PER_STEP: usize = 64;
/// Memory for the places of groups in all states of a program that is not charged, in bytes.
const MAX_GROUP_BYTES: usize = 64 << 20;
/// As [`MAX_ASSUMED`], where a text may have many matches, each of which is searched for in all
/// that follows the one before.
pub(in crate::pattern) const MAX_ASSUMED_FOR_EACH: usize = 128;

/// A compiled pattern whose searches take their cost from a [`Meter`].
///
/// A search takes time linear in the text, but the factor depends on the pattern: a program of
/// thousands of states may take a hundred microseconds for each byte of a text that is made for it,
/// and a nanosecond for most others. So the cost of a search is
/// * for a small program and a short text, their product: one step for eight bytes times states, of
///   which only those count that an ASCII text can reach if the text is one;
/// * otherwise one step for eight bytes of text, and what building the states of an automaton takes
///   that the text reaches and no search of the thread has reached before.
///
/// What is found is what the [`regex`](https://docs.rs/regex) crate finds. Clones share the program.
///
/// ```
/// use celero_matching::pattern::{Unmetered, compile};
///
/// let regex = compile("[0-9]+")?;
/// assert_eq!(regex.is_match("order 12", &Unmetered), Ok(true));
/// assert_eq!(regex.find_at("order 12", 0, &Unmetered), Ok(Some(6..8)));
/// # Ok::<(), celero_matching::pattern::PatternError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MeteredRegex(pub(in crate::pattern) Arc<Program>);

#[derive(Debug)]
pub(in crate::pattern) struct Program {
    pattern: OwnedPattern,
    regex: meta::Regex,
    /// Upper bound of the states of the program.
    states: usize,
    /// Upper bound of those that an ASCII text can reach.
    ascii_states: OnceLock<usize>,
    /// For memory of what is built later.
    budget: MemoryBudget,
    /// Finds literals of which every text has one in which the pattern matches.
    required: OnceLock<Option<Prefilter>>,
    /// Decides whether the pattern matches in an ASCII text.
    ascii: OnceLock<Option<LazyDfa>>,
    /// Finds the end of a match.
    forward: OnceLock<Option<LazyDfa>>,
    /// Finds the start of a match.
    backward: OnceLock<Option<LazyDfa>>,
    /// The pattern without word boundaries of Unicode, if it has some: decides that it does not match.
    relaxed: OnceLock<Option<LazyDfa>>,
}

impl MeteredRegex {
    pub(in crate::pattern) fn new(
        pattern: Pattern<'_>,
        Compiled { regex, states }: Compiled,
        budget: &MemoryBudget,
    ) -> Self {
        Self(Arc::new(Program {
            pattern: pattern.into(),
            regex,
            states,
            ascii_states: OnceLock::new(),
            budget: budget.clone(),
            required: OnceLock::new(),
            ascii: OnceLock::new(),
            forward: OnceLock::new(),
            backward: OnceLock::new(),
            relaxed: OnceLock::new(),
        }))
    }

    /// Returns whether the pattern matches somewhere in `text`.
    ///
    /// # Errors
    /// That of the meter, if the search costs more than is left.
    #[inline]
    pub fn is_match<M: Meter>(&self, text: &str, meter: &M) -> Result<bool, M::Error> {
        let worst = self.0.states.saturating_mul(text.len()) / STATE_BYTES_PER_STEP;
        if worst > MAX_ASSUMED {
            return self.0.is_match(text, meter);
        }
        meter.charge(worst)?;
        Ok(self.0.regex.is_match(text))
    }

    /// Returns the leftmost match that begins at byte `at` of `text` or later. `at` must be a boundary of characters.
    ///
    /// # Errors
    /// That of the meter, if the search costs more than is left.
    pub fn find_at<M: Meter>(&self, text: &str, at: usize, meter: &M) -> Result<Option<Range<usize>>, M::Error> {
        let worst = self.0.states.saturating_mul(text.len().saturating_sub(at)) / STATE_BYTES_PER_STEP;
        if worst > MAX_ASSUMED_FOR_EACH {
            return self.0.find_at(text, at, meter);
        }
        meter.charge(worst)?;
        Ok(self.0.assume(text, at))
    }

    /// Finds the groups of a match that [`find_at`](Self::find_at) returned. Returns `None` if
    /// there is no match in that range.
    ///
    /// # Errors
    /// That of the meter, if the search costs more than is left.
    pub fn groups<M: Meter>(&self, text: &str, found: Range<usize>, meter: &M) -> Result<Option<Groups>, M::Error> {
        let slots = self.group_count();
        meter.charge(self.0.states.saturating_mul(found.len()) / STATE_BYTES_PER_STEP)?;
        meter.charge(slots)?;
        // A state of the program takes about as many bytes as the place of a group does in each.
        let bytes = self.heap_bytes().saturating_mul(slots);
        if bytes > MAX_GROUP_BYTES {
            meter.charge(bytes / PROGRAM_BYTES_PER_STEP)?;
        }
        if text.get(found.clone()).is_none() {
            return Ok(None);
        }
        Ok(Groups::of(&self.0.regex, &Input::new(text).range(found).anchored(Anchored::Yes)))
    }

    /// Number of groups, with that of the whole match.
    #[must_use]
    pub fn group_count(&self) -> usize {
        // `captures_len` leaves out groups that are repeated zero times, which have numbers nevertheless.
        self.0.regex.group_info().group_len(PatternID::ZERO)
    }

    /// The pattern.
    #[must_use]
    pub fn pattern(&self) -> Pattern<'_> {
        self.0.pattern.get()
    }

    /// Bytes of the compiled program, without what is built for the first long text.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.0.regex.memory_usage()
    }

    /// Whether the pattern matches somewhere in a text that is trusted.
    #[must_use]
    pub fn is_match_unmetered(&self, text: &str) -> bool {
        let Ok(found) = self.is_match(text, &Unmetered);
        found
    }
}

/// The places of the groups of a match.
#[derive(Debug)]
pub struct Groups(Captures);

impl Groups {
    pub(in crate::pattern) fn of(regex: &meta::Regex, input: &Input<'_>) -> Option<Self> {
        let mut captures = regex.create_captures();
        regex.search_captures(input, &mut captures);
        captures.is_match().then_some(Self(captures))
    }

    /// Returns where the group of this number matched. Number 0 is the whole match.
    #[must_use]
    pub fn get(&self, group: usize) -> Option<Range<usize>> {
        self.0.get_group(group).map(|span| span.range())
    }

    /// Returns where the group of this name matched.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Range<usize>> {
        self.0.get_group_by_name(name).map(|span| span.range())
    }
}

impl Program {
    /// Searches with the engine whose cost is only known as a bound.
    fn assume(&self, text: &str, at: usize) -> Option<Range<usize>> {
        text.get(at..)?;
        self.regex.find(Input::new(text).range(at..)).map(|found| found.range())
    }

    #[cold]
    #[inline(never)]
    pub(in crate::pattern) fn is_match<M: Meter>(&self, text: &str, meter: &M) -> Result<bool, M::Error> {
        if let Some(worst) = self.worst_of_ascii(text, MAX_ASSUMED) {
            meter.charge(worst)?;
            return Ok(self.regex.is_match(text));
        }
        let bytes = text.as_bytes();
        if text.len() >= LONG {
            meter.charge(text.len() / BYTES_SCANNED_PER_STEP)?;
            let required = self.required.get_or_init(|| required(self.pattern.get())).as_ref();
            if required.is_some_and(|required| required.find(bytes, (0..bytes.len()).into()).is_none()) {
                return Ok(false);
            }
        }
        let search = |dfa: &LazyDfa| dfa.search(bytes, 0..bytes.len(), true, meter);
        if text.is_ascii()
            && let Some(dfa) = self.built(&self.ascii, |hir| LazyDfa::new(&reduce(hir)?.hir, Direction::Forward))
        {
            match search(dfa) {
                Ok(end) => return Ok(end.is_some()),
                Err(Stop::Spent(error)) => return Err(error),
                Err(Stop::Undecided) => {}
            }
        }
        let mut states = self.states;
        if let Some(dfa) = self.built(&self.forward, |hir| LazyDfa::new(hir, Direction::Forward)) {
            states = states.min(dfa.program_states());
            match search(dfa) {
                // An empty match inside of a character is none.
                Ok(Some(end)) if dfa.has_empty() && !text.is_char_boundary(end) => {}
                Ok(end) => return Ok(end.is_some()),
                Err(Stop::Spent(error)) => return Err(error),
                Err(Stop::Undecided) => {}
            }
        }
        let relax = |hir: &Hir| LazyDfa::new(&relaxed(hir)?, Direction::Forward);
        if let Some(dfa) = self.built(&self.relaxed, relax) {
            match search(dfa) {
                Ok(None) => return Ok(false),
                Err(Stop::Spent(error)) => return Err(error),
                _ => {}
            }
        }
        meter.charge(states.saturating_mul(text.len()) / STATE_BYTES_PER_STEP)?;
        Ok(self.regex.is_match(text))
    }

    #[cold]
    #[inline(never)]
    pub(in crate::pattern) fn find_at<M: Meter>(
        &self,
        text: &str,
        at: usize,
        meter: &M,
    ) -> Result<Option<Range<usize>>, M::Error> {
        let rest = text.get(at..).unwrap_or_default();
        if let Some(worst) = self.worst_of_ascii(rest, MAX_ASSUMED_FOR_EACH) {
            meter.charge(worst)?;
            return Ok(self.assume(text, at));
        }
        let forward = self.built(&self.forward, |hir| LazyDfa::new(hir, Direction::Forward));
        let backward = self.built(&self.backward, |hir| LazyDfa::new(hir, Direction::Backward));
        let mut states = self.states;
        if let (Some(forward), Some(backward)) = (forward, backward) {
            states = states.min(forward.program_states());
            match find_between_characters(forward, backward, text, at, meter) {
                Ok(found) => return Ok(found),
                Err(Stop::Spent(error)) => return Err(error),
                Err(Stop::Undecided) => {}
            }
        }
        meter.charge(states.saturating_mul(text.len().saturating_sub(at)) / STATE_BYTES_PER_STEP)?;
        Ok(self.assume(text, at))
    }

    /// Returns the steps of the slowest search of a text, if it is ASCII and they are at most
    /// `most`. A program has ten or twenty states for a class of Unicode, of which an ASCII text
    /// reaches one or two. Reads only texts that are short enough.
    fn worst_of_ascii(&self, text: &str, most: usize) -> Option<usize> {
        let count = || {
            let reduced = parse(self.pattern.get()).and_then(|hir| reduce(&hir));
            reduced.map_or(self.states, |reduced| program_states(&reduced.hir).min(self.states))
        };
        if text.len() / STATE_BYTES_PER_STEP > most || !text.is_ascii() {
            return None;
        }
        let states = *self.ascii_states.get_or_init(count);
        Some(states.saturating_mul(text.len()) / STATE_BYTES_PER_STEP).filter(|worst| *worst <= most)
    }

    /// Returns what `build` makes of the pattern, on the first call, if the memory budget allows it.
    fn built<'p>(
        &'p self,
        place: &'p OnceLock<Option<LazyDfa>>,
        build: impl FnOnce(&Hir) -> Option<LazyDfa>,
    ) -> Option<&'p LazyDfa> {
        let build = || {
            let dfa = build(&parse(self.pattern.get())?)?;
            let bytes = dfa.heap_bytes();
            self.budget.keep(dfa, bytes)
        };
        place.get_or_init(build).as_ref()
    }
}

/// As [`find_with`] in a text: the empty matches that the automata find inside of a character are none.
fn find_between_characters<M: Meter>(
    forward: &LazyDfa,
    backward: &LazyDfa,
    text: &str,
    mut at: usize,
    meter: &M,
) -> Result<Option<Range<usize>>, Stop<M::Error>> {
    loop {
        match find_with(forward, backward, text.as_bytes(), at, meter)? {
            Some(inside) if !text.is_char_boundary(inside.end) => at = text.ceil_char_boundary(inside.end),
            found => return Ok(found),
        }
    }
}

/// A search for literals of which every text has one in which the pattern matches.
fn required(pattern: Pattern<'_>) -> Option<Prefilter> {
    match required_literals(pattern)? {
        RequiredLiterals::Substring(found) if !found.folded => Prefilter::new(MatchKind::All, &found.literals),
        _ => None,
    }
}

/// The pattern without word boundaries of Unicode, if it has some: it matches wherever the pattern matches.
fn relaxed(hir: &Hir) -> Option<Hir> {
    hir.properties().look_set().contains_word_unicode().then(|| without_words(hir))
}

fn without_words(hir: &Hir) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(without_words).collect();
    match hir.kind() {
        HirKind::Look(
            Look::WordUnicode
            | Look::WordUnicodeNegate
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode,
        ) => Hir::empty(),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
        HirKind::Capture(group) => without_words(&group.sub),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(without_words(&repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
    }
}
