//! Sets: what stands in `{..}` after `in`.

use super::address::IpItem;
use super::bytes::BytesLiteral;

/// The items of a set, in the order written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SetItems {
    /// Ranges of numbers, both ends included; a single number is a range of one.
    Ints(Box<[(i64, i64)]>),
    /// Addresses, networks and ranges of addresses.
    Ips(Box<[IpItem]>),
    /// Byte strings.
    Bytes(Box<[BytesLiteral]>),
}

impl SetItems {
    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Ints(items) => items.len(),
            Self::Ips(items) => items.len(),
            Self::Bytes(items) => items.len(),
        }
    }

    /// Whether the set has no item. Then it matches nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
