//! Structs as elements of lists and maps: maps from names to fields, which are read in place.
//!
//! A field that is absent is no entry. Dotted names, and structs inside, are maps inside; an
//! optional struct without any present field is no entry.

use super::field_type::FieldType;
use super::members::Member;
use crate::accessors::record::Record;
use crate::arena::{Arena, EvalResult, with_zero_capacity};
use crate::value::{HostMap, Map, Value};
use smallvec::SmallVec;
use std::any::Any;

/// Members, and the index of their first variable.
type Part = (&'static [Member], u32);

type Names = SmallVec<[&'static str; 16]>;

/// Returns a struct as a map of its fields. Neither copies nor allocates.
pub fn record<T: FieldType>(value: &T) -> Value<'_> {
    Value::Map(Map::Host(Record::of(value)))
}

/// What a name stands for: a variable, or the members of all groups of that name.
#[derive(Default)]
struct Found {
    variable: Option<u32>,
    groups: SmallVec<[Part; 2]>,
}

impl Found {
    fn search(&mut self, (members, base): Part, name: &str) {
        for member in members {
            let first = base.saturating_add(member.first);
            if member.name.is_empty() {
                self.search((member.members, first), name);
            } else if member.name == name {
                if member.is_variable() {
                    self.variable = self.variable.or(Some(first));
                } else {
                    self.groups.push((member.members, first));
                }
            }
        }
    }

    fn of(parts: &[Part], name: &str) -> Self {
        let mut found = Self::default();
        for part in parts {
            found.search(*part, name);
        }
        found
    }
}

/// Collects the names of all members, each once.
fn collect(parts: &[Part], names: &mut Names) {
    for member in parts.iter().flat_map(|(members, _)| *members) {
        if member.name.is_empty() {
            collect(&[(member.members, 0)], names);
        } else if !names.contains(&member.name) {
            names.push(member.name);
        }
    }
}

/// Something whose members are the entries of a map.
trait Members<T> {
    /// The struct.
    fn of(&self) -> &T;

    fn parts(&self) -> &[Part];

    /// The struct, if these are all of its members and it borrows nothing.
    fn whole(&self) -> Option<&dyn Any>;
}

impl<T: FieldType> Record<T> {
    const PARTS: &'static [Part] = &[(T::MEMBERS, 0)];
}

impl<T: FieldType> Members<T> for Record<T> {
    fn of(&self) -> &T {
        &self.0
    }

    fn parts(&self) -> &[Part] {
        Self::PARTS
    }

    fn whole(&self) -> Option<&dyn Any> {
        self.0.as_struct()
    }
}

/// A part of a struct: what one segment of dotted names, or a struct inside, is.
struct Group<'a, T> {
    of: &'a T,
    parts: &'a [Part],
}

impl<T> Clone for Group<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Group<'_, T> {}

impl<T> Members<T> for Group<'_, T> {
    fn of(&self) -> &T {
        self.of
    }

    fn parts(&self) -> &[Part] {
        self.parts
    }

    fn whole(&self) -> Option<&dyn Any> {
        None
    }
}

/// The value of a name.
fn read<'s, T: FieldType>(of: &'s T, parts: &[Part], name: &str, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
    let found = Found::of(parts, name);
    if let Some(index) = found.variable {
        return of.variable(index, arena);
    }
    if !is_present(of, &found) {
        return Ok(None);
    }
    let parts = arena.alloc_slice(&found.groups)?;
    Ok(Some(Value::Map(Map::Host(arena.alloc(Group { of, parts })?))))
}

/// Whether a variable is present, or any of a group.
fn is_present<T: FieldType>(of: &T, found: &Found) -> bool {
    // A value that only lacks memory is there.
    let reads = |index| with_zero_capacity(|arena| !matches!(of.variable(index, arena), Ok(None))).unwrap_or(false);
    match found.variable {
        Some(index) => reads(index),
        None => found.groups.iter().any(|part| variables(*part).into_iter().any(reads)),
    }
}

/// The indices of all variables of a part.
fn variables((members, base): Part) -> SmallVec<[u32; 16]> {
    let mut all = SmallVec::new();
    for member in members {
        let first = base.saturating_add(member.first);
        if member.is_variable() {
            all.push(first);
        } else {
            all.extend(variables((member.members, first)));
        }
    }
    all
}

/// The names of what is present.
fn present<T: FieldType>(of: &T, parts: &[Part]) -> Names {
    let mut names = Names::new();
    collect(parts, &mut names);
    names.retain(|name| is_present(of, &Found::of(parts, name)));
    names
}

macro_rules! maps {
    ($($rust:ty;)*) => {$(
        impl<T: FieldType> HostMap for $rust {
            fn len(&self) -> usize {
                present(self.of(), self.parts()).len()
            }

            fn key_count(&self) -> usize {
                let mut names = Names::new();
                collect(self.parts(), &mut names);
                names.len()
            }

            fn as_struct(&self) -> Option<&dyn Any> {
                self.whole()
            }

            fn get<'s>(&'s self, key: &Value<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                match key {
                    Value::String(name) => read(self.of(), self.parts(), name, arena),
                    _ => Ok(None),
                }
            }

            fn entry<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
                let names = present(self.of(), self.parts());
                let Some(name) = names.get(index).copied() else { return Ok(None) };
                let value = read(self.of(), self.parts(), name, arena)?;
                Ok(value.map(|value| (Value::String(name), value)))
            }

            fn entries<'s>(&'s self, arena: &'s Arena) -> EvalResult<&'s [(Value<'s>, Value<'s>)]> {
                let mut names = Names::new();
                collect(self.parts(), &mut names);
                let mut entries = arena.vec();
                for name in names {
                    if let Some(value) = read(self.of(), self.parts(), name, arena)? {
                        entries.push((Value::String(name), value))?;
                    }
                }
                Ok(entries.finish())
            }
        }
    )*};
}

maps! {
    Record<T>;
    Group<'_, T>;
}
