//! [`Column`]: the networks of one family, in the order of their first addresses.

use std::ops::Range;

/// Networks in order: of equal first addresses, the shortest prefix first.
pub(super) struct Column<F> {
    first: F,
    prefix: Box<[u8]>,
    /// Bit n for a prefix of n bits. There is none for 128, whose network is around no other.
    lengths: u128,
}

/// An address as a number.
pub(super) trait Bits: Copy + Ord {
    /// The first address of its network with this prefix.
    fn network(self, prefix: u8) -> Self;
}

/// The first addresses of networks, sorted.
pub(super) trait Firsts {
    type Bits: Bits;

    fn new(sorted: Vec<Self::Bits>) -> Self;
    fn at(&self, index: usize) -> Option<Self::Bits>;
    /// The places of the networks that begin with this address.
    fn range(&self, first: Self::Bits) -> Range<usize>;
    fn heap_bytes(&self) -> usize;
}

impl<F: Firsts> Column<F> {
    /// The column of networks in order, each a first address and a prefix.
    pub(super) fn new(networks: impl Iterator<Item = (F::Bits, u8)>) -> Self {
        let (first, prefix): (Vec<F::Bits>, Vec<u8>) = networks.unzip();
        let bit = |prefix: &u8| 1_u128.checked_shl(u32::from(*prefix)).unwrap_or(0);
        let lengths = prefix.iter().fold(0_u128, |lengths, prefix| lengths | bit(prefix));
        Self { first: F::new(first), prefix: prefix.into(), lengths }
    }

    pub(super) fn len(&self) -> usize {
        self.prefix.len()
    }

    /// The network at a place.
    pub(super) fn get(&self, index: usize) -> Option<(F::Bits, u8)> {
        Some((self.first.at(index)?, *self.prefix.get(index)?))
    }

    /// The place of a network.
    pub(super) fn position(&self, first: F::Bits, prefix: u8) -> Option<usize> {
        self.first.range(first).find(|index| self.prefix.get(*index) == Some(&prefix))
    }

    /// The places of the networks that contain the one at this place, the smallest first. A search
    /// for each length of a shorter prefix that some network has: for what is rarely asked.
    pub(super) fn around(&self, index: usize) -> impl Iterator<Item = usize> {
        let network = self.get(index);
        let below = |prefix: u8| !u128::MAX.checked_shl(prefix.into()).unwrap_or(0);
        let mut left = network.map_or(0, |(_, prefix)| self.lengths & below(prefix));
        let shorter = std::iter::from_fn(move || {
            let longest = left.checked_ilog2()?;
            left &= !1_u128.checked_shl(longest).unwrap_or(u128::MAX);
            u8::try_from(longest).ok()
        });
        shorter.filter_map(move |prefix| self.position(network?.0.network(prefix), prefix))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.first.heap_bytes().saturating_add(self.prefix.len())
    }
}

impl Bits for u32 {
    fn network(self, prefix: u8) -> Self {
        self & !Self::MAX.checked_shr(prefix.into()).unwrap_or(0)
    }
}

impl Bits for u128 {
    fn network(self, prefix: u8) -> Self {
        self & !Self::MAX.checked_shr(prefix.into()).unwrap_or(0)
    }
}

/// The places of the numbers in a sorted slice that equal one.
fn equal<T: Copy + Ord>(sorted: &[T], wanted: T) -> Range<usize> {
    let from = sorted.partition_point(|other| *other < wanted);
    let same = sorted.get(from..).unwrap_or_default().iter().take_while(|other| **other == wanted).count();
    from..from.saturating_add(same)
}

impl<B: Bits> Firsts for Box<[B]> {
    type Bits = B;

    fn new(sorted: Vec<B>) -> Self {
        sorted.into()
    }

    fn at(&self, index: usize) -> Option<B> {
        self.get(index).copied()
    }

    fn range(&self, first: B) -> Range<usize> {
        equal(self, first)
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&**self)
    }
}

/// First addresses of IPv4.
pub(super) enum V4Firsts {
    /// Of few networks.
    Whole(Box<[u32]>),
    /// Of many: two bytes each instead of four.
    Halves(Box<Halves>),
}

/// Addresses by their first half, of which only the second one is kept.
pub(super) struct Halves {
    /// Indexed by first half: the number of addresses before those that begin with it. One more at the end.
    starts: Box<[u32]>,
    /// The second halves.
    rests: Box<[u16]>,
    /// The first half of every address whose place is a multiple of [`SAMPLED`].
    samples: Box<[u16]>,
}

/// Fewest networks that are kept by halves: with fewer, the starts take more than the halves save.
const MIN_BY_HALVES: usize = 1 << 18;
/// Number of addresses for each of which one first half is kept, so that that of a place is found
/// by a search among few.
const SAMPLED: usize = 256;
/// Number of first halves.
const HALVES: usize = 1 << 16;

impl Halves {
    fn new(sorted: &[u32]) -> Self {
        let half = |address: &u32| (address >> 16) as u16;
        let mut starts = vec![0_u32; HALVES.saturating_add(1)];
        for address in sorted {
            if let Some(next) = starts.get_mut(usize::from(half(address)).saturating_add(1)) {
                *next = next.saturating_add(1);
            }
        }
        let mut before = 0_u32;
        for start in &mut starts {
            before = before.saturating_add(*start);
            *start = before;
        }
        let samples = sorted.iter().step_by(SAMPLED).map(half).collect();
        Self { starts: starts.into(), rests: sorted.iter().map(|address| *address as u16).collect(), samples }
    }

