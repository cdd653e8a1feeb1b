//! A set of prefixes, prepared for asking whether a name begins with one. Letters are the same in both cases.

use crate::byte_set;
use std::cmp::Ordering;

type Ends = byte_set::Ends<true>;

/// The prefixes in order, none of which begins with another. So of all prefixes only the last one that is not after the name
/// can be one of it: everything between a prefix and a name that begins with it begins with it too.
#[derive(Clone, Debug)]
pub(super) struct Prefixes {
    prefixes: Box<[Box<[u8]>]>,
    /// Which bytes of the first eight all prefixes have.
    common: u64,
    /// A bit for each hash of these bytes that some prefix has. It says nothing about names shorter than eight bytes.
    filter: [u64; 16],
}

impl Prefixes {
    /// The set of these prefixes, in small letters.
    pub(super) fn new(mut prefixes: Vec<Box<[u8]>>) -> Self {
        prefixes.sort();
        prefixes.dedup_by(|longer, kept| longer.starts_with(kept));
        let shortest = prefixes.iter().map(|p| p.len()).min().unwrap_or(0).min(8);
        let bits = u32::try_from(shortest.saturating_mul(8)).unwrap_or(64);
        let common = u64::MAX.checked_shr(64_u32.saturating_sub(bits)).unwrap_or(0);
        let mut filter = [0; 16];
        for prefix in &prefixes {
            // What follows in a name is not common: it may be anything.
            let mut padded = prefix.to_vec();
            padded.resize(prefix.len().max(8), b' ');
            let (word, bit) = place(common, Ends::of(&padded));
            if let Some(word) = filter.get_mut(word) {
                *word |= bit;
            }
        }
        Self { prefixes: prefixes.into(), common, filter }
    }

    /// Whether the name, with these ends, begins with one of them.
    #[inline(always)]
    pub(super) fn begin(&self, ends: Ends, name: &[u8]) -> bool {
        let (word, bit) = place(self.common, ends);
        // The ends of a short name are not its first eight bytes.
        let may = name.len() < 8 || self.filter.get(word).is_some_and(|word| word & bit != 0);
        may && self.before(name)
    }

    fn before(&self, name: &[u8]) -> bool {
        let after = self.prefixes.partition_point(|prefix| compare(prefix, name) != Ordering::Greater);
        let last = after.checked_sub(1).and_then(|at| self.prefixes.get(at));
        last.is_some_and(|prefix| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)))
    }
}

/// The word and the bit of the filter for the first bytes of a name.
#[inline(always)]
fn place(common: u64, ends: Ends) -> (usize, u64) {
    let hash = (ends.first() & common).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    ((hash >> 6) as usize, 1_u64.wrapping_shl(hash as u32))
}

/// The order of a prefix and a name in small letters.
fn compare(prefix: &[u8], name: &[u8]) -> Ordering {
    prefix.iter().copied().cmp(name.iter().map(u8::to_ascii_lowercase))
}
