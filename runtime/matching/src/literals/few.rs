//! Finds which of a few literals occur in a text, in one pass with vector instructions.
//!
//! Each key has an *anchor*: its three consecutive bytes that are rarest in texts of requests. A vector of text is looked up in tables of
//! half bytes, one lookup for each half of each byte of an anchor. The results, combined, say for each offset which of eight groups of keys
//! may have their anchor there; only those keys are compared. The method is known as Teddy, from Hyperscan.
//!
//! The number of comparisons is bounded by the length of the text. Where they do not suffice, the keys that were not found are searched for
//! one by one, so the time is always linear in the text.

use super::eight_bytes;
use super::rarity::{Rarity, windows};
use crate::search::Searcher;
use memchr::memmem;

/// Bytes of an anchor.
const ANCHOR: usize = 3;
/// An anchor is within this many bytes from the start of its key.
const ANCHOR_REGION: usize = 256;
/// Groups of keys: one bit each of a byte.
const GROUPS: usize = 8;
/// Bytes of a key that are compared in the time of one step.
const BYTES_PER_STEP: usize = 32;
/// Steps of comparing that are allowed whatever the length of the text, and the bytes of text that allow one more: comparing takes no more
/// than a small multiple of the time of the pass.
const MIN_STEPS: usize = 64;
const TEXT_PER_STEP: usize = 8;

/// Tells which of up to 64 literals occur in a text, as bits of one word.
///
/// Use it for a few literals in many short texts, where one word is the most useful result. A lookup takes time linear in the text; on a
/// processor with AVX2 it is one pass whatever the number of keys (keys of one or two bytes take a search each), on others it is a search
/// for each key. Use [`LiteralMap`](crate::LiteralMap) for more keys. Memory: the keys, and about 64 bytes for each.
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
    /// For each byte of an anchor, the groups that have it: by its lower half, then by its upper half.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "read by vector code"))]
    tables: [[u8; 16]; 2 * ANCHOR],
    /// Keys that are found by their anchors, those of one group next to each other.
    anchored: Box<[AnchoredKey]>,
    /// The bits of all these keys.
    anchored_bits: u64,
    /// Where the keys of each group begin, and the end of the last group.
    groups: [u8; GROUPS + 1],
    /// Keys that are searched for one by one, and their bits.
    single: Box<[SingleKey]>,
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
    /// The bit of the key in results.
    bit: u64,
}

impl AnchoredKey {
    fn new(bytes: Box<[u8]>, anchor: usize, bit: u64) -> Self {
        let missing = 8_usize.saturating_sub(bytes.len()).saturating_mul(8);
        let head_mask = u64::MAX.wrapping_shr(missing as u32);
        Self { head: eight_bytes(&bytes, 0), head_mask, bytes, anchor, bit }
    }

    /// Whether the key is in a text at this offset.
    #[inline]
    fn is_at(&self, text: &[u8], at: usize) -> bool {
        let Some(rest) = text.get(at..) else { return false };
        match rest.first_chunk() {
            Some(head) => {
                let same = (u64::from_le_bytes(*head) ^ self.head) & self.head_mask == 0;
                same && (self.bytes.len() <= 8 || rest.starts_with(&self.bytes))
            }
            None => rest.starts_with(&self.bytes),
        }
    }

    fn anchor_bytes(&self) -> &[u8] {
        self.bytes.get(self.anchor..).and_then(|rest| rest.get(..ANCHOR)).unwrap_or_default()
    }
}

impl FewLiterals {
    /// Most keys.
    pub const MAX_KEYS: usize = 64;

    /// Prepares keys, in time linear in their size. The bit of a key is its index. Returns `None` if there are more than
    /// [`MAX_KEYS`](Self::MAX_KEYS). An empty key is in every text.
    #[must_use]
    pub fn new<K: AsRef<[u8]>>(keys: &[K]) -> Option<Self> {
        Self::of(keys, has_vectors())
    }

