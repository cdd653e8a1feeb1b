//! The messages of a case, read into the heads that a server of HTTP would have read from its connection.

use crate::problems::Problems;
use crate::yaml::{Node, SourceText};
use celero_canonical::{Fields, Head};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, Version, header, request};
use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// The versions that a request of a case may have.
pub(crate) const VERSIONS: &[&str] = &["HTTP/1.0", "HTTP/1.1", "HTTP/2"];

/// The head of a request as it arrives.
#[derive(Clone, Debug)]
pub(crate) struct ArrivingHead {
    pub(crate) parts: request::Parts,
    /// The target of HTTP/1. Whatever form it has, [`canonical_changes`](celero_canonical::canonical_changes) reads it.
    raw_target: Option<Box<[u8]>>,
}

impl ArrivingHead {
    /// Reads the section `request` of a case. One with messages is a call of gRPC.
    pub(crate) fn read(asked: Option<&Node>, is_call: bool, problems: &mut Problems) -> Self {
        let text = |key: &str| asked.and_then(|request| request.text_of(key));
        let (mut parts, ()) = http::Request::new(()).into_parts();
        parts.method = parsed(text("method"), if is_call { Method::POST } else { Method::GET }, "a method", problems);
        parts.headers = headers(asked, is_call, problems);
        let names_host = asked.and_then(|request| request.get("headers")).map_or(&[][..], Node::entries);
        let names_host = names_host.iter().any(|entry| entry.key.text.eq_ignore_ascii_case("host"));
        let target = text("uri");
        let is_url = target.as_ref().is_some_and(|target| !target.text.starts_with('/') && target.text.contains("://"));
        let version = text("version").map(|version| version.text);
        parts.version = match version.as_deref() {
            Some("HTTP/1.0") => Version::HTTP_10,
            Some("HTTP/1.1") => Version::HTTP_11,
            None if !is_url && !is_call => Version::HTTP_11,
            _ => Version::HTTP_2,
        };
        let in_frames = parts.version == Version::HTTP_2;
        if !(names_host || in_frames && is_url) {
            parts.headers.insert(header::HOST, HeaderValue::from_static("localhost"));
        }
        let mut raw_target = None;
        if let Some(mut target) = target {
            // A fragment is no part of a target: clients don't send it, and celero-proxy drops it.
            target.text.truncate(target.text.find('#').unwrap_or(target.text.len()));
            let is_tunnel = parts.method == Method::CONNECT;
            let found = match in_frames {
                _ if is_tunnel => target.text.parse().ok(),
                true => target_of_frames(&target.text, &parts.method),
                // The raw target counts.
                false => Some(parts.uri.clone()),
            };
            let is_line = !target.text.is_empty() && target.text.bytes().all(|byte| byte > b' ' && byte != 0x7f);
            // Who means another form says so with a version.
            let is_usual = version.is_some() || is_url || is_tunnel || target.text.starts_with(['/', '*']);
            match found.filter(|_| is_line && is_usual) {
                Some(uri) => parts.uri = uri,
                None => {
                    let message = format!("`{}` is not a request target", target.text);
                    let problem = problems.add("policy-value", target.place, message);
                    problem.help(
                        "a path starts with `/`, a URL with `http://` or `https://`; spaces are written as `%20`",
                    );
                }
            }
            raw_target = (!in_frames && !is_tunnel).then(|| target.text.into_bytes().into());
        }
        Self { parts, raw_target }
    }

    /// Adds the length of the body, as a client of HTTP/1 does (RFC 9112, section 6.2), unless the case says how the
    /// body arrives. A header without values, `content-length: []`, is one that the client leaves out.
    pub(crate) fn announce(&mut self, asked: Option<&Node>, body: &[u8]) {
        let named = asked.and_then(|request| request.get("headers")).map_or(&[][..], Node::entries);
        let says = |name: &HeaderName| named.iter().any(|entry| entry.key.text.eq_ignore_ascii_case(name.as_str()));
        if self.parts.version != Version::HTTP_2
            && !body.is_empty()
            && ![header::CONTENT_LENGTH, header::TRANSFER_ENCODING].iter().any(says)
        {
            self.parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
        }
    }

