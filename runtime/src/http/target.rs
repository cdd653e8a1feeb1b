//! What a request is for: the parts of its URI, seen in place, its header map, and the host that both name.

use crate::accessors::text::{MostlyTextView, Shown, TextView};
use crate::arena::{Arena, EvalResult};
use crate::context::{
    Element, Field, FieldType, Member, Nested, PORT, at_offset, behind_reference, format_into, mostly_viewed,
    read_by_call, record, viewed,
};
use crate::error::ErrorKind;
use crate::library::lossy;
use crate::value::Value;
use celero_canonical::split_authority;
use celero_frontend::Type;
use celero_ir::layout::Field as Layout;
use celero_ir::{Domain, Never, TextDomain, Ty};
use celero_matching::ascii_str;
use http::{HeaderMap, Uri, header};
use std::mem::offset_of;

/// `uri`, `fullUri`, `scheme`, `path`, `pathAndQuery` and `query` of a URI, `headers`, `host` and
/// `port`, and `rawPath`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) uri: &'a Uri,
    pub(super) headers: &'a HeaderMap,
    /// The target as it was received, if the host has changed it.
    pub(super) raw: Option<&'a [u8]>,
    /// The scheme of the connection, if the host knows it.
    pub(super) scheme: Option<&'a str>,
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
    OriginForm: |uri| Some(origin_form(uri));
    Path: |uri| Some(uri.path());
    PathAndQuery: |uri| Some(uri.path_and_query().map_or("", |both| both.as_str()));
    Query: Uri::query;
}

/// The target as a server of HTTP/1.1 gets it (RFC 9112, section 3.2): path and query, `*`, or the
/// authority of `CONNECT`.
fn origin_form(uri: &Uri) -> &str {
    match (uri.path_and_query(), uri.authority()) {
        (Some(both), _) => both.as_str(),
        (None, Some(authority)) => authority.as_str(),
        (None, None) => "",
    }
}

/// The [scheme](Target::scheme).
struct Scheme;

impl MostlyTextView for Scheme {
    type Source<'a> = Target<'a>;
    type Memory = Arena;

    #[inline]
    fn show<'s>(target: &'s Target<'_>) -> Shown<'s> {
        target.scheme().map_or(Shown::Absent, Shown::Text)
    }

    fn make<'s>(_: &'s Target<'_>, _: &'s Arena) -> EvalResult<&'s str> {
        Err(ErrorKind::NoSuchKey)
    }
}

/// The host, in lower case, without port and dot at its end. Made only if the request has it in
/// upper case, or not in UTF-8.
struct Host;

impl MostlyTextView for Host {
    type Source<'a> = Target<'a>;
    type Memory = Arena;

    #[inline]
    fn show<'s>(target: &'s Target<'_>) -> Shown<'s> {
        let authority = match target.uri.authority() {
            Some(authority) => authority.as_str(),
            None => match target.headers.get(header::HOST).map(|host| text_of(host.as_bytes())) {
                Some(Some(host)) => host,
                Some(None) => return Shown::ToBeMade,
                None => return Shown::Absent,
            },
        };
        if is_bare(authority.as_bytes()) {
            return Shown::Text(authority.strip_suffix('.').unwrap_or(authority));
        }
        let (host, _) = split_authority(authority);
        if host.bytes().any(|byte| byte.is_ascii_uppercase()) { Shown::ToBeMade } else { Shown::Text(host) }
    }

    fn make<'s>(target: &'s Target<'_>, arena: &'s Arena) -> EvalResult<&'s str> {
        let (host, _) = split_authority(target.authority(arena)?.unwrap_or_default());
        let letter = |at: usize| host.as_bytes().get(at).map_or(0, u8::to_ascii_lowercase);
        let lower = arena.alloc_slice_with(host.len(), letter)?;
        std::str::from_utf8(lower).map_err(|_| ErrorKind::InvalidArgument)
    }
}

/// The target as it was received. Made only where it is not UTF-8.
struct RawPath;

impl MostlyTextView for RawPath {
    type Source<'a> = Target<'a>;
    type Memory = Arena;

