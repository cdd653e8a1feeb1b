//! The crate `serde_json`: documents as values, read in place.
//!
//! Numbers have the types that the function `json(..)` gives them: `int` if they are integers that
//! fit, else `uint`, else `double`.

use crate::accessors::value::{ValueView, value_access};
use crate::arena::{Arena, EvalResult};
use crate::context::{Element, FieldType};
use crate::cx::Cx;
use crate::function::{FromValue, IntoValue, explain};
use crate::value::{HostMap, List, Map, Value, charge_comparisons, collect_list, collect_map};
use celero_frontend::Type;
use celero_ir::layout::Field as Layout;
use celero_ir::{ErrorKind, Ty};
use serde_json::{Number, Value as Json};

/// Deepest nesting of a document that a function of the host takes or returns: what `serde_json` parses.
const MAX_DEPTH: u32 = 128;

/// A copy continues on a new stack segment when less than this is left, in bytes.
const STACK_RESERVE: usize = 32 * 1024;
/// Size of a new stack segment, in bytes.
const STACK_STEP: usize = 512 * 1024;

type Object = serde_json::Map<String, Json>;

/// Returns a document as a value. Neither copies nor allocates.
fn value(json: &Json) -> Value<'_> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => number_value(number),
        Json::String(text) => Value::String(text),
        Json::Array(elements) => Value::List(List::Host(elements)),
        Json::Object(members) => Value::Map(Map::Host(members)),
    }
}

fn number_value<'v>(number: &Number) -> Value<'v> {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(int), ..) => Value::Int(int),
        (None, Some(uint), _) => Value::Uint(uint),
        (None, None, double) => Value::Double(double.unwrap_or(f64::NAN)),
    }
}

/// Returns a copy of a document in the arena.
fn copied<'v>(json: Json, depth: u32, arena: &'v Arena) -> EvalResult<Value<'v>> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(flag),
        Json::Number(number) => number_value(&number),
        Json::String(text) => Value::String(arena.alloc_str(&text)?),
        Json::Array(elements) => inside(depth, |depth| {
            collect_list(elements.into_iter().map(|element| copied(element, depth, arena)), arena)
        })?,
        Json::Object(members) => copied_object(members, depth, arena)?,
    })
}

fn copied_object<'v>(members: Object, depth: u32, arena: &'v Arena) -> EvalResult<Value<'v>> {
    inside(depth, |depth| {
        let entry =
            |(key, json): (String, Json)| Ok((Value::String(arena.alloc_str(&key)?), copied(json, depth, arena)?));
        collect_map(members.into_iter().map(entry), arena)
    })
}

/// Calls `f` for what is inside a list or an object, with the levels that are left and enough stack.
fn inside<R>(depth: u32, f: impl FnOnce(u32) -> EvalResult<R>) -> EvalResult<R> {
    let Some(depth) = depth.checked_sub(1) else {
        explain(&format_args!("a JSON document of at most {MAX_DEPTH} levels"));
        return Err(ErrorKind::Host);
    };
    stacker::maybe_grow(STACK_RESERVE, STACK_STEP, || f(depth))
}

/// Returns a value as a document.
fn document<'v>(value: &Value<'v>, depth: u32, arena: &'v Arena) -> EvalResult<Json> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => Json::from(*number),
        Value::Uint(number) => Json::from(*number),
        Value::Double(number) => {
            Number::from_f64(*number).map(Json::Number).ok_or_else(|| no_document("this number"))?
        }
        Value::String(text) => Json::from(*text),
        Value::List(list) => inside(depth, |depth| {
            let element = |index| document(&list.get(index, arena)?.unwrap_or(Value::Null), depth, arena);
            (0..list.len()).map(element).collect::<EvalResult<_>>().map(Json::Array)
        })?,
        Value::Map(map) => inside(depth, |depth| {
            let entry = |(key, value): &(Value<'v>, Value<'v>)| match key {
                Value::String(key) => Ok(((*key).to_owned(), document(value, depth, arena)?)),
                key => Err(no_document(&format!("a map with a key of type `{}`", key.type_name()))),
            };
            map.entries(arena)?.iter().map(entry).collect::<EvalResult<_>>().map(Json::Object)
        })?,
        other => return Err(no_document(&format!("a `{}`", other.type_name()))),
    })
}

fn no_document(what: &str) -> ErrorKind {
    explain(&format_args!("a JSON document, which {what} is not"));
    ErrorKind::Host
}

impl IntoValue for Json {
    fn ty() -> Type {
        Type::Dyn
    }

    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>> {
        copied(self, MAX_DEPTH, arena)
    }
}

impl IntoValue for Object {
    fn ty() -> Type {
        Type::map(Type::String, Type::Dyn)
    }

    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>> {
        copied_object(self, MAX_DEPTH, arena)
    }
}

impl FromValue for Json {
    type Of<'v> = Self;

    fn ty() -> Type {
        Type::Dyn
    }

    fn from_value<'v>(value: &Value<'v>, arena: &'v Arena) -> EvalResult<Self> {
        document(value, MAX_DEPTH, arena)
    }
}

impl HostMap for Object {
    fn len(&self) -> usize {
        self.len()
    }

    fn lookup_costs(&self) -> (usize, bool) {
        (self.len(), false)
    }

    fn get<'s>(&'s self, key: &Value<'_>, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        match key {
            Value::String(key) => Ok(self.get(*key).map(value)),
            _ => Ok(None),
        }
    }

    fn place<'s>(&'s self, key: &Value<'_>, cx: &Cx<'s>) -> EvalResult<Option<&'s Value<'s>>> {
        charge_comparisons(key, self.len(), cx)?;
        match key {
            Value::String(key) => self.get(*key).map(|json| cx.arena().alloc(value(json))).transpose(),
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

macro_rules! views {
    ($($rust:ty: $value:expr;)*) => {$(
        impl ValueView for $rust {
            type Value<'s> = Value<'s>;

            fn show(&self) -> Option<Value<'_>> {
                let value: fn(&Self) -> Value<'_> = $value;
                Some(value(self))
            }
        }

        impl ValueView for Option<$rust> {
            type Value<'s> = Value<'s>;

            fn show(&self) -> Option<Value<'_>> {
                self.as_ref().and_then(ValueView::show)
            }
        }
    )*};
}

views! {
    Json: value;
    Object: |members| Value::Map(Map::Host(members));
}

// SAFETY: the view shows what `value` gives.
unsafe impl FieldType for Json {
    fn ty() -> Type {
        Type::Dyn
    }

    fn layout() -> Layout {
        Layout::new(Ty::Value, false, value_access::<Self>())
    }

    fn optional_layout() -> Layout {
        Layout::new(Ty::Value, true, value_access::<Option<Self>>())
    }

    fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(self.show())
    }
}

impl Element for Json {}

// SAFETY: the view shows what `value` gives.
unsafe impl FieldType for Object {
    fn ty() -> Type {
        Type::map(Type::String, Type::Dyn)
    }

    fn layout() -> Layout {
        Layout::new(Ty::Value, false, value_access::<Self>())
    }

    fn optional_layout() -> Layout {
        Layout::new(Ty::Value, true, value_access::<Option<Self>>())
    }

    fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(self.show())
    }
}

impl Element for Object {}
