//! Files of requests: HTTP/1.1 as text, separated by lines that start with `###`; or JSON, one
//! object per line: `{"method": "GET", "uri": "/", "headers": {"host": "a"}, "body": ""}`.

use super::address::address;
use super::message::{self, NotARequest};
use http::{HeaderName, HeaderValue, Method, Request, Version};
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::net::SocketAddr;

/// The requests of a file.
#[derive(Debug, Default)]
pub struct RecordedRequests {
    /// In the order of the file.
    pub requests: Vec<RecordedRequest>,
    /// The errors of requests that are left out.
    pub left_out: Vec<String>,
}

/// A request, and the client that sent it, if the file says so.
#[derive(Clone, Debug, Default)]
pub struct RecordedRequest {
    /// The request.
    pub message: Request<Vec<u8>>,
    /// The address of the client.
    pub source: Option<SocketAddr>,
}

impl From<Request<Vec<u8>>> for RecordedRequest {
    fn from(message: Request<Vec<u8>>) -> Self {
        Self { message, source: None }
    }
}

/// A request as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    method: Option<String>,
    uri: String,
    #[serde(default)]
    headers: Map<String, Json>,
    #[serde(default)]
    body: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    source: Option<String>,
    // What `celero-proxy` records besides, for its own replay.
    #[serde(default, rename = "time")]
    _time: Option<String>,
    #[serde(default, rename = "destination")]
    _destination: Option<String>,
    #[serde(default, rename = "tls")]
    _tls: Option<String>,
    #[serde(default, rename = "via")]
    _via: Option<String>,
}

/// The members of a line, for suggestions.
const MEMBERS: [&str; 10] =
    ["method", "uri", "headers", "body", "version", "source", "destination", "via", "tls", "time"];

/// Reads the requests of a file. Invalid HTTP requests in JSON are left out and reported: recorded
/// traffic may contain some, and a proxy rejects them before its rules run.
///
/// # Errors
/// Returns a message with the place, line and column, or with the number of the request, counted from 1.
pub fn parse(name: &str, text: &[u8]) -> Result<RecordedRequests, String> {
    let RecordedRequests { mut requests, mut left_out } = RecordedRequests::default();
    if text.trim_ascii_start().starts_with(b"{") {
        let lines = text.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
        for (at, text) in lines {
            let at = at.saturating_add(1);
            let line: Line = serde_json::from_slice(text).map_err(|error| not_a_request(name, at, text, &error))?;
            let headers = line.headers().map_err(|why| format!("{name}:{at}: {why}"))?;
            let source = line.source.as_deref().map(address).transpose();
            let source = source.map_err(|why| format!("{name}:{at}: `source`: {why}"))?;
            match line.request(headers, source) {
                Ok(request) => requests.push(request),
                Err(why) => left_out.push(format!("{name}:{at}: {why}")),
            }
        }
    } else if text.trim_ascii_start().starts_with(b"[") {
        return Err(format!("{name}: requests in JSON are objects, one on each line, without a list around them"));
    } else {
        requests = texts(text).map_err(|NotARequest { line, why }| format!("{name}:{line}: {why}"))?;
    }
    if requests.is_empty() {
        return Err(left_out.into_iter().next().unwrap_or_else(|| format!("{name}: the file has no request")));
    }
    Ok(RecordedRequests { requests, left_out })
}

/// Returns the message about a line that is not a request.
fn not_a_request(name: &str, line: usize, text: &[u8], error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
    let Some((_, member)) = message.split_once("unknown field `") else {
        let hint = if error.is_eof() { "; a request in JSON is one line" } else { "" };
        return format!("{name}:{line}:{}: not a request: {message}{hint}", error.column());
    };
    let member = member.split('`').next().unwrap_or_default();
    // The error is placed behind the name.
    let written = format!("\"{member}\"");
    let before = text.get(..error.column()).unwrap_or(text);
    let start = before.windows(written.len()).rposition(|part| part == written.as_bytes());
    let column = start.map_or(error.column(), |start| start.saturating_add(1));
    let known = match celero::diagnostics::similar(member, MEMBERS) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("its members are `{}`", MEMBERS.join("`, `")),
    };
    format!("{name}:{line}:{column}: a request has no member `{member}`; {known}")
}

/// Reads requests as text. The lines of errors are counted from 1.
fn texts(text: &[u8]) -> Result<Vec<RecordedRequest>, NotARequest> {
    // The line at which each part starts, and its text.
    let mut parts: Vec<(usize, Vec<u8>)> = vec![(1, Vec::new())];
    for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        match parts.last_mut() {
            Some((start, part)) if !line.starts_with(b"###") => {
                // Blank lines before a request belong to no request.
                if part.is_empty() && line.trim_ascii().is_empty() {
                    *start = start.saturating_add(1);
                } else {
                    part.extend_from_slice(line);
                }
            }
            _ => parts.push((number.saturating_add(2), Vec::new())),
        }
    }
    let parts = parts.iter().filter(|(_, part)| !part.is_empty());
    let request = |(start, part): &(usize, Vec<u8>)| {
        let request = message::parse(part.trim_ascii_start()).map(RecordedRequest::from);
        request.map_err(|error| NotARequest { line: start.saturating_add(error.line), ..error })
    };
    parts.map(request).collect()
}

