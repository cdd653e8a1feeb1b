//! How the table of a set is made: seeds are tried until every group finds a pilot.

use super::{Ends, NOBODY, PerfectHashTable, Slot, group, place, rest};

/// Members of a group, on average, at most.
const GROUP: usize = 4;
/// More are never in one, but of members made for it.
const MOST_IN_A_GROUP: usize = 64;
/// So many seeds are tried.
const SEEDS: u64 = 4;
/// So many slots are looked at with one seed, for each member. A few are as a rule.
const PATIENCE: usize = 256;

impl<const IGNORE_CASE: bool> PerfectHashTable<IGNORE_CASE> {
    /// The table of these members, or none if they are too large or the hash, of a seed and a member, does not tell them apart.
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
        let groups = members.len().div_ceil(GROUP).next_power_of_two().max(2);
        let shift = 64_u32.saturating_sub(groups.trailing_zeros());
        let mut by_group: Vec<&[(u64, &[u8])]> =
            members.chunk_by(|(a, _), (b, _)| group(*a, shift) == group(*b, shift)).collect();
        // The more members a group has, the more room it needs.
        by_group.sort_by_key(|group| std::cmp::Reverse(group.len()));

        // A fifth of the slots stays empty.
        let count = members.len().checked_add(members.len().div_ceil(4))?.max(1);
        u32::try_from(count).ok()?;
        let mut slots = vec![Slot { ends: Ends::of(&[]), length: NOBODY, at: 0 }; count];
        let mut pilots = vec![0; groups];
        let mut rests = Vec::with_capacity(members.iter().map(|(_, member)| rest::<IGNORE_CASE>(member).len()).sum());
        let mut patience = members.len().saturating_mul(PATIENCE);
        let mut places = Vec::new();
        for of_group in by_group {
            let pilot = lead(of_group, &slots, &mut patience, &mut places)?;
            for (&(hash, member), &at) in of_group.iter().zip(&places) {
                *pilots.get_mut(group(hash, shift))? = pilot;
                let length = u32::try_from(member.len()).ok().filter(|length| *length != NOBODY)?;
                *slots.get_mut(at)? = Slot { ends: Ends::of(member), length, at: u32::try_from(rests.len()).ok()? };
                rests.extend_from_slice(rest::<IGNORE_CASE>(member));
            }
        }
        Some(Self { seed, shift, pilots: pilots.into(), slots: slots.into(), rests: rests.into() })
    }
}

/// A pilot that leads the members of a group to empty slots, each to its own; `places` is which these are.
fn lead<const IGNORE_CASE: bool>(
    members: &[(u64, &[u8])],
    slots: &[Slot<IGNORE_CASE>],
    patience: &mut usize,
    places: &mut Vec<usize>,
) -> Option<u32> {
    if members.len() > MOST_IN_A_GROUP {
        return None;
    }
    for number in 0_u32.. {
        let pilot = number.wrapping_mul(0x9e37_79b9);
        places.clear();
        for (hash, _) in members {
            *patience = patience.checked_sub(1)?;
            let place = place(*hash, pilot, slots.len());
            if slots.get(place)?.length != NOBODY || places.contains(&place) {
                break;
            }
            places.push(place);
        }
        if places.len() == members.len() {
            return Some(pilot);
        }
    }
    None
}
