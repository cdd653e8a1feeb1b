//! Fields of requests: framing, names, and those that belong to one connection (RFC 9110, section 7.6.1).

use crate::guarded::GuardedNames;
use crate::options::Underscores;
use crate::refusal::Refusal;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, RANGE, REFERER, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use http::{Version, request};

pub(crate) const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
pub(crate) const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const HTTP2_SETTINGS: HeaderName = HeaderName::from_static("http2-settings");

/// Fields with one value that decide who a client is, or how servers read the body. `Host` and
/// those of framing are checked apart.
const SINGLE: [HeaderName; 6] = [AUTHORIZATION, CONTENT_TYPE, ORIGIN, RANGE, REFERER, USER_AGENT];

/// The largest number of names in `Connection`.
const MAX_NOMINATIONS: usize = 64;

/// Changes of fields.
#[derive(Debug, Default)]
pub(crate) struct FieldChanges {
    pub(crate) set: Vec<(HeaderName, HeaderValue)>,
    pub(crate) remove: Vec<HeaderName>,
}

/// What one pass over the names of the fields found.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// A field that may have to be removed, or changed.
    connection: bool,
    length: bool,
    coding: bool,
}

/// Checks the fields of a request but `Host`, and collects what has to change.
pub(crate) fn check(
    parts: &request::Parts,
    guarded: &GuardedNames,
    underscores: Underscores,
    changes: &mut FieldChanges,
) -> Result<(), Refusal> {
    let headers = &parts.headers;
    let seen = look(headers, guarded, underscores)?;
    if headers.len() != headers.keys_len() {
        if SINGLE.iter().any(|name| headers.get_all(name).iter().nth(1).is_some()) {
            return Err(Refusal::FieldRepeated);
        }
        join_cookies(headers, changes);
    }
    let mut has_body = false;
    if seen.length {
        has_body |= content_length(headers)? != 0;
    }
    if seen.coding {
        transfer_encoding(parts, seen.length)?;
        has_body = true;
    }
    if seen.connection {
        if parts.version >= Version::HTTP_2 {
            of_frames(headers, changes)?;
        } else {
            of_connection(parts, has_body, changes)?;
        }
    }
    Ok(())
}

fn look(headers: &HeaderMap, guarded: &GuardedNames, underscores: Underscores) -> Result<Seen, Refusal> {
    let mut seen = Seen::default();
    for (name, value) in headers {
        if has_space_around(value.as_bytes()) {
            return Err(Refusal::FieldValue);
        }
        match name.as_str() {
            "content-length" => seen.length = true,
            "transfer-encoding" => seen.coding = true,
            "connection"
            | "keep-alive"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "upgrade"
            | "http2-settings"
            | "proxy-authorization"
            | "proxy-authenticate" => seen.connection = true,
            name if guarded.refuses(name, underscores) => return Err(Refusal::FieldName),
            _ => {}
        }
    }
    Ok(seen)
}

/// Whether a value starts or ends with a space or a tab. A server of HTTP/1.1 does not take them
/// for a part of the value, HTTP/2 forbids them (RFC 9113, section 8.2.1), and parsers of HTTP/2
/// let them through.
#[inline]
fn has_space_around(value: &[u8]) -> bool {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    value.first().is_some_and(is_space) || value.last().is_some_and(is_space)
}

/// Returns a text as the value of a field; `None` if it can't be one, or if a recipient reads
/// another value: spaces and tabs at its ends are no part of it (RFC 9110, section 5.5).
///
/// ```
/// assert!(celero_canonical::field_value(b"admin").is_some());
/// assert!(celero_canonical::field_value(b" admin").is_none());
/// ```
#[must_use]
pub fn field_value(text: &[u8]) -> Option<HeaderValue> {
    HeaderValue::from_bytes(text).ok().filter(|_| !has_space_around(text))
}

/// Several lines of `Cookie` are one. Servers of HTTP/1.1 may read one line only.
fn join_cookies(headers: &HeaderMap, changes: &mut FieldChanges) {
    let lines = headers.get_all(COOKIE);
    if lines.iter().nth(1).is_some() {
        changes.set.extend(joined_cookies(lines).map(|joined| (COOKIE, joined)));
    }
}

/// Returns lines of `Cookie` as one, joined with `; ` (RFC 9113, section 8.2.3). Lines without
/// cookies are left out: the line would end with a space.
#[must_use]
pub fn joined_cookies<'v>(lines: impl IntoIterator<Item = &'v HeaderValue>) -> Option<HeaderValue> {
    let lines = lines.into_iter().map(HeaderValue::as_bytes).filter(|line| !line.is_empty());
    HeaderValue::from_bytes(&lines.collect::<Vec<_>>().join(&b"; "[..])).ok()
}

fn content_length(headers: &HeaderMap) -> Result<u64, Refusal> {
    let mut lines = headers.get_all(CONTENT_LENGTH).iter();
    let (Some(value), None) = (lines.next(), lines.next()) else { return Err(Refusal::ContentLength) };
    let text = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    text.and_then(|text| text.parse().ok()).ok_or(Refusal::ContentLength)
}

fn transfer_encoding(parts: &request::Parts, with_length: bool) -> Result<(), Refusal> {
    let mut lines = parts.headers.get_all(TRANSFER_ENCODING).iter();
    let chunked = lines.next().is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"chunked"));
    let alone = lines.next().is_none() && !with_length && parts.version == Version::HTTP_11;
    if chunked && alone { Ok(()) } else { Err(Refusal::TransferEncoding) }
}

