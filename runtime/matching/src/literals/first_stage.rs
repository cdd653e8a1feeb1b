//! The first stage of a pass with vector instructions: where in a text windows of keys may begin.
//!
//! Two tables in registers tell that, both for all offsets of a vector at once:
//! - [`Groups`], for few keys: each byte of a window selects, from a table, the groups of keys that
//!   have this byte there. What is left of the eight groups after all bytes are the candidates. The
//!   method is known as Teddy, from Hyperscan.
//! - [`Bloom`], for up to some thousand keys, with AVX-512: several hashes of the window each
//!   select a byte from a table, and one more hash selects a bit. The window is a candidate if all
//!   have that bit. The hashes are linear: products with bit matrices (GFNI). They are sums of the
//!   same products, in another order for each hash, so that all matrices and tables stay in
//!   registers.

use super::level::LiteralLevel;

/// Bytes of the longest windows.
pub(super) const WINDOW: usize = 4;
/// Lengths of windows: of four bytes, of three and of two.
pub(super) const LENGTHS: usize = 3;
/// Groups of keys: one bit each of a byte.
const GROUPS: usize = 8;
/// Offsets for which one word tells where candidates are.
pub(super) const BLOCK: usize = 64;
/// Blocks between two verifications.
pub(super) const BATCH: usize = 4;

/// The offsets of a block at which a window of each length may begin: one bit for each offset.
pub(super) type Candidates = [u64; LENGTHS];

/// The tables of the first stage, and the instructions that read them.
#[derive(Clone, Debug)]
pub(super) struct FirstStage {
    /// Not [`LiteralLevel::Scalar`], and at most what the processor has.
    pub(super) level: LiteralLevel,
    /// Bits that are set in all bytes of windows and texts before they are looked up.
    pub(super) fold: u8,
    pub(super) groups: Option<Box<Groups>>,
    /// Only with AVX-512; for windows of four bytes, which are then not in `groups`.
    pub(super) bloom: Option<Box<Bloom>>,
}

/// Tables from a byte to groups of keys.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// For each byte of a window, by its lower seven bits.
    pub(super) by_byte: [[u8; 128]; WINDOW],
    /// For each byte of a window, by its lower half and by its upper half.
    pub(super) by_half: [[[u8; 16]; 2]; WINDOW],
    /// The groups of each length.
    pub(super) lengths: [u8; LENGTHS],
}

/// Tables from hashes of windows to bits.
#[derive(Clone, Debug)]
pub(super) struct Bloom {
    pub(super) tables: [[u8; 256]; HASHES],
    /// How many of the tables are used: two to four.
    pub(super) used: usize,
}

/// Most tables of a Bloom filter.
pub(super) const HASHES: usize = 4;

/// The matrices of the hashes. A hash is the sum of the bytes of a window, one of them as it is,
/// the three after it (the first follows the last) by these matrices. Each hash begins with another
/// byte.
pub(super) const MATRICES: [u64; WINDOW - 1] = [0x4d43_38c8_4f67_ab4a, 0xf822_6407_3129_2aee, 0x0d19_451e_4e71_73d0];
/// The matrices of the hash that selects a bit, of the first byte of a window and of the third. It has three bits.
pub(super) const SELECTING: [u64; 2] = [0xe9f9_7600_0000_0000, 0x4538_7700_0000_0000];

/// The product of a matrix and a byte, as the vector code computes it.
fn product(matrix: u64, byte: u8) -> u8 {
    // Bit n of the result is the parity of the byte with the bits of byte 7 - n of the matrix.
    let rows = matrix.to_be_bytes().into_iter().zip(0..8_u32);
    rows.fold(0, |bits, (row, n)| bits | ((row & byte).count_ones() as u8 & 1).wrapping_shl(n))
}

