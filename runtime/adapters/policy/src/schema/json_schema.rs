//! Makes a JSON schema (draft 7) of the table of a format.

use super::{KeySpec, MappingSpec, ValueSpec};
use serde_json::{Map, Value as Json, json};

/// Returns the schema of a document with this root.
pub(super) fn document(root: &ValueSpec, title: &str) -> Json {
    let mut schema = value(root);
    if let Some(members) = schema.as_object_mut() {
        members.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
        members.insert("title".to_owned(), json!(title));
    }
    schema
}

fn mapping(spec: &MappingSpec) -> Json {
    let described = |key: &KeySpec| {
        let mut schema = value(&key.value);
        if let Some(members) = schema.as_object_mut() {
            members.insert("description".to_owned(), json!(key.description));
        }
        (key.name.to_owned(), schema)
    };
    let properties: Map<String, Json> = spec.keys.iter().map(described).collect();
    let required: Vec<&str> = spec.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties, "required": required })
}

fn value(spec: &ValueSpec) -> Json {
    match spec {
        // Text without quotes may look like a value of another type: `x-version: 1`.
        ValueSpec::Text | ValueSpec::Template => json!({ "type": ["string", "number", "boolean"] }),
        ValueSpec::Any | ValueSpec::JsonTemplate => json!({}),
        ValueSpec::Expression => json!({ "type": ["string", "boolean"] }),
        ValueSpec::True => json!({ "const": true }),
        ValueSpec::Bool => json!({ "type": "boolean" }),
        ValueSpec::Integer { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        ValueSpec::Ratio => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        ValueSpec::Share => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }),
        ValueSpec::Size => {
            json!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+ *(B|KiB|MiB|GiB)?$" })
        }
        ValueSpec::PositiveSize => {
            json!({ "type": ["integer", "string"], "minimum": 1, "pattern": "^0*[1-9][0-9]* *(B|KiB|MiB|GiB)?$" })
        }
        ValueSpec::Seconds => json!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+[smh]?$" }),
        ValueSpec::Duration => json!({ "type": "string", "pattern": "^[0-9]+(ms|s|m|h)$" }),
        ValueSpec::PositiveDuration => json!({ "type": "string", "pattern": "^0*[1-9][0-9]*(ms|s|m|h)$" }),
        ValueSpec::Rate => json!({ "type": "string", "pattern": "^[0-9]+/[0-9]*[smhd]$" }),
        ValueSpec::Word(words) => match words.iter().map(|word| word.parse()).collect::<Result<Vec<u64>, _>>() {
            Ok(numbers) => json!({ "enum": numbers }),
            Err(_) => json!({ "enum": words }),
        },
        ValueSpec::KnownWord(words) => json!({ "enum": words() }),
        ValueSpec::List(element) => json!({ "type": "array", "items": value(element) }),
        ValueSpec::Map(values) => json!({ "type": "object", "additionalProperties": value(values) }),
        ValueSpec::Mapping(spec) => mapping(spec),
        ValueSpec::OneOf(specs) => json!({ "anyOf": specs.iter().map(value).collect::<Vec<_>>() }),
    }
}
