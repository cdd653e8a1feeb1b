//! Values: what expressions compute with. They borrow from the host's data or from the arena of the evaluation and own
//! nothing.

mod collect;
mod copy;
mod equality;
mod from;
mod list;
mod lookup_cost;
mod map;
pub(crate) mod message;
mod nesting;
mod network;
pub(crate) mod order;
mod text;
mod time;

pub(crate) use collect::{collect_list, collect_map, map_with_last};
pub(crate) use copy::{KeptTypes, Place, copy};
pub use list::{HostList, List};
pub(crate) use lookup_cost::charge_comparisons;
pub use map::{HostMap, Map, MapBuilder};
pub(crate) use map::{View, ViewForm};
pub(crate) use nesting::{MAX_DEPTH, nested};
pub(crate) use network::{canonical_network, network_text};
pub use time::{Duration, Timestamp};

use crate::value::message::Message;
use celero_frontend::Type;
use std::net::IpAddr;

/// A value of any CEL type: 32 bytes, `Copy`, with references that live as long as `'a`.
///
/// `From` converts into it: numbers of all sizes, truth values, addresses; references to texts and
/// bytes; with the feature `serde_json` references to documents, which are read in place.
/// [`OwnedValue`](crate::OwnedValue) is a copy that borrows nothing, and `Display` writes CEL source.
///
/// With the feature `serde` it is written as [`OwnedValue`](crate::OwnedValue) says.
///
/// The layout is part of the contract with native code (`celero_ir::layout::value`), which the crate `celero` asserts.
#[derive(Clone, Copy, Debug)]
#[repr(C, u8)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// `double`
    Double(f64),
    /// `string`
    String(&'a str),
    /// `bytes`
    Bytes(&'a [u8]),
    /// `google.protobuf.Duration`
    Duration(Duration),
    /// `google.protobuf.Timestamp`
    Timestamp(Timestamp),
    /// `list`
    List(List<'a>),
    /// `map`
    Map(Map<'a>),
    /// The name of a type: the result of `type(x)`.
    Type(&'a str),
    /// `optional_type`
    Optional(Option<&'a Value<'a>>),
    /// `net.IP`; an IPv4-mapped IPv6 address is the IPv4 address
    Ip(IpAddr),
    /// `net.CIDR`: address and prefix length.
    Cidr(IpAddr, u8),
    /// A message of protocol buffers.
    Message(&'a Message<'a>),
}

impl<'a> Value<'a> {
    /// Returns the name of the value's type, the result of `type(x)`: `int`, `list`, `google.protobuf.Duration`, ...
    #[must_use]
    pub fn type_name(&self) -> &'a str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Type(_) => "type",
            Value::Optional(_) => "optional_type",
            Value::Ip(_) => "net.IP",
            Value::Cidr(..) => "net.CIDR",
            Value::Message(message) => message.name(),
        }
    }

    /// Returns whether the value can be an argument for a parameter of type `ty`. Only the
    /// outermost type is compared; type parameters and `dyn` accept every value.
    #[must_use]
    pub fn fits(&self, ty: &Type) -> bool {
        match (ty, self) {
            (Type::Dyn | Type::Error | Type::Param(_) | Type::Var(_), _)
            | (Type::Null, Value::Null)
            | (Type::Bool, Value::Bool(_))
            | (Type::Int, Value::Int(_))
            | (Type::Uint, Value::Uint(_))
            | (Type::Double, Value::Double(_))
            | (Type::String, Value::String(_))
            | (Type::Bytes, Value::Bytes(_))
            | (Type::Duration, Value::Duration(_))
            | (Type::Timestamp, Value::Timestamp(_))
            | (Type::Type(_), Value::Type(_))
            | (Type::List(_), Value::List(_))
            | (Type::Map(_), Value::Map(_))
            | (Type::Optional(_), Value::Optional(_))
            | (Type::Wrapper(_), Value::Null) => true,
            (Type::Wrapper(inner), value) => value.fits(inner),
            (Type::Opaque(any, _), Value::Message(_)) if **any == *Type::ANY_MESSAGE => true,
            (Type::Opaque(name, _), value) => value.type_name() == &**name,
            _ => false,
        }
    }
}

/// Returns the name of a type, the result of `type(x)` for its values.
pub(crate) fn type_name_of(ty: &Type) -> &str {
    match ty {
        Type::Null => "null_type",
        Type::Bool => "bool",
        Type::Int => "int",
        Type::Uint => "uint",
        Type::Double => "double",
        Type::String => "string",
        Type::Bytes => "bytes",
        Type::Duration => "google.protobuf.Duration",
        Type::Timestamp => "google.protobuf.Timestamp",
        Type::Type(_) => "type",
        Type::List(_) => "list",
        Type::Map(_) => "map",
        Type::Optional(_) => "optional_type",
        Type::Wrapper(inner) => type_name_of(inner),
        Type::Opaque(name, _) | Type::Param(name) => name,
        Type::Dyn | Type::Error | Type::Var(_) => "dyn",
    }
}
