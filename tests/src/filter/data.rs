//! Values as text: read from JSON, and shown as a rule would write them.

use crate::filetest::unescape;
use celero::filter::{FilterType, FilterValue};
use serde_json::Value as Json;

/// The value of a type that JSON writes: texts for addresses and byte strings;
/// `{"bytes": "a\\xff"}` for those that are not UTF-8.
///
/// # Errors
/// The JSON is not of the type.
pub fn value(json: &Json, ty: &FilterType) -> Result<FilterValue, String> {
    let wrong = || format!("{json} is not of type {ty}");
    match ty {
        FilterType::Bool => json.as_bool().map(FilterValue::Bool).ok_or_else(wrong),
        FilterType::Int => json.as_i64().map(FilterValue::Int).ok_or_else(wrong),
        FilterType::Ip => json.as_str().and_then(|text| text.parse().ok()).map(FilterValue::Ip).ok_or_else(wrong),
        FilterType::Bytes => match (json.as_str(), json.get("bytes").and_then(Json::as_str)) {
            (Some(text), _) => Ok(text.into()),
            (None, Some(text)) => Ok(FilterValue::Bytes(unescape(text)?)),
            (None, None) => Err(wrong()),
        },
        FilterType::Array(element) => {
            let elements = json.as_array().ok_or_else(wrong)?.iter().map(|element_json| value(element_json, element));
            elements.collect::<Result<_, _>>().map(FilterValue::Array)
        }
        FilterType::Map(element) => {
            let entries = json.as_object().ok_or_else(wrong)?.iter();
            let entry = |(key, json): (&String, &Json)| Ok((key.clone().into_bytes(), value(json, element)?));
            entries.map(entry).collect::<Result<_, String>>().map(FilterValue::Map)
        }
    }
}

/// A value as text; `nil` if it is missing.
#[must_use]
pub fn show(value: Option<&FilterValue>) -> String {
    match value {
        None => "nil".to_owned(),
        Some(FilterValue::Bool(value)) => value.to_string(),
        Some(FilterValue::Int(value)) => value.to_string(),
        Some(FilterValue::Ip(value)) => value.to_string(),
        Some(FilterValue::Bytes(bytes)) => quoted(bytes),
        Some(FilterValue::Array(values)) => {
            let values: Vec<String> = values.iter().map(|value| show(Some(value))).collect();
            format!("[{}]", values.join(", "))
        }
        Some(FilterValue::Map(values)) => {
            let entry = |(key, value): (&Vec<u8>, &FilterValue)| format!("{}: {}", quoted(key), show(Some(value)));
            let values: Vec<String> = values.iter().map(entry).collect();
            format!("{{{}}}", values.join(", "))
        }
    }
}

fn quoted(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match std::str::from_utf8(bytes) {
        Ok(_) if !text.contains(char::is_control) => format!("{text:?}"),
        _ => format!("\"{}\"", bytes.escape_ascii()),
    }
}
