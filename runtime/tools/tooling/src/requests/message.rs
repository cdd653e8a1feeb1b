//! Parses an HTTP/1.1 request from text.

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, Version};

/// The largest number of header lines.
const MAX_HEADERS: usize = 256;

/// The longest part of a line that a message quotes, in characters.
const QUOTED_CHARACTERS: usize = 40;

/// What is wrong with a request, and in which of its lines, counted from 0.
#[derive(Debug)]
pub struct NotARequest {
    /// The line, from 0.
    pub line: usize,
    /// What is wrong, for people.
    pub why: String,
}

impl From<String> for NotARequest {
    fn from(why: String) -> Self {
        Self { line: 0, why }
    }
}

/// Parses a request: head, empty line, body. Lines may end in `\n` only, and the last empty line is optional.
///
/// # Errors
/// Returns the line and a message for text that is not an HTTP/1.1 request.
pub fn parse(text: &[u8]) -> Result<http::Request<Vec<u8>>, NotARequest> {
    let (head, body) = split(text);
    check_lines(&head)?;
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(&head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err("the request ends in the middle of its head".to_owned().into()),
        Err(httparse::Error::TooManyHeaders) => return Err(format!("more than {MAX_HEADERS} header lines").into()),
        Err(error) => return Err(format!("not an HTTP/1.1 request: {error}").into()),
    }
    let mut map = HeaderMap::new();
    for header in parsed.headers.iter() {
        let name =
            HeaderName::from_bytes(header.name.as_bytes()).map_err(|e| format!("header `{}`: {e}", header.name))?;
        let value = HeaderValue::from_bytes(header.value).map_err(|e| format!("header `{name}`: {e}"))?;
        map.append(name, value);
    }
    let method = parsed.method.unwrap_or_default();
    let target = parsed.path.unwrap_or_default();
    let mut request = http::Request::new(body);
    *request.method_mut() = Method::from_bytes(method.as_bytes()).map_err(|e| format!("method `{method}`: {e}"))?;
    *request.uri_mut() = parse_target(target, request.method()).map_err(|why| format!("target `{target}`: {why}"))?;
    *request.version_mut() = if parsed.version == Some(0) { Version::HTTP_10 } else { Version::HTTP_11 };
    *request.headers_mut() = map;
    Ok(request)
}

/// Reads the target of a request. Only CONNECT has one that is neither a path nor a URL.
///
/// # Errors
/// Why it is not a target.
pub fn parse_target(text: &str, method: &Method) -> Result<Uri, String> {
    let uri = text.parse::<Uri>().map_err(|error| error.to_string())?;
    if uri.scheme().is_none() && uri.authority().is_some() && *method != Method::CONNECT {
        return Err("a path starts with `/`, a URL with `http://` or `https://`".to_owned());
    }
    Ok(uri)
}

/// Refuses the mistakes that people make in the lines of a head.
fn check_lines(head: &[u8]) -> Result<(), NotARequest> {
    for (line, text) in head.split(|byte| *byte == b'\n').enumerate() {
        let text = String::from_utf8_lossy(text);
        let text = text.trim_end();
        let expected = match line {
            0 if text.split_whitespace().count() != 3 => "`METHOD TARGET VERSION`, as in `GET / HTTP/1.1`",
            1.. if !text.is_empty() && !text.contains(':') => "a header, `NAME: VALUE`",
            _ => continue,
        };
        let shown: String = text.chars().take(QUOTED_CHARACTERS).flat_map(char::escape_debug).collect();
        return Err(NotARequest { line, why: format!("expected {expected}, found `{shown}`") });
    }
    Ok(())
}

/// Returns the head, with `\r\n` line ends, and the body.
fn split(text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut head = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |i| i.saturating_add(1));
        let (line, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        rest = after;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        head.extend_from_slice(line);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    (head, rest.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let request = parse(b"POST /a?b=c HTTP/1.1\nHost: x\r\nX-A: 1\nX-A: 2\n\nbody\n").unwrap();
        assert_eq!(request.method(), Method::POST);
        assert_eq!(request.uri().path(), "/a");
        assert_eq!(request.headers().get_all("x-a").iter().count(), 2);
        assert_eq!(request.body(), b"body\n");
        assert_eq!(parse(b"GET / HTTP/1.0").unwrap().version(), Version::HTTP_10);
    }

    #[test]
    fn what_is_no_request_is_named() {
        for text in [&b""[..], b"GET", b"GET / HTTP/1.1\nbad header\n\n", b"GET / HTTP/9\n\n", b"\xff / HTTP/1.1\n\n"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        let many = format!("GET / HTTP/1.1\n{}\n", "a: b\n".repeat(300));
        assert!(parse(many.as_bytes()).unwrap_err().why.contains("256"));
        for (text, line, why) in [
            ("GET /a", 0, "expected `METHOD TARGET VERSION`, as in `GET / HTTP/1.1`, found `GET /a`"),
            ("GET / HTTP/1.1\na: b\nHost x\n", 2, "expected a header, `NAME: VALUE`, found `Host x`"),
            ("GET a HTTP/1.1", 0, "target `a`: a path starts with `/`, a URL with `http://` or `https://`"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert_eq!((error.line, &*error.why), (line, why));
        }
        assert!(parse(b"CONNECT a.example:443 HTTP/1.1").is_ok());
    }
}
