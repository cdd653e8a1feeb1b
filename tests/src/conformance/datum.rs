//! Values as the suite writes them: owned, comparable by the suite's rules, convertible to and from celero's.

use super::textproto::{Message, Node};
use celero::{Arena, Cx, Duration, ErrorKind, EvalResult, List, MapBuilder, Timestamp, Value};
use std::fmt;

/// A value of the suite.
#[derive(Clone, Debug)]
pub enum Datum {
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
    String(String),
    /// `bytes`
    Bytes(Vec<u8>),
    /// Nanoseconds.
    Duration(i64),
    /// Seconds and nanoseconds since 1970.
    Timestamp(i64, i64),
    /// `list`
    List(Vec<Datum>),
    /// Entries in any order.
    Map(Vec<(Datum, Datum)>),
    /// A type by its name.
    Type(String),
    /// `optional_type`
    Optional(Option<Box<Datum>>),
    /// What has no counterpart in the suite (a network address), as text.
    Other(String),
}

/// Why a `cel.expr.Value` was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is, or holds, a message or an enum with a type of its own.
    NeedsMessages,
    /// It is not a value at all.
    Malformed(String),
}

impl Datum {
    /// Reads a `cel.expr.Value`.
    ///
    /// # Errors
    /// Messages other than timestamps and durations, and what is no value.
    pub fn read(value: &Message) -> Result<Self, Unread> {
        let Some((name, node)) = value.fields.first() else {
            return Err(Unread::Malformed("empty value".into()));
        };
        let bad = || Unread::Malformed(format!("{name}: {node:?}"));
        match (name.as_str(), node) {
            ("null_value", _) => Ok(Self::Null),
            ("bool_value", n) => n.bool().map(Self::Bool).ok_or_else(bad),
            ("int64_value", n) => whole(n).map(Self::Int).ok_or_else(bad),
            ("uint64_value", n) => whole(n).map(Self::Uint).ok_or_else(bad),
            ("double_value", n) => n.double().map(Self::Double).ok_or_else(bad),
            ("string_value", Node::Text(t)) => String::from_utf8(t.clone()).map(Self::String).map_err(|_| bad()),
            ("bytes_value", Node::Text(t)) => Ok(Self::Bytes(t.clone())),
            ("type_value", Node::Text(t)) => String::from_utf8(t.clone()).map(Self::Type).map_err(|_| bad()),
            ("list_value", Node::Message(m)) => {
                let elements = m.all("values").map(|n| Self::read(n.message().ok_or_else(bad)?));
                elements.collect::<Result<_, _>>().map(Self::List)
            }
            ("map_value", Node::Message(m)) => {
                let entries = m.all("entries").map(|n| {
                    let part = |name| n.message().and_then(|e| e.message(name)).ok_or_else(bad);
                    Ok((Self::read(part("key")?)?, Self::read(part("value")?)?))
                });
                entries.collect::<Result<_, _>>().map(Self::Map)
            }
            ("object_value", Node::Message(m)) => Self::read_object(m),
            ("enum_value", _) => Err(Unread::NeedsMessages),
            _ => Err(bad()),
        }
    }

    fn read_object(any: &Message) -> Result<Self, Unread> {
        let Some((url, Node::Message(content))) = any.fields.first() else { return Err(Unread::NeedsMessages) };
        let number = |name| content.get(name).map_or(Some(0), whole::<i64>).ok_or(Unread::NeedsMessages);
        match url.rsplit('/').next() {
            Some("google.protobuf.Duration") => {
                let nanos =
                    number("seconds")?.checked_mul(1_000_000_000).and_then(|s| s.checked_add(number("nanos").ok()?));
                nanos.map(Self::Duration).ok_or_else(|| Unread::Malformed("duration out of range".into()))
            }
            Some("google.protobuf.Timestamp") => Ok(Self::Timestamp(number("seconds")?, number("nanos")?)),
            _ => Err(Unread::NeedsMessages),
        }
    }

