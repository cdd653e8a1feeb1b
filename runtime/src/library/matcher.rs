//! The cheapest engine that decides whether a pattern matches somewhere in a text. Each answers exactly as [`Regex`] does.
//!
//! A pattern that matches only from the start of the text, or only up to its end, is a table of states (a dense DFA), if it
//! is a small one: one lookup for each byte, no memory of its own, nothing that threads share but to read. All others are
//! left to [`Regex`], which is good at finding places to begin.

use super::pattern::{affix, known, syntax};
use super::regex::{MAX_PROGRAM as MAX_REGEX, compile_regex};
use super::room::Room;
use crate::maps::patterns::AsciiRegex;
use ::regex::Regex;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::{primitives::StateID, start};
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::{Hir, Look};
use std::sync::OnceLock;

/// Largest program that a table is made from, in bytes.
const MAX_PROGRAM: usize = 1 << 14;
/// Largest table in bytes.
const MAX_TABLE: usize = 1 << 15;
/// Most memory that making a table takes, in bytes. With these, making one takes about as long as making a [`Regex`].
const MAX_MAKING: usize = 1 << 16;

/// Decides whether a pattern matches somewhere.
#[derive(Debug)]
pub(crate) enum Matcher {
    /// From the start of the text onwards.
    Forward(Table),
    /// From the end of the text backwards.
    Backward(Table),
    /// Whatever there is.
    Search(Regex),
    /// One for texts of ASCII, and what finds the others, made when one comes.
    Ascii(Box<AsciiRegex>, Box<Later<Regex>>),
    /// A pattern for which one of the others is made when it is first asked for.
    Later(Box<Later<Box<Matcher>>>),
}

/// A valid pattern whose engine is made when it is first asked for, if there is room for it.
#[derive(Debug)]
pub(crate) struct Later<E> {
    pattern: Box<str>,
    room: Room,
    /// None if there was no room.
    made: OnceLock<Option<E>>,
}

impl<E> Later<E> {
    pub(crate) fn new(pattern: &str, room: &Room) -> Self {
        Self { pattern: pattern.into(), room: room.clone(), made: OnceLock::new() }
    }

    /// The engine, which `make` makes.
    #[inline]
    pub(crate) fn get(&self, make: impl FnOnce(&str, &Room) -> Option<E>) -> Option<&E> {
        self.made.get_or_init(|| make(&self.pattern, &self.room)).as_ref()
    }
}

impl Matcher {
    /// The matcher of a valid pattern, which `regex` is.
    pub(crate) fn new(pattern: &str, regex: Regex) -> Self {
        Self::table(pattern).unwrap_or(Self::Search(regex))
    }

    /// The table of states of a pattern that is bound to an end of the text, if it is a small one.
    fn table(pattern: &str) -> Option<Self> {
        let hir = syntax(pattern)?;
        let looks = hir.properties();
        if looks.look_set_prefix().contains(Look::Start)
            && let Some(table) = Table::new(&hir, false)
        {
            return Some(Self::Forward(table));
        }
        if looks.look_set_suffix().contains(Look::End)
            && let Some(table) = Table::new(&hir, true)
        {
            return Some(Self::Backward(table));
        }
        None
    }

    /// The matcher of a valid pattern, made when it is first asked for, if there is room for it then.
    pub(crate) fn later(pattern: &str, room: &Room) -> Self {
        Self::Later(Box::new(Later::new(pattern, room)))
    }

    /// Bytes that the engine holds, at most; without what threads have for themselves while they search.
    pub(crate) fn bytes(&self, pattern: &str) -> usize {
        match self {
            Self::Forward(table) | Self::Backward(table) => table.dfa.memory_usage(),
            Self::Ascii(ascii, _) => ascii.bytes(),
            Self::Search(_) => bound(pattern),
            Self::Later(_) => 0,
        }
    }

    /// Whether the pattern matches somewhere in the text; the pattern, if there is no room for its engine.
    #[inline]
    pub(crate) fn is_match(&self, text: &str) -> Result<bool, &str> {
        match self {
            Self::Later(later) => match later.get(made_from) {
                Some(ready) => ready.matches(text),
                None => Err(&later.pattern),
            },
            ready => ready.matches(text),
        }
    }

