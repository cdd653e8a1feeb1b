//! What turns away most names that are not in a set, without a branch and before any hashing.

/// Two tables over a name's length, first, third and last byte. A bit is set if some member has this pair of properties; a
/// name has to have both pairs. Letters are the same in both cases, as only the lowest five bits of a byte count.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    /// By first byte: a bit for each length, of which 63 stands for all from there on.
    lengths: [u64; 32],
    /// By third byte: a bit for each last byte.
    lasts: [u32; 32],
}

const LONGEST: usize = 63;

/// What the tables know of a name that is not empty: numbers of rows and bits.
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
    /// Lets a name through.
    pub(super) fn add_name(&mut self, name: &[u8]) {
        let Traits { first, length, third, last } = Traits::of(name);
        self.add(first, 1_u64.wrapping_shl(length as u32), third, 1_u32.wrapping_shl(last as u32));
    }

    /// Lets all names through that begin with a prefix.
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

    /// Whether the name may be in the set.
    #[inline(always)]
    pub(super) fn lets_through(&self, name: &[u8]) -> bool {
        let Traits { first, length, third, last } = Traits::of(name);
        let lengths = self.lengths.get(first).copied().unwrap_or(0).wrapping_shr(length as u32);
        let lasts = self.lasts.get(third).copied().unwrap_or(0).wrapping_shr(last as u32);
        lengths as u32 & lasts & 1 != 0
    }
}
