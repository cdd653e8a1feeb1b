//! Random arguments: the edges of each type, and text that a function reads.

use super::grammar::grammar;
use celero_frontend::Type;
use celero_frontend::stdlib::{Builtin as B, Row};
use celero_tests::generate::{Owned, Rng};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The values of an overload's arguments. Those of later ones may depend on the first.
pub(super) fn of(rng: &mut Rng, row: &Row, types: &[Type]) -> Vec<Owned> {
    let mut args: Vec<Owned> = Vec::new();
    for (position, ty) in types.iter().enumerate() {
        let arg = match (args.first(), ty) {
            // A part of the first text.
            (Some(Owned::String(first)), Type::String) if position == 1 && rng.chance(50) && !reads(row.builtin, 1) => {
                Owned::String(part(rng, first))
            }
            // An element, a key, or the same value.
            (Some(Owned::List(first)), _) if rng.chance(40) && !first.is_empty() && is_element(row, ty) => {
                rng.pick(first).clone()
            }
            (Some(Owned::Map(first)), Type::String | Type::Dyn) if rng.chance(60) && !first.is_empty() => {
                rng.pick(first).0.clone()
            }
            (Some(first), ty) if rng.chance(20) && types.first() == Some(ty) => first.clone(),
            _ => one(rng, row.builtin, position, ty),
        };
        args.push(arg);
    }
    let sorted = format!("{:?}", row.builtin).starts_with("SortBy");
    if let (true, [Owned::List(indexes), Owned::List(keys)]) = (sorted, &mut args[..]) {
        *indexes = (0..keys.len() as i64).map(Owned::Int).collect();
    }
    if let (B::InList, [wanted, Owned::List(list)]) = (row.builtin, &mut args[..])
        && rng.chance(50)
    {
        list.push(wanted.clone());
    }
    if let (B::InMap, [key, Owned::Map(map)]) = (row.builtin, &mut args[..])
        && let (true, Some((other, _))) = (rng.chance(50), map.first())
    {
        *key = other.clone();
    }
    args
}

fn is_element(row: &Row, ty: &Type) -> bool {
    matches!(row.params.first(), Some(Type::List(first)) if **first == *ty)
}

fn part(rng: &mut Rng, text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let from = if rng.chance(30) { 0 } else { rng.below(chars.len() + 1) };
    let to = if rng.chance(30) { chars.len() } else { from + rng.below(chars.len() - from + 1) };
    chars[from..to].iter().collect()
}

/// Whether an argument has a grammar of its own.
fn reads(builtin: B, position: usize) -> bool {
    !grammar(builtin, position).0.is_empty()
}

/// The types of values that are read from text.
const READ: &[&str] = &[
    "bool",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "null_type",
    "list",
    "map",
    "google.protobuf.Timestamp",
    "type",
    "net.IP",
];

fn one(rng: &mut Rng, builtin: B, position: usize, ty: &Type) -> Owned {
    let (whole, pieces) = grammar(builtin, position);
    match ty {
        Type::String if !whole.is_empty() && rng.chance(90) => Owned::String(text(rng, whole, pieces)),
        Type::Bytes if !whole.is_empty() => Owned::Bytes(text(rng, whole, pieces).into_bytes()),
        Type::Type(_) if builtin == B::JsonParseAs => Owned::Type((*rng.pick(READ)).to_owned()),
        // Positions and counts.
        Type::Int if position > 0 && rng.chance(80) => Owned::Int(rng.below(12) as i64 - 2),
        Type::Int if builtin == B::Range => Owned::Int(rng.below(40) as i64 - 5),
        Type::Map(kv) if matches!(kv.1, Type::List(_) | Type::String) && *builtin_name(builtin) == *"http" => {
            headers(rng, &kv.1)
        }
        Type::List(element) if builtin == B::Format => {
            Owned::List((0..rng.below(5)).map(|_| random(rng, element)).collect())
        }
        ty => random(rng, ty),
    }
}

