//! Patterns on bytes as patterns on text, for translations of rules.
//!
//! A text is UTF-8, in which each sequence that is not has become U+FFFD. A pattern that looks for ASCII, for whole
//! characters, and for any number of bytes of which all that are not ASCII are alike, is found in the bytes if and only
//! if it is found in the text: a character that is not ASCII lies within such a run as a whole.
//!
//! Invariant: an exact pattern is found where the pattern on bytes is. Test:
//! `runtime/matching/tests/on_text.rs::exact_patterns_are_found_in_the_same_texts`.

use crate::pattern::syntax::dialect::Dialect;
use crate::pattern::syntax::limits::Syntax;
use regex_syntax::hir::{Class, ClassBytes, Hir, HirKind, Look, Repetition};
use std::fmt::Write;

/// A pattern on bytes in the dialect [`Dialect::Regex`], as a pattern on text of [`Dialect::Re2`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnText {
    /// This pattern is found in the same texts.
    Exact(String),
    /// This pattern reads characters where the other reads bytes: they may differ on text that is not ASCII.
    Near(String),
    /// RE2 refuses the pattern, or reads another one.
    Other,
}

/// Returns a pattern on bytes as one on text.
///
/// ```
/// use celero_matching::pattern::{OnText, on_text};
///
/// assert_eq!(on_text("(?i)curl"), OnText::Exact("(?i)curl".to_owned()));
/// // In Unicode the Kelvin sign is a `k` of another case.
/// assert_eq!(on_text("(?i)ok"), OnText::Exact("[Oo][Kk]".to_owned()));
/// assert_eq!(on_text("^a.b"), OnText::Near("^a.b".to_owned()));
/// assert_eq!(on_text(r"\<a"), OnText::Other);
/// ```
#[must_use]
pub fn on_text(pattern: &str) -> OnText {
    let Ok(bytes) = Syntax::Bytes.parse(pattern.into()) else { return OnText::Other };
    let of_re2 = |text: &str| Syntax::Text.parse(Dialect::Re2.pattern(text)).ok();
    let as_it_is = of_re2(pattern);
    let is_exact = |text: &Hir| Comparison::default().is_same(text, &bytes);
    if as_it_is.as_ref().is_some_and(is_exact) {
        return OnText::Exact(pattern.to_owned());
    }
    let mut written = String::new();
    let of_written = write_hir(&bytes, &mut written).and_then(|()| of_re2(&written));
    if of_written.as_ref().is_some_and(is_exact) {
        return OnText::Exact(written);
    }
    let is_near = |text: &Hir| Comparison { is_near: true, ..Comparison::default() }.is_same(text, &bytes);
    if as_it_is.as_ref().is_some_and(is_near) {
        return OnText::Near(pattern.to_owned());
    }
    if of_written.as_ref().is_some_and(is_near) { OnText::Near(written) } else { OnText::Other }
}

/// The comparison of a pattern on text with one on bytes.
#[derive(Default)]
struct Comparison {
    /// Only the ASCII characters of classes must be the same.
    is_near: bool,
    in_repetition: bool,
    /// How many runs of at least one byte may be a part of a character.
    wide: u32,
}

impl Comparison {
    fn is_same(&mut self, text: &Hir, bytes: &Hir) -> bool {
        match (text.kind(), bytes.kind()) {
            (HirKind::Empty, HirKind::Empty) => true,
            (HirKind::Literal(text), HirKind::Literal(bytes)) => text == bytes && self.is_text(&bytes.0),
            (HirKind::Class(text), HirKind::Class(bytes)) => match self.is_near {
                true => ascii(&ranges(text)) == ascii(&ranges(bytes)),
                false => is_same_class(text, bytes, false),
            },
            (HirKind::Look(text), HirKind::Look(bytes)) => {
                text == bytes && (self.is_near || *text != Look::WordAsciiNegate)
            }
            (HirKind::Repetition(text), HirKind::Repetition(bytes)) => self.is_same_repetition(text, bytes),
            (HirKind::Capture(text), HirKind::Capture(bytes)) => self.is_same(&text.sub, &bytes.sub),
            (HirKind::Concat(texts), HirKind::Concat(bytes))
            | (HirKind::Alternation(texts), HirKind::Alternation(bytes)) => {
                texts.len() == bytes.len() && texts.iter().zip(bytes).all(|(text, bytes)| self.is_same(text, bytes))
            }
            _ => false,
        }
    }

