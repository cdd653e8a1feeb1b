//! The JSON schema of policies, for editors.

use crate::shape::{Key, Kind, Shape};
use crate::shapes::DOCUMENT;
use serde_json::{Map, Value as Json, json};

/// The JSON schema of policies, for editors that complete and check YAML by one.
#[must_use]
pub fn schema() -> Json {
    let mut schema = object(&DOCUMENT);
    if let Some(members) = schema.as_object_mut() {
        members.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
        members.insert("title".to_owned(), json!("celero policy"));
    }
    schema
}

fn object(shape: &Shape) -> Json {
    let described = |key: &Key| {
        let mut schema = of(&key.kind);
        if let Some(members) = schema.as_object_mut() {
            members.insert("description".to_owned(), json!(key.about));
        }
        (key.name.to_owned(), schema)
    };
    let properties: Map<String, Json> = shape.keys.iter().map(described).collect();
    let required: Vec<&str> = shape.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties, "required": required })
}

fn of(kind: &Kind) -> Json {
    match kind {
        // What is text here may look like something else: `x-version: 1`.
        Kind::Text | Kind::Template => json!({ "type": ["string", "number", "boolean"] }),
        Kind::Data => json!({}),
        Kind::Expression => json!({ "type": ["string", "boolean"] }),
        Kind::True => json!({ "const": true }),
        Kind::Integer { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Chance => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }),
        Kind::Size => json!({ "type": ["integer", "string"], "pattern": "^[0-9]+ *(B|KiB|MiB|GiB)?$" }),
        Kind::Seconds => json!({ "type": ["integer", "string"], "pattern": "^[0-9]+s?$" }),
        Kind::Word(words) => match words.iter().map(|word| word.parse()).collect::<Result<Vec<u64>, _>>() {
            Ok(numbers) => json!({ "enum": numbers }),
            Err(_) => json!({ "enum": words }),
        },
        Kind::List(element) => json!({ "type": "array", "items": of(element) }),
        Kind::Map(value) => json!({ "type": "object", "additionalProperties": of(value) }),
        Kind::Object(shape) => object(shape),
        Kind::Any(kinds) => json!({ "anyOf": kinds.iter().map(of).collect::<Vec<_>>() }),
    }
}