fn builtin_name(builtin: B) -> &'static str {
    celero_frontend::stdlib::TABLE.row(builtin).unwrap().library.name()
}

const HEADERS: &[&str] = &["cookie", "set-cookie", "via", "x-a", "authorization", "x-api-key", "proxy-authorization"];
const LINES: &[&str] = &[
    "",
    "a",
    "a, b",
    "a,,b ,",
    "\"x,y\", z",
    "\"x",
    "a\"b,c\"d, e",
    "\"\\\",\", f",
    "\\\",a",
    "s=1; t=2",
    "s=1;s=2",
    "s",
    "=v; s=\"q\"",
    " s = 1 ",
    "t=a=b; u=",
    "\t,\t",
    "é,日",
];

fn headers(rng: &mut Rng, ty: &Type) -> Owned {
    let mut map: Vec<(Owned, Owned)> = Vec::new();
    for name in HEADERS {
        if rng.chance(40) {
            let mut line = || Owned::String((*rng.pick(LINES)).to_owned());
            let value = match ty {
                Type::List(_) => Owned::List((0..3).map(|_| line()).collect::<Vec<_>>()),
                _ => line(),
            };
            map.push((Owned::String((*name).to_owned()), value));
        }
    }
    if let (Type::List(_), Some((_, Owned::List(lines)))) = (ty, map.first_mut()) {
        lines.truncate(rng.below(4));
    }
    Owned::Map(map)
}

/// One of whole texts, with a change, or pieces one after the other.
fn text(rng: &mut Rng, whole: &[&str], pieces: &[&str]) -> String {
    if rng.chance(40) || pieces.is_empty() {
        return (*rng.pick(whole)).to_owned();
    }
    if rng.chance(30) {
        let mut chars: Vec<char> = rng.pick(whole).chars().collect();
        let at = rng.below(chars.len() + 1);
        let new: Vec<char> = rng.pick(pieces).chars().collect();
        let end = (at + rng.below(3)).min(chars.len());
        chars.splice(at..end, new);
        return chars.into_iter().collect();
    }
    (0..1 + rng.below(5)).map(|_| *rng.pick(pieces)).collect()
}

fn random(rng: &mut Rng, ty: &Type) -> Owned {
    match ty {
        Type::Int => Owned::Int(integer(rng)),
        Type::Uint => Owned::Uint(if rng.chance(50) { integer(rng).unsigned_abs() } else { near(rng) }),
        Type::Double => Owned::Double(double(rng)),
        Type::String => Owned::String((0..rng.below(6)).map(|_| character(rng)).collect()),
        Type::Bytes if rng.chance(30) => Owned::Bytes((0..rng.below(140)).map(|_| rng.bits() as u8).collect()),
        Type::Bytes => Owned::Bytes((0..rng.below(4)).map(|_| *rng.pick(b"ab\x00\xff\xc3\xa9")).collect()),
        Type::Duration => Owned::Duration(match rng.below(3) {
            0 => integer(rng),
            1 => integer(rng).wrapping_mul(1_000_000_000),
            _ => rng.bits() as i64 >> rng.below(40),
        }),
        Type::Timestamp => timestamp(rng),
        Type::List(element) => Owned::List((0..rng.below(6)).map(|_| random(rng, element)).collect()),
        Type::Opaque(name, _) if &**name == "net.IP" => Owned::Ip(address(rng)),
        Type::Opaque(..) => {
            let address = address(rng);
            let width = if address.is_ipv4() { 33 } else { 129 };
            // Networks of mapped addresses have one form, that of IPv4.
            Owned::Cidr(address, rng.below(width) as u8)
        }
        other => Owned::random(rng, other),
    }
}

/// A number near a power of two, or any.
fn near(rng: &mut Rng) -> u64 {
    let power = 1u64.checked_shl(rng.below(65) as u32).unwrap_or(0);
    match rng.below(4) {
        0 => rng.bits(),
        1 => power.wrapping_sub(1),
        2 => power.wrapping_add(1),
        _ => power,
    }
}

