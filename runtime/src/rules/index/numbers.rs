//! The keys of one attribute that are numbers and intervals of numbers.

use celero_matching::{ExactMap, RangeMap};

/// Finds the keys that hold for a number: a table of the keys that are one number, and a tree of the intervals.
#[derive(Debug)]
pub(super) struct Numbers {
    exact: ExactMap<false>,
    /// Indexed by the number in `exact`: the id.
    exact_ids: Box<[u32]>,
    ranges: RangeMap<i128>,
    /// Indexed by the number in `ranges`: the id.
    range_ids: Box<[u32]>,
}

impl Numbers {
    /// Of distinct intervals, both ends included. The id of an interval is its index.
    pub(super) fn new(intervals: &[(i128, i128)]) -> Self {
        let (mut exact, mut exact_ids) = (Vec::new(), Vec::new());
        let (mut ranges, mut range_ids) = (Vec::new(), Vec::new());
        for (id, &(from, to)) in (0..).zip(intervals) {
            if from == to {
                exact.push(from.to_le_bytes());
                exact_ids.push(id);
            } else {
                ranges.push((from, to));
                range_ids.push(id);
            }
        }
        Self {
            exact: ExactMap::new(&exact),
            exact_ids: exact_ids.into(),
            ranges: RangeMap::new(&ranges),
            range_ids: range_ids.into(),
        }
    }

    /// Calls `hit` once with the id of each interval that contains a number.
    #[inline]
    pub(super) fn for_each(&self, number: i128, mut hit: impl FnMut(u32)) {
        if let Some(id) = self.exact.get(&number.to_le_bytes()).and_then(|place| self.exact_ids.get(place as usize)) {
            hit(*id);
        }
        self.ranges.for_each(number, |place| {
            if let Some(id) = self.range_ids.get(place as usize) {
                hit(*id);
            }
        });
    }

    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        let ids = size_of_val(&*self.exact_ids).saturating_add(size_of_val(&*self.range_ids));
        ids.saturating_add(self.exact.heap_bytes()).saturating_add(self.ranges.heap_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    #[test]
    fn numbers_and_intervals_are_found_by_their_ids() {
        let most = i128::from(u64::MAX);
        let intervals = [
            (5, 5),
            (i128::MIN, 4),
            (0, 0),
            (most, most),
            (6, i128::MAX),
            (-1, -1),
            (5, 7),
            (i64::MIN.into(), i64::MIN.into()),
        ];
        let numbers = Numbers::new(&intervals);
        for number in [0, 4, 5, 6, 7, -1, -2, most, most - 1, i64::MIN.into(), i64::MAX.into()] {
            let mut found = Vec::new();
            numbers.for_each(number, |id| found.push(id));
            found.sort_unstable();
            let holds = |(_, (from, to)): &(u32, (i128, i128))| (*from..=*to).contains(&number);
            let right: Vec<u32> = (0..).zip(intervals).filter(holds).map(|(id, _)| id).collect();
            assert_eq!(found, right, "{number}");
        }
        let mut none = false;
        Numbers::new(&[]).for_each(0, |_| none = true);
        assert!(!none);
    }
}