    #[inline]
    fn show<'s>(target: &'s Target<'_>) -> Shown<'s> {
        match target.raw.map(text_of) {
            Some(Some(text)) => Shown::Text(text),
            Some(None) => Shown::ToBeMade,
            None => Shown::Text(PathAndQuery::of(target.uri).unwrap_or_default()),
        }
    }

    fn make<'s>(target: &'s Target<'_>, arena: &'s Arena) -> EvalResult<&'s str> {
        lossy(target.raw.unwrap_or_default(), arena)
    }
}

/// Bytes as text, if they are UTF-8.
#[inline]
fn text_of(bytes: &[u8]) -> Option<&str> {
    ascii_str(bytes).or_else(|| std::str::from_utf8(bytes).ok())
}

/// Whether an authority is a host alone, in lower case: if no byte is one of those from `:` to `]`,
/// which are the separators of an authority and the letters in upper case, or not ASCII. Reads
/// eight bytes at a time.
#[inline]
fn is_bare(authority: &[u8]) -> bool {
    const fn repeated(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    // The highest bit of each byte that is one of these. Bytes that are not ASCII disturb their
    // neighbours, but have that bit themselves.
    let others = |word: u64| {
        let from_first = word.wrapping_add(repeated(0x80 - b':'));
        let after_last = word.wrapping_add(repeated(0x80 - b'^'));
        (from_first & !after_last | word) & repeated(0x80)
    };
    match authority.last_chunk::<8>() {
        Some(last) => {
            let words = authority.as_chunks::<8>().0.iter().chain([last]);
            words.fold(0, |found, word| found | others(u64::from_ne_bytes(*word))) == 0
        }
        None => authority.iter().all(|byte| byte.is_ascii() && !(b':'..=b']').contains(byte)),
    }
}

/// What a view shows or makes, as a value.
fn shown_or_made<'s, V>(target: &'s Target<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>>
where
    V: for<'a> MostlyTextView<Source<'a> = Target<'a>, Memory = Arena>,
{
    Ok(match V::show(target) {
        Shown::Text(text) => Some(Value::String(text)),
        Shown::Absent => None,
        Shown::ToBeMade => Some(Value::String(V::make(target, arena)?)),
    })
}

impl Target<'_> {
    /// What the host says of the scheme, else what the target says.
    fn scheme(&self) -> Option<&str> {
        self.scheme.or_else(|| self.uri.scheme_str())
    }

    /// The authority of the URI, else the first `Host` header.
    fn authority<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<&'s str>> {
        if let Some(authority) = self.uri.authority() {
            return Ok(Some(authority.as_str()));
        }
        self.headers.get(header::HOST).map(|host| lossy(host.as_bytes(), arena)).transpose()
    }

    /// The target URI (RFC 9112, section 3.3).
    fn full_uri<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let Some(Value::String(host)) = shown_or_made::<Host>(self, arena)? else { return Ok(None) };
        let scheme = self.scheme().unwrap_or("http");
        let path = self.uri.path_and_query().map_or("", |both| both.as_str()).trim_start_matches('*');
        let text = match self.port(arena)? {
            Some(Value::Int(port)) => format_into(arena, &format_args!("{scheme}://{host}:{port}{path}")),
            _ => format_into(arena, &format_args!("{scheme}://{host}{path}")),
        };
        text.map(|text| Some(Value::String(text)))
    }

    /// The port that the request names.
    fn port<'s>(&'s self, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let port = self.authority(arena)?.and_then(|authority| split_authority(authority).1);
        Ok(port.map(|port| Value::Int(port.into())))
    }
}

