//! Files of requests: HTTP/1.1 as text, separated by lines that start with `###`; or JSON, one object per line: `{"method": "GET", "uri": "/", "headers": {"host": "a"}, "body": ""}`.

use crate::http_request;
use http::{HeaderName, HeaderValue, Method, Request, Uri, Version};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The requests of a file.
#[derive(Debug, Default)]
pub(crate) struct RecordedRequests {
    pub(crate) requests: Vec<Request<Vec<u8>>>,
    /// The errors of requests that are left out.
    pub(crate) left_out: Vec<String>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    method: Option<String>,
    uri: String,
    #[serde(default)]
    headers: BTreeMap<String, Values>,
    #[serde(default)]
    body: String,
    #[serde(default)]
    version: Option<String>,
}

/// The values of a header.
#[derive(Deserialize)]
#[serde(untagged)]
enum Values {
    One(String),
    Several(Vec<String>),
}

/// Reads the requests of a file. Invalid HTTP requests in JSON are left out and reported: recorded traffic may contain some, and a
/// proxy rejects them before its rules run.
///
/// # Errors
/// Returns a message with the line, or with the number of the request, counted from 1.
pub(crate) fn parse(text: &[u8]) -> Result<RecordedRequests, String> {
    let RecordedRequests { mut requests, mut left_out } = RecordedRequests::default();
    if text.trim_ascii_start().starts_with(b"{") {
        let lines = text.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
        for (at, line) in lines {
            let place = |why: String| format!("line {}: {why}", at.saturating_add(1));
            let line: Line = serde_json::from_slice(line).map_err(|error| place(format!("not a request: {error}")))?;
            match line.request() {
                Ok(request) => requests.push(request),
                Err(why) => left_out.push(place(why)),
            }
        }
    } else {
        requests = texts(text)?;
    }
    if requests.is_empty() {
        return Err(left_out.into_iter().next().unwrap_or_else(|| "the file has no request".to_owned()));
    }
    Ok(RecordedRequests { requests, left_out })
}

fn texts(text: &[u8]) -> Result<Vec<Request<Vec<u8>>>, String> {
    let mut parts: Vec<Vec<u8>> = vec![Vec::new()];
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"###") {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.extend_from_slice(line);
        }
    }
    let parts = parts.iter().filter(|part| !part.trim_ascii().is_empty());
    parts
        .enumerate()
        .map(|(at, part)| {
            http_request::parse(part.trim_ascii_start())
                .map_err(|why| format!("request {}: {why}", at.saturating_add(1)))
        })
        .collect()
}

impl Line {
    fn request(self) -> Result<Request<Vec<u8>>, String> {
        let line = self;
        let mut request = Request::new(line.body.into_bytes());
        if let Some(method) = line.method {
            *request.method_mut() =
                Method::from_bytes(method.as_bytes()).map_err(|e| format!("method `{method}`: {e}"))?;
        }
        *request.uri_mut() = line.uri.parse::<Uri>().map_err(|e| format!("uri `{}`: {e}", line.uri))?;
        if line.version.as_deref() == Some("HTTP/1.0") {
            *request.version_mut() = Version::HTTP_10;
        }
        for (name, values) in line.headers {
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|e| format!("header `{name}`: {e}"))?;
            let values = match values {
                Values::One(value) => vec![value],
                Values::Several(values) => values,
            };
            for value in values {
                let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|e| format!("header `{name}`: {e}"))?;
                request.headers_mut().append(header.clone(), value);
            }
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_lines_are_read() {
        let text = b"GET /a HTTP/1.1\nhost: x\n\n### second\n\nPOST /b HTTP/1.1\n\nbody\n###\n";
        let json = br#"{"uri": "/a", "headers": {"Host": "x"}, "other": [1]}

            {"method": "POST", "uri": "/b", "headers": {"x": ["1", "2"]}, "body": "body\n"}"#;
        for requests in [parse(text).unwrap().requests, parse(json).unwrap().requests] {
            let [first, second] = &requests[..] else { panic!("{requests:?}") };
            assert_eq!(
                (first.method(), first.uri().path(), &first.headers()["host"]),
                (&Method::GET, "/a", &"x".parse().unwrap())
            );
            assert_eq!(
                (second.method(), second.uri().path(), &second.body()[..]),
                (&Method::POST, "/b", &b"body\n"[..])
            );
        }
        assert_eq!(parse(json).unwrap().requests[1].headers().get_all("x").iter().count(), 2);
    }

    #[test]
    fn what_http_does_not_allow_is_left_out() {
        let RecordedRequests { requests, left_out } = parse(b"{\"uri\": \"a b\"}\n{\"uri\": \"/\"}\n").unwrap();
        assert_eq!((requests.len(), left_out.len()), (1, 1));
        assert!(left_out[0].starts_with("line 1: uri `a b`: "), "{left_out:?}");
    }

    #[test]
    fn what_is_no_request_is_placed() {
        for (text, why) in [
            (&b""[..], "the file has no request"),
            (b"GET / HTTP/1.1\n\n###\nGET\n", "request 2: "),
            (b"{\"uri\": \"/\"}\n{\"method\": 1}\n", "line 2: not a request: "),
            (b"{\"uri\": \"a b\"}", "line 1: uri `a b`: "),
            (b"{\"uri\": \"/\", \"headers\": {\"a b\": \"\"}}", "line 1: header `a b`: "),
        ] {
            assert!(parse(text).unwrap_err().starts_with(why), "{why}");
        }
    }
}
