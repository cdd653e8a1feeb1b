//! Building the table of a set: seeds are tried until a pilot is found for every bucket.

use super::{EMPTY, Ends, PerfectHashTable, Slot, bucket, rest, slot_index};

/// Members of a bucket, on average, at most.
const BUCKET_MEMBERS: usize = 4;
/// Most members of one bucket. More occur only with members that were made to collide.
const MAX_BUCKET_MEMBERS: usize = 64;
/// Number of seeds that are tried.
const SEEDS: u64 = 4;
/// Most slots that are tried for each member with one seed, on average over all members. Usually it takes a few.
const MAX_TRIES_PER_MEMBER: usize = 256;

impl<const IGNORE_CASE: bool> PerfectHashTable<IGNORE_CASE> {
    /// Builds the table of `members`, which `hash` hashes with a seed. Returns `None` if the hash
    /// does not tell them apart with any seed, or if they exceed 4 GiB.
    pub(super) fn new(members: &[&[u8]], hash: impl Fn(u64, &[u8]) -> u64) -> Option<Self> {
        let seeds = (1..=SEEDS).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        seeds.into_iter().find_map(|seed| {
            let hashes = members.iter().map(|member| (hash(seed, member), *member));
            Self::of_hashes(hashes.collect(), seed)
        })
    }

    fn of_hashes(mut members: Vec<(u64, &[u8])>, seed: u64) -> Option<Self> {
        let buckets = members.len().div_ceil(BUCKET_MEMBERS).next_power_of_two().max(2);
        let shift = 64_u32.saturating_sub(buckets.trailing_zeros());
        let mut grouped = in_order_of_buckets(&members, buckets, shift)?;
        let mut by_bucket = Vec::with_capacity(buckets);
        for group in grouped.chunk_by_mut(|(a, _), (b, _)| bucket(*a, shift) == bucket(*b, shift)) {
            group.sort_unstable_by_key(|(hash, _)| *hash);
            if have_equal_hashes(group) {
                members.sort_unstable();
                members.dedup();
                return if have_equal_hashes(&members) { None } else { Self::of_hashes(members, seed) };
            }
            by_bucket.push(&*group);
        }
        // Large buckets first, while most slots are free.
        by_bucket.sort_by_key(|bucket| std::cmp::Reverse(bucket.len()));

        // One slot in five stays empty.
        let count = members.len().checked_add(members.len().div_ceil(4))?.max(1);
        u32::try_from(count).ok()?;
        let mut slots = vec![Slot { ends: Ends::of(&[]), length: EMPTY, at: 0 }; count];
        let mut pilots = vec![0; buckets];
        let mut rests = Vec::with_capacity(members.iter().map(|(_, member)| rest::<IGNORE_CASE>(member).len()).sum());
        let mut tries_left = members.len().saturating_mul(MAX_TRIES_PER_MEMBER);
        let mut indices = Vec::new();
        for members in by_bucket {
            let pilot = find_pilot(members, &slots, &mut tries_left, &mut indices)?;
            for (&(hash, member), &at) in members.iter().zip(&indices) {
                *pilots.get_mut(bucket(hash, shift))? = pilot;
                let length = u32::try_from(member.len()).ok().filter(|length| *length != EMPTY)?;
                *slots.get_mut(at)? = Slot { ends: Ends::of(member), length, at: u32::try_from(rests.len()).ok()? };
                rests.extend_from_slice(rest::<IGNORE_CASE>(member));
            }
        }
        Some(Self { seed, shift, pilots: pilots.into(), slots: slots.into(), rests: rests.into() })
    }
}

/// Whether two neighbours have the same hash.
fn have_equal_hashes(members: &[(u64, &[u8])]) -> bool {
    members.windows(2).any(|two| matches!(two, [(a, _), (b, _)] if a == b))
}

/// The members of one bucket after those of another. Takes linear time, because the number of buckets is known.
fn in_order_of_buckets<'m>(members: &[(u64, &'m [u8])], buckets: usize, shift: u32) -> Option<Vec<(u64, &'m [u8])>> {
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
fn find_pilot<const IGNORE_CASE: bool>(
    members: &[(u64, &[u8])],
    slots: &[Slot<IGNORE_CASE>],
    tries_left: &mut usize,
    indices: &mut Vec<usize>,
) -> Option<u32> {
    if members.len() > MAX_BUCKET_MEMBERS {
        return None;
    }
    for number in 0_u32.. {
        let pilot = number.wrapping_mul(0x9e37_79b9);
        indices.clear();
        for (hash, _) in members {
            *tries_left = tries_left.checked_sub(1)?;
            let index = slot_index(*hash, pilot, slots.len());
            if slots.get(index)?.length != EMPTY || indices.contains(&index) {
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
