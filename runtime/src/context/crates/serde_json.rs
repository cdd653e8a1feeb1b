//! The crate `serde_json`: documents as values, read in place.
//!
//! Numbers have the types that the function `json(..)` gives them: `int` if they are integers that
//! fit, else `uint`, else `double`.

use crate::arena::{Arena, EvalResult};
use crate::context::{Element, FieldType, read_by_call};
use crate::value::{HostMap, List, Map, Value};
use celero_frontend::Type;
use celero_ir::layout::Field as Layout;
use serde_json::Value as Json;

type Object = serde_json::Map<String, Json>;

/// Returns a document as a value. Neither copies nor allocates.
fn value(json: &Json) -> Value<'_> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(int), ..) => Value::Int(int),
            (None, Some(uint), _) => Value::Uint(uint),
            (None, None, double) => Value::Double(double.unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::String(text),
        Json::Array(elements) => Value::List(List::Host(elements)),
        Json::Object(members) => Value::Map(Map::Host(members)),
    }
}

impl HostMap for Object {
    fn len(&self) -> usize {
        self.len()
    }

    fn get<'s>(&'s self, key: &Value<'_>, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        match key {
            Value::String(key) => Ok(self.get(*key).map(value)),
            _ => Ok(None),
        }
    }

    fn entry<'s>(&'s self, index: usize, _: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
        Ok(self.iter().nth(index).map(|(key, json)| (Value::String(key), value(json))))
    }

    fn entries<'s>(&'s self, arena: &'s Arena) -> EvalResult<&'s [(Value<'s>, Value<'s>)]> {
        let mut entries = arena.vec();
        entries.reserve(self.len())?;
        for (key, json) in self {
            entries.push((Value::String(key), value(json)))?;
        }
        Ok(entries.finish())
    }
}

// SAFETY: only `value` reads it.
unsafe impl FieldType for Json {
    fn ty() -> Type {
        Type::Dyn
    }

    fn layout() -> Layout {
        read_by_call(false)
    }

    fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(Some(value(self)))
    }
}

impl Element for Json {}

// SAFETY: only `value` reads it.
unsafe impl FieldType for Object {
    fn ty() -> Type {
        Type::map(Type::String, Type::Dyn)
    }

    fn layout() -> Layout {
        read_by_call(false)
    }

    fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(Some(Value::Map(Map::Host(self))))
    }
}

impl Element for Object {}
