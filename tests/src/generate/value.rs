//! Values that own what they hold: random ones for inputs, and copies of results, to be compared and shown.

use super::rng::Rng;
use super::types;
use crate::messages;
use celero::messages::Message;
use celero::values::{Arena, Duration, EvalResult, HostList, HostMap, List, Map, Timestamp};
use celero::{ErrorKind, Type, Value};
use std::cmp::Ordering;
use std::fmt;
use std::net::IpAddr;

/// A value of any CEL type. Shown as source text that gives the value, as far as the language has one.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the variants are those of `Value`")]
pub enum Owned {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    Duration(i64),
    Timestamp(i64, i64),
    List(Vec<Owned>),
    Map(Vec<(Owned, Owned)>),
    Type(String),
    Optional(Option<Box<Owned>>),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    /// Name and bytes of a message of the conformance suite, or of `tests/messages`.
    Message(String, Vec<u8>),
}

const STRINGS: &[&str] = &[
    "",
    "a",
    "b",
    "abc",
    "é",
    "日本語",
    "\0",
    "😀x",
    "10.0.0.1",
    "10.0.0.0/8",
    "/admin/users",
    "GET",
    "2023-11-14T22:13:20Z",
    "1h",
    "42",
    "true",
    "Europe/Berlin",
    "[",
    "a\u{fffd}b",
    r#"{"a":{"b":[1,{"c":"x"}],"c":2.5,"a":{"b":"\u0062"}},"b":"GET","c":null}"#,
    r#"{"a":{"a":1},"a":[0,{"a":"b"}],"b":true}"#,
    r#"[{"a":1,"b":"a"},[0,"b"],-7]"#,
    r#"{"a":1}x"#,
    "h.eyJhIjp7ImIiOiJ4IiwiYyI6WzFdfSwiYiI6bnVsbH0.s",
];
const INTS: &[i64] = &[
    0,
    1,
    2,
    -1,
    3,
    42,
    i64::MIN,
    i64::MAX,
    i64::MIN + 1,
    1 << 53,
    (1 << 53) + 1,
    -(1 << 53) - 1,
    253_402_300_799,
    1 << 31,
];
const UINTS: &[u64] = &[0, 1, 2, 42, u64::MAX, 1 << 63, (1 << 53) + 1, i64::MAX as u64];
const DOUBLES: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    2.0,
    -1.0,
    0.5,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    9_007_199_254_740_992.0,
    9.223_372_036_854_776e18,
    1.8e19,
    f64::MIN_POSITIVE,
    f64::MAX,
];
const TIMES: &[(i64, i64)] = &[
    (0, 0),
    (1_700_000_000, 123_456_789),
    (-62_135_596_800, 0),
    (253_402_300_799, 999_999_999),
    (1_711_848_600, 0),
    (-1, 999_999_999),
];
const DURATIONS: &[i64] = &[0, 1, -1, 1_000_000_000, -3_600_000_000_000, 5_400_000_000_000, i64::MAX, i64::MIN];
const ADDRESSES: &[&str] = &["10.0.0.1", "192.168.1.7", "::1", "2001:db8::5", "0.0.0.0", "::ffff:10.0.0.1"];
const BYTES: &[&[u8]] =
    &[b"", b"a", b"abc", b"\xff", b"\0", "é".as_bytes(), b"\xe2\x82", DOCUMENTS[0], DOCUMENTS[1], DOCUMENTS[2]];
const DOCUMENTS: [&[u8]; 3] = [
    br#"{"b":[{"a":1}],"a":{"b":{"c":[1,2]},"a":"x"},"c":7}"#,
    br#"[[1,2],{"a":{"b":1}},"a"]"#,
    b"{\"a\":\"\xff\",\"b\":1}",
];

