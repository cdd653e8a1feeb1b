//! Finds which of a few literals occur in a text, in one pass with vector instructions.
//!
//! Each key has an *anchor*: its three consecutive bytes that are rarest in texts of requests. Each
//! byte of a text is looked up in tables, one for each byte of an anchor. The results of three
//! neighbours, combined, say whether one of eight groups of keys may have its anchor there. The
//! method is known as Teddy, from Hyperscan. Tables with a bit for each key say then which keys
//! have their anchor there; only those are compared.
//!
//! The number of comparisons is bounded by the length of the text. Where they do not suffice, the
//! keys that were not found are searched for one by one, so the time is always linear in the text.

#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::eight_bytes;
use super::level::LiteralLevel;
use super::rarity::{ANCHOR_REGION, Rarity, windows};
use crate::search::Searcher;
use memchr::memmem;

/// Bytes of an anchor.
const ANCHOR: usize = 3;
/// Groups of keys: one bit each of a byte.
const GROUPS: usize = 8;
/// Bytes of a key that are compared in the time of one step.
const BYTES_PER_STEP: usize = 32;

/// Tells which of up to 64 literals occur in a text, as bits of one word.
///
/// Use it for a few literals in many short texts, where one word is the most useful result. A
/// lookup takes time linear in the text; on a processor with AVX2 it is one pass whatever the
/// number of keys (keys of one or two bytes take a search each), on others it is a search for each
/// key. Use [`LiteralMap`](crate::LiteralMap) for more keys. Memory: 4 KiB, the keys, and about 64
/// bytes for each.
///
/// ```
/// use celero_matching::FewLiterals;
///
/// let tools = FewLiterals::new(&["nikto", "sqlmap", "curl/"]).ok_or("more than 64 keys")?;
/// assert_eq!(tools.find(b"curl/8.5.0"), 0b100);
/// assert_eq!(tools.find(b"Mozilla/5.0"), 0);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct FewLiterals {
    /// At most what the processor has.
    level: LiteralLevel,
    tables: Tables,
    /// Indexed by key. Those that are searched for one by one are not in the tables.
    keys: Box<[AnchoredKey]>,
    /// The bits of the keys that are in the tables.
    anchored_bits: u64,
    /// Keys that are searched for one by one, and their bits.
    single: Box<[SingleKey]>,
}

/// For each byte of an anchor: who has it there, one bit each.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Tables {
    /// Groups, by the lower six bits of the byte.
    by_byte: [[u8; 64]; ANCHOR],
    /// Groups, by the lower half of the byte, then by its upper half.
    by_half: [[u8; 16]; 2 * ANCHOR],
    /// Keys, by the lower seven bits of the byte.
    keys: [[u64; 128]; ANCHOR],
}

impl Tables {
    const EMPTY: Self = Self { by_byte: [[0; 64]; ANCHOR], by_half: [[0; 16]; 2 * ANCHOR], keys: [[0; 128]; ANCHOR] };

    /// Adds a key of a group that has this byte at a place of its anchor.
    fn add(&mut self, place: usize, byte: u8, group: u32, key: u64) {
        let lower = place.saturating_mul(2);
        for (table, half) in [(lower, byte & 15), (lower.saturating_add(1), byte >> 4)] {
            mark(self.by_half.get_mut(table), half, 1_u8.wrapping_shl(group));
        }
        mark(self.by_byte.get_mut(place), byte & 63, 1_u8.wrapping_shl(group));
        mark(self.keys.get_mut(place), byte & 127, key);
    }

    /// The keys that may have these bytes as an anchor.
    #[inline(always)]
    fn keys(&self, [a, b, c]: [u8; ANCHOR]) -> u64 {
        let [first, second, third] = &self.keys;
        let keys = |table: &[u64; 128], byte: u8| table.get(usize::from(byte & 127)).copied().unwrap_or(0);
        keys(first, a) & keys(second, b) & keys(third, c)
    }
}

/// Sets bits of an entry of a table.
fn mark<T: std::ops::BitOrAssign, const N: usize>(table: Option<&mut [T; N]>, entry: u8, bits: T) {
    if let Some(entry) = table.and_then(|table| table.get_mut(usize::from(entry))) {
        *entry |= bits;
    }
}