    #[inline]
    fn matches(&self, text: &str) -> Result<bool, &str> {
        Ok(match self {
            Self::Ascii(ascii, _) if text.is_ascii() => ascii.is_match(text),
            Self::Ascii(_, others) => match others.get(regex_from) {
                Some(regex) => regex.is_match(text),
                None => return Err(&others.pattern),
            },
            Self::Later(later) => return Err(&later.pattern),
            Self::Forward(table) => {
                (table.affix.is_empty() || text.as_bytes().starts_with(&table.affix))
                    && table.accepts(text.as_bytes().iter().skip(table.affix.len()))
            }
            Self::Backward(table) => {
                (table.affix.is_empty() || text.as_bytes().ends_with(&table.affix))
                    && table.accepts(text.as_bytes().iter().rev().skip(table.affix.len()))
            }
            Self::Search(regex) => regex.is_match(text),
        })
    }
}

/// The engine of a valid pattern among many: most texts are ASCII, and a smaller engine is enough for these.
#[cold]
fn made_from(pattern: &str, room: &Room) -> Option<Box<Matcher>> {
    let ascii = || {
        let ascii = Box::new(AsciiRegex::new(pattern)?);
        Some(Matcher::Ascii(ascii, Box::new(Later::new(pattern, room))))
    };
    let engine = match Matcher::table(pattern).or_else(ascii) {
        Some(engine) => engine,
        None => return regex_from(pattern, room).map(|regex| Box::new(Matcher::Search(regex))),
    };
    let bytes = engine.bytes(pattern);
    room.keep(Box::new(engine), bytes)
}

#[cold]
fn regex_from(pattern: &str, room: &Room) -> Option<Regex> {
    room.take(bound(pattern)).then(|| compile_regex(pattern).ok()).flatten()
}

/// A bound on the bytes of a valid pattern's program.
fn bound(pattern: &str) -> usize {
    known(pattern).map_or(0, |known| known.size).min(MAX_REGEX)
}

/// A pattern that is bound to one end of the text.
#[derive(Debug)]
pub(crate) struct Table {
    dfa: dense::DFA<Vec<u32>>,
    /// What every match has at the bound end, in the order of the text. Comparing it is faster than the table.
    affix: Box<[u8]>,
    /// The state after the affix.
    start: StateID,
}

impl Table {
    /// `None` if there is none within the limits.
    fn new(hir: &Hir, backward: bool) -> Option<Self> {
        let program = thompson::Config::new()
            // Bound to an end, no match is empty between the bytes of a character.
            .utf8(false)
            .reverse(backward)
            .which_captures(thompson::WhichCaptures::None)
            .nfa_size_limit(Some(MAX_PROGRAM));
        let nfa = thompson::Compiler::new().configure(program).build_from_hir(hir).ok()?;
        let table = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::LeftmostFirst)
            // Then all special states end the search: there are none of starts, and none that gives up, since patterns with
            // Unicode's word boundaries are refused.
            .accelerate(false)
            .specialize_start_states(false)
            .unicode_word_boundary(false)
            .dfa_size_limit(Some(MAX_TABLE))
            .determinize_size_limit(Some(MAX_MAKING));
        let dfa = dense::Builder::new().configure(table).build_from_nfa(&nfa).ok()?;
        let mut start = dfa.start_state(&start::Config::new().anchored(Anchored::Yes)).ok()?;
        let affix = affix(hir, backward);
        let mut known = 0_usize;
        let mut bytes = affix.iter().copied();
        while let Some(byte) = if backward { bytes.next_back() } else { bytes.next() } {
            let next = dfa.next_state(start, byte);
            if dfa.is_special_state(next) {
                break;
            }
            start = next;
            known = known.saturating_add(1);
        }
        let known = if backward { affix.get(affix.len().saturating_sub(known)..) } else { affix.get(..known) };
        let affix = known?.into();
        Some(Self { dfa, affix, start })
    }

    /// Whether what is left of the text, from the bound end on, makes a match.
    #[inline]
    fn accepts<'t>(&self, rest: impl Iterator<Item = &'t u8>) -> bool {
        let mut state = self.start;
        for &byte in rest {
            state = self.dfa.next_state(state, byte);
            if self.dfa.is_special_state(state) {
                return self.dfa.is_match_state(state);
            }
        }
        self.dfa.is_match_state(self.dfa.next_eoi_state(state))
    }
}
