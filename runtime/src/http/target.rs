//! What a request is for: the parts of its URI, seen in place, its header map, and the host that both name.

use crate::accessors::text::TextView;
use crate::arena::{Arena, EvalResult};
use crate::context::{
    Element, Field, FieldType, Member, Nested, at_offset, behind_reference, read_by_call, record, viewed,
};
use crate::error::ErrorKind;
use crate::library::lossy;
use crate::value::Value;
use celero_canonical::split_authority;
use celero_frontend::Type;
use celero_ir::Ty;
use celero_ir::layout::Field as Layout;
use http::{HeaderMap, Uri, header};
use std::mem::offset_of;

/// `uri`, `scheme`, `path`, `pathAndQuery` and `query` of a URI, `headers`, `host` and `port`, and `rawPath`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) uri: &'a Uri,
    pub(super) headers: &'a HeaderMap,
    /// The target as it was received, if the host has changed it.
    pub(super) raw: Option<&'a [u8]>,
}

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

impl Target<'_> {
    /// The authority of the URI, else the first `Host` header.
    fn authority<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<&'s str>> {
        if let Some(authority) = self.uri.authority() {
            return Ok(Some(authority.as_str()));
        }
        self.headers.get(header::HOST).map(|host| lossy(host.as_bytes(), arena)).transpose()
    }

    /// The host, in lower case, without port and dot at its end. Allocates only if the request has it in upper case.
    fn host<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let Some(authority) = self.authority(arena)? else { return Ok(None) };
        let (host, _) = split_authority(authority);
        if !host.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Ok(Some(Value::String(host)));
        }
        let letter = |at: usize| host.as_bytes().get(at).map_or(0, u8::to_ascii_lowercase);
        let lower = arena.alloc_slice_with(host.len(), letter)?;
        std::str::from_utf8(lower).map(|text| Some(Value::String(text))).map_err(|_| ErrorKind::InvalidArgument)
    }

    /// The port that the request names.
    fn port<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let port = self.authority(arena)?.and_then(|authority| split_authority(authority).1);
        Ok(port.map(|port| Value::Int(port.into())))
    }

    /// The target as it was received.
    fn raw_path<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let text = match self.raw {
            Some(raw) => lossy(raw, arena)?,
            None => PathAndQuery::of(self.uri).unwrap_or_default(),
        };
        Ok(Some(Value::String(text)))
    }
}

/// The names of the variables, in the order of their indices.
const MEMBERS: &[Member] = &[
    Member::new("uri", 0, 1, &[]),
    Member::new("scheme", 1, 1, &[]),
    Member::new("path", 2, 1, &[]),
    Member::new("pathAndQuery", 3, 1, &[]),
    Member::new("query", 4, 1, &[]),
    Member::new("host", 5, 1, &[]),
    Member::new("headers", 6, 1, &[]),
    Member::new("port", 7, 1, &[]),
    Member::new("rawPath", 8, 1, &[]),
];

// SAFETY: the layouts are those of a URI and of a header map behind references at the offsets of the two members, or call
// `variable`; the views show the text that it gives, in the order of its indices.
unsafe impl FieldType for Target<'_> {
    const COUNT: u32 = 9;
    const MEMBERS: &'static [Member] = MEMBERS;

    fn ty() -> Type {
        Type::map(Type::String, Type::Dyn)
    }

    fn layout() -> Layout {
        read_by_call(false)
    }

    fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(Some(record(self)))
    }

    fn variable<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let text = match index {
            0 => return self.uri.value(arena),
            1 => Scheme::of(self.uri),
            2 => Path::of(self.uri),
            3 => PathAndQuery::of(self.uri),
            4 => Query::of(self.uri),
            5 => return self.host(arena),
            6 => return self.headers.value(arena),
            7 => return self.port(arena),
            8 => return self.raw_path(arena),
            _ => None,
        };
        Ok(text.map(Value::String))
    }

    fn variables() -> Vec<Field> {
        let uri = |layout| (offset_of!(Self, uri), layout);
        let fields = [
            ("uri", uri(<&Uri>::layout())),
            ("scheme", uri(behind(viewed::<Scheme>(Ty::Str, true)))),
            ("path", uri(behind(viewed::<Path>(Ty::Str, false)))),
            ("pathAndQuery", uri(behind(viewed::<PathAndQuery>(Ty::Str, false)))),
            ("query", uri(behind(viewed::<Query>(Ty::Str, true)))),
            ("host", (0, read_by_call(true))),
            ("headers", (offset_of!(Self, headers), <&HeaderMap>::layout())),
            ("port", (0, read_by_call(true))),
            ("rawPath", (0, read_by_call(false))),
        ];
        let placed = |(name, (offset, mut layout)): (&str, (usize, Layout))| {
            at_offset(&mut layout, offset);
            let ty = match name {
                "headers" => HeaderMap::ty(),
                "port" => Type::Int,
                _ => Type::String,
            };
            Field { name: name.to_owned(), ty, layout }
        };
        fields.map(placed).into()
    }
}

impl Nested for Target<'_> {}

impl Element for Target<'_> {}

fn behind(mut layout: Layout) -> Layout {
    behind_reference(&mut layout);
    layout
}
