//! Structs that derive [`Context`](crate::Context) as parameters and results of host functions.

use super::Element;
use crate::arena::{Arena, EvalResult};
use crate::function::explain;
use crate::value::{Map, Place, Value, copy};
use celero_ir::ErrorKind;
use std::any::Any;

/// Returns the struct of the host that a value is read from; `name` is that of the type.
///
/// # Errors
/// `host` for a map that is no such struct: one of the rule, or another struct.
pub fn struct_of<'v, T: Any>(value: &Value<'v>, name: &str) -> EvalResult<&'v T> {
    let Value::Map(map) = *value else { return Err(ErrorKind::NoSuchOverload) };
    let found = if let Map::Host(host) = map { host.as_struct() } else { None };
    found.and_then(<dyn Any>::downcast_ref).ok_or_else(|| {
        explain(&format_args!("a struct `{name}` of the host, not another map"));
        ErrorKind::Host
    })
}

/// Copies a struct as a map of its fields.
///
/// # Errors
/// `out_of_budget` when the arena is full; otherwise those of its fields.
pub fn value_of<'v>(value: &impl Element, arena: &'v Arena) -> EvalResult<Value<'v>> {
    copy(&value.element(arena)?, Place { arena, types: None })
}
