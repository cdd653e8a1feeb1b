//! The host's data for rules: fields by index, with the names that an environment declares.

mod describe;
mod field_type;
#[cfg(feature = "http")]
pub(crate) mod headers;
mod list;
mod map;
mod net;
mod text;
mod time;

#[cfg(feature = "http")]
pub(crate) use describe::{at_offset, behind_reference, read_by_call};
pub use describe::{push_field, push_nested};
pub use field_type::{Element, FieldType};
#[cfg(feature = "http")]
pub(crate) use net::address;
#[cfg(feature = "http")]
pub(crate) use text::{format_into, viewed};

use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout;

/// The data that an evaluation reads.
pub trait Host {
    /// The value of a field, `None` when it is absent.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is full; `overflow` for a time that CEL cannot hold; `host` when the host cannot give
    /// it.
    fn field<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>>;
}

impl<H: Host> Host for &H {
    fn field<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        H::field(self, index, arena)
    }
}

/// A field as declared.
#[derive(Clone, Debug)]
pub struct Field {
    /// Qualified name.
    pub name: String,
    /// Its CEL type.
    pub ty: Type,
    /// How native code reads it. The offsets are from the address of the context.
    pub layout: layout::Field,
}

/// A type whose fields rules may read. Implemented by `#[derive(Context)]`, and by the crate's own contexts.
///
/// # Safety
/// Native code reads fields through [`fields`](Context::fields)`[i].layout` at the address of the value, whatever the
/// type's lifetimes are. Each must be right for every value of the type, and give what [`Host::field`]`(i)` gives.
pub unsafe trait Context: Host {
    /// The type with all its lifetimes `'static`: what a compiled program is for.
    type Static: Context + 'static;

    /// The fields, in the order of their indices.
    fn fields() -> Vec<Field>;

    /// Which declarations it was made for, where not all contexts of the type have the same.
    #[doc(hidden)]
    #[inline]
    fn declarations(&self) -> Option<u64> {
        None
    }
}

/// A type with a fixed set of fields, which can therefore be a part of a context: `#[context(nested)]` and
/// `#[context(flatten)]`. Implemented by `#[derive(Context)]`.
///
/// # Safety
/// As for [`Context`]: each layout of [`nested_fields`](Nested::nested_fields) is right for every value of the type, whatever
/// its lifetimes, and gives what [`Host::field`] gives.
pub unsafe trait Nested: Host {
    /// How many fields there are.
    const COUNT: u32;

    /// The fields, [`COUNT`](Nested::COUNT) of them, in the order of their indices.
    fn nested_fields() -> Vec<Field>;
}

// SAFETY: each layout is the inner one behind one more load, which reads the reference itself.
unsafe impl<T: Nested> Nested for &T {
    const COUNT: u32 = T::COUNT;

    fn nested_fields() -> Vec<Field> {
        let mut fields = T::nested_fields();
        for field in &mut fields {
            describe::behind_reference(&mut field.layout);
        }
        fields
    }
}
