//! Finds all literals that occur in a text.
//!
//! The usual search uses no automaton. Each key has an *anchor*: a few consecutive bytes of it that
//! are rare in texts and shared with few other keys. A scan reads *windows* of up to four bytes of
//! the text at a fixed stride, and asks a filter, a table indexed by hash, whether an anchor
//! contains the window. An anchor is long enough that, wherever it is in the text, one of its
//! windows is read: with windows of four bytes and a stride of four it has seven bytes. The hashes
//! of the anchors around a window that passes the filter ask a second one, which few wrong anchors
//! pass. Only then are anchors looked up, by a hash with a *fingerprint*, and their keys compared.
//! Each of these steps is taken for a block of windows at a time, so that what one finds decides no
//! branch of the step before. So the cost of a scan hardly depends on the number of keys.
//!
//! Keys too short for such an anchor have shorter ones, and a scan with a smaller stride: see
//! [`AnchorLayout`]. If that reads windows of four bytes too, it finds the long keys as well.
//!
//! Where the processor has vector instructions, one pass with them looks for the anchors of most
//! maps, whatever the lengths of the keys: see [`first_stage`]. Which keys are left to scans by
//! hash depends on their number: see [`Plan`](build).
//!
//! Verification up to a place in the text may take one step for each byte before the place: see
//! [`Steps`]. Where that does not suffice (only keys made for it need more, or very many short
//! ones), an [`automaton`] searches the text from there on, in at most two steps for each byte, and
//! a second one does if the case of some keys counts and that of others does not. So the passes and
//! the verification take at most two steps for each byte, the automata at most four, and both are
//! needed only for some hundred bytes before that place, and for the first part of a text. Several
//! passes search the text in parts, so that they are at about the same place when no steps are
//! left.
//!
//! Invariant: a search takes time linear in the length of the text, for every text and every set of keys. Test:
//! `runtime/matching/src/literals/hostile_tests.rs::no_keys_and_text_cost_much_more_than_usual_ones`.

mod automaton;
mod build;
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "most of it is for the vector code of x86-64"))]
mod few;
mod filter;
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "most of it is for the vector code of x86-64"))]
mod first_stage;
mod level;
mod rarity;
mod scan;
mod single_bytes;
mod steps;
#[cfg(target_arch = "x86_64")]
mod vector;

use automaton::Automaton;
pub use few::FewLiterals;
use filter::Filter;
use first_stage::{BLOCK, FirstStage, LENGTHS};
pub use level::LiteralLevel;
use single_bytes::{SingleByte, SingleBytes};
use std::ops::ControlFlow;
use std::sync::OnceLock;
use steps::{End, Steps};

/// Finds all literals that occur in a text. With `IGNORE_CASE`, ASCII letters match in either case.
///
/// A lookup takes time linear in the text, whatever the text and the keys. With AVX-512, up to
/// 1,536 keys take one pass with vector instructions; with AVX2, up to 64 do (48 if all have seven
/// bytes or more), and with SSSE3, up to 64 unless all have seven bytes or more. Otherwise long
/// keys take a scan that reads a quarter of the text's windows, and keys of up to six bytes take up
/// to two more scans; that for keys of five and six bytes reads half of the windows, and finds the
/// long ones as well. Memory: about 38 bytes for each key and the keys themselves, plus filters of
/// at most 256 KiB each.
///
/// Keys that match in either case and keys that match only in their own are found in one search by
/// [`with_exact`](Self::with_exact): it looks for the anchors of all without regard to case, and
/// compares each key as it wants.
///
/// Keys that share most of their bytes, or very many short keys, can make a lookup search the rest
/// of the text with automata. It takes at most four steps for each byte of the text then, where a
/// usual one takes one for each pass, and up to about a thousand steps more, whatever the length of
/// the text. The first such lookup builds the automata, in time and memory linear in the keys (14
/// bytes for each of their bytes). Every lookup that uses them allocates one bit for each key.
///
/// ```
/// use celero_matching::LiteralMap;
///
/// let bots = LiteralMap::<true>::new(&["curl/", "googlebot", "python-requests"]).ok_or("more than 4 GiB")?;
/// let mut found = Vec::new();
/// bots.for_each(b"Mozilla/5.0 (compatible; Googlebot/2.1)", |id| found.push(id));
/// assert_eq!(found, [1]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct LiteralMap<const IGNORE_CASE: bool> {
    /// The keys, one after the other.
    bytes: Box<[u8]>,
    /// Length of the shortest key that is not empty. A shorter text has none.
    shortest_key: usize,
    /// The keys that are looked for with vector instructions.
    vector: Option<Box<VectorPass<IGNORE_CASE>>>,
    /// For long, medium and short keys of the others; only those that have keys.
    scans: Box<[(Filter<IGNORE_CASE>, Scan<IGNORE_CASE>)]>,
    /// Keys of one byte.
    single: SingleBytes,
    /// The keys of more than one byte, once a lookup needed too many steps.
    automata: OnceLock<Box<Automata>>,
}