fn integer(rng: &mut Rng) -> i64 {
    match rng.below(4) {
        0 => rng.below(10) as i64 - 4,
        1 => *rng.pick(&[i64::MIN, i64::MAX, i64::MIN + 1, -62_135_596_800, 253_402_300_799, 253_402_300_800, -1, 0]),
        2 => near(rng) as i64,
        _ => (near(rng) as i64).wrapping_neg(),
    }
}

fn double(rng: &mut Rng) -> f64 {
    const EDGES: &[f64] = &[
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        0.1,
        1e6,
        1e20,
        1e21,
        1e22,
        1e-4,
        1e-5,
        1e-7,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        9_007_199_254_740_992.0,
        9_223_372_036_854_775_807.0,
        -9_223_372_036_854_775_808.0,
        18_446_744_073_709_551_615.0,
        4_503_599_627_370_497.5,
        0.499_999_999_999_999_94,
        9_223_372_036_854_774_784.0,
    ];
    match rng.below(4) {
        0 | 1 => *rng.pick(EDGES),
        2 => f64::from_bits(rng.bits()),
        _ => integer(rng) as f64 / [1.0, 2.0, 1000.0][rng.below(3)],
    }
}

fn character(rng: &mut Rng) -> char {
    *rng.pick(&[
        'a',
        'b',
        'A',
        'Z',
        'z',
        '@',
        '[',
        '`',
        '{',
        ' ',
        '\t',
        '\n',
        '\0',
        '\u{7}',
        '\u{8}',
        '\u{b}',
        '\u{c}',
        '\r',
        '\u{7f}',
        '\u{85}',
        '\u{a0}',
        '\u{200b}',
        '\u{2028}',
        '\u{3000}',
        '"',
        '\\',
        '%',
        '+',
        '&',
        '=',
        'é',
        '\u{301}',
        'ß',
        'İ',
        '日',
        '\u{d7ff}',
        '\u{e000}',
        '\u{fffd}',
        '😀',
        '\u{10ffff}',
        '\u{feff}',
        '0',
        '9',
    ])
}

/// From the first to the last second, with the days about leap years, leap seconds and changes of the clocks.
fn timestamp(rng: &mut Rng) -> Owned {
    let (first, last) = (-62_135_596_800_i64, 253_402_300_799_i64);
    let seconds = match rng.below(4) {
        0 => *rng.pick(&[
            first,
            last,
            0,
            -1,
            1_483_228_799,
            1_483_228_800,
            951_782_400,
            951_868_800,
            4_107_542_400,
            -2_203_891_200,
        ]),
        // Changes of the clocks in Berlin and New York.
        1 => {
            *rng.pick(&[1_711_846_800_i64, 1_729_990_800, 1_710_054_000, 1_730_613_600]) + rng.below(7_200) as i64
                - 3_600
        }
        2 => 1_170_000_000 + rng.below(900_000_000) as i64,
        _ => first + (rng.bits() % (last - first) as u64) as i64,
    };
    Owned::Timestamp(
        seconds,
        *rng.pick(&[0, 1, 999_999_999, 500_000_000, 120_000_000, 123_456_789, 999_999, 1_000_000]),
    )
}

fn address(rng: &mut Rng) -> IpAddr {
    let v4 =
        [0, 1, 0x7f00_0001, 0x0a00_0001, 0x0aff_ffff, 0xe000_0001, 0xe000_0101, 0xa9fe_0101, u32::MAX, 0xc0a8_0101];
    let v6: [u128; 8] =
        [0, 1, 1 << 127, 0xfe80 << 112 | 1, 0xff02 << 112 | 1, 0xff05 << 112 | 1, 0x2001_0db8 << 96 | 5, u128::MAX];
    if rng.chance(50) {
        Ipv4Addr::from(rng.pick(&v4) ^ (u32::from(rng.chance(30)) << rng.below(32))).into()
    } else {
        let address: IpAddr = Ipv6Addr::from(rng.pick(&v6) ^ (u128::from(rng.chance(30)) << rng.below(128))).into();
        address.to_canonical()
    }
}
