//! Composes the layout of a context from those of its parts, by adding offsets and references to access paths.
//!
//! A layout that does not fit a path (an offset over 2 GiB) becomes [`Access::Get`], which reads the field by a call.

use crate::context::{Field, FieldType, Nested};
use celero_ir::Ty;
use celero_ir::layout::{self, Access, Path};

/// Adds the description of a field of type `T` that is `offset` bytes after the start of a context.
pub fn push_field<T: FieldType>(fields: &mut Vec<Field>, name: &str, offset: usize) {
    let mut layout = T::layout();
    at_offset(&mut layout, offset);
    fields.push(Field { name: name.to_owned(), ty: T::ty(), layout });
}

/// Adds the descriptions of the fields of a part of type `T` that is `offset` bytes after the start of a context. Their
/// names are put under `prefix`, unless that is empty.
pub fn push_nested<T: Nested>(fields: &mut Vec<Field>, prefix: &str, offset: usize) {
    for mut field in T::nested_fields() {
        at_offset(&mut field.layout, offset);
        if !prefix.is_empty() {
            field.name = format!("{prefix}.{}", field.name);
        }
        fields.push(field);
    }
}

/// The layout of a field that only [`Host::field`](crate::Host::field) can read.
pub(crate) fn read_by_call(optional: bool) -> layout::Field {
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
        Access::Load(path, _) | Access::Text(path, _) | Access::Tagged(path, ..) | Access::Ip(path, _) => step(path),
        Access::Get => Some(()),
    };
    if done.is_none() {
        let (headers, elements) = (field.headers.take(), field.elements.take());
        *field = layout::Field { headers, elements, ..read_by_call(field.optional) };
    }
    field.headers = field.headers.take().and_then(|mut path| step(&mut path).map(|()| path));
    field.elements = field.elements.take().and_then(|mut all| step(&mut all.path).map(|()| all));
}
