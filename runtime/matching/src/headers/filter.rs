//! A filter that rejects most names that are not in a set, without branches and before any hashing.

/// Two tables over a name's length and its first, third and last byte. A bit is set if a member has
/// the pair of properties of its row and column; a name passes if both of its bits are set. Case
/// does not matter, since only the lowest five bits of a byte are used.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    /// Indexed by first byte: one bit for each length. Bit 63 stands for all lengths of 63 and more.
    lengths: [u64; 32],
    /// Indexed by third byte: one bit for each last byte.
    lasts: [u32; 32],
}

const LONGEST: usize = 63;

/// The rows and bits of a name in the tables.
struct Traits {
    first: usize,
    length: usize,
    third: usize,
    last: usize,
}

impl Traits {
    #[inline(always)]
    fn of(name: &[u8]) -> Self {
        let low = |byte: Option<&u8>| usize::from(byte.copied().unwrap_or(0) & 31);
        Self {
            first: low(name.first()),
            length: name.len().min(LONGEST),
            third: low(name.get(2)),
            last: low(name.last()),
        }
    }
}

impl Filter {
    /// Makes a name pass.
    pub(super) fn add_name(&mut self, name: &[u8]) {
        let Traits { first, length, third, last } = Traits::of(name);
        self.add(first, 1_u64.wrapping_shl(length as u32), third, 1_u32.wrapping_shl(last as u32));
    }

    /// Makes all names pass that begin with `prefix`.
    pub(super) fn add_prefix(&mut self, prefix: &[u8]) {
        let Traits { first, length, third, .. } = Traits::of(prefix);
        let lengths = u64::MAX.wrapping_shl(length as u32);
        let thirds = if prefix.len() > 2 { third..=third } else { 0..=31 };
        for third in thirds {
            self.add(first, lengths, third, u32::MAX);
        }
    }

    fn add(&mut self, first: usize, lengths: u64, third: usize, lasts: u32) {
        if let (Some(by_first), Some(by_third)) = (self.lengths.get_mut(first), self.lasts.get_mut(third)) {
            *by_first |= lengths;
            *by_third |= lasts;
        }
    }

    /// Whether the name may be in the set. False only if it is not.
    #[inline(always)]
    pub(super) fn passes(&self, name: &[u8]) -> bool {
        let Traits { first, length, third, last } = Traits::of(name);
        let lengths = self.lengths.get(first).copied().unwrap_or(0).wrapping_shr(length as u32);
        let lasts = self.lasts.get(third).copied().unwrap_or(0).wrapping_shr(last as u32);
        lengths as u32 & lasts & 1 != 0
    }
}
