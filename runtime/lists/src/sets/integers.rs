//! Integers and ranges of integers.

use super::{EntrySet, Keys};
use crate::entry::{Key, Range};
use celero_matching::RangeMap;

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

    fn build(keys: Vec<Range>) -> Option<Self> {
        Some(Self { map: RangeMap::new(&keys), ranges: keys.into() })
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

    fn has(&self, key: &Range) -> bool {
        self.ranges.binary_search(key).is_ok()
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
