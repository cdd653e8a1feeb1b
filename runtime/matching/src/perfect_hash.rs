//! Perfect hashing of a fixed set: every member has a slot of its own, and a lookup reads one number to find it.
//!
//! The upper bits of a hash select a bucket of a few members. Each bucket has a *pilot*, a number
//! that is combined with the lower bits so that no two members of the set get the same slot.

use std::cmp::{Ordering, Reverse};
use std::hash::{BuildHasher, RandomState};

/// Members of a bucket, on average, at most.
const BUCKET_MEMBERS: usize = 4;
/// Most members of one bucket. More occur only with members that were made to collide.
const MAX_BUCKET_MEMBERS: usize = 64;
/// Number of seeds that are tried.
const SEEDS: usize = 4;
/// Most slots that are tried for each member with one seed, on average over all members. Usually it takes a few.
const MAX_TRIES_PER_MEMBER: usize = 256;

/// What members are hashed with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seed {
    pub(crate) first: u64,
    pub(crate) second: u64,
}

impl Seed {
    /// Seeds that nobody knows who chooses members: made as those of the maps of the standard library are.
    pub(crate) fn random() -> impl Iterator<Item = Self> {
        let seed = || {
            let state = RandomState::new();
            Self { first: state.hash_one(1_u8), second: state.hash_one(2_u8) }
        };
        std::iter::repeat_with(seed).take(SEEDS)
    }

    /// The same seeds always: for members that a rule holds, so that equal rules take equal work.
    pub(crate) fn fixed() -> impl Iterator<Item = Self> {
        let first = (1_u64..).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        first.map(|first| Self { first, second: 0x243f_6a88_85a3_08d3 }).take(SEEDS)
    }
}

/// Which slot a hash leads to.
#[derive(Clone, Debug, Default)]
pub(crate) struct PerfectHash {
    /// What the members were hashed with.
    pub(crate) seed: Seed,
    /// A hash shifted right by this is the index of a bucket.
    shift: u32,
    /// Number of slots.
    slots: usize,
    /// Indexed by bucket.
    pilots: Box<[u32]>,
}

/// The number in a slot without a member.
pub(crate) const NO_MEMBER: u32 = u32::MAX;

/// A hash, and the number of the member that has it.
type Hashed = (u64, u32);

impl PerfectHash {
    /// Builds the hash of `count` members, in about linear time, and returns it with the number of the member in each
    /// slot. Members are known by their numbers: `hash` hashes one with a seed, and `compare` orders two. Repeated
    /// members get one slot. One slot in five has no member.
    ///
    /// Returns `None` if `hash` does not tell the members apart with any of the seeds, or if a `u32` can't number them.
    pub(crate) fn new(
        mut seeds: impl Iterator<Item = Seed>,
        count: usize,
        hash: impl Fn(Seed, u32) -> u64,
        compare: impl Fn(u32, u32) -> Ordering,
    ) -> Option<(Self, Vec<u32>)> {
        let count = u32::try_from(count).ok()?;
        seeds.find_map(|seed| {
            let hashed = (0..count).map(|member| (hash(seed, member), member));
            Self::of_hashes(hashed.collect(), seed, &compare)
        })
    }

