//! Constants of a graph: plain data, described here, built by the runtime at a fixed address.

use crate::projection::Projection;
use crate::ty::Ty;
use std::sync::Arc;

/// Index of a constant in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstId(pub u32);

/// How deep lists and maps nest in a constant at most: walks over constants recurse.
pub const MAX_CONSTANT_DEPTH: usize = 256;

/// A constant. Equality is by representation: `0.0` and `-0.0` differ, a NaN equals itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// `null`
    Null,
    /// A truth value.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// The bits of a double.
    Double(u64),
    /// Text.
    Str(Arc<str>),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// Nanoseconds.
    Duration(i64),
    /// Seconds since the epoch and nanoseconds.
    Timestamp(i64, u32),
    /// A type's name, as `type(x)` gives it.
    Type(Arc<str>),
    /// A list.
    List(Arc<[Constant]>),
    /// A map, keys distinct.
    Map(Arc<[(Constant, Constant)]>),
    /// An address.
    Ip(std::net::IpAddr),
    /// A network: address, prefix length.
    Cidr(std::net::IpAddr, u8),
    /// A substring searcher for this needle. Only as an operand of [`Op::ContainsConst`](crate::Op::ContainsConst).
    Searcher(Arc<str>),
    /// A compiled regular expression. Only as an operand of [`Op::MatchesConst`](crate::Op::MatchesConst).
    Regex(Arc<str>),
    /// A set of strings, sorted, distinct. Only as an operand of [`Op::InStrSet`](crate::Op::InStrSet).
    StrSet(Arc<[Arc<str>]>),
    /// A set of integers, sorted, distinct. Only as an operand of [`Op::InIntSet`](crate::Op::InIntSet).
    IntSet(Arc<[i64]>),
    /// A header name, lower case. Only as an operand of [`Op::Header`](crate::Op::Header).
    HeaderName(Arc<str>),
    /// Parts of a document. Only as an operand of [`Op::Project`](crate::Op::Project) and
    /// [`Op::Find`](crate::Op::Find).
    Projection(Projection),
}

impl Constant {
    /// The type of a node that holds the constant itself, if it is one that native code has in registers. Any constant that
    /// is not prepared for one operation can also stand as a [`Ty::Value`].
    #[must_use]
    pub const fn ty(&self) -> Option<Ty> {
        Some(match self {
            Constant::Bool(_) => Ty::Bool,
            Constant::Int(_) => Ty::Int,
            Constant::Uint(_) => Ty::Uint,
            Constant::Double(_) => Ty::Double,
            Constant::Str(_) => Ty::Str,
            Constant::Bytes(_) => Ty::Bytes,
            Constant::Duration(_) => Ty::Duration,
            Constant::Timestamp(..) => Ty::Timestamp,
            Constant::Ip(_) => Ty::Ip,
            _ => return None,
        })
    }

    /// Whether it is prepared for one operation, and is no value.
    #[must_use]
    pub const fn is_prepared(&self) -> bool {
        use Constant::{HeaderName, IntSet, Projection, Regex, Searcher, StrSet};
        matches!(self, Searcher(_) | Regex(_) | StrSet(_) | IntSet(_) | HeaderName(_) | Projection(_))
    }

    /// Whether a node of this type can hold it.
    #[must_use]
    pub fn fits(&self, ty: Ty) -> bool {
        if ty == Ty::Value { !self.is_prepared() } else { self.ty() == Some(ty) }
    }

    /// Whether it is text that can be compared with the raw bytes of text: without U+FFFD, which stands for bytes that
    /// differ.
    #[must_use]
    pub fn is_raw_comparable(&self) -> bool {
        let plain = |text: &str| !text.contains(char::REPLACEMENT_CHARACTER);
        match self {
            Constant::Str(text) | Constant::Searcher(text) => plain(text),
            Constant::StrSet(members) => members.iter().all(|member| plain(member)),
            _ => false,
        }
    }
}
