//! A histogram of durations that gives two kinds of buckets: those of a classic histogram, with few
//! fixed bounds, and those of an exponential one, which Prometheus calls native.
//!
//! The bounds of both kinds divide time into 309 cells. A duration is counted in one cell, so the
//! request path pays for one kind only; a reader adds up the cells of each bucket. A histogram has
//! 2.5 KiB, whatever it counts.
//!
//! Exponential buckets have the *scale* 3
//! ([OTLP](https://opentelemetry.io/docs/specs/otel/metrics/data-model/#exponentialhistogram); in
//! Prometheus the *schema*): each bound is 2^(1/8) times the one before, so a quantile is at most
//! 4.5 % off. They cover 2^-20 s (954 ns) to 2^17 s (36 hours). What is shorter is in the zero
//! bucket, what is longer in one more bucket. If the buckets between the shortest and the longest
//! duration are more than [`MAX_BUCKETS`], readers get the scale 2, whose buckets are two of the
//! scale 3.

use std::ops::RangeInclusive;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The bounds of the classic buckets in microseconds, and in seconds.
const CLASSIC: [(u64, f64); 14] = [
    (500, 0.0005),
    (1_000, 0.001),
    (2_500, 0.0025),
    (5_000, 0.005),
    (10_000, 0.01),
    (25_000, 0.025),
    (50_000, 0.05),
    (100_000, 0.1),
    (250_000, 0.25),
    (500_000, 0.5),
    (1_000_000, 1.0),
    (2_500_000, 2.5),
    (5_000_000, 5.0),
    (10_000_000, 10.0),
];

/// The scale of the cells.
const SCALE: i32 = 3;

/// The bounds of the exponential buckets: 2^(n/8) seconds for these n.
const EXPONENTS: RangeInclusive<i32> = -20 * 8..=17 * 8;

/// The most exponential buckets that a reader gets.
const MAX_BUCKETS: usize = 160;

/// The bound of the zero bucket, in seconds: 2^-20.
pub(crate) const ZERO_THRESHOLD: f64 = 1.0 / (1 << 20) as f64;

/// A cell: the durations above the bound of the cell before, up to its own.
struct Cell {
    /// The number of its bucket among the classic ones.
    classic: usize,
    /// The number of its bucket among the exponential ones; 0: the zero bucket.
    exponential: usize,
}

struct Cells {
    /// The upper bounds in nanoseconds, in rising order. The last cell has none.
    bounds: Vec<u64>,
    cells: Vec<Cell>,
}

static CELLS: LazyLock<Cells> = LazyLock::new(|| {
    let classic: Vec<u64> = CLASSIC.iter().map(|(micros, _)| micros.saturating_mul(1000)).collect();
    // Durations are whole nanoseconds, so the part after the comma decides nothing.
    let exponential: Vec<u64> =
        EXPONENTS.map(|n| (f64::from(n) / 8.0).exp2() * 1e9).map(|bound| bound as u64).collect();
    let mut bounds: Vec<u64> = classic.iter().chain(&exponential).copied().collect();
    bounds.sort_unstable();
    bounds.dedup();
    let cell = |bound: u64| Cell {
        classic: classic.partition_point(|below| *below < bound),
        exponential: exponential.partition_point(|below| *below < bound),
    };
    let cells = bounds.iter().copied().chain([u64::MAX]).map(cell).collect();
    Cells { bounds, cells }
});

/// Counts durations. All threads share it.
#[derive(Debug)]
pub(crate) struct Histogram {
    cells: Box<[AtomicU64]>,
    /// The sum, whose rounding is far below the shortest bucket. In nanoseconds, ten thousand open
    /// WebSockets would make it wrap within weeks.
    microseconds: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { cells: CELLS.cells.iter().map(|_| AtomicU64::new(0)).collect(), microseconds: AtomicU64::new(0) }
    }
}