/// The hashes of a window, and the bit that it selects.
fn hashes(window: [u8; WINDOW]) -> ([u8; HASHES], u8) {
    let hash = |begin: usize| {
        let [first, after @ ..] =
            [0, 1, 2, 3].map(|n: usize| window.get(n.wrapping_add(begin) & 3).copied().unwrap_or(0));
        after.into_iter().zip(MATRICES).fold(first, |sum, (byte, matrix)| sum ^ product(matrix, byte))
    };
    let ([first, _, third, _], [a, b]) = (window, SELECTING);
    ([0, 1, 2, 3].map(hash), 1_u8.wrapping_shl(u32::from(product(a, first) ^ product(b, third))))
}

impl Bloom {
    /// A filter for windows.
    pub(super) fn new(windows: &[[u8; WINDOW]]) -> Self {
        let used = match windows.len() {
            ..=160 => 2,
            161..=400 => 3,
            _ => HASHES,
        };
        let mut own = Self { tables: [[0; 256]; HASHES], used };
        for window in windows {
            let (hashes, bit) = hashes(*window);
            for (table, hash) in own.tables.iter_mut().zip(hashes) {
                if let Some(byte) = table.get_mut(usize::from(hash)) {
                    *byte |= bit;
                }
            }
        }
        own
    }
}

impl Groups {
    /// Tables for the windows of each length: of four bytes, of three and of two. The other bytes
    /// of shorter ones are ignored.
    pub(super) fn new(mut windows: [Vec<[u8; WINDOW]>; LENGTHS]) -> Self {
        let mut own = Self { by_byte: [[0; 128]; WINDOW], by_half: [[[0; 16]; 2]; WINDOW], lengths: [0; LENGTHS] };
        let shares = shares(windows.each_ref().map(Vec::len));
        let mut group = 0_u32;
        for ((windows, share), (length, bytes)) in windows.iter_mut().zip(shares).zip([(0, 4), (1, 3), (2, 2)]) {
            // A group of windows that begin alike is in fewer texts than others.
            windows.sort_unstable();
            for windows in windows.chunks(windows.len().div_ceil(share.max(1)).max(1)) {
                let bit = 1_u8.wrapping_shl(group);
                group = group.saturating_add(1);
                if let Some(groups) = own.lengths.get_mut(length) {
                    *groups |= bit;
                }
                for window in windows {
                    own.add(window.get(..bytes).unwrap_or_default(), bit);
                }
            }
        }
        own
    }

    /// Adds a window to a group.
    fn add(&mut self, window: &[u8], bit: u8) {
        for (place, (by_byte, [low, high])) in self.by_byte.iter_mut().zip(&mut self.by_half).enumerate() {
            match window.get(place) {
                Some(byte) => {
                    let (low_half, high_half) = (usize::from(byte & 15), usize::from(byte >> 4));
                    let places =
                        [by_byte.get_mut(usize::from(byte & 127)), low.get_mut(low_half), high.get_mut(high_half)];
                    places.into_iter().flatten().for_each(|groups| *groups |= bit);
                }
                None => by_byte.iter_mut().chain(low).chain(high).for_each(|groups| *groups |= bit),
            }
        }
    }
}

/// Divides the groups among lengths by their number of keys: at least one each that has keys.
fn shares(keys: [usize; LENGTHS]) -> [usize; LENGTHS] {
    let mut shares = keys.map(|keys| usize::from(keys > 0));
    while shares.iter().fold(0, |sum: usize, share| sum.saturating_add(*share)) < GROUPS {
        let most = shares.iter_mut().zip(keys).max_by_key(|(share, keys)| keys.checked_div(**share).unwrap_or(0));
        match most {
            Some((share, keys)) if keys > 0 => *share = share.saturating_add(1),
            _ => break,
        }
    }
    shares
}

impl FirstStage {
    /// Without vector instructions there is no first stage to run.
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn candidates(&self, _text: &[u8], at: usize, _blocks: &mut [Candidates; BATCH]) -> (usize, usize) {
        (at, 0)
    }

    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        let groups = self.groups.as_deref().map_or(0, size_of_val);
        groups.saturating_add(self.bloom.as_deref().map_or(0, size_of_val))
    }
}
