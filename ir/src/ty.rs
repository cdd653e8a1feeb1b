//! The types of nodes: what native code holds in registers, not what rule authors write.

use std::fmt;

/// The type of a node's value. It determines how many machine words hold the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// One byte, 0 or 1.
    Bool,
    /// 64 bit signed.
    Int,
    /// 64 bit unsigned.
    Uint,
    /// IEEE 754 binary64.
    Double,
    /// Valid UTF-8: address and length.
    Str,
    /// Any bytes: address and length.
    Bytes,
    /// Text from the host that may not be valid UTF-8: address and length. It stands for the text
    /// with U+FFFD in place of invalid sequences. Only operations whose result on the bytes equals
    /// the result on that text accept it, and [`Op::AsBytes`](crate::Op::AsBytes), which gives the
    /// bytes as they are.
    Raw,
    /// A [`Ty::Raw`] that may be absent: a null address.
    Maybe,
    /// Nanoseconds, 64 bit signed.
    Duration,
    /// Seconds since the Unix epoch, 64 bit signed, and nanoseconds, 0 to 999,999,999.
    Timestamp,
    /// An IP address as an IPv6 number, high word first; an IPv4 address in its mapped form (RFC
    /// 4291, section 2.5.5.2).
    Ip,
    /// The address of a value of any type, in the layout of [`layout::value`](crate::layout::value).
    Value,
    /// Elements that are contiguous in the host: the address of the first, and their number.
    Seq,
    /// The result of following a path of keys into a document, as [`layout::found`](crate::layout::found) says.
    Found,
    /// A struct of the host that is an element of a list: its address.
    Record,
    /// An entry in a map or a set of the host: the address of its value, or 0.
    Entry,
    /// A list, a map or a set of the host that loops go over by calls: its address.
    Cursor,
}

impl Ty {
    /// All types, in the order of their declaration.
    pub const ALL: [Ty; 17] = [
        Ty::Bool,
        Ty::Int,
        Ty::Uint,
        Ty::Double,
        Ty::Str,
        Ty::Bytes,
        Ty::Raw,
        Ty::Maybe,
        Ty::Duration,
        Ty::Timestamp,
        Ty::Ip,
        Ty::Value,
        Ty::Seq,
        Ty::Found,
        Ty::Record,
        Ty::Entry,
        Ty::Cursor,
    ];

    /// Whether native code compares elements of a list of this type where they are.
    #[must_use]
    pub const fn is_compared_in_place(self) -> bool {
        matches!(self, Ty::Bool | Ty::Int | Ty::Uint | Ty::Double | Ty::Str | Ty::Bytes | Ty::Duration)
    }

    /// The number of machine words that hold a value of this type: 1 or 2.
    #[must_use]
    pub const fn words(self) -> usize {
        match self {
            Ty::Str | Ty::Bytes | Ty::Raw | Ty::Maybe | Ty::Timestamp | Ty::Ip | Ty::Seq => 2,
            Ty::Bool
            | Ty::Int
            | Ty::Uint
            | Ty::Double
            | Ty::Duration
            | Ty::Value
            | Ty::Found
            | Ty::Entry
            | Ty::Cursor
            | Ty::Record => 1,
        }
    }

    /// The name in the text form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Ty::Bool => "bool",
            Ty::Int => "int",
            Ty::Uint => "uint",
            Ty::Double => "double",
            Ty::Str => "str",
            Ty::Bytes => "bytes",
            Ty::Raw => "raw",
            Ty::Maybe => "maybe",
            Ty::Duration => "duration",
            Ty::Timestamp => "timestamp",
            Ty::Ip => "ip",
            Ty::Seq => "seq",
            Ty::Value => "value",
            Ty::Found => "found",
            Ty::Record => "record",
            Ty::Entry => "entry",
            Ty::Cursor => "cursor",
        }
    }
}

/// The types of the operands of a call, at most [`Types::MAX`]; [`Ty::Value`] stands for any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Types([Ty; Self::MAX]);

impl Types {
    /// The number of operands, at most.
    pub const MAX: usize = 3;

    /// Any types.
    pub const ANY: Self = Self([Ty::Value; Self::MAX]);

    /// These types; `None` if they are too many.
    #[must_use]
    pub fn new(types: &[Ty]) -> Option<Self> {
        let Self(mut all) = Self::ANY;
        all.get_mut(..types.len())?.copy_from_slice(types);
        Some(Self(all))
    }

    /// The types, followed by [`Ty::Value`] for operands that there are not.
    pub fn iter(self) -> impl Iterator<Item = Ty> {
        self.0.into_iter()
    }
}

/// In brackets, without those at the end that stand for any type.
impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.iter().rposition(|ty| *ty != Ty::Value).map_or(0, |last| last.saturating_add(1));
        f.write_str("[")?;
        for (index, ty) in self.0.iter().take(count).enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            write!(f, "{ty}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