impl Histogram {
    /// Counts a duration. Does not lock or allocate.
    pub(crate) fn add(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        if let Some(cell) = self.cells.get(CELLS.bounds.partition_point(|bound| *bound < nanos)) {
            cell.fetch_add(1, Ordering::Relaxed);
        }
        self.microseconds.fetch_add(nanos.saturating_add(500) / 1_000, Ordering::Relaxed);
    }

    /// Returns what was counted.
    pub(crate) fn counts(&self) -> HistogramCounts {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        HistogramCounts {
            cells: self.cells.iter().map(load).collect(),
            sum: Duration::from_micros(load(&self.microseconds)).as_secs_f64(),
        }
    }
}

/// What a histogram has counted at one time.
#[derive(Clone, Debug)]
pub(crate) struct HistogramCounts {
    cells: Vec<u64>,
    /// The sum of all durations, in seconds.
    pub(crate) sum: f64,
}

/// The exponential buckets of a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExponentialBuckets {
    /// Each bound is 2^(2^-scale) times the one before.
    pub(crate) scale: i32,
    /// How many durations are at most [`ZERO_THRESHOLD`].
    pub(crate) zeros: u64,
    /// The index of the first bucket, as OTLP counts: bucket `i` has what is above base^i and at most base^(i + 1).
    pub(crate) offset: i32,
    /// The buckets from the first to the last with a duration, at most [`MAX_BUCKETS`].
    pub(crate) counts: Vec<u64>,
}

