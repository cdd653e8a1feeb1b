//! YAML as a tree in which every node has its span in the file, for error messages.
//!
//! Supported are mappings with scalar keys, sequences and scalars. Aliases, tags and several
//! documents in a file are errors, so a small file can't expand to a large document.

mod advice;
mod concealed;
mod file_span;
pub mod problems;
pub(crate) mod reach;
mod read;
mod scalar_offset;
mod surrogates;
mod url_secrets;

pub use read::{read, read_nested};

use problems::FileSpan;
use saphyr_parser::ScalarStyle;
use scalar_offset::Offsets;
use serde_json::Value as Json;

/// A node of a document.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its span.
    pub place: FileSpan,
    /// Its value.
    pub value: NodeValue,
}

/// The value of a node.
#[derive(Clone, Debug)]
pub enum NodeValue {
    /// A scalar. It may be nothing: `key:` without a value, `null` or `~`.
    Scalar(Scalar),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping.
    Map(Vec<MapEntry>),
}

/// An entry of a mapping.
#[derive(Clone, Debug)]
pub struct MapEntry {
    /// The key.
    pub key: SourceText,
    /// Its value.
    pub value: Node,
}

/// A scalar as text, with its style. Its reader decides whether the text is a number.
#[derive(Clone, Debug)]
pub struct Scalar {
    pub(crate) text: String,
    pub(crate) style: ScalarStyle,
}

/// The text of a scalar, and its span.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// The text, as YAML reads it.
    pub text: String,
    /// Its span.
    pub place: FileSpan,
    pub(crate) style: ScalarStyle,
    offsets: Offsets,
}

impl SourceText {
    fn new(text: String, place: FileSpan, style: ScalarStyle) -> Self {
        Self { text, place, style, offsets: Offsets::default() }
    }

    /// Returns whether the text is written as a block: `|` or `>`.
    #[must_use]
    pub fn is_block(&self) -> bool {
        matches!(self.style, ScalarStyle::Literal | ScalarStyle::Folded)
    }

    /// Returns the offset of the byte `at` of the text in its file, whose text is `file`.
    #[must_use]
    pub fn offset_in_file(&self, file: &str, at: usize) -> usize {
        let range = self.place.start as usize..self.place.end.max(self.place.start) as usize;
        self.offsets.get(file, range, &self.text, self.style, at)
    }
}

impl Node {
    /// Returns whether the node is nothing: `key:` without a value, `null` or `~`.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.plain().is_some_and(|text| matches!(text, "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Returns the text of a scalar that is written without quotes.
    #[must_use]
    pub fn plain(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Scalar(scalar) if scalar.style == ScalarStyle::Plain => Some(&scalar.text),
            _ => None,
        }
    }

    /// Returns the text of a scalar, in any style. `"5m"` and `5m` are one time: JSON, and tools
    /// that write YAML, have quotes around it.
    #[must_use]
    pub fn scalar(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// Returns the text of a scalar and its span, in any style; `None` for nothing.
    #[must_use]
    pub fn text(&self) -> Option<SourceText> {
        match &self.value {
            NodeValue::Scalar(Scalar { text, style }) if !self.is_nothing() => {
                Some(SourceText::new(text.clone(), self.place, *style))
            }
            _ => None,
        }
    }

    /// Replaces the text of a scalar, and keeps its style and its span. Does nothing to other nodes.
    pub fn set_text(&mut self, text: String) {
        if let NodeValue::Scalar(scalar) = &mut self.value {
            scalar.text = text;
        }
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|entry| entry.key.text == key).map(|entry| &entry.value)
    }

    /// Returns the entries of a mapping; none for another node.
    #[must_use]
    pub fn entries(&self) -> &[MapEntry] {
        match &self.value {
            NodeValue::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the elements of a sequence; none for another node.
    #[must_use]
    pub fn elements(&self) -> &[Node] {
        match &self.value {
            NodeValue::List(elements) => elements,
            _ => &[],
        }
    }

    /// Returns the text of a key's value.
    #[must_use]
    pub fn text_of(&self, key: &str) -> Option<SourceText> {
        self.get(key)?.text()
    }

    /// Returns the texts of the sequence that is a key's value.
    pub(crate) fn texts_of(&self, key: &str) -> Vec<SourceText> {
        self.get(key).map_or(&[][..], Node::elements).iter().filter_map(Node::text).collect()
    }

    /// Returns the node as JSON. A scalar without quotes that looks like a number, `true`, `false`
    /// or nothing becomes that.
    #[must_use]
    pub fn json(&self) -> Json {
        match &self.value {
            _ if self.is_nothing() => Json::Null,
            NodeValue::Scalar(scalar) => {
                let plain = self.plain().and_then(|text| serde_json::from_str(text).ok());
                plain
                    .filter(|json: &Json| json.is_number() || json.is_boolean())
                    .unwrap_or_else(|| scalar.text.clone().into())
            }
            NodeValue::List(elements) => elements.iter().map(Self::json).collect(),
            NodeValue::Map(entries) => {
                entries.iter().map(|entry| (entry.key.text.clone(), entry.value.json())).collect()
            }
        }
    }

    /// Returns whether the node is a sequence.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.value, NodeValue::List(_))
    }

    /// Returns the kind of the node with its article, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.value {
            _ if self.is_nothing() => "nothing",
            NodeValue::Scalar(_) => "text",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a mapping",
        }
    }
}