    /// Copies a value out of the arena.
    ///
    /// # Errors
    /// What reading a list or a map fails with.
    pub fn from_value<'a>(value: &Value<'a>, arena: &'a Arena) -> EvalResult<Self> {
        Ok(match *value {
            Value::Null => Self::Null,
            Value::Bool(v) => Self::Bool(v),
            Value::Int(v) => Self::Int(v),
            Value::Uint(v) => Self::Uint(v),
            Value::Double(v) => Self::Double(v),
            Value::String(v) => Self::String(v.to_owned()),
            Value::Bytes(v) => Self::Bytes(v.to_owned()),
            Value::Duration(v) => Self::Duration(v.0),
            Value::Timestamp(v) => Self::Timestamp(v.seconds, v.nanos),
            Value::List(list) => {
                let mut elements = Vec::new();
                for index in 0..list.len() {
                    if let Some(element) = list.get(index, arena)? {
                        elements.push(Self::from_value(&element, arena)?);
                    }
                }
                Self::List(elements)
            }
            Value::Map(map) => {
                let mut entries = Vec::new();
                for (key, value) in map.entries(arena)? {
                    entries.push((Self::from_value(key, arena)?, Self::from_value(value, arena)?));
                }
                Self::Map(entries)
            }
            Value::Type(name) => Self::Type(name.to_owned()),
            Value::Optional(None) => Self::Optional(None),
            Value::Optional(Some(v)) => Self::Optional(Some(Box::new(Self::from_value(v, arena)?))),
            Value::Ip(ip) => Self::Other(ip.to_string()),
            Value::Cidr(ip, prefix) => Self::Other(format!("{ip}/{prefix}")),
        })
    }

    /// Builds the value in an arena.
    ///
    /// # Errors
    /// A full arena, a map whose keys can't be keys or are not distinct; `host` for what has no counterpart.
    pub fn to_value<'a>(&self, arena: &'a Arena) -> EvalResult<Value<'a>> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(v) => Value::Bool(*v),
            Self::Int(v) => Value::Int(*v),
            Self::Uint(v) => Value::Uint(*v),
            Self::Double(v) => Value::Double(*v),
            Self::String(v) => Value::String(arena.alloc_str(v)?),
            Self::Bytes(v) => Value::Bytes(arena.alloc_slice(v)?),
            Self::Duration(v) => Value::Duration(Duration(*v)),
            Self::Timestamp(seconds, nanos) => Value::Timestamp(Timestamp { seconds: *seconds, nanos: *nanos }),
            Self::List(elements) => {
                let mut list = arena.vec();
                for element in elements {
                    list.push(element.to_value(arena)?)?;
                }
                Value::List(List::Slice(list.finish()))
            }
            Self::Map(entries) => {
                let mut map = MapBuilder::new(arena, entries.len())?;
                for (key, value) in entries {
                    map.insert(key.to_value(arena)?, value.to_value(arena)?)?;
                }
                Value::Map(map.finish(&Cx::new(i64::MAX, arena))?)
            }
            Self::Type(name) => Value::Type(arena.alloc_str(name)?),
            Self::Optional(None) => Value::Optional(None),
            Self::Optional(Some(v)) => Value::Optional(Some(arena.alloc(v.to_value(arena)?)?)),
            Self::Other(_) => return Err(ErrorKind::Host),
        })
    }

    /// Whether the suite takes one value for the other: the same type, doubles equal or both NaN, maps in any order.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) | (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Uint(a), Self::Uint(b)) => a == b,
            (Self::Double(a), Self::Double(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Self::String(a), Self::String(b)) | (Self::Type(a), Self::Type(b)) | (Self::Other(a), Self::Other(b)) => {
                a == b
            }
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Timestamp(s, n), Self::Timestamp(t, m)) => (s, n) == (t, m),
            (Self::List(a), Self::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.matches(y)),
            (Self::Map(a), Self::Map(b)) => {
                let found = |(k, v): &(Self, Self)| b.iter().any(|(l, w)| k.matches(l) && v.matches(w));
                a.len() == b.len() && a.iter().all(found)
            }
            (Self::Optional(a), Self::Optional(b)) => match (a, b) {
                (None, None) => true,
                (Some(a), Some(b)) => a.matches(b),
                _ => false,
            },
            _ => false,
        }
    }
}

fn whole<T: TryFrom<i128>>(node: &Node) -> Option<T> {
    match node {
        Node::Int(v) => T::try_from(*v).ok(),
        Node::Float(v) if *v == 0.0 => T::try_from(0).ok(),
        _ => None,
    }
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(v) => write!(f, "{v}"),
            Self::Int(v) => write!(f, "{v}"),
            Self::Uint(v) => write!(f, "{v}u"),
            Self::Double(v) => write!(f, "{v:?}"),
            Self::String(v) => write!(f, "{v:?}"),
            Self::Bytes(v) => write!(f, "b{:?}", String::from_utf8_lossy(v)),
            Self::Duration(v) => write!(f, "duration {v}ns"),
            Self::Timestamp(s, n) => write!(f, "timestamp {s}s {n}ns"),
            Self::List(v) => {
                f.write_str("[")?;
                for (i, element) in v.iter().enumerate() {
                    write!(f, "{}{element}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Map(v) => {
                f.write_str("{")?;
                for (i, (key, value)) in v.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
            Self::Type(v) => write!(f, "type {v}"),
            Self::Optional(None) => f.write_str("optional.none()"),
            Self::Optional(Some(v)) => write!(f, "optional.of({v})"),
            Self::Other(v) => f.write_str(v),
        }
    }
}
