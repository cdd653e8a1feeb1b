//! Messages in memory, as the table of their fields describes them. A message is an index into one arena, so that
//! nothing recurses when it is dropped, and one message may be a part of several.

use super::error::TreeError;
use super::schema::{Field, Label, Shape};

/// The index of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MessageId(u32);

/// The value of a field, or one of its values. An enum is an `Int`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Box<str>),
    Bytes(Box<[u8]>),
    Message(MessageId),
}

impl Value {
    /// Whether a field without presence does not write it.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Self::Bool(value) => !value,
            Self::Int(value) => *value == 0,
            Self::Uint(value) => *value == 0,
            Self::Double(value) => value.to_bits() == 0,
            Self::Text(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Message(_) => false,
        }
    }
}

#[derive(Clone, Debug)]
struct Message {
    shape: Shape,
    /// In the order of the numbers; values of one field in their order.
    fields: Vec<(u32, Value)>,
    /// One more than that of the deepest part.
    depth: u32,
}

/// Messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    all: Vec<Message>,
}

impl Messages {
    /// Adds a message, whose parts were added before.
    pub(super) fn add(&mut self, shape: Shape, mut fields: Vec<(u32, Value)>) -> MessageId {
        fields.sort_by_key(|(number, _)| *number);
        let below = fields.iter().map(|(_, value)| match value {
            Value::Message(part) => self.depth(*part),
            _ => 0,
        });
        let depth = below.max().unwrap_or(0).saturating_add(1);
        let id = MessageId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(Message { shape, fields, depth });
        id
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    fn get(&self, id: MessageId) -> Option<&Message> {
        self.all.get(id.0 as usize)
    }

    pub(super) fn depth(&self, id: MessageId) -> u32 {
        self.get(id).map_or(0, |message| message.depth)
    }

    pub(super) fn index(&self, id: MessageId) -> usize {
        id.0 as usize
    }

    pub(super) fn shape(&self, id: MessageId) -> Shape {
        self.get(id).map_or(Shape::Empty, |message| message.shape)
    }

    /// All values, with the number of the field of each, in the order of the numbers.
    pub(super) fn fields(&self, id: MessageId) -> &[(u32, Value)] {
        self.get(id).map_or(&[], |message| &message.fields)
    }

    /// The values of a field.
    pub(super) fn values(&self, id: MessageId, number: u32) -> impl Iterator<Item = &Value> {
        self.fields(id).iter().filter(move |(own, _)| *own == number).map(|(_, value)| value)
    }

    pub(super) fn text(&self, id: MessageId, number: u32) -> &str {
        match self.values(id, number).next() {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    pub(super) fn int(&self, id: MessageId, number: u32) -> i64 {
        match self.values(id, number).next() {
            Some(Value::Int(value)) => *value,
            _ => 0,
        }
    }

    pub(super) fn is_true(&self, id: MessageId, number: u32) -> bool {
        matches!(self.values(id, number).next(), Some(Value::Bool(true)))
    }

    /// The part in a field; `None` if it is not set.
    pub(super) fn part(&self, id: MessageId, number: u32) -> Option<MessageId> {
        self.parts(id, number).next()
    }

    /// The parts in a field.
    pub(super) fn parts(&self, id: MessageId, number: u32) -> impl Iterator<Item = MessageId> {
        self.values(id, number).filter_map(|value| match value {
            Value::Message(part) => Some(*part),
            _ => None,
        })
    }

    /// The alternative that is set: the number of its field, and its value.
    pub(super) fn alternative(&self, id: MessageId) -> Option<(u32, &Value)> {
        let shape = self.shape(id);
        let is_one = |number| shape.field(number).is_some_and(|field| field.label == Label::Alternative);
        self.fields(id).iter().find(|(number, _)| is_one(*number)).map(|(number, value)| (*number, value))
    }
}

/// The fields of a message that is read. A field that is given twice, and two alternatives, are errors: readers differ
/// in which of them counts.
pub(super) struct Fields {
    shape: Shape,
    values: Vec<(u32, Value)>,
}

impl Fields {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, values: Vec::new() }
    }

    /// Adds a value of a field.
    pub(super) fn push(&mut self, field: &Field, value: Value) -> Result<(), TreeError> {
        match field.label {
            Label::One => self.refuse_second(field)?,
            Label::Alternative => {
                let is_other = |number| self.shape.field(number).is_some_and(|own| own.label == Label::Alternative);
                self.refuse(field, is_other)?;
            }
            Label::Many | Label::Map => {}
        }
        self.values.push((field.number, value));
        Ok(())
    }

    /// Refuses a field that has a value already: in JSON all of them.
    pub(super) fn refuse_second(&self, field: &Field) -> Result<(), TreeError> {
        self.refuse(field, |number| number == field.number)
    }

    fn refuse(&self, field: &Field, is_same: impl Fn(u32) -> bool) -> Result<(), TreeError> {
        if self.values.iter().any(|(number, _)| is_same(*number)) {
            return Err(TreeError::new(format!(
                "the field `{}` is given although it, or another of its alternatives, was given before",
                field.name
            )));
        }
        Ok(())
    }

    pub(super) fn finish(self, messages: &mut Messages) -> MessageId {
        messages.add(self.shape, self.values)
    }
}

/// The most that reading a tree may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Levels of messages in messages.
    pub(super) depth: u32,
    /// Messages.
    pub(super) messages: usize,
    /// Bytes of the binary form. The JSON form may have [`JSON_FACTOR`] times as many.
    pub(super) bytes: usize,
}

/// How many times as long as the binary form the JSON form may be.
pub(super) const JSON_FACTOR: usize = 8;

impl Bounds {
    /// The bounds that follow from those of sources.
    ///
    /// A level of the syntax tree is at most four expressions of the tree with expanded macros, and an expression with
    /// its part for its kind and the entry of a literal three messages. A node is at most 30 messages, with the types
    /// and references of what its macro expands to.
    pub(super) fn of(limits: &celero_frontend::Limits) -> Self {
        let nodes = limits.max_nodes as usize;
        Self {
            depth: limits.max_depth.saturating_mul(12).saturating_add(16),
            messages: nodes.saturating_mul(32).saturating_add(64),
            bytes: nodes.saturating_mul(128).saturating_add((limits.max_source_bytes as usize).saturating_mul(4)),
        }
    }

    /// Refuses a tree of this many bytes.
    pub(super) fn refuse_bytes(bytes: usize, most: usize) -> Result<(), TreeError> {
        if bytes > most {
            return Err(TreeError::new(format!("the tree is {bytes} bytes long, the limit is {most}")));
        }
        Ok(())
    }

    /// Refuses one message more than these, or one at this depth.
    pub(super) fn refuse(&self, messages: &Messages, depth: u32) -> Result<(), TreeError> {
        if depth > self.depth {
            return Err(TreeError::new(format!("messages are more than {} levels deep", self.depth)));
        }
        if messages.len() >= self.messages {
            return Err(TreeError::new(format!("the tree has more than {} messages", self.messages)));
        }
        Ok(())
    }
}
