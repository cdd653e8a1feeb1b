//! The message types of protocol buffers that expressions may name.
//!
//! Where descriptors come from is a matter of the host; here are the types that the language
//! definition gives to what they declare ("Protocol Buffer Data Conversion", "Dynamic Values").

use crate::types::Type;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// Message types and the values of enums, by full name. Names begin without a dot.
#[derive(Clone, Debug, Default)]
pub struct MessageTypes {
    messages: HashMap<Arc<str>, DeclaredMessage>,
    /// Numbers of the values of enums: `package.Enum.VALUE`.
    constants: HashMap<Arc<str>, i64>,
    most_dots: usize,
}

/// A message type.
#[derive(Clone, Debug)]
struct DeclaredMessage {
    ty: Type,
    fields: HashMap<Arc<str>, Type>,
}

impl MessageTypes {
    /// Adds a message type with the types of its fields, which are what expressions read and what a
    /// literal sets; extensions are fields with full names. A second one of the same name hides the
    /// first.
    pub fn add_message(&mut self, name: &str, fields: impl IntoIterator<Item = (Arc<str>, Type)>) {
        let ty = type_of_message(name);
        self.keep_dots(name);
        self.messages.insert(name.into(), DeclaredMessage { ty, fields: fields.into_iter().collect() });
    }

    /// Adds the value of an enum by its full name: `package.Enum.VALUE`.
    pub fn add_constant(&mut self, name: &str, number: i64) {
        self.keep_dots(name);
        self.constants.insert(name.into(), number);
    }

    fn keep_dots(&mut self, name: &str) {
        self.most_dots = self.most_dots.max(name.matches('.').count());
    }

    /// Most dots in a name.
    pub(crate) fn most_dots(&self) -> usize {
        self.most_dots
    }

    /// Returns the type of the messages of this name.
    #[must_use]
    pub fn message(&self, name: &str) -> Option<&Type> {
        self.messages.get(name).map(|message| &message.ty)
    }

    /// Returns whether values of the type of this name have fields: messages, and those of the libraries.
    #[must_use]
    pub fn has_fields(&self, name: &str) -> bool {
        self.declared(name).is_some()
    }

    /// Returns the type of a field of a message, or of a library's value with fields; an extension has a full name.
    #[must_use]
    pub fn field(&self, message: &str, field: &str) -> Option<&Type> {
        self.declared(message)?.fields.get(field)
    }

    /// Returns the names of the fields of a type that [has fields](Self::has_fields), in no order.
    pub fn fields(&self, message: &str) -> impl Iterator<Item = &str> {
        self.declared(message).into_iter().flat_map(|message| message.fields.keys().map(|name| &**name))
    }

    fn declared(&self, name: &str) -> Option<&DeclaredMessage> {
        self.messages.get(name).or_else(|| OF_LIBRARIES.messages.get(name))
    }

    /// Returns the names of all messages, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.messages.keys().map(|name| &**name)
    }

    /// Returns the number of an enum's value by its full name.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<i64> {
        self.constants.get(name).copied()
    }
}

/// Returns the type of the messages of this name: the messages of `google.protobuf` that stand for
/// values of the language have the types of these (language definition, "Dynamic Values",
/// "Timestamps and Durations").
#[must_use]
pub fn type_of_message(name: &str) -> Type {
    let wrapper = |inner| Type::Wrapper(Arc::new(inner));
    match name.strip_prefix("google.protobuf.") {
        Some("Timestamp") => Type::Timestamp,
        Some("Duration") => Type::Duration,
        Some("Any" | "Value") => Type::Dyn,
        Some("Struct") => Type::map(Type::String, Type::Dyn),
        Some("ListValue") => Type::list(Type::Dyn),
        Some("BoolValue") => wrapper(Type::Bool),
        Some("BytesValue") => wrapper(Type::Bytes),
        Some("DoubleValue" | "FloatValue") => wrapper(Type::Double),
        Some("Int32Value" | "Int64Value") => wrapper(Type::Int),
        Some("StringValue") => wrapper(Type::String),
        Some("UInt32Value" | "UInt64Value") => wrapper(Type::Uint),
        _ => Type::message(name),
    }
}

/// The types with fields whose values only functions of libraries make: no literal does.
static OF_LIBRARIES: LazyLock<MessageTypes> = LazyLock::new(|| {
    let mut types = MessageTypes::default();
    let texts = ["issuer", "subject", "azp", "id", "alg", "keyId"].map(|name| (name, Type::String));
    let times = ["exp", "nbf", "iat"].map(|name| (name, Type::Timestamp));
    let fields = texts.into_iter().chain(times).chain([("aud", Type::list(Type::String))]);
    types.add_message("jwt.Token", fields.map(|(name, ty)| (name.into(), ty)));
    types
});

/// Whether values of this type are only made by functions of a library, though they have fields.
#[must_use]
pub(crate) fn is_of_library(name: &str) -> bool {
    OF_LIBRARIES.messages.contains_key(name)
}