impl Owned {
    /// What [`kind`](Self::kind) gives.
    pub const KINDS: &'static [&'static str] = &[
        "null",
        "bool",
        "int",
        "uint",
        "double",
        "string",
        "bytes",
        "duration",
        "timestamp",
        "list",
        "map",
        "type",
        "optional",
        "net.IP",
        "net.CIDR",
    ];

    /// The name of its type, without parameters.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "duration",
            Self::Timestamp(..) => "timestamp",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional",
            Self::Ip(_) => "net.IP",
            Self::Cidr(..) => "net.CIDR",
            Self::Message(..) => "message",
        }
    }

    /// A random value of a type.
    #[must_use]
    pub fn random(rng: &mut Rng, ty: &Type) -> Self {
        match ty {
            Type::Bool => Self::Bool(rng.chance(50)),
            Type::Int => Self::Int(*rng.pick(INTS)),
            Type::Uint => Self::Uint(*rng.pick(UINTS)),
            Type::Double => Self::Double(*rng.pick(DOUBLES)),
            Type::String => Self::String((*rng.pick(STRINGS)).to_owned()),
            Type::Bytes => Self::Bytes(rng.pick(BYTES).to_vec()),
            Type::Duration => Self::Duration(*rng.pick(DURATIONS)),
            Type::Timestamp => {
                let (seconds, nanos) = *rng.pick(TIMES);
                Self::Timestamp(seconds, nanos)
            }
            Type::List(element) => Self::List((0..rng.below(5)).map(|_| Self::random(rng, element)).collect()),
            Type::Map(kv) => {
                let mut entries: Vec<(Self, Self)> = Vec::new();
                for _ in 0..rng.below(4) {
                    let key = Self::key(rng, &kv.0);
                    if entries.iter().all(|(k, _)| !k.same_key(&key)) {
                        entries.push((key, Self::random(rng, &kv.1)));
                    }
                }
                Self::Map(entries)
            }
            Type::Optional(inner) => Self::Optional(rng.chance(60).then(|| Box::new(Self::random(rng, inner)))),
            Type::Type(_) => Self::Type("int".into()),
            Type::Opaque(name, _) if &**name == "net.IP" => Self::Ip(address(rng)),
            Type::Opaque(..) => {
                let address = address(rng);
                Self::Cidr(address, if address.is_ipv4() { 8 } else { 32 })
            }
            Type::Wrapper(inner) if rng.chance(70) => Self::random(rng, inner),
            Type::Null | Type::Wrapper(_) => Self::Null,
            Type::Dyn | Type::Error | Type::Param(_) | Type::Var(_) => loop {
                let ty = types::any(rng, 1);
                if !ty.is_dyn() {
                    break Self::random(rng, &ty);
                }
            },
        }
    }

    fn key(rng: &mut Rng, ty: &Type) -> Self {
        match ty {
            Type::Bool => Self::Bool(rng.chance(50)),
            Type::Int => Self::Int(*rng.pick(&[0, 1, 2, -1, i64::MAX])),
            Type::Uint => Self::Uint(*rng.pick(&[0, 1, 2, u64::MAX])),
            _ => Self::String((*rng.pick(&["a", "b", "c", ""])).to_owned()),
        }
    }

    fn same_key(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Uint(a), Self::Uint(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            _ => false,
        }
    }

    /// The value as programs read it. Lists and maps are the host's, as an embedder's would be.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is full.
    pub fn in_arena<'a>(&self, arena: &'a Arena) -> EvalResult<Value<'a>> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(*b),
            Self::Int(i) => Value::Int(*i),
            Self::Uint(u) => Value::Uint(*u),
            Self::Double(d) => Value::Double(*d),
            Self::String(s) => Value::String(arena.alloc_str(s)?),
            Self::Bytes(b) => Value::Bytes(arena.alloc_slice(b)?),
            Self::Duration(nanos) => Value::Duration(Duration(*nanos)),
            Self::Timestamp(seconds, nanos) => Value::Timestamp(Timestamp { seconds: *seconds, nanos: *nanos }),
            Self::List(elements) => {
                let mut values = arena.vec();
                for element in elements {
                    values.push(element.in_arena(arena)?)?;
                }
                let values = values.finish();
                // Both kinds of list must do the same.
                if elements.len() % 2 == 0 {
                    Value::List(List::Slice(values))
                } else {
                    Value::List(List::Host(arena.alloc(Elements(values))?))
                }
            }
            Self::Map(entries) => {
                let mut values = arena.vec();
                for (key, value) in entries {
                    values.push((key.in_arena(arena)?, value.in_arena(arena)?))?;
                }
                Value::Map(Map::Host(arena.alloc(Entries(values.finish()))?))
            }
            Self::Type(name) => Value::Type(arena.alloc_str(name)?),
            Self::Optional(None) => Value::Optional(None),
            Self::Optional(Some(inner)) => Value::Optional(Some(arena.alloc(inner.in_arena(arena)?)?)),
            Self::Ip(address) => Value::Ip(*address),
            Self::Cidr(address, prefix) => Value::Cidr(*address, *prefix),
            Self::Message(name, bytes) => {
                let message = Message::new(&messages::of(name).types, name, arena.alloc_slice(bytes)?);
                message.ok_or(ErrorKind::InvalidArgument)?.value(arena)?
            }
        })
    }

    /// A copy of a value.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is too small to show a host's list or map.
    pub fn of<'a>(value: &Value<'a>, arena: &'a Arena) -> EvalResult<Self> {
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(*b),
            Value::Int(i) => Self::Int(*i),
            Value::Uint(u) => Self::Uint(*u),
            Value::Double(d) => Self::Double(*d),
            Value::String(s) => Self::String((*s).to_owned()),
            Value::Bytes(b) => Self::Bytes(b.to_vec()),
            Value::Duration(d) => Self::Duration(d.0),
            Value::Timestamp(t) => Self::Timestamp(t.seconds, t.nanos),
            Value::List(list) => {
                let mut elements = Vec::new();
                while let Some(element) = list.get(elements.len(), arena)? {
                    elements.push(Self::of(&element, arena)?);
                }
                Self::List(elements)
            }
            Value::Map(Map::Sorted(entries)) => {
                let copy = |(k, v): &(Value<'a>, Value<'a>)| Ok((Self::of(k, arena)?, Self::of(v, arena)?));
                Self::Map(entries.iter().map(copy).collect::<EvalResult<_>>()?)
            }
            Value::Map(Map::Host(map)) => {
                let mut entries = Vec::new();
                while let Some((key, value)) = map.entry(entries.len(), arena)? {
                    entries.push((Self::of(&key, arena)?, Self::of(&value, arena)?));
                }
                Self::Map(entries)
            }
            Value::Type(name) => Self::Type((*name).to_owned()),
            Value::Optional(inner) => Self::Optional(inner.map(|v| Self::of(v, arena)).transpose()?.map(Box::new)),
            Value::Ip(address) => Self::Ip(*address),
            Value::Cidr(address, prefix) => Self::Cidr(*address, *prefix),
            Value::Message(message) => Self::Message(message.name().to_owned(), message.bytes().into_owned()),
        })
    }

    /// Whether two results are the same: of the same type to the last bit, but that any NaN is any
    /// NaN, and that entries of maps have no order.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Double(a), Self::Double(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (Self::List(a), Self::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b)),
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len() && a.iter().all(|(key, value)| b.iter().any(|(k, v)| key.same(k) && value.same(v)))
            }
            (Self::Optional(a), Self::Optional(b)) => match (a, b) {
                (Some(a), Some(b)) => a.same(b),
                (a, b) => a.is_none() && b.is_none(),
            },
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Uint(a), Self::Uint(b)) => a == b,
            (Self::String(a), Self::String(b)) | (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Timestamp(a, b), Self::Timestamp(c, d)) => (a, b) == (c, d),
            (Self::Ip(a), Self::Ip(b)) => a == b,
            (Self::Cidr(a, b), Self::Cidr(c, d)) => (a, b) == (c, d),
            (Self::Message(a, b), Self::Message(c, d)) => a == c && messages::same(a, b, d),
            _ => false,
        }
    }
}