/// The search without steps of verification.
#[derive(Clone, Debug)]
struct Automata {
    /// The keys whose case counts.
    exact: Automaton,
    others: Automaton,
    /// A key whose anchor is not verified begins at most this many bytes before the place where verification ended.
    before: usize,
}

/// Keys that one pass with vector instructions looks for.
#[derive(Clone, Debug)]
struct VectorPass<const IGNORE_CASE: bool> {
    stage: FirstStage,
    /// For anchors of four bytes, of three and of two.
    scans: [Scan<IGNORE_CASE>; LENGTHS],
}

/// Keys with anchors of one length, by their anchors.
#[derive(Clone, Debug)]
struct Scan<const IGNORE_CASE: bool> {
    layout: AnchorLayout,
    /// See [`AnchorLayout::bits_after_anchor`].
    bits_after_anchor: u32,
    /// Indexed by the upper bits of an anchor's hash: the first entry of the bucket. One more marks
    /// the end of the last bucket.
    buckets: Box<[u32]>,
    bucket_shift: u32,
    entries: Box<[AnchorEntry]>,
    /// Bits indexed by the upper bits of an anchor's hash: whether a key has it. Far smaller than
    /// the entries, so that most anchors that no key has are found out without reading these.
    present: Box<[u64]>,
    present_shift: u32,
}

/// The lengths of windows and anchors, and the stride of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AnchorLayout {
    /// Length of a window in bytes: two to four.
    window: usize,
    /// Distance in bytes between the windows that are read. An anchor contains as many windows,
    /// each one byte after the other.
    stride: Stride,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stride {
    One,
    Two,
    Four,
}

#[derive(Clone, Copy, Debug)]
struct AnchorEntry {
    /// Up to eight bytes of the key from its anchor on, with zeros after its end. With letters in
    /// one case if case is ignored.
    head: u64,
    /// The key's id.
    id: u32,
    /// Offset of the key in [`LiteralMap::bytes`].
    at: u32,
    /// Length of the key, in bytes.
    length: u32,
    /// Offset of the anchor in the key.
    anchor: u16,
    /// Whether the case of letters counts, although it does not in the search for anchors.
    exact: bool,
}

/// Setting these bits turns ASCII letters to lower case. It changes other bytes too, which a hash may ignore.
const LOWER_CASE: u64 = 0x2020_2020_2020_2020;

impl<const IGNORE_CASE: bool> LiteralMap<IGNORE_CASE> {
    /// Calls `hit` with the id of each key that occurs in `text`, in no particular order, once or more for each key.
    #[inline]
    pub fn for_each(&self, text: &[u8], mut hit: impl FnMut(u32)) {
        self.for_each_place(text, |id, _| hit(id));
    }

