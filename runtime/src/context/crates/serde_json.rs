//! The crate `serde_json`: documents as values, read in place.
//!
//! Numbers have the types that the function `json(..)` gives them: `int` if they are integers that
//! fit, else `uint`, else `double`.

use crate::accessors::value::{ValueView, value_access};
use crate::arena::{Arena, EvalResult};
use crate::context::{Element, FieldType};
use crate::cx::Cx;
use crate::value::{HostMap, List, Map, Value, charge_comparisons};
use celero_frontend::Type;
use celero_ir::Ty;
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
