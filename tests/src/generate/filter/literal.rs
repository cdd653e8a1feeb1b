//! Literals in every spelling.

use super::{Rng, values};
use std::fmt::Write;
use std::net::IpAddr;

/// Regular expressions, as the pattern has them.
const PATTERNS: &[&str] = &[
    "",
    "^a",
    "b$",
    "^$",
    "a|b",
    "[a-c]+",
    "[^/]+/",
    r"\d+",
    r"\.",
    r"\\",
    "(?i)EXAMPLE",
    "(?i)^www",
    "a.c",
    "(a|b)*c",
    "a{2,3}b",
    r"^(.*)/(.*)$",
    "\"",
    "[\"']",
    r#"[^"\]]"#,
    r"\xff",
    r"^\xc3",
    "é",
    "(?s)a.b",
    "(?m)^b",
    r"\w\b",
];

/// Wildcard patterns, as the wildcard layer has them.
const WILDCARDS: &[&[u8]] = &[
    b"",
    b"*",
    b"a*",
    b"*a",
    b"*a*",
    b"a*b",
    b"*a*b*",
    b"/*",
    b"*.com",
    b"*.COM",
    b"www.*.com",
    b"ab",
    b"a\\*b",
    b"a\\\\b",
    b"\\**",
    b"*\\*",
    b"*b*a*",
    b"?",
    b"*\xff*",
    b"*a*a*a*",
    "*É*".as_bytes(),
];

/// Texts that replace something.
const REPLACEMENTS: &[&[u8]] = &[b"", b"x", b"${1}", b"[${0}]$$", b"${2}${1}", b"$1${", b"${9}$"];

/// A regular expression.
pub(super) fn pattern(rng: &mut Rng) -> &'static str {
    rng.pick::<&str>(PATTERNS)
}

/// A wildcard pattern.
pub(super) fn wildcard(rng: &mut Rng) -> Vec<u8> {
    if rng.chance(60) {
        return rng.pick(WILDCARDS).to_vec();
    }
    // Pieces of texts with stars between them.
    let mut pattern = Vec::new();
    for piece in 0..=rng.below(3) {
        if piece > 0 {
            pattern.push(b'*');
        }
        let mut text = values::text(rng);
        text.truncate(1 + rng.below(4));
        if piece > 0 && text.is_empty() {
            text.push(b'a');
        }
        for byte in text {
            if matches!(byte, b'*' | b'\\') {
                pattern.push(b'\\');
            }
            pattern.push(byte);
        }
    }
    pattern
}

/// A replacement text.
pub(super) fn replacement(rng: &mut Rng) -> &'static [u8] {
    rng.pick::<&[u8]>(REPLACEMENTS)
}

/// A number as text.
pub(super) fn int_text(rng: &mut Rng, number: i64) -> String {
    match rng.below(8) {
        0 if number >= 0 => format!("0x{number:x}"),
        1 if number >= 0 => format!("0x{number:X}"),
        2 if number >= 0 => format!("0{number:o}"),
        _ => number.to_string(),
    }
}

/// An address as text.
pub(super) fn ip_text(rng: &mut Rng, address: IpAddr) -> String {
    match address {
        IpAddr::V6(v6) if rng.chance(30) => {
            let groups: Vec<String> = v6.segments().iter().map(|group| format!("{group:04X}")).collect();
            groups.join(":")
        }
        _ => address.to_string(),
    }
}

