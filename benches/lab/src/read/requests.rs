//! Recorded requests, in a form that another process can be given.

use celero_tooling::requests;
use celero_tooling::requests::message::parse_target;
use celero_tooling::requests::recorded::{RecordedRequest, RecordedRequests};
use http::{HeaderName, HeaderValue, Method, Version};
use serde::{Deserialize, Serialize};
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

impl From<RecordedRequest> for Request {
    fn from(RecordedRequest { message, source }: RecordedRequest) -> Self {
        let headers = message.headers().iter();
        Self {
            method: message.method().to_string(),
            target: message.uri().to_string(),
            version: format!("{:?}", message.version()),
            headers: headers.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect(),
            body: message.into_body(),
            source,
        }
    }
}

/// Reads the requests of a file, as `celero bench --requests` does, and how many are left out
/// because HTTP does not allow them.
///
/// # Errors
/// The file can't be read, a part of it is no request, or there is no valid request: its name, the line, and why.
pub fn requests(path: &Path) -> Result<(Vec<Request>, usize), String> {
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let RecordedRequests { requests, left_out } = requests::recorded::parse(&name, text)?;
    Ok((requests.into_iter().map(Request::from).collect(), left_out.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_the_same_after_they_were_written() {
        let text = br#"{"method": "POST", "uri": "/a?b", "headers": {"host": "x", "n": ["1", "2"]}, "body": "b", "source": "192.0.2.1:7"}
            {"uri": "/", "version": "HTTP/2"}"#;
        let recorded = requests::recorded::parse("f", text).unwrap().requests;
        for RecordedRequest { message, source } in recorded {
            let request = Request::from(RecordedRequest { message: message.clone(), source });
            let written = serde_json::to_string(&request).unwrap();
            let request: Request = serde_json::from_str(&written).unwrap();
            let read = request.message().unwrap();
            assert_eq!(
                (read.method(), read.uri(), read.version()),
                (message.method(), message.uri(), message.version())
            );
            assert_eq!((read.headers(), read.body(), request.source), (message.headers(), message.body(), source));
        }
    }
}
