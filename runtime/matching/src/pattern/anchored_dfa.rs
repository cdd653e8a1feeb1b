//! Dense automata for patterns that are anchored to an end of the text.

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::{primitives::StateID, start};
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::{Hir, HirKind, Look};

use super::analysis::{flatten, is_look};

/// Largest program that an automaton is built from, in bytes.
const MAX_PROGRAM_BYTES: usize = 1 << 14;
/// Largest automaton, in bytes.
const MAX_DFA_BYTES: usize = 1 << 15;
/// Most memory used while building, in bytes. With these limits, building takes about as long as compiling a `Regex`.
const MAX_BUILD_BYTES: usize = 1 << 16;

/// A pattern that is anchored to one end of the text, as a table of states: one lookup for each byte, and no memory of a
/// thread's own.
#[derive(Debug)]
pub(super) struct AnchoredDfa {
    dfa: dense::DFA<Vec<u32>>,
    /// Whether it reads from the end of the text.
    pub(super) backward: bool,
    /// What every match has at the anchored end, in the order of the text. Comparing it is faster than the automaton.
    affix: Box<[u8]>,
    /// The state after the affix.
    start: StateID,
}

impl AnchoredDfa {
    /// Returns the automaton of a pattern; `None` if it is anchored to no end, or if the automaton would exceed the limits.
    pub(super) fn new(hir: &Hir) -> Option<Self> {
        let looks = hir.properties();
        let forward = || looks.look_set_prefix().contains(Look::Start).then(|| Self::reading(hir, false)).flatten();
        let backward = || looks.look_set_suffix().contains(Look::End).then(|| Self::reading(hir, true)).flatten();
        forward().or_else(backward)
    }

    fn reading(hir: &Hir, backward: bool) -> Option<Self> {
        let program = thompson::Config::new()
            // Anchored to an end, no match is empty between the bytes of a character.
            .utf8(false)
            .reverse(backward)
            .which_captures(thompson::WhichCaptures::None)
            .nfa_size_limit(Some(MAX_PROGRAM_BYTES));
        let nfa = thompson::Compiler::new().configure(program).build_from_hir(hir).ok()?;
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::LeftmostFirst)
            // With these, every special state ends the search: none is a start state, none is accelerated, and none gives
            // up, since patterns with Unicode word boundaries are refused.
            .accelerate(false)
            .specialize_start_states(false)
            .unicode_word_boundary(false)
            .dfa_size_limit(Some(MAX_DFA_BYTES))
            .determinize_size_limit(Some(MAX_BUILD_BYTES));
        let dfa = dense::Builder::new().configure(config).build_from_nfa(&nfa).ok()?;
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
        Some(Self { dfa, backward, affix, start })
    }

    /// Whether the pattern matches.
    #[inline]
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        let known = self.affix.len();
        if self.backward {
            (known == 0 || text.ends_with(&self.affix)) && self.accepts(text.iter().rev().skip(known))
        } else {
            (known == 0 || text.starts_with(&self.affix)) && self.accepts(text.iter().skip(known))
        }
    }

    /// Whether the bytes after the affix, from the anchored end on, make a match.
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

    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.dfa.memory_usage()
    }
}

/// The literal that every match has at its beginning, or with `backward` at its end, after the anchors.
fn affix(hir: &Hir, backward: bool) -> Vec<u8> {
    let mut all = Vec::new();
    flatten(hir, &mut all);
    let anchor = if backward { Look::End } else { Look::Start };
    let mut inwards: Box<dyn Iterator<Item = &&Hir>> =
        if backward { Box::new(all.iter().rev()) } else { Box::new(all.iter()) };
    match inwards.find(|piece| !is_look(piece, anchor)).map(|piece| piece.kind()) {
        Some(HirKind::Literal(literal)) => literal.0.to_vec(),
        _ => Vec::new(),
    }
}