impl HistogramCounts {
    /// Returns the number of durations.
    pub(crate) fn count(&self) -> u64 {
        self.cells.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns the bounds of the classic buckets in seconds. The last bucket has none.
    pub(crate) fn classic_bounds() -> impl Iterator<Item = f64> {
        CLASSIC.iter().map(|(_, seconds)| *seconds)
    }

    /// Returns how many durations are in each classic bucket alone.
    pub(crate) fn classic(&self) -> [u64; CLASSIC.len() + 1] {
        let mut counts = [0_u64; CLASSIC.len() + 1];
        for (count, cell) in self.cells.iter().zip(&CELLS.cells) {
            if let Some(bucket) = counts.get_mut(cell.classic) {
                *bucket = bucket.saturating_add(*count);
            }
        }
        counts
    }

    /// Returns the exponential buckets.
    pub(crate) fn exponential(&self) -> ExponentialBuckets {
        let mut zeros = 0_u64;
        let mut buckets: Vec<(i32, u64)> = Vec::new();
        for (count, cell) in self.cells.iter().zip(&CELLS.cells).filter(|(count, _)| **count > 0) {
            match cell.exponential {
                0 => zeros = zeros.saturating_add(*count),
                // The first bucket ends at the second bound.
                number => {
                    let index = EXPONENTS.start().saturating_add(i32::try_from(number).unwrap_or(i32::MAX));
                    add(&mut buckets, index.saturating_sub(1), *count);
                }
            }
        }
        let mut scale = SCALE;
        while width(&buckets) > MAX_BUCKETS {
            scale = scale.saturating_sub(1);
            let wider = buckets.iter().fold(Vec::new(), |mut wider, (index, count)| {
                add(&mut wider, index >> 1, *count);
                wider
            });
            buckets = wider;
        }
        let offset = buckets.first().map_or(0, |(index, _)| *index);
        let mut counts = vec![0_u64; width(&buckets)];
        for (index, count) in buckets {
            let place = usize::try_from(index.saturating_sub(offset)).ok().and_then(|place| counts.get_mut(place));
            place.into_iter().for_each(|place| *place = count);
        }
        ExponentialBuckets { scale, zeros, offset, counts }
    }
}

/// Adds to the last bucket if it is the one of this index, or begins that.
fn add(buckets: &mut Vec<(i32, u64)>, index: i32, count: u64) {
    match buckets.last_mut() {
        Some((last, sum)) if *last == index => *sum = sum.saturating_add(count),
        _ => buckets.push((index, count)),
    }
}

/// Returns the number of buckets from the first to the last.
fn width(buckets: &[(i32, u64)]) -> usize {
    let ends = buckets.first().zip(buckets.last());
    let width = ends.map_or(0, |((first, _), (last, _))| last.saturating_sub(*first).saturating_add(1));
    usize::try_from(width).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(nanos: &[u64]) -> HistogramCounts {
        let histogram = Histogram::default();
        nanos.iter().for_each(|nanos| histogram.add(Duration::from_nanos(*nanos)));
        histogram.counts()
    }

    #[test]
    fn durations_are_in_the_classic_bucket_up_to_whose_bound_they_are() {
        let counts = counts(&[0, 500_000, 500_001, 1_000_000_000, 10_000_000_000, 10_000_000_001]);
        let mut expected = [0; 15];
        (expected[0], expected[1], expected[10], expected[13], expected[14]) = (2, 1, 1, 1, 1);
        assert_eq!((counts.classic(), counts.count()), (expected, 6));
        assert!((counts.sum - 21.001).abs() < 1e-9, "{}", counts.sum);
    }

    #[test]
    fn the_sum_does_not_wrap() {
        let year = 365 * 86_400;
        let counts = counts(&[year * 1_000_000_000; 1_000]);
        assert!((counts.sum / (1_000 * year) as f64 - 1.0).abs() < 1e-9, "{}", counts.sum);
    }

    /// The bounds of a bucket enclose what is in it, at each scale.
    #[test]
    fn durations_are_in_their_exponential_bucket() {
        for nanos in (0..=46).flat_map(|power| [1_u64 << power, (1 << power) + 1, (3 << power) / 2]) {
            let found = counts(&[nanos]).exponential();
            let seconds = nanos as f64 / 1e9;
            if seconds <= ZERO_THRESHOLD {
                assert_eq!((found.zeros, found.counts.len()), (1, 0), "{nanos}");
                continue;
            }
            assert_eq!((found.scale, found.zeros, &*found.counts), (3, 0, &[1][..]), "{nanos}");
            let bound = |index: i32| (f64::from(index) / 8.0).exp2();
            assert!(bound(found.offset) < seconds, "{nanos} is not above {}", bound(found.offset));
            let is_last = found.offset == *EXPONENTS.end();
            assert!(is_last || seconds <= bound(found.offset + 1), "{nanos} is above {}", bound(found.offset + 1));
        }
        // A power of two ends its bucket.
        assert_eq!(counts(&[1_000_000_000]).exponential().offset, -1);
        assert_eq!(counts(&[1_000_000_001]).exponential().offset, 0);
    }

    #[test]
    fn a_wide_range_has_a_smaller_scale() {
        let narrow = counts(&[1_000, 1_000, 900_000_000]).exponential();
        assert_eq!((narrow.scale, narrow.counts.len() <= MAX_BUCKETS), (3, true), "{narrow:?}");
        let wide = counts(&[1_000, 1_000, 40_000_000_000_000]).exponential();
        assert_eq!((wide.scale, wide.zeros, wide.counts.iter().sum::<u64>()), (2, 0, 3), "{wide:?}");
        assert!(wide.counts.len() <= MAX_BUCKETS && wide.counts[0] == 2);
        let bound = |index: i32| (f64::from(index) / 4.0).exp2();
        assert!(bound(wide.offset) < 1e-6 && 1e-6 <= bound(wide.offset + 1), "{wide:?}");
        let last = wide.offset + i32::try_from(wide.counts.len()).unwrap();
        assert!(bound(last - 1) < 40_000.0 && 40_000.0 <= bound(last), "{wide:?}");
        assert_eq!(counts(&[]).exponential(), ExponentialBuckets { scale: 3, zeros: 0, offset: 0, counts: vec![] });
    }

    #[test]
    fn the_size_is_the_documented_one() {
        assert_eq!((CELLS.cells.len(), CELLS.bounds.len()), (309, 308));
    }
}
