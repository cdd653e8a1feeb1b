//! Divides the addresses of one family into segments, each with the smallest network that contains it.

use super::bits::Address;

/// A network: the id, or [`NO_NETWORK`]; the bit [`NESTED`] is set if a larger network contains it.
pub(super) type Owner = u32;

/// Set in an owner that is in another network.
pub(super) const NESTED: Owner = 1 << 31;
/// The owner of what is in no network.
pub(super) const NO_NETWORK: Owner = NESTED.wrapping_sub(1);

/// A segment begins with `start` and ends before the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<T> {
    pub(super) start: T,
    pub(super) owner: Owner,
}

/// A network: its first address, the length of its prefix, its id. So sorted, a network comes after
/// all that contain it.
pub(super) type Network<T> = (T, u8, u32);

/// The segments of `networks`, sorted; the first begins with the first address. Calls `parent` with
/// the id of each network that is in another one, and that one.
pub(super) fn segments<T: Address>(
    mut networks: Vec<Network<T>>,
    mut parent: impl FnMut(u32, Owner),
) -> Vec<Segment<T>> {
    networks.sort_unstable();
    let mut segments: Vec<Segment<T>> = Vec::with_capacity(networks.len().saturating_mul(2).saturating_add(1));
    segments.push(Segment { start: T::ZERO, owner: NO_NETWORK });
    let mut starts = |start: T, owner| match segments.last_mut() {
        Some(last) if last.start == start => last.owner = owner,
        _ => segments.push(Segment { start, owner }),
    };
    // The networks around the current place, the largest first, each with its last address.
    let mut around: Vec<(u128, Owner)> = Vec::new();
    for (first, prefix, id) in networks {
        let from = first.number();
        while let Some((last, _)) = around.pop_if(|(last, _)| *last < from) {
            starts(T::of(last.wrapping_add(1)), around.last().map_or(NO_NETWORK, |(_, owner)| *owner));
        }
        let mut owner = id;
        if let Some((_, outer)) = around.last() {
            parent(id, *outer);
            owner |= NESTED;
        }
        starts(first, owner);
        around.push((from | last_bits(T::BITS.saturating_sub(prefix.into())), owner));
    }
    while let Some((last, _)) = around.pop() {
        // Nothing follows a network that ends with the last address.
        if last < last_bits(T::BITS) {
            starts(T::of(last.wrapping_add(1)), around.last().map_or(NO_NETWORK, |(_, owner)| *owner));
        }
    }
    segments
}

/// A number with the lowest `count` bits set.
pub(super) fn last_bits(count: u32) -> u128 {
    u128::MAX.checked_shr(128_u32.saturating_sub(count)).unwrap_or(0)
}
