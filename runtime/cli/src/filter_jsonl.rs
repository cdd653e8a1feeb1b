//! A line of `celero eval --jsonl` whose expression is in Cloudflare's filter language: the line declares the fields with their
//! types, gives their values, and the contents of lists.

use crate::evaluate::{Evaluated, RenderedValue};
use crate::failure::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use celero::filter::{
    Comparison, Filter, FilterExpr, FilterHost, FilterOptions, FilterType, FilterValue, Scheme, SetItems, check_filter,
};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

/// The name of the language, in `--language` and in a line's `language`.
pub(crate) const FILTER: &str = "filter";

#[derive(Deserialize)]
struct FilterRequest {
    #[serde(default)]
    language: Option<String>,
    expr: String,
    #[serde(default)]
    vars: Map<String, Json>,
    #[serde(default)]
    bindings: Map<String, Json>,
    #[serde(default)]
    lists: Map<String, Json>,
    #[serde(default, rename = "nilNotEqual")]
    nil_not_equal: bool,
}

/// The values of a line.
struct LineHost {
    /// By the index of the field.
    fields: Vec<Option<FilterValue>>,
    lists: Vec<(String, SetItems)>,
}

impl FilterHost for LineHost {
    fn field(&self, index: u32) -> Option<&FilterValue> {
        self.fields.get(index as usize)?.as_ref()
    }

    fn list_contains(&self, name: &str, value: &FilterValue) -> bool {
        self.lists.iter().filter(|(list, _)| list == name).any(|(_, items)| match (items, value) {
            (SetItems::Ints(items), FilterValue::Int(value)) => {
                items.iter().any(|(first, last)| first <= value && value <= last)
            }
            (SetItems::Ips(items), FilterValue::Ip(value)) => items.iter().any(|item| {
                let (first, last) = item.bounds();
                first.is_ipv4() == value.is_ipv4() && first <= *value && *value <= last
            }),
            (SetItems::Bytes(items), FilterValue::Bytes(value)) => items.iter().any(|item| *item.value == **value),
            _ => false,
        })
    }
}

/// Evaluates a line.
pub(crate) fn evaluate_line(line: &[u8]) -> Evaluated {
    Evaluated::Agreed(evaluate(line))
}

fn evaluate(line: &[u8]) -> Result<RenderedValue, Failure> {
    let (source, scheme, host) = read(line).map_err(Failure::invalid)?;
    let filter = Filter::compile(&source, &scheme, &FilterOptions::default()).map_err(|error| Failure::from(&error))?;
    let value = filter.test(&host).map_err(Failure::from)?;
    Ok(RenderedValue { json: json!({ "bool": value }), text: value.to_string() })
}

fn read(line: &[u8]) -> Result<(String, Arc<Scheme>, LineHost), String> {
    let request: FilterRequest =
        serde_json::from_slice(line).map_err(|error| format!("not a valid request: {error}"))?;
    if let Some(language) = request.language.filter(|language| language != FILTER) {
        return Err(format!("language `{language}`: expected `{FILTER}`"));
    }
    let mut scheme = Scheme::new();
    scheme.set_nil_not_equal(request.nil_not_equal);
    let mut fields = Vec::new();
    let mut bindings = request.bindings;
    for (name, notation) in &request.vars {
        let ty = filter_type(notation).map_err(|why| format!("type of `{name}`: {why}"))?;
        let given = bindings.remove(name);
        let value = given.map(|json| filter_value(&json, &ty)).transpose();
        fields.push(value.map_err(|why| format!("value of `{name}`: {why}"))?);
        scheme.add_field(name, ty).map_err(|error| error.to_string())?;
    }
    if let Some((name, _)) = bindings.iter().next() {
        return Err(format!("`{name}` has a value, but is not declared in `vars`"));
    }
    let mut lists = Vec::new();
    for (name, by_type) in request.lists {
        let by_type = by_type.as_object().ok_or_else(|| format!("list `{name}`: expected {{TYPE: [..]}}"))?;
        for (ty, items) in by_type {
            let ty: FilterType = ty.parse().map_err(|error| format!("list `{name}`: {error}"))?;
            let items = items.as_array().ok_or_else(|| format!("list `{name}`: expected an array of items"))?;
            lists.push((name.clone(), list_items(items, &ty).map_err(|why| format!("list `{name}`: {why}"))?));
            scheme.add_list(&name, ty).map_err(|error| error.to_string())?;
        }
    }
    Ok((request.expr, Arc::new(scheme), LineHost { fields, lists }))
}

