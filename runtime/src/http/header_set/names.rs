//! A set of texts, prepared for asking about names most of which are not in it. Letters are the same in both cases.
//!
//! A hash of a name's ends and length, or of the whole where the ends do not tell the members apart, gives its slot in a
//! table with many more slots than members. As a rule the slot is empty, and that was all; otherwise it gives the first of
//! the members with this hash, of which there are a few at most, whoever chose the name: the seed is tried out beforehand.

/// Bits that make a letter of ASCII a small one. What it does to other bytes does not matter to a hash.
const SMALL: u64 = 0x2020_2020_2020_2020;

/// So many slots for a member, so that few names share one.
const SLOTS_PER_MEMBER: usize = 16;
/// So many seeds are tried for each way to hash.
const SEEDS: u64 = 64;
/// Members that share a slot: with more of them the whole name is hashed.
const MOST_IN_A_SLOT: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hashed {
    Ends,
    Whole,
}

/// The ends of a name of a given length; members are the same if these and the bytes between are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    first: u64,
    last: u64,
}

impl Ends {
    /// The first and the last eight bytes; of a shorter name pieces that overlap.
    #[inline(always)]
    pub(super) fn of(name: &[u8]) -> Self {
        let (first, last) = if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
            (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
        } else if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
            (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into())
        } else {
            let byte = |at: Option<&u8>| u64::from(at.copied().unwrap_or(0));
            (byte(name.first()), byte(name.get(1)) << 8 | byte(name.last()))
        };
        Self { first: first | SMALL, last: last | SMALL }
    }

    /// The first eight bytes.
    #[inline(always)]
    pub(super) fn first(self) -> u64 {
        self.first
    }
}

#[derive(Clone, Debug)]
struct Member {
    ends: Ends,
    name: Box<[u8]>,
    /// Whether the next member has the same slot.
    more: bool,
}

/// The set.
#[derive(Clone, Debug)]
pub(super) struct Names {
    hashed: Hashed,
    seed: u64,
    /// How far a hash is shifted to be the number of a slot.
    shift: u32,
    /// For each slot the number of its first member, counted from 1.
    slots: Box<[u16]>,
    members: Box<[Member]>,
}

impl Names {
    /// The set of these names, fewer than 65,536, in small letters and each given once.
    pub(super) fn new(names: Vec<Box<[u8]>>) -> Self {
        let count = names.len().saturating_mul(SLOTS_PER_MEMBER).next_power_of_two().max(64);
        let shift = 64_u32.saturating_sub(count.trailing_zeros());
        let tries = [Hashed::Ends, Hashed::Whole]
            .map(|hashed| (0..SEEDS).map(move |n| (hashed, n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)));
        let mut best = (usize::MAX, Hashed::Ends, 1);
        for (hashed, seed) in tries.into_iter().flatten() {
            if hashed == Hashed::Whole && best.0 <= MOST_IN_A_SLOT {
                break;
            }
            let mut held = vec![0_usize; count];
            for name in &names {
                if let Some(held) = held.get_mut(slot(hashed, seed, shift, Ends::of(name), name)) {
                    *held = held.saturating_add(1);
                }
            }
            let most = held.into_iter().max().unwrap_or(0);
            if most < best.0 {
                best = (most, hashed, seed);
            }
            if most <= 1 {
                break;
            }
        }
        let (_, hashed, seed) = best;
        let mut placed: Vec<(usize, Box<[u8]>)> =
            names.into_iter().map(|name| (slot(hashed, seed, shift, Ends::of(&name), &name), name)).collect();
        placed.sort();
        let mut slots = vec![0_u16; count];
        for ((at, _), number) in placed.iter().zip(1..=u16::MAX) {
            if let Some(slot @ 0) = slots.get_mut(*at) {
                *slot = number;
            }
        }
        let following: Vec<bool> = placed.windows(2).map(|two| matches!(two, [(a, _), (b, _)] if a == b)).collect();
        let members = placed.into_iter().zip(following.into_iter().chain(std::iter::once(false)));
        let members = members.map(|((_, name), more)| Member { ends: Ends::of(&name), name, more }).collect();
        Self { hashed, seed, shift, slots: slots.into(), members }
    }

    /// Whether the name, with these ends, is in the set.
    #[inline(always)]
    pub(super) fn contains(&self, ends: Ends, name: &[u8]) -> bool {
        let slot = slot(self.hashed, self.seed, self.shift, ends, name);
        let number = self.slots.get(slot).copied().unwrap_or(0);
        number != 0 && self.is_member(usize::from(number), ends, name)
    }

    fn is_member(&self, number: usize, ends: Ends, name: &[u8]) -> bool {
        for member in self.members.iter().skip(number.saturating_sub(1)) {
            if member.ends == ends && same(&member.name, name) {
                return true;
            }
            if !member.more {
                break;
            }
        }
        false
    }
}

fn same(member: &[u8], name: &[u8]) -> bool {
    member == name || member.eq_ignore_ascii_case(name)
}

#[inline(always)]
fn slot(hashed: Hashed, seed: u64, shift: u32, ends: Ends, name: &[u8]) -> usize {
    let hash = match hashed {
        Hashed::Ends => ends.first ^ ends.last.rotate_left(29),
        Hashed::Whole => whole(ends, seed, name),
    };
    let length = name.len() as u64;
    let mixed = mix(hash.wrapping_add(length), seed | 1);
    mixed.wrapping_shr(shift) as usize
}

/// A product's halves, one over the other: each bit of it depends on all of both.
#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a).wrapping_mul(u128::from(b ^ 0x243f_6a88_85a3_08d3));
    (product as u64) ^ ((product >> 64) as u64)
}

fn whole(ends: Ends, seed: u64, name: &[u8]) -> u64 {
    let (chunks, _) = name.as_chunks();
    let hash =
        chunks.iter().fold(seed, |hash, chunk| mix(hash ^ (u64::from_le_bytes(*chunk) | SMALL), 0x1319_8a2e_0370_7344));
    mix(hash ^ ends.first, 0xa409_3822_299f_31d0) ^ ends.last
}
