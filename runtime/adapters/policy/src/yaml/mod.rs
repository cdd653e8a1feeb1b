//! YAML as a tree in which everything knows its place, so that what is wrong can be shown.
//!
//! Of YAML only what a policy needs is taken: mappings with scalar keys, sequences and scalars. Aliases, tags and several documents
//! are refused, so that a file is as large as it looks.

mod place;
mod read;

pub(crate) use place::offset_in_file;
pub use read::read;

use crate::problems::Place;
use saphyr_parser::ScalarStyle;
use serde_json::Value as Json;

/// A part of a document.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Value {
    /// Text, or nothing.
    Scalar(Scalar),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping.
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: Text,
    /// Its value.
    pub value: Node,
}

/// Text in one of YAML's styles; what else it may be is for its reader to say.
#[derive(Clone, Debug)]
pub struct Scalar {
    pub(crate) text: String,
    pub(crate) style: ScalarStyle,
}

/// Text and its place.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text, as YAML reads it.
    pub text: String,
    /// Where it stands.
    pub place: Place,
    pub(crate) style: ScalarStyle,
}

impl Node {
    /// Whether nothing is written: `key:` without a value, `null` or `~`.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.plain().is_some_and(|text| matches!(text, "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The text of a scalar without quotes.
    #[must_use]
    pub fn plain(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) if scalar.style == ScalarStyle::Plain => Some(&scalar.text),
            _ => None,
        }
    }

    /// The text of any scalar that is there.
    #[must_use]
    pub fn text(&self) -> Option<Text> {
        match &self.value {
            Value::Scalar(Scalar { text, style }) if !self.is_nothing() => {
                Some(Text { text: text.clone(), place: self.place, style: *style })
            }
            _ => None,
        }
    }

    /// The value under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|entry| entry.key.text == key).map(|entry| &entry.value)
    }

    /// The entries of a mapping; none of what is no mapping.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The elements of a sequence; none of what is no sequence.
    #[must_use]
    pub fn elements(&self) -> &[Node] {
        match &self.value {
            Value::List(elements) => elements,
            _ => &[],
        }
    }

    /// The text under a key.
    pub(crate) fn text_of(&self, key: &str) -> Option<Text> {
        self.get(key)?.text()
    }

    /// The texts of a sequence under a key.
    pub(crate) fn texts_of(&self, key: &str) -> Vec<Text> {
        self.get(key).map_or(&[][..], Node::elements).iter().filter_map(Node::text).collect()
    }

    /// As JSON: what is written without quotes and looks like a number, a truth value or nothing is that.
    pub(crate) fn json(&self) -> Json {
        match &self.value {
            _ if self.is_nothing() => Json::Null,
            Value::Scalar(scalar) => {
                let plain = self.plain().and_then(|text| serde_json::from_str(text).ok());
                plain
                    .filter(|json: &Json| json.is_number() || json.is_boolean())
                    .unwrap_or_else(|| scalar.text.clone().into())
            }
            Value::List(elements) => elements.iter().map(Self::json).collect(),
            Value::Map(entries) => entries.iter().map(|entry| (entry.key.text.clone(), entry.value.json())).collect(),
        }
    }

    /// What it is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.value {
            _ if self.is_nothing() => "nothing",
            Value::Scalar(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}