impl Line {
    /// Returns names and values of the headers.
    fn headers(&self) -> Result<Vec<(String, String)>, String> {
        let mut headers = Vec::new();
        for (name, values) in &self.headers {
            let values = values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice);
            for value in values {
                let text = value.as_str().ok_or_else(|| format!("header `{name}`: `{value}` is not a text"))?;
                headers.push((name.clone(), text.to_owned()));
            }
        }
        Ok(headers)
    }

    fn request(self, headers: Vec<(String, String)>, source: Option<SocketAddr>) -> Result<RecordedRequest, String> {
        let line = self;
        let mut message = Request::new(line.body.into_bytes());
        if let Some(method) = line.method {
            *message.method_mut() =
                Method::from_bytes(method.as_bytes()).map_err(|e| format!("method `{method}`: {e}"))?;
        }
        let target = message::parse_target(&line.uri, message.method());
        *message.uri_mut() = target.map_err(|why| format!("uri `{}`: {why}", line.uri))?;
        *message.version_mut() = match line.version.as_deref() {
            None | Some("HTTP/1.1") => Version::HTTP_11,
            Some("HTTP/1.0") => Version::HTTP_10,
            Some("HTTP/2" | "HTTP/2.0") => Version::HTTP_2,
            Some("HTTP/3" | "HTTP/3.0") => Version::HTTP_3,
            Some(other) => {
                return Err(format!("version `{other}`: expected `HTTP/1.0`, `HTTP/1.1`, `HTTP/2` or `HTTP/3`"));
            }
        };
        for (name, value) in headers {
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|e| format!("header `{name}`: {e}"))?;
            let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|e| format!("header `{name}`: {e}"))?;
            message.headers_mut().append(header, value);
        }
        Ok(RecordedRequest { message, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_lines_are_read() {
        let text = b"GET /a HTTP/1.1\nhost: x\n\n### second\n\nPOST /b HTTP/1.1\n\nbody\n###\n";
        let json = br#"{"uri": "/a", "headers": {"Host": "x"}, "version": "HTTP/1.1"}

            {"method": "POST", "uri": "/b", "headers": {"x": ["1", "2"]}, "body": "body\n", "source": "192.0.2.1:7", "destination": "10.0.0.1:1", "via": "proxy-protocol", "tls": "TLSv1.3", "time": "2026-01-01T00:00:00Z"}"#;
        for requests in [parse("f", text).unwrap().requests, parse("f", json).unwrap().requests] {
            let [RecordedRequest { message: first, .. }, RecordedRequest { message: second, .. }] = &requests[..]
            else {
                panic!("{requests:?}")
            };
            assert_eq!(
                (first.method(), first.uri().path(), &first.headers()["host"]),
                (&Method::GET, "/a", &"x".parse().unwrap())
            );
            assert_eq!(
                (second.method(), second.uri().path(), &second.body()[..]),
                (&Method::POST, "/b", &b"body\n"[..])
            );
        }
        let second = &parse("f", json).unwrap().requests[1];
        assert_eq!(second.message.headers().get_all("x").iter().count(), 2);
        assert_eq!(second.source, Some("192.0.2.1:7".parse().unwrap()));
    }

    #[test]
    fn what_http_does_not_allow_is_left_out() {
        for (line, why) in
            [(r#"{"uri": "a b"}"#, "uri `a b`: "), (r#"{"uri": "/", "version": "HTTP/9"}"#, "version `HTTP/9`: ")]
        {
            let text = format!("{line}\n{{\"uri\": \"/\"}}\n");
            let RecordedRequests { requests, left_out } = parse("f", text.as_bytes()).unwrap();
            assert_eq!((requests.len(), left_out.len()), (1, 1));
            assert!(left_out[0].starts_with(&format!("f:1: {why}")), "{left_out:?}");
        }
    }

    #[test]
    fn what_is_no_request_is_placed() {
        for (text, why) in [
            (&b""[..], "f: the file has no request"),
            (b"GET / HTTP/1.1\n\n###\n\nGET\n", "f:5: expected `METHOD TARGET VERSION`"),
            (b"\nGET / HTTP/1.1\nhost\n", "f:3: expected a header, `NAME: VALUE`, found `host`"),
            (b"[{\"uri\": \"/\"}]", "f: requests in JSON are objects, one on each line, without a list"),
            (b"{\n\"uri\": \"/\"}", "f:1:1: not a request: EOF while parsing an object; a request in JSON is one line"),
            (
                b"{\"uri\": \"/\", \"source\": \"1.2.3.4\"}",
                "f:1: `source`: expected an address and a port, as in `1.2.3.4:4711`",
            ),
            (b"{\"uri\": \"a\"}", "f:1: uri `a`: a path starts with `/`"),
            (b"{\"uri\": \"/\"}\n{\"method\": 1}\n", "f:2:12: not a request: invalid type"),
            (b"{\"uri\": \"a b\"}", "f:1: uri `a b`: "),
            (b"{\"uri\": \"/\", \"headers\": {\"a b\": \"\"}}", "f:1: header `a b`: "),
            (b"{\"uri\": \"/\", \"headers\": {\"n\": 1}}", "f:1: header `n`: `1` is not a text"),
            (b"{\"uri\": \"/\"}\n{\"url\": \"/\"}", "f:2:2: a request has no member `url`; did you mean `uri`?"),
            (b"{\"uri\": \"/\", \"zzzz\": 1}", "f:1:14: a request has no member `zzzz`; its members are `method`, "),
        ] {
            let error = parse("f", text).unwrap_err();
            assert!(error.starts_with(why), "{why}: {error}");
        }
    }
}
