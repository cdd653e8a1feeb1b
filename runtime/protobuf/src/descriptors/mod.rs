//! What the descriptors of messages say: types, fields, enums, by name and by number.

mod defaults;
mod link;
mod read;
#[cfg(test)]
mod tests;
mod well_known;

pub use self::well_known::WellKnown;

use crate::wire::WireError;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The messages, enums and methods of a `FileDescriptorSet`, and those of `google.protobuf` that
/// have a meaning of their own. Cheap to clone: clones share their memory. Equal if they are clones
/// of each other.
#[derive(Clone)]
pub struct Descriptors(Arc<Pool>);

#[derive(Debug, Default)]
struct Pool {
    messages: Vec<MessageType>,
    enums: Vec<EnumType>,
    methods: HashMap<Box<str>, Method>,
    names: HashMap<Box<str>, Named>,
}

/// What a full name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Message(u32),
    Enum(u32),
}

impl Descriptors {
    /// Reads a `FileDescriptorSet`, as `protoc --include_imports --descriptor_set_out=FILE` writes
    /// it.
    ///
    /// # Errors
    /// Bytes that are no such set; a name that is declared twice; a field whose type is not in the set; two fields of a
    /// message with the same name or number. The error names the file or the message.
    pub fn from_bytes(set: &[u8]) -> Result<Self, DescriptorError> {
        let files = read::files(set)?;
        link::pool(files).map(|pool| Self(Arc::new(pool)))
    }

    /// Returns only the types of `google.protobuf` that have a meaning of their own.
    #[must_use]
    pub fn well_known() -> Self {
        Self(Arc::new(link::pool(Vec::new()).unwrap_or_default()))
    }

    /// Returns a message by its full name, without a leading dot.
    #[must_use]
    pub fn message(&self, name: &str) -> Option<&MessageType> {
        match self.0.names.get(name)? {
            Named::Message(index) => self.0.messages.get(*index as usize),
            Named::Enum(_) => None,
        }
    }

    /// Returns an enum by its full name, without a leading dot.
    #[must_use]
    pub fn enumeration(&self, name: &str) -> Option<&EnumType> {
        match self.0.names.get(name)? {
            Named::Enum(index) => self.0.enums.get(*index as usize),
            Named::Message(_) => None,
        }
    }

    /// Returns all messages, without those that are the entries of maps.
    pub fn messages(&self) -> impl Iterator<Item = &MessageType> {
        self.0.messages.iter().filter(|message| !message.is_map_entry)
    }

    /// Returns all enums.
    #[must_use]
    pub fn enums(&self) -> &[EnumType] {
        &self.0.enums
    }

    /// Returns the methods of services by the path of their calls, `/package.Service/Method`, in no
    /// order.
    pub fn methods(&self) -> impl Iterator<Item = (&str, &Method)> {
        self.0.methods.iter().map(|(path, method)| (&**path, method))
    }

    /// Returns a method by the path of its calls: `/package.Service/Method`.
    #[must_use]
    pub fn method(&self, path: &str) -> Option<&Method> {
        self.0.methods.get(path)
    }

    /// Returns the type of a field's messages or groups, of a map the type of its entries.
    #[must_use]
    #[inline]
    pub fn message_of(&self, field: &Field) -> Option<&MessageType> {
        match field.kind {
            Kind::Message(index) | Kind::Group(index) => self.0.messages.get(index as usize),
            _ => None,
        }
    }

    /// Returns the enum of a field.
    #[must_use]
    pub fn enum_of(&self, field: &Field) -> Option<&EnumType> {
        match field.kind {
            Kind::Enum(index) => self.0.enums.get(index as usize),
            _ => None,
        }
    }

    /// Returns the fields of the keys and the values of a map.
    #[must_use]
    pub fn entry_of(&self, field: &Field) -> Option<(&Field, &Field)> {
        if field.cardinality != Cardinality::Map {
            return None;
        }
        let entry = self.message_of(field)?;
        Some((entry.by_number(1)?, entry.by_number(2)?))
    }
}

impl PartialEq for Descriptors {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Descriptors {}

impl fmt::Debug for Descriptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pool { messages, enums, methods, .. } = &*self.0;
        write!(f, "Descriptors({} messages, {} enums, {} methods)", messages.len(), enums.len(), methods.len())
    }
}

/// A message type.
#[derive(Debug)]
pub struct MessageType {
    name: Box<str>,
    /// Sorted by number.
    fields: Vec<Field>,
    /// Indices of the fields, by name.
    names: HashMap<Box<str>, u32, FixedState>,
    is_map_entry: bool,
    well_known: Option<WellKnown>,
}

