//! Literals: their values, and the scanner that reads them from the text of a rule.
//!
//! There are no tokens before the parser: the type of the left side of a comparison says which
//! literal is read on its right side, so `10:20` is two bytes for a field of type `Bytes` and the
//! number 10 followed by something else for an `Int`.

mod address;
mod bytes;
mod integer;
mod pattern;
mod scanner;
mod set;
mod wildcard;

pub use address::IpItem;
pub use bytes::{BytesForm, BytesLiteral};
pub use pattern::Pattern;
pub(crate) use pattern::check_pattern;
pub(crate) use scanner::{Scanner, fault, fault_with_help, span};
pub use set::SetItems;
pub use wildcard::{InvalidWildcard, Wildcard};

use super::types::FilterType;
use std::net::IpAddr;

/// A literal in an argument or on the right side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FilterLiteral {
    /// A number.
    Int(i64),
    /// An address.
    Ip(IpAddr),
    /// A byte string.
    Bytes(BytesLiteral),
}

impl FilterLiteral {
    /// The literal's type.
    #[must_use]
    pub fn filter_type(&self) -> FilterType {
        match self {
            Self::Int(_) => FilterType::Int,
            Self::Ip(_) => FilterType::Ip,
            Self::Bytes(_) => FilterType::Bytes,
        }
    }
}
