//! How far before a literal that a pattern requires its match may begin, and the parts of a text near such literals.

use regex_syntax::hir::{Class, Hir, HirKind};
use std::ops::Range;

/// What may be in a match before a literal that the pattern requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Most bytes; `None` without a bound.
    most: Option<usize>,
    /// Which bytes: one bit for each.
    bytes: [u64; 4],
}

impl Reach {
    /// Nothing: a match begins with the literal.
    pub(in crate::pattern) const NONE: Self = Self { most: Some(0), bytes: [0; 4] };
    /// Anything.
    pub(crate) const ALL: Self = Self { most: None, bytes: [u64::MAX; 4] };

    /// Adds what a part of the pattern matches.
    pub(in crate::pattern) fn extend(&mut self, part: &Hir) {
        self.extend_repeated(part, Some(1));
    }

    /// Adds up to this many repetitions of a part; without a number, any number.
    pub(in crate::pattern) fn extend_repeated(&mut self, part: &Hir, times: Option<usize>) {
        self.add_bytes(part);
        self.lengthen(times.and_then(|times| part.properties().maximum_len()?.checked_mul(times)));
    }

    /// Adds one of some texts, each with whether it matches in both cases.
    pub(in crate::pattern) fn extend_with_texts(&mut self, texts: &[(Vec<u8>, bool)]) {
        for (text, folded) in texts {
            text.iter().for_each(|byte| self.insert(*byte, *folded));
        }
        self.lengthen(texts.iter().map(|(text, _)| text.len()).max());
    }

    /// What is before a literal, if `self` is before the part of the pattern in which `inner` is before the literal.
    #[must_use]
    pub(in crate::pattern) fn then(mut self, inner: Self) -> Self {
        self.add_all(inner);
        self.lengthen(inner.most);
        self
    }

    /// What is before either of two literals.
    #[must_use]
    pub(in crate::pattern) fn or(mut self, other: Self) -> Self {
        self.add_all(other);
        self.most = self.most.zip(other.most).map(|(a, b)| a.max(b));
        self
    }

    fn lengthen(&mut self, by: Option<usize>) {
        self.most = self.most.zip(by).and_then(|(most, by)| most.checked_add(by));
    }

    fn add_all(&mut self, other: Self) {
        self.bytes.iter_mut().zip(other.bytes).for_each(|(all, more)| *all |= more);
    }

    fn add_bytes(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => literal.0.iter().for_each(|byte| self.insert(*byte, false)),
            HirKind::Class(Class::Bytes(class)) => {
                class.iter().for_each(|range| self.insert_range(range.start(), range.end()));
            }
            HirKind::Class(Class::Unicode(class)) => {
                for range in class.iter() {
                    let last = u8::try_from(range.end()).ok().filter(u8::is_ascii);
                    let first = u8::try_from(range.start()).ok().filter(u8::is_ascii);
                    if let Some(first) = first {
                        self.insert_range(first, last.unwrap_or(0x7F));
                    }
                    // What follows is not ASCII either.
                    if last.is_none() {
                        self.insert_range(0x80, 0xFF);
                        break;
                    }
                }
            }
            HirKind::Repetition(repetition) => self.add_bytes(&repetition.sub),
            HirKind::Capture(group) => self.add_bytes(&group.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                parts.iter().for_each(|part| self.add_bytes(part));
            }
        }
    }

    fn insert(&mut self, byte: u8, folded: bool) {
        let lower_case = byte.to_ascii_lowercase();
        for byte in if folded { [lower_case, byte.to_ascii_uppercase()] } else { [byte; 2] } {
            if let Some(word) = self.bytes.get_mut(usize::from(byte >> 6)) {
                *word |= 1 << (byte & 63);
            }
        }
    }

    fn insert_range(&mut self, first: u8, last: u8) {
        for (word, offset) in self.bytes.iter_mut().zip([0_u8, 64, 128, 192]) {
            let most = last.checked_sub(offset).map(|most| u32::from(most.min(63)));
            let bits = u64::MAX.checked_shl(u32::from(first.saturating_sub(offset))).unwrap_or(0);
            *word |= bits & most.map_or(0, |most| u64::MAX.wrapping_shr(63_u32.saturating_sub(most)));
        }
    }

    fn has(&self, byte: u8) -> bool {
        self.bytes.get(usize::from(byte >> 6)).is_some_and(|word| word & (1 << (byte & 63)) != 0)
    }

    /// The first offset, `least` or further on, at which a match may begin if its literal is at `from` or further on.
    fn start(&self, text: &[u8], from: usize, least: usize) -> usize {
        let least = self.most.map_or(least, |most| least.max(from.saturating_sub(most)));
        let before = text.get(least..from).unwrap_or_default();
        from.saturating_sub(before.iter().rev().take_while(|byte| self.has(**byte)).count())
    }
}

/// How a text is divided into at most 64 equal parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Binary logarithm of the bytes of a part.
    shift: u32,
}

/// Binary logarithm of the fewest bytes of a part.
const LEAST_SHIFT: u32 = 5;

impl Parts {
    /// The parts of a text of this length.
    pub(crate) fn of(length: usize) -> Self {
        Self {
            shift: length
                .checked_shr(6)
                .map_or(0, |most| most.checked_ilog2().map_or(0, |log| log.saturating_add(1)))
                .max(LEAST_SHIFT),
        }
    }

