//! Links the types of a set: names become indices.

use super::read::{RawEnum, RawField, RawFile, RawMessage};
use super::{
    Cardinality, Default, DescriptorError, EnumType, Field, Kind, MessageType, Named, Pool, Scalar, defaults,
    lower_camel_case, well_known,
};
use crate::wire::MAX_NUMBER;
use std::collections::HashMap;

/// Links all files, and the types of `google.protobuf` that they lack.
///
/// # Errors
/// A name that is declared twice, a type that is missing, fields of the same name or number, a number that no field can
/// have, a default that is none of the type.
pub(super) fn pool(files: Vec<RawFile>) -> Result<Pool, DescriptorError> {
    let mut pool = Pool::default();
    let (mut messages, mut enums, mut extensions) = (Vec::new(), Vec::new(), Vec::new());
    for file in files {
        messages.extend(file.messages);
        enums.extend(file.enums);
        extensions.extend(file.extensions);
        for (path, method) in file.methods {
            if pool.methods.insert(path.as_str().into(), method).is_some() {
                return Err(DescriptorError::new(format!("method `{path}` is declared twice")));
            }
        }
    }
    let mut names: HashMap<Box<str>, Named> = HashMap::new();
    for (name, named) in names_of(&messages, &enums) {
        if names.insert(name.into(), named).is_some() {
            return Err(DescriptorError::new(format!("`{name}` is declared twice")));
        }
    }
    for message in well_known::messages() {
        if !names.contains_key(&*message.name) {
            names.insert(message.name.as_str().into(), Named::Message(index(messages.len())));
            messages.push(message);
        }
    }
    pool.names = names;
    pool.enums = enums.into_iter().map(enumeration).collect();
    let mut fields: Vec<Vec<RawField>> = Vec::with_capacity(messages.len());
    let is_entry: Vec<bool> = messages.iter().map(|message| message.is_map_entry).collect();
    for message in messages {
        pool.messages.push(MessageType {
            well_known: well_known::meaning(&message.name),
            name: message.name.into(),
            fields: Vec::new(),
            names: HashMap::default(),
            is_map_entry: message.is_map_entry,
        });
        fields.push(message.fields);
    }
    for (extends, field) in extensions {
        let place = match pool.names.get(&*extends) {
            Some(Named::Message(index)) => fields.get_mut(*index as usize),
            _ => None,
        };
        let Some(place) = place else {
            let text = format!("extension `{}` extends `{extends}`, which is not in the set", field.name);
            return Err(DescriptorError::new(text));
        };
        place.push(field);
    }
    for (at, raw) in fields.into_iter().enumerate() {
        let linked = raw.into_iter().map(|field| link(&pool, &is_entry, at, field)).collect::<Result<_, _>>()?;
        if let Some(message) = pool.messages.get_mut(at) {
            set_fields(message, linked)?;
        }
    }
    for method in pool.methods.values() {
        for ty in [&method.request, &method.response] {
            if !matches!(pool.names.get(ty), Some(Named::Message(_))) {
                return Err(DescriptorError::new(format!("a method has the type `{ty}`, which is not in the set")));
            }
        }
    }
    Ok(pool)
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn names_of<'r>(messages: &'r [RawMessage], enums: &'r [RawEnum]) -> impl Iterator<Item = (&'r str, Named)> {
    let messages = messages.iter().enumerate().map(|(at, message)| (&*message.name, Named::Message(index(at))));
    messages.chain(enums.iter().enumerate().map(|(at, raw)| (&*raw.name, Named::Enum(index(at)))))
}

fn enumeration(raw: RawEnum) -> EnumType {
    let mut numbers: Vec<i32> = raw.values.iter().map(|(_, number)| *number).collect();
    numbers.sort_unstable();
    EnumType { name: raw.name.into(), values: raw.values, numbers, is_closed: raw.is_closed }
}

fn set_fields(message: &mut MessageType, mut fields: Vec<Field>) -> Result<(), DescriptorError> {
    fields.sort_by_key(|field| field.number);
    for (at, field) in fields.iter().enumerate() {
        if message.names.insert(field.name.clone(), index(at)).is_some() {
            let text = format!("message `{}` has two fields `{}`", message.name, field.name);
            return Err(DescriptorError::new(text));
        }
        if at.checked_sub(1).and_then(|before| fields.get(before)).is_some_and(|before| before.number == field.number) {
            let text = format!("message `{}` has two fields of number {}", message.name, field.number);
            return Err(DescriptorError::new(text));
        }
    }
    message.fields = fields;
    if message.is_map_entry && !is_entry(message) {
        return Err(DescriptorError::new(format!("message `{}` is no entry of a map", message.name)));
    }
    Ok(())
}

/// Whether a message has what an entry of a map has: one key, which is an integer, a bool or a
/// text, and one value.
fn is_entry(message: &MessageType) -> bool {
    let [key, value] = message.fields.as_slice() else { return false };
    let is_key = !matches!(
        key.kind,
        Kind::Scalar(Scalar::Double | Scalar::Float | Scalar::Bytes)
            | Kind::Enum(_)
            | Kind::Message(_)
            | Kind::Group(_)
    );
    let singular = |field: &Field| field.cardinality == Cardinality::Singular;
    key.number == 1 && value.number == 2 && is_key && singular(key) && singular(value)
}

fn link(pool: &Pool, is_entry: &[bool], message: usize, raw: RawField) -> Result<Field, DescriptorError> {
    let wrong = |what: &str| {
        let message = pool.messages.get(message).map_or("", |message| &message.name);
        DescriptorError::new(format!("message `{message}`: field `{}` {what}", raw.name))
    };
    if !(1..=MAX_NUMBER).contains(&raw.number) {
        return Err(wrong("has a number that no field can have"));
    }
    let is_map = |index: u32| is_entry.get(index as usize) == Some(&true);
    let in_map = |index: u32| is_map(index) || is_entry.get(message) == Some(&true);
    let missing = || wrong(&format!("is of the type `{}`, which is not in the set", raw.type_name));
    let kind = match (raw.scalar, pool.names.get(&*raw.type_name)) {
        (Some(scalar), _) => Kind::Scalar(scalar),
        // Maps, and what is in them, are written by their length whatever the feature says.
        (None, Some(Named::Message(index))) if raw.is_group && !in_map(*index) => Kind::Group(*index),
        (None, Some(Named::Message(index))) => Kind::Message(*index),
        (None, Some(Named::Enum(index))) => Kind::Enum(*index),
        (None, None) => return Err(missing()),
    };
    let cardinality = match kind {
        _ if !raw.is_repeated => Cardinality::Singular,
        Kind::Message(index) if is_map(index) => Cardinality::Map,
        _ => Cardinality::Repeated,
    };
    let enumeration = match kind {
        Kind::Enum(index) => pool.enums.get(index as usize),
        _ => None,
    };
    let default = match (&raw.default, enumeration.and_then(|enumeration| enumeration.values.first())) {
        (Some(text), _) => {
            defaults::read(text, kind, enumeration).ok_or_else(|| wrong("has a default that is none of its type"))?
        }
        (None, Some((_, first))) if *first != 0 => Default::Int((*first).into()),
        _ => Default::Zero,
    };
    let json_name = if raw.json_name.is_empty() { lower_camel_case(&raw.name) } else { raw.json_name };
    Ok(Field {
        name: raw.name.into(),
        json_name: json_name.into(),
        number: raw.number,
        kind,
        cardinality,
        has_presence: raw.has_presence,
        is_packed: raw.is_packed,
        oneof: raw.oneof,
        default,
    })
}