fn address(rng: &mut Rng) -> IpAddr {
    rng.pick(ADDRESSES).parse().unwrap_or(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST))
}

impl fmt::Display for Owned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(i) => write!(f, "{i}"),
            Self::Uint(u) => write!(f, "{u}u"),
            Self::Double(d) => write!(f, "{d:?}"),
            Self::String(s) => write!(f, "{s:?}"),
            Self::Bytes(b) => write!(f, "b\"{}\"", b.escape_ascii()),
            Self::Duration(nanos) => write!(f, "duration(\"{nanos}ns\")"),
            Self::Timestamp(seconds, nanos) => write!(f, "timestamp({seconds}) + duration(\"{nanos}ns\")"),
            Self::List(elements) => {
                f.write_str("[")?;
                for (i, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Map(entries) => {
                f.write_str("{")?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
            Self::Type(name) => f.write_str(name),
            Self::Optional(None) => f.write_str("optional.none()"),
            Self::Optional(Some(inner)) => write!(f, "optional.of({inner})"),
            Self::Ip(address) => write!(f, "ip(\"{address}\")"),
            Self::Cidr(address, prefix) => write!(f, "cidr(\"{address}/{prefix}\")"),
            Self::Message(name, bytes) => write!(f, "{name}({})", bytes.escape_ascii()),
        }
    }
}