    fn of<K: AsRef<[u8]>>(keys: &[K], vectors: bool) -> Option<Self> {
        if keys.len() > Self::MAX_KEYS {
            return None;
        }
        let rarity = Rarity::<false>::new(keys.iter().map(AsRef::as_ref), ANCHOR);
        let (mut anchored, mut single) = (Vec::new(), Vec::new());
        for (id, key) in (0_u32..).zip(keys) {
            let (bytes, bit): (Box<[u8]>, u64) = (key.as_ref().into(), 1_u64.wrapping_shl(id));
            let region = bytes.get(..ANCHOR_REGION).unwrap_or(&bytes);
            let rarest = windows(region, ANCHOR).map(|window| rarity.weight(window)).zip(0..).min();
            match rarest.filter(|_| vectors) {
                Some((_, anchor)) => anchored.push(AnchoredKey::new(bytes, anchor, bit)),
                None => single.push((Searcher::new(bytes), bit)),
            }
        }
        // Keys of equal anchors are in one group, which then has fewer other anchors.
        anchored.sort_by(|a, b| a.anchor_bytes().cmp(b.anchor_bytes()));
        let mut groups = [0_u8; GROUPS + 1];
        for (group, first) in groups.iter_mut().enumerate() {
            let before = group.saturating_mul(anchored.len()).wrapping_div(GROUPS);
            *first = u8::try_from(before).unwrap_or(u8::MAX);
        }
        let mut tables = [[0; 16]; 2 * ANCHOR];
        for (group, bounds) in (0_u32..).zip(groups.windows(2)) {
            let &[first, end] = bounds else { continue };
            let keys = anchored.get(usize::from(first)..usize::from(end)).unwrap_or_default();
            for (place, byte) in keys.iter().flat_map(|key| key.anchor_bytes().iter().enumerate()) {
                let halves =
                    [(place.saturating_mul(2), byte & 15), (place.saturating_mul(2).saturating_add(1), byte >> 4)];
                for (table, half) in halves {
                    if let Some(groups) = tables.get_mut(table).and_then(|table| table.get_mut(usize::from(half))) {
                        *groups |= 1_u8.wrapping_shl(group);
                    }
                }
            }
        }
        let anchored_bits = anchored.iter().fold(0, |bits, key| bits | key.bit);
        Some(Self { tables, anchored: anchored.into(), anchored_bits, groups, single: single.into() })
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

    /// Returns keys that occur in `text`, and whether they are all that do. For callers that bound the time of searches: this is one pass over
    /// the text, and comparisons whose number is bounded by its length. The result is not complete if more comparisons are needed, or if not
    /// [all keys](Self::is_one_pass) are found in one pass. A missing key may be in the text then.
    #[must_use]
    #[inline]
    pub fn find_in_one_pass(&self, text: &[u8]) -> (u64, bool) {
        if self.anchored.is_empty() || text.len() < ANCHOR {
            return (0, self.is_one_pass());
        }
        // SAFETY: keys are anchored only if the processor has these instructions; the text is not shorter than an anchor.
        #[cfg(target_arch = "x86_64")]
        let search = unsafe { x86::scan(self, text) };
        #[cfg(not(target_arch = "x86_64"))]
        let search = Search { found: 0, steps: 0 };
        let all = search.steps > 0 || self.has_all(&search);
        (search.found, all && self.is_one_pass())
    }

    /// Whether all keys that have an anchor were found.
    fn has_all(&self, search: &Search) -> bool {
        search.found == self.anchored_bits
    }

    /// Compares the keys that may have their anchor at one of the offsets. `starts` has a bit for each offset from `at` on at which a group may
    /// have an anchor, and `groups` has these groups.
    #[inline(never)]
    fn compare(&self, text: &[u8], at: usize, mut starts: u32, groups: &[u8; 32], search: &mut Search) {
        while starts != 0 {
            let start = starts.trailing_zeros() as usize;
            starts &= starts.wrapping_sub(1);
            let mut left = groups.get(start).copied().unwrap_or(0);
            while left != 0 {
                let group = left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                let Some([first, end]) = self.groups.get(group..).and_then(<[u8]>::first_chunk) else { continue };
                for key in self.anchored.get(usize::from(*first)..usize::from(*end)).unwrap_or_default() {
                    // A key that was found takes a step too: each turn takes time.
                    let wanted = search.found & key.bit == 0;
                    let bytes = if wanted { key.bytes.len() } else { 0 };
                    search.steps = search.steps.saturating_sub(bytes / BYTES_PER_STEP).saturating_sub(1);
                    if search.steps == 0 {
                        return;
                    }
                    let from = at.wrapping_add(start).checked_sub(key.anchor);
                    if wanted && from.is_some_and(|from| key.is_at(text, from)) {
                        search.found |= key.bit;
                        if self.has_all(search) {
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Searches for each key that has not been found.
    fn search_each(&self, text: &[u8], mut found: u64) -> u64 {
        for (key, bit) in &self.single {
            found |= if key.is_in(text) { *bit } else { 0 };
        }
        let keys = self.anchored.iter().filter(|key| found & key.bit == 0 && memmem::find(text, &key.bytes).is_some());
        keys.fold(found, |found, key| found | key.bit)
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let anchored = self.anchored.iter().map(|key| key.bytes.len());
        let single = self.single.iter().map(|(key, _)| key.needle().len());
        let lists = size_of_val(&*self.anchored).saturating_add(size_of_val(&*self.single));
        anchored.chain(single).fold(lists, usize::saturating_add)
    }
}

/// The state of a search.
struct Search {
    /// The keys found so far.
    found: u64,
    /// Steps of comparing that are left; with none left, the result may not be complete.
    steps: usize,
}

fn has_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return crate::search::has_avx2();
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{ANCHOR, FewLiterals, MIN_STEPS, Search, TEXT_PER_STEP};
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_and_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set_epi64x,
        _mm_set1_epi8, _mm_setzero_si128, _mm_shuffle_epi8, _mm_srli_epi16, _mm_srli_si128, _mm_storeu_si128,
        _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
        _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_storeu_si256,
    };

    /// Offsets that a long vector covers, and the bytes that are read for them.
    const LONG: usize = 32;
    const LONG_READ: usize = LONG + ANCHOR - 1;
    /// The same of a short vector.
    const SHORT: usize = 16;
    const SHORT_READ: usize = SHORT + ANCHOR - 1;

    /// Searches a text that is not shorter than an anchor.
    ///
    /// # Safety
    /// The processor has AVX2, BMI1 and BMI2.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) unsafe fn scan(keys: &FewLiterals, text: &[u8]) -> Search {
        let mut search = Search { found: 0, steps: MIN_STEPS.saturating_add(text.len() / TEXT_PER_STEP) };
        match text.len() {
            // SAFETY: the text has as many bytes as a block reads.
            LONG_READ.. => unsafe { long(keys, text, &mut search) },
            SHORT_READ.. => {
                let last = text.len().wrapping_sub(SHORT_READ);
                for at in [0, last] {
                    // SAFETY: both blocks end at the end of the text or before it.
                    let [a, b, c] = unsafe { [0, 1, 2].map(|next| load(text, at.wrapping_add(next))) };
                    short(keys, text, at, a, b, c, &mut search);
                }
            }
            SHORT.. => {
                for at in 0..=text.len().wrapping_sub(SHORT) {
                    // SAFETY: the text has as many bytes from `at` on.
                    let a = unsafe { load(text, at) };
                    short(keys, text, at, a, _mm_srli_si128::<1>(a), _mm_srli_si128::<2>(a), &mut search);
                }
            }
            _ => {
                let [low, high] = words(text);
                let a = _mm_set_epi64x(high.cast_signed(), low.cast_signed());
                short(keys, text, 0, a, _mm_srli_si128::<1>(a), _mm_srli_si128::<2>(a), &mut search);
            }
        }
        search
    }

    /// # Safety
    /// `text` has 16 bytes from `at` on.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    unsafe fn load(text: &[u8], at: usize) -> __m128i {
        // SAFETY: the contract.
        unsafe { _mm_loadu_si128(text.as_ptr().add(at).cast()) }
    }

    /// A text of 3 to 15 bytes as two words, with zeros after its end.
    #[inline(always)]
    fn words(text: &[u8]) -> [u64; 2] {
        let bits = |missing: usize| missing.wrapping_mul(8) as u32;
        let number = match (text.first_chunk(), text.last_chunk()) {
            (Some(first), Some(last)) => {
                let last = u128::from(u64::from_le_bytes(*last));
                u128::from(u64::from_le_bytes(*first)) | last.wrapping_shl(bits(text.len().wrapping_sub(8)))
            }
            _ => match (text.first_chunk(), text.last_chunk()) {
                (Some(first), Some(last)) => {
                    let last = u64::from(u32::from_le_bytes(*last));
                    (u64::from(u32::from_le_bytes(*first)) | last.wrapping_shl(bits(text.len().wrapping_sub(4)))).into()
                }
                _ => text.iter().rev().fold(0, |bytes, byte| bytes << 8 | u128::from(*byte)),
            },
        };
        [number as u64, (number >> 64) as u64]
    }

    /// Looks up the bytes of 16 offsets: `a` has those at the offsets, `b` and `c` those one and two after them.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    fn short(keys: &FewLiterals, text: &[u8], at: usize, a: __m128i, b: __m128i, c: __m128i, search: &mut Search) {
        let low = _mm_set1_epi8(15);
        // SAFETY: a table has 16 bytes.
        let table = |table: &[u8; 16]| unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
        let [a_low, a_high, b_low, b_high, c_low, c_high] = &keys.tables;
        let groups = |bytes: __m128i, lower: &[u8; 16], upper: &[u8; 16]| {
            let upper_half = _mm_and_si128(_mm_srli_epi16::<4>(bytes), low);
            let lower_half = _mm_and_si128(bytes, low);
            _mm_and_si128(_mm_shuffle_epi8(table(lower), lower_half), _mm_shuffle_epi8(table(upper), upper_half))
        };
        let all = _mm_and_si128(groups(a, a_low, a_high), groups(b, b_low, b_high));
        let all = _mm_and_si128(all, groups(c, c_low, c_high));
        let none = _mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_setzero_si128())).cast_unsigned();
        let starts = none ^ 0xffff;
        if starts != 0 {
            let mut groups = [0; 32];
            // SAFETY: there is room for 16 bytes.
            unsafe { _mm_storeu_si128(groups.as_mut_ptr().cast(), all) };
            keys.compare(text, at, starts, &groups, search);
        }
    }

