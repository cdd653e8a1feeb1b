//! Rows of elements as fields: lists that rules read in place.

use super::FieldType;
use super::describe::read_by_call;
use super::field_type::Element;
use crate::arena::{Arena, Built};
use crate::value::{HostList, List, Value};
use celero_frontend::Type;
use celero_ir::layout::Field as Layout;

macro_rules! rows {
    ($([$($generics:tt)*] $rust:ty;)*) => {$(
        impl<$($generics)*> HostList for $rust {
            fn len(&self) -> usize {
                self[..].len()
            }

            fn get<'s>(&'s self, index: usize, arena: &'s Arena) -> Built<Option<Value<'s>>> {
                self[..].get(index).map(|element| element.element(arena)).transpose()
            }
        }

        // SAFETY: only `value` reads it.
        unsafe impl<$($generics)*> FieldType for $rust {
            fn ty() -> Type {
                Type::list(T::ty())
            }

            fn layout() -> Layout {
                read_by_call(false)
            }

            fn value<'s>(&'s self, _: &'s Arena) -> Built<Option<Value<'s>>> {
                Ok(Some(Value::List(List::Host(self))))
            }
        }

        impl<$($generics)*> Element for $rust {}
    )*};
}

rows! {
    [T: Element] Vec<T>;
    [T: Element] Box<[T]>;
    [T: Element, const N: usize] [T; N];
}

/// A borrowed row: it lies in the arena, so that there is something to point to.
#[derive(Debug)]
struct Row<'a, T>(&'a [T]);

impl<T> Clone for Row<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Row<'_, T> {}

impl<T: Element> HostList for Row<'_, T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get<'s>(&'s self, index: usize, arena: &'s Arena) -> Built<Option<Value<'s>>> {
        self.0.get(index).map(|element| element.element(arena)).transpose()
    }
}

// SAFETY: only `value` reads it.
unsafe impl<T: Element> FieldType for &[T] {
    fn ty() -> Type {
        Type::list(T::ty())
    }

    fn layout() -> Layout {
        read_by_call(false)
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> Built<Option<Value<'s>>> {
        Ok(Some(Value::List(List::Host(arena.alloc(Row(self))?))))
    }
}

impl<T: Element> Element for &[T] {}