    /// As [`for_each`](Self::for_each), for each place where a key occurs, with its offset in the
    /// text. Without an offset, the key occurs in places that were not reported.
    #[inline]
    pub(crate) fn for_each_place(&self, text: &[u8], mut hit: impl FnMut(u32, Option<usize>)) {
        let _ = self.search::<false>(text, |id, place| {
            hit(id, place);
            ControlFlow::Continue(())
        });
    }

    /// As [`for_each`](Self::for_each), until `hit` returns `Break`. Returns what it returned last.
    /// Use it where some match decides: the rest of the text is not searched.
    #[inline]
    pub fn try_for_each(&self, text: &[u8], mut hit: impl FnMut(u32) -> ControlFlow<()>) -> ControlFlow<()> {
        self.search::<true>(text, |id, _| hit(id))
    }

    /// Calls `hit` for each place where a key occurs, until it breaks. `MAY_END` if it may: then
    /// the start of the text is searched before the rest.
    #[inline]
    fn search<const MAY_END: bool>(
        &self,
        text: &[u8],
        mut hit: impl FnMut(u32, Option<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if text.len() < self.shortest_key {
            return ControlFlow::Continue(());
        }
        match self.scan_within::<MAY_END>(text, &mut Steps::new(), &mut hit) {
            Ok(()) => ControlFlow::Continue(()),
            Err(End::Stopped) => ControlFlow::Break(()),
            Err(End::OutOfSteps(at)) => self.search_linear(text, at, |id| hit(id, None)).0,
        }
    }

    /// Returns whether any key occurs in `text`. The search ends at the first.
    #[must_use]
    #[inline]
    pub fn any(&self, text: &[u8]) -> bool {
        self.try_for_each(text, |_| ControlFlow::Break(())).is_break()
    }

    /// Searches for all keys that a scan has not found which ran out of steps at offset `at`, in
    /// time linear in the text whatever the keys. Also returns the number of steps of the automata.
    #[cold]
    #[inline(never)]
    fn search_linear(
        &self,
        text: &[u8],
        at: usize,
        mut hit: impl FnMut(u32) -> ControlFlow<()>,
    ) -> (ControlFlow<()>, usize) {
        if self.single.search(text, &mut hit).is_break() {
            return (ControlFlow::Break(()), 0);
        }
        let Automata { exact, others, before } = &**self.automata.get_or_init(|| Box::new(self.automata()));
        let rest = text.get(at.saturating_sub(*before)..).unwrap_or_default();
        let (end, steps) = exact.search(rest, |byte| byte, &mut hit);
        if end.is_break() {
            return (end, steps);
        }
        let (end, more) = others.search(rest, |byte| byte.to_ascii_lowercase(), hit);
        (end, steps.saturating_add(more))
    }

    fn automata(&self) -> Automata {
        let entries = || self.all_scans().flat_map(|scan| &scan.entries);
        let automaton = |exact| {
            let key =
                |entry: &AnchorEntry| part(&self.bytes, entry.at as usize, entry.length as usize).zip(Some(entry.id));
            Automaton::new(entries().filter(|entry| entry.exact == exact).filter_map(key).collect())
        };
        let before = entries().map(|entry| usize::from(entry.anchor)).max().unwrap_or(0).saturating_add(BLOCK);
        Automata { exact: automaton(true), others: automaton(false), before }
    }

    fn all_scans(&self) -> impl Iterator<Item = &Scan<IGNORE_CASE>> {
        let vector = self.vector.iter().flat_map(|pass| &pass.scans);
        vector.chain(self.scans.iter().map(|(_, scan)| scan))
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let parts = [self.bytes.len(), size_of_val(&*self.scans), self.single.heap_bytes()];
        let of_scan = |scan: &Scan<IGNORE_CASE>| {
            [size_of_val(&*scan.buckets), size_of_val(&*scan.entries), size_of_val(&*scan.present)]
        };
        let filters = self.scans.iter().map(|(filter, _)| filter.heap_bytes());
        let vector = self.vector.iter().map(|pass| size_of_val(&**pass).saturating_add(pass.stage.heap_bytes()));
        let of_automata = |Automata { exact, others, .. }: &Automata| {
            exact.heap_bytes().saturating_add(others.heap_bytes()).saturating_add(size_of::<Automata>())
        };
        let automata = self.automata.get().map(|automata| of_automata(automata));
        let more = self.all_scans().flat_map(of_scan).chain(filters).chain(vector).chain(automata);
        parts.into_iter().chain(more).fold(0, usize::saturating_add)
    }
}

impl AnchorEntry {
    /// Whether the bytes of the key from its anchor on, up to eight, may be the first of `bytes`.
    /// Without `IGNORE_CASE`, whether they are.
    #[inline(always)]
    fn may_be<const IGNORE_CASE: bool>(&self, bytes: u64) -> bool {
        let lower_case = if IGNORE_CASE { LOWER_CASE } else { 0 };
        let known = self.length.wrapping_sub(self.anchor.into()).min(8);
        let after = 64_u32.wrapping_sub(known.wrapping_mul(8));
        ((bytes | lower_case) ^ self.head).wrapping_shl(after) == 0
    }
}

impl<const IGNORE_CASE: bool> Scan<IGNORE_CASE> {
    /// Whether an anchor of this hash may be a key's.
    #[inline(always)]
    fn may_have(&self, hash: u64) -> bool {
        let place = hash.wrapping_shr(self.present_shift);
        let word = self.present.get(place.wrapping_shr(6) as usize).copied().unwrap_or(0);
        word.wrapping_shr(place as u32) & 1 != 0
    }

