//! Sets of the standard library as fields: lists in which `in` is one lookup.
//!
//! A set finds its nth element only by counting. So the first read of an element writes the
//! addresses of all elements into the evaluation's memory, 8 bytes for each; `in`, `size` and loops
//! of native code need none of that.

use super::describe::{item, read_by_call};
use super::field_type::{Element, FieldType};
use super::key::{MapKey, OfCelero, key_type, value_of};
use crate::accessors::cursor::{ItemAddresses, Iterated, cursor as cursor_over};
use crate::accessors::entries::{EntryKey, EntryView, set_entries};
use crate::arena::{Arena, EvalResult};
use crate::value::{HostList, List, Value};
use celero_frontend::Type;
use celero_ir::layout::{Cursor, Field as Layout, Items};
use std::borrow::Borrow;
use std::cell::OnceCell;
use std::collections::btree_set::Iter as TreeIter;
use std::collections::hash_set::Iter as HashIter;
use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, Hash};

/// A set, and its elements once they were read.
struct Set<'a, S, K> {
    set: &'a S,
    arena: &'a Arena,
    elements: OnceCell<&'a [&'a K]>,
}

/// What both kinds of sets can do.
trait Elements<K> {
    fn count(&self) -> usize;

    fn holds(&self, value: &Value<'_>) -> bool;

    fn all<'s>(&'s self) -> impl Iterator<Item = &'s K>
    where
        K: 's;
}

impl<'a, S: Elements<K>, K> Set<'a, S, K> {
    fn elements(&self) -> EvalResult<&'a [&'a K]> {
        if let Some(elements) = self.elements.get() {
            return Ok(elements);
        }
        let mut elements = self.arena.vec();
        elements.reserve(self.set.count())?;
        for element in self.set.all() {
            elements.push(element)?;
        }
        Ok(self.elements.get_or_init(|| elements.finish()))
    }
}

/// From here on a double stands for more than one integer: 2 to the power of 53.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl<S: Elements<K>, K: MapKey> HostList for Set<'_, S, K> {
    fn len(&self) -> usize {
        self.set.count()
    }

    fn get<'s>(&'s self, index: usize, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(self.elements()?.get(index).map(|element| element.key()))
    }

    fn contains(&self, value: &Value<'_>) -> Option<bool> {
        // Such a double equals several integers (`value/equality.rs`), so the elements are compared.
        match value {
            Value::Double(double) if double.abs() >= EXACT => None,
            _ => Some(self.set.holds(value)),
        }
    }
}

/// How native code goes over the elements of the set `V`, or of an option of it, if it reads them.
fn cursor<K: MapKey, V: Iterated>(optional: bool) -> Option<Cursor> {
    cursor_over::<V>(optional, Items::Elements(item(K::layout(OfCelero)?)?))
}

macro_rules! sets {
    ($([$($generics:tt)*] $rust:ty: $iter:ident $($form:ident)+;)*) => {$(
        impl<$($generics)*> Elements<K> for $rust
        where
            K::Form: $($form +)+
        {
            fn count(&self) -> usize {
                self.len()
            }

            fn holds(&self, value: &Value<'_>) -> bool {
                K::lookup(value, |key| self.contains(key)).unwrap_or(false)
            }

            fn all<'s>(&'s self) -> impl Iterator<Item = &'s K>
            where
                K: 's,
            {
                self.iter()
            }
        }

        impl<$($generics)*> EntryView for $rust
        where
            K::Form: $($form +)+
        {
            type Value = K;

            fn find(&self, key: EntryKey<'_>) -> Option<&K> {
                K::lookup(&value_of(key), |key| self.get(key)).flatten()
            }

            fn count(&self) -> usize {
                self.len()
            }
        }

        impl<$($generics)*> Iterated for $rust
        where
            K::Form: $($form +)+
        {
            type Iter<'a> = $iter<'a, K> where Self: 'a;

            fn begin(&self) -> Self::Iter<'_> {
                self.iter()
            }

            fn next<'a>(iter: &mut Self::Iter<'a>) -> Option<ItemAddresses> where Self: 'a {
                iter.next().map(ItemAddresses::element)
            }
        }

        // SAFETY: `value` reads it; the view finds what the set contains.
        unsafe impl<$($generics)*> FieldType for $rust
        where
            K::Form: $($form +)+
        {
            fn ty() -> Type {
                Type::list(K::ty())
            }

            fn layout() -> Layout {
                let (entries, cursor) = (key_type::<K>().map(set_entries::<Self>), cursor::<K, Self>(false));
                Layout { entries, cursor, ..read_by_call(false) }
            }

            fn optional_layout() -> Layout {
                let (entries, cursor) = (key_type::<K>().map(set_entries::<Option<Self>>), cursor::<K, Self>(true));
                Layout { entries, cursor, ..read_by_call(true) }
            }

            fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                let set: &'s Set<'s, Self, K> = arena.keep(Set { set: self, arena, elements: OnceCell::new() })?;
                Ok(Some(Value::List(List::Host(set))))
            }
        }

        impl<$($generics)*> Element for $rust where K::Form: $($form +)+ {}
    )*};
}

sets! {
    [K: MapKey + Borrow<K::Form> + Hash + Eq, S: BuildHasher] HashSet<K, S>: HashIter Hash Eq;
    [K: MapKey + Borrow<K::Form> + Ord] BTreeSet<K>: TreeIter Ord;
}
