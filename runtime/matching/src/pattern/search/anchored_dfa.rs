//! Dense automata for patterns that are anchored to an end of the text.

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::{primitives::StateID, start};
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, Hir, HirKind, Look, Repetition};

use crate::pattern::analysis::flatten;

/// Largest program that an automaton is built from, in bytes.
const MAX_PROGRAM_BYTES: usize = 1 << 14;
/// Largest automaton, in bytes.
const MAX_DFA_BYTES: usize = 1 << 15;
/// Most memory used while building, in bytes. With these limits, building takes about as long as compiling a `Regex`.
const MAX_BUILD_BYTES: usize = 1 << 16;

/// A pattern that is anchored to one end of the text, as a table of states: one lookup for each
/// byte, and no memory of a thread's own.
#[derive(Debug)]
pub(in crate::pattern) struct AnchoredDfa {
    dfa: dense::DFA<Vec<u32>>,
    /// Whether it reads from the end of the text.
    pub(in crate::pattern) backward: bool,
    /// What every match has at the anchored end, in the order of the text. Comparing it is faster
    /// than the automaton, which reads what is beyond it.
    affix: Box<[u8]>,
    /// The state after the affix.
    start: StateID,
}

impl AnchoredDfa {
    /// As [`new`](Self::new), for a pattern whose texts are UTF-8: the automaton does not check
    /// that they are, which makes it smaller.
    pub(in crate::pattern) fn of_text(hir: &Hir) -> Option<Self> {
        let looks = hir.properties().look_set();
        if looks.is_empty() || looks.contains_word() { Self::new(hir) } else { Self::new(&unchecked(hir)) }
    }

    /// Returns the automaton of a pattern; `None` if it is anchored to no end, or if the automaton
    /// would exceed the limits.
    pub(in crate::pattern) fn new(hir: &Hir) -> Option<Self> {
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
        let Cut { affix, beyond } = cut(hir, backward);
        let nfa = thompson::Compiler::new().configure(program).build_from_hir(&beyond).ok()?;
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::LeftmostFirst)
            // With these, every special state ends the search: none is a start state, none is
            // accelerated, and none gives up, since patterns with Unicode word boundaries are
            // refused.
            .accelerate(false)
            .specialize_start_states(false)
            .unicode_word_boundary(false)
            .dfa_size_limit(Some(MAX_DFA_BYTES))
            .determinize_size_limit(Some(MAX_BUILD_BYTES));
        let dfa = dense::Builder::new().configure(config).build_from_nfa(&nfa).ok()?;
        // An assertion beyond the affix looks at its last byte.
        let beside = if backward { affix.first() } else { affix.last() };
        let from = start::Config::new().anchored(Anchored::Yes).look_behind(beside.copied());
        let start = dfa.start_state(&from).ok()?;
        Some(Self { dfa, backward, affix, start })
    }

    /// Whether the pattern matches. The text must be UTF-8 if the automaton was made by [`of_text`](Self::of_text).
    #[inline]
    pub(in crate::pattern) fn is_match(&self, text: &[u8]) -> bool {
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
    pub(in crate::pattern) fn heap_bytes(&self) -> usize {
        self.dfa.memory_usage().saturating_add(self.affix.len())
    }
}

/// A pattern without the literal that every match has at the anchored end.
struct Cut {
    affix: Box<[u8]>,
    beyond: Hir,
}

/// Cuts off the literal after the anchors, or with `backward` before them, if there is one.
fn cut(hir: &Hir, backward: bool) -> Cut {
    let mut all = Vec::new();
    flatten(hir, &mut all);
    let anchor = if backward { Look::End } else { Look::Start };
    let mut pieces = all.as_slice();
    while let Some((outermost, others)) = outermost(pieces, backward) {
        match outermost.kind() {
            HirKind::Look(look) if *look == anchor => pieces = others,
            HirKind::Literal(literal) => {
                let beyond = Hir::concat(others.iter().copied().cloned().collect());
                return Cut { affix: literal.0.clone(), beyond };
            }
            _ => break,
        }
    }
    Cut { affix: Box::default(), beyond: hir.clone() }
}

/// The first piece and the others, or with `backward` the last one.
fn outermost<'p, 'h>(pieces: &'p [&'h Hir], backward: bool) -> Option<(&'h Hir, &'p [&'h Hir])> {
    let split = if backward { pieces.split_last() } else { pieces.split_first() };
    split.map(|(piece, others)| (*piece, others))
}

/// The pattern with classes of all characters but some of ASCII by bytes: an ASCII character, or a
/// first byte and any number of the bytes that continue a character. In valid UTF-8 that is the
/// same, unless something looks at a place within a character and holds there, as the negation of a
/// word boundary does: whatever follows such a class begins with another byte, or with an assertion
/// that fails there.
fn unchecked(hir: &Hir) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(unchecked).collect();
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => all_but_ascii(class).unwrap_or_else(|| hir.clone()),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
        HirKind::Repetition(repetition) => {
            Hir::repetition(Repetition { sub: Box::new(unchecked(&repetition.sub)), ..*repetition })
        }
        // Groups are not asked for.
        HirKind::Capture(group) => unchecked(&group.sub),
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
    }
}

/// A class by bytes, if it has all characters that are not ASCII.
fn all_but_ascii(class: &ClassUnicode) -> Option<Hir> {
    let last = class.ranges().last()?;
    if last.start() > '\u{80}' || last.end() != char::MAX {
        return None;
    }
    let ascii = class.ranges().iter().filter_map(|range| {
        let from = u8::try_from(range.start()).ok().filter(u8::is_ascii)?;
        let to = u8::try_from(range.end()).ok().filter(u8::is_ascii).unwrap_or(0x7F);
        Some(ClassBytesRange::new(from, to))
    });
    let bytes = |ranges: ClassBytes| Hir::class(Class::Bytes(ranges));
    let first = bytes(ClassBytes::new([ClassBytesRange::new(0xC2, 0xF4)]));
    let others = bytes(ClassBytes::new([ClassBytesRange::new(0x80, 0xBF)]));
    let others = Hir::repetition(Repetition { min: 0, max: None, greedy: true, sub: Box::new(others) });
    Some(Hir::alternation(vec![bytes(ClassBytes::new(ascii)), Hir::concat(vec![first, others])]))
}
