//! Constants of CEL as literals of the filter language.

use celero_frontend::Literal;
use celero_frontend::filter::quoted_bytes;
use std::net::IpAddr;

/// A constant that a value is compared with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Constant {
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
    Address(IpAddr),
}

impl Constant {
    /// The constant that a CEL literal is; `None` if the language has none of its type.
    pub(super) fn of(literal: &Literal) -> Option<Self> {
        match literal {
            Literal::Int(value) => Some(Self::Int(*value)),
            Literal::String(text) => Some(Self::Text(text.to_string())),
            Literal::Bytes(bytes) => Some(Self::Bytes(bytes.to_vec())),
            _ => None,
        }
    }

    /// The literal, as the right side of a comparison.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Int(value) => value.to_string(),
            Self::Text(text) => quoted_bytes(text.as_bytes()),
            Self::Bytes(bytes) => quoted_bytes(bytes),
            Self::Address(address) => address.to_string(),
        }
    }
}
