//! Building a literal map: choosing anchors for the keys, and the tables of the scans.

use super::filter::Filter;
use super::first_stage::{Bloom, FirstStage, Groups, LENGTHS, WINDOW};
use super::level::LiteralLevel;
use super::rarity::{ANCHOR_REGION, Rarity, windows};
use super::{
    AnchorEntry, AnchorLayout, LOWER_CASE, LiteralMap, Scan, SingleByte, SingleBytes, Stride, VectorPass, eight_bytes,
    hash_of_anchor,
};
use std::sync::OnceLock;

/// Most keys that groups with tables by byte tell apart well enough.
const GROUPED_BY_BYTE: usize = 48;
/// Most keys that groups with tables by half byte find in less time than scans by hash do, if some
/// keys are shorter than [`LONG`] anchors.
const GROUPED_BY_HALF: usize = 64;
/// As [`GROUPED_BY_HALF`], if none is, with AVX2: the scan reads a quarter of the windows then.
/// With SSSE3 no number of such keys is found in much less time by groups.
const GROUPED_LONG: usize = 48;
/// Most keys of a Bloom filter.
const FILTERED: usize = 1_536;

impl<const IGNORE_CASE: bool> LiteralMap<IGNORE_CASE> {
    /// Builds the map of `keys`, in time about linear in their size. The id of a key is its index.
    /// Returns `None` if the keys exceed 4 GiB.
    ///
    /// Empty keys are never found. With `IGNORE_CASE`, give the keys in lower case: others may not be found.
    #[must_use]
    pub fn new<K: AsRef<[u8]>>(keys: &[K]) -> Option<Self> {
        Self::with_level(keys, LiteralLevel::detect())
    }

    /// As [`new`](Self::new), with the instructions of a level, or the best that the processor has
    /// if it does not have that.
    #[doc(hidden)]
    #[must_use]
    pub fn with_level<K: AsRef<[u8]>>(keys: &[K], level: LiteralLevel) -> Option<Self> {
        if IGNORE_CASE { Self::build(&[], keys, level) } else { Self::build(keys, &[], level) }
    }

    /// Of keys whose case counts and of others, in lower case; the ids of these follow.
    pub(super) fn build<K: AsRef<[u8]>>(exact: &[K], others: &[K], level: LiteralLevel) -> Option<Self> {
        let mut bytes = Vec::new();
        let mut plan = Plan { level: level.min(LiteralLevel::detect()), ..Plan::default() };
        let (mut single, mut shortest_key) = (Vec::new(), usize::MAX);
        let exact = exact.iter().map(|key| (key, true));
        for (id, (key, exact)) in (0_u32..).zip(exact.chain(others.iter().map(|key| (key, false)))) {
            let key = key.as_ref();
            let anchored = AnchoredKey { id, key, exact, at: u32::try_from(bytes.len()).ok()?, anchor: 0 };
            bytes.extend_from_slice(key);
            if !key.is_empty() {
                shortest_key = shortest_key.min(key.len());
            }
            match key {
                [] => {}
                [byte] => single.push(SingleByte { byte: *byte, exact, id }),
                [_, _] => plan.two.push(anchored),
                [_, _, _] => plan.three.push(anchored),
                [_, _, _, _] => plan.four.push(anchored),
                _ if key.len() < LONG.anchor_bytes() => plan.medium.push(anchored),
                _ => plan.long.push(anchored),
            }
        }
        u32::try_from(bytes.len()).ok()?;
        let vector = plan.vector_pass();
        let Plan { two, three, mut four, mut medium, mut long, .. } = plan;
        medium.append(&mut four);
        // One scan that reads all windows of the other keys finds long ones too.
        let shortest = medium.iter().map(|key| key.key.len()).min();
        if shortest.is_some_and(|shortest| AnchorLayout::of(shortest, medium.len()).window == LONG.window) {
            medium.append(&mut long);
        }
        let short = [three, two].concat();
        let scans = [long, medium, short].into_iter().filter_map(|mut keys| {
            let shortest = keys.iter().map(|key| key.key.len()).min()?;
            let layout = AnchorLayout::of(shortest, keys.len());
            let scan = Scan::new(&mut keys, layout);
            Some((scan.filter(&keys), scan))
        });
        let (scans, vector) = (scans.collect(), vector.map(Box::new));
        let (bytes, single) = (bytes.into(), SingleBytes::new(single));
        Some(Self { bytes, shortest_key, vector, scans, single, automata: OnceLock::new() })
    }
}

impl LiteralMap<true> {
    /// As [`new`](Self::new), with keys that match only in their own case besides `keys`, in one
    /// search. The ids of `exact` are their indices; those of `keys` follow.
    ///
    /// ```
    /// use celero_matching::LiteralMap;
    ///
    /// let map = LiteralMap::with_exact(&["GET /", "Admin"], &["curl/", "admin"]).ok_or("more than 4 GiB")?;
    /// let mut found = Vec::new();
    /// map.for_each(b"get /ADMIN", |id| found.push(id));
    /// assert_eq!(found, [3]);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn with_exact<K: AsRef<[u8]>>(exact: &[K], keys: &[K]) -> Option<Self> {
        Self::build(exact, keys, LiteralLevel::detect())
    }
}

