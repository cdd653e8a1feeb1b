//! Types as file tests write them: the notation in which they are displayed, and `timestamp`, `duration`.

use celero::Type;
use std::sync::Arc;

/// Reads a type.
pub(super) fn parse(text: &str) -> Result<Type, String> {
    let text = text.trim();
    let (name, params) = match text.split_once('(') {
        Some((name, rest)) => {
            let inner = rest.strip_suffix(')').ok_or_else(|| format!("type `{text}`: no `)`"))?;
            (name, split(inner).into_iter().map(parse).collect::<Result<Vec<_>, _>>()?)
        }
        None => (text, Vec::new()),
    };
    Ok(match (name, params.as_slice()) {
        ("bool", []) => Type::Bool,
        ("int", []) => Type::Int,
        ("uint", []) => Type::Uint,
        ("double", []) => Type::Double,
        ("string", []) => Type::String,
        ("bytes", []) => Type::Bytes,
        ("null_type", []) => Type::Null,
        ("dyn", []) => Type::Dyn,
        ("timestamp", []) => Type::Timestamp,
        ("duration", []) => Type::Duration,
        ("list", [element]) => Type::list(element.clone()),
        ("map", [key, value]) => Type::map(key.clone(), value.clone()),
        ("optional_type", [inner]) => Type::optional(inner.clone()),
        ("wrapper", [inner]) => Type::Wrapper(Arc::new(inner.clone())),
        _ => return Err(format!("there is no type `{text}`")),
    })
}

/// Splits at the commas outside brackets.
fn split(text: &str) -> Vec<&str> {
    let mut open = 0_i32;
    let outside = |c: char| {
        open = match c {
            '(' => open.saturating_add(1),
            ')' => open.saturating_sub(1),
            _ => open,
        };
        c == ',' && open == 0
    };
    text.split(outside).collect()
}
