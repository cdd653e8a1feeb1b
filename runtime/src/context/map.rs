//! Maps of the standard library as fields, with text, integers or `bool` as keys.

use super::describe::{item, read_by_call};
use super::field_type::{Element, FieldType};
use super::key::{MapKey, OfCelero, key_type, value_of};
use crate::accessors::cursor::{ItemAddresses, Iterated, cursor as cursor_over};
use crate::accessors::entries::{EntryKey, EntryView, MakeEntry, map_entries};
use crate::arena::{Arena, EvalResult};
use crate::value::{HostMap, Map, Value};
use celero_frontend::Type;
use celero_ir::Ty;
use celero_ir::layout::{Access, Cursor, Entries, Field as Layout, Items};
use std::borrow::Borrow;
use std::collections::btree_map::Iter as TreeIter;
use std::collections::hash_map::Iter as HashIter;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

/// How native code finds entries of the map `V`, and reads their values.
fn entries<K: MapKey, T: Element, V: MakeEntry<Value = T>>() -> Option<Entries> {
    let value = T::layout();
    let (ty, access) = if value.is_in_place() { (value.ty, value.access) } else { (Ty::Value, Access::Get) };
    key_type::<K>().map(|key| map_entries::<V>(key, ty, access))
}

/// How native code goes over the entries of the map `V`, or of an option of it, if it reads their
/// keys and values.
fn cursor<K: MapKey, T: Element, V: Iterated>(optional: bool) -> Option<Cursor> {
    cursor_over::<V>(optional, Items::Entries(item(K::layout(OfCelero)?)?, item(T::layout())?))
}

macro_rules! maps {
    ($([$($generics:tt)*] $rust:ty: $iter:ident $($form:ident)+;)*) => {$(
        impl<$($generics)*> HostMap for $rust where K::Form: $($form +)+ {
            fn len(&self) -> usize {
                self.len()
            }

            fn get<'s>(&'s self, key: &Value<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                let found = K::lookup(key, |key| self.get(key)).flatten();
                found.map(|value| value.element(arena)).transpose()
            }

            fn entry<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
                let entry = self.iter().nth(index);
                entry.map(|(key, value)| Ok((key.key(), value.element(arena)?))).transpose()
            }

            fn entries<'s>(&'s self, arena: &'s Arena) -> EvalResult<&'s [(Value<'s>, Value<'s>)]> {
                let mut entries = arena.vec();
                entries.reserve(self.len())?;
                for (key, value) in self {
                    entries.push((key.key(), value.element(arena)?))?;
                }
                Ok(entries.finish())
            }
        }

        impl<$($generics)*> EntryView for $rust where K::Form: $($form +)+ {
            type Value = T;

            fn find(&self, key: EntryKey<'_>) -> Option<&T> {
                K::lookup(&value_of(key), |key| self.get(key)).flatten()
            }

            fn count(&self) -> usize {
                self.len()
            }
        }

        impl<$($generics)*> MakeEntry for $rust where K::Form: $($form +)+ {
            type Memory = Arena;
            type Made<'s> = Value<'s>;

            fn make<'s>(value: &'s T, memory: &'s Arena) -> EvalResult<Value<'s>> {
                value.element(memory)
            }
        }

        impl<$($generics)*> Iterated for $rust where K::Form: $($form +)+ {
            type Iter<'a> = $iter<'a, K, T> where Self: 'a;

            fn begin(&self) -> Self::Iter<'_> {
                self.iter()
            }

            fn next<'a>(iter: &mut Self::Iter<'a>) -> Option<ItemAddresses> where Self: 'a {
                iter.next().map(ItemAddresses::entry)
            }
        }

        // SAFETY: `value` reads it; the view finds what its map finds, and the value's own layout reads that.
        unsafe impl<$($generics)*> FieldType for $rust where K::Form: $($form +)+ {
            const NEWTYPE_CONTAINS_ITSELF: () = T::NEWTYPE_CONTAINS_ITSELF;

            fn ty() -> Type {
                Type::map(K::ty(), T::ty())
            }

            fn layout() -> Layout {
                let (entries, cursor) = (entries::<K, T, Self>(), cursor::<K, T, Self>(false));
                Layout { entries, cursor, ..read_by_call(false) }
            }

            fn optional_layout() -> Layout {
                let (entries, cursor) = (entries::<K, T, Option<Self>>(), cursor::<K, T, Self>(true));
                Layout { entries, cursor, ..read_by_call(true) }
            }

            fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                Ok(Some(Value::Map(Map::Host(self))))
            }
        }

        impl<$($generics)*> Element for $rust where K::Form: $($form +)+ {}
    )*};
}

maps! {
    [K: MapKey + Borrow<K::Form> + Hash + Eq, T: Element, S: BuildHasher] HashMap<K, T, S>: HashIter Hash Eq;
    [K: MapKey + Borrow<K::Form> + Ord, T: Element] BTreeMap<K, T>: TreeIter Ord;
}
