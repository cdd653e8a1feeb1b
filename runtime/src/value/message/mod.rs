//! Messages of protocol buffers: read from their wire bytes field by field, and written by literals
//! (language definition, "Protocol Buffer Data Conversion").
//!
//! A message is a type and wire bytes, or a message of the host. What a rule does not read is not
//! decoded, and a literal writes the bytes that the next selection reads.

mod build;
mod bytes;
mod equality;
#[cfg(feature = "serde_json")]
mod from_json;
mod host;
mod read;
mod scalar;
mod table;
mod to_json;
mod token;
mod types;
mod unset;
mod well_known;

pub(crate) use build::{build, field_numbers};
pub(crate) use equality::equal;
pub use host::{HostField, HostMessage};
pub(crate) use read::{has, has_known, is_empty, select, select_known, select_optional};
use table::{Numbers, Table};
pub(crate) use token::{Token, claims_of, without_end};
pub(crate) use types::declared_types;

use crate::arena::{Arena, EvalResult};
use crate::cx::Cx;
use crate::value::Value;
use celero_ir::ErrorKind;
use celero_protobuf::{Descriptors, Field, MessageType, WireError};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

/// A message: its type, and its bytes in the wire format, from which rules read fields in place, or a
/// message of the host. Bind one as [`Value::Message`].
///
/// ```
/// use celero::messages::{Descriptors, Message};
/// use celero::values::Arena;
/// use celero::{Bindings, Engine, Env, Type};
///
/// // `protoc --include_imports --descriptor_set_out=FILE` writes them for your own types.
/// let types = Descriptors::well_known();
/// let env = Env::dynamic().messages(&types).variable("when", Type::Timestamp);
/// let rule = Engine::new().compile(&env, "when.getFullYear() == 2001")?;
///
/// let bytes = [0x08, 0x80, 0x94, 0xeb, 0xdc, 0x03]; // seconds: 1_000_000_000
/// let message = Message::new(&types, "google.protobuf.Timestamp", &bytes).ok_or("no such type")?;
/// let arena = Arena::new(1 << 16);
/// let mut call = Bindings::new(&env);
/// call.set("when", message.value(&arena)?)?;
/// assert!(rule.test(&call)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Message<'a> {
    types: &'a Descriptors,
    ty: &'a MessageType,
    form: Form<'a>,
}

/// What the fields are read from.
#[derive(Clone, Copy)]
enum Form<'a> {
    Bytes {
        bytes: &'a [u8],
        /// Of the bytes, if they are well-formed and were read once before.
        table: Option<Table<'a>>,
    },
    Host(&'a dyn HostMessage),
}

impl<'a> Message<'a> {
    /// Returns a message of the type with this full name; `None` if there is no such type. The
    /// bytes are not read: what is wrong with them is an error of the evaluation that comes upon
    /// it.
    #[must_use]
    pub fn new(types: &'a Descriptors, name: &str, bytes: &'a [u8]) -> Option<Self> {
        types.message(name).map(|ty| Self::of(types, ty, bytes))
    }

    /// Returns a message of the host, of the type with this full name; `None` if there is no such type.
    #[must_use]
    pub fn of_host(types: &'a Descriptors, name: &str, host: &'a dyn HostMessage) -> Option<Self> {
        types.message(name).map(|ty| Self { types, ty, form: Form::Host(host) })
    }

    fn of(types: &'a Descriptors, ty: &'a MessageType, bytes: &'a [u8]) -> Self {
        Self { types, ty, form: Form::Bytes { bytes, table: None } }
    }

    /// The message by its bytes in the wire format, and these.
    fn in_wire_format(&self, cx: &Cx<'a>) -> EvalResult<(Self, &'a [u8])> {
        match self.form {
            Form::Bytes { bytes, .. } => Ok((*self, bytes)),
            Form::Host(host) => {
                let bytes = host::encoded(cx, host)?;
                Ok((Self::of(self.types, self.ty, bytes), bytes))
            }
        }
    }

    /// Returns the message with its fields read: once, and not once for each field that a rule reads. Use it
    /// where rules read several fields of the same message. Bytes that are malformed stay as they are.
    ///
    /// # Errors
    /// `out_of_budget` at the limit of the arena. Of that it takes in proportion to the size of the message: at
    /// most 4 KiB, 40 bytes for each field of its type, and some bytes for each of its bytes.
    pub fn indexed(self, arena: &'a Arena) -> EvalResult<Self> {
        let Form::Bytes { bytes, .. } = self.form else { return Ok(self) };
        let table = Table::of_all(&Cx::new(i64::MAX, arena), &self, bytes)?;
        Ok(table.map_or(self, |table| self.with_table(bytes, table)))
    }

