//! Values in other formats, with the feature `serde`.

use super::OwnedValue;
use crate::arena::{Arena, EvalResult};
use crate::cx::Cx;
use crate::value::{List, MAX_DEPTH, Map, MapBuilder, Value, nested, network_text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use celero_ir::ErrorKind;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap, SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

impl Serialize for OwnedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written { value: &self.as_value(), depth: MAX_DEPTH }.serialize(serializer)
    }
}

impl Serialize for Value<'_> {
    /// Copies the value first, as [`to_owned`](Self::to_owned) does: a value that can't be read or is
    /// too large fails before anything is written.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_owned().map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// A part of an owned value that is written.
struct Written<'v> {
    value: &'v Value<'v>,
    /// The levels of nesting that are left.
    depth: u32,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self.value {
            Value::Null | Value::Optional(None) => serializer.serialize_unit(),
            Value::Bool(v) => serializer.serialize_bool(v),
            Value::Int(v) => serializer.serialize_i64(v),
            Value::Uint(v) => serializer.serialize_u64(v),
            Value::Double(v) if v.is_finite() => serializer.serialize_f64(v),
            Value::Double(v) if v.is_nan() => serializer.serialize_str("NaN"),
            Value::Double(v) => serializer.serialize_str(if v > 0.0 { "Infinity" } else { "-Infinity" }),
            Value::String(text) | Value::Type(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => serializer.serialize_str(&BASE64.encode(bytes)),
            Value::Duration(v) => serializer.collect_str(&v),
            Value::Timestamp(v) => serializer.collect_str(&v),
            Value::Ip(ip) => serializer.collect_str(&ip.to_canonical()),
            Value::Cidr(ip, prefix) => network_text(ip, prefix, |text| serializer.collect_str(&text)),
            Value::Optional(Some(value)) => self.inside(|depth| Written { value, depth }.serialize(serializer)),
            Value::List(list) => self.inside(|depth| elements(&list, depth, serializer)),
            Value::Map(map) => self.inside(|depth| members(&map, depth, serializer)),
            Value::Message(_) => Err(serde::ser::Error::custom("a message is not written as JSON")),
        }
    }
}

impl Written<'_> {
    /// Calls `write` for a nested value, with enough stack.
    fn inside<R, E: serde::ser::Error>(&self, write: impl FnOnce(u32) -> Result<R, E>) -> Result<R, E> {
        nested(self.depth, |depth| Ok(write(depth))).map_err(E::custom)?
    }
}

fn elements<S: Serializer>(list: &List<'_>, depth: u32, serializer: S) -> Result<S::Ok, S::Error> {
    let mut elements = serializer.serialize_seq(Some(list.len()))?;
    let made = Arena::new(usize::MAX);
    for index in 0..list.len() {
        let element = list.get(index, &made).and_then(|element| element.ok_or(ErrorKind::InvalidArgument));
        elements.serialize_element(&Written { value: &element.map_err(S::Error::custom)?, depth })?;
    }
    elements.end()
}

fn members<S: Serializer>(map: &Map<'_>, depth: u32, serializer: S) -> Result<S::Ok, S::Error> {
    let made = Arena::new(usize::MAX);
    let members = sorted_members(map, &made).map_err(S::Error::custom)?;
    let mut written = serializer.serialize_map(Some(members.len()))?;
    for (key, value) in members {
        written.serialize_entry(&key, &Written { value, depth })?;
    }
    written.end()
}

/// The entries of a map with their keys as text, in the order of the texts.
fn sorted_members<'a>(map: &Map<'a>, made: &'a Arena) -> EvalResult<Vec<(Cow<'a, str>, &'a Value<'a>)>> {
    let mut members = Vec::new();
    for (key, value) in map.entries(made)? {
        let key = match *key {
            Value::String(text) => Cow::Borrowed(text),
            Value::Int(number) => number.to_string().into(),
            Value::Uint(number) => number.to_string().into(),
            Value::Bool(value) => value.to_string().into(),
            _ => return Err(ErrorKind::NoSuchOverload),
        };
        members.push((key, value));
    }
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    let is_repeated = members.iter().zip(members.iter().skip(1)).any(|((a, _), (b, _))| a == b);
    if is_repeated { Err(ErrorKind::DuplicateKey) } else { Ok(members) }
}

impl<'de> Deserialize<'de> for OwnedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let arena = Arena::new(Self::MAX_BYTES);
        let value = Read { arena: &arena, depth: MAX_DEPTH }.deserialize(deserializer)?;
        value.to_owned().map_err(D::Error::custom)
    }
}

/// Reads a value into an arena.
#[derive(Clone, Copy)]
struct Read<'a> {
    arena: &'a Arena,
    /// The levels of nesting that are left.
    depth: u32,
}

impl Read<'_> {
    /// Calls `read` for a nested value, with enough stack.
    fn inside<R, E: serde::de::Error>(self, read: impl FnOnce(Self) -> Result<R, E>) -> Result<R, E> {
        nested(self.depth, |depth| Ok(read(Self { depth, ..self }))).map_err(E::custom)?
    }
}

impl<'de, 'a> DeserializeSeed<'de> for Read<'a> {
    type Value = Value<'a>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'a>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, 'a> Visitor<'de> for Read<'a> {
    type Value = Value<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of CEL")
    }

    fn visit_unit<E>(self) -> Result<Value<'a>, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value<'a>, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'a>, D::Error> {
        self.inside(|read| read.deserialize(deserializer))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'a>, D::Error> {
        self.visit_some(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'a>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'a>, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'a>, E> {
        Ok(i64::try_from(number).map_or(Value::Uint(number), Value::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'a>, E> {
        Ok(Value::Double(number))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value<'a>, E> {
        self.arena.alloc_str(text).map(Value::String).map_err(E::custom)
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Value<'a>, E> {
        self.arena.alloc_slice(bytes).map(Value::Bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value<'a>, A::Error> {
        self.inside(|read| {
            let mut elements = read.arena.vec();
            while let Some(element) = sequence.next_element_seed(read)? {
                elements.push(element).map_err(A::Error::custom)?;
            }
            Ok(Value::List(List::Slice(elements.finish())))
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value<'a>, A::Error> {
        self.inside(|read| {
            let mut map = MapBuilder::new(read.arena, 0).map_err(A::Error::custom)?;
            while let Some((key, value)) = access.next_entry_seed(read, read)? {
                map.insert(key, value).map_err(A::Error::custom)?;
            }
            map.finish(&Cx::new(i64::MAX, read.arena)).map(Value::Map).map_err(A::Error::custom)
        })
    }
}