    /// The entries of the anchors whose hashes share their upper bits with `hash`.
    #[inline(always)]
    fn bucket(&self, hash: u64) -> &[AnchorEntry] {
        let bucket = self.buckets.get(hash.wrapping_shr(self.bucket_shift) as usize..);
        let Some([from, to]) = bucket.and_then(<[u32]>::first_chunk) else { return &[] };
        self.entries.get(*from as usize..*to as usize).unwrap_or_default()
    }
}

impl AnchorLayout {
    /// Length of an anchor, in bytes.
    fn anchor_bytes(self) -> usize {
        self.window.wrapping_add(self.windows()).wrapping_sub(1)
    }

    /// Of the eight bytes from the start of an anchor, the number of bits after the anchor.
    fn bits_after_anchor(self) -> u32 {
        64_u32.saturating_sub((self.anchor_bytes() as u32).wrapping_mul(8))
    }

    /// Number of windows in an anchor.
    fn windows(self) -> usize {
        match self.stride {
            Stride::One => 1,
            Stride::Two => 2,
            Stride::Four => 4,
        }
    }
}

/// The hash of an anchor: of the eight bytes from its start, without the last `after` bits. The
/// upper bits of the hash select a bucket, the lower ones are the fingerprint.
#[inline(always)]
fn hash_of_anchor<const IGNORE_CASE: bool>(bytes: u64, after: u32) -> u64 {
    let lower_case = if IGNORE_CASE { LOWER_CASE } else { 0 };
    let product = u128::from((bytes | lower_case).wrapping_shl(after)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product >> 64) as u64 ^ product as u64
}

/// The eight bytes of `text` from offset `at` on, with zeros after its end.
#[inline(always)]
fn eight_bytes(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    match (rest.first_chunk(), text.last_chunk()) {
        (Some(bytes), _) => u64::from_le_bytes(*bytes),
        (None, Some(last)) => {
            let missing = 8_usize.wrapping_sub(rest.len()).wrapping_mul(8);
            u64::from_le_bytes(*last).checked_shr(missing as u32).unwrap_or(0)
        }
        (None, None) => rest.iter().rev().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte)),
    }
}

#[inline(always)]
fn part(of: &[u8], start: usize, length: usize) -> Option<&[u8]> {
    of.get(start..start.wrapping_add(length))
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
