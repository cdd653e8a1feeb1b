//! The binary form of trees: protocol buffers' wire format.

use super::error::TreeError;
use super::message::{Bounds, Fields, MessageId, Messages, Value};
use super::schema::{Field, Kind, Label, Shape};
use celero_frontend::with_stack;
use celero_protobuf::{Payload, Records, Sink, WireError};

/// Reads a message. Fields that the table does not have are skipped, except in expressions, whose meaning they could
/// change.
pub(super) fn read(
    messages: &mut Messages,
    shape: Shape,
    bytes: &[u8],
    bounds: &Bounds,
) -> Result<MessageId, TreeError> {
    Bounds::refuse_bytes(bytes.len(), bounds.bytes)?;
    let mut reader = Reader { messages, bounds };
    with_stack(bounds.depth, || reader.message(shape, bytes, 1))
}

struct Reader<'r> {
    messages: &'r mut Messages,
    bounds: &'r Bounds,
}

impl Reader<'_> {
    fn message(&mut self, shape: Shape, bytes: &[u8], depth: u32) -> Result<MessageId, TreeError> {
        self.bounds.refuse(self.messages, depth)?;
        let mut fields = Fields::new(shape);
        for record in Records::new(bytes) {
            let record = record.map_err(malformed)?;
            match shape.field(record.number) {
                Some(field) => self.value(&mut fields, field, record.payload, depth)?,
                None if shape.is_expression() => {
                    let number = record.number;
                    return Err(TreeError::new(format!("a part of an expression has the unknown field {number}")));
                }
                None => {}
            }
        }
        Ok(fields.finish(self.messages))
    }

    fn value(&mut self, fields: &mut Fields, field: &Field, payload: Payload<'_>, depth: u32) -> Result<(), TreeError> {
        let wrong = || TreeError::new(format!("the field `{}` has a value of another type", field.name));
        let value = match (field.kind, payload) {
            (Kind::Message(shape), Payload::Bytes(bytes)) => {
                Value::Message(self.message(shape, bytes, depth.saturating_add(1))?)
            }
            (Kind::Text, Payload::Bytes(bytes)) => {
                let text = std::str::from_utf8(bytes).map_err(|_| malformed(WireError::Utf8))?;
                Value::Text(text.into())
            }
            (Kind::Bytes, Payload::Bytes(bytes)) => Value::Bytes(bytes.into()),
            (Kind::Double, Payload::Fixed64(bits)) => Value::Double(f64::from_bits(bits)),
            (kind, Payload::Varint(number)) => varint(kind, number).ok_or_else(wrong)?,
            // Numbers of a repeated field, one after the other.
            (kind, Payload::Bytes(mut packed)) if field.label == Label::Many => {
                while !packed.is_empty() {
                    // A record needs a tag: a number alone is read as one with the tag of field 1.
                    let taken = packed.iter().position(|byte| *byte < 0x80).map(|at| at.saturating_add(1));
                    let (number, rest) = packed.split_at(taken.ok_or_else(|| malformed(WireError::Truncated))?);
                    let record = [&[0x08], number].concat();
                    let Some(Ok(record)) = Records::new(&record).next() else {
                        return Err(malformed(WireError::Varint));
                    };
                    let Payload::Varint(number) = record.payload else { return Err(wrong()) };
                    fields.push(field, varint(kind, number).ok_or_else(wrong)?)?;
                    packed = rest;
                }
                return Ok(());
            }
            _ => return Err(wrong()),
        };
        fields.push(field, value)
    }
}

fn varint(kind: Kind, number: u64) -> Option<Value> {
    Some(match kind {
        Kind::Bool => Value::Bool(number != 0),
        Kind::Int64 => Value::Int(number.cast_signed()),
        // Of a longer number the lower 32 bits count ("Encoding").
        Kind::Int32 | Kind::Enum(_) | Kind::Null => {
            let low = u32::try_from(number & u64::from(u32::MAX)).ok()?;
            Value::Int(low.cast_signed().into())
        }
        Kind::Uint64 => Value::Uint(number),
        Kind::Double | Kind::Text | Kind::Bytes | Kind::Message(_) => return None,
    })
}