/// A search for one key, and the bit of the key in results.
type SingleKey = (Searcher<Box<[u8]>>, u64);

#[derive(Clone, Debug)]
struct AnchoredKey {
    /// The first eight bytes of the key, with zeros after its end; and a mask of the key's bytes among these.
    head: u64,
    head_mask: u64,
    bytes: Box<[u8]>,
    /// Offset of the anchor in the key.
    anchor: usize,
    /// Steps that comparing the key takes.
    steps: u64,
}

impl AnchoredKey {
    fn new(bytes: Box<[u8]>, anchor: usize) -> Self {
        let missing = 8_usize.saturating_sub(bytes.len()).saturating_mul(8);
        let head_mask = u64::MAX.checked_shr(missing as u32).unwrap_or(0);
        let steps = (bytes.len() / BYTES_PER_STEP).saturating_add(1) as u64;
        Self { head: eight_bytes(&bytes, 0), head_mask, bytes, anchor, steps }
    }

    /// Whether the key is in a text with its anchor at this offset.
    #[inline(always)]
    fn is_at(&self, text: &[u8], place: usize) -> bool {
        let Some(from) = place.checked_sub(self.anchor) else { return false };
        let same = (eight_bytes(text, from) ^ self.head) & self.head_mask == 0;
        same && text.len().checked_sub(from).is_some_and(|left| left >= self.bytes.len())
            && (self.bytes.len() <= 8 || self.is_whole_at(text, from))
    }

    #[inline(never)]
    fn is_whole_at(&self, text: &[u8], from: usize) -> bool {
        text.get(from..).is_some_and(|rest| rest.starts_with(&self.bytes))
    }

    fn anchor_bytes(&self) -> &[u8] {
        self.bytes.get(self.anchor..).and_then(|rest| rest.get(..ANCHOR)).unwrap_or_default()
    }
}

impl FewLiterals {
    /// Most keys.
    pub const MAX_KEYS: usize = 64;

    /// Prepares keys, in time linear in their size. The bit of a key is its index. Returns `None`
    /// if there are more than [`MAX_KEYS`](Self::MAX_KEYS). An empty key is in every text.
    #[must_use]
    pub fn new<K: AsRef<[u8]>>(keys: &[K]) -> Option<Self> {
        Self::with_level(keys, LiteralLevel::detect())
    }

