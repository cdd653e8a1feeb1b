//! A fixed set of byte strings in a table with a [perfect hash](crate::perfect_hash): a lookup is one hash, two reads
//! and one comparison.
//!
//! The hash covers a string's length, first eight and last eight bytes; it covers the whole string
//! only if the members can't be told apart otherwise. A slot holds the ends of its member, its
//! length, and where its remaining bytes are stored.

mod ends;

use crate::perfect_hash::{NO_MEMBER, PerfectHash, Seed};
pub(crate) use ends::{Ends, same};

/// A fixed set of byte strings. With `IGNORE_CASE`, ASCII letters match in either case.
///
/// A lookup takes a few nanoseconds, independent of the number of members; strings of more than 16
/// bytes are compared whole if a member has the same ends. Memory: about 32 bytes for each member,
/// and the bytes of members longer than 16.
///
/// ```
/// use celero_matching::ByteSet;
///
/// let methods = ByteSet::<false>::new(["GET", "HEAD", "OPTIONS"]);
/// assert!(methods.contains(b"GET") && !methods.contains(b"get"));
///
/// let names = ByteSet::<true>::new(["content-type", "host"]); // given in lower case
/// assert!(names.contains(b"Content-Type"));
/// ```
#[derive(Clone, Debug)]
pub struct ByteSet<const IGNORE_CASE: bool> {
    table: PerfectHashTable<IGNORE_CASE>,
    /// How members are found if their ends do not tell them apart.
    fallback: Option<Fallback>,
}

/// How members are found whose ends do not tell them apart.
#[derive(Clone, Debug)]
enum Fallback {
    /// In the table, with a hash of all bytes. `longest` is the length of the longest member, in bytes.
    Whole { longest: usize },
    /// Sorted, with a binary search: their hashes collide with every seed that was tried.
    Sorted(Box<[Box<[u8]>]>),
}

#[derive(Clone, Debug, Default)]
struct PerfectHashTable<const IGNORE_CASE: bool> {
    hash: PerfectHash,
    slots: Box<[Slot<IGNORE_CASE>]>,
    /// The bytes of the members that their ends do not hold, one member after the other.
    rests: Box<[u8]>,
}

#[derive(Clone, Copy, Debug)]
struct Slot<const IGNORE_CASE: bool> {
    ends: Ends<IGNORE_CASE>,
    /// Length of the member in bytes, or [`EMPTY`].
    length: u32,
    /// Offset of the member's remaining bytes in `rests`.
    at: u32,
}

/// The length in a slot without a member.
const EMPTY: u32 = u32::MAX;

impl<const IGNORE_CASE: bool> ByteSet<IGNORE_CASE> {
    /// Builds the set of `members`, in time and memory about linear in their size. Repeated members count once.
    ///
    /// With `IGNORE_CASE`, give the members in lower case: others are never found.
    #[must_use]
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

    /// Returns whether `text` is a member.
    #[must_use]
    #[inline(always)]
    pub fn contains(&self, text: &[u8]) -> bool {
        self.find(Ends::of(text), text).is_some()
    }

    /// Returns the slot of `text`, which has these ends, if it is a member: a number below
    /// [`slots`](Self::slots) that no other member has.
    #[inline(always)]
    pub(crate) fn find(&self, ends: Ends<IGNORE_CASE>, text: &[u8]) -> Option<usize> {
        if self.fallback.is_some() {
            return self.find_fallback(ends, text);
        }
        self.table.find(ends.hash(text.len(), self.table.hash.seed), ends, text)
    }

    /// Upper bound of the slots that [`find`](Self::find) returns, exclusive.
    pub(crate) fn slots(&self) -> usize {
        match &self.fallback {
            Some(Fallback::Sorted(members)) => members.len(),
            _ => self.table.slots.len(),
        }
    }

