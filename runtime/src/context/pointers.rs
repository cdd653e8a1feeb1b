//! `Option`, references and smart pointers as fields: as the type that they hold or point to.

use super::Extension;
use super::describe::{Field, absent_if, at_offset, behind_reference, read_by_call};
use super::extension::ExtensionPlace;
use super::field_type::{Element, FieldType, Nested};
use super::members::Member;
use crate::accessors::option_layout::Nullable;
use crate::accessors::pointee::{arc_offset, rc_offset};
use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout::{Field as Layout, Repr};
use std::any::Any;
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

// SAFETY: the promise of `T::optional_layout` and `T::optional_variables`.
unsafe impl<T: FieldType> FieldType for Option<T> {
    const COUNT: u32 = T::COUNT;
    const MEMBERS: &'static [Member] = T::MEMBERS;
    const NEWTYPE_CONTAINS_ITSELF: () = T::NEWTYPE_CONTAINS_ITSELF;
    const EXTENSION: ExtensionPlace = T::EXTENSION.hidden();

    fn ty() -> Type {
        T::ty()
    }

    fn layout() -> Layout {
        T::optional_layout()
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.as_ref().map_or(Ok(None), |inner| inner.value(arena))
    }

    fn variables() -> Vec<Field> {
        T::optional_variables()
    }

    fn variable<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.as_ref().map_or(Ok(None), |inner| inner.variable(index, arena))
    }
}

impl<T: Nested> Nested for Option<T> {}

/// The layout of something that is `offset` bytes after the address that a pointer holds; read by a
/// call if that is not known.
fn behind(layout: &mut Layout, offset: Option<u32>) {
    match offset {
        Some(offset) => {
            at_offset(layout, offset as usize);
            behind_reference(layout);
        }
        None => *layout = Layout { domain: layout.domain, ..read_by_call(layout.optional) },
    }
}

/// The same of an option of such a pointer.
fn behind_option(layout: &mut Layout, offset: Option<u32>, is_nullable: bool) {
    behind(layout, offset.filter(|_| is_nullable));
    absent_if(layout, Repr::U64, 0);
}

macro_rules! pointers {
    ($([$($life:lifetime)? $($bound:ident)?] $rust:ty: $offset:expr;)*) => {$(
        // SAFETY: each layout is the inner one behind one more load, which reads the pointer
        // itself, or calls `variable`. That of an option tests the pointer first.
        unsafe impl<$($life,)? T: FieldType $(+ $bound)?> FieldType for $rust {
            const COUNT: u32 = T::COUNT;
            const MEMBERS: &'static [Member] = T::MEMBERS;
            const NEWTYPE_CONTAINS_ITSELF: () = T::NEWTYPE_CONTAINS_ITSELF;
            const EXTENSION: ExtensionPlace = T::EXTENSION;

            fn ty() -> Type {
                T::ty()
            }

            fn layout() -> Layout {
                let mut layout = T::layout();
                behind(&mut layout, $offset);
                layout
            }

            fn optional_layout() -> Layout {
                let mut layout = T::layout();
                behind_option(&mut layout, $offset, Nullable::<Self>::HOLDS);
                layout
            }

            fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                T::value(self, arena)
            }

            fn variables() -> Vec<Field> {
                let (mut variables, offset) = (T::variables(), $offset);
                for variable in &mut variables {
                    behind(&mut variable.layout, offset);
                }
                variables
            }

            fn optional_variables() -> Vec<Field> {
                let (mut variables, offset) = (T::variables(), $offset);
                for variable in &mut variables {
                    behind_option(&mut variable.layout, offset, Nullable::<Self>::HOLDS);
                }
                variables
            }

            fn variable<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                T::variable(self, index, arena)
            }

            fn extension(&self) -> Option<&Extension> {
                T::extension(self)
            }

            fn as_struct(&self) -> Option<&dyn Any> {
                T::as_struct(self)
            }

            fn place_extension(layout: &mut Layout) -> bool {
                let has_one = T::place_extension(layout);
                if has_one {
                    behind(layout, $offset);
                }
                has_one
            }
        }

        impl<$($life,)? T: Element $(+ $bound)?> Element for $rust {}

        impl<$($life,)? T: Nested $(+ $bound)?> Nested for $rust {}
    )*};
}

pointers! {
    ['a] &'a T: Some(0);
    [] Box<T>: Some(0);
    [] Arc<T>: arc_offset::<T>();
    [] Rc<T>: rc_offset::<T>();
    ['a Clone] Cow<'a, T>: None;
}