    /// Looks up all offsets of a text, 32 at a time. The last block overlaps the one before.
    ///
    /// # Safety
    /// `text` has at least [`LONG_READ`] bytes.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline]
    unsafe fn long(keys: &FewLiterals, text: &[u8], search: &mut Search) {
        let low = _mm256_set1_epi8(15);
        // SAFETY: a table has 16 bytes.
        let table = |table: &[u8; 16]| unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) };
        let [a_low, a_high, b_low, b_high, c_low, c_high] =
            [0, 1, 2, 3, 4, 5].map(|n: usize| match keys.tables.get(n) {
                Some(bytes) => table(bytes),
                None => _mm256_setzero_si256(),
            });
        let groups = |bytes: __m256i, lower: __m256i, upper: __m256i| {
            let upper_half = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low);
            let lower_half = _mm256_and_si256(bytes, low);
            _mm256_and_si256(_mm256_shuffle_epi8(lower, lower_half), _mm256_shuffle_epi8(upper, upper_half))
        };
        let last = text.len().wrapping_sub(LONG_READ);
        let mut at = 0_usize;
        loop {
            // SAFETY: `at` is at most `last`, and the block that begins there ends with the text.
            let [a, b, c] =
                [0, 1, 2].map(|next| unsafe { _mm256_loadu_si256(text.as_ptr().add(at.wrapping_add(next)).cast()) });
            let all = _mm256_and_si256(groups(a, a_low, a_high), groups(b, b_low, b_high));
            let all = _mm256_and_si256(all, groups(c, c_low, c_high));
            let none = _mm256_movemask_epi8(_mm256_cmpeq_epi8(all, _mm256_setzero_si256())).cast_unsigned();
            if none != u32::MAX {
                let mut groups = [0; 32];
                // SAFETY: there is room for 32 bytes.
                unsafe { _mm256_storeu_si256(groups.as_mut_ptr().cast(), all) };
                keys.compare(text, at, !none, &groups, search);
                if search.steps == 0 || keys.has_all(search) {
                    return;
                }
            }
            if at == last {
                return;
            }
            at = at.wrapping_add(LONG).min(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Rng;

    fn right(keys: &[Vec<u8>], text: &[u8]) -> u64 {
        (0..).zip(keys).filter(|(_, key)| memmem::find(text, key).is_some()).fold(0, |all, (id, _)| all | 1_u64 << id)
    }

    /// Texts are copied to allocations of exactly their size, so that reading beyond their end is noticed by tools that look for it.
    fn check(keys: &[Vec<u8>], text: &[u8]) {
        let text: Box<[u8]> = text.into();
        for vectors in [true, false] {
            let found = FewLiterals::of(keys, vectors && has_vectors()).unwrap().find(&text);
            assert_eq!(found, right(keys, &text), "{keys:?} in {text:?}, vectors: {vectors}");
        }
    }

    #[test]
    fn agrees_with_a_search_for_each_key() {
        let mut rng = Rng::new(7);
        for alphabet in [&b"a"[..], b"ab", b"abc\0\xff", b"abcdefghijklmnopqrstuvwxyz/-.% "] {
            for most in [1, 3, 8, 9, 64] {
                for _ in 0..60 {
                    let mut keys: Vec<Vec<u8>> = (0..1 + rng.below(most)).map(|_| rng.text(9, alphabet)).collect();
                    keys.push([&rng.text(60, alphabet)[..], b"abc"].concat());
                    keys.truncate(64);
                    for _ in 0..20 {
                        let mut text = rng.text(120, alphabet);
                        if rng.below(2) == 0 {
                            let key = &keys[rng.below(keys.len())];
                            let at = rng.below(text.len() + 1);
                            text.splice(at..at, key.iter().copied());
                        }
                        check(&keys, &text);
                    }
                }
            }
        }
    }

    #[test]
    fn a_key_is_found_at_every_place_of_a_text_of_every_length() {
        for key in [&b"abc"[..], b"abcd", b"abcdefghijklmnop", b"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq"] {
            for before in 0..72 {
                for after in 0..40 {
                    let text = [&vec![b'.'; before][..], key, &vec![b'.'; after]].concat();
                    check(&[key.into(), b"zzz".into()], &text);
                }
            }
        }
    }

    #[test]
    fn wrong_comparisons_are_bounded() {
        // All keys have the same anchor, which is everywhere in the text, and differ at their ends only.
        let keys: Vec<Vec<u8>> = (0..64_u8).map(|n| [&[b'a'; 2_000][..], &[b'b' + n]].concat()).collect();
        let few = FewLiterals::new(&keys).unwrap();
        let text = [&vec![b'a'; 10_000][..], b"c"].concat();
        assert_eq!(few.find(&text), 2);
        assert_eq!(few.find_in_one_pass(&text), (0, false));
        let mut search = Search { found: 0, steps: 100 };
        few.compare(&text, 0, u32::MAX, &[u8::MAX; 32], &mut search);
        assert_eq!((search.found, search.steps), (0, if has_vectors() { 0 } else { 100 }));
    }

    #[test]
    fn keys_that_were_found_take_steps_too() {
        // All keys have the same anchor, which is everywhere in the text, and are in the text.
        let mut keys: Vec<String> = (3..65).map(|length| "z".repeat(length)).collect();
        let text = "z".repeat(30_000);
        let all = (1_u64 << 62) - 1;
        let few = FewLiterals::new(&keys).unwrap();
        assert!(few.anchored.iter().all(|key| key.anchor_bytes() == b"zzz"));
        assert_eq!((few.find(text.as_bytes()), few.find_in_one_pass(text.as_bytes()).1), (all, has_vectors()));
        // Another key keeps the search going.
        keys.push("absent".into());
        let few = FewLiterals::new(&keys).unwrap();
        let found = if has_vectors() { all } else { 0 };
        assert_eq!(few.find_in_one_pass(text.as_bytes()), (found, false));
        assert_eq!(few.find(text.as_bytes()), all);
        let mut search = Search { found: all, steps: 100 };
        few.compare(text.as_bytes(), 0, u32::MAX, &[u8::MAX; 32], &mut search);
        assert_eq!((search.found, search.steps), (all, if has_vectors() { 0 } else { 100 }));
    }

    #[test]
    fn only_so_many_keys_fit() {
        let keys = vec!["key"; 65];
        assert!(FewLiterals::new(&keys).is_none());
        assert_eq!(FewLiterals::new(&keys[..64]).unwrap().find(b"a key"), u64::MAX);
        assert_eq!(FewLiterals::new::<&str>(&[]).unwrap().find(b"a key"), 0);
        assert_eq!(FewLiterals::new(&["", "k", "no"]).unwrap().find(b"key"), 0b011);
    }
}