    /// Bytes held on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let PerfectHashTable { hash, slots, rests } = &self.table;
        let table = [hash.heap_bytes(), size_of_val(&**slots), size_of_val(&**rests)];
        let sorted = match &self.fallback {
            Some(Fallback::Sorted(members)) => {
                members.iter().map(|member| size_of_val(member).saturating_add(member.len())).sum()
            }
            _ => 0_usize,
        };
        table.into_iter().fold(sorted, usize::saturating_add)
    }

    /// Not inlined: inlined, it would take registers from the usual case.
    #[inline(never)]
    fn find_fallback(&self, ends: Ends<IGNORE_CASE>, text: &[u8]) -> Option<usize> {
        match &self.fallback {
            Some(Fallback::Whole { longest }) => {
                let known = text.len() <= *longest;
                known.then(|| self.table.find(ends.hash_whole(text, self.table.hash.seed), ends, text)).flatten()
            }
            Some(Fallback::Sorted(members)) => find_sorted::<IGNORE_CASE>(members, text),
            None => None,
        }
    }
}

impl<const IGNORE_CASE: bool> PerfectHashTable<IGNORE_CASE> {
    /// Builds the table of `members`, which `hash` hashes with a seed. Returns `None` if the hash
    /// does not tell them apart with any seed, or if they exceed 4 GiB.
    fn new(members: &[&[u8]], hash: impl Fn(Seed, &[u8]) -> u64) -> Option<Self> {
        let member = |number: u32| members.get(number as usize).copied().unwrap_or_default();
        let (hash, numbers) = PerfectHash::new(
            Seed::fixed(),
            members.len(),
            |seed, number| hash(seed, member(number)),
            |one, other| member(one).cmp(member(other)),
        )?;
        let mut rests = Vec::with_capacity(members.iter().map(|member| rest::<IGNORE_CASE>(member).len()).sum());
        let mut slots = Vec::with_capacity(numbers.len());
        for number in numbers {
            if number == NO_MEMBER {
                slots.push(Slot { ends: Ends::of(&[]), length: EMPTY, at: 0 });
                continue;
            }
            let member = member(number);
            let length = u32::try_from(member.len()).ok().filter(|length| *length != EMPTY)?;
            slots.push(Slot { ends: Ends::of(member), length, at: u32::try_from(rests.len()).ok()? });
            rests.extend_from_slice(rest::<IGNORE_CASE>(member));
        }
        Some(Self { hash, slots: slots.into(), rests: rests.into() })
    }

    #[inline(always)]
    fn find(&self, hash: u64, ends: Ends<IGNORE_CASE>, text: &[u8]) -> Option<usize> {
        let index = self.hash.slot(hash)?;
        let slot = self.slots.get(index)?;
        if slot.ends != ends || slot.length as usize != text.len() {
            return None;
        }
        (!IGNORE_CASE && text.len() <= 16 || self.rest_equals(slot.at, text)).then_some(index)
    }

    /// Whether the remaining bytes of the member, stored from `at` on, equal those of `text`, which
    /// has the same length and ends.
    #[inline(never)]
    fn rest_equals(&self, at: u32, text: &[u8]) -> bool {
        let rest = rest::<IGNORE_CASE>(text);
        let own = self.rests.get(at as usize..).and_then(|from| from.get(..rest.len()));
        own.is_some_and(|own| same::<IGNORE_CASE>(own, rest))
    }
}

/// The bytes of a text that its ends do not hold: none, or eight or more. With `IGNORE_CASE` the
/// whole text, since folded ends also agree for some bytes that are not letters.
#[inline(always)]
fn rest<const IGNORE_CASE: bool>(text: &[u8]) -> &[u8] {
    if IGNORE_CASE {
        return text;
    }
    let Some(more @ 1..) = text.len().checked_sub(16) else { return &[] };
    text.get(more.min(8)..text.len().saturating_sub(8)).unwrap_or(text)
}

fn find_sorted<const IGNORE_CASE: bool>(members: &[Box<[u8]>], text: &[u8]) -> Option<usize> {
    let found = members.binary_search_by(|member| {
        let text = text.iter().map(|byte| if IGNORE_CASE { byte.to_ascii_lowercase() } else { *byte });
        member.iter().copied().cmp(text)
    });
    found.ok()
}

#[cfg(test)]
mod tests;
