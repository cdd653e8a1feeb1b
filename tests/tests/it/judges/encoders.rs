//! Encodings bit by bit, JSON by `serde_json`, digests by `ring` and from RFC 1321.

use super::{Judged, No, value};
use celero_frontend::stdlib::Builtin::{self as B};
use celero_tests::generate::Owned::{self, *};
use ring::digest::{Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use ring::hmac;
use serde_json::Value as Json;

type Text = std::string::String;

/// The alphabet of base64, with its last two characters.
fn alphabet(last: &str) -> Vec<u8> {
    (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').chain(last.bytes()).collect()
}

/// RFC 4648, section 4: groups of six bits.
pub(super) fn base64(bytes: &[u8], last: &str, padding: bool) -> Text {
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let alphabet = alphabet(last);
    let six = |group: &[u8]| (0..6).fold(0, |number, bit| number * 2 + group.get(bit).copied().unwrap_or(0));
    let mut text: Text = bits.chunks(6).map(|group| alphabet[usize::from(six(group))] as char).collect();
    while padding && !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// The bytes of a text with the padding it needs or with none. `unused` bits after the last byte may be refused.
pub(super) fn from_base64(text: &str, last: &str, unused_bits: bool) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if digits.len() % 4 == 1 || (padding != 0 && (padding > 2 || !text.len().is_multiple_of(4))) {
        return None;
    }
    let alphabet = alphabet(last);
    let mut bits = Vec::new();
    for digit in digits.bytes() {
        let six = alphabet.iter().position(|other| *other == digit)?;
        bits.extend((0..6).rev().map(|bit| six >> bit & 1));
    }
    let (whole, unused) = bits.split_at(bits.len() / 8 * 8);
    if !unused_bits && unused.contains(&1) {
        return None;
    }
    Some(whole.chunks(8).map(|bits| bits.iter().fold(0, |byte, bit| byte * 2 + *bit as u8)).collect())
}

fn hex(bytes: &[u8]) -> Text {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let byte = |pair: &[u32]| Some((pair[0] * 16 + pair.get(1)?) as u8);
    digits.chunks(2).map(byte).collect()
}

fn url_encode(text: &str) -> Text {
    let byte = |byte: u8| match byte as char {
        c @ ('a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' | '_' | '~') => c.to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// All percents must be followed by two digits, and the bytes must be text.
fn url_decode(text: &str) -> Option<Text> {
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let digits = std::str::from_utf8(bytes.get(at + 1..at + 3)?).ok()?;
            decoded.extend(from_hex(digits)?);
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    Text::from_utf8(decoded).ok()
}

/// RFC 1321. The table of the algorithm is its own definition: the sine of whole numbers.
fn md5(message: &[u8]) -> Text {
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_le_bytes());
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks(64) {
        let word = |i: usize| u32::from_le_bytes(block[i * 4..i * 4 + 4].try_into().unwrap());
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64 {
            let (f, k, turns) = match i / 16 {
                0 => ((b & c) | (!b & d), i, [7, 12, 17, 22]),
                1 => ((b & d) | (c & !d), (5 * i + 1) % 16, [5, 9, 14, 20]),
                2 => (b ^ c ^ d, (3 * i + 5) % 16, [4, 11, 16, 23]),
                _ => (c ^ (b | !d), 7 * i % 16, [6, 10, 15, 21]),
            };
            let sine = (((i + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a.wrapping_add(f).wrapping_add(sine).wrapping_add(word(k));
            (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(turns[i % 4])));
        }
        for (sum, part) in state.iter_mut().zip([a, b, c, d]) {
            *sum = sum.wrapping_add(part);
        }
    }
    hex(&state.map(u32::to_le_bytes).concat())
}

/// A value that `serde_json` has read. Of keys that occur twice it keeps the last one.
fn from_json(json: &Json) -> Owned {
    match json {
        Json::Null => Null,
        Json::Bool(b) => Bool(*b),
        Json::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(i), _) => Int(i),
            (None, Some(u)) => Uint(u),
            // Integers that `serde_json` reads as doubles: `-0` has no other form.
            (None, None) if n.to_string() == "-0.0" => Double(-0.0),
            (None, None) => Double(n.as_f64().unwrap()),
        },
        Json::String(s) => String(s.clone()),
        Json::Array(a) => List(a.iter().map(from_json).collect()),
        Json::Object(o) => Map(o.iter().map(|(key, value)| (String(key.clone()), from_json(value))).collect()),
    }
}

/// The document of a value without doubles that JSON lacks, times and addresses.
pub(super) fn to_json(value: &Owned) -> Result<Json, No> {
    Ok(match value {
        Null => Json::Null,
        Bool(b) => (*b).into(),
        Int(i) => (*i).into(),
        Uint(u) => (*u).into(),
        Double(d) if d.is_finite() => (*d).into(),
        Double(d) => (if d.is_nan() {
            "NaN"
        } else if *d > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        })
        .into(),
        String(s) => s.clone().into(),
        Bytes(b) => base64(b, "+/", true).into(),
        List(l) => l.iter().map(to_json).collect::<Result<Vec<_>, _>>()?.into(),
        Map(m) => {
            let mut object = serde_json::Map::new();
            for (key, value) in m {
                let String(key) = key else { return Err(No::Unjudged) };
                object.insert(key.clone(), to_json(value)?);
            }
            object.into()
        }
        Optional(None) => Json::Null,
        Optional(Some(inner)) => to_json(inner)?,
        _ => return Err(No::Unjudged),
    })
}

/// `serde_json` reads the integer `-0` as a double.
fn read_json(bytes: &[u8]) -> Result<Owned, No> {
    if bytes.windows(2).any(|pair| pair == b"-0") {
        return Err(No::Unjudged);
    }
    serde_json::from_slice(bytes).map(|json| from_json(&json)).map_err(|_| No::Fails)
}

/// The document of a value as `json.encode` has it: what readers that know only doubles can't hold is text or an error.
fn interoperable(value: &Owned) -> Result<Json, No> {
    const MOST: u64 = (1 << 53) - 1;
    Ok(match value {
        Int(i) if i.unsigned_abs() > MOST => i.to_string().into(),
        Uint(u) if *u > MOST => u.to_string().into(),
        Double(d) if !d.is_finite() => return Err(No::Fails),
        Type(_) | Ip(_) | Cidr(..) | Optional(None) => return Err(No::Fails),
        List(l) => all(l.iter().map(interoperable))?.into(),
        Map(m) => {
            let members = m.iter().map(|(key, value)| match key {
                String(key) => Ok((key.clone(), interoperable(value)?)),
                _ => Err(No::Unjudged),
            });
            Json::Object(all(members)?.into_iter().collect())
        }
        Optional(Some(inner)) => interoperable(inner)?,
        other => to_json(other)?,
    })
}

/// All values. Which of several failures is met first depends on an order that a judge does not have.
fn all<T>(values: impl Iterator<Item = Result<T, No>>) -> Result<Vec<T>, No> {
    let results: Vec<Result<T, No>> = values.collect();
    if results.iter().any(|result| matches!(result, Err(No::Unjudged))) {
        return Err(No::Unjudged);
    }
    results.into_iter().collect()
}

/// The value of a document of this type, if it is one.
fn read_as(document: &str, ty: &str) -> Result<Option<Owned>, No> {
    let read = match read_json(document.as_bytes()) {
        Err(No::Fails) => return Ok(None),
        read => read?,
    };
    Ok(match (ty, read) {
        ("bool", read @ Bool(_)) | ("string", read @ String(_)) | ("null_type", read @ Null) => Some(read),
        ("int", read @ Int(_)) | ("uint", read @ Uint(_)) => Some(read),
        ("uint", Int(number)) => u64::try_from(number).ok().map(Uint),
        ("double", number @ (Int(_) | Uint(_) | Double(_))) => Some(doubles(number)),
        ("bytes", String(text)) => from_base64(&text, "+/", true).map(Bytes),
        ("list", read @ List(_)) | ("map", read @ Map(_)) => Some(doubles(read)),
        ("list", Null) => Some(List(Vec::new())),
        ("map", Null) => Some(Map(Vec::new())),
        ("google.protobuf.Timestamp" | "google.protobuf.Duration", String(_)) => return Err(No::Unjudged),
        _ => None,
    })
}

/// A value with doubles for all numbers. Of an integer of more digits the nearest is that of its text.
fn doubles(value: Owned) -> Owned {
    match value {
        Int(number) => Double(number.to_string().parse().unwrap()),
        Uint(number) => Double(number.to_string().parse().unwrap()),
        List(elements) => List(elements.into_iter().map(doubles).collect()),
        Map(entries) => Map(entries.into_iter().map(|(key, value)| (key, doubles(value))).collect()),
        other => other,
    }
}

/// The bytes of text or bytes.
fn content(value: &Owned) -> &[u8] {
    match value {
        String(s) => s.as_bytes(),
        Bytes(b) => b,
        _ => &[],
    }
}

/// Codes by SHA-256, 384 and 512; other digests are not ring's.
fn hmac_judge(b: B, args: &[Owned]) -> Option<Judged> {
    let (message, code, key, name) = match (b, args) {
        (B::HmacVerifyString | B::HmacVerifyBytes, [message, code, key, String(name)]) => {
            (content(message), Some(code), content(key), name)
        }
        (B::HmacComputeString | B::HmacComputeBytes, [message, key, String(name)]) => {
            (content(message), None, content(key), name)
        }
        _ => return None,
    };
    let algorithm = |name: &str| match name.to_ascii_lowercase().as_str() {
        "sha256" | "hs256" => Ok(hmac::HMAC_SHA256),
        "sha-384" => Ok(hmac::HMAC_SHA384),
        "sha512" | "hs512" => Ok(hmac::HMAC_SHA512),
        "sha-512/224" | "hs224" => Err(No::Unjudged),
        _ => Err(No::Fails),
    };
    let (written, own) = match code {
        Some(String(text)) => match text.trim().split_once('=') {
            Some((name @ "sha256", code)) => (code, Some(name)),
            Some(("v1", code)) => (code, None),
            _ => (text.trim(), None),
        },
        _ => ("", None),
    };
    let algorithm = match (algorithm(own.unwrap_or(name)), code) {
        (Err(No::Fails), Some(_)) => return Some(value(Bool(false))),
        (Err(no), _) => return Some(Err(no)),
        (Ok(algorithm), _) => algorithm,
    };
    let key = hmac::Key::new(algorithm, key);
    let Some(code) = code else { return Some(value(Bytes(hmac::sign(&key, message).as_ref().to_vec()))) };
    let readings = match code {
        Bytes(bytes) => vec![bytes.clone()],
        _ => {
            let read = [from_hex(written), from_base64(written, "+/", true), from_base64(written, "-_", true)];
            read.into_iter().flatten().chain([written.as_bytes().to_vec()]).collect()
        }
    };
    Some(value(Bool(readings.iter().any(|code| hmac::verify(&key, message, code).is_ok()))))
}

fn sha(algorithm: &'static Algorithm, value: &Owned) -> Judged {
    Ok(String(hex(digest(algorithm, content(value)).as_ref())))
}

pub(super) fn judge(b: B, args: &[Owned]) -> Option<Judged> {
    use B::*;
    if let Some(judged) = hmac_judge(b, args) {
        return Some(judged);
    }
    if let (B::JsonParseAs, [String(document), Type(ty)]) = (b, args) {
        return Some(read_as(document, ty).map(|read| Optional(read.map(Box::new))));
    }
    let [arg] = args else { return None };
    let bytes = |bytes: Option<Vec<u8>>| bytes.map(Bytes).ok_or(No::Fails);
    Some(match (b, arg) {
        (Base64Encode, Bytes(b)) => value(String(base64(b, "+/", true))),
        (Base64EncodeUrl, Bytes(b)) => value(String(base64(b, "-_", true))),
        (Base64Decode, String(s)) => bytes(from_base64(s, "+/", true)),
        (Base64DecodeUrl, String(s)) => bytes(from_base64(s, "-_", true)),
        (HexEncode, Bytes(b)) => value(String(hex(b))),
        (HexDecode, String(s)) => bytes(from_hex(s)),
        (UrlEncode, String(s)) => value(String(url_encode(s))),
        (UrlDecode, String(s)) => url_decode(s).map(String).ok_or(No::Fails),
        (JsonFromString | JsonFromBytes, document) => read_json(content(document)),
        (ToJson, any) => to_json(any).map(|json| String(json.to_string())),
        (JsonEncode, any) => interoperable(any).map(|json| String(json.to_string())),
        (JsonParse, String(document)) => match read_json(document.as_bytes()) {
            Ok(read) => value(Optional(Some(Box::new(read)))),
            Err(No::Fails) => value(Optional(None)),
            Err(No::Unjudged) => Err(No::Unjudged),
        },
        (UnvalidatedJwtPayload, String(token)) => {
            let parts: Vec<&str> = token.split('.').collect();
            let [_, payload, _] = parts[..] else { return Some(Err(No::Fails)) };
            if payload.contains('=') {
                return Some(Err(No::Fails));
            }
            let payload = from_base64(payload, "-_", false).ok_or(No::Fails);
            payload.and_then(|payload| read_json(&payload)).and_then(|claims| match claims {
                Map(_) => Ok(claims),
                _ => Err(No::Fails),
            })
        }
        (Sha1String | Sha1Bytes, any) => sha(&SHA1_FOR_LEGACY_USE_ONLY, any),
        (Sha256String | Sha256Bytes, any) => sha(&SHA256, any),
        (Md5String | Md5Bytes, any) => value(String(md5(content(any)))),
        _ => return None,
    })
}
