//! Integers and ranges of integers.

use super::{EntrySet, Keys};
use crate::entry::{Key, Range};
use crate::error::TooLarge;
use celero_matching::RangeMap;
use std::cmp::Reverse;

/// A set of ranges.
pub(crate) struct Integers {
    map: RangeMap<i64>,
    ranges: Box<[Range]>,
}

impl From<Range> for Key {
    fn from(range: Range) -> Self {
        Self::Range(range)
    }
}

impl EntrySet for Integers {
    type Key = Range;
    type Value<'a> = i64;
    /// The narrower range, and of two that are equally wide the one that begins later.
    type Rank = (Reverse<u64>, i64);

    fn build(keys: Vec<Range>) -> Result<Self, TooLarge> {
        Ok(Self { map: RangeMap::new(&keys), ranges: keys.into() })
    }

    fn len(&self) -> usize {
        self.ranges.len()
    }

    fn key(&self, id: u32) -> Option<Range> {
        self.ranges.get(id as usize).copied()
    }

    fn any(&self, value: i64, mut counts: impl FnMut(u32) -> bool) -> bool {
        let mut found = false;
        self.map.for_each(value, |id| found = found || counts(id));
        found
    }

    fn most_specific(&self, value: i64, mut counts: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut best: Option<(Self::Rank, u32)> = None;
        self.map.for_each(value, |id| {
            let rank = self.rank(id);
            if best.as_ref().is_none_or(|(best, _)| rank > *best) && counts(id) {
                best = Some((rank, id));
            }
        });
        best.map(|(_, id)| id)
    }

    fn rank(&self, id: u32) -> Self::Rank {
        let (least, greatest) = self.ranges.get(id as usize).copied().unwrap_or_default();
        (Reverse(greatest.abs_diff(least)), least)
    }

    fn id_of(&self, key: &Range) -> Option<u32> {
        self.ranges.binary_search(key).ok().and_then(|index| u32::try_from(index).ok())
    }

    fn is_among(&self, id: u32, keys: &Keys<Range>) -> bool {
        self.ranges.get(id as usize).is_some_and(|range| keys.contains(range))
    }

    fn key_of(key: Key) -> Option<Range> {
        if let Key::Range(range) = key { Some(range) } else { None }
    }

    fn heap_bytes(&self) -> usize {
        self.map.heap_bytes().saturating_add(size_of_val(&*self.ranges))
    }
}
