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
    /// Builds the table of `members`, which `hash` hashes with a seed. Returns `None` if the hash does not tell them apart with
    /// any seed, or if they exceed 4 GiB.
    pub(super) fn new(members: &[&[u8]], hash: impl Fn(u64, &[u8]) -> u64) -> Option<Self> {
        let seeds = (1..=SEEDS).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        seeds.into_iter().find_map(|seed| {
            let hashes = members.iter().map(|member| (hash(seed, member), *member));
            Self::of_hashes(hashes.collect(), seed)
        })
    }

    fn of_hashes(mut members: Vec<(u64, &[u8])>, seed: u64) -> Option<Self> {
        members.sort_unstable_by_key(|(hash, _)| *hash);
        members.dedup();
        if members.windows(2).any(|two| matches!(two, [(a, _), (b, _)] if a == b)) {
            return None;
        }
        let buckets = members.len().div_ceil(BUCKET_MEMBERS).next_power_of_two().max(2);
        let shift = 64_u32.saturating_sub(buckets.trailing_zeros());
        let mut by_bucket: Vec<&[(u64, &[u8])]> =
            members.chunk_by(|(a, _), (b, _)| bucket(*a, shift) == bucket(*b, shift)).collect();
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
