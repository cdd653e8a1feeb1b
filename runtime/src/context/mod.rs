//! The host's data for rules: fields by index, with the names that an environment declares.

mod computed;
mod crates;
mod describe;
mod enums;
mod extension;
mod extension_field;
mod field_type;
mod field_value;
#[cfg(feature = "http")]
pub(crate) mod headers;
mod host_struct;
mod key;
mod known;
pub mod layout;
mod list;
mod map;
mod members;
mod net;
mod pointers;
mod record;
mod set;
mod text;
mod time;

pub use computed::{Computed, computed};
pub use describe::{Field, read_by_call};
#[cfg(feature = "http")]
pub(crate) use describe::{at_offset, behind_reference};
pub use enums::{Named, Tags, called_layout, named_layout, of_numbers, optional_named_layout};
pub(crate) use extension::Shape;
pub use extension::{Extension, ExtensionFields, ExtensionPlace};
pub use field_type::{Element, FieldType, Nested};
pub use field_value::FieldValue;
pub use host_struct::{struct_of, value_of};
pub use key::MapKey;
pub use known::{Known, known, known_nested};
pub use members::Member;
#[cfg(feature = "http")]
pub(crate) use net::PORT;
pub use record::record;
pub(crate) use text::{format_into, mostly_viewed, viewed};
pub(crate) use time::Moment;

use crate::arena::{Arena, EvalResult};
use crate::value::Value;

/// The data that an evaluation reads.
pub trait Host {
    /// The value of a field, `None` when it is absent.
    ///
    /// # Errors
    /// `out_of_budget` when the arena is full; `overflow` for a time that CEL cannot hold; `host`
    /// when the host cannot give it.
    fn field<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>>;

    /// As [`field`](Self::field), for a caller that reads only what lies on a path of keys in it.
    #[doc(hidden)]
    fn field_around<'s>(&'s self, index: u32, _path: &[String], arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        self.field(index, arena)
    }
}

impl<H: Host> Host for &H {
    fn field<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        H::field(self, index, arena)
    }

    fn field_around<'s>(&'s self, index: u32, path: &[String], arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        H::field_around(self, index, path, arena)
    }
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

    /// The extension whose fields are variables after its own, if it has a place for one.
    #[doc(hidden)]
    #[inline]
    fn extension(&self) -> Option<&Extension> {
        None
    }

    /// Changes a layout whose paths start at the data of the extension to one whose paths start at
    /// the context. Returns whether there is a place for one.
    #[doc(hidden)]
    #[must_use]
    fn place_extension(layout: &mut layout::Field) -> bool {
        let _ = layout;
        false
    }
}
