//! Maps of the standard library as fields, with text as keys.

use super::FieldType;
use super::describe::read_by_call;
use super::field_type::Element;
use crate::arena::{Arena, EvalResult};
use crate::value::{HostMap, Map, Value};
use celero_frontend::Type;
use celero_ir::layout::Field as Layout;
use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};

macro_rules! maps {
    ($([$($generics:tt)*] $rust:ty;)*) => {$(
        impl<$($generics)*> HostMap for $rust {
            fn len(&self) -> usize {
                self.len()
            }

            fn get<'s>(&'s self, key: &Value<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                match key {
                    Value::String(key) => self.get(*key).map(|value| value.element(arena)).transpose(),
                    _ => Ok(None),
                }
            }

            fn entry<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
                let entry = self.iter().nth(index);
                entry.map(|(key, value)| Ok((Value::String(key.borrow()), value.element(arena)?))).transpose()
            }

            fn entries<'s>(&'s self, arena: &'s Arena) -> EvalResult<&'s [(Value<'s>, Value<'s>)]> {
                let mut entries = arena.vec();
                entries.reserve(self.len())?;
                for (key, value) in self {
                    entries.push((Value::String(key.borrow()), value.element(arena)?))?;
                }
                Ok(entries.finish())
            }
        }

        // SAFETY: only `value` reads it.
        unsafe impl<$($generics)*> FieldType for $rust {
            fn ty() -> Type {
                Type::map(Type::String, T::ty())
            }

            fn layout() -> Layout {
                read_by_call(false)
            }

            fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                Ok(Some(Value::Map(Map::Host(self))))
            }
        }

        impl<$($generics)*> Element for $rust {}
    )*};
}

maps! {
    [K: Borrow<str> + Hash + Eq + Debug, T: Element, S: BuildHasher] HashMap<K, T, S>;
    [K: Borrow<str> + Ord + Debug, T: Element] BTreeMap<K, T>;
}
