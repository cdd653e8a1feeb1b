//! Values of each type in many shapes and sizes.

use super::*;
use crate::value::message::Message;
use crate::value::{View, ViewForm};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use celero_frontend::Type;
use celero_protobuf::Descriptors;

/// Lengths of texts in bytes, around the 64 that a step scans.
const LENGTHS: [usize; 11] = [0, 1, 7, 31, 63, 64, 100, 250, 1_000, 8_000, 40_000];
const COUNTS: [usize; 7] = [0, 1, 3, 16, 100, 400, 2_000];

/// What texts repeat: plain, escaped, decoded, split, quoted, nested, malformed, beyond ASCII.
const PIECES: &[&str] = &[
    "a",
    "ab",
    "aaaaaaaaaaaaaaab",
    "A",
    "Z9",
    " ",
    "\u{3000}",
    "\u{a0}",
    "é",
    "🦀",
    "\"",
    "\\",
    "\n",
    "\u{1}",
    "%",
    "%%",
    "%41",
    "%c3%a9",
    "%ff",
    "%zz",
    "+",
    "&",
    "=",
    "a=1&",
    "a&",
    "%61=%62&",
    ",",
    ",,\"",
    "\\\",",
    ";",
    "a=b;",
    "a;",
    ".",
    "..",
    "/",
    "/a",
    "://",
    "#",
    "?",
    ":",
    "::",
    "1:",
    "0",
    "1",
    "9",
    "1.",
    "1e9",
    "-",
    "1h",
    "1ns",
    "1.5s",
    "[",
    "[]",
    "[1,",
    "{",
    "{\"a\":",
    "\"\\u00e9\"",
    "\"a\":1,",
    "1,",
    "null,",
    "QUJD",
    "QUJD=",
    "-_",
    "4142",
    "4g",
    "%s",
    "%d",
    "%f",
    "%e",
    "%x",
    "%b",
    "%.1000f",
    "%.1000e",
    "$",
    "${",
    "$1",
    "${a}",
    "\\1",
    "}",
    "T",
    "Z",
    "+05:30",
    "true",
    "x-user",
    "e.",
];

/// Texts of which there is one length.
const TEXTS: &[&str] = &[
    "UTC",
    "Europe/Berlin",
    "America/Argentina/ComodRivadavia",
    "+05:30",
    "2009-02-13T23:31:30.123456789+05:30",
    "106751d",
    "1h2m3s4ms5us6ns",
    "-9223372036854775808",
    "18446744073709551616",
    "1.7976931348623157e308",
    "4.9406564584124654e-324",
    "0.1e-999999",
    "255.255.255.255",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:fff0",
    "::ffff:1.2.3.4",
    "2001:db8::/33",
    "10.0.0.0/8",
    "cookie",
    "x-lines",
    "a.e30.c",
    "nan",
];

/// Makes values, which live as long as an arena.
pub(super) struct Values<'v> {
    pub(super) random: fastrand::Rng,
    pub(super) arena: &'v Arena,
}

impl<'v> Values<'v> {
    pub(super) fn new(seed: u64, arena: &'v Arena) -> Self {
        Self { random: fastrand::Rng::with_seed(seed), arena }
    }

    fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.usize(..all.len())]
    }

    /// A text of about `length` bytes that repeats a piece, and may end in another way.
    pub(super) fn repeated(&mut self, piece: &str, length: usize) -> &'v str {
        self.arena.alloc_str(&piece.repeat(length / piece.len())).unwrap()
    }

    fn text(&mut self) -> &'v str {
        match self.random.u8(..10) {
            0 => self.one(TEXTS),
            1 => {
                let length = self.one(&LENGTHS);
                let pieces: String = (0..length / 4).map(|_| self.one(PIECES)).collect();
                self.arena.alloc_str(&pieces).unwrap()
            }
            2 => {
                let (piece, end, length) = (self.one(PIECES), self.one(PIECES), self.one(&LENGTHS));
                let body = self.repeated(piece, length);
                self.arena.alloc_str(&format!("{end}{body}{end}")).unwrap()
            }
            _ => {
                let (piece, length) = (self.one(PIECES), self.one(&LENGTHS));
                self.repeated(piece, length)
            }
        }
    }

    /// An element of a list: the same kind for all of them.
    fn elements(&mut self, ty: &Type, count: usize) -> Vec<Value<'v>> {
        let generic = matches!(ty, Type::Param(_) | Type::Dyn);
        match (generic, self.random.u8(..8)) {
            (true, 0) => (0..count).map(|_| self.nested(400)).collect(),
            (true, 1) => (0..count).map(|_| self.list(&Type::Int, 3)).collect(),
            (true, 2) => {
                let prefix = "x".repeat(60);
                (0..count).map(|n| S(self.arena.alloc_str(&format!("{prefix}{n}")).unwrap())).collect()
            }
            (true, 3) => (0..count).map(|n| I(i64::try_from(n).unwrap())).collect(),
            (_, 4) => {
                let same = self.short(ty);
                vec![same; count]
            }
            _ => (0..count).map(|_| self.short(ty)).collect(),
        }
    }

    fn list(&mut self, ty: &Type, count: usize) -> Value<'v> {
        let elements = self.elements(ty, count);
        Value::List(List::Slice(self.arena.alloc_slice(&elements).unwrap()))
    }

    /// Optionals and lists in one another.
    pub(super) fn nested(&mut self, depth: usize) -> Value<'v> {
        (0..depth).fold(N, |inner, level| {
            let inner = self.arena.alloc(inner).unwrap();
            if level % 50 == 0 {
                Value::List(List::Slice(std::slice::from_ref(inner)))
            } else {
                Value::Optional(Some(inner))
            }
        })
    }

    /// A value that is not large itself.
    fn short(&mut self, ty: &Type) -> Value<'v> {
        match ty {
            Type::String => match self.random.u8(..3) {
                0 => S(self.one(TEXTS)),
                1 => S(self.one(PIECES)),
                _ => {
                    let n = self.random.u32(..);
                    S(self.arena.alloc_str(&format!("{}{n}", "k".repeat(50))).unwrap())
                }
            },
            Type::Bytes => Y(self.one(TEXTS).as_bytes()),
            Type::Optional(inner) => {
                let inner = self.short(inner);
                Value::Optional(Some(self.arena.alloc(inner).unwrap()))
            }
            Type::List(inner) => {
                let count = self.random.usize(..4);
                self.list(inner, count)
            }
            Type::Map(..) => self.map(ty, 3),
            Type::Dyn | Type::Param(_) => {
                let ty =
                    self.one(&[&Type::Int, &Type::Double, &Type::String, &Type::Timestamp, &Type::Duration]).clone();
                self.short(&ty)
            }
            other => self.of(other),
        }
    }

    fn map(&mut self, ty: &Type, count: usize) -> Value<'v> {
        let Type::Map(types) = ty else { panic!("{ty:?}") };
        let (key, value) = &**types;
        let numbers = matches!(key, Type::Param(_)) && self.random.bool();
        let entries: Vec<_> = (0..count)
            .map(|n| {
                let key = if numbers {
                    I(i64::try_from(n).unwrap())
                } else {
                    S(self.arena.alloc_str(&format!("{}{n}", "k".repeat(self.random.usize(..3) * 20))).unwrap())
                };
                (key, if count < 20 { self.of(value) } else { self.short(value) })
            })
            .collect();
        let mut builder = MapBuilder::new(self.arena, count).unwrap();
        entries.iter().for_each(|(key, value)| builder.insert(*key, *value).unwrap());
        Value::Map(builder.finish(&Cx::new(i64::MAX, self.arena)).unwrap())
    }

    /// A message with this many fields that nobody asks for.
    pub(super) fn message(&mut self, records: usize) -> Value<'v> {
        let types: &'v Descriptors = self.arena.keep(Descriptors::well_known()).unwrap();
        let bytes = self.arena.alloc_slice(&[0x18, 1].repeat(records)).unwrap();
        let message = Message::new(types, "google.protobuf.Struct.FieldsEntry", bytes).unwrap();
        Value::Message(self.arena.alloc(message).unwrap())
    }

    /// The text of a token with this many claims that nobody asks for.
    pub(super) fn token_text(&mut self, claims: usize) -> &'v str {
        let audience = vec!["\"somebody\""; claims.clamp(1, 100)].join(",");
        let more: String = (0..claims).map(|n| format!(r#","claim{n}":[{n},"text"]"#)).collect();
        let [header, payload] = [
            r#"{"alg":"RS256","kid":"key"}"#.to_owned(),
            format!(r#"{{"iss":"issuer","sub":"s","aud":[{audience}],"exp":1700000000,"iat":1.5e9{more}}}"#),
        ]
        .map(|json| URL_SAFE_NO_PAD.encode(json));
        self.arena.alloc_str(&format!("{header}.{payload}.c2ln")).unwrap()
    }

    /// A token with this many claims that nobody asks for.
    pub(super) fn token(&mut self, claims: usize) -> Value<'v> {
        let text = self.token_text(claims);
        let parsed = call(&Cx::new(i64::MAX, self.arena), "jwt.parse", &[S(text)]);
        let Ok(Value::Optional(Some(token))) = parsed else { panic!("{parsed:?}") };
        *token
    }

    /// A value of a type.
    pub(super) fn of(&mut self, ty: &Type) -> Value<'v> {
        match ty {
            Type::Bool => B(self.random.bool()),
            Type::Int => {
                let few = self.random.i64(..300);
                I(self.one(&[0, 1, -1, 5, 63, 100, 1_000, 10_000, i64::MAX, i64::MIN, few]))
            }
            Type::Uint => U(self.one(&[0, 1, 63, u64::MAX])),
            Type::Double => {
                D(self.one(&[0.0, -0.0, 1.5, 0.1 + 0.2, 5e-324, f64::MAX, 1e300, -1e21, f64::NAN, f64::INFINITY]))
            }
            Type::String => S(self.text()),
            Type::Bytes => Y(self.text().as_bytes()),
            Type::Duration => Value::Duration(Duration(self.one(&[0, 1, -1, i64::MAX, i64::MIN, 1_500_000_000]))),
            Type::Timestamp => {
                let seconds = self.one(&[0, Timestamp::MIN_SECONDS, Timestamp::MAX_SECONDS, 1_234_567_890]);
                Value::Timestamp(Timestamp::new(seconds, self.one(&[0, 1, 999_999_999])).unwrap())
            }
            Type::List(inner) => {
                let count = self.one(&COUNTS);
                self.list(&inner.clone(), count)
            }
            Type::Map(..) => {
                let count = self.one(&COUNTS);
                let map = self.map(ty, count);
                self.viewed(map)
            }
            Type::Optional(inner) => match self.random.u8(..4) {
                0 => NONE,
                _ => {
                    let inner = self.of(&inner.clone());
                    Value::Optional(Some(self.arena.alloc(inner).unwrap()))
                }
            },
            Type::Opaque(name, _) if **name == *Type::ANY_MESSAGE => {
                let records = self.one(&[0, 10, 1_000]);
                self.message(records)
            }
            Type::Opaque(name, _) if **name == *"jwt.Token" => {
                let claims = self.one(&[0, 10, 300]);
                self.token(claims)
            }
            Type::Type(_) => {
                Value::Type(self.one(&["int", "double", "string", "bytes", "list", "map", "google.protobuf.Timestamp"]))
            }
            Type::Opaque(name, _) => {
                let addresses =
                    ["0.0.0.0", "255.255.255.255", "::ffff:1.2.3.4", "2001:db8:ffff:ffff:ffff:ffff:ffff:fff0"];
                let address: IpAddr = self.one(&addresses).parse().unwrap();
                if **name == *"net.IP" { Value::Ip(address) } else { Value::Cidr(address, self.one(&[0, 8, 32])) }
            }
            Type::Dyn | Type::Param(_) => {
                let int = Type::list(Type::Dyn);
                let map = Type::map(Type::Param("A".into()), Type::Dyn);
                let of = [
                    &Type::Int,
                    &Type::Double,
                    &Type::String,
                    &Type::Bytes,
                    &Type::Timestamp,
                    &Type::Duration,
                    &int,
                    &map,
                ];
                let ty = self.one(&of).clone();
                if self.random.u8(..6) == 0 { self.nested(500) } else { self.of(&ty) }
            }
            other => panic!("no values of type {other:?}: add some here"),
        }
    }

    /// The map itself, or a view of it that computes its values.
    fn viewed(&mut self, map: Value<'v>) -> Value<'v> {
        let Value::Map(base) = map else { return map };
        let form = self.one(&[ViewForm::Same, ViewForm::Raw, ViewForm::Join, ViewForm::Split]);
        if form == ViewForm::Same {
            return map;
        }
        Value::Map(Map::Host(self.arena.alloc(View { base, form, redacted: false }).unwrap()))
    }
}
