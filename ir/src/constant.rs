//! Constants of a graph. They are described here as plain data; the runtime builds each at a fixed address.

use crate::projection::Projection;
use crate::ty::Ty;
use crate::wildcard::Wildcard;
use std::collections::HashSet;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Index of a constant in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstId(pub u32);

/// Maximum nesting of lists and maps in a constant, because walks over constants recurse.
pub const MAX_CONSTANT_DEPTH: usize = 256;

/// The seconds since the epoch that a time may have: those of the years 1 to 9999.
pub const TIMESTAMP_SECONDS: RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

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
    /// A substring searcher for this needle: text, or other bytes. Only as an operand of
    /// [`Op::ContainsConst`](crate::Op::ContainsConst).
    Searcher(Arc<[u8]>),
    /// A compiled regular expression on text. Only as an operand of [`Op::MatchesConst`](crate::Op::MatchesConst).
    Regex(Arc<str>),
    /// A compiled regular expression on bytes, without Unicode. Only as an operand of
    /// [`Op::MatchesConst`](crate::Op::MatchesConst).
    ByteRegex(Arc<str>),
    /// A wildcard pattern. Only as an operand of [`Op::WildcardConst`](crate::Op::WildcardConst).
    Wildcard(Wildcard),
    /// A set of strings, texts or other bytes, sorted, distinct. Only as an operand of
    /// [`Op::InStrSet`](crate::Op::InStrSet).
    StrSet(Arc<[Arc<[u8]>]>),
    /// A set of integers, sorted, distinct. Only as an operand of [`Op::InIntSet`](crate::Op::InIntSet).
    IntSet(Arc<[i64]>),
    /// A header name, lower case. Only as an operand of [`Op::Header`](crate::Op::Header).
    HeaderName(Arc<str>),
    /// Parts of a document. Only as an operand of [`Op::Project`](crate::Op::Project) and
    /// [`Op::Find`](crate::Op::Find).
    Projection(Projection),
    /// A constant that differs between the rules that share the code.
    Parameter(Parameter),
}

/// A constant that native code reads from the [parameter row](crate::layout::parameter_row) of the
/// rule that it evaluates. It may stand wherever a constant of its kind may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// The kind of constant.
    pub kind: ParameterKind,
    /// Whether it is text without U+FFFD: see [`Constant::is_raw_comparable`].
    pub plain: bool,
    /// The index of its first word in the row.
    pub at: u16,
}

/// The kinds of constants in a parameter row. For each: which words it has in the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterKind {
    /// A signed integer: itself.
    Int,
    /// An unsigned integer: itself.
    Uint,
    /// A double: its bits.
    Double,
    /// Text: address and length.
    Str,
    /// A byte string: address and length.
    Bytes,
    /// A value of any type: its address.
    Value,
    /// A [`Constant::Searcher`]: its address.
    Searcher,
    /// A [`Constant::Regex`]: its address.
    Regex,
    /// A [`Constant::ByteRegex`]: its address.
    ByteRegex,
    /// A [`Constant::Wildcard`]: its address.
    Wildcard,
    /// A [`Constant::StrSet`]: its address.
    StrSet,
    /// A [`Constant::IntSet`]: its address.
    IntSet,
    /// A network that is not [around IPv4](crate::layout::Network::around_ipv4): the words of its
    /// bits and those of its mask.
    Cidr,
}

impl ParameterKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::Int,
        Self::Uint,
        Self::Double,
        Self::Str,
        Self::Bytes,
        Self::Value,
        Self::Searcher,
        Self::Regex,
        Self::ByteRegex,
        Self::Wildcard,
        Self::StrSet,
        Self::IntSet,
        Self::Cidr,
    ];

    /// The number of words in the row.
    #[must_use]
    pub const fn words(self) -> u16 {
        match self {
            Self::Str | Self::Bytes => 2,
            Self::Cidr => 4,
            _ => 1,
        }
    }

    /// The name in the text form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Str => "str",
            Self::Bytes => "bytes",
            Self::Value => "value",
            Self::Searcher => "searcher",
            Self::Regex => "regex",
            Self::ByteRegex => "byte_regex",
            Self::Wildcard => "wildcard",
            Self::StrSet => "str_set",
            Self::IntSet => "int_set",
            Self::Cidr => "cidr",
        }
    }
}