/// Fields of the connection in HTTP/2 and HTTP/3: only `te: trailers` may be there.
fn of_frames(headers: &HeaderMap, changes: &mut FieldChanges) -> Result<(), Refusal> {
    let wrong = [CONNECTION, KEEP_ALIVE, PROXY_CONNECTION, TRANSFER_ENCODING, UPGRADE, HTTP2_SETTINGS];
    let only_trailers = headers.get_all(TE).iter().all(|value| value.as_bytes().eq_ignore_ascii_case(b"trailers"));
    if !only_trailers || wrong.iter().any(|name| headers.contains_key(name)) {
        return Err(Refusal::ConnectionField);
    }
    remove(headers, [PROXY_AUTHORIZATION, PROXY_AUTHENTICATE], changes);
    Ok(())
}

/// Fields of the connection in HTTP/1.1. They are removed before a policy sees the request, with
/// all fields that `Connection` names. Only an upgrade to WebSocket stays; a request with a body
/// may ask for none.
fn of_connection(parts: &request::Parts, has_body: bool, changes: &mut FieldChanges) -> Result<(), Refusal> {
    let headers = &parts.headers;
    // Whether the body belongs to the request or to the other protocol is for the server to choose.
    if has_body && headers.contains_key(UPGRADE) {
        return Err(Refusal::UpgradeBody);
    }
    let options = options(headers, changes)?;
    let mut upgrades = headers.get_all(UPGRADE).iter();
    let protocol = upgrades.next().filter(|_| upgrades.next().is_none());
    let websocket = options.upgrade
        && parts.version == Version::HTTP_11
        && protocol.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
    if websocket {
        if !options.only_upgrade {
            changes.set.push((CONNECTION, HeaderValue::from_static("upgrade")));
        }
        if protocol.is_some_and(|value| value.as_bytes() != b"websocket") {
            changes.set.push((UPGRADE, HeaderValue::from_static("websocket")));
        }
    } else {
        remove(headers, [CONNECTION, UPGRADE], changes);
    }
    let always = [KEEP_ALIVE, PROXY_CONNECTION, TE, TRAILER, HTTP2_SETTINGS, PROXY_AUTHORIZATION, PROXY_AUTHENTICATE];
    remove(headers, always, changes);
    Ok(())
}

fn remove<const N: usize>(headers: &HeaderMap, names: [HeaderName; N], changes: &mut FieldChanges) {
    changes.remove.extend(names.into_iter().filter(|name| headers.contains_key(name)));
}

/// What `Connection` says besides the names of fields.
#[derive(Clone, Copy, Debug, Default)]
struct ConnectionOptions {
    upgrade: bool,
    /// It says `upgrade` as this crate writes it, and nothing else.
    only_upgrade: bool,
}

/// Reads `Connection`, and collects the fields that it names.
fn options(headers: &HeaderMap, changes: &mut FieldChanges) -> Result<ConnectionOptions, Refusal> {
    let mut options = ConnectionOptions::default();
    let mut count = 0_usize;
    for token in tokens(headers) {
        count = count.saturating_add(1);
        if count > MAX_NOMINATIONS {
            return Err(Refusal::Nomination);
        }
        options.only_upgrade = count == 1 && token == b"upgrade";
        let name = HeaderName::from_bytes(token).map_err(|_| Refusal::Nomination)?;
        match name.as_str() {
            "upgrade" => options.upgrade = true,
            // It is removed or written anew in any case.
            "connection" => {}
            // They frame or route the message, or say whose it is, so they are never of the connection.
            "host" | "content-length" | "transfer-encoding" | "forwarded" | "x-forwarded-for" | "x-forwarded-host"
            | "x-forwarded-port" | "x-forwarded-proto" | "x-real-ip" | "x-request-id" | "traceparent"
            | "tracestate" => return Err(Refusal::Nomination),
            _ if headers.contains_key(&name) => changes.remove.push(name),
            _ => {}
        }
    }
    let mut lines = headers.get_all(CONNECTION).iter();
    options.only_upgrade &= lines.next().is_some_and(|value| value.as_bytes() == b"upgrade") && lines.next().is_none();
    Ok(options)
}

/// Returns the elements of `Connection`.
fn tokens(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = headers.get_all(CONNECTION).into_iter();
    let tokens = lines.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    tokens.map(<[u8]>::trim_ascii).filter(|token| !token.is_empty())
}

/// Returns the fields of a response that `Connection` names, and those that belong to the
/// connection. A response is not refused: what can't be a name, and what frames the message, is
/// passed over.
pub(crate) fn of_response(headers: &HeaderMap, upgraded: bool) -> FieldChanges {
    let mut changes = FieldChanges::default();
    if !headers.contains_key(CONNECTION) {
        remove(headers, [KEEP_ALIVE, PROXY_CONNECTION], &mut changes);
        return changes;
    }
    for token in tokens(headers).take(MAX_NOMINATIONS) {
        let Ok(name) = HeaderName::from_bytes(token) else { continue };
        let framing = [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE].contains(&name);
        if !framing && headers.contains_key(&name) {
            changes.remove.push(name);
        }
    }
    remove(headers, [KEEP_ALIVE, PROXY_CONNECTION], &mut changes);
    if upgraded {
        changes.set.push((CONNECTION, HeaderValue::from_static("upgrade")));
    } else {
        remove(headers, [CONNECTION, UPGRADE], &mut changes);
    }
    changes
}