    /// [`new`](Self::new) with at most these instructions. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_level<K: AsRef<[u8]>>(keys: &[K], level: LiteralLevel) -> Option<Self> {
        let level = level.min(LiteralLevel::detect());
        if keys.len() > Self::MAX_KEYS {
            return None;
        }
        let rarity = Rarity::<false>::new(keys.iter().map(AsRef::as_ref), ANCHOR);
        let (mut anchored, mut single) = (Vec::new(), Vec::new());
        let mut all = Vec::with_capacity(keys.len());
        for (id, key) in keys.iter().enumerate() {
            let bytes: Box<[u8]> = key.as_ref().into();
            let region = bytes.get(..ANCHOR_REGION).unwrap_or(&bytes);
            let rarest = windows(region, ANCHOR).map(|window| rarity.weight(window)).zip(0..).min();
            let anchor = rarest.filter(|_| level >= LiteralLevel::Avx2).map(|(_, anchor)| anchor);
            if anchor.is_some() {
                anchored.push(id);
            } else {
                single.push((Searcher::new(bytes.clone()), bit(id)));
            }
            all.push(AnchoredKey::new(bytes, anchor.unwrap_or(0)));
        }
        // Keys of equal anchors are in one group, which then has fewer other anchors.
        let anchor = |id: usize| all.get(id).map(AnchoredKey::anchor_bytes).unwrap_or_default();
        anchored.sort_by_key(|id| anchor(*id));
        let (mut tables, mut anchored_bits) = (Tables::EMPTY, 0);
        for (place, &id) in anchored.iter().enumerate() {
            let group = place.saturating_mul(GROUPS).checked_div(anchored.len()).unwrap_or(0) as u32;
            anchored_bits |= bit(id);
            for (place, byte) in anchor(id).iter().enumerate() {
                tables.add(place, *byte, group, bit(id));
            }
        }
        Some(Self { level, tables, keys: all.into(), anchored_bits, single: single.into() })
    }

    /// Returns whether a lookup is one pass over most texts, whatever the number of keys.
    #[must_use]
    pub fn is_one_pass(&self) -> bool {
        self.single.is_empty()
    }

    /// Returns the keys that occur in `text`: one bit for each, the lowest for the first.
    #[must_use]
    #[inline]
    pub fn find(&self, text: &[u8]) -> u64 {
        match self.find_in_one_pass(text) {
            (found, true) => found,
            (found, false) => self.search_each(text, found),
        }
    }

    /// Returns keys that occur in `text`, and whether they are all that do. For callers that bound
    /// the time of searches: this is one pass over the text, and comparisons whose number is
    /// bounded by its length. The result is not complete if more comparisons are needed, or if not
    /// [all keys](Self::is_one_pass) are found in one pass. A missing key may be in the text then.
    #[must_use]
    #[inline]
    pub fn find_in_one_pass(&self, text: &[u8]) -> (u64, bool) {
        if self.anchored_bits == 0 || text.len() < ANCHOR {
            return (0, self.is_one_pass());
        }
        #[cfg(target_arch = "x86_64")]
        let search = x86::search(self, text);
        #[cfg(not(target_arch = "x86_64"))]
        let search = Search { found: 0, steps: 0 };
        (search.found, self.is_complete(&search) && self.is_one_pass())
    }

    /// Whether all keys that have an anchor and are in the text were found.
    #[inline(always)]
    fn is_complete(&self, search: &Search) -> bool {
        search.steps > 0 || self.has_all(search)
    }

    /// Whether all keys that have an anchor were found.
    #[inline(always)]
    fn has_all(&self, search: &Search) -> bool {
        search.found == self.anchored_bits
    }

    /// Compares the keys that may have their anchor at one of the offsets. `starts` has a bit for
    /// each offset from `at` on at which a group may have an anchor.
    #[inline(always)]
    fn compare(&self, text: &[u8], at: usize, mut starts: u64, search: &mut Search) {
        while starts != 0 {
            let place = at.wrapping_add(starts.trailing_zeros() as usize);
            starts &= starts.wrapping_sub(1);
            let Some(anchor) = text.get(place..).and_then(<[u8]>::first_chunk) else { return };
            search.steps = search.steps.saturating_sub(1);
            let mut left = self.tables.keys(*anchor) & !search.found;
            while left != 0 {
                let Some(key) = self.keys.get(left.trailing_zeros() as usize) else { return };
                search.steps = search.steps.saturating_sub(key.steps);
                if search.steps == 0 {
                    return;
                }
                if key.is_at(text, place) {
                    search.found |= left & left.wrapping_neg();
                }
                left &= left.wrapping_sub(1);
            }
        }
    }

    /// Searches for each key that has not been found.
    fn search_each(&self, text: &[u8], mut found: u64) -> u64 {
        for (key, bit) in &self.single {
            found |= if key.is_in(text) { *bit } else { 0 };
        }
        for (id, key) in self.keys.iter().enumerate() {
            let is_open = self.anchored_bits & bit(id) & !found != 0;
            found |= if is_open && memmem::find(text, &key.bytes).is_some() { bit(id) } else { 0 };
        }
        found
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let keys = self.keys.iter().map(|key| key.bytes.len());
        let single = self.single.iter().map(|(key, _)| key.needle().len());
        let lists = size_of_val(&*self.keys).saturating_add(size_of_val(&*self.single));
        keys.chain(single).fold(lists, usize::saturating_add)
    }
}

/// The bit of a key in results.
fn bit(id: usize) -> u64 {
    1_u64.wrapping_shl(id as u32)
}

/// The state of a search.
#[derive(Clone, Copy)]
struct Search {
    /// The keys found so far.
    found: u64,
    /// Steps of comparing that are left; with none left, the result may not be complete.
    steps: u64,
}