/// An address, a network or a range as an item of a set. Networks are not longer than their address allows.
pub(super) fn ip_item(rng: &mut Rng) -> String {
    let address = values::address(rng);
    match rng.below(4) {
        0 => ip_text(rng, address),
        1 => {
            let other = values::address(rng);
            let (first, last) = match other.is_ipv4() == address.is_ipv4() {
                true => (address.min(other), address.max(other)),
                false => (address, address),
            };
            format!("{}..{}", ip_text(rng, first), ip_text(rng, last))
        }
        _ => {
            let (first, bits) = match address {
                IpAddr::V4(v4) => {
                    let bits = rng.below(33);
                    let mask = u32::MAX.checked_shr(u32::try_from(bits).unwrap_or(0)).unwrap_or(0);
                    (IpAddr::from((v4.to_bits() & !mask).to_be_bytes()), bits)
                }
                IpAddr::V6(v6) => {
                    let bits = rng.below(129);
                    let mask = u128::MAX.checked_shr(u32::try_from(bits).unwrap_or(0)).unwrap_or(0);
                    (IpAddr::from((v6.to_bits() & !mask).to_be_bytes()), bits)
                }
            };
            format!("{}/{bits}", ip_text(rng, first))
        }
    }
}

/// How a byte string may be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// In every way.
    Any,
    /// Quoted or raw.
    Text,
    /// As an argument: hexadecimal bytes only where they cannot be read as a number, an address or a name.
    Argument,
    /// As the published Wirefilter reads it: not raw, and quoted only if escapes stand for ASCII.
    Published,
    /// Quoted.
    Quoted,
}

/// A byte string as text.
pub(super) fn bytes_text(rng: &mut Rng, value: &[u8], spelling: Spelling) -> String {
    let text = std::str::from_utf8(value).ok();
    match (rng.below(10), spelling) {
        (0..=1, Spelling::Any | Spelling::Text | Spelling::Argument) => {
            if let Some(text) = text {
                return raw(rng, text);
            }
        }
        (2, Spelling::Any | Spelling::Published) if value.len() > 1 => return hexadecimal(rng, value),
        (2, Spelling::Argument) if value.len() > 1 && value.first().is_some_and(|byte| *byte >= 0xa0) => {
            return value.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join("-");
        }
        _ => {}
    }
    match (spelling, text) {
        (Spelling::Published, None) if value.len() > 1 => hexadecimal(rng, value),
        (Spelling::Published, None) => "C3:A9".to_owned(),
        _ => quoted(rng, value, spelling),
    }
}

fn hexadecimal(rng: &mut Rng, value: &[u8]) -> String {
    let mut text = String::new();
    for (index, byte) in value.iter().enumerate() {
        if index > 0 {
            text.push(*rng.pick(&[':', ':', '-', '.']));
        }
        let _ = if rng.chance(50) { write!(text, "{byte:02x}") } else { write!(text, "{byte:02X}") };
    }
    text
}

fn quoted(rng: &mut Rng, value: &[u8], spelling: Spelling) -> String {
    let escapes = if rng.chance(20) { 40 } else { 0 };
    let mut text = String::from("\"");
    for chunk in value.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' if !rng.chance(escapes) => text.extend(['\\', c]),
                c if (c.is_ascii() || spelling != Spelling::Published)
                    && (matches!(c, '"' | '\\') || rng.chance(escapes)) =>
                {
                    let mut buffer = [0; 4];
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        let _ = match rng.below(3) {
                            0 => write!(text, "\\{byte:03o}"),
                            1 => write!(text, "\\x{byte:02x}"),
                            _ => write!(text, "\\x{byte:02X}"),
                        };
                    }
                }
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text.push('"');
    text
}

fn raw(rng: &mut Rng, value: &str) -> String {
    let mut hashes = rng.below(2);
    while value.contains(&format!("\"{}", "#".repeat(hashes))) {
        hashes += 1;
    }
    let hashes = "#".repeat(hashes);
    format!("r{hashes}\"{value}\"{hashes}")
}

/// A regular expression as text.
pub(super) fn pattern_text(rng: &mut Rng, pattern: &str, published: bool) -> String {
    if !published && rng.chance(30) {
        return raw(rng, pattern);
    }
    let mut text = String::from("\"");
    let mut in_class = false;
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => {
                text.push(c);
                text.extend(characters.next());
                continue;
            }
            '"' if !in_class => text.push('\\'),
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        text.push(c);
    }
    text.push('"');
    text
}