    fn get(&self, index: usize) -> Option<u32> {
        let rest = *self.rests.get(index)?;
        let sample = index / SAMPLED;
        let least = usize::from(*self.samples.get(sample)?);
        let most =
            self.samples.get(sample.saturating_add(1)).map_or(HALVES.saturating_sub(1), |half| usize::from(*half));
        let ends = self.starts.get(least.saturating_add(1)..=most.saturating_add(1))?;
        let half = least.saturating_add(ends.partition_point(|end| *end as usize <= index));
        Some((half as u32) << 16 | u32::from(rest))
    }

    fn range(&self, first: u32) -> Range<usize> {
        let half = (first >> 16) as usize;
        let Some([from, end]) = self.starts.get(half..).and_then(<[u32]>::first_chunk) else { return 0..0 };
        let from = *from as usize;
        let found = equal(self.rests.get(from..*end as usize).unwrap_or_default(), first as u16);
        from.saturating_add(found.start)..from.saturating_add(found.end)
    }
}

impl Firsts for V4Firsts {
    type Bits = u32;

    fn new(sorted: Vec<u32>) -> Self {
        if sorted.len() < MIN_BY_HALVES {
            Self::Whole(sorted.into())
        } else {
            Self::Halves(Box::new(Halves::new(&sorted)))
        }
    }

    fn at(&self, index: usize) -> Option<u32> {
        match self {
            Self::Whole(all) => all.get(index).copied(),
            Self::Halves(halves) => halves.get(index),
        }
    }

    fn range(&self, first: u32) -> Range<usize> {
        match self {
            Self::Whole(all) => equal(all, first),
            Self::Halves(halves) => halves.range(first),
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Self::Whole(all) => size_of_val(&**all),
            Self::Halves(halves) => {
                let arrays = size_of_val(&*halves.starts).saturating_add(size_of_val(&*halves.rests));
                arrays.saturating_add(size_of_val(&*halves.samples)).saturating_add(size_of::<Halves>())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// Number of networks that were looked for.
        static SEARCHED: Cell<usize> = const { Cell::new(0) };
    }

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    struct Counted(u128);

    impl Bits for Counted {
        fn network(self, prefix: u8) -> Self {
            SEARCHED.set(SEARCHED.get().saturating_add(1));
            Self(self.0.network(prefix))
        }
    }

    #[test]
    fn only_lengths_that_some_network_has_are_searched() {
        let half = 1_u128 << 127;
        let networks = [(0, 0), (half, 1), (half, 32), (half, 128), (half + 1, 128)];
        let counted = networks.into_iter().map(|(first, prefix)| (Counted(first), prefix));
        let column: Column<Box<[Counted]>> = Column::new(counted);
        assert_eq!(column.around(4).collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!(SEARCHED.get(), 3);
        assert_eq!(column.around(1).collect::<Vec<_>>(), [0]);
        assert_eq!(SEARCHED.get(), 4);
    }

    /// Addresses of which many, few or none begin with a half.
    fn addresses(rng: &mut fastrand::Rng, count: usize) -> Vec<u32> {
        let mut all: Vec<u32> = (0..count)
            .map(|_| match rng.u32(..4) {
                0 => 0x0a01_0000 | rng.u32(..0x300),
                1 => rng.u32(..) & 0x00ff_ff00,
                _ => rng.u32(..),
            })
            .chain([0, 0, u32::MAX, u32::MAX, 0xffff, 0x1_0000])
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn halves_are_the_whole_addresses() {
        let mut rng = fastrand::Rng::with_seed(1);
        for count in [0, 1, 255, 256, 257, 5_000] {
            let all = addresses(&mut rng, count);
            let halves = Halves::new(&all);
            for (index, address) in all.iter().enumerate() {
                assert_eq!(halves.get(index), Some(*address), "{index} of {}", all.len());
            }
            assert_eq!(halves.get(all.len()), None);
            let others = (0..1_000).map(|_| rng.u32(..));
            for address in all.iter().copied().chain(others.collect::<Vec<_>>()) {
                let (found, right) = (halves.range(address), equal(&all, address));
                assert_eq!(found.len(), right.len(), "{address}");
                assert!(found.is_empty() || found == right);
            }
        }
    }

    #[test]
    fn many_addresses_take_little_more_than_two_bytes() {
        let all = addresses(&mut fastrand::Rng::with_seed(2), 1_000_000);
        let firsts = V4Firsts::new(all.clone());
        assert!(matches!(firsts, V4Firsts::Halves(_)));
        assert!(firsts.heap_bytes() < all.len() * 23 / 10, "{}", firsts.heap_bytes());
        for index in (0..all.len()).step_by(997) {
            assert_eq!(firsts.at(index), Some(all[index]));
        }
    }

    #[test]
    fn the_networks_around_one_come_in_order() {
        let networks =
            [(0, 1), (0x0a00_0000, 8), (0x0a00_0000, 16), (0x0a00_0000, 24), (0x0a00_0100, 24), (0x0b00_0000, 8)];
        let column: Column<V4Firsts> = Column::new(networks.into_iter());
        let around = |index| column.around(index).collect::<Vec<_>>();
        assert_eq!(around(3), [2, 1, 0]);
        assert_eq!(around(4), [2, 1, 0]);
        assert_eq!(around(5), [0]);
        assert!(around(0).is_empty() && around(6).is_empty());
        let v6: Column<Box<[u128]>> = Column::new([(0, 0), (1 << 127, 1), (1 << 127, 128)].into_iter());
        assert_eq!(v6.around(2).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(v6.position(1 << 127, 128), Some(2));
    }
}
