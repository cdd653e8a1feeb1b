//! A fixed set of texts, prepared for being asked often: a hash, two reads and one comparison, whatever the text.
//!
//! The hash is perfect: no two members have the same slot of the table. It is made of a text's ends and length, or of the
//! whole where the ends do not tell the members apart. Its upper bits number a group of a few members, whose *pilot*
//! leads them to slots that nobody else has. A slot keeps the member's ends and length, and where its other bytes lie.

mod build;
mod ends;

pub(crate) use ends::Ends;

/// The set. If `IGNORE_CASE`, the case of ASCII letters does not matter.
#[derive(Clone, Debug)]
pub struct ByteSet<const IGNORE_CASE: bool> {
    table: PerfectHashTable<IGNORE_CASE>,
    /// If not by their ends.
    fallback: Option<Fallback>,
}

/// How members are found that the ends do not tell apart.
#[derive(Clone, Debug)]
enum Fallback {
    /// In the table, by a hash of all bytes. The length is that of the longest member.
    Whole { longest: usize },
    /// Among all in order: no hash here tells these apart, which nobody has but who made them for it.
    Sorted(Box<[Box<[u8]>]>),
}

#[derive(Clone, Debug, Default)]
struct PerfectHashTable<const IGNORE_CASE: bool> {
    seed: u64,
    /// How far a hash is shifted to be the number of a group.
    shift: u32,
    /// By group.
    pilots: Box<[u32]>,
    slots: Box<[Slot<IGNORE_CASE>]>,
    /// What the ends don't tell of the members, one after the other.
    rests: Box<[u8]>,
}

#[derive(Clone, Copy, Debug)]
struct Slot<const IGNORE_CASE: bool> {
    ends: Ends<IGNORE_CASE>,
    /// [`NOBODY`] if there is no member.
    length: u32,
    /// Where the rest of the member lies.
    at: u32,
}

/// No length of a member.
const NOBODY: u32 = u32::MAX;

impl<const IGNORE_CASE: bool> ByteSet<IGNORE_CASE> {
    /// The set of these texts, in time and memory about linear in their size. If `IGNORE_CASE`, they are in small letters.
    pub fn new(members: impl IntoIterator<Item: AsRef<[u8]>>) -> Self {
        let members: Vec<_> = members.into_iter().collect();
        let mut members: Vec<&[u8]> = members.iter().map(AsRef::as_ref).collect();
        if let Some(table) =
            PerfectHashTable::new(&members, |seed, member| Ends::<IGNORE_CASE>::of(member).hash(member.len(), seed))
        {
            return Self { table, fallback: None };
        }
        if let Some(table) =
            PerfectHashTable::new(&members, |seed, member| Ends::<IGNORE_CASE>::of(member).hash_whole(member, seed))
        {
            let longest = members.iter().map(|member| member.len()).max().unwrap_or(0);
            return Self { table, fallback: Some(Fallback::Whole { longest }) };
        }
        members.sort_unstable();
        members.dedup();
        let sorted = members.into_iter().map(Into::into).collect();
        Self { table: PerfectHashTable::default(), fallback: Some(Fallback::Sorted(sorted)) }
    }

    /// Whether the text is a member.
    #[inline(always)]
    pub fn contains(&self, text: &[u8]) -> bool {
        self.find(Ends::of(text), text).is_some()
    }

    /// A number that the text, with these ends, has alone among the members, if it is one: less than
    /// [`places`](Self::places).
    #[inline(always)]
    pub(crate) fn find(&self, ends: Ends<IGNORE_CASE>, text: &[u8]) -> Option<usize> {
        if self.fallback.is_some() {
            return self.find_fallback(ends, text);
        }
        self.table.find(ends.hash(text.len(), self.table.seed), ends, text)
    }

    /// One more than the largest number that [`find`](Self::find) gives.
    pub(crate) fn places(&self) -> usize {
        match &self.fallback {
            Some(Fallback::Sorted(members)) => members.len(),
            _ => self.table.slots.len(),
        }
    }

