//! The values of fields in the bytes of a message.
//!
//! As the parsers of protocol buffers do: of a field with at most one value the last one counts,
//! messages of one field are merged, a record of another wire type than the field's is an unknown
//! field, packed numbers are accepted everywhere.

use crate::descriptors::{Cardinality, Descriptors, Field, Kind, MessageType, Scalar};
use crate::wire::{Only, Payload, Record, Records, WireError, varint};

/// A scalar value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarValue<'a> {
    /// `bool`
    Bool(bool),
    /// A signed integer of 32 or 64 bits.
    Int(i64),
    /// An unsigned integer of 32 or 64 bits.
    Uint(u64),
    /// `float` or `double`
    Double(f64),
    /// `string`
    Text(&'a str),
    /// `bytes`
    Bytes(&'a [u8]),
}

impl ScalarValue<'_> {
    /// Whether this is the value of a field that is not set and has no other default. -0.0 is not.
    #[must_use]
    pub fn is_zero(self) -> bool {
        match self {
            Self::Bool(value) => !value,
            Self::Int(value) => value == 0,
            Self::Uint(value) => value == 0,
            Self::Double(value) => value.to_bits() == 0,
            Self::Text(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
        }
    }
}

/// One value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue<'a> {
    /// A scalar.
    Scalar(ScalarValue<'a>),
    /// The number of an enum's value.
    Enum(i32),
    /// The bytes of a message, or of an entry of a map.
    Message(&'a [u8]),
}

/// What a message has for a field with at most one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found<'a> {
    /// Nothing.
    Unset,
    /// The value.
    Value(FieldValue<'a>),
    /// A message that is written in several parts, the last of which is this one. Together the
    /// parts are the message: see [`Descriptors::parts`].
    Parts(&'a [u8]),
}

impl Scalar {
    /// Reads a value; `None` if the record is of another wire type.
    ///
    /// # Errors
    /// `Utf8` for a text that is not UTF-8.
    #[inline]
    pub fn read(self, payload: Payload<'_>) -> Result<Option<ScalarValue<'_>>, WireError> {
        use ScalarValue::{Bool, Bytes, Double, Int, Text, Uint};
        Ok(Some(match (self, payload) {
            (Self::Bool, Payload::Varint(value)) => Bool(value != 0),
            (Self::Int64, Payload::Varint(value)) => Int(value.cast_signed()),
            (Self::Int32, Payload::Varint(value)) => Int(low(value).into()),
            (Self::Uint64, Payload::Varint(value)) | (Self::Fixed64, Payload::Fixed64(value)) => Uint(value),
            (Self::Uint32, Payload::Varint(value)) => Uint(low(value).cast_unsigned().into()),
            (Self::Fixed32, Payload::Fixed32(value)) => Uint(value.into()),
            (Self::Sint64, Payload::Varint(value)) => Int(zigzag(value)),
            (Self::Sint32, Payload::Varint(value)) => Int(zigzag(low(value).cast_unsigned().into())),
            (Self::Sfixed64, Payload::Fixed64(value)) => Int(value.cast_signed()),
            (Self::Sfixed32, Payload::Fixed32(value)) => Int(value.cast_signed().into()),
            (Self::Double, Payload::Fixed64(value)) => Double(f64::from_bits(value)),
            (Self::Float, Payload::Fixed32(value)) => Double(f32::from_bits(value).into()),
            (Self::String, Payload::Bytes(text)) => Text(std::str::from_utf8(text).map_err(|_| WireError::Utf8)?),
            (Self::Bytes, Payload::Bytes(bytes)) => Bytes(bytes),
            _ => return Ok(None),
        }))
    }

    /// How values are written that are packed; `None` for texts and bytes, which are not.
    fn packed(self) -> Option<PackedForm> {
        match self {
            Self::String | Self::Bytes => None,
            Self::Double | Self::Fixed64 | Self::Sfixed64 => Some(PackedForm::Fixed64),
            Self::Float | Self::Fixed32 | Self::Sfixed32 => Some(PackedForm::Fixed32),
            _ => Some(PackedForm::Varint),
        }
    }

    /// The value of a field that is not set.
    #[must_use]
    pub fn zero(self) -> ScalarValue<'static> {
        match self {
            Self::Bool => ScalarValue::Bool(false),
            Self::String => ScalarValue::Text(""),
            Self::Bytes => ScalarValue::Bytes(&[]),
            Self::Double | Self::Float => ScalarValue::Double(0.0),
            Self::Uint32 | Self::Uint64 | Self::Fixed32 | Self::Fixed64 => ScalarValue::Uint(0),
            _ => ScalarValue::Int(0),
        }
    }

    /// Returns the record of a value; `None` if the value is of another type or does not fit.
    #[must_use]
    pub fn write(self, value: ScalarValue<'_>) -> Option<Payload<'_>> {
        Some(match (self, value) {
            (Self::Bool, ScalarValue::Bool(value)) => Payload::Varint(value.into()),
            (Self::Int64, ScalarValue::Int(value)) => Payload::Varint(value.cast_unsigned()),
            (Self::Int32, ScalarValue::Int(value)) => {
                Payload::Varint(i64::from(i32::try_from(value).ok()?).cast_unsigned())
            }
            (Self::Uint64, ScalarValue::Uint(value)) => Payload::Varint(value),
            (Self::Uint32, ScalarValue::Uint(value)) => Payload::Varint(u32::try_from(value).ok()?.into()),
            (Self::Fixed64, ScalarValue::Uint(value)) => Payload::Fixed64(value),
            (Self::Fixed32, ScalarValue::Uint(value)) => Payload::Fixed32(u32::try_from(value).ok()?),
            (Self::Sint64, ScalarValue::Int(value)) => Payload::Varint(unzigzag(value)),
            (Self::Sint32, ScalarValue::Int(value)) => Payload::Varint(unzigzag(i32::try_from(value).ok()?.into())),
            (Self::Sfixed64, ScalarValue::Int(value)) => Payload::Fixed64(value.cast_unsigned()),
            (Self::Sfixed32, ScalarValue::Int(value)) => Payload::Fixed32(i32::try_from(value).ok()?.cast_unsigned()),
            (Self::Double, ScalarValue::Double(value)) => Payload::Fixed64(value.to_bits()),
            (Self::Float, ScalarValue::Double(value)) => {
                #[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest, as assignment in C++ does")]
                let value = value as f32;
                Payload::Fixed32(value.to_bits())
            }
            (Self::String, ScalarValue::Text(text)) => Payload::Bytes(text.as_bytes()),
            (Self::Bytes, ScalarValue::Bytes(bytes)) => Payload::Bytes(bytes),
            _ => return None,
        })
    }
}

/// The low half of a number, with its sign.
fn low(value: u64) -> i32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ (value & 1).cast_signed().wrapping_neg()
}

fn unzigzag(value: i64) -> u64 {
    (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned()
}

/// How packed numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackedForm {
    Varint,
    Fixed64,
    Fixed32,
}

impl PackedForm {
    /// Takes the first of packed numbers.
    fn take(self, packed: &mut &[u8]) -> Result<Payload<'static>, WireError> {
        let (payload, rest) = match self {
            Self::Varint => varint(packed).map(|(value, rest)| (Payload::Varint(value), rest))?,
            Self::Fixed64 => {
                let (bytes, rest) = packed.split_first_chunk().ok_or(WireError::Truncated)?;
                (Payload::Fixed64(u64::from_le_bytes(*bytes)), rest)
            }
            Self::Fixed32 => {
                let (bytes, rest) = packed.split_first_chunk().ok_or(WireError::Truncated)?;
                (Payload::Fixed32(u32::from_le_bytes(*bytes)), rest)
            }
        };
        *packed = rest;
        Ok(payload)
    }
}

impl Descriptors {
    /// Returns the value that a record is of a field; `None` if it is of another wire type, or a
    /// number that a closed enum does not name: then it is an unknown field.
    ///
    /// # Errors
    /// `Utf8` for a text that is not UTF-8.
    #[inline]
    pub fn value_of<'a>(&self, field: &Field, payload: Payload<'a>) -> Result<Option<FieldValue<'a>>, WireError> {
        Ok(match (field.kind(), payload) {
            (Kind::Scalar(scalar), payload) => scalar.read(payload)?.map(FieldValue::Scalar),
            (Kind::Enum(_), Payload::Varint(number)) => {
                let number = low(number);
                let is_known = self.enum_of(field).is_none_or(|enumeration| enumeration.accepts(number));
                is_known.then_some(FieldValue::Enum(number))
            }
            (Kind::Message(_), Payload::Bytes(bytes)) | (Kind::Group(_), Payload::Group(bytes)) => {
                Some(FieldValue::Message(bytes))
            }
            _ => None,
        })
    }

    /// Returns what a message has for a field with at most one value.
    ///
    /// # Errors
    /// When the message is malformed.
    pub fn find<'a>(&self, ty: &MessageType, field: &Field, message: &'a [u8]) -> Result<Found<'a>, WireError> {
        if field.oneof().is_none() {
            match Records::new(message).only(field.number())? {
                Only::None => return Ok(Found::Unset),
                Only::One(mut records, ty) => {
                    let value = self.value_of(field, records.payload(field.number(), ty)?)?;
                    return Ok(value.map_or(Found::Unset, Found::Value));
                }
                Only::Several => {}
            }
        }
        self.find_last(ty, field, message)
    }

    /// As [`find`](Self::find), whatever records there are.
    fn find_last<'a>(&self, ty: &MessageType, field: &Field, message: &'a [u8]) -> Result<Found<'a>, WireError> {
        let mut found = Found::Unset;
        for record in Records::new(message) {
            let record = record?;
            if record.number == field.number() {
                found = match (self.value_of(field, record.payload)?, found) {
                    (None, found) => found,
                    (Some(FieldValue::Message(bytes)), Found::Value(_) | Found::Parts(_)) => Found::Parts(bytes),
                    (Some(value), _) => Found::Value(value),
                };
            } else if self.unsets(ty, field, &record)? {
                found = Found::Unset;
            }
        }
        Ok(found)
    }

    /// Calls `each` with every part of a message that is the value of a field; together they are
    /// the message.
    ///
    /// # Errors
    /// When the message is malformed; the first error of `each`.
    pub fn parts<'a, E: From<WireError>>(
        &self,
        ty: &MessageType,
        field: &Field,
        message: &'a [u8],
        mut each: impl FnMut(Part<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        for record in Records::new(message) {
            let record = record?;
            if record.number != field.number() {
                if self.unsets(ty, field, &record)? {
                    each(Part::Unset)?;
                }
                continue;
            }
            if let Some(FieldValue::Message(bytes)) = self.value_of(field, record.payload)? {
                each(Part::Bytes(bytes))?;
            }
        }
        Ok(())
    }

    /// Calls `each` with every value of a repeated field, or every entry of a map, in order.
    ///
    /// # Errors
    /// When the message is malformed; the first error of `each`.
    pub fn each<'a, E: From<WireError>>(
        &self,
        field: &Field,
        message: &'a [u8],
        mut each: impl FnMut(FieldValue<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut records = Records::new(message);
        while let Some(payload) = records.next_of(field.number())? {
            self.each_in(field, payload, &mut each)?;
        }
        Ok(())
    }

    /// Calls `each` with the values that one record holds of a repeated field. Returns whether the
    /// record is of a wire type that the field can have.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub fn each_in<'a, E: From<WireError>>(
        &self,
        field: &Field,
        payload: Payload<'a>,
        each: &mut impl FnMut(FieldValue<'a>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let form = match field.kind() {
            Kind::Scalar(scalar) => scalar.packed(),
            Kind::Enum(_) => Some(PackedForm::Varint),
            Kind::Message(_) | Kind::Group(_) => None,
        };
        let (Some(form), Payload::Bytes(mut packed)) = (form, payload) else {
            let value = self.value_of(field, payload)?;
            let fits = value.is_some();
            value.map_or(Ok(()), each)?;
            return Ok(fits);
        };
        while !packed.is_empty() {
            let payload = form.take(&mut packed)?;
            if let Some(value) = self.value_of(field, payload)? {
                each(value)?;
            }
        }
        Ok(true)
    }
}

