//! A set of header name prefixes. Case does not matter.

use crate::byte_set;
use std::cmp::Ordering;

type Ends = byte_set::Ends<true>;

/// The prefixes in ascending order, without those that begin with another one. Only the last prefix
/// that does not come after a name can be a prefix of it: whatever is sorted between a prefix and a
/// name that begins with it also begins with it.
#[derive(Clone, Debug)]
pub(super) struct Prefixes {
    prefixes: Box<[Box<[u8]>]>,
    /// Mask of the bytes, among the first eight, that every prefix has.
    common: u64,
    /// One bit for each hash of these bytes; set if a prefix has the hash. Not used for names shorter than eight bytes.
    filter: [u64; 16],
}

impl Prefixes {
    /// The set of these prefixes, which must be in lower case.
    pub(super) fn new(mut prefixes: Vec<Box<[u8]>>) -> Self {
        prefixes.sort();
        prefixes.dedup_by(|longer, kept| longer.starts_with(kept));
        let shortest = prefixes.iter().map(|p| p.len()).min().unwrap_or(0).min(8);
        let bits = u32::try_from(shortest.saturating_mul(8)).unwrap_or(64);
        let common = u64::MAX.checked_shr(64_u32.saturating_sub(bits)).unwrap_or(0);
        let mut filter = [0; 16];
        for prefix in &prefixes {
            // Bytes after the shortest prefix are masked out, so any padding does.
            let mut padded = prefix.to_vec();
            padded.resize(prefix.len().max(8), b' ');
            let (word, bit) = place(common, Ends::of(&padded));
            if let Some(word) = filter.get_mut(word) {
                *word |= bit;
            }
        }
        Self { prefixes: prefixes.into(), common, filter }
    }

    /// Whether the name, which has these ends, begins with one of the prefixes.
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

/// The order of a prefix and a name in lower case.
fn compare(prefix: &[u8], name: &[u8]) -> Ordering {
    prefix.iter().copied().cmp(name.iter().map(u8::to_ascii_lowercase))
}
