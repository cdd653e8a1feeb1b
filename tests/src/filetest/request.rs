//! Requests as file tests write them: a request line, headers, and after an empty line the body.

use http::{HeaderName, HeaderValue, Request, Version};

/// A request and, if there was an empty line, its body.
pub(super) fn parse(text: &str) -> Result<(Request<()>, Option<Vec<u8>>), String> {
    let (head, body) = match text.split_once("\n\n") {
        Some((head, body)) => (head, Some(unescape(body)?)),
        None => (text, None),
    };
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let [method, target, version] = first.split(' ').collect::<Vec<_>>().try_into().map_err(|_| bad(first))?;
    let version = match version {
        "HTTP/1.0" => Version::HTTP_10,
        "HTTP/1.1" => Version::HTTP_11,
        "HTTP/2.0" => Version::HTTP_2,
        _ => return Err(bad(first)),
    };
    let builder = Request::builder().method(method).uri(target).version(version);
    let mut request = builder.body(()).map_err(|e| format!("`{first}`: {e}"))?;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or_else(|| bad(line))?;
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| format!("`{line}`: {e}"))?;
        let value = HeaderValue::from_bytes(&unescape(value.trim())?).map_err(|e| format!("`{line}`: {e}"))?;
        request.headers_mut().append(name, value);
    }
    Ok((request, body))
}

fn bad(line: &str) -> String {
    format!("`{line}` is no line of a request")
}

/// The bytes of a text in which `\xff` stands for a byte.
pub(crate) fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut pieces = text.split("\\x");
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).ok_or_else(|| format!("`\\x{piece}` has no two digits"))?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|e| format!("`\\x{digits}`: {e}"))?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Ok(bytes)
}