    fn of_hashes(
        mut members: Vec<Hashed>,
        seed: Seed,
        compare: &impl Fn(u32, u32) -> Ordering,
    ) -> Option<(Self, Vec<u32>)> {
        let buckets = members.len().div_ceil(BUCKET_MEMBERS).next_power_of_two().max(2);
        let shift = 64_u32.saturating_sub(buckets.trailing_zeros());
        let mut grouped = in_order_of_buckets(&members, buckets, shift)?;
        let mut by_bucket = Vec::with_capacity(buckets);
        for group in grouped.chunk_by_mut(|(a, _), (b, _)| bucket(*a, shift) == bucket(*b, shift)) {
            group.sort_unstable_by_key(|(hash, _)| *hash);
            if have_equal_hashes(group) {
                members.sort_unstable_by(|(a, one), (b, other)| a.cmp(b).then_with(|| compare(*one, *other)));
                members.dedup_by(|(a, one), (b, other)| a == b && compare(*one, *other).is_eq());
                return if have_equal_hashes(&members) { None } else { Self::of_hashes(members, seed, compare) };
            }
            if share_low_words(group) {
                return None;
            }
            by_bucket.push(&*group);
        }
        // Large buckets first, while most slots are free.
        by_bucket.sort_by_key(|bucket| Reverse(bucket.len()));

        let count = members.len().checked_add(members.len().div_ceil(4))?.max(1);
        u32::try_from(count).ok()?;
        let mut slots = vec![NO_MEMBER; count];
        let mut pilots = vec![0; buckets];
        let mut tries_left = members.len().saturating_mul(MAX_TRIES_PER_MEMBER);
        let mut indices = Vec::new();
        for members in by_bucket {
            let pilot = find_pilot(members, &slots, &mut tries_left, &mut indices)?;
            for (&(hash, member), &at) in members.iter().zip(&indices) {
                *pilots.get_mut(bucket(hash, shift))? = pilot;
                *slots.get_mut(at)? = member;
            }
        }
        Some((Self { seed, shift, slots: count, pilots: pilots.into() }, slots))
    }

    /// The slot that a hash leads to: that of its member, or any. `None` if there are no slots.
    #[inline(always)]
    pub(crate) fn slot(&self, hash: u64) -> Option<usize> {
        let pilot = self.pilots.get(bucket(hash, self.shift))?;
        Some(slot_index(hash, *pilot, self.slots))
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.pilots)
    }
}

/// The bucket of a hash.
#[inline(always)]
fn bucket(hash: u64, shift: u32) -> usize {
    hash.wrapping_shr(shift) as usize
}

/// The slot, below `slots`, of a hash in a bucket with this pilot.
#[inline(always)]
fn slot_index(hash: u64, pilot: u32, slots: usize) -> usize {
    (u64::from(hash as u32 ^ pilot).wrapping_mul(slots as u64) >> 32) as usize
}

/// Whether two neighbours have the same hash.
fn have_equal_hashes(members: &[Hashed]) -> bool {
    members.windows(2).any(|two| matches!(two, [(a, _), (b, _)] if a == b))
}

/// Whether two members of a bucket have hashes with the same low word: no pilot leads them to two slots. Their finder
/// may have been looking for them, so that they are not searched for.
fn share_low_words(members: &[Hashed]) -> bool {
    let mut words: Vec<u32> = members.iter().map(|(hash, _)| *hash as u32).collect();
    words.sort_unstable();
    words.windows(2).any(|two| matches!(two, [a, b] if a == b))
}

/// The members of one bucket after those of another. Takes linear time, because the number of buckets is known.
fn in_order_of_buckets(members: &[Hashed], buckets: usize, shift: u32) -> Option<Vec<Hashed>> {
    let mut places = vec![0_usize; buckets];
    for (hash, _) in members {
        let count = places.get_mut(bucket(*hash, shift))?;
        *count = count.saturating_add(1);
    }
    let mut start = 0_usize;
    for place in &mut places {
        let count = std::mem::replace(place, start);
        start = start.saturating_add(count);
    }
    let mut ordered = members.to_vec();
    for member in members {
        let place = places.get_mut(bucket(member.0, shift))?;
        *ordered.get_mut(*place)? = *member;
        *place = place.saturating_add(1);
    }
    Some(ordered)
}

/// Returns a pilot with which each member of a bucket gets an empty slot of its own. The slots are stored in `indices`.
fn find_pilot(members: &[Hashed], slots: &[u32], tries_left: &mut usize, indices: &mut Vec<usize>) -> Option<u32> {
    if members.len() > MAX_BUCKET_MEMBERS {
        return None;
    }
    for number in 0_u32.. {
        let pilot = number.wrapping_mul(0x9e37_79b9);
        indices.clear();
        for (hash, _) in members {
            *tries_left = tries_left.checked_sub(1)?;
            let index = slot_index(*hash, pilot, slots.len());
            if *slots.get(index)? != NO_MEMBER || indices.contains(&index) {
                break;
            }
            indices.push(index);
        }
        if indices.len() == members.len() {
            return Some(pilot);
        }
    }
    None
}
