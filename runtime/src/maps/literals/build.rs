//! How keys get their marks, and scans their tables.

use super::filter::Filter;
use super::rarity::{Rarity, windows};
use super::{Entry, LiteralMap, Scan, Shape, Stride, eight_bytes, hash_of_mark};

/// A mark lies among so many first bytes of its key.
const MARKED: usize = 256;

impl<const FOLD: bool> LiteralMap<FOLD> {
    /// The map of these keys, which are different, not empty and, if `FOLD`, in small letters; none if they are too large to
    /// be numbered.
    pub(crate) fn new<K: AsRef<[u8]>>(keys: &[K]) -> Option<Self> {
        let mut bytes = Vec::new();
        // By length: see `Shape::of`.
        let (mut long, mut middling, mut short, mut single) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (id, key) in (0_u32..).zip(keys) {
            let key = key.as_ref();
            let marked = Marked { id, key, at: u32::try_from(bytes.len()).ok()?, mark: 0 };
            bytes.extend_from_slice(key);
            match key {
                [] => {}
                [byte] => single.push((*byte, id)),
                [_, _] | [_, _, _] => short.push(marked),
                _ if key.len() < LONG.mark() => middling.push(marked),
                _ => long.push(marked),
            }
        }
        u32::try_from(bytes.len()).ok()?;
        let scans = [long, middling, short].into_iter().filter_map(|mut keys| {
            let shortest = keys.iter().map(|key| key.key.len()).min()?;
            let shape = Shape::of(shortest, keys.len());
            Some(Scan::new(&mut keys, shape))
        });
        Some(Self { bytes: bytes.into(), scans: scans.collect(), single: single.into() })
    }
}

/// What suits keys that have room for it.
const LONG: Shape = Shape { window: 4, stride: Stride::Four };

impl Shape {
    /// What suits so many keys of this length or more. Short windows are in many texts, but allow for longer strides: that is
    /// worth it while few keys make them.
    fn of(shortest: usize, keys: usize) -> Self {
        let (window, stride) = match shortest {
            7.. => return LONG,
            6 if keys <= FEW => (3, Stride::Four),
            5 | 6 => (4, Stride::Two),
            4 if keys <= FEW => (3, Stride::Two),
            4 => (4, Stride::One),
            3 if keys <= VERY_FEW => (2, Stride::Two),
            _ => (shortest, Stride::One),
        };
        Self { window, stride }
    }
}

/// Keys up to which windows of three and of two bytes do.
const FEW: usize = 128;
const VERY_FEW: usize = 16;

/// A key that gets a mark.
struct Marked<'a> {
    id: u32,
    key: &'a [u8],
    /// Where the key lies among all.
    at: u32,
    /// Where in the key the mark is.
    mark: usize,
}

impl Marked<'_> {
    fn hash<const FOLD: bool>(&self, at: usize, shape: Shape) -> u64 {
        hash_of_mark::<FOLD>(eight_bytes(self.key, at), shape.after_mark())
    }
}

impl<const FOLD: bool> Scan<FOLD> {
    /// A scan for these keys, which are not shorter than a mark, and get theirs.
    fn new(keys: &mut [Marked<'_>], shape: Shape) -> Self {
        choose::<FOLD>(keys, shape);

        let marks = keys.len();
        let buckets = marks.checked_next_power_of_two().map_or(31, usize::ilog2).clamp(1, 31);
        let mut own = Self {
            shape,
            after_mark: shape.after_mark(),
            filter: Filter::new(marks.saturating_mul(shape.windows()), shape.window),
            buckets: Box::default(),
            bucket_shift: 64_u32.wrapping_sub(buckets),
            entries: Box::default(),
        };
        let mut hashes = Vec::with_capacity(marks);
        for key in keys {
            let mark = key.key.get(key.mark..).and_then(|from| from.get(..shape.mark())).unwrap_or_default();
            for window in windows(mark, shape.window) {
                own.filter.add(window);
            }
            let hash = key.hash::<FOLD>(key.mark, shape);
            let (length, mark) = (key.key.len() as u32, key.mark as u32);
            hashes.push((hash, Entry { print: hash as u32, id: key.id, at: key.at, length, mark }));
        }
        hashes.sort_unstable_by_key(|(hash, entry)| (*hash, entry.id));
        let count = 1_u64.wrapping_shl(buckets);
        let start = |bucket| hashes.partition_point(|(hash, _)| hash.wrapping_shr(own.bucket_shift) < bucket) as u32;
        own.buckets = (0..=count).map(start).collect();
        own.entries = hashes.into_iter().map(|(_, entry)| entry).collect();
        own
    }
}

/// Gives each key the mark that is the rarest, the more keys have it already the less so.
fn choose<const FOLD: bool>(keys: &mut [Marked<'_>], shape: Shape) {
    let rarity = Rarity::<FOLD>::new(keys.iter().map(|key| key.key), shape.window);
    let places = keys.len().saturating_mul(4).checked_next_power_of_two().map_or(31, usize::ilog2).clamp(4, 31);
    let shift = 64_u32.wrapping_sub(places);
    let mut taken = vec![0_u32; 1_usize.wrapping_shl(places)];
    let mut weights = Vec::new();
    for key in keys {
        weights.clear();
        let among = key.key.get(..MARKED).unwrap_or(key.key);
        weights.extend(windows(among, shape.window).map(|window| u64::from(rarity.weight(window))));
        let place = |at| key.hash::<FOLD>(at, shape).wrapping_shr(shift) as usize;
        let cost = |(at, weights): (usize, &[u64])| {
            let taken = taken.get(place(at)).copied().unwrap_or(0);
            weights
                .iter()
                .fold(0, |sum: u64, weight| sum.wrapping_add(*weight))
                .saturating_mul(u64::from(taken).wrapping_add(1))
        };
        let best = weights.windows(shape.windows()).enumerate().map(|mark| (cost(mark), mark.0)).min();
        key.mark = best.map_or(0, |(_, at)| at);
        if let Some(taken) = taken.get_mut(key.hash::<FOLD>(key.mark, shape).wrapping_shr(shift) as usize) {
            *taken = taken.saturating_add(1);
        }
    }
}
