//! Reduces patterns to a small alphabet: ASCII, and one symbol for all other characters.
//!
//! The first byte of a character that is not ASCII counts as the symbol; its other bytes are
//! skipped in the text. State tables over this alphabet are much smaller than those over Unicode. A
//! reduced pattern matches
//! * in an ASCII text if and only if the original does;
//! * in any other text if the original does, and possibly in more texts.
//!
//! The reduction keeps whether there is a match, but not where it is: what is optional at the ends
//! of a match is removed.

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, HirKind, Look, Repetition};

/// The range of the first bytes of characters that are not ASCII.
const FIRST: (u8, u8) = (0xC2, 0xF4);

/// A pattern over the small alphabet.
#[derive(Debug, Clone)]
pub(crate) struct Reduced {
    pub(crate) hir: Hir,
    /// Whether it may miss a match of the original in a text that is not ASCII.
    pub(crate) ascii_only: bool,
}

/// Returns `None` for a pattern that matches parts of characters.
pub(crate) fn reduce(hir: &Hir) -> Option<Reduced> {
    let mut ascii_only = false;
    let hir = trim(&over_symbols(hir, &mut ascii_only)?, true, true);
    Some(Reduced { hir, ascii_only })
}

/// Whether a byte of a text is skipped: every byte of a character but the first.
#[inline]
pub(crate) fn is_left_out(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

fn symbol() -> ClassBytesRange {
    ClassBytesRange::new(FIRST.0, FIRST.1)
}

fn over_symbols(hir: &Hir, ascii_only: &mut bool) -> Option<Hir> {
    let all = |parts: &[Hir], ascii_only: &mut bool| -> Option<Vec<Hir>> {
        parts.iter().map(|part| over_symbols(part, ascii_only)).collect()
    };
    Some(match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            if text.is_ascii() {
                return Some(hir.clone());
            }
            Hir::concat(text.chars().map(|c| class([(c, c)])).collect())
        }
        HirKind::Class(Class::Unicode(unicode)) => class(unicode.iter().map(|range| (range.start(), range.end()))),
        HirKind::Class(Class::Bytes(bytes)) => {
            let unicode = bytes.to_unicode_class()?;
            class(unicode.iter().map(|range| (range.start(), range.end())))
        }
        HirKind::Look(look) => Hir::look(match look {
            Look::WordUnicode => ascii_word(Look::WordAscii, ascii_only),
            Look::WordUnicodeNegate => ascii_word(Look::WordAsciiNegate, ascii_only),
            Look::WordStartUnicode => ascii_word(Look::WordStartAscii, ascii_only),
            Look::WordEndUnicode => ascii_word(Look::WordEndAscii, ascii_only),
            Look::WordStartHalfUnicode => ascii_word(Look::WordStartHalfAscii, ascii_only),
            Look::WordEndHalfUnicode => ascii_word(Look::WordEndHalfAscii, ascii_only),
            // ASCII word boundaries treat the symbol as what it stands for: not a letter.
            look => *look,
        }),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(over_symbols(&repetition.sub, ascii_only)?);
            Hir::repetition(Repetition { sub, ..*repetition })
        }
        HirKind::Capture(group) => over_symbols(&group.sub, ascii_only)?,
        HirKind::Concat(parts) => Hir::concat(all(parts, ascii_only)?),
        HirKind::Alternation(parts) => Hir::alternation(all(parts, ascii_only)?),
    })
}

fn ascii_word(look: Look, ascii_only: &mut bool) -> Look {
    *ascii_only = true;
    look
}

/// The class of these ranges of characters, which are in ascending order.
fn class(ranges: impl IntoIterator<Item = (char, char)>) -> Hir {
    let mut bytes = Vec::new();
    for (first, last) in ranges {
        if let Ok(first) = u8::try_from(first)
            && first.is_ascii()
        {
            let last = u8::try_from(last).ok().filter(u8::is_ascii).unwrap_or(0x7F);
            bytes.push(ClassBytesRange::new(first, last));
        }
        if !last.is_ascii() {
            bytes.push(symbol());
            // What follows is not ASCII either.
            break;
        }
    }
    Hir::class(Class::Bytes(ClassBytes::new(bytes)))
}

/// Removes what is optional at the ends of a match. `left` and `right` tell whether anything may precede and follow.
pub(in crate::pattern) fn trim(hir: &Hir, left: bool, right: bool) -> Hir {
    if !left && !right {
        return hir.clone();
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
        HirKind::Capture(group) => trim(&group.sub, left, right),
        HirKind::Repetition(repetition) => trim_repetition(repetition, left, right),
        HirKind::Alternation(parts) => {
            let parts: Vec<Hir> = parts.iter().map(|part| trim(part, left, right)).collect();
            if parts.iter().any(is_empty) { Hir::empty() } else { Hir::alternation(parts) }
        }
        HirKind::Concat(parts) => {
            let mut parts = parts.as_slice();
            let (mut head, mut tail) = (None, None);
            while left
                && head.is_none()
                && let Some((first, rest)) = parts.split_first()
            {
                head = Some(trim(first, true, right && rest.is_empty())).filter(|head| !is_empty(head));
                parts = rest;
            }
            while right
                && tail.is_none()
                && let Some((last, rest)) = parts.split_last()
            {
                tail = Some(trim(last, left && head.is_none() && rest.is_empty(), true)).filter(|tail| !is_empty(tail));
                parts = rest;
            }
            if right
                && tail.is_none()
                && let Some(only) = head.take()
            {
                head = Some(trim(&only, left, true));
            }
            Hir::concat(head.into_iter().chain(parts.iter().cloned()).chain(tail).collect())
        }
    }
}

fn is_empty(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Empty)
}

fn trim_repetition(repetition: &Repetition, left: bool, right: bool) -> Hir {
    let Repetition { min, max: _, greedy, ref sub } = *repetition;
    let exactly = |min: u32| Hir::repetition(Repetition { min, max: Some(min), greedy, sub: sub.clone() });
    match (min, left && right) {
        (0, _) => Hir::empty(),
        (1, _) => trim(sub, left, right),
        (_, true) => {
            trim(&Hir::concat(vec![(**sub).clone(), exactly(min.saturating_sub(2)), (**sub).clone()]), true, true)
        }
        (_, false) if left => Hir::concat(vec![trim(sub, true, false), exactly(min.saturating_sub(1))]),
        (_, false) => Hir::concat(vec![exactly(min.saturating_sub(1)), trim(sub, false, true)]),
    }
}
