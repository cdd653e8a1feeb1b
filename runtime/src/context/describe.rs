//! Composes the layout of a context from those of its parts, by adding offsets and references to access paths.
//!
//! A layout that does not fit a path (an offset over 2 GiB) becomes [`Access::Get`], which reads the field by a call.

use super::field_type::{FieldType, Nested};
use super::members::Member;
use crate::arena::{Arena, EvalResult};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::Ty;
use celero_ir::layout::{self, Access, Path};
use std::fmt;

/// A variable of rules, with its place in the data of the host.
#[derive(Clone, Debug)]
pub struct Field {
    /// Qualified name.
    pub name: String,
    /// Its CEL type.
    pub ty: Type,
    /// How native code reads it. The offsets are from the address of the context.
    pub layout: layout::Field,
}

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
}

impl<T> fmt::Debug for Known<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("count", &self.count).finish_non_exhaustive()
    }
}

/// What generated code uses of a field's type. It asks for the trait here and nowhere else, so that a mistake is reported once.
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
    }
}

/// The same of a struct.
#[must_use]
pub const fn known_nested<T: Nested>() -> Known<T> {
    known::<T>()
}

impl<T> Known<T> {
    /// Adds the description of a field that is `offset` bytes after the start of a struct. Names of its members are put under `name`,
    /// unless that is empty.
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

/// The layout of a field that only [`Host::field`](crate::Host::field) can read.
#[must_use]
pub fn read_by_call(optional: bool) -> layout::Field {
    layout::Field::new(Ty::Value, optional, Access::Get)
}

/// The layout of a field, for paths that start at the address of a reference to it.
pub(crate) fn behind_reference(field: &mut layout::Field) {
    change(field, |path| {
        path.0.insert(0, 0);
        Some(())
    });
}

/// The layout of a field, for paths that start at a value that contains it `offset` bytes after its start.
pub(crate) fn at_offset(field: &mut layout::Field, offset: usize) {
    change(field, |path| {
        let first = path.0.first_mut()?;
        // Native code adds offsets as signed 32 bit numbers.
        let sum = i32::try_from(*first).ok()?.checked_add(i32::try_from(offset).ok()?)?;
        *first = u32::try_from(sum).ok()?;
        Some(())
    });
}

fn change(field: &mut layout::Field, step: impl Fn(&mut Path) -> Option<()>) {
    let done = match &mut field.access {
        Access::Load(path, _) | Access::Text(path, _) | Access::Ip(path, _) => step(path),
        Access::MostlyText(path, ..) | Access::Tagged(path, ..) => step(path),
        Access::Get => Some(()),
    };
    if done.is_none() {
        let (headers, elements) = (field.headers.take(), field.elements.take());
        *field = layout::Field { headers, elements, ..read_by_call(field.optional) };
    }
    field.headers = field.headers.take().and_then(|mut path| step(&mut path).map(|()| path));
    field.elements = field.elements.take().and_then(|mut all| step(&mut all.path).map(|()| all));
}
