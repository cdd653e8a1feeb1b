//! Composes the layout of a context from those of its parts, by adding offsets and references to access paths.
//!
//! A layout that does not fit a path (an offset over 2 GiB) becomes [`Access::Get`], which reads the field by a call.

use celero_frontend::Type;
use celero_ir::Ty;
use celero_ir::layout::{self, AbsentIf, Access, Path, Repr};

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

/// The layout of a field that only [`Host::field`](crate::host::Host::field) can read.
#[must_use]
pub fn read_by_call(optional: bool) -> layout::Field {
    layout::Field::new(Ty::Value, optional, Access::Get)
}

/// How native code reads a type whose values are never absent as an item of a cursor, if it reads
/// it in place.
pub(crate) fn item(layout: layout::Field) -> Option<layout::Item> {
    (layout.is_in_place() && layout.ty != Ty::Value).then_some(layout::Item { ty: layout.ty, access: layout.access })
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

/// The layout of a field that is absent if the number at the start of what contains it is this one.
pub(crate) fn absent_if(field: &mut layout::Field, repr: Repr, number: u64) {
    if field.access == Access::Get {
        *field = layout::Field { domain: field.domain, ..read_by_call(true) };
        return;
    }
    field.optional = true;
    field.absent_if.insert(0, AbsentIf { path: Path(vec![0]), repr, number });
    // These are read without a test.
    (field.headers, field.elements, field.entries, field.cursor) = (None, None, None, None);
}

fn change(field: &mut layout::Field, step: impl Fn(&mut Path) -> Option<()>) {
    let done = match &mut field.access {
        Access::Load(path, _) | Access::Text(path, _) | Access::Filled(path, _) => step(path),
        Access::MostlyText(path, ..) | Access::Tagged(path, ..) | Access::Scalar(path, _) => step(path),
        Access::Get => Some(()),
    };
    let done = field.absent_if.iter_mut().fold(done, |done, test| done.and(step(&mut test.path)));
    if done.is_none() {
        let (headers, elements, entries) = (field.headers.take(), field.elements.take(), field.entries.take());
        let (cursor, domain) = (field.cursor.take(), field.domain);
        *field = layout::Field { headers, elements, entries, cursor, domain, ..read_by_call(field.optional) };
    }
    field.headers = field.headers.take().and_then(|mut path| step(&mut path).map(|()| path));
    field.elements = field.elements.take().and_then(|mut all| step(&mut all.path).map(|()| all));
    field.entries = field.entries.take().and_then(|mut all| step(&mut all.path).map(|()| all));
    field.cursor = field.cursor.take().and_then(|mut all| step(&mut all.path).map(|()| all));
}
