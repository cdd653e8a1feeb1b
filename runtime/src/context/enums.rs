//! Enums that derive `FieldType`, as text: native code finds the text by the tag of the enum, or by a call.

use super::text::viewed;
use crate::accessors::enum_tags::names;
use crate::accessors::text::{OrAbsent, TextView, named_access};
use celero_ir::layout::{EnumTags, Field as Layout};
use celero_ir::{Domain, Ty};
use std::marker::PhantomData;
use std::mem::needs_drop;
use std::sync::OnceLock;

/// An enum whose values have names.
pub trait Named {
    /// All names.
    const NAMES: &'static [&'static str];

    /// The name of the value.
    fn name(&self) -> &'static str;
}

/// The view of a value as its name.
struct NameOf<T>(PhantomData<T>);

impl<T: Named> TextView for NameOf<T> {
    type Source = T;

    fn text(source: &T) -> Option<&[u8]> {
        Some(source.name().as_bytes())
    }
}

/// The tags of an enum, found once for each type.
pub type Tags = OnceLock<Option<EnumTags>>;

/// The layout of an enum without fields; `make` returns the value with a name. No value is made of
/// a type with a destructor, which would run.
pub fn named_layout<T: Named>(tags: &Tags, make: fn(&str) -> Option<T>) -> Layout {
    if needs_drop::<T>() {
        return called_layout::<T>();
    }
    match *tags.get_or_init(|| names(T::NAMES, &[], make)) {
        Some(tags) => Layout::new(Ty::Str, false, named_access::<NameOf<T>>(tags)).of_domain(Domain::OneOf(T::NAMES)),
        None => called_layout::<T>(),
    }
}

/// The layout of an enum whose values can't be made from a name.
#[must_use]
pub fn called_layout<T: Named>() -> Layout {
    viewed::<NameOf<T>>(Ty::Str, false).of_domain(Domain::OneOf(T::NAMES))
}

/// The layout of an enum that is read as a number: one of these, of which there is at least one.
#[must_use]
pub fn of_numbers(layout: Layout, numbers: &[i64]) -> Layout {
    match (numbers.iter().min(), numbers.iter().max()) {
        (Some(least), Some(most)) => layout.of_domain(Domain::Range(*least, *most)),
        _ => layout,
    }
}

/// The layout of an option of an enum.
#[must_use]
pub fn optional_named_layout<T: Named>() -> Layout {
    viewed::<OrAbsent<NameOf<T>>>(Ty::Str, true).of_domain(Domain::OneOf(T::NAMES))
}
