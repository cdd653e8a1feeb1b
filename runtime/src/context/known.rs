//! What generated code uses of the types of fields.

use super::Extension;
use super::describe::{Field, at_offset};
use super::extension::ExtensionPlace;
use super::field_type::{FieldType, Nested};
use super::members::Member;
use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout;
use std::fmt;

/// What generated code uses of a field's type.
pub struct Known<T> {
    /// The number of its variables.
    pub count: u32,
    /// Its members, if it is a struct.
    pub members: &'static [Member],
    /// Its CEL type.
    pub ty: fn() -> Type,
    /// Its layout, for a field at this offset.
    pub layout: fn(usize) -> layout::Field,
    /// Reads it as a single value.
    pub value: for<'s> fn(&'s T, &'s Arena) -> EvalResult<Option<Value<'s>>>,
    /// Reads one of its variables.
    pub variable: for<'s> fn(&'s T, u32, &'s Arena) -> EvalResult<Option<Value<'s>>>,
    /// Its variables.
    pub variables: fn() -> Vec<Field>,
    /// Where the extension in it is.
    pub extension_place: ExtensionPlace,
    /// The extension in it.
    pub extension: for<'s> fn(&'s T) -> Option<&'s Extension>,
    /// Changes the layout of a field of the extension in it, for a field at this offset.
    pub place_extension: fn(&mut layout::Field, usize) -> bool,
}

impl<T> fmt::Debug for Known<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("count", &self.count).finish_non_exhaustive()
    }
}

/// What generated code uses of a field's type. It asks for the trait here and nowhere else, so that
/// a mistake is reported once.
#[must_use]
pub const fn known<T: FieldType>() -> Known<T> {
    let () = T::NEWTYPE_CONTAINS_ITSELF;
    Known {
        count: T::COUNT,
        members: T::MEMBERS,
        ty: T::ty,
        layout: |offset| {
            let mut layout = T::layout();
            at_offset(&mut layout, offset);
            layout
        },
        value: T::value,
        variable: T::variable,
        variables: T::variables,
        extension_place: T::EXTENSION,
        extension: T::extension,
        place_extension: |layout, offset| {
            let has_one = T::place_extension(layout);
            if has_one {
                at_offset(layout, offset);
            }
            has_one
        },
    }
}

/// The same of a struct.
#[must_use]
pub const fn known_nested<T: Nested>() -> Known<T> {
    known::<T>()
}

impl<T> Known<T> {
    /// Adds the description of a field that is `offset` bytes after the start of a struct. Names of
    /// its members are put under `name`, unless that is empty.
    pub fn push(&self, variables: &mut Vec<Field>, name: &str, offset: usize) {
        for mut variable in (self.variables)() {
            at_offset(&mut variable.layout, offset);
            if variable.name.is_empty() {
                name.clone_into(&mut variable.name);
            } else if !name.is_empty() {
                variable.name = format!("{name}.{}", variable.name);
            }
            variables.push(variable);
        }
    }
}