/// A part of a message that is written in several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// What came before does not count: another field of the `oneof` was set.
    Unset,
    /// These bytes follow.
    Bytes(&'a [u8]),
}

impl Descriptors {
    /// Whether a record sets another field of a field's `oneof`.
    #[inline]
    fn unsets(&self, ty: &MessageType, field: &Field, record: &Record<'_>) -> Result<bool, WireError> {
        if field.oneof().is_none() {
            return Ok(false);
        }
        let other = ty.by_number(record.number).filter(|other| other.oneof() == field.oneof());
        Ok(match other {
            Some(other) => self.value_of(other, record.payload)?.is_some(),
            None => false,
        })
    }
}

impl Field {
    /// Whether it has at most one value.
    #[must_use]
    #[inline]
    pub fn is_singular(&self) -> bool {
        self.cardinality() == Cardinality::Singular
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_read_as_they_are_written() {
        use Scalar::*;
        let numbers = [i64::MIN, i32::MIN.into(), -1, 0, 1, i32::MAX.into(), i64::MAX];
        for scalar in [Int64, Int32, Sint32, Sint64, Sfixed32, Sfixed64] {
            for number in numbers {
                let fits = !matches!(scalar, Int32 | Sint32 | Sfixed32) || i32::try_from(number).is_ok();
                let written = scalar.write(ScalarValue::Int(number));
                assert_eq!(written.is_some(), fits, "{scalar:?} {number}");
                if let Some(payload) = written {
                    assert_eq!(scalar.read(payload), Ok(Some(ScalarValue::Int(number))), "{scalar:?}");
                }
            }
        }
        for scalar in [Uint64, Uint32, Fixed32, Fixed64] {
            for number in [0, 1, u32::MAX.into(), u64::MAX] {
                let fits = !matches!(scalar, Uint32 | Fixed32) || u32::try_from(number).is_ok();
                let written = scalar.write(ScalarValue::Uint(number));
                assert_eq!(written.is_some(), fits, "{scalar:?} {number}");
                if let Some(payload) = written {
                    assert_eq!(scalar.read(payload), Ok(Some(ScalarValue::Uint(number))), "{scalar:?}");
                }
            }
        }
        assert_eq!(String.read(Payload::Bytes(b"\xff")), Err(WireError::Utf8));
        assert_eq!(String.read(Payload::Varint(1)), Ok(None));
        assert_eq!(Int32.write(ScalarValue::Text("")), None);
    }

    /// From the specification, "Signed Integers".
    #[test]
    fn signed_numbers_zigzag() {
        for (signed, unsigned) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (i64::MAX, u64::MAX - 1), (i64::MIN, u64::MAX)] {
            assert_eq!((zigzag(unsigned), unzigzag(signed)), (signed, unsigned));
        }
    }
}
