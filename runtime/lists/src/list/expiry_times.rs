//! [`ExpiryTimes`]: when the entries of a level expire, by their numbers.

use std::time::SystemTime;

/// Number of entries of a block.
const BLOCK: usize = 64;

/// Which entries expire, and when: a bit for each entry, and a time for each that expires.
pub(super) struct ExpiryTimes {
    /// Indexed by the number of an entry, divided by [`BLOCK`].
    blocks: Box<[Block]>,
    /// In the order of the entries.
    times: Box<[SystemTime]>,
}

#[derive(Clone, Copy, Default)]
struct Block {
    /// A bit for each entry that expires.
    expiring: u64,
    /// Number of entries before the block that expire.
    before: u32,
}

impl ExpiryTimes {
    /// The times of entries by their numbers, in order; `None` if no entry expires.
    pub(super) fn new(times: &[Option<SystemTime>]) -> Option<Self> {
        let mut before = 0_usize;
        let blocks = times.chunks(BLOCK).map(|chunk| {
            let bit = |(index, time): (u32, &Option<SystemTime>)| u64::from(time.is_some()).wrapping_shl(index);
            let expiring = (0..).zip(chunk).map(bit).fold(0, |bits, bit| bits | bit);
            let block = Block { expiring, before: u32::try_from(before).unwrap_or(u32::MAX) };
            before = before.saturating_add(expiring.count_ones() as usize);
            block
        });
        let blocks: Box<[Block]> = blocks.collect();
        (before > 0).then(|| Self { blocks, times: times.iter().copied().flatten().collect() })
    }

    /// When an entry expires; `None` if it never does.
    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<SystemTime> {
        let block = self.blocks.get(id as usize / BLOCK)?;
        let bit = 1_u64.wrapping_shl(id);
        if block.expiring & bit == 0 {
            return None;
        }
        let within = (block.expiring & bit.wrapping_sub(1)).count_ones();
        self.times.get(block.before.saturating_add(within) as usize).copied()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.blocks).saturating_add(size_of_val(&*self.times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn each_entry_has_its_own_time() {
        let mut rng = fastrand::Rng::with_seed(1);
        for count in [0, 1, 63, 64, 65, 1_000] {
            for share in [0, 1, 10, 100] {
                let time = |n: u64| (rng.u64(..100) < share).then(|| SystemTime::UNIX_EPOCH + Duration::from_secs(n));
                let times: Vec<Option<SystemTime>> = (0..count).map(time).collect();
                let Some(known) = ExpiryTimes::new(&times) else {
                    assert!(times.iter().all(Option::is_none));
                    continue;
                };
                for (id, time) in (0..).zip(&times) {
                    assert_eq!(known.get(id), *time, "{id} of {count}");
                }
                assert_eq!(known.get(count as u32 + 64), None);
            }
        }
    }

    #[test]
    fn entries_that_never_expire_take_two_bits() {
        let mut times = vec![None; 64_000];
        times.push(Some(SystemTime::UNIX_EPOCH));
        assert!(ExpiryTimes::new(&times).is_some_and(|times| times.heap_bytes() < 64_000 / 4 + 100));
        assert!(ExpiryTimes::new(&[None, None]).is_none());
    }
}