/// A list as a host has one.
#[derive(Clone, Copy, Debug)]
struct Elements<'a>(&'a [Value<'a>]);

impl HostList for Elements<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get<'s>(&'s self, index: usize, _arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(self.0.get(index).copied())
    }
}

/// A map as a host has one: in no order.
#[derive(Clone, Copy, Debug)]
struct Entries<'a>(&'a [(Value<'a>, Value<'a>)]);

impl HostMap for Entries<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get<'s>(&'s self, key: &Value<'_>, _arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(self.0.iter().find(|(k, _)| equal_keys(k, key)).map(|(_, v)| *v))
    }

    fn entry<'s>(&'s self, index: usize, _arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
        Ok(self.0.get(index).copied())
    }
}

/// Numbers are equal keys when they are the same number, whatever their types.
fn equal_keys(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => match (a, b) {
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::String(a), Value::String(b)) => a == b,
            _ => false,
        },
        _ => false,
    }
}

/// A number as an integer, if it is whole; no key is anything else.
fn number(value: &Value<'_>) -> Option<i128> {
    match value {
        Value::Int(i) => Some(i128::from(*i)),
        Value::Uint(u) => Some(i128::from(*u)),
        Value::Double(d) if d.fract() == 0.0 && d.total_cmp(&1e30) == Ordering::Less && *d > -1e30 => Some(*d as i128),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_from_the_arena_as_it_was() {
        let arena = Arena::new(1 << 24);
        let mut rng = Rng::new(3);
        for _ in 0..500 {
            let ty = types::any(&mut rng, 3);
            let value = Owned::random(&mut rng, &ty);
            let copy = Owned::of(&value.in_arena(&arena).unwrap(), &arena).unwrap();
            assert!(value.same(&copy), "{value} became {copy}");
        }
    }

    #[test]
    fn results_differ_by_type_and_sign_but_not_by_the_order_of_a_map() {
        let map = |keys: &[i64]| Owned::Map(keys.iter().map(|k| (Owned::Int(*k), Owned::Null)).collect());
        assert!(map(&[1, 2]).same(&map(&[2, 1])));
        assert!(!map(&[1, 2]).same(&map(&[1, 3])));
        assert!(!Owned::Int(1).same(&Owned::Uint(1)));
        assert!(!Owned::Double(0.0).same(&Owned::Double(-0.0)));
        assert!(Owned::Double(f64::NAN).same(&Owned::Double(-f64::NAN)));
    }
}