    /// Whether bytes are characters of a text. What is not UTF-8 has become U+FFFD there.
    fn is_text(&self, bytes: &[u8]) -> bool {
        self.is_near || std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(char::REPLACEMENT_CHARACTER))
    }

    fn is_same_repetition(&mut self, text: &Repetition, bytes: &Repetition) -> bool {
        if (text.min, text.max) != (bytes.min, bytes.max) {
            return false;
        }
        let is_run = bytes.max.is_none() && bytes.min <= 1;
        if let (true, HirKind::Class(of_text), HirKind::Class(of_bytes)) = (is_run, text.sub.kind(), bytes.sub.kind())
            && is_wide(of_bytes)
            && is_same_class(of_text, of_bytes, true)
        {
            // A character has enough bytes for two runs of at least one, so only one is allowed.
            self.wide = self.wide.saturating_add(if bytes.min == 0 { 0 } else { 1 });
            return self.is_near || bytes.min == 0 || self.wide <= 1 && !self.in_repetition;
        }
        let before = std::mem::replace(&mut self.in_repetition, true);
        let is_same = self.is_same(&text.sub, &bytes.sub);
        self.in_repetition = before;
        is_same
    }
}

/// Whether two classes have the same ASCII characters, and nothing else; of `wide` ones, everything else.
fn is_same_class(text: &Class, bytes: &Class, wide: bool) -> bool {
    let (text, bytes) = (ranges(text), ranges(bytes));
    let others = |ranges: &[(u32, u32)], last: u32| match ranges.last() {
        Some(range) if range.1 < 0x80 => Some(false),
        Some(range) if range.0 <= 0x80 && range.1 == last => Some(true),
        None => Some(false),
        Some(_) => None,
    };
    let of_text = match others(&text, 0x10_FFFF) {
        // Between the halves are the surrogates, which are no characters.
        None if text.ends_with(&[(0xE000, 0x10_FFFF)]) => text
            .len()
            .checked_sub(2)
            .and_then(|at| text.get(at))
            .and_then(|half| (half.0 <= 0x80 && half.1 == 0xD7FF).then_some(true)),
        found => found,
    };
    ascii(&text) == ascii(&bytes)
        && of_text.zip(others(&bytes, 0xFF)).is_some_and(|(text, bytes)| text == bytes && (wide || !bytes))
}

/// Whether a class of bytes has bytes of characters that are not ASCII.
fn is_wide(bytes: &Class) -> bool {
    ranges(bytes).last().is_some_and(|(_, last)| *last >= 0x80)
}

fn ascii(ranges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let within = ranges.iter().filter(|(first, _)| *first < 0x80);
    within.map(|(first, last)| (*first, (*last).min(0x7f))).collect()
}