fn malformed(error: WireError) -> TreeError {
    TreeError::new(error.to_string())
}

/// Writes a message: fields in the order of their numbers, values that are zero left out where the format leaves them
/// out.
pub(super) fn write(messages: &Messages, root: MessageId) -> Vec<u8> {
    with_stack(messages.depth(root), || {
        let mut writer = Writer { messages, sizes: vec![None; messages.len()] };
        let mut out = Vec::with_capacity(writer.size(root));
        writer.message(root, &mut out);
        out
    })
}

struct Writer<'w> {
    messages: &'w Messages,
    /// The sizes of messages that were computed.
    sizes: Vec<Option<usize>>,
}

/// Counts bytes.
struct Counter(usize);

impl Sink for Counter {
    type Error = std::convert::Infallible;

    fn append(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(())
    }
}

impl Writer<'_> {
    fn size(&mut self, id: MessageId) -> usize {
        let at = self.messages.index(id);
        if let Some(Some(size)) = self.sizes.get(at) {
            return *size;
        }
        let mut counter = Counter(0);
        let messages = self.messages;
        let shape = messages.shape(id);
        for (number, value) in messages.fields(id) {
            let Some(field) = shape.field(*number).filter(|field| is_written(field, value)) else { continue };
            if let Value::Message(part) = value {
                let size = self.size(*part);
                let Ok(()) = counter.varint(tag(field.number));
                let Ok(()) = counter.varint(size as u64);
                counter.0 = counter.0.saturating_add(size);
            } else if field.label != Label::Many || matches!(value, Value::Text(_)) {
                let Ok(()) = counter.record(field.number, payload(value));
            }
        }
        for field in shape.fields().iter().filter(|field| is_packed(field)) {
            let packed = self.packed(id, field);
            if !packed.is_empty() {
                let Ok(()) = counter.record(field.number, Payload::Bytes(&packed));
            }
        }
        if let Some(size) = self.sizes.get_mut(at) {
            *size = Some(counter.0);
        }
        counter.0
    }

    fn message(&mut self, id: MessageId, out: &mut Vec<u8>) {
        let messages = self.messages;
        let shape = messages.shape(id);
        let mut last = 0;
        for (number, value) in messages.fields(id) {
            let Some(field) = shape.field(*number).filter(|field| is_written(field, value)) else { continue };
            if let Value::Message(part) = value {
                let size = self.size(*part);
                let Ok(()) = out.varint(tag(field.number));
                let Ok(()) = out.varint(size as u64);
                self.message(*part, out);
            } else if is_packed(field) {
                if last != field.number {
                    let packed = self.packed(id, field);
                    let Ok(()) = out.record(field.number, Payload::Bytes(&packed));
                }
            } else {
                let Ok(()) = out.record(field.number, payload(value));
            }
            last = field.number;
        }
    }

    /// The numbers of a repeated field, one after the other.
    fn packed(&self, id: MessageId, field: &Field) -> Vec<u8> {
        let mut packed = Vec::new();
        for value in self.messages.values(id, field.number) {
            if let Payload::Varint(number) = payload(value) {
                let Ok(()) = packed.varint(number);
            }
        }
        packed
    }
}

fn is_packed(field: &Field) -> bool {
    field.label == Label::Many && matches!(field.kind, Kind::Int32 | Kind::Enum(_))
}

/// Whether a value stands in the message.
fn is_written(field: &Field, value: &Value) -> bool {
    field.label != Label::One || !value.is_zero()
}

fn tag(number: u32) -> u64 {
    u64::from(number) << 3 | 2
}

fn payload(value: &Value) -> Payload<'_> {
    match value {
        Value::Bool(value) => Payload::Varint((*value).into()),
        Value::Int(value) => Payload::Varint(value.cast_unsigned()),
        Value::Uint(value) => Payload::Varint(*value),
        Value::Double(value) => Payload::Fixed64(value.to_bits()),
        Value::Text(text) => Payload::Bytes(text.as_bytes()),
        Value::Bytes(bytes) => Payload::Bytes(bytes),
        // Messages are written with their own size.
        Value::Message(_) => Payload::Bytes(&[]),
    }
}