/// Which values the variables of a canonical request can have.
fn domain(name: &str) -> Option<Domain> {
    use Never::{Character, DotSegment, OtherSpelling, Port, UpperCase};
    let text = |begins, never, also| Some(Domain::Text(TextDomain { begins, never, also }));
    // `*` of `OPTIONS`; nothing of `CONNECT`.
    let no_path = &["*", ""];
    match name {
        // Not `//`: a host may keep it (`Slashes::Keep`).
        "path" => text("/", &[Character('?'), Character('#'), Character(' '), DotSegment, OtherSpelling], no_path),
        "pathAndQuery" => text("/", &[Character('#'), Character(' ')], no_path),
        "uri" | "query" => text("", &[Character('#'), Character(' ')], &[]),
        "host" => text("", &[UpperCase, Port, Character('/'), Character('@'), Character(' ')], &[]),
        "scheme" => text("", &[UpperCase, Character(':'), Character('/')], &[]),
        "port" => Some(PORT),
        _ => None,
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
    Member::new("fullUri", 9, 1, &[]),
];

// SAFETY: the layouts are those of a URI and of a header map behind references at the offsets of
// the two members, or call `variable`; the views show the text that it gives, in the order of its
// indices.
unsafe impl FieldType for Target<'_> {
    const COUNT: u32 = 10;
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
            0 => OriginForm::of(self.uri),
            1 => return shown_or_made::<Scheme>(self, arena),
            2 => Path::of(self.uri),
            3 => PathAndQuery::of(self.uri),
            4 => Query::of(self.uri),
            5 => return shown_or_made::<Host>(self, arena),
            6 => return self.headers.value(arena),
            7 => return self.port(arena),
            8 => return shown_or_made::<RawPath>(self, arena),
            9 => return self.full_uri(arena),
            _ => None,
        };
        Ok(text.map(Value::String))
    }

    fn variables() -> Vec<Field> {
        let uri = |layout| (offset_of!(Self, uri), layout);
        let fields = [
            ("uri", uri(behind(viewed::<OriginForm>(Ty::Str, false)))),
            ("scheme", (0, mostly_viewed::<Scheme>(true))),
            ("path", uri(behind(viewed::<Path>(Ty::Str, false)))),
            ("pathAndQuery", uri(behind(viewed::<PathAndQuery>(Ty::Str, false)))),
            ("query", uri(behind(viewed::<Query>(Ty::Str, true)))),
            ("host", (0, mostly_viewed::<Host>(true))),
            ("headers", (offset_of!(Self, headers), <&HeaderMap>::layout())),
            ("port", (0, read_by_call(true))),
            ("rawPath", (0, mostly_viewed::<RawPath>(false))),
            ("fullUri", (0, read_by_call(true))),
        ];
        let placed = |(name, (offset, mut layout)): (&str, (usize, Layout))| {
            at_offset(&mut layout, offset);
            let ty = match name {
                "headers" => HeaderMap::ty(),
                "port" => Type::Int,
                _ => Type::String,
            };
            layout.domain = domain(name);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_hosts_have_no_separators_and_no_upper_case() {
        for length in 0..40_usize {
            let mut text = vec![b'a'; length];
            assert!(is_bare(&text));
            for place in 0..length {
                for byte in 0..=u8::MAX {
                    text[place] = byte;
                    let plain = byte.is_ascii() && !(b':'..=b']').contains(&byte);
                    assert_eq!(is_bare(&text), plain, "{byte} at {place} of {length}");
                }
                text[place] = b'a';
            }
        }
    }

    #[test]
    fn hosts_are_shown_or_made() {
        let arena = Arena::new(1 << 16);
        for (target, header, host) in [
            ("/", None, None),
            ("/", Some(&b"a.example"[..]), Some("a.example")),
            ("/", Some(b"A.example.:80"), Some("a.example")),
            ("/", Some(b"caf\xc3\xa9.Example"), Some("caf\u{e9}.example")),
            ("/", Some(b"x\xff"), Some("x\u{fffd}")),
            ("/", Some(b"user@shop.example:8080"), Some("shop.example")),
            ("http://b.example.:80/", Some(b"a.example"), Some("b.example")),
            ("http://[2001:DB8::1]:80/", None, Some("[2001:db8::1]")),
            ("http://[::1]/", None, Some("[::1]")),
            ("http://a.example./", None, Some("a.example")),
        ] {
            let uri: Uri = target.parse().unwrap();
            let mut headers = HeaderMap::new();
            headers.extend(header.map(|value| (header::HOST, http::HeaderValue::from_bytes(value).unwrap())));
            let target = Target { uri: &uri, headers: &headers, raw: None, scheme: None };
            let shown = match shown_or_made::<Host>(&target, &arena).unwrap() {
                Some(Value::String(text)) => Some(text),
                None => None,
                Some(other) => panic!("{other:?}"),
            };
            assert_eq!(shown, host, "{uri} {header:?}");
        }
    }
}