fn ranges(class: &Class) -> Vec<(u32, u32)> {
    match class {
        Class::Unicode(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
        Class::Bytes(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
    }
}

/// Writes a pattern on bytes in the syntax of RE2. Returns `None` for what that has not.
fn write_hir(hir: &Hir, out: &mut String) -> Option<()> {
    match hir.kind() {
        HirKind::Empty => out.push_str("(?:)"),
        HirKind::Literal(literal) => {
            std::str::from_utf8(&literal.0).ok()?.chars().for_each(|character| write_character(character, out));
        }
        HirKind::Class(Class::Bytes(class)) => write_class(class, out)?,
        HirKind::Class(Class::Unicode(_)) => return None,
        HirKind::Look(look) => out.push_str(match look {
            Look::Start => "^",
            Look::End => "$",
            Look::StartLF => "(?m:^)",
            Look::EndLF => "(?m:$)",
            Look::WordAscii => r"\b",
            Look::WordAsciiNegate => r"\B",
            _ => return None,
        }),
        HirKind::Repetition(repetition) => {
            match repetition.sub.kind() {
                HirKind::Class(_) | HirKind::Capture(_) => write_hir(&repetition.sub, out)?,
                HirKind::Literal(literal) if literal.0.len() == 1 => write_hir(&repetition.sub, out)?,
                _ => write_group("(?:", &repetition.sub, out)?,
            }
            match (repetition.min, repetition.max) {
                (0, None) => out.push('*'),
                (1, None) => out.push('+'),
                (0, Some(1)) => out.push('?'),
                (min, None) => write!(out, "{{{min},}}").ok()?,
                (min, Some(max)) if min == max => write!(out, "{{{min}}}").ok()?,
                (min, Some(max)) => write!(out, "{{{min},{max}}}").ok()?,
            }
            if !repetition.greedy {
                out.push('?');
            }
        }
        HirKind::Capture(capture) => write_group("(", &capture.sub, out)?,
        HirKind::Concat(parts) => {
            for part in parts {
                match part.kind() {
                    HirKind::Alternation(_) => write_group("(?:", part, out)?,
                    _ => write_hir(part, out)?,
                }
            }
        }
        HirKind::Alternation(parts) => {
            for (number, part) in parts.iter().enumerate() {
                if number > 0 {
                    out.push('|');
                }
                write_hir(part, out)?;
            }
        }
    }
    Some(())
}

fn write_group(open: &str, hir: &Hir, out: &mut String) -> Option<()> {
    out.push_str(open);
    write_hir(hir, out)?;
    out.push(')');
    Some(())
}

/// Writes a class of ASCII characters; one with all other bytes by what it has not.
fn write_class(class: &ClassBytes, out: &mut String) -> Option<()> {
    let is_wide = class.iter().last()?.end() >= 0x80;
    let mut written = class.clone();
    if is_wide {
        written.negate();
    }
    if written.iter().last().is_some_and(|range| range.end() >= 0x80) {
        return None;
    }
    if written.iter().next().is_none() {
        out.push_str("(?s:.)");
        return Some(());
    }
    if is_wide && matches!(written.ranges(), [only] if (only.start(), only.end()) == (b'\n', b'\n')) {
        out.push('.');
        return Some(());
    }
    out.push_str(if is_wide { "[^" } else { "[" });
    for range in written.iter() {
        write_character(range.start().into(), out);
        if range.end() > range.start() {
            if range.end() > range.start().saturating_add(1) {
                out.push('-');
            }
            write_character(range.end().into(), out);
        }
    }
    out.push(']');
    Some(())
}

fn write_character(character: char, out: &mut String) {
    match character {
        _ if character.is_ascii_alphanumeric() => out.push(character),
        ' '..='~' if !" !\"%',/:;<=>@_`".contains(character) => out.extend(['\\', character]),
        ' '..='~' => out.push(character),
        _ if character.is_control() || !character.is_alphanumeric() => {
            // Writing to a string does not fail.
            let _ = write!(out, "\\x{{{:x}}}", u32::from(character));
        }
        _ => out.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_forms_are_found() {
        for (pattern, exact) in [
            ("abc", "abc"),
            ("(?i)curl|wget", "(?i)curl|wget"),
            ("(?i)skip", "[Ss][Kk][Ii][Pp]"),
            ("^/a/[0-9]+/[^/]*$", "^/a/[0-9]+/[^/]*$"),
            ("a.*b", "a.*b"),
            ("(?s)a.+b", "(?s)a.+b"),
            (r"\d+\.\w", r"\d+\.\w"),
            (r"\sx", r"[\x{9}-\x{d} ]x"),
            (r"\bfoo\b", r"\bfoo\b"),
            ("caf\u{e9}", "caf\u{e9}"),
            (r"(?x) a # one", "a"),
            ("(?m)^a$", "(?m)^a$"),
            ("a**", "(?:a*)*"),
            ("[0-9]+-[0-9]+", "[0-9]+-[0-9]+"),
            ("([0-9]+,)*", "([0-9]+,)*"),
        ] {
            assert_eq!(on_text(pattern), OnText::Exact(exact.to_owned()), "{pattern}");
        }
        for pattern in ["a.b", "a.?b", ".+.+", "(.+){2}", "[^a]", "^.{3}$", r"\Ba", r"a\W"] {
            assert_eq!(on_text(pattern), OnText::Near(pattern.to_owned()), "{pattern}");
        }
        assert_eq!(on_text(r"(?i)k.\s"), OnText::Near(r"[Kk].[\x{9}-\x{d} ]".to_owned()));
        for pattern in [r"\<a", "(", r"[a&&b]", r"(?-u:\xff)", "(?u)\u{e9}."] {
            assert_eq!(on_text(pattern), OnText::Other, "{pattern}");
        }
    }
}
