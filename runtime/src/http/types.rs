//! Types of the `http` crate as fields: text, and the number of a status.

use crate::accessors::enum_tags::names;
use crate::accessors::scalar::{ScalarView, optional_scalar, scalar};
use crate::accessors::text::{MostlyTextView, OrAbsent, Shown, TextView, named_access};
use crate::arena::{Arena, EvalResult};
use crate::context::{Element, FieldType, MapKey, format_into, mostly_viewed, read_by_call, viewed};
use crate::library::lossy;
use crate::value::Value;
use celero_frontend::Type;
use celero_ir::layout::{EnumTags, Field as Layout};
use celero_ir::{Domain, ErrorKind, HEADER_NAME, Never, TextDomain, Ty};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderName, HeaderValue, Method, StatusCode, Uri, Version};
use std::sync::OnceLock;

/// The protocol as written on a request line, `HTTP/1.1`; `HTTP` without a number for versions that
/// this crate does not know.
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

/// Methods of canonical requests: those with a letter in lower case are refused.
const METHOD: Domain = Domain::Text(TextDomain {
    begins: "",
    never: &[Never::LowerCase, Never::Character(' '), Never::Character('/')],
    also: &[],
});

/// The texts of [`version`].
const VERSIONS: &[&str] = &["HTTP/1.0", "HTTP/1.1", "HTTP/2.0", "HTTP/3.0", "HTTP/0.9", "HTTP"];

/// The layout of a method: a byte of the value tells the standard methods apart.
fn method() -> Layout {
    static NAMES: OnceLock<Option<EnumTags>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let usual = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];
        let others: Vec<String> = (1..=24).map(|length| "X".repeat(length)).collect();
        names(&usual, &others, |text| Method::from_bytes(text.as_bytes()).ok())
    });
    match *names {
        Some(names) => Layout::new(Ty::Str, false, named_access::<Method>(names)),
        None => viewed::<Method>(Ty::Str, false),
    }
}

macro_rules! texts {
    ($($rust:ty: $text:expr, $layout:expr;)*) => {$(
        impl TextView for $rust {
            type Source = Self;

            fn text(source: &Self) -> Option<&[u8]> {
                let text: fn(&Self) -> &str = $text;
                Some(text(source).as_bytes())
            }
        }

        // SAFETY: the view shows the text that `value` gives; so do names, which are those of a type's values.
        unsafe impl FieldType for $rust {
            fn ty() -> Type {
                Type::String
            }

            fn layout() -> Layout {
                $layout
            }

            fn optional_layout() -> Layout {
                viewed::<OrAbsent<Self>>(Ty::Str, true)
            }

            fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
                let text: fn(&Self) -> &str = $text;
                Ok(Some(Value::String(text(self))))
            }
        }

        impl Element for $rust {}
    )*};
}

texts! {
    Method: Method::as_str, method().of_domain(METHOD);
    Version: |v| version(v), viewed::<Self>(Ty::Str, false).of_domain(Domain::OneOf(VERSIONS));
    HeaderName: HeaderName::as_str, viewed::<Self>(Ty::Str, false).of_domain(HEADER_NAME);
    Authority: Authority::as_str, viewed::<Self>(Ty::Str, false);
    PathAndQuery: PathAndQuery::as_str, viewed::<Self>(Ty::Str, false);
    Scheme: Scheme::as_str, viewed::<Self>(Ty::Str, false);
}

/// A key is found in any case, as HTTP compares names. It is looked up as a name, because the hash
/// of a name is not that of its text.
impl MapKey for HeaderName {
    type Form = Self;

    fn ty() -> Type {
        Type::String
    }

    fn key(&self) -> Value<'_> {
        Value::String(self.as_str())
    }

    fn lookup<R>(value: &Value<'_>, find: impl FnOnce(&Self) -> R) -> Option<R> {
        match value {
            Value::String(text) => Self::from_bytes(text.as_bytes()).ok().map(|name| find(&name)),
            _ => None,
        }
    }
}

/// What a status can be.
const STATUS: Domain = Domain::Range(100, 999);

impl ScalarView for StatusCode {
    type Source = Self;
    const TY: Ty = Ty::Int;
    const FAILS: bool = false;

    fn words(source: &Self) -> Result<[u64; 2], ErrorKind> {
        Ok([source.as_u16().into(), 0])
    }
}

// SAFETY: the view shows the number that `value` gives.
unsafe impl FieldType for StatusCode {
    fn ty() -> Type {
        Type::Int
    }

    fn layout() -> Layout {
        scalar::<Self>().of_domain(STATUS)
    }

    fn optional_layout() -> Layout {
        optional_scalar::<Self>().of_domain(STATUS)
    }

    fn value<'s>(&'s self, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(Some(Value::Int(self.as_u16().into())))
    }
}

impl Element for StatusCode {}

impl MostlyTextView for HeaderValue {
    type Source<'a> = Self;
    type Memory = Arena;

    fn show<'s>(source: &'s Self::Source<'_>) -> Shown<'s> {
        std::str::from_utf8(source.as_bytes()).map_or(Shown::ToBeMade, Shown::Text)
    }

    fn make<'s>(source: &'s Self::Source<'_>, arena: &'s Arena) -> EvalResult<&'s str> {
        lossy(source.as_bytes(), arena)
    }
}

// SAFETY: the view shows the bytes if they are UTF-8, and makes the text that `value` gives if not.
unsafe impl FieldType for HeaderValue {
    fn ty() -> Type {
        Type::String
    }

    fn layout() -> Layout {
        mostly_viewed::<Self>(false)
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        lossy(self.as_bytes(), arena).map(|text| Some(Value::String(text)))
    }
}

impl Element for HeaderValue {}

// SAFETY: only `value` reads it: the text of a URI is not contiguous in memory.
unsafe impl FieldType for Uri {
    fn ty() -> Type {
        Type::String
    }

    fn layout() -> Layout {
        read_by_call(false)
    }

    fn value<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        format_into(arena, self).map(|text| Some(Value::String(text)))
    }
}

impl Element for Uri {}
