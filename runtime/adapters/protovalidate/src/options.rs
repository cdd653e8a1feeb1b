//! Reads the rules from the options in a `FileDescriptorSet`. Descriptors of messages do not keep options, so the set
//! is read here a second time, for what `buf/validate/validate.proto` adds to it.

use celero_protobuf::{Payload, Records, WireError};
use std::collections::HashMap;

/// The number of `(buf.validate.field)`, `(buf.validate.message)` and `(buf.validate.oneof)`.
const RULES: u32 = 1159;

/// The number of `(buf.validate.predefined)`.
const PREDEFINED: u32 = 1160;

/// A rule in CEL.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) message: String,
    pub(crate) expression: String,
}

/// The rules of a type of message.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageRules {
    pub(crate) cel: Vec<Rule>,
    /// Sets of fields of which one at most may be set, and whether one must be.
    pub(crate) oneofs: Vec<(Vec<String>, bool)>,
    /// The `oneof`s of which a field must be set, with the numbers of their fields.
    pub(crate) required_oneofs: Vec<(String, Vec<u32>)>,
    /// `buf.validate.FieldRules` in the wire format, by the numbers of fields.
    pub(crate) fields: HashMap<u32, Vec<u8>>,
}

/// All rules of a set of files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    messages: HashMap<String, MessageRules>,
    /// The rules that fields of messages of rules stand for, by the message and the number.
    predefined: HashMap<(String, u32), Vec<Rule>>,
}

/// A field's descriptor, as far as it counts here.
#[derive(Default)]
struct FieldOptions {
    number: u32,
    extends: String,
    oneof: Option<u64>,
    rules: Vec<u8>,
    predefined: Vec<u8>,
}

impl Options {
    /// Reads the options of a `FileDescriptorSet`.
    ///
    /// # Errors
    /// When the bytes are malformed.
    pub(crate) fn read(set: &[u8]) -> Result<Self, WireError> {
        let mut options = Self::default();
        for file in nested(set, 1) {
            let file = file?;
            let package = text(file, 2)?;
            for message in nested(file, 4) {
                options.message(message?, &package)?;
            }
            for extension in nested(file, 7) {
                options.extension(extension?)?;
            }
        }
        Ok(options)
    }

    /// The rules of a message.
    pub(crate) fn message_rules(&self, name: &str) -> Option<&MessageRules> {
        self.messages.get(name)
    }

    /// The rules that a field of a message of rules stands for.
    pub(crate) fn predefined(&self, message: &str, number: u32) -> &[Rule] {
        self.predefined.get(&(message.to_owned(), number)).map_or(&[], Vec::as_slice)
    }

    fn message(&mut self, message: &[u8], scope: &str) -> Result<(), WireError> {
        let name = text(message, 1)?;
        let name = if scope.is_empty() { name } else { format!("{scope}.{name}") };
        let mut rules = MessageRules::default();
        let mut oneofs: Vec<(String, Vec<u32>, bool)> = Vec::new();
        for oneof in nested(message, 8) {
            let oneof = oneof?;
            let required = flag(&joined(&joined(oneof, 2)?, RULES)?, 1)?;
            oneofs.push((text(oneof, 1)?, Vec::new(), required));
        }
        for field in nested(message, 2) {
            let field = field_options(field?)?;
            let oneof = field.oneof.and_then(|index| oneofs.get_mut(usize::try_from(index).ok()?));
            if let Some((_, members, _)) = oneof {
                members.push(field.number);
            }
            self.predefine(name.clone(), &field)?;
            if !field.rules.is_empty() {
                rules.fields.insert(field.number, field.rules);
            }
        }
        let required = oneofs.into_iter().filter(|(.., required)| *required);
        rules.required_oneofs = required.map(|(name, members, _)| (name, members)).collect();
        let own = joined(&joined(message, 7)?, RULES)?;
        rules.cel = cel_rules(&own, 5, 3)?;
        for oneof in nested(&own, 4) {
            let oneof = oneof?;
            let fields = nested(oneof, 1).map(|name| name.map(lossy)).collect::<Result<_, _>>()?;
            rules.oneofs.push((fields, flag(oneof, 2)?));
        }
        for inner in nested(message, 3) {
            self.message(inner?, &name)?;
        }
        for extension in nested(message, 6) {
            self.extension(extension?)?;
        }
        self.messages.insert(name, rules);
        Ok(())
    }

    fn extension(&mut self, extension: &[u8]) -> Result<(), WireError> {
        let field = field_options(extension)?;
        self.predefine(field.extends.trim_start_matches('.').to_owned(), &field)
    }

    fn predefine(&mut self, message: String, field: &FieldOptions) -> Result<(), WireError> {
        if !field.predefined.is_empty() {
            self.predefined.insert((message, field.number), cel_rules(&field.predefined, 0, 1)?);
        }
        Ok(())
    }
}

fn field_options(field: &[u8]) -> Result<FieldOptions, WireError> {
    let mut found = FieldOptions::default();
    for record in Records::new(field) {
        let record = record?;
        match (record.number, record.payload) {
            (3, Payload::Varint(number)) => found.number = u32::try_from(number).unwrap_or(0),
            (2, Payload::Bytes(name)) => found.extends = lossy(name),
            (9, Payload::Varint(index)) => found.oneof = Some(index),
            (8, Payload::Bytes(options)) => {
                found.rules.extend(joined(options, RULES)?);
                found.predefined.extend(joined(options, PREDEFINED)?);
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The rules of a message: expressions alone first, then those with an identifier.
pub(crate) fn cel_rules(rules: &[u8], expressions: u32, cel: u32) -> Result<Vec<Rule>, WireError> {
    let mut found = Vec::new();
    for expression in nested(rules, expressions) {
        let expression = lossy(expression?);
        found.push(Rule { id: expression.clone(), expression, ..Rule::default() });
    }
    for rule in nested(rules, cel) {
        let rule = rule?;
        found.push(Rule { id: text(rule, 1)?, message: text(rule, 2)?, expression: text(rule, 3)? });
    }
    Ok(found)
}

/// The payloads of a field that are bytes.
pub(crate) fn nested(message: &[u8], number: u32) -> impl Iterator<Item = Result<&[u8], WireError>> {
    Records::new(message).filter_map(move |record| match record {
        Ok(record) => match record.payload {
            Payload::Bytes(bytes) if record.number == number => Some(Ok(bytes)),
            _ => None,
        },
        Err(error) => Some(Err(error)),
    })
}

/// The parts of a message that is written in several.
pub(crate) fn joined(message: &[u8], number: u32) -> Result<Vec<u8>, WireError> {
    nested(message, number).try_fold(Vec::new(), |mut all, part| {
        all.extend_from_slice(part?);
        Ok(all)
    })
}

/// The last number of a field.
pub(crate) fn number(message: &[u8], number: u32) -> Result<Option<u64>, WireError> {
    Records::new(message).try_fold(None, |found, record| {
        let record = record?;
        Ok(match record.payload {
            Payload::Varint(value) if record.number == number => Some(value),
            _ => found,
        })
    })
}

pub(crate) fn flag(message: &[u8], field: u32) -> Result<bool, WireError> {
    Ok(number(message, field)?.is_some_and(|value| value != 0))
}

fn text(message: &[u8], number: u32) -> Result<String, WireError> {
    Ok(nested(message, number).last().transpose()?.map(lossy).unwrap_or_default())
}

/// Names and sources are UTF-8 in every set that a compiler wrote.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
