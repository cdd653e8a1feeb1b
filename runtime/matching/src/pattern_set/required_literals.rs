//! The literals by which the gate of a set finds a pattern.

use crate::pattern::{RatedLiterals, Reach, Reduced, RequiredLiterals, program_states, rated_literals};
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Shortest literal of a gate, in bytes.
const SHORTEST: usize = 2;
/// Patterns whose literals are at more than this share of the offsets of texts go into tables if they fit.
const RARE: f64 = 1.0 / 1024.0;
/// Most literals of a pattern.
const MAX_TEXTS: usize = 64;
/// Most states of a small program: a search of a whole text for it costs less than keeping all places of its literals.
const SMALL_PROGRAM: usize = 64;
/// Most bytes of the literals of a pattern, which bounds the memory of a gate.
const MAX_BYTES: usize = 4096;

/// Where in a text a literal has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Anywhere,
    Start,
    End,
    /// It is the whole text.
    Whole,
}

/// What a literal at its place says about a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// It matches.
    Matches,
    /// It has to be searched for near the literal.
    Search,
    /// Only that a later search for it may find something.
    Mark,
}

/// A pattern, and literals of which every text has one in which it matches.
#[derive(Debug, Clone)]
pub(super) struct Gated {
    pub(super) id: u32,
    pub(super) folded: bool,
    pub(super) place: Place,
    pub(super) literals: Vec<(Box<[u8]>, Then)>,
    /// How far before a literal a match may begin.
    pub(super) reach: Reach,
    /// Whether to search for the pattern only near its literals.
    pub(super) near: bool,
    /// Whether few texts have one of them.
    pub(super) rare: bool,
}

impl Gated {
    /// The literals of a pattern, and `None` if it requires none that are worth searching for.
    pub(super) fn new(id: u32, pattern: &Hir, reduced: Option<&Reduced>) -> Option<Self> {
        let RatedLiterals { required, chance, reach } = rated_literals(pattern)?;
        let (place, required) = match required {
            RequiredLiterals::Whole(literals) => (Place::Whole, literals),
            RequiredLiterals::Prefix(literals) => (Place::Start, literals),
            RequiredLiterals::Suffix(literals) => (Place::End, literals),
            RequiredLiterals::Substring(literals) => (Place::Anywhere, literals),
        };
        if required.literals.iter().any(|literal| literal.len() < SHORTEST) {
            return None;
        }
        let inner = reduced.map(|reduced| without_ends(&reduced.hir));
        let inner = inner.as_ref().filter(|(_, own)| *own == place);
        let all_texts = |folded| inner.and_then(|(parts, _)| texts_of(parts, folded));
        let mut folded = required.folded;
        let (mut texts, mut literals) = (all_texts(folded), required.literals);
        // `[Bb]ot` is two literals in one case, rather than one in both.
        if folded
            && texts.is_none()
            && let Some(own) = all_texts(false)
        {
            literals = own.iter().map(|text| text.as_slice().into()).collect();
            (texts, folded) = (Some(own), false);
        }
        let texts = texts.unwrap_or_default();
        if literals.len() > MAX_TEXTS {
            return None;
        }
        let then = |literal: &[u8]| if texts.iter().any(|text| text == literal) { Then::Matches } else { Then::Search };
        let literals: Vec<(Box<[u8]>, Then)> =
            literals.iter().map(|literal| (literal.clone(), then(literal))).collect();
        let certain = literals.iter().all(|(_, then)| *then == Then::Matches);
        let near = reduced.is_some_and(|reduced| program_states(&reduced.hir) > SMALL_PROGRAM);
        Some(Self { id, folded, place, literals, reach, near, rare: certain || chance < RARE })
    }

    /// Whether the literals decide.
    pub(super) fn decides(&self) -> bool {
        self.place == Place::Anywhere && self.literals.iter().all(|(_, then)| *then == Then::Matches)
    }

    /// The same literals, which only tell whether a search may find something.
    pub(super) fn marking(mut self) -> Self {
        self.place = Place::Anywhere;
        self.literals.iter_mut().for_each(|(_, then)| *then = Then::Mark);
        self
    }
}

/// The elements of a pattern without the anchors at its ends, and where it has to be.
fn without_ends(hir: &Hir) -> (Vec<&Hir>, Place) {
    let mut parts: Vec<&Hir> = match hir.kind() {
        HirKind::Concat(parts) => parts.iter().collect(),
        _ => vec![hir],
    };
    let is =
        |part: Option<&&Hir>, end| part.is_some_and(|part| matches!(part.kind(), HirKind::Look(look) if *look == end));
    let (start, end) = (is(parts.first(), Look::Start), is(parts.last(), Look::End));
    if start {
        parts.remove(0);
    }
    if end {
        parts.pop();
    }
    let place = match (start, end) {
        (false, false) => Place::Anywhere,
        (true, false) => Place::Start,
        (false, true) => Place::End,
        (true, true) => Place::Whole,
    };
    (parts, place)
}

/// The ASCII texts that a sequence matches, if they are few; with `folded`, in lower case, if it
/// matches them in all cases.
fn texts_of(parts: &[&Hir], folded: bool) -> Option<Vec<Vec<u8>>> {
    let mut all: Vec<Vec<u8>> = vec![Vec::new()];
    for part in parts {
        let next = texts(part, folded)?;
        if all.len().saturating_mul(next.len()) > MAX_TEXTS {
            return None;
        }
        all = all.iter().flat_map(|head| next.iter().map(|tail| [head.as_slice(), tail].concat())).collect();
        if all.iter().map(Vec::len).sum::<usize>() > MAX_BYTES {
            return None;
        }
    }
    Some(all)
}

fn texts(hir: &Hir, folded: bool) -> Option<Vec<Vec<u8>>> {
    match hir.kind() {
        HirKind::Empty => Some(vec![Vec::new()]),
        HirKind::Literal(literal) => {
            let fits = literal.0.is_ascii() && !(folded && literal.0.iter().any(u8::is_ascii_alphabetic));
            fits.then(|| vec![literal.0.to_vec()])
        }
        HirKind::Class(Class::Bytes(class)) => {
            let bytes = || class.iter().flat_map(|range| range.start()..=range.end()).filter(u8::is_ascii);
            let has = |byte: u8| class.iter().any(|range| (range.start()..=range.end()).contains(&byte));
            if bytes().count() > MAX_TEXTS || (!folded && class.iter().any(|range| !range.end().is_ascii())) {
                return None;
            }
            if !folded {
                return Some(bytes().map(|byte| vec![byte]).collect());
            }
            if bytes().any(|byte| byte.is_ascii_alphabetic() && !has(byte ^ 0x20)) {
                return None;
            }
            Some(bytes().filter(|byte| !byte.is_ascii_uppercase()).map(|byte| vec![byte]).collect())
        }
        HirKind::Capture(group) => texts(&group.sub, folded),
        HirKind::Concat(parts) => texts_of(&parts.iter().collect::<Vec<_>>(), folded),
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(texts(part, folded)?);
            }
            (all.len() <= MAX_TEXTS).then_some(all)
        }
        HirKind::Class(Class::Unicode(_)) | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}
