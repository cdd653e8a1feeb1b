//! Finds all intervals that contain a number.
//!
//! A centred interval tree: a node holds the intervals that contain its centre, sorted by start and
//! sorted by end. Intervals that end before the centre are in one subtree, intervals that start
//! after it in the other. A lookup visits one child of each node, and reads at most one interval of
//! a node that does not contain the number.

/// Finds all intervals that contain a value. Both ends belong to an interval.
///
/// A lookup takes time linear in the depth of the tree and the number of matches. The depth is
/// logarithmic in the number of intervals. Memory: two copies of an end and an id for each
/// interval, and a node for each group of overlapping ones.
///
/// ```
/// use celero_matching::RangeMap;
///
/// let sizes = RangeMap::new(&[(0_u64, 1023), (1024, u64::MAX), (100, 2000)]);
/// let mut found = Vec::new();
/// sizes.for_each(1500, |id| found.push(id));
/// found.sort_unstable();
/// assert_eq!(found, [1, 2]);
/// ```
#[derive(Clone, Debug)]
pub struct RangeMap<T> {
    /// The root is the first.
    nodes: Box<[Node<T>]>,
    /// For each node, the starts of its intervals in ascending order, with their ids.
    lows: Box<[(T, u32)]>,
    /// For each node, the ends of its intervals in descending order, with their ids.
    highs: Box<[(T, u32)]>,
}

#[derive(Clone, Copy, Debug)]
struct Node<T> {
    centre: T,
    /// Index of the node of the intervals that end before the centre, or [`NO_NODE`].
    before: u32,
    /// Index of the node of the intervals that start after the centre, or [`NO_NODE`].
    after: u32,
    /// Index of the node's first interval in both lists.
    first: u32,
    /// Number of the node's intervals.
    count: u32,
}

/// The index of a child that does not exist.
const NO_NODE: u32 = u32::MAX;

/// Start, end and id of an interval.
type Interval<T> = (T, T, u32);

impl<T: Copy + Ord> RangeMap<T> {
    /// Builds the map of `intervals`, each a first and a last value, in O(n log² n) for n
    /// intervals. The id of an interval is its index. An interval that ends before it starts
    /// contains nothing.
    #[must_use]
    pub fn new(intervals: &[(T, T)]) -> Self {
        let mut all: Vec<Interval<T>> = intervals.iter().zip(0..).map(|((low, high), id)| (*low, *high, id)).collect();
        all.retain(|(low, high, _)| low <= high);
        all.sort_unstable();
        let mut nodes: Vec<Node<T>> = Vec::new();
        let (mut lows, mut highs) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
        // Subtrees to build: intervals sorted by start, the parent node, and whether they are after its centre.
        let mut open = vec![(all, NO_NODE, false)];
        while let Some((intervals, parent, is_after)) = open.pop() {
            let Some(&(centre, ..)) = intervals.get(intervals.len() / 2) else { continue };
            let own = number(nodes.len());
            if let Some(parent) = nodes.get_mut(parent as usize) {
                *(if is_after { &mut parent.after } else { &mut parent.before }) = own;
            }
            let first = lows.len();
            let (mut before, mut after) = (Vec::new(), Vec::new());
            for interval in intervals {
                if interval.1 < centre {
                    before.push(interval);
                } else if interval.0 > centre {
                    after.push(interval);
                } else {
                    lows.push((interval.0, interval.2));
                    highs.push((interval.1, interval.2));
                }
            }
            if let Some(highs) = highs.get_mut(first..) {
                highs.sort_unstable_by(|a, b| b.cmp(a));
            }
            let count = number(lows.len().saturating_sub(first));
            nodes.push(Node { centre, before: NO_NODE, after: NO_NODE, first: number(first), count });
            open.push((before, own, false));
            open.push((after, own, true));
        }
        Self { nodes: nodes.into(), lows: lows.into(), highs: highs.into() }
    }

    /// Calls `hit` once with the id of each interval that contains `value`, in no particular order.
    #[inline]
    pub fn for_each(&self, value: T, mut hit: impl FnMut(u32)) {
        let mut node = self.nodes.first();
        while let Some(&Node { centre, before, after, first, count }) = node {
            let own = first as usize..first.wrapping_add(count) as usize;
            let next = if value < centre {
                let lows = self.lows.get(own).unwrap_or_default();
                lows.iter().take_while(|(low, _)| *low <= value).for_each(|(_, id)| hit(*id));
                before
            } else {
                let highs = self.highs.get(own).unwrap_or_default();
                highs.iter().take_while(|(high, _)| *high >= value).for_each(|(_, id)| hit(*id));
                after
            };
            node = self.nodes.get(next as usize);
        }
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let parts = [size_of_val(&*self.nodes), size_of_val(&*self.lows), size_of_val(&*self.highs)];
        parts.into_iter().fold(0, usize::saturating_add)
    }
}

/// `of` as an index. Ids have 32 bits, and there are no more nodes than intervals.
fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(NO_NODE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, distinct};

    fn check(intervals: &[(i64, i64)], values: impl IntoIterator<Item = i64>) {
        let map = RangeMap::new(intervals);
        for value in values {
            let mut found = Vec::new();
            map.for_each(value, |id| found.push(id));
            found.sort_unstable();
            let holds = |&(_, &(low, high)): &(u32, &(i64, i64))| low <= value && value <= high;
            let right: Vec<u32> = (0..).zip(intervals).filter(holds).map(|(id, _)| id).collect();
            assert_eq!(found, right, "{value} in {intervals:?}");
        }
    }

    #[test]
    fn agrees_with_a_list() {
        let mut rng = Rng::new(1);
        for span in [2, 8, 40] {
            for round in 0..200 {
                let mut end = |open: i64| {
                    let at = rng.below(span) as i64 - span as i64 / 2;
                    if rng.below(3) == 0 { open } else { at }
                };
                let intervals = distinct((0..round % 50).map(|_| (end(i64::MIN), end(i64::MAX))));
                let near = -(span as i64)..span as i64;
                check(&intervals, near.chain([i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]));
            }
        }
    }

    #[test]
    fn many_nested_ones_are_all_found() {
        let nested: Vec<(i64, i64)> = (0..1_000).map(|n| (-n, n)).collect();
        check(&nested, [-1_000, -999, -500, 0, 1, 998, 999, 1_000]);
    }

    #[test]
    fn many_that_are_apart_make_a_low_tree() {
        let apart: Vec<(u64, u64)> = (0..100_000).map(|n| (n * 10, n * 10 + 4)).collect();
        let map = RangeMap::new(&apart);
        for n in (0..1_000_000).step_by(7) {
            let mut found = None;
            map.for_each(n, |id| assert!(found.replace(id).is_none()));
            assert_eq!(found, (n % 10 < 5).then_some((n / 10) as u32));
        }
        assert!(map.heap_bytes() <= 64 * apart.len(), "{}", map.heap_bytes());
    }
}
