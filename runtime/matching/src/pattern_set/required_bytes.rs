//! Sets of bytes of which a text contains one if a pattern matches in it.

use crate::byte_frequency::rarity_bits;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A set of bytes. The byte 0xFF occurs in no UTF-8 text; here it is in the set of every text, and
/// in the set of a pattern that requires no byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ByteMask([u64; 4]);

impl ByteMask {
    const NONE: Self = Self([0; 4]);
    pub(super) const ALL: Self = Self([u64::MAX; 4]);

    /// The bytes of a text.
    #[inline]
    pub(super) fn of(text: &[u8]) -> Self {
        // A byte for each: setting one does not wait for the one before.
        let mut has = [0_u8; 256];
        for byte in text {
            if let Some(has) = has.get_mut(usize::from(*byte)) {
                *has = 1;
            }
        }
        // Stands for every text, the empty one too: a pattern that requires no byte requires this one.
        has[255] = 1;
        let mut words = [0; 4];
        for (word, has) in words.iter_mut().zip(has.as_chunks::<64>().0) {
            for (n, has) in (0_u32..).step_by(8).zip(has.as_chunks::<8>().0) {
                // Gathers the lowest bits of eight bytes in the highest byte.
                let bits = u64::from_le_bytes(*has).wrapping_mul(0x0102_0408_1020_4080).wrapping_shr(56);
                *word |= bits.wrapping_shl(n);
            }
        }
        Self(words)
    }

    fn one(byte: u8) -> Self {
        let mut bytes = Self::NONE;
        bytes.insert(byte);
        bytes
    }

    #[inline]
    fn insert(&mut self, byte: u8) {
        if let Some(word) = self.0.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a | e, b | f, c | g, d | h])
    }

    #[inline]
    pub(super) fn meets(self, other: Self) -> bool {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        (a & e) | (b & f) | (c & g) | (d & h) != 0
    }

    /// Estimated probability that a byte of a text is in the set.
    pub(super) fn chance(self) -> f64 {
        let mut chance = 0.0;
        for (word, first) in self.0.into_iter().zip([0_u8, 64, 128, 192]) {
            let mut left = word;
            while left != 0 {
                let byte = first.saturating_add(left.trailing_zeros() as u8);
                chance += 1.0 / f64::from(1_u32.checked_shl(rarity_bits(byte).unsigned_abs()).unwrap_or(u32::MAX));
                left &= left.wrapping_sub(1);
            }
        }
        chance
    }
}

/// The rarest set of bytes of which every match contains one. `None` if no byte is required.
pub(super) fn required_bytes(hir: &Hir) -> Option<ByteMask> {
    let rarest = |sets: &mut dyn Iterator<Item = ByteMask>| {
        let rated = sets.map(|set| (set.chance(), set));
        rated.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, set)| set)
    };
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => None,
        HirKind::Literal(literal) => rarest(&mut literal.0.iter().map(|&byte| ByteMask::one(byte))),
        HirKind::Class(class) => {
            let mut bytes = ByteMask::NONE;
            match class {
                Class::Bytes(class) => {
                    class.iter().flat_map(|range| range.start()..=range.end()).for_each(|byte| bytes.insert(byte));
                }
                Class::Unicode(_) => return None,
            }
            Some(bytes)
        }
        HirKind::Repetition(repetition) if repetition.min == 0 => None,
        HirKind::Repetition(repetition) => required_bytes(&repetition.sub),
        HirKind::Capture(group) => required_bytes(&group.sub),
        HirKind::Concat(parts) => rarest(&mut parts.iter().filter_map(required_bytes)),
        HirKind::Alternation(parts) => {
            parts.iter().try_fold(ByteMask::NONE, |all, part| Some(all.or(required_bytes(part)?)))
        }
    }
}