    /// Bytes that the set holds on the heap.
    pub fn heap_bytes(&self) -> usize {
        let PerfectHashTable { pilots, slots, rests, .. } = &self.table;
        let table = [size_of_val(&**pilots), size_of_val(&**slots), size_of_val(&**rests)];
        let sorted = match &self.fallback {
            Some(Fallback::Sorted(members)) => {
                members.iter().map(|member| size_of_val(member).saturating_add(member.len())).sum()
            }
            _ => 0_usize,
        };
        table.into_iter().fold(sorted, usize::saturating_add)
    }

    /// Not inlined, as what is in the way of the usual case takes registers from it.
    #[inline(never)]
    fn find_fallback(&self, ends: Ends<IGNORE_CASE>, text: &[u8]) -> Option<usize> {
        match &self.fallback {
            Some(Fallback::Whole { longest }) => {
                let known = text.len() <= *longest;
                known.then(|| self.table.find(ends.hash_whole(text, self.table.seed), ends, text)).flatten()
            }
            Some(Fallback::Sorted(members)) => place_among::<IGNORE_CASE>(members, text),
            None => None,
        }
    }
}

impl<const IGNORE_CASE: bool> PerfectHashTable<IGNORE_CASE> {
    #[inline(always)]
    fn find(&self, hash: u64, ends: Ends<IGNORE_CASE>, text: &[u8]) -> Option<usize> {
        let pilot = self.pilots.get(group(hash, self.shift))?;
        let place = place(hash, *pilot, self.slots.len());
        let slot = self.slots.get(place)?;
        if slot.ends != ends || slot.length as usize != text.len() {
            return None;
        }
        (!IGNORE_CASE && text.len() <= 16 || self.goes_on(slot.at, text)).then_some(place)
    }

    /// Whether the rest of the member, which lies at a place, is that of the text, which has the same length and ends.
    #[inline(never)]
    fn goes_on(&self, at: u32, text: &[u8]) -> bool {
        let rest = rest::<IGNORE_CASE>(text);
        let own = self.rests.get(at as usize..).and_then(|from| from.get(..rest.len()));
        own.is_some_and(|own| same::<IGNORE_CASE>(own, rest))
    }
}

/// The group of the members with a hash.
#[inline(always)]
fn group(hash: u64, shift: u32) -> usize {
    hash.wrapping_shr(shift) as usize
}

/// The slot, of as many as said, to which the pilot leads a hash.
#[inline(always)]
fn place(hash: u64, pilot: u32, slots: usize) -> usize {
    (u64::from(hash as u32 ^ pilot).wrapping_mul(slots as u64) >> 32) as usize
}

/// What the ends don't tell of a text: no bytes or eight and more.
#[inline(always)]
fn rest<const IGNORE_CASE: bool>(text: &[u8]) -> &[u8] {
    if IGNORE_CASE {
        return text;
    }
    let Some(more @ 1..) = text.len().checked_sub(16) else { return &[] };
    text.get(more.min(8)..text.len().saturating_sub(8)).unwrap_or(text)
}

/// Whether the rests of two texts, of one length, are the same.
#[inline(always)]
fn same<const IGNORE_CASE: bool>(member: &[u8], text: &[u8]) -> bool {
    // Two words that overlap are all of it as a rule.
    let equal = match text.len() {
        ..8 => member == text,
        8..16 => same_ends::<8>(member, text),
        16..=32 => same_ends::<16>(member, text),
        33.. => member == text,
    };
    equal || IGNORE_CASE && member.eq_ignore_ascii_case(text)
}

#[inline(always)]
fn same_ends<const BYTES: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<BYTES>() == b.first_chunk() && a.last_chunk::<BYTES>() == b.last_chunk()
}

fn place_among<const IGNORE_CASE: bool>(members: &[Box<[u8]>], text: &[u8]) -> Option<usize> {
    let found = members.binary_search_by(|member| {
        let text = text.iter().map(|byte| if IGNORE_CASE { byte.to_ascii_lowercase() } else { *byte });
        member.iter().copied().cmp(text)
    });
    found.ok()
}

#[cfg(test)]
mod tests;
