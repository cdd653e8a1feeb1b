//! Reads a `FileDescriptorSet` (`google/protobuf/descriptor.proto`), types by name, not linked yet.
//!
//! Presence, packing and closed enums follow the features of editions; proto2 and proto3 are
//! editions with fixed ones (protocol buffers' "Feature Settings for Editions"). Features of
//! messages and oneofs don't reach these three.

use super::{DescriptorError, Scalar};
use crate::wire::{Payload, Records, WireError};

/// Most levels of messages that are declared in one another.
const MAX_NESTING: u32 = 64;

/// The first edition with features, in `FileDescriptorProto.edition`.
const EDITION_2023: u64 = 1000;

/// The latest edition that is known.
const EDITION_2024: u64 = 1001;

#[derive(Debug, Default)]
pub(super) struct RawFile {
    pub(super) messages: Vec<RawMessage>,
    pub(super) enums: Vec<RawEnum>,
    /// Fields, each with the message that it extends.
    pub(super) extensions: Vec<(String, RawField)>,
    pub(super) methods: Vec<(String, super::Method)>,
}

#[derive(Debug, Default)]
pub(super) struct RawMessage {
    pub(super) name: String,
    pub(super) fields: Vec<RawField>,
    pub(super) is_map_entry: bool,
}

#[derive(Debug, Default)]
pub(super) struct RawEnum {
    pub(super) name: String,
    pub(super) values: Vec<(Box<str>, i32)>,
    pub(super) is_closed: bool,
}

#[derive(Debug, Default)]
pub(super) struct RawField {
    pub(super) name: String,
    /// Empty if it follows from the name.
    pub(super) json_name: String,
    pub(super) number: u32,
    pub(super) is_repeated: bool,
    pub(super) scalar: Option<Scalar>,
    /// The message or enum, if it is no scalar.
    pub(super) type_name: String,
    pub(super) is_group: bool,
    pub(super) has_presence: bool,
    pub(super) is_packed: bool,
    pub(super) oneof: Option<u32>,
    pub(super) default: Option<String>,
}

#[derive(Clone, Copy, Debug)]
struct Features {
    has_presence: bool,
    is_closed: bool,
    is_packed: bool,
    is_delimited: bool,
}

impl Features {
    const PROTO2: Self = Self { has_presence: true, is_closed: true, is_packed: false, is_delimited: false };
    const PROTO3: Self = Self { has_presence: false, is_closed: false, is_packed: true, is_delimited: false };
    const EDITIONS: Self = Self { has_presence: true, is_closed: false, is_packed: true, is_delimited: false };

    /// These, but for what a `FeatureSet` sets.
    fn with(mut self, set: Option<&[u8]>) -> Result<Self, WireError> {
        for record in Records::new(set.unwrap_or_default()) {
            let record = record?;
            let Payload::Varint(value) = record.payload else { continue };
            match (record.number, value) {
                (1, 1 | 3) => self.has_presence = true,
                (1, 2) => self.has_presence = false,
                (2, 1 | 2) => self.is_closed = value == 2,
                (3, 1 | 2) => self.is_packed = value == 1,
                (5, 1 | 2) => self.is_delimited = value == 2,
                _ => {}
            }
        }
        Ok(self)
    }
}

/// Where a declaration is: the prefix of its name, and the features in force.
#[derive(Clone, Debug)]
struct Scope {
    prefix: String,
    features: Features,
}

impl Scope {
    fn name(&self, part: &str) -> String {
        format!("{}{part}", self.prefix)
    }
}

/// Reads all files of a set.
pub(super) fn files(set: &[u8]) -> Result<Vec<RawFile>, DescriptorError> {
    let mut files = Vec::new();
    for record in Records::new(set) {
        let record = record?;
        if let (1, Payload::Bytes(bytes)) = (record.number, record.payload) {
            files.push(file(bytes)?);
        }
    }
    Ok(files)
}

