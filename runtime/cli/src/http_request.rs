//! Parses an HTTP/1.1 request from text.

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, Version};

/// The largest number of header lines.
const MAX_HEADERS: usize = 256;

/// Parses a request: head, empty line, body. Lines may end in `\n` only, and the last empty line is optional.
///
/// # Errors
/// Returns a message for text that is not an HTTP/1.1 request.
pub(crate) fn parse(text: &[u8]) -> Result<http::Request<Vec<u8>>, String> {
    let (head, body) = split(text);
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(&head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err("the request ends in the middle of its head".into()),
        Err(httparse::Error::TooManyHeaders) => return Err(format!("more than {MAX_HEADERS} header lines")),
        Err(error) => return Err(format!("not an HTTP/1.1 request: {error}")),
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
    *request.uri_mut() = target.parse::<Uri>().map_err(|e| format!("target `{target}`: {e}"))?;
    *request.version_mut() = if parsed.version == Some(0) { Version::HTTP_10 } else { Version::HTTP_11 };
    *request.headers_mut() = map;
    Ok(request)
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
        assert!(parse(many.as_bytes()).unwrap_err().contains("256"));
    }
}