impl MessageType {
    /// Its full name, without a leading dot.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its fields by number, and the extensions of it that are in the set.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns a field by its name; an extension by its full name.
    #[must_use]
    #[inline]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.get(*self.names.get(name)? as usize)
    }

    /// Returns a field by its number.
    #[must_use]
    #[inline]
    pub fn by_number(&self, number: u32) -> Option<&Field> {
        // Most types number their fields from 1 on.
        let dense = self.fields.get((number as usize).wrapping_sub(1));
        if let Some(field) = dense.filter(|field| field.number == number) {
            return Some(field);
        }
        let position = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        self.fields.get(position)
    }

    /// What it means, if it is one of the types of `google.protobuf` with a meaning of their own.
    #[must_use]
    #[inline]
    pub fn well_known(&self) -> Option<WellKnown> {
        self.well_known
    }
}

/// An enum.
#[derive(Debug)]
pub struct EnumType {
    name: Box<str>,
    values: Vec<(Box<str>, i32)>,
    /// Sorted.
    numbers: Vec<i32>,
    /// Whether numbers without a name are unknown fields (proto2), not values.
    is_closed: bool,
}

impl EnumType {
    /// Its full name, without a leading dot.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names and numbers of its values, in the order written. Several names may have the same
    /// number.
    #[must_use]
    pub fn values(&self) -> &[(Box<str>, i32)] {
        &self.values
    }

    /// Returns the number of a value by its name.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<i32> {
        self.values.iter().find(|(known, _)| **known == *name).map(|(_, number)| *number)
    }

    /// Whether a field can have this number: of a closed enum (proto2) only those that have a name.
    #[must_use]
    pub fn accepts(&self, number: i32) -> bool {
        !self.is_closed || self.numbers.binary_search(&number).is_ok()
    }
}

/// A method of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Full name of the type of its requests.
    pub request: Box<str>,
    /// Full name of the type of its responses.
    pub response: Box<str>,
    /// Whether a call sends any number of requests.
    pub client_streaming: bool,
    /// Whether a call receives any number of responses.
    pub server_streaming: bool,
}

/// The type of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number, a bool, a text or bytes.
    Scalar(Scalar),
    /// An enum: see [`Descriptors::enum_of`].
    Enum(u32),
    /// A message, by its length: see [`Descriptors::message_of`].
    Message(u32),
    /// A message between two tags.
    Group(u32),
}

/// A scalar type; the names are those of proto files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of proto files")]
pub enum Scalar {
    Double,
    Float,
    Int64,
    Uint64,
    Int32,
    Fixed64,
    Fixed32,
    Bool,
    String,
    Bytes,
    Uint32,
    Sfixed32,
    Sfixed64,
    Sint32,
    Sint64,
}

/// How many values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// At most one.
    Singular,
    /// Any number.
    Repeated,
    /// A value for each key.
    Map,
}

/// What a field has that is not set.
#[derive(Clone, Debug, PartialEq)]
pub enum Default {
    /// 0, false, the empty text, the first value of an enum, the empty message.
    Zero,
    /// A bool, an integer or the number of an enum's value.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A number with a fraction.
    Double(f64),
    /// A text.
    Text(Box<str>),
    /// Bytes.
    Bytes(Box<[u8]>),
}

/// A field of a message, or an extension of it.
#[derive(Debug)]
pub struct Field {
    name: Box<str>,
    json_name: Box<str>,
    number: u32,
    kind: Kind,
    cardinality: Cardinality,
    has_presence: bool,
    is_packed: bool,
    oneof: Option<u32>,
    default: Default,
}

impl Field {
    /// Its name; of an extension its full name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name in JSON: in lowerCamelCase, unless its declaration has another; of an extension its
    /// full name in brackets.
    #[must_use]
    pub fn json_name(&self) -> &str {
        &self.json_name
    }

    /// Its number.
    #[must_use]
    #[inline]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The type of its values; of a map, the message that an entry is.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How many values it has.
    #[must_use]
    #[inline]
    pub fn cardinality(&self) -> Cardinality {
        self.cardinality
    }

    /// Whether a field that is set to its default differs from one that is not set.
    #[must_use]
    pub fn has_presence(&self) -> bool {
        self.has_presence
    }

    /// Whether the numbers of a repeated field are written in one record. Readers accept both
    /// forms.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// The number of the `oneof` of its message that it belongs to.
    #[must_use]
    pub fn oneof(&self) -> Option<u32> {
        self.oneof
    }

    /// What it has where it is not set.
    #[must_use]
    pub fn default(&self) -> &Default {
        &self.default
    }
}

/// Why descriptors can't be used. The text names the file, the message or the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptorError(String);

impl DescriptorError {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl From<WireError> for DescriptorError {
    fn from(error: WireError) -> Self {
        Self(format!("these bytes are no file descriptor set: {error}"))
    }
}

impl fmt::Display for DescriptorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DescriptorError {}

/// A name with underscores as JSON has it: `user_name` is `userName` ("ProtoJSON Format").
#[must_use]
pub fn lower_camel_case(name: &str) -> String {
    let (mut out, mut is_after_underscore) = (String::with_capacity(name.len()), false);
    for c in name.chars() {
        match c {
            '_' => is_after_underscore = true,
            c if std::mem::take(&mut is_after_underscore) => out.push(c.to_ascii_uppercase()),
            c => out.push(c),
        }
    }
    out
}