    /// The bit of the part that has an offset.
    pub(crate) fn bit(self, offset: usize) -> u64 {
        1_u64.checked_shl(offset.wrapping_shr(self.shift) as u32).unwrap_or(0)
    }

    /// Number of parts of a text of this length.
    pub(crate) fn count(self, length: usize) -> usize {
        length.div_ceil(1_usize.wrapping_shl(self.shift))
    }
}

/// Where to search: every match begins at most `reach` before a literal in one of the parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Near<'s> {
    pub(crate) parts: Parts,
    /// A bit for each part.
    pub(crate) bits: u64,
    pub(crate) reach: &'s Reach,
}

impl Near<'_> {
    /// The next range to search if no match begins before `read`.
    pub(in crate::pattern) fn next(&self, text: &[u8], read: usize) -> Option<Range<usize>> {
        let shift = self.parts.shift;
        let left = self.bits & u64::MAX.checked_shl(read.wrapping_shr(shift) as u32).unwrap_or(0);
        if left == 0 {
            return None;
        }
        let first = left.trailing_zeros();
        let count = left.wrapping_shr(first).trailing_ones();
        let offset = |part: u32| (part as usize).wrapping_shl(shift);
        let from = offset(first).max(read);
        let end = offset(first.saturating_add(count)).min(text.len());
        Some(self.reach.start(text, from, read)..end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::required::rated_literals;
    use super::{Near, Parts, Reach};
    use crate::pattern::syntax::parse::parse;

    fn reach(pattern: &str) -> Reach {
        rated_literals(&parse(pattern).unwrap()).unwrap().reach
    }

    #[test]
    fn what_may_precede_a_literal() {
        for (pattern, most, bytes) in [
            ("select", Some(0), ""),
            (r"\bselect.*from", Some(0), ""),
            // What is optional at the ends does not count.
            ("a?bcd", Some(0), ""),
            ("[x-z]{1,3}[^x]*select", None, "*"),
            ("(?:abcd.)+x", Some(0), ""),
            (r"\(\s*select", None, "\t\n\x0b\x0c\r ("),
            ("(?i)k[0-3]*select", None, "0123Kk"),
            ("1[x-z](?:q[A-P]*abcd|[0-9]+efgh)", None, "0123456789ABCDEFGHIJKLMNOPqxyz"),
            ("(?:x{2}|yy)[a-s]{2}select", Some(4), "abcdefghijklmnopqrsxy"),
            ("(?:x{2}|yy)[a-s]{2,5}select", Some(7), "abcdefghijklmnopqrsxy"),
            ("x{2,5}y?[xy]*select", None, "xy"),
            // `bcd` is in the other literal.
            ("z[a-s](?:abcd|bcd)", Some(6), "abcdefghijklmnopqrsz"),
        ] {
            let reach = reach(pattern);
            assert_eq!(reach.most, most, "{pattern}");
            if bytes != "*" {
                let found: Vec<u8> = (0..128).filter(|byte| reach.has(*byte)).collect();
                let mut want = bytes.as_bytes().to_vec();
                want.sort_unstable();
                assert_eq!(found, want, "{pattern}");
            }
        }
    }

    #[test]
    fn texts_have_at_most_64_parts() {
        for length in [0, 1, 31, 32, 33, 2_047, 2_048, 2_049, 4_095, 4_096, 4_097, 1 << 20, (1 << 20) + 1] {
            let parts = Parts::of(length);
            assert!(parts.count(length) <= 64, "{length}: {parts:?}");
            assert!(length <= 2_048 || parts.count(length) > 31, "{length}: {parts:?}");
            assert!(length == 0 || parts.bit(length - 1) != 0, "{length}");
        }
    }

    #[test]
    fn ranges_near_literals() {
        let text = [&b"-".repeat(90)[..], b"zyx", &b"-".repeat(107)].concat();
        let parts = Parts::of(text.len());
        let bits = parts.bit(100) | parts.bit(129) | parts.bit(170);
        let ranges = |reach: &Reach, mut read| {
            let near = Near { parts, bits, reach };
            std::iter::from_fn(|| near.next(&text, read).inspect(|range| read = range.end)).collect::<Vec<_>>()
        };
        assert_eq!(ranges(&Reach::NONE, 0), vec![96..192]);
        assert_eq!(ranges(&Reach::NONE, 120), vec![120..192]);
        assert!(ranges(&Reach::NONE, 192).is_empty());
        assert_eq!(ranges(&Reach::ALL, 0), vec![0..192]);
        let text = [&b"-".repeat(93)[..], b"zyx", &b"-".repeat(104)].concat();
        let near = |pattern: &str| Near { parts, bits, reach: &reach(pattern) }.next(&text, 0);
        assert_eq!(near("[x-z]*select"), Some(96..192));
        assert_eq!(near("a[x-z]*select"), Some(93..192));
        assert_eq!(near("a[j-z]{1}select"), Some(94..192));
        assert_eq!(Near { parts, bits, reach: &reach("a[x-z]*select") }.next(&text, 95), Some(95..192));
    }
}