/// The keys by length, to decide which a pass with vector instructions looks for.
#[derive(Default)]
struct Plan<'a> {
    level: LiteralLevel,
    two: Vec<AnchoredKey<'a>>,
    three: Vec<AnchoredKey<'a>>,
    four: Vec<AnchoredKey<'a>>,
    /// Of five and six bytes.
    medium: Vec<AnchoredKey<'a>>,
    long: Vec<AnchoredKey<'a>>,
}

impl Plan<'_> {
    /// Takes out the keys that one pass with vector instructions finds in less time than scans by hash.
    fn vector_pass<const IGNORE_CASE: bool>(&mut self) -> Option<VectorPass<IGNORE_CASE>> {
        let short = self.two.len().saturating_add(self.three.len());
        let only_long = short == 0 && self.four.is_empty() && self.medium.is_empty();
        let grouped = match self.level {
            LiteralLevel::Scalar => return None,
            LiteralLevel::Ssse3 if only_long => return None,
            LiteralLevel::Avx2 if only_long => GROUPED_LONG,
            LiteralLevel::Ssse3 | LiteralLevel::Avx2 => GROUPED_BY_HALF,
            LiteralLevel::Avx512 => GROUPED_BY_BYTE,
        };
        let longer =
            [&self.four, &self.medium, &self.long].map(Vec::len).iter().fold(0, |a: usize, b| a.saturating_add(*b));
        let few = short.saturating_add(longer) <= grouped;
        let [mut four, mut three, mut two] = [const { Vec::new() }; LENGTHS];
        if short <= grouped {
            (two, three) = (std::mem::take(&mut self.two), std::mem::take(&mut self.three));
        }
        if few || (self.level == LiteralLevel::Avx512 && longer <= FILTERED) {
            four = std::mem::take(&mut self.four);
            four.append(&mut self.medium);
            four.append(&mut self.long);
        } else if self.level == LiteralLevel::Avx512 && self.four.len() <= FILTERED {
            four = std::mem::take(&mut self.four);
        }
        if two.is_empty() && three.is_empty() && four.is_empty() {
            return None;
        }
        let mut keys = [four, three, two];
        let mut scan = |length: usize, window| {
            let keys = keys.get_mut(length).map(Vec::as_mut_slice).unwrap_or_default();
            Scan::new(keys, AnchorLayout { window, stride: Stride::One })
        };
        let scans = [scan(0, 4), scan(1, 3), scan(2, 2)];
        let fold = if IGNORE_CASE { LOWER_CASE as u8 } else { 0 };
        let window = |key: &AnchoredKey<'_>| {
            let mut window = [0; WINDOW];
            let bytes = key.key.get(key.anchor..).unwrap_or_default();
            window.iter_mut().zip(bytes).for_each(|(to, from)| *to = from | fold);
            window
        };
        let mut windows = keys.map(|keys| keys.iter().map(window).collect::<Vec<_>>());
        let mut bloom = None;
        if !few && let Some(four) = windows.first_mut().filter(|windows| !windows.is_empty()) {
            bloom = Some(Box::new(Bloom::new(four)));
            four.clear();
        }
        let groups = windows.iter().any(|windows| !windows.is_empty()).then(|| Box::new(Groups::new(windows)));
        Some(VectorPass { stage: FirstStage { level: self.level, fold, groups, bloom }, scans })
    }
}

/// The layout for keys that are long enough for it.
const LONG: AnchorLayout = AnchorLayout { window: 4, stride: Stride::Four };

impl AnchorLayout {
    /// The layout for `keys` keys of `shortest` bytes or more. Short windows allow longer strides,
    /// but are in more texts: that pays while there are few keys.
    fn of(shortest: usize, keys: usize) -> Self {
        let (window, stride) = match shortest {
            7.. => return LONG,
            6 if keys <= MAX_KEYS_3 => (3, Stride::Four),
            5 | 6 => (4, Stride::Two),
            4 if keys <= MAX_KEYS_3 => (3, Stride::Two),
            4 => (4, Stride::One),
            3 if keys <= MAX_KEYS_2 => (2, Stride::Two),
            _ => (shortest, Stride::One),
        };
        Self { window, stride }
    }
}

/// Most keys of a scan with windows of three bytes that are shorter than the keys allow.
const MAX_KEYS_3: usize = 128;
/// Most keys of a scan with windows of two bytes that are shorter than the keys allow.
const MAX_KEYS_2: usize = 16;

/// A key whose anchor is chosen.
#[derive(Clone)]
struct AnchoredKey<'a> {
    id: u32,
    key: &'a [u8],
    /// Whether the case of its letters counts.
    exact: bool,
    /// Offset of the key in [`LiteralMap::bytes`].
    at: u32,
    /// Offset of the anchor in the key.
    anchor: usize,
}