    /// Returns the path of the target as it arrives.
    pub(crate) fn path(&self) -> Cow<'_, str> {
        match &self.raw_target {
            None => Cow::Borrowed(self.parts.uri.path()),
            Some(target) => {
                let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
                String::from_utf8_lossy(path)
            }
        }
    }
}

/// Returns the pseudo-header fields that a client of HTTP/2 sends (RFC 9113, section 8.3.1) for a
/// URL, or for a path and the field `host`.
fn target_of_frames(text: &str, method: &Method) -> Option<Uri> {
    let mut parts = http::uri::Parts::default();
    let rest = match text.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
            parts.scheme = Some(Scheme::from_str(scheme).ok()?);
            parts.authority = Some(Authority::from_str(authority).ok()?);
            rest
        }
        None => text,
    };
    let path = match rest {
        "" if *method == Method::OPTIONS => "*".to_owned(),
        _ if parts.authority.is_some() && !rest.starts_with('/') => format!("/{rest}"),
        _ => rest.to_owned(),
    };
    parts.path_and_query = Some(PathAndQuery::try_from(path).ok()?);
    Uri::from_parts(parts).ok()
}

impl Fields for ArrivingHead {
    fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    fn set_field(&mut self, name: &HeaderName, value: HeaderValue) {
        self.parts.set_field(name, value);
    }

    fn add_field(&mut self, name: &HeaderName, value: HeaderValue) {
        self.parts.add_field(name, value);
    }

    fn remove_field(&mut self, name: &HeaderName) {
        self.parts.remove_field(name);
    }
}

impl Head for ArrivingHead {
    fn parts(&self) -> &request::Parts {
        &self.parts
    }

    fn raw_target(&self) -> Option<&[u8]> {
        self.raw_target.as_deref()
    }

    fn set_uri(&mut self, uri: Uri) {
        self.raw_target = None;
        self.parts.uri = uri;
    }
}

pub(crate) fn parsed<T: FromStr>(text: Option<SourceText>, usual: T, what: &str, problems: &mut Problems) -> T {
    let Some(text) = text else { return usual };
    text.text.parse().unwrap_or_else(|_| {
        problems.add("policy-value", text.place, format!("`{}` is not {what}", text.text));
        usual
    })
}

/// Returns an address with its port.
pub(crate) fn address(text: Option<SourceText>, usual: SocketAddr, problems: &mut Problems) -> SocketAddr {
    let Some(text) = text else { return usual };
    text.text.parse().unwrap_or_else(|_| {
        let example = text.text.parse().map_or(usual, |address: IpAddr| SocketAddr::new(address, 4711));
        let problem =
            problems.add("policy-value", text.place, format!("`{}` is not an address with a port", text.text));
        problem.help(format!("write the port behind the address: `\"{example}\"`"));
        usual
    })
}

/// Returns the headers of a message, perhaps of a call of gRPC.
pub(crate) fn headers(message: Option<&Node>, is_call: bool, problems: &mut Problems) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for entry in message.and_then(|message| message.get("headers")).map_or(&[][..], Node::entries) {
        let single = entry.value.text().into_iter();
        for value in single.chain(entry.value.elements().iter().filter_map(Node::text)) {
            let header = HeaderName::from_bytes(entry.key.text.as_bytes()).ok();
            match header.zip(HeaderValue::from_bytes(value.text.as_bytes()).ok()) {
                Some((name, value)) => drop(headers.append(name, value)),
                None => {
                    problems.add("policy-header", entry.key.place, "this is not a valid header".to_owned());
                }
            }
        }
    }
    if is_call && !headers.contains_key(header::CONTENT_TYPE) {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    }
    headers
}
