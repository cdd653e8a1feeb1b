//! A request and its peer as the data of rules.

use super::source::Source;
use super::target::Target;
use celero_derive::Context;
use http::request::Parts;
use http::{HeaderMap, Method, Version};
use std::net::SocketAddr;

/// A request without its body. Building one copies references only.
///
/// | field | CEL type | |
/// |---|---|---|
/// | `method` | `string` | `GET` |
/// | `uri` | `string` | the request target as a server of HTTP/1.1 gets it, in every version: path and query; `*` of `OPTIONS`; the authority of `CONNECT` |
/// | `fullUri` | `string` | scheme (`http` if it is absent), host and port, path and query: the target URI (RFC 9112, section 3.3); absent if the request names no host |
/// | `scheme` | `string` | what the host says of the connection ([`with_scheme`](RequestHead::with_scheme)); else that of the target, which a client of HTTP/2 chooses; else absent |
/// | `path` | `string` | without the query; empty when the target has none (`CONNECT`) |
/// | `pathAndQuery` | `string` | as the target has it |
/// | `query` | `string` | what follows `?`; absent when there is no `?` |
/// | `host` | `string` | the host of the target, else that of the first `Host` header, in lower case, without port and without a dot at its end; else absent |
/// | `port` | `int` | the port that stands with the host; absent when there is none |
/// | `rawPath` | `string` | the target as it was received, if [`with_raw_path`](RequestHead::with_raw_path) gave it; else `pathAndQuery` |
/// | `version` | `string` | `HTTP/1.0`, `HTTP/1.1`, `HTTP/2.0`, `HTTP/3.0` |
/// | `headers` | `map(string, string)` | names in lower case, lookups in any case; the lines of one name are joined with `,`, those of `cookie` with `; ` |
///
/// A request can spell its path in many ways that mean the same to a server. Make it canonical before rules read it:
/// `celero_canonical::canonicalize`, which `celero-policy` calls.
#[derive(Clone, Copy, Debug, Context)]
#[context(crate = "crate")]
pub struct RequestHead<'a> {
    method: &'a Method,
    #[context(flatten)]
    target: Target<'a>,
    version: Version,
}

impl<'a> RequestHead<'a> {
    /// The fields of a request's head.
    #[inline]
    #[must_use]
    pub fn from_parts(parts: &'a Parts) -> Self {
        Self::assemble(&parts.method, &parts.uri, parts.version, &parts.headers)
    }

    #[inline]
    fn assemble(method: &'a Method, uri: &'a http::Uri, version: Version, headers: &'a HeaderMap) -> Self {
        Self { method, target: Target { uri, headers, raw: None, scheme: None }, version }
    }

    /// With the target as it was received, where the host has changed it.
    #[inline]
    #[must_use]
    pub fn with_raw_path(mut self, raw: Option<&'a [u8]>) -> Self {
        self.target.raw = raw;
        self
    }

    /// With the scheme of the connection, `http` or `https`, where the host knows it. Clients of
    /// HTTP/1.1 don't send one, and those of HTTP/2 may send any.
    #[inline]
    #[must_use]
    pub fn with_scheme(mut self, scheme: Option<&'a str>) -> Self {
        self.target.scheme = scheme;
        self
    }
}

/// A request: the fields of [`RequestHead`], and `body`, which is `bytes`, absent unless
/// [`with_body`](Request::with_body) gave it.
#[derive(Clone, Copy, Debug, Context)]
#[context(crate = "crate")]
pub struct Request<'a> {
    #[context(flatten)]
    head: RequestHead<'a>,
    body: Option<&'a [u8]>,
}

impl<'a> Request<'a> {
    /// The fields of a request without its body.
    #[inline]
    #[must_use]
    pub fn new<B>(request: &'a http::Request<B>) -> Self {
        Self {
            head: RequestHead::assemble(request.method(), request.uri(), request.version(), request.headers()),
            body: None,
        }
    }

    /// The fields of a request's head.
    #[inline]
    #[must_use]
    pub fn from_parts(parts: &'a Parts) -> Self {
        RequestHead::from_parts(parts).into()
    }

    /// With a body.
    #[inline]
    #[must_use]
    pub fn with_body(self, body: &'a [u8]) -> Self {
        Self { body: Some(body), ..self }
    }
}

impl<'a> From<RequestHead<'a>> for Request<'a> {
    #[inline]
    fn from(head: RequestHead<'a>) -> Self {
        Self { head, body: None }
    }
}

/// The ready-made context: the fields of [`Request`] under `request.`, those of [`Source`] under `source.`.
///
/// ```
/// use celero::Env;
/// use celero::http::RequestContext;
///
/// let env = Env::<RequestContext>::new();
/// assert!(env.problems().is_empty());
///
/// let request = http::Request::get("/admin?debug").header("x-team", "ops").body(()).unwrap();
/// let context = RequestContext::new(&request).with_source("192.0.2.7:4711".parse().unwrap());
/// ```
#[derive(Clone, Copy, Debug, Context)]
#[context(crate = "crate")]
pub struct RequestContext<'a> {
    #[context(nested)]
    request: Request<'a>,
    #[context(nested)]
    source: Source,
}

impl<'a> RequestContext<'a> {
    /// For a request, without body and source.
    #[inline]
    #[must_use]
    pub fn new<B>(request: &'a http::Request<B>) -> Self {
        Self::from(Request::new(request))
    }

    /// For a request's head.
    #[inline]
    #[must_use]
    pub fn from_parts(parts: &'a Parts) -> Self {
        Self::from(Request::from_parts(parts))
    }

    /// With the peer's address.
    #[inline]
    #[must_use]
    pub fn with_source(self, source: SocketAddr) -> Self {
        Self { source: source.into(), ..self }
    }

    /// With a body.
    #[inline]
    #[must_use]
    pub fn with_body(self, body: &'a [u8]) -> Self {
        Self { request: self.request.with_body(body), ..self }
    }
}

impl<'a> From<Request<'a>> for RequestContext<'a> {
    #[inline]
    fn from(request: Request<'a>) -> Self {
        Self { request, source: Source::default() }
    }
}
