//! The target of a request: the parts of its URI, seen in place, and the host that it names.

use crate::arena::{Arena, Built};
use crate::context::headers::decoded;
use crate::context::{Field, FieldType, Host, Nested, behind_reference, read_by_call, viewed};
use crate::native::access::TextView;
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::Ty;
use celero_ir::layout::Field as Layout;
use http::{HeaderMap, Uri, header};

/// `uri`, `scheme`, `path`, `pathAndQuery` and `query` of a URI.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct Target<'a>(pub(super) &'a Uri);

macro_rules! views {
    ($($view:ident: $text:expr;)*) => {$(
        struct $view;

        impl $view {
            fn of(uri: &Uri) -> Option<&str> {
                let text: fn(&Uri) -> Option<&str> = $text;
                text(uri)
            }
        }

        impl TextView for $view {
            type Source = Uri;

            fn text(uri: &Uri) -> Option<&[u8]> {
                Self::of(uri).map(str::as_bytes)
            }
        }
    )*};
}

views! {
    Scheme: Uri::scheme_str;
    Path: |uri| Some(uri.path());
    PathAndQuery: |uri| Some(uri.path_and_query().map_or("", |both| both.as_str()));
    Query: Uri::query;
}

impl Host for Target<'_> {
    fn field<'s>(&'s self, index: u32, arena: &'s Arena) -> Built<Option<Value<'s>>> {
        let text = match index {
            0 => return self.0.value(arena),
            1 => Scheme::of(self.0),
            2 => Path::of(self.0),
            3 => PathAndQuery::of(self.0),
            4 => Query::of(self.0),
            _ => None,
        };
        Ok(text.map(Value::String))
    }
}

// SAFETY: `Target` is a reference to a URI and nothing else, so each layout is the view of a URI behind one reference; the
// views show the text that `Host::field` gives, in the order of its indices.
unsafe impl Nested for Target<'_> {
    const COUNT: u32 = 5;

    fn nested_fields() -> Vec<Field> {
        let fields = [
            ("uri", Uri::layout()),
            ("scheme", viewed::<Scheme>(Ty::Str, true)),
            ("path", viewed::<Path>(Ty::Str, false)),
            ("pathAndQuery", viewed::<PathAndQuery>(Ty::Str, false)),
            ("query", viewed::<Query>(Ty::Str, true)),
        ];
        let behind = |(name, mut layout): (&str, Layout)| {
            behind_reference(&mut layout);
            Field { name: name.to_owned(), ty: Type::String, layout }
        };
        fields.map(behind).into()
    }
}

/// The host that a request is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Authority<'a> {
    pub(super) uri: &'a Uri,
    pub(super) headers: &'a HeaderMap,
}

// SAFETY: only `value` reads it: a `Host` header need not be UTF-8.
unsafe impl FieldType for Authority<'_> {
    fn ty() -> Type {
        Type::String
    }

    fn layout() -> Layout {
        read_by_call(true)
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> Built<Option<Value<'s>>> {
        if let Some(host) = self.uri.host() {
            return Ok(Some(Value::String(host)));
        }
        let header = self.headers.get(header::HOST).map(|host| decoded(host.as_bytes(), arena)).transpose()?;
        Ok(header.map(Value::String))
    }
}
