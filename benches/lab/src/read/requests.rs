//! Recorded requests, in the forms that `celero bench --requests` reads: HTTP/1.1 as text, separated by lines that start with `###`; or JSON, one
//! object on each line: `{"method": "GET", "uri": "/", "headers": {"host": "a"}, "body": ""}`.

use super::json_error;
use celero_tooling::address::address;
use celero_tooling::http_request::{self, parse_target};
use http::{HeaderName, HeaderValue, Method, Version};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

/// A request, in a form that the process that counts instructions can be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    method: String,
    target: String,
    version: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    /// The address of the client, if the file says it.
    pub source: Option<SocketAddr>,
}

impl Default for Request {
    /// `GET / HTTP/1.1`.
    fn default() -> Self {
        Self {
            method: "GET".to_owned(),
            target: "/".to_owned(),
            version: "HTTP/1.1".to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            source: None,
        }
    }
}

impl Request {
    /// Returns the request as the `http` crate has it.
    ///
    /// # Errors
    /// Why HTTP does not allow it.
    pub fn message(&self) -> Result<http::Request<Vec<u8>>, String> {
        let mut message = http::Request::new(self.body.clone());
        let method = Method::from_bytes(self.method.as_bytes());
        *message.method_mut() = method.map_err(|error| format!("method `{}`: {error}", self.method))?;
        let target = parse_target(&self.target, message.method());
        *message.uri_mut() = target.map_err(|why| format!("uri `{}`: {why}", self.target))?;
        *message.version_mut() = match &*self.version {
            "HTTP/1.0" => Version::HTTP_10,
            "HTTP/1.1" => Version::HTTP_11,
            "HTTP/2" | "HTTP/2.0" => Version::HTTP_2,
            "HTTP/3" | "HTTP/3.0" => Version::HTTP_3,
            other => return Err(format!("version `{other}`: expected `HTTP/1.0`, `HTTP/1.1`, `HTTP/2` or `HTTP/3`")),
        };
        for (name, value) in &self.headers {
            let wrong = |error: &dyn std::fmt::Display| format!("header `{name}`: {error}");
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|error| wrong(&error))?;
            message.headers_mut().append(header, HeaderValue::from_bytes(value).map_err(|error| wrong(&error))?);
        }
        Ok(message)
    }
}

impl From<http::Request<Vec<u8>>> for Request {
    fn from(message: http::Request<Vec<u8>>) -> Self {
        let headers = message.headers().iter();
        Self {
            method: message.method().to_string(),
            target: message.uri().to_string(),
            version: format!("{:?}", message.version()),
            headers: headers.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect(),
            body: message.into_body(),
            source: None,
        }
    }
}

/// A request as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    method: Option<String>,
    uri: String,
    #[serde(default)]
    headers: BTreeMap<String, Values>,
    #[serde(default)]
    body: String,
    version: Option<String>,
    source: Option<String>,
}

/// The values of a header.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts as a header")]
enum Values {
    One(String),
    Several(Vec<String>),
}

impl Line {
    fn request(self) -> Result<Request, String> {
        let Request { method, version, .. } = Request::default();
        let headers = self.headers.into_iter().flat_map(|(name, values)| {
            let values = match values {
                Values::One(value) => vec![value],
                Values::Several(values) => values,
            };
            values.into_iter().map(move |value| (name.clone(), value.into_bytes()))
        });
        Ok(Request {
            method: self.method.unwrap_or(method),
            target: self.uri,
            version: self.version.unwrap_or(version),
            headers: headers.collect(),
            body: self.body.into_bytes(),
            source: self.source.as_deref().map(address).transpose().map_err(|why| format!("`source`: {why}"))?,
        })
    }
}