impl Constant {
    /// The type of a node that has the constant in registers, or `None` if native code has no
    /// registers for it. Any constant that is not [prepared](Self::is_prepared) can also be a node
    /// of type [`Ty::Value`].
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
            Constant::Parameter(parameter) => match parameter.kind {
                ParameterKind::Int => Ty::Int,
                ParameterKind::Uint => Ty::Uint,
                ParameterKind::Double => Ty::Double,
                ParameterKind::Str => Ty::Str,
                ParameterKind::Bytes => Ty::Bytes,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Whether it is prepared for one operation (a searcher, a set, ..), and so is not a value.
    #[must_use]
    pub const fn is_prepared(&self) -> bool {
        use Constant::{ByteRegex, HeaderName, IntSet, Parameter, Projection, Regex, Searcher, StrSet, Wildcard};
        let by_search = matches!(self, Searcher(_) | Regex(_) | ByteRegex(_) | Wildcard(_) | StrSet(_) | IntSet(_));
        by_search || matches!(self, HeaderName(_) | Projection(_) | Parameter(_))
    }

    /// Whether a node of this type can be this constant.
    #[must_use]
    pub fn fits(&self, ty: Ty) -> bool {
        match self {
            Self::Parameter(parameter) if ty == Ty::Value => parameter.kind == ParameterKind::Value,
            _ if ty == Ty::Value => !self.is_prepared(),
            _ => self.ty() == Some(ty),
        }
    }

    /// Whether it is text that can be compared with undecoded bytes: without U+FFFD, to which
    /// different invalid bytes decode.
    #[must_use]
    pub fn is_raw_comparable(&self) -> bool {
        let plain = |text: &str| text.is_ascii() || !text.contains(char::REPLACEMENT_CHARACTER);
        // No text has bytes that are not UTF-8.
        let plain_bytes = |bytes: &[u8]| bytes.is_ascii() || std::str::from_utf8(bytes).is_ok_and(plain);
        match self {
            Constant::Str(text) => plain(text),
            Constant::Searcher(needle) => plain_bytes(needle),
            Constant::Wildcard(wildcard) => wildcard.pieces.iter().all(|piece| plain_bytes(piece)),
            Constant::StrSet(members) => members.iter().all(|member| plain_bytes(member)),
            Constant::Parameter(parameter) => parameter.plain,
            _ => false,
        }
    }

    /// What is wrong with it, whatever the operation.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        self.fault_within(MAX_CONSTANT_DEPTH)
    }

    /// [`fault`](Self::fault), with this nesting at most.
    fn fault_within(&self, depth: usize) -> Option<&'static str> {
        let Some(depth) = depth.checked_sub(1) else { return Some("a constant nests too deep") };
        let inner = |constant: &Constant| {
            if constant.is_prepared() {
                Some("a prepared constant inside another")
            } else {
                constant.fault_within(depth)
            }
        };
        let unless = |fits: bool, wrong: &'static str| if fits { None } else { Some(wrong) };
        match self {
            Self::List(items) => items.iter().find_map(inner),
            Self::Map(entries) => {
                let mut keys = HashSet::new();
                entries.iter().find_map(|(key, value)| {
                    let key = match key {
                        Self::Bool(_) | Self::Int(_) | Self::Str(_) => key.clone(),
                        // Equal as a key to the integer of the same number.
                        Self::Uint(number) => i64::try_from(*number).map_or_else(|_| key.clone(), Self::Int),
                        _ => return Some("a map's key is not a bool, int, uint or string"),
                    };
                    unless(keys.insert(key), "a map with equal keys").or_else(|| inner(value))
                })
            }
            Self::Timestamp(_, nanos) => unless(*nanos < 1_000_000_000, "nanoseconds of a second or more"),
            Self::Cidr(IpAddr::V4(_), prefix) => unless(*prefix <= 32, "a prefix longer than the address"),
            Self::Cidr(IpAddr::V6(_), prefix) => unless(*prefix <= 128, "a prefix longer than the address"),
            Self::StrSet(members) => {
                unless(members.is_sorted_by(|a, b| a < b), "a set that is not sorted and distinct")
            }
            Self::IntSet(members) => {
                unless(members.is_sorted_by(|a, b| a < b), "a set that is not sorted and distinct")
            }
            Self::HeaderName(name) => {
                unless(!name.bytes().any(|b| b.is_ascii_uppercase()), "a header name with capital letters")
            }
            Self::Wildcard(wildcard) => {
                unless(wildcard.is_valid(), "a wildcard without a piece, or one that ignores case with capital letters")
            }
            Self::Projection(projection) => unless(projection.is_valid(), "a projection that is not sorted and small"),
            _ => None,
        }
    }
}
