//! Outcomes as text: values as one would write them in a rule, errors with their kind and the source they are about.

use celero::values::{Arena, EvalResult};
use celero::{EvalError, Value};
use std::fmt::Write;

/// The text of an outcome of evaluating `source`.
pub(super) fn outcome(source: &str, outcome: &Result<Value<'_>, EvalError>) -> String {
    match outcome {
        Ok(value) => {
            let mut text = String::new();
            // What is built to show a host's lists need not outlive this.
            let arena = Arena::new(1 << 20);
            match show(&mut text, value, &arena) {
                Ok(()) => text,
                Err(kind) => format!("error: {} when it is shown", kind.name()),
            }
        }
        Err(error) => {
            let place = source.get(error.start as usize..error.end as usize).unwrap_or("?");
            let place: Vec<&str> = place.split_whitespace().collect();
            format!("error: {} at `{}`", error.kind.name(), place.join(" "))
        }
    }
}

fn show<'a>(out: &mut String, value: &Value<'a>, arena: &'a Arena) -> EvalResult<()> {
    // Writing to a string can't fail.
    let _ = match *value {
        Value::Null => write!(out, "null"),
        Value::Bool(v) => write!(out, "{v}"),
        Value::Int(v) => write!(out, "{v}"),
        Value::Uint(v) => write!(out, "{v}u"),
        Value::Double(v) => write!(out, "{v:?}"),
        Value::String(v) => write!(out, "{v:?}"),
        Value::Bytes(v) => write!(out, "b\"{}\"", v.escape_ascii()),
        Value::Duration(v) => write!(out, "duration({v})"),
        Value::Timestamp(v) => write!(out, "timestamp({v})"),
        Value::List(list) => {
            out.push('[');
            for index in 0..list.len() {
                if index > 0 {
                    out.push_str(", ");
                }
                if let Some(element) = list.get(index, arena)? {
                    show(out, &element, arena)?;
                }
            }
            write!(out, "]")
        }
        Value::Message(_) => write!(out, "{value}"),
        Value::Map(map) => {
            out.push('{');
            for (index, (key, value)) in map.entries(arena)?.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                show(out, key, arena)?;
                out.push_str(": ");
                show(out, value, arena)?;
            }
            write!(out, "}}")
        }
        Value::Type(name) => write!(out, "type({name})"),
        Value::Optional(None) => write!(out, "none"),
        Value::Optional(Some(v)) => {
            out.push_str("some(");
            show(out, v, arena)?;
            write!(out, ")")
        }
        Value::Ip(ip) => write!(out, "ip({ip})"),
        Value::Cidr(ip, prefix) => write!(out, "cidr({ip}/{prefix})"),
    };
    Ok(())
}
