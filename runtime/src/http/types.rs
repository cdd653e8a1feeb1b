//! Types of the `http` crate as fields, all as text.

use crate::arena::{Arena, Built};
use crate::context::{Element, FieldType, format_into, read_by_call, viewed};
use crate::native::access::{OrAbsent, TextView};
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::Ty;
use celero_ir::layout::Field as Layout;
use http::{Method, Uri, Version};

/// The protocol as it stands on a request line, `HTTP/1.1`; without a number if it came after this was written.
fn version(version: &Version) -> &'static str {
    match *version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_11 => "HTTP/1.1",
        Version::HTTP_2 => "HTTP/2.0",
        Version::HTTP_3 => "HTTP/3.0",
        _ => "HTTP",
    }
}

macro_rules! texts {
    ($($rust:ty: $text:expr;)*) => {$(
        impl TextView for $rust {
            type Source = Self;

            fn text(source: &Self) -> Option<&[u8]> {
                let text: fn(&Self) -> &str = $text;
                Some(text(source).as_bytes())
            }
        }

        // SAFETY: the view shows the text that `value` gives.
        unsafe impl FieldType for $rust {
            fn ty() -> Type {
                Type::String
            }

            fn layout() -> Layout {
                viewed::<Self>(Ty::Str, false)
            }

            fn optional_layout() -> Layout {
                viewed::<OrAbsent<Self>>(Ty::Str, true)
            }

            fn value<'s>(&'s self, _: &'s Arena) -> Built<Option<Value<'s>>> {
                let text: fn(&Self) -> &str = $text;
                Ok(Some(Value::String(text(self))))
            }
        }
    )*};
}

texts! {
    Method: Method::as_str;
    Version: |v| version(v);
}

impl Element for Method {}

impl Element for Version {}

// SAFETY: only `value` reads it: the text of a URI does not lie in memory in one piece.
unsafe impl FieldType for Uri {
    fn ty() -> Type {
        Type::String
    }

    fn layout() -> Layout {
        read_by_call(false)
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> Built<Option<Value<'s>>> {
        format_into(arena, self).map(|text| Some(Value::String(text)))
    }
}

impl Element for Uri {}
