//! Text and bytes as fields: borrowed ones are read in place, owned ones through a C function that
//! returns their address and length.

use super::field_type::{Element, FieldType};
use crate::accessors::text::{MostlyTextView, Shown, TextView, mostly_text_access, text_access};
use crate::accessors::vec_layout::{WordOffsets, string_offsets, vec_offsets};
use crate::arena::{Arena, ArenaVec, EvalResult};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout::{Access, Field as Layout, Path, Repr};
use celero_ir::{ErrorKind, Ty};
use std::borrow::Cow;
use std::fmt::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

/// The layout of text that a view shows.
pub(crate) fn viewed<V: TextView>(ty: Ty, optional: bool) -> Layout {
    Layout::new(ty, optional, text_access::<V>())
}

/// The layout of text that a view shows or makes.
pub(crate) fn mostly_viewed<V: MostlyTextView<Memory = Arena> + 'static>(optional: bool) -> Layout {
    Layout::new(Ty::Str, optional, mostly_text_access::<V>())
}

/// The layout of a slice reference stored at the address itself.
fn slice(ty: Ty) -> Layout {
    Layout::new(ty, false, Access::Load(Path(vec![0]), Repr::Slice(8)))
}

/// The layout of owned text or bytes, whose address and length are stored at the offsets `words` from its own address.
fn owned<T: TextView>(ty: Ty, words: Option<WordOffsets>) -> Layout {
    match words {
        Some((at, after)) => Layout::new(ty, false, Access::Load(Path(vec![at]), Repr::Slice(after))),
        None => viewed::<T>(ty, false),
    }
}

/// Types whose text or bytes are contiguous, seen in place.
macro_rules! texts {
    ($([$($generics:tt)*] $rust:ty: $cel:ident, $ty:ident, $variant:ident, $bytes:expr, $layout:expr;)*) => {$(
        impl<$($generics)*> $crate::accessors::text::TextView for $rust {
            type Source = Self;

            fn text(source: &Self) -> Option<&[u8]> {
                let bytes: fn(&Self) -> &[u8] = $bytes;
                Some(bytes(source))
            }
        }

        // SAFETY: a slice is laid out as `accessors::vec_layout` proves; a view shows the same
        // bytes that `value` gives.
        unsafe impl<$($generics)*> $crate::context::FieldType for $rust {
            fn ty() -> celero_frontend::Type {
                celero_frontend::Type::$cel
            }

            fn layout() -> celero_ir::layout::Field {
                $layout
            }

            fn optional_layout() -> celero_ir::layout::Field {
                $crate::context::text::viewed::<$crate::accessors::text::OrAbsent<Self>>(celero_ir::Ty::$ty, true)
            }

            fn value<'s>(
                &'s self,
                _: &'s $crate::arena::Arena,
            ) -> $crate::arena::EvalResult<Option<$crate::value::Value<'s>>> {
                Ok(Some($crate::value::Value::$variant(self.as_ref())))
            }
        }

        impl<$($generics)*> $crate::context::Element for $rust {}
    )*};
}

texts! {
    ['a] &'a str: String, Str, String, |text| text.as_bytes(), slice(Ty::Str);
    [] String: String, Str, String, |text| text.as_bytes(), owned::<Self>(Ty::Str, string_offsets());
    ['a] Cow<'a, str>: String, Str, String, |text| text.as_bytes(), viewed::<Self>(Ty::Str, false);
    [] Box<str>: String, Str, String, |text| text.as_bytes(), viewed::<Self>(Ty::Str, false);
    [] Arc<str>: String, Str, String, |text| text.as_bytes(), viewed::<Self>(Ty::Str, false);
    [] Rc<str>: String, Str, String, |text| text.as_bytes(), viewed::<Self>(Ty::Str, false);
    ['a] &'a [u8]: Bytes, Bytes, Bytes, |bytes| bytes, slice(Ty::Bytes);
    [] Vec<u8>: Bytes, Bytes, Bytes, |bytes| bytes, owned::<Self>(Ty::Bytes, vec_offsets::<u8>());
    ['a] Cow<'a, [u8]>: Bytes, Bytes, Bytes, |bytes| bytes, viewed::<Self>(Ty::Bytes, false);
    [] Box<[u8]>: Bytes, Bytes, Bytes, |bytes| bytes, viewed::<Self>(Ty::Bytes, false);
    [] Arc<[u8]>: Bytes, Bytes, Bytes, |bytes| bytes, viewed::<Self>(Ty::Bytes, false);
    [] Rc<[u8]>: Bytes, Bytes, Bytes, |bytes| bytes, viewed::<Self>(Ty::Bytes, false);
    [const N: usize] [u8; N]: Bytes, Bytes, Bytes, |bytes| bytes, viewed::<Self>(Ty::Bytes, false);
}

impl MostlyTextView for char {
    type Source<'a> = Self;
    type Memory = Arena;

    fn show<'s>(source: &'s Self::Source<'_>) -> Shown<'s> {
        ASCII.get(*source as usize..=*source as usize).map_or(Shown::ToBeMade, Shown::Text)
    }

    fn make<'s>(source: &'s Self::Source<'_>, arena: &'s Arena) -> EvalResult<&'s str> {
        arena.alloc_str(source.encode_utf8(&mut [0; 4]))
    }
}

/// The characters of ASCII, each at its number.
const ASCII: &str = concat!(
    "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f",
    "\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f",
    " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\x7f",
);

// SAFETY: the view shows or makes the text that `value` gives.
unsafe impl FieldType for char {
    fn ty() -> Type {
        Type::String
    }

    fn layout() -> Layout {
        mostly_viewed::<Self>(false)
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Self::make(self, arena).map(|text| Some(Value::String(text)))
    }
}

impl Element for char {}

#[cfg(any(feature = "bytes", feature = "url"))]
pub(crate) use texts;

struct Sink<'a> {
    bytes: ArenaVec<'a, u8>,
}

impl Write for Sink<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes.extend(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// Formats into the arena.
///
/// # Errors
/// `out_of_budget` when the arena is full.
pub(crate) fn format_into<'a>(arena: &'a Arena, content: &impl fmt::Display) -> EvalResult<&'a str> {
    let mut sink = Sink { bytes: arena.vec() };
    write!(sink, "{content}").map_err(|_| ErrorKind::OutOfBudget)?;
    std::str::from_utf8(sink.bytes.finish()).map_err(|_| ErrorKind::Host)
}
