//! The crate `serde_json`: documents as values, read in place.
//!
//! Numbers have the types that the function `json(..)` gives them: `int` if they are integers that
//! fit, else `uint`, else `double`.

use crate::accessors::value::{ValueView, value_access};
use crate::arena::{Arena, EvalResult};
use crate::context::{Element, FieldType};
use crate::cx::Cx;
use crate::function::{FromValue, IntoValue, explain};
use crate::value::{HostMap, List, MAX_DEPTH, Map, Place, Value, charge_comparisons, copy, nested};
use celero_frontend::Type;
use celero_ir::layout::Field as Layout;
use celero_ir::{ErrorKind, Ty};
use serde_json::{Number, Value as Json};

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

impl<'a> From<&'a Json> for Value<'a> {
    /// Returns the document, which is read in place: nothing is copied.
    fn from(json: &'a Json) -> Self {
        value(json)
    }
}

impl<'a> From<&'a Object> for Value<'a> {
    /// Returns the object, which is read in place: nothing is copied.
    fn from(members: &'a Object) -> Self {
        Value::Map(Map::Host(members))
    }
}

/// Returns a value as a document. Each part takes a step of the budget, also one that stands in it several times.
fn document<'v>(value: &Value<'v>, depth: u32, cx: &Cx<'v>) -> EvalResult<Json> {
    cx.charge(1)?;
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => Json::from(*number),
        Value::Uint(number) => Json::from(*number),
        Value::Double(number) => {
            Number::from_f64(*number).map(Json::Number).ok_or_else(|| no_document("this number"))?
        }
        Value::String(text) => Json::from(copied(text, cx)?),
        Value::List(list) => nested(depth, |depth| {
            let element = |index| document(&list.get(index, cx.arena())?.unwrap_or(Value::Null), depth, cx);
            (0..list.len()).map(element).collect::<EvalResult<_>>().map(Json::Array)
        })?,
        Value::Map(map) => nested(depth, |depth| {
            let entry = |(key, value): &(Value<'v>, Value<'v>)| match key {
                Value::String(key) => Ok((copied(key, cx)?, document(value, depth, cx)?)),
                key => Err(no_document(&format!("a map with a key of type `{}`", key.type_name()))),
            };
            map.entries(cx.arena())?.iter().map(entry).collect::<EvalResult<_>>().map(Json::Object)
        })?,
        other => return Err(no_document(&format!("a `{}`", other.type_name()))),
    })
}

fn copied(text: &str, cx: &Cx<'_>) -> EvalResult<String> {
    cx.charge_bytes(text.len())?;
    Ok(text.to_owned())
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
        copy(&value(&self), Place { arena, types: None })
    }
}

impl IntoValue for Object {
    fn ty() -> Type {
        Type::map(Type::String, Type::Dyn)
    }

    fn into_value<'v>(self, arena: &'v Arena) -> EvalResult<Value<'v>> {
        copy(&Value::from(&self), Place { arena, types: None })
    }
}

impl FromValue for Json {
    type Of<'v> = Self;

    fn ty() -> Type {
        Type::Dyn
    }

    fn from_value<'v>(value: &Value<'v>, cx: &Cx<'v>) -> EvalResult<Self> {
        document(value, MAX_DEPTH, cx)
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
