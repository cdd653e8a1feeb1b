//! Literals of trees as JSON: numbers, addresses, byte strings, and the items of sets.

use super::Reader;
use celero_frontend::filter::FilterType;
use celero_frontend::filter::quoted_bytes;
use serde_json::Value as Json;

/// Where byte strings may be hexadecimal digits.
#[derive(Clone, Copy)]
pub(super) enum Digits {
    Always,
    /// Where a number may stand too.
    Argument,
    /// In a wildcard pattern.
    Never,
}

impl Digits {
    fn allow(self, bytes: &[u8]) -> bool {
        match self {
            Self::Always => true,
            Self::Argument => !starts_as_number(bytes),
            Self::Never => false,
        }
    }
}

impl Reader<'_> {
    /// An item of a set: a literal, a network, or a range.
    pub(super) fn item(&mut self, json: &Json, ty: &FilterType) {
        if !json.is_object() {
            return match (json.as_str(), ty) {
                (Some(text), FilterType::Ip) => self.address(text),
                _ => self.literal(json, ty),
            };
        }
        let Some(members) = self.object(json, &["start", "end"]) else { return };
        let (start, end) = (self.member(members, "start"), self.member(members, "end"));
        let (Some(start), Some(end)) = (start, end) else { return };
        self.within("start", |reader| reader.literal(start, ty));
        // A single number is written as a range; an address is not.
        if start != end || *ty == FilterType::Ip {
            self.text.push_str("..");
            self.within("end", |reader| reader.literal(end, ty));
        }
    }

    /// A literal of a type.
    pub(super) fn literal(&mut self, json: &Json, ty: &FilterType) {
        match (ty, json) {
            (FilterType::Int, Json::Number(number)) => match number.as_i64() {
                Some(number) => self.text.push_str(&number.to_string()),
                None => self.error("expected a whole number of 64 bits"),
            },
            (FilterType::Int, _) => self.error("expected a number"),
            (FilterType::Ip, Json::String(text)) => self.address(text),
            (FilterType::Ip, _) => self.error("expected a string with an address"),
            (_, Json::String(text)) => self.text.push_str(&quoted_bytes(text.as_bytes())),
            (_, Json::Array(numbers)) => {
                let byte = |number: &Json| number.as_u64().and_then(|number| u8::try_from(number).ok());
                match numbers.iter().map(byte).collect::<Option<Vec<u8>>>() {
                    Some(bytes) if bytes.len() > 1 && self.digits.allow(&bytes) => {
                        // With `:` they could be read as an address.
                        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
                        self.text.push_str(&digits.join("-"));
                    }
                    Some(bytes) => self.text.push_str(&quoted_bytes(&bytes)),
                    None => self.error("expected numbers from 0 to 255"),
                }
            }
            _ => self.error("expected a string, or an array of bytes"),
        }
    }

    /// The text of an address or a network, which has no other characters than these.
    fn address(&mut self, text: &str) {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':' | b'/')) {
            return self.error(format!("{text:?} is not an address or a network"));
        }
        self.text.push_str(text);
    }
}

/// Whether hexadecimal bytes start as a number would, so that as an argument they would be one.
fn starts_as_number(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| {
        let (high, low) = (first >> 4, first & 15);
        // `08` and `09` are no numbers: a leading 0 makes them octal.
        high <= 9 && low <= 9 && (high > 0 || low < 8)
    })
}