impl AnchoredKey<'_> {
    fn hash<const IGNORE_CASE: bool>(&self, at: usize, layout: AnchorLayout) -> u64 {
        hash_of_anchor::<IGNORE_CASE>(eight_bytes(self.key, at), layout.bits_after_anchor())
    }
}

impl<const IGNORE_CASE: bool> Scan<IGNORE_CASE> {
    /// Chooses anchors for `keys`, which are not shorter than an anchor, and builds their scan.
    fn new(keys: &mut [AnchoredKey<'_>], layout: AnchorLayout) -> Self {
        choose_anchors::<IGNORE_CASE>(keys, layout);

        let anchors = keys.len();
        let buckets = anchors.checked_next_power_of_two().map_or(31, usize::ilog2).clamp(1, 31);
        // One bit in 16 or fewer is set.
        let present = buckets.saturating_add(4).max(6);
        let mut own = Self {
            layout,
            bits_after_anchor: layout.bits_after_anchor(),
            buckets: Box::default(),
            bucket_shift: 64_u32.wrapping_sub(buckets),
            entries: Box::default(),
            present: Box::default(),
            present_shift: 64_u32.wrapping_sub(present),
        };
        let lower_case = if IGNORE_CASE { LOWER_CASE } else { 0 };
        let mut hashes = Vec::with_capacity(anchors);
        for key in keys {
            let hash = key.hash::<IGNORE_CASE>(key.anchor, layout);
            let (length, anchor) = (key.key.len() as u32, key.anchor as u16);
            let head = eight_bytes(key.key, key.anchor) | lower_case;
            hashes.push((hash, AnchorEntry { head, id: key.id, at: key.at, length, anchor, exact: key.exact }));
        }
        hashes.sort_unstable_by_key(|(hash, entry)| (*hash, entry.id));
        let count = 1_u64.wrapping_shl(buckets);
        let start = |bucket| hashes.partition_point(|(hash, _)| hash.wrapping_shr(own.bucket_shift) < bucket) as u32;
        own.buckets = (0..=count).map(start).collect();
        let mut bits = vec![0_u64; 1_usize.wrapping_shl(present.wrapping_sub(6))];
        for (hash, _) in &hashes {
            let place = hash.wrapping_shr(own.present_shift);
            if let Some(word) = bits.get_mut(place.wrapping_shr(6) as usize) {
                *word |= 1_u64.wrapping_shl(place as u32);
            }
        }
        own.present = bits.into();
        own.entries = hashes.into_iter().map(|(_, entry)| entry).collect();
        own
    }

    /// The filter of the keys with which the scan was built.
    fn filter(&self, keys: &[AnchoredKey<'_>]) -> Filter<IGNORE_CASE> {
        let layout = self.layout;
        let mut filter = Filter::new(keys.len().saturating_mul(layout.windows()), layout.window);
        for key in keys {
            let anchor =
                key.key.get(key.anchor..).and_then(|from| from.get(..layout.anchor_bytes())).unwrap_or_default();
            for window in windows(anchor, layout.window) {
                filter.add(window);
            }
        }
        filter
    }
}

/// Chooses the rarest anchor for each key; an anchor that other keys have already counts as less rare.
fn choose_anchors<const IGNORE_CASE: bool>(keys: &mut [AnchoredKey<'_>], layout: AnchorLayout) {
    let rarity = Rarity::<IGNORE_CASE>::new(keys.iter().map(|key| key.key), layout.window);
    let counters = keys.len().saturating_mul(4).checked_next_power_of_two().map_or(31, usize::ilog2).clamp(4, 31);
    let shift = 64_u32.wrapping_sub(counters);
    let mut taken = vec![0_u32; 1_usize.wrapping_shl(counters)];
    let mut weights = Vec::new();
    for key in keys {
        weights.clear();
        let among = key.key.get(..ANCHOR_REGION).unwrap_or(key.key);
        weights.extend(windows(among, layout.window).map(|window| u64::from(rarity.weight(window))));
        let counter = |at| key.hash::<IGNORE_CASE>(at, layout).wrapping_shr(shift) as usize;
        let cost = |(at, weights): (usize, &[u64])| {
            let taken = taken.get(counter(at)).copied().unwrap_or(0);
            weights
                .iter()
                .fold(0, |sum: u64, weight| sum.wrapping_add(*weight))
                .saturating_mul(u64::from(taken).wrapping_add(1))
        };
        let best = weights.windows(layout.windows()).enumerate().map(|anchor| (cost(anchor), anchor.0)).min();
        key.anchor = best.map_or(0, |(_, at)| at);
        if let Some(taken) = taken.get_mut(key.hash::<IGNORE_CASE>(key.anchor, layout).wrapping_shr(shift) as usize) {
            *taken = taken.saturating_add(1);
        }
    }
}
