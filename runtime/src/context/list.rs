//! Slices and vectors as fields: lists that rules read in place.

use super::describe::read_by_call;
use super::field_type::{Element, FieldType};
use crate::accessors::vec_layout::{SLICE_OFFSETS, WordOffsets, vec_offsets};
use crate::arena::{Arena, EvalResult};
use crate::value::{HostList, List, Value};
use celero_frontend::Type;
use celero_ir::Ty;
use celero_ir::layout::{Access, Elements, Field as Layout, Members, Path};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// The elements of a vector whose address and length are stored at the offsets `words`.
fn elements<T: Element>(words: Option<WordOffsets>) -> Option<Elements> {
    let (at, count) = words?;
    // Loops end at the address of the last element, so elements need different addresses.
    let stride = u32::try_from(size_of::<T>()).ok().filter(|&stride| stride > 0)?;
    let path = Path(vec![at]);
    let layout = T::layout();
    if layout.optional {
        return None;
    }
    if !T::MEMBERS.is_empty() {
        return Some(Elements {
            path,
            count,
            stride,
            ty: Ty::Record,
            access: Access::Get,
            members: Some(Members(members::<T>)),
        });
    }
    layout.is_in_place().then_some(Elements {
        path,
        count,
        stride,
        ty: layout.ty,
        access: layout.access,
        members: None,
    })
}

/// The variables of a struct, with their names.
fn members<T: Element>() -> Vec<(String, Layout)> {
    T::variables().into_iter().map(|field| (field.name, field.layout)).collect()
}

macro_rules! rows {
    ($([$($generics:tt)*] $rust:ty: $words:expr;)*) => {$(
        impl<$($generics)*> HostList for $rust {
            fn len(&self) -> usize {
                self.iter().len()
            }

            fn get<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                self.iter().nth(index).map(|element| element.element(arena)).transpose()
            }
        }

        // SAFETY: only `value` reads the list; `accessors::vec_layout` proves where its elements are.
        unsafe impl<$($generics)*> FieldType for $rust {
            const NEWTYPE_CONTAINS_ITSELF: () = T::NEWTYPE_CONTAINS_ITSELF;

            fn ty() -> Type {
                Type::list(T::ty())
            }

            fn layout() -> Layout {
                Layout { elements: elements::<T>($words), ..read_by_call(false) }
            }

            fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                Ok(Some(Value::List(List::Host(self))))
            }
        }

        impl<$($generics)*> Element for $rust {}
    )*};
}

rows! {
    [T: Element] Vec<T>: vec_offsets::<T>();
    [T: Element] Box<[T]>: None;
    [T: Element, const N: usize] [T; N]: None;
    [T: Element] VecDeque<T>: None;
    [T: Element] Arc<[T]>: None;
    [T: Element] Rc<[T]>: None;
    ['a, T: Element + Clone] Cow<'a, [T]>: None;
}

/// A borrowed slice. It is allocated in the arena, because a list needs an address to refer to.
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

    fn get<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.0.get(index).map(|element| element.element(arena)).transpose()
    }
}

// SAFETY: only `value` reads the list; its two words are the address and number of its elements.
unsafe impl<T: Element> FieldType for &[T] {
    const NEWTYPE_CONTAINS_ITSELF: () = T::NEWTYPE_CONTAINS_ITSELF;

    fn ty() -> Type {
        Type::list(T::ty())
    }

    fn layout() -> Layout {
        Layout { elements: elements::<T>(Some(SLICE_OFFSETS)), ..read_by_call(false) }
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(Some(Value::List(List::Host(arena.alloc(Row(self))?))))
    }
}

impl<T: Element> Element for &[T] {}
