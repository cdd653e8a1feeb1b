//! The forms of a request target (RFC 9112, section 3.2), and its canonical form.

use crate::options::Options;
use crate::path;
use crate::refusal::Refusal;
use http::uri::{Parts, PathAndQuery, Scheme};
use http::{Method, Uri, Version, request};
use std::borrow::Cow;

/// What a target says, without its path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    /// The authority of the absolute-form, or `:authority`.
    pub(crate) authority: Option<&'a [u8]>,
    /// The new path and query, if they have to change.
    pub(crate) path: Option<PathAndQuery>,
    /// Whether the target is in absolute-form and becomes origin-form.
    pub(crate) absolute: bool,
}

/// Reads the target of a request. `raw` is the target as it was received, where `parts` doesn't have all of it.
pub(crate) fn read<'a>(
    parts: &'a request::Parts,
    raw: Option<&'a [u8]>,
    options: &Options,
) -> Result<Target<'a>, Refusal> {
    let in_frames = parts.version >= Version::HTTP_2;
    let uri = &parts.uri;
    if parts.method == Method::CONNECT && !options.connect {
        return Err(Refusal::Connect);
    }
    let both = uri.path_and_query();
    let of_uri = both.map(|both| both.as_str().as_bytes()).unwrap_or_default();
    let (scheme, authority, rest) = match raw {
        Some(raw) if !in_frames => split(raw)?,
        _ => (uri.scheme_str().map(str::as_bytes), uri.authority().map(|text| text.as_str().as_bytes()), of_uri),
    };
    let is_known = |scheme: &[u8]| scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https");
    if !scheme.is_none_or(is_known) {
        return Err(Refusal::Scheme);
    }
    let absolute = !in_frames && authority.is_some();
    if parts.method == Method::CONNECT && (rest.is_empty() || raw.is_some()) {
        // The target of a tunnel is an authority.
        let authority = raw.or(authority);
        return Ok(Target { authority, path: None, absolute: false });
    }
    if absolute && scheme.is_none() {
        // `http::Uri` reads a target such as `admin` as an authority.
        return Err(Refusal::TargetForm);
    }
    let query = match (raw, both) {
        (None, Some(both)) => both.query().map_or(0, |query| query.len().saturating_add(1)),
        _ => rest.iter().position(|byte| *byte == b'?').map_or(0, |place| rest.len().saturating_sub(place)),
    };
    let path = match rest {
        b"*" if parts.method == Method::OPTIONS => None,
        // `OPTIONS` of a whole server in absolute-form (RFC 9112, section 3.2.4).
        b"" if parts.method == Method::OPTIONS && absolute => Some(PathAndQuery::from_static("*")),
        _ => canonical(rest, query, absolute, options)?,
    };
    // The bytes received may differ from those that the URI shows.
    let path = match path {
        None if raw.is_some() && rest != of_uri => Some(path_and_query(rest.to_vec())?),
        path => path,
    };
    Ok(Target { authority, path, absolute })
}

/// Scheme, authority, and the rest of a target.
type Pieces<'a> = (Option<&'a [u8]>, Option<&'a [u8]>, &'a [u8]);

/// Returns path and query of a target as it was received, or `None` if it has none. For hosts that
/// forward it as it was.
#[must_use]
pub fn origin_form(target: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (_, _, rest) = split(target).ok()?;
    Some(match rest {
        [b'/' | b'*', ..] => Cow::Borrowed(rest),
        _ => Cow::Owned([b"/", rest].concat()),
    })
}

/// Splits a target of HTTP/1.1.
fn split(target: &[u8]) -> Result<Pieces<'_>, Refusal> {
    if matches!(target, [b'/', ..] | b"*") {
        return Ok((None, None, target));
    }
    let colon = target.iter().position(|byte| *byte == b':').ok_or(Refusal::TargetForm)?;
    let (scheme, rest) = target.split_at_checked(colon).ok_or(Refusal::TargetForm)?;
    let rest = rest.strip_prefix(b"://").ok_or(Refusal::TargetForm)?;
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\')).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at_checked(end).ok_or(Refusal::TargetForm)?;
    Ok((Some(scheme), Some(authority), rest))
}

/// Returns the canonical form of path and query, or `None` if they have it. The query has `query` bytes with its `?`.
fn canonical(text: &[u8], query: usize, absolute: bool, options: &Options) -> Result<Option<PathAndQuery>, Refusal> {
    let end = text.len().saturating_sub(query);
    let (path, query) = text.split_at_checked(end).ok_or(Refusal::TargetForm)?;
    // An empty path of an absolute-form is `/` (RFC 9112, section 3.2.1).
    let path = if path.is_empty() && absolute { b"/" } else { path };
    if !path.starts_with(b"/") {
        return Err(Refusal::TargetForm);
    }
    let query_is_plain = query.iter().fold(true, |all, byte| all & matches!(byte, 0x21..=0x7e));
    if query_is_plain && end != 0 && path::is_plain(path) {
        return Ok(None);
    }
    let mut out = path::normalize(path, options)?;
    for &byte in query {
        match byte {
            0..=b' ' | 0x7f => return Err(Refusal::PathControl),
            0x80.. => path::encode(byte, &mut out),
            _ => out.push(byte),
        }
    }
    if out == text {
        return Ok(None);
    }
    path_and_query(out).map(Some)
}

fn path_and_query(text: Vec<u8>) -> Result<PathAndQuery, Refusal> {
    PathAndQuery::try_from(text).map_err(|_| Refusal::TargetTooLong)
}

/// Returns the URI with another path and query (`None`: the same), and another authority if the
/// version sends it in the target.
pub(crate) fn uri_with(
    uri: &Uri,
    path: Option<PathAndQuery>,
    authority: Option<&str>,
    absolute: bool,
) -> Result<Uri, Refusal> {
    let mut known = uri.clone().into_parts();
    let mut parts = Parts::default();
    parts.path_and_query = path.or(known.path_and_query.take());
    if !absolute {
        parts.scheme = known.scheme;
        parts.authority = match authority {
            Some(text) => Some(text.parse().map_err(|_| Refusal::HostInvalid)?),
            None => known.authority,
        };
        if parts.scheme.is_none() && parts.authority.is_some() && parts.path_and_query.is_some() {
            parts.scheme = Some(Scheme::HTTP);
        }
    }
    Uri::from_parts(parts).map_err(|_| Refusal::TargetForm)
}
