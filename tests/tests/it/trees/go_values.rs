//! Values as cel-go's judge writes and reads them: a kind, and a text or parts.

use celero_tests::differential::Ended;
use celero_tests::generate::Owned;
use celero_tests::messages;
use serde_json::{Value as Json, json};

/// A value as the judge reads it; `None` if it has no such value.
pub(super) fn shown(value: &Owned) -> Option<Json> {
    let leaf = |kind: &str, text: String| Some(json!({"kind": kind, "text": text}));
    let parts = |kind: &str, parts: Option<Vec<Json>>| Some(json!({"kind": kind, "parts": parts?}));
    match value {
        Owned::Null => leaf("null", String::new()),
        Owned::Bool(value) => leaf("bool", value.to_string()),
        Owned::Int(value) => leaf("int", value.to_string()),
        Owned::Uint(value) => leaf("uint", value.to_string()),
        Owned::Double(value) => leaf("double", value.to_string()),
        Owned::String(value) => leaf("string", value.clone()),
        Owned::Bytes(value) => {
            let text = serde_json::to_value(base64(value)).unwrap();
            leaf("bytes", text.as_str().unwrap().to_owned())
        }
        Owned::Duration(nanos) => leaf("duration", nanos.to_string()),
        Owned::Timestamp(seconds, nanos) => {
            let time = chrono::DateTime::from_timestamp(*seconds, u32::try_from(*nanos).ok()?)?;
            leaf("timestamp", time.to_rfc3339())
        }
        Owned::List(elements) => parts("list", elements.iter().map(shown).collect()),
        Owned::Map(entries) => {
            // The judge's keys are values of Go, which lists and doubles that are no numbers can't be.
            let is_key =
                |key: &Owned| matches!(key, Owned::Bool(_) | Owned::Int(_) | Owned::Uint(_) | Owned::String(_));
            let all = entries.iter().all(|(key, _)| is_key(key));
            let both = entries.iter().flat_map(|(key, value)| [shown(key), shown(value)]).collect();
            if all { parts("map", both) } else { None }
        }
        Owned::Message(name, wire) => {
            Some(json!({"kind": "message", "text": name, "parts": [shown(&Owned::Bytes(wire.clone()))]}))
        }
        Owned::Type(_) | Owned::Optional(_) | Owned::Ip(_) | Owned::Cidr(..) => None,
    }
}

pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

pub(super) fn bytes(text: &Json) -> Vec<u8> {
    let text = text.as_str().unwrap_or_default().trim_end_matches('=');
    let (mut out, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for c in text.bytes() {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    out
}

/// Whether a result is the one that the judge has.
pub(super) fn agrees(own: &Ended, other: &Json) -> bool {
    match own {
        Ended::Value(value) => is_value(value, other),
        Ended::Error(..) => other["kind"] == "error",
    }
}

fn is_value(own: &Owned, other: &Json) -> bool {
    let (kind, text) = (other["kind"].as_str().unwrap(), other["text"].as_str().unwrap());
    let parts = other["parts"].as_array().map_or(&[][..], Vec::as_slice);
    match own {
        Owned::Double(number) => {
            let other: Option<f64> = text.parse().ok().filter(|_| kind == "double");
            other.is_some_and(|other| other.to_bits() == number.to_bits() || other.is_nan() && number.is_nan())
        }
        Owned::Timestamp(seconds, nanos) => {
            let time = chrono::DateTime::parse_from_rfc3339(text).ok().filter(|_| kind == "timestamp");
            time.is_some_and(|time| (time.timestamp(), i64::from(time.timestamp_subsec_nanos())) == (*seconds, *nanos))
        }
        Owned::List(elements) => {
            kind == "list"
                && elements.len() == parts.len()
                && elements.iter().zip(parts).all(|(one, other)| is_value(one, other))
        }
        Owned::Map(entries) => {
            let has = |(key, value): &(Owned, Owned)| {
                parts.chunks(2).any(|other| is_value(key, &other[0]) && is_value(value, &other[1]))
            };
            kind == "map" && entries.len() * 2 == parts.len() && entries.iter().all(has)
        }
        Owned::Optional(inner) => {
            kind == "optional"
                && inner.iter().len() == parts.len()
                && inner.iter().zip(parts).all(|(one, other)| is_value(one, other))
        }
        Owned::Message(name, wire) => {
            (kind, text) == ("message", name) && messages::same(name, wire, &bytes(&parts[0]["text"]))
        }
        Owned::Type(name) => (kind, text) == ("type", name),
        Owned::Ip(address) => (kind, text) == ("net.IP", &address.to_string()),
        Owned::Cidr(address, length) => (kind, text) == ("net.CIDR", &format!("{address}/{length}")),
        own => shown(own).is_some_and(|own| (own["kind"].as_str(), own["text"].as_str()) == (Some(kind), Some(text))),
    }
}