    /// Returns the message with those of its fields read that have these numbers and can be; a message with a table as
    /// it is. `numbers` is a set of bits, of which the lowest is the field with the number 1.
    /// It takes nothing of the budget: the selections take what they would without a table.
    pub(crate) fn with_fields(self, cx: &Cx<'a>, numbers: u64) -> EvalResult<Self> {
        let Form::Bytes { bytes, table: None } = self.form else { return Ok(self) };
        let table = Table::of_fields(cx, &self, bytes, Numbers(numbers))?;
        Ok(table.map_or(self, |table| self.with_table(bytes, table)))
    }

    fn with_table(self, bytes: &'a [u8], table: Table<'a>) -> Self {
        Self { form: Form::Bytes { bytes, table: Some(table) }, ..self }
    }

    /// Returns the message as rules see it: itself, or what it stands for if it is one of the types
    /// of `google.protobuf` with a meaning of their own, such as a timestamp.
    ///
    /// # Errors
    /// `invalid_argument` if such a message is malformed or out of range, `overflow` for a duration of
    /// more than 64 bits of nanoseconds; `out_of_budget` at the limit of the arena.
    pub fn value(self, arena: &'a Arena) -> EvalResult<Value<'a>> {
        if self.ty.well_known().is_none() {
            return arena.alloc(self).map(Value::Message);
        }
        let cx = Cx::new(i64::MAX, arena);
        let (_, bytes) = self.in_wire_format(&cx)?;
        well_known::message_value(&cx, self.types, self.ty, bytes, crate::value::MAX_DEPTH)
    }

    /// The full name of its type.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.ty.name()
    }

    /// Its bytes in the wire format; those of a message of the host are written anew.
    #[must_use]
    pub fn bytes(&self) -> Cow<'a, [u8]> {
        match self.form {
            Form::Bytes { bytes, .. } => Cow::Borrowed(bytes),
            Form::Host(host) => Cow::Owned(host.encode()),
        }
    }

    /// Whether messages of its type have fields.
    pub(crate) fn has_fields(&self) -> bool {
        !self.ty.fields().is_empty()
    }

    /// The descriptors that its type is one of.
    pub(crate) fn types(&self) -> &'a Descriptors {
        self.types
    }

    /// A copy of it in other memory, with descriptors that live as long.
    pub(crate) fn copy<'b>(&self, types: &'b Descriptors, arena: &'b Arena) -> EvalResult<Message<'b>> {
        let ty = types.message(self.ty.name()).ok_or(ErrorKind::InvalidArgument)?;
        Ok(Message::of(types, ty, arena.alloc_slice(&self.bytes())?))
    }

    /// Returns the fields that are set, in the order of their numbers.
    ///
    /// # Errors
    /// `invalid_argument` if the message is malformed; `out_of_budget`.
    pub(crate) fn set_fields(&self, cx: &Cx<'a>) -> EvalResult<Vec<&'a Field>> {
        let mut numbers = BTreeSet::new();
        let (message, bytes) = self.in_wire_format(cx)?;
        for record in bytes::records(bytes) {
            cx.charge(1)?;
            numbers.insert(record?.number);
        }
        let mut fields = Vec::new();
        for field in numbers.iter().filter_map(|number| self.ty.by_number(*number)) {
            if read::has_field(cx, &message, field)? {
                fields.push(field);
            }
        }
        Ok(fields)
    }

    /// Returns the value of a field.
    ///
    /// # Errors
    /// `invalid_argument` if the message is malformed; `out_of_budget`.
    pub(crate) fn value_of(&self, cx: &Cx<'a>, field: &'a Field) -> EvalResult<Value<'a>> {
        read::field_value(cx, self, field)
    }
}

impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form {
            Form::Bytes { bytes, .. } => write!(f, "{}({} bytes)", self.name(), bytes.len()),
            Form::Host(_) => write!(f, "{}(of the host)", self.name()),
        }
    }
}

/// The error of an evaluation that comes upon a malformed message.
#[derive(Debug)]
struct Failure(ErrorKind);

impl From<WireError> for Failure {
    #[cold]
    fn from(_: WireError) -> Self {
        Self(ErrorKind::InvalidArgument)
    }
}

impl From<ErrorKind> for Failure {
    fn from(kind: ErrorKind) -> Self {
        Self(kind)
    }
}

impl From<Failure> for ErrorKind {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}
