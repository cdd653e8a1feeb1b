//! How keys get their anchors, and scans their tables.

use super::filter::Filter;
use super::rarity::{Rarity, windows};
use super::{AnchorEntry, LiteralMap, Scan, ScanShape, Stride, eight_bytes, hash_of_anchor};

/// A anchor lies among so many first bytes of its key.
const ANCHOR_REGION: usize = 256;

impl<const IGNORE_CASE: bool> LiteralMap<IGNORE_CASE> {
    /// The map of these keys, which are different, not empty and, if `IGNORE_CASE`, in small letters; none if they are too large to
    /// be numbered.
    pub fn new<K: AsRef<[u8]>>(keys: &[K]) -> Option<Self> {
        let mut bytes = Vec::new();
        // By length: see `ScanShape::of`.
        let (mut long, mut middling, mut short, mut single) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (id, key) in (0_u32..).zip(keys) {
            let key = key.as_ref();
            let anchored = AnchoredKey { id, key, at: u32::try_from(bytes.len()).ok()?, anchor: 0 };
            bytes.extend_from_slice(key);
            match key {
                [] => {}
                [byte] => single.push((*byte, id)),
                [_, _] | [_, _, _] => short.push(anchored),
                _ if key.len() < LONG.anchor() => middling.push(anchored),
                _ => long.push(anchored),
            }
        }
        u32::try_from(bytes.len()).ok()?;
        let scans = [long, middling, short].into_iter().filter_map(|mut keys| {
            let shortest = keys.iter().map(|key| key.key.len()).min()?;
            let shape = ScanShape::of(shortest, keys.len());
            Some(Scan::new(&mut keys, shape))
        });
        Some(Self { bytes: bytes.into(), scans: scans.collect(), single: single.into() })
    }
}

/// What suits keys that have room for it.
const LONG: ScanShape = ScanShape { window: 4, stride: Stride::Four };

impl ScanShape {
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

/// A key that gets a anchor.
struct AnchoredKey<'a> {
    id: u32,
    key: &'a [u8],
    /// Where the key lies among all.
    at: u32,
    /// Where in the key the anchor is.
    anchor: usize,
}

impl AnchoredKey<'_> {
    fn hash<const IGNORE_CASE: bool>(&self, at: usize, shape: ScanShape) -> u64 {
        hash_of_anchor::<IGNORE_CASE>(eight_bytes(self.key, at), shape.bits_after_anchor())
    }
}

impl<const IGNORE_CASE: bool> Scan<IGNORE_CASE> {
    /// A scan for these keys, which are not shorter than a anchor, and get theirs.
    fn new(keys: &mut [AnchoredKey<'_>], shape: ScanShape) -> Self {
        choose::<IGNORE_CASE>(keys, shape);

        let anchors = keys.len();
        let buckets = anchors.checked_next_power_of_two().map_or(31, usize::ilog2).clamp(1, 31);
        let mut own = Self {
            shape,
            bits_after_anchor: shape.bits_after_anchor(),
            filter: Filter::new(anchors.saturating_mul(shape.windows()), shape.window),
            buckets: Box::default(),
            bucket_shift: 64_u32.wrapping_sub(buckets),
            entries: Box::default(),
        };
        let mut hashes = Vec::with_capacity(anchors);
        for key in keys {
            let anchor = key.key.get(key.anchor..).and_then(|from| from.get(..shape.anchor())).unwrap_or_default();
            for window in windows(anchor, shape.window) {
                own.filter.add(window);
            }
            let hash = key.hash::<IGNORE_CASE>(key.anchor, shape);
            let (length, anchor) = (key.key.len() as u32, key.anchor as u32);
            hashes.push((hash, AnchorEntry { fingerprint: hash as u32, id: key.id, at: key.at, length, anchor }));
        }
        hashes.sort_unstable_by_key(|(hash, entry)| (*hash, entry.id));
        let count = 1_u64.wrapping_shl(buckets);
        let start = |bucket| hashes.partition_point(|(hash, _)| hash.wrapping_shr(own.bucket_shift) < bucket) as u32;
        own.buckets = (0..=count).map(start).collect();
        own.entries = hashes.into_iter().map(|(_, entry)| entry).collect();
        own
    }
}

/// Gives each key the anchor that is the rarest, the more keys have it already the less so.
fn choose<const IGNORE_CASE: bool>(keys: &mut [AnchoredKey<'_>], shape: ScanShape) {
    let rarity = Rarity::<IGNORE_CASE>::new(keys.iter().map(|key| key.key), shape.window);
    let places = keys.len().saturating_mul(4).checked_next_power_of_two().map_or(31, usize::ilog2).clamp(4, 31);
    let shift = 64_u32.wrapping_sub(places);
    let mut taken = vec![0_u32; 1_usize.wrapping_shl(places)];
    let mut weights = Vec::new();
    for key in keys {
        weights.clear();
        let among = key.key.get(..ANCHOR_REGION).unwrap_or(key.key);
        weights.extend(windows(among, shape.window).map(|window| u64::from(rarity.weight(window))));
        let place = |at| key.hash::<IGNORE_CASE>(at, shape).wrapping_shr(shift) as usize;
        let cost = |(at, weights): (usize, &[u64])| {
            let taken = taken.get(place(at)).copied().unwrap_or(0);
            weights
                .iter()
                .fold(0, |sum: u64, weight| sum.wrapping_add(*weight))
                .saturating_mul(u64::from(taken).wrapping_add(1))
        };
        let best = weights.windows(shape.windows()).enumerate().map(|anchor| (cost(anchor), anchor.0)).min();
        key.anchor = best.map_or(0, |(_, at)| at);
        if let Some(taken) = taken.get_mut(key.hash::<IGNORE_CASE>(key.anchor, shape).wrapping_shr(shift) as usize) {
            *taken = taken.saturating_add(1);
        }
    }
}