fn file(bytes: &[u8]) -> Result<RawFile, DescriptorError> {
    let (mut name, mut package, mut syntax, mut edition) = ("", "", "proto2", 0);
    let mut options: &[u8] = &[];
    for record in Records::new(bytes) {
        let record = record?;
        match (record.number, record.payload) {
            (1, Payload::Bytes(text)) => name = utf8(text)?,
            (2, Payload::Bytes(text)) => package = utf8(text)?,
            (8, Payload::Bytes(inner)) => options = inner,
            (12, Payload::Bytes(text)) => syntax = utf8(text)?,
            (14, Payload::Varint(value)) => edition = value,
            _ => {}
        }
    }
    let features = match syntax {
        "proto2" => Features::PROTO2,
        "proto3" => Features::PROTO3,
        "editions" if (EDITION_2023..=EDITION_2024).contains(&edition) => Features::EDITIONS,
        "editions" => return Err(DescriptorError::new(format!("file `{name}`: edition {edition} is unknown"))),
        _ => return Err(DescriptorError::new(format!("file `{name}`: syntax \"{syntax}\" is unknown"))),
    };
    let features = features.with(inner(options, 50)?)?;
    let prefix = if package.is_empty() { String::new() } else { format!("{package}.") };
    let scope = Scope { prefix, features };
    let mut file = RawFile::default();
    for record in Records::new(bytes) {
        let record = record?;
        let Payload::Bytes(bytes) = record.payload else { continue };
        match record.number {
            4 => message(bytes, &scope, &mut file, MAX_NESTING)?,
            5 => file.enums.push(enumeration(bytes, &scope)?),
            6 => service(bytes, &scope, &mut file)?,
            7 => extension(bytes, &scope, &mut file)?,
            _ => {}
        }
    }
    Ok(file)
}

fn message(bytes: &[u8], scope: &Scope, file: &mut RawFile, levels: u32) -> Result<(), DescriptorError> {
    let mut message = RawMessage { name: scope.name(name(bytes)?), ..RawMessage::default() };
    let Some(levels) = levels.checked_sub(1) else {
        let text = format!("message `{}` is more than {MAX_NESTING} levels inside others", message.name);
        return Err(DescriptorError::new(text));
    };
    let inside = Scope { prefix: format!("{}.", message.name), features: scope.features };
    for record in Records::new(bytes) {
        let record = record?;
        let Payload::Bytes(bytes) = record.payload else { continue };
        match record.number {
            2 => message.fields.push(field(bytes, &inside)?.1),
            3 => self::message(bytes, &inside, file, levels)?,
            4 => file.enums.push(enumeration(bytes, &inside)?),
            6 => extension(bytes, &inside, file)?,
            7 => message.is_map_entry = number(bytes, 7)? == Some(1),
            _ => {}
        }
    }
    file.messages.push(message);
    Ok(())
}

fn extension(bytes: &[u8], scope: &Scope, file: &mut RawFile) -> Result<(), DescriptorError> {
    let (extends, mut field) = field(bytes, scope)?;
    field.name = scope.name(&field.name);
    field.json_name = format!("[{}]", field.name);
    // The value of an extension is always set or not.
    field.has_presence = !field.is_repeated;
    file.extensions.push((extends, field));
    Ok(())
}

/// Reads a field; also returns the message that it extends.
fn field(bytes: &[u8], scope: &Scope) -> Result<(String, RawField), DescriptorError> {
    let mut field = RawField::default();
    let (mut extends, mut ty, mut is_optional) = (String::new(), 0, false);
    let mut options: &[u8] = &[];
    for record in Records::new(bytes) {
        let record = record?;
        match (record.number, record.payload) {
            (1, Payload::Bytes(text)) => utf8(text)?.clone_into(&mut field.name),
            (2, Payload::Bytes(text)) => extends = type_name(text)?,
            (3, Payload::Varint(value)) => field.number = u32::try_from(value).unwrap_or(0),
            (4, Payload::Varint(label)) => field.is_repeated = label == 3,
            (5, Payload::Varint(value)) => ty = value,
            (6, Payload::Bytes(text)) => field.type_name = type_name(text)?,
            (7, Payload::Bytes(text)) => field.default = Some(utf8(text)?.to_owned()),
            (8, Payload::Bytes(inner)) => options = inner,
            (10, Payload::Bytes(text)) => utf8(text)?.clone_into(&mut field.json_name),
            (9, Payload::Varint(index)) => field.oneof = u32::try_from(index).ok(),
            (17, Payload::Varint(value)) => is_optional = value == 1,
            _ => {}
        }
    }
    let features = scope.features.with(inner(options, 21)?)?;
    field.scalar = scalar(ty);
    let is_message = matches!(ty, 10 | 11);
    field.is_group = ty == 10 || (ty == 11 && features.is_delimited);
    if field.scalar.is_none() && !is_message && ty != 14 {
        return Err(DescriptorError::new(format!("field `{}`: type {ty} is unknown", scope.name(&field.name))));
    }
    field.has_presence =
        !field.is_repeated && (is_message || features.has_presence || field.oneof.is_some() || is_optional);
    let packable = !is_message && !matches!(field.scalar, Some(Scalar::String | Scalar::Bytes));
    let packed = number(options, 2)?.map_or(features.is_packed, |value| value == 1);
    field.is_packed = field.is_repeated && packable && packed;
    // An `optional` of proto3 is in a oneof of its own, which nobody wrote.
    if is_optional {
        field.oneof = None;
    }
    Ok((extends, field))
}

