//! A document for each key of a JSON schema, so that a test of all keys has those that are added later.

use serde_json::{Map, Value as Json, json};

/// Returns a document for each key that holds a scalar: with the value that `value` returns for its
/// schema, and what the mappings around it must have. Each has the path of its key. A key without a
/// value is left out.
pub(crate) fn documents(schema: &Json, value: &dyn Fn(&Json) -> Option<Json>) -> Vec<(String, Json)> {
    below(schema, value, "")
}

fn below(schema: &Json, value: &dyn Fn(&Json) -> Option<Json>, path: &str) -> Vec<(String, Json)> {
    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.iter().flat_map(|choice| below(choice, value, path)).collect();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let mut found = Vec::new();
            let named = schema["properties"].as_object().into_iter().flatten();
            let any = Some(&schema["additionalProperties"]).filter(|any| any.is_object());
            let any_name = "x-any".to_owned();
            for (name, of_key) in named.chain(any.map(|any| (&any_name, any))) {
                for (path, inner) in below(of_key, value, &format!("{path}.{name}")) {
                    let mut members = required(schema);
                    members.insert(name.clone(), inner);
                    found.push((path, members.into()));
                }
            }
            found
        }
        Some("array") => {
            let inner = below(&schema["items"], value, &format!("{path}[]"));
            inner.into_iter().map(|(path, inner)| (path, json!([inner]))).collect()
        }
        _ => value(schema).map(|value| (path.to_owned(), value)).into_iter().collect(),
    }
}

/// What a mapping must have.
fn required(schema: &Json) -> Map<String, Json> {
    let names = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
    names.map(|name| (name.to_owned(), right(name, &schema["properties"][name]))).collect()
}

/// A value that a key may have.
fn right(name: &str, schema: &Json) -> Json {
    match (schema["type"].as_str(), name) {
        _ if !schema["anyOf"].is_null() => right(name, &schema["anyOf"][0]),
        _ if !schema["enum"].is_null() => schema["enum"][0].clone(),
        (Some("array"), _) => json!([right(name, &schema["items"])]),
        (Some("object"), _) => required(schema).into(),
        (Some("integer" | "number"), _) => schema.get("minimum").cloned().unwrap_or(json!(1)),
        (_, "address") => json!("127.0.0.1:1"),
        (_, "url") => json!("http://127.0.0.1:1"),
        (_, "when") => json!("true"),
        _ => json!("x"),
    }
}

/// Returns a right configuration of the proxy with the section of a document that has this path.
pub(crate) fn whole_config(path: &str, document: &Json) -> Json {
    let mut whole = json!({
        "listeners": [{"address": "127.0.0.1:0"}],
        "policy": "policy.yaml",
        "upstreams": [{"name": "x", "demo": true}],
        "routes": [{"upstream": "x"}],
        "metrics": "127.0.0.1:0",
    });
    let section = path.split(['.', '[']).nth(1).unwrap();
    whole[section] = document[section].clone();
    whole
}

/// Returns a document in block style and without quotes, as people write it.
pub(crate) fn block(document: &Json) -> String {
    let mut text = String::new();
    write_block(document, 0, &mut text);
    text.push('\n');
    text
}

fn write_block(value: &Json, indent: usize, text: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Json::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                text.push_str(&format!("\n{pad}{name}: "));
                write_block(value, indent + 2, text);
            }
        }
        Json::Array(elements) if !elements.is_empty() => {
            for element in elements {
                text.push_str(&format!("\n{pad}- "));
                write_block(element, indent + 2, text);
            }
        }
        Json::String(value) => text.push_str(value),
        other => text.push_str(&other.to_string()),
    }
}
