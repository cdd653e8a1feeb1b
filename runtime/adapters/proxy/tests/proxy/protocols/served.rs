//! What the server got of a request.

use super::nature::is_framing_of_http1;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Served {
    method: String,
    target: String,
    /// The lines of each field in their order.
    fields: BTreeMap<String, Vec<String>>,
    body: String,
}

impl Served {
    /// Reads the description that the server answers with.
    pub(super) fn of(answer: &[u8]) -> Self {
        let echo: Json = serde_json::from_slice(answer)
            .unwrap_or_else(|_| panic!("no description of a request: {}", answer.escape_ascii()));
        let text = |value: &Json| value.as_str().unwrap().to_owned();
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        // Each byte of a value is a character there.
        let value = |value: &Json| {
            let bytes: Vec<u8> = text(value).chars().map(|character| u8::try_from(character).unwrap()).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        for field in echo["headers"].as_array().unwrap() {
            fields.entry(text(&field[0])).or_default().push(value(&field[1]));
        }
        fields.retain(|name, _| !is_framing_of_http1(name));
        Self { method: text(&echo["method"]), target: text(&echo["target"]), fields, body: text(&echo["body"]) }
    }

    /// Returns what differs from what the server got in another way.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        (self != other).then(|| format!("{self:?} and not {other:?}"))
    }

    /// Returns what differs from what the rules of the last phase have read.
    pub(super) fn unlike_rules(&self, read: &Map<String, Json>) -> Vec<(String, String)> {
        let of = |name: &str| read.get(&format!("log|cel|{name}")).cloned().unwrap_or_default();
        let mut lines = of("request.headers.raw()");
        if let Json::Object(fields) = &mut lines {
            fields.retain(|name, _| !is_framing_of_http1(name));
        }
        let checks = [
            ("request.method", of("request.method"), Json::from(&*self.method)),
            ("request.uri", of("request.uri"), Json::from(&*self.target)),
            (
                "request.headers",
                lines,
                Json::from_iter(self.fields.iter().map(|(name, lines)| (name.as_str(), lines.clone()))),
            ),
        ];
        let differing = checks.into_iter().filter(|(_, read, got)| read != got);
        differing
            .map(|(name, read, got)| (format!("{name} for rules and server"), format!("{read} and {got}")))
            .collect()
    }
}