fn scalar(ty: u64) -> Option<Scalar> {
    Some(match ty {
        1 => Scalar::Double,
        2 => Scalar::Float,
        3 => Scalar::Int64,
        4 => Scalar::Uint64,
        5 => Scalar::Int32,
        6 => Scalar::Fixed64,
        7 => Scalar::Fixed32,
        8 => Scalar::Bool,
        9 => Scalar::String,
        12 => Scalar::Bytes,
        13 => Scalar::Uint32,
        15 => Scalar::Sfixed32,
        16 => Scalar::Sfixed64,
        17 => Scalar::Sint32,
        18 => Scalar::Sint64,
        _ => return None,
    })
}

fn enumeration(bytes: &[u8], scope: &Scope) -> Result<RawEnum, DescriptorError> {
    let mut enumeration = RawEnum { name: scope.name(name(bytes)?), ..RawEnum::default() };
    let features = scope.features.with(inner(inner(bytes, 3)?.unwrap_or_default(), 7)?)?;
    enumeration.is_closed = features.is_closed;
    for record in Records::new(bytes) {
        let record = record?;
        if let (2, Payload::Bytes(value)) = (record.number, record.payload) {
            let number = number(value, 2)?.unwrap_or(0);
            enumeration.values.push((name(value)?.into(), int32(number)));
        }
    }
    Ok(enumeration)
}

fn service(bytes: &[u8], scope: &Scope, file: &mut RawFile) -> Result<(), DescriptorError> {
    let service = scope.name(name(bytes)?);
    for record in Records::new(bytes) {
        let record = record?;
        let (2, Payload::Bytes(bytes)) = (record.number, record.payload) else { continue };
        let ty = |number| type_name(inner(bytes, number)?.unwrap_or_default()).map(Into::into);
        let method = super::Method {
            request: ty(2)?,
            response: ty(3)?,
            client_streaming: number(bytes, 5)? == Some(1),
            server_streaming: number(bytes, 6)? == Some(1),
        };
        file.methods.push((format!("/{service}/{}", name(bytes)?), method));
    }
    Ok(())
}

/// The field 1 of a declaration: its name.
fn name(declaration: &[u8]) -> Result<&str, DescriptorError> {
    utf8(inner(declaration, 1)?.unwrap_or_default())
}

/// The last value of a field that has a length.
fn inner(message: &[u8], field: u32) -> Result<Option<&[u8]>, WireError> {
    let mut found = None;
    for record in Records::new(message) {
        let record = record?;
        if let (number, Payload::Bytes(bytes)) = (record.number, record.payload)
            && number == field
        {
            found = Some(bytes);
        }
    }
    Ok(found)
}

/// The last value of a field that is a number.
fn number(message: &[u8], field: u32) -> Result<Option<u64>, WireError> {
    let mut found = None;
    for record in Records::new(message) {
        let record = record?;
        if let (number, Payload::Varint(value)) = (record.number, record.payload)
            && number == field
        {
            found = Some(value);
        }
    }
    Ok(found)
}

fn utf8(bytes: &[u8]) -> Result<&str, DescriptorError> {
    std::str::from_utf8(bytes).map_err(|_| WireError::Utf8.into())
}

/// A full name, without the leading dot.
fn type_name(bytes: &[u8]) -> Result<String, DescriptorError> {
    utf8(bytes).map(|name| name.strip_prefix('.').unwrap_or(name).to_owned())
}

/// The number of an enum's value: the low half of what is written.
fn int32(value: u64) -> i32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}
