//! Types, values and lists of the filter language, from JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use celero::filter::{
    Comparison, FilterExpr, FilterOptions, FilterType, FilterValue, Scheme, SetItems, check_filter, list_entries,
};
use celero::host::Cx;
use celero::lists::Lists;
use celero::values::{Arena, List, MapBuilder};
use celero::{ErrorKind, Value};
use serde_json::Value as Json;
use std::sync::Arc;

/// Reads a type in Wirefilter's JSON notation: `"Bytes"`, `{"Array": "Bytes"}`.
///
/// # Errors
/// What is no type, for people.
pub(crate) fn filter_type(json: &Json) -> Result<FilterType, String> {
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
///
/// # Errors
/// What is of another type, for people.
pub(crate) fn filter_value(json: &Json, ty: &FilterType) -> Result<FilterValue, String> {
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

/// Returns the value that a variable has.
///
/// # Errors
/// The arena's memory is used up; a key of a map is not UTF-8, which JSON does not have.
pub(crate) fn variable_value<'a>(value: &FilterValue, arena: &'a Arena) -> Result<Value<'a>, ErrorKind> {
    Ok(match value {
        FilterValue::Bool(value) => Value::Bool(*value),
        FilterValue::Int(value) => Value::Int(*value),
        FilterValue::Ip(address) => Value::Ip(*address),
        FilterValue::Bytes(bytes) => Value::Bytes(arena.alloc_slice(bytes)?),
        FilterValue::Array(values) => {
            let mut list = arena.vec();
            for value in values {
                list.push(variable_value(value, arena)?)?;
            }
            Value::List(List::Slice(list.finish()))
        }
        FilterValue::Map(entries) => {
            let mut map = MapBuilder::new(arena, entries.len())?;
            for (key, value) in entries {
                let key = std::str::from_utf8(key).map_err(|_| ErrorKind::InvalidArgument)?;
                map.insert(Value::String(arena.alloc_str(key)?), variable_value(value, arena)?)?;
            }
            Value::Map(map.finish(&Cx::new(i64::MAX, arena))?)
        }
    })
}

/// Reads text, or `{"bytes": base64}`.
pub(crate) fn bytes(json: &Json) -> Option<Vec<u8>> {
    match json {
        Json::String(text) => Some(text.clone().into_bytes()),
        Json::Object(object) if object.len() == 1 => BASE64.decode(object.get("bytes")?.as_str()?).ok(),
        _ => None,
    }
}

/// Lists: name, type and items.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterLists {
    lists: Arc<[(String, FilterType, SetItems)]>,
}

impl FilterLists {
    /// Reads lists: `{"bad": {"Ip": ["10.0.0.0/8", "192.0.2.1..192.0.2.9"]}}`.
    ///
    /// # Errors
    /// What is no list, for people.
    pub(crate) fn read(json: &Json) -> Result<Self, String> {
        let mut lists = Vec::new();
        for (name, by_type) in json.as_object().ok_or("expected an object of lists: {NAME: {TYPE: [..]}}")? {
            let by_type = by_type.as_object().ok_or_else(|| format!("list `{name}`: expected {{TYPE: [..]}}"))?;
            for (ty, items) in by_type {
                let ty: FilterType = ty.parse().map_err(|error| format!("list `{name}`: {error}"))?;
                let items = items.as_array().ok_or_else(|| format!("list `{name}`: expected an array of items"))?;
                let items = list_items(items, &ty).map_err(|why| format!("list `{name}`: {why}"))?;
                lists.push((name.clone(), ty, items));
            }
        }
        Ok(Self { lists: lists.into() })
    }

    /// Returns whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Returns names and types.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &FilterType)> {
        self.lists.iter().map(|(name, ty, _)| (&**name, ty))
    }

    /// Adds the lists to named lists, in place of those of the same names and types.
    ///
    /// # Errors
    /// A list that can't be one, for people: its name is that of another, or an item is empty or not UTF-8.
    pub(crate) fn add_to(&self, lists: &Lists) -> Result<(), String> {
        for (name, _, items) in self.lists.iter() {
            let entries = list_entries(items).ok_or_else(|| {
                format!("list `{name}`: an item is empty or not UTF-8, which no named list can contain")
            })?;
            lists.declare(name, entries.kind()).map_err(|error| error.to_string())?;
            lists.change().replace(name, entries).commit().map_err(|error| format!("list `{name}`: {error}"))?;
        }
        Ok(())
    }

    /// Returns whether a list has a value.
    pub(crate) fn contains(&self, name: &str, value: &FilterValue) -> bool {
        let value = match value {
            FilterValue::Int(value) => Value::Int(*value),
            FilterValue::Ip(value) => Value::Ip(*value),
            FilterValue::Bytes(value) => Value::Bytes(value),
            _ => return false,
        };
        self.lists.iter().any(|(list, _, items)| list == name && holds(items, &value))
    }
}

/// Returns whether a value is one of the items, or in one of them.
fn holds(items: &SetItems, value: &Value<'_>) -> bool {
    match (items, value) {
        (SetItems::Ints(items), Value::Int(value)) => items.iter().any(|(first, last)| first <= value && value <= last),
        // As in named lists, an IPv4-mapped address is the IPv4 address.
        (SetItems::Ips(items), Value::Ip(value)) => items.iter().any(|item| {
            let ((first, last), value) = (item.bounds(), value.to_canonical());
            first.is_ipv4() == value.is_ipv4() && first <= value && value <= last
        }),
        (SetItems::Bytes(items), Value::Bytes(value)) => items.iter().any(|item| *item.value == **value),
        _ => false,
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
