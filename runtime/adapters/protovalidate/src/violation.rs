//! What a validation finds: `buf.validate.Violation`.

use std::fmt;
use std::sync::Arc;

/// A rule that a message breaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violation {
    /// The path to the field, from the message that was validated. Empty for a rule of that message.
    pub field: Vec<PathElement>,
    /// The path to the rule in `buf.validate.FieldRules`. Empty for a rule of a message or a oneof.
    pub rule: Vec<PathElement>,
    /// The identifier of the rule: `string.min_len`.
    pub rule_id: String,
    /// For people; empty if the rule has no message.
    pub message: String,
    /// Whether the key of a map breaks the rule, and not its value.
    pub for_key: bool,
}

/// A step of a path: a field, and perhaps an element of its list or map. The types are numbers of
/// `google.protobuf.FieldDescriptorProto.Type`; 0 stands for none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathElement {
    /// The number of the field; 0 for a oneof.
    pub number: u32,
    /// Its name; of an extension the full name in brackets.
    pub name: String,
    /// The type of the field.
    pub ty: u32,
    /// The type of the keys of a map.
    pub key_type: u32,
    /// The type of the values of a map.
    pub value_type: u32,
    /// Which element of a list or a map.
    pub subscript: Option<Subscript>,
}

/// An element of a list by its index, or of a map by its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript {
    /// Of a list.
    Index(u64),
    /// Of a map with keys of the type `bool`.
    Bool(bool),
    /// Of a map with signed keys.
    Int(i64),
    /// Of a map with unsigned keys.
    Uint(u64),
    /// Of a map with keys of the type `string`.
    Text(Arc<str>),
}

impl fmt::Display for Violation {
    /// `items[0].name: must be at least 3 characters (string.min_len)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, element) in self.field.iter().enumerate() {
            write!(f, "{}{}", if at == 0 { "" } else { "." }, element.name)?;
            match &element.subscript {
                None => Ok(()),
                Some(Subscript::Index(index)) => write!(f, "[{index}]"),
                Some(Subscript::Bool(key)) => write!(f, "[{key}]"),
                Some(Subscript::Int(key)) => write!(f, "[{key}]"),
                Some(Subscript::Uint(key)) => write!(f, "[{key}]"),
                Some(Subscript::Text(key)) => write!(f, "[{key:?}]"),
            }?;
        }
        let separator = if self.field.is_empty() { "" } else { ": " };
        let message = if self.message.is_empty() { "invalid" } else { &self.message };
        write!(f, "{separator}{message} ({})", self.rule_id)
    }
}
