//! Slices and vectors as fields: lists that rules read in place.
//!
//! Native code reads contiguous elements itself. Those of a `VecDeque` are two slices, so that a
//! loop over them would be two loops: a cursor goes over them.

use super::describe::{item, read_by_call};
use super::field_type::{Element, FieldType};
use crate::accessors::cursor::{ItemAddresses, Iterated, cursor};
use crate::accessors::slice::{optional_slice, slice_by_call};
use crate::accessors::vec_layout::{SLICE_OFFSETS, WordOffsets, boxed_slice_offsets, vec_offsets};
use crate::arena::{Arena, EvalResult};
use crate::value::{HostList, List, Value};
use celero_frontend::Type;
use celero_ir::Ty;
use celero_ir::layout::{Access, Elements, Field as Layout, Items, Members, Path, Place};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::collections::vec_deque::Iter;
use std::rc::Rc;
use std::sync::Arc;

/// The elements of a list of type `V` whose address and length are stored at the offsets `words`,
/// or are asked for by a call.
fn words<V: AsRef<[T]>, T: Element>(words: Option<WordOffsets>) -> Option<Elements> {
    match words {
        Some((at, after)) => elements::<T>(at, Place::Words(after)),
        None => by_call::<V, T>(),
    }
}

/// The elements of a list of type `V`, which a call asks for.
fn by_call<V: AsRef<[T]>, T: Element>() -> Option<Elements> {
    elements::<T>(0, slice_by_call::<V, T>())
}

/// The elements of an array.
fn array<T: Element>(length: usize) -> Option<Elements> {
    elements::<T>(0, Place::Here(u32::try_from(length).ok()?))
}

/// The elements of a list, which is at an offset.
fn elements<T: Element>(at: u32, place: Place) -> Option<Elements> {
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
            place,
            stride,
            ty: Ty::Record,
            access: Access::Get,
            members: Some(Members(members::<T>)),
        });
    }
    // Values have searches and comparisons of their own.
    (layout.is_in_place() && layout.ty != Ty::Value).then_some(Elements {
        path,
        place,
        stride,
        ty: layout.ty,
        access: layout.access,
        members: None,
    })
}

/// The layout of a list with these elements.
fn contiguous(elements: Option<Elements>) -> Layout {
    Layout { elements, ..read_by_call(false) }
}

/// The layout of an option of a list, whose elements a call asks for.
fn optional<V: AsRef<[T]>, T: Element>() -> Layout {
    Layout { elements: elements::<T>(0, optional_slice::<V, T>()), ..read_by_call(true) }
}

/// The layout of a deque, or of an option of it. One of elements without a size may have more than
/// native code counts.
fn deque<T: Element>(optional: bool) -> Layout {
    let item = if T::MEMBERS.is_empty() && size_of::<T>() > 0 { item(T::layout()) } else { None };
    let cursor = item.and_then(|item| cursor::<VecDeque<T>>(optional, Items::Elements(item)));
    Layout { cursor, ..read_by_call(optional) }
}

impl<T> Iterated for VecDeque<T> {
    type Iter<'a>
        = Iter<'a, T>
    where
        Self: 'a;

    fn begin(&self) -> Self::Iter<'_> {
        self.iter()
    }

    fn next<'a>(iter: &mut Self::Iter<'a>) -> Option<ItemAddresses>
    where
        Self: 'a,
    {
        iter.next().map(ItemAddresses::element)
    }
}

/// The variables of a struct, with their names.
fn members<T: Element>() -> Vec<(String, Layout)> {
    T::variables().into_iter().map(|field| (field.name, field.layout)).collect()
}

macro_rules! rows {
    ($([$($generics:tt)*] $rust:ty: $layout:expr, $optional:expr;)*) => {$(
        impl<$($generics)*> HostList for $rust {
            fn len(&self) -> usize {
                self.iter().len()
            }

            fn get<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                self.iter().nth(index).map(|element| element.element(arena)).transpose()
            }
        }

        // SAFETY: `value` reads the list; `accessors::vec_layout` proves where its elements are,
        // `accessors::slice` and `accessors::cursor` ask the list itself, and those of an array are
        // at its address (The Rust Reference, "Array layout").
        unsafe impl<$($generics)*> FieldType for $rust {
            const NEWTYPE_CONTAINS_ITSELF: () = T::NEWTYPE_CONTAINS_ITSELF;

            fn ty() -> Type {
                Type::list(T::ty())
            }

            fn layout() -> Layout {
                $layout
            }

            fn optional_layout() -> Layout {
                $optional
            }

            fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                Ok(Some(Value::List(List::Host(self))))
            }
        }

        impl<$($generics)*> Element for $rust {}
    )*};
}

rows! {
    [T: Element] Vec<T>: contiguous(words::<Self, T>(vec_offsets::<T>())), optional::<Self, T>();
    [T: Element] Box<[T]>: contiguous(words::<Self, T>(boxed_slice_offsets::<T>())), optional::<Self, T>();
    [T: Element, const N: usize] [T; N]: contiguous(array::<T>(N)), optional::<Self, T>();
    [T: Element] VecDeque<T>: deque::<T>(false), deque::<T>(true);
    [T: Element] Arc<[T]>: contiguous(by_call::<Self, T>()), optional::<Self, T>();
    [T: Element] Rc<[T]>: contiguous(by_call::<Self, T>()), optional::<Self, T>();
    ['a, T: Element + Clone] Cow<'a, [T]>: contiguous(by_call::<Self, T>()), optional::<Self, T>();
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

// SAFETY: `value` reads the list; its two words are the address and number of its elements, and an
// option is asked.
unsafe impl<T: Element> FieldType for &[T] {
    const NEWTYPE_CONTAINS_ITSELF: () = T::NEWTYPE_CONTAINS_ITSELF;

    fn ty() -> Type {
        Type::list(T::ty())
    }

    fn layout() -> Layout {
        contiguous(words::<Self, T>(Some(SLICE_OFFSETS)))
    }

    fn optional_layout() -> Layout {
        optional::<Self, T>()
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(Some(Value::List(List::Host(arena.alloc(Row(self))?))))
    }
}

impl<T: Element> Element for &[T] {}