/// Reads a type in Wirefilter's JSON notation: `"Bytes"`, `{"Array": "Bytes"}`.
fn filter_type(json: &Json) -> Result<FilterType, String> {
    let wrong = || "expected \"Bool\", \"Int\", \"Ip\", \"Bytes\", {\"Array\": TYPE} or {\"Map\": TYPE}".to_owned();
    if let Some(name) = json.as_str() {
        return name.parse().map_err(|_| wrong());
    }
    let (kind, inner) =
        json.as_object().filter(|object| object.len() == 1).and_then(|o| o.iter().next()).ok_or_else(wrong)?;
    match kind.as_str() {
        "Array" => filter_type(inner).map(FilterType::array),
        "Map" => filter_type(inner).map(FilterType::map),
        _ => Err(wrong()),
    }
}

/// Reads a value of a type.
fn filter_value(json: &Json, ty: &FilterType) -> Result<FilterValue, String> {
    let wrong = || format!("expected a value of type {ty}");
    match ty {
        FilterType::Bool => json.as_bool().map(FilterValue::Bool).ok_or_else(wrong),
        FilterType::Int => json.as_i64().map(FilterValue::Int).ok_or_else(wrong),
        FilterType::Ip => json.as_str().and_then(|text| text.parse().ok()).map(FilterValue::Ip).ok_or_else(wrong),
        FilterType::Bytes => bytes(json).map(FilterValue::Bytes).ok_or_else(wrong),
        FilterType::Array(element) => {
            let values = json.as_array().ok_or_else(wrong)?.iter().map(|value| filter_value(value, element));
            values.collect::<Result<_, _>>().map(FilterValue::Array)
        }
        FilterType::Map(element) => {
            let values = json.as_object().ok_or_else(wrong)?.iter();
            let entry = |(key, value): (&String, &Json)| {
                Ok::<_, String>((key.clone().into_bytes(), filter_value(value, element)?))
            };
            values.map(entry).collect::<Result<_, String>>().map(FilterValue::Map)
        }
    }
}

/// Reads text, or `{"bytes": base64}`.
fn bytes(json: &Json) -> Option<Vec<u8>> {
    match json {
        Json::String(text) => Some(text.clone().into_bytes()),
        Json::Object(object) if object.len() == 1 => BASE64.decode(object.get("bytes")?.as_str()?).ok(),
        _ => None,
    }
}

/// Reads the items of a list. Numbers and addresses are written as in a set of the language: `10.0.0.0/8`, `1..9`.
fn list_items(items: &[Json], ty: &FilterType) -> Result<SetItems, String> {
    let wrong = |item: &Json| format!("{item} is not an item of type {ty}");
    let mut text = String::new();
    for item in items {
        text.push(' ');
        match (item, ty) {
            (Json::Number(number), FilterType::Int) => text.push_str(&number.to_string()),
            (Json::String(item), FilterType::Int | FilterType::Ip) => text.push_str(item),
            (item, FilterType::Bytes) => {
                let bytes = bytes(item).ok_or_else(|| wrong(item))?;
                let escaped: String = bytes.iter().map(|byte| format!("\\x{byte:02X}")).collect();
                text.push_str(&format!("\"{escaped}\""));
            }
            (item, _) => return Err(wrong(item)),
        }
    }
    let mut scheme = Scheme::new();
    scheme.add_field("item", ty.clone()).map_err(|error| error.to_string())?;
    let mut options = FilterOptions::default();
    options.limits.max_source_bytes = u32::MAX;
    options.limits.max_nodes = u32::MAX;
    let checked = check_filter(&format!("item in {{{text} }}"), &Arc::new(scheme), &options);
    let (tree, _) = checked.map_err(|errors| errors.first().map_or(String::new(), |error| error.message.clone()))?;
    match tree.expr(tree.root()) {
        FilterExpr::Compare { comparison: Comparison::OneOf(items), .. } => Ok(items.clone()),
        _ => Err(format!("not items of type {ty}")),
    }
}