/// Reads the requests of a file, and how many are left out because HTTP does not allow them.
///
/// # Errors
/// The file can't be read, a part of it is no request, or there is no valid request: its name, the line, and why.
pub fn requests(path: &Path) -> Result<(Vec<Request>, usize), String> {
    let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let found = if text.trim_ascii_start().starts_with(b"{") { lines(text) } else { texts(text) };
    let found = found.map_err(|why| format!("{}:{why}", path.display()))?;
    let count = found.len();
    let valid: Vec<Request> = found.into_iter().filter(|request| request.message().is_ok()).collect();
    if valid.is_empty() {
        return Err(format!("{}: the file has no valid request", path.display()));
    }
    let left_out = count - valid.len();
    Ok((valid, left_out))
}

fn lines(text: &[u8]) -> Result<Vec<Request>, String> {
    let lines = (1_usize..).zip(text.split(|byte| *byte == b'\n'));
    let request = |(number, line): (usize, &[u8])| {
        let line: Line = serde_json::from_slice(line).map_err(|error| json_error(number, &error))?;
        line.request().map_err(|why| format!("{number}: {why}"))
    };
    lines.filter(|(_, line)| !line.trim_ascii().is_empty()).map(request).collect()
}

fn texts(text: &[u8]) -> Result<Vec<Request>, String> {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let mut requests = Vec::new();
    let mut end = 0;
    for part in lines.split(|line| line.starts_with(b"###")) {
        end += part.len() + 1;
        let blank = |line: &&&[u8]| line.trim_ascii().is_empty();
        let part: Vec<&[u8]> = part.iter().skip_while(blank).copied().collect();
        if part.is_empty() {
            continue;
        }
        let message = http_request::parse(part.concat().trim_ascii_start());
        let message = message.map_err(|error| format!("{}: {}", end - part.len() + error.line, error.why))?;
        requests.push(Request::from(message));
    }
    Ok(requests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_texts_give_the_same() {
        let json = lines(
            br#"{"method": "POST", "uri": "/a", "headers": {"host": "x", "n": ["1", "2"]}, "body": "b"}

            {"uri": "/", "version": "HTTP/1.0", "headers": {}}"#,
        )
        .unwrap();
        let text = b"### first\n\nPOST /a HTTP/1.1\nhost: x\nn: 1\r\nn: 2\n\nb\n###\nGET / HTTP/1.0\n";
        let mut text = texts(text).unwrap();
        assert_eq!(text[0].body, b"b\n");
        text[0].body.pop();
        assert_eq!(json, text);
        let message = json[0].message().unwrap();
        assert_eq!(
            (&message.headers()["host"], message.headers().get_all("n").iter().count()),
            (&"x".parse().unwrap(), 2)
        );
        let sent = lines(br#"{"uri": "/", "source": "192.0.2.1:7"}"#).unwrap();
        assert_eq!(sent[0].source, Some("192.0.2.1:7".parse().unwrap()));
    }

    #[test]
    fn what_is_no_request_is_placed() {
        for (text, why) in [
            ("\n{}", "2:2: missing field `uri`"),
            ("{\"uri\": \"/\", \"id\": 3}", "1:17: unknown field `id`, expected one of `method`, `uri`, "),
            ("{\"uri\": \"/\", \"headers\": {\"a\": 1}}", "1:32: expected a text or a list of texts as a header"),
            ("{\"uri\": \"/\", \"source\": \"192.0.2.1\"}", "1: `source`: expected an address and a port"),
        ] {
            let found = lines(text.as_bytes()).unwrap_err();
            assert!(found.starts_with(why), "{found}");
        }
        for (text, why) in [
            ("GET", "1: expected `METHOD TARGET VERSION`"),
            ("GET / HTTP/1.1\n\n###\n\nGET / HTTP/1.1\nhost\n", "6: expected a header, `NAME: VALUE`, found `host`"),
        ] {
            let found = texts(text.as_bytes()).unwrap_err();
            assert!(found.starts_with(why), "{found}");
        }
        let invalid = lines(br#"{"uri": "a"}"#).unwrap();
        assert!(invalid[0].message().unwrap_err().starts_with("uri `a`: a path starts with `/`"));
    }
}
