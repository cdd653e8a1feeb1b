//! [`Limits`]: how much lists may hold.

/// How much all lists of a [`Lists`](crate::Lists) together may hold. A change that exceeds a limit
/// is refused as a whole, unless it only removes entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Number of lists. Default: 256.
    pub lists: usize,
    /// Number of entries. Default: 16 million.
    pub entries: usize,
    /// Bytes on the heap in the current generation. Default: 1 GiB. While a list is rebuilt, its
    /// old and new form exist side by side, and readers may still hold older generations.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { lists: 256, entries: 16_000_000, bytes: 1 << 30 }
    }
}
