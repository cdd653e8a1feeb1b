//! An [`Extension`] as a field of a context: it is no variable, but has a place for the fields of its data.

use super::describe::{Field, at_offset, behind_reference, read_by_call};
use super::extension::{Extension, ExtensionPlace};
use super::field_type::{FieldType, Nested};
use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout::Field as Layout;
use std::mem::offset_of;

// SAFETY: it has no variables of its own. Paths to those of its data start with a load of the
// address of the data, which is alive as long as the extension; `Extension::is_for` is asked first
// whether the data is of the type that the paths are for.
unsafe impl FieldType for Extension {
    const COUNT: u32 = 0;
    const EXTENSION: ExtensionPlace = ExtensionPlace::Found;

    fn ty() -> Type {
        Type::Null
    }

    fn layout() -> Layout {
        read_by_call(true)
    }

    fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(None)
    }

    fn variables() -> Vec<Field> {
        Vec::new()
    }

    fn extension(&self) -> Option<&Extension> {
        Some(self)
    }

    fn place_extension(layout: &mut Layout) -> bool {
        behind_reference(layout);
        at_offset(layout, offset_of!(Self, address));
        true
    }
}

impl Nested for Extension {}
