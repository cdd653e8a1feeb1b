//! Recorded requests: JSON, one object on each line (`{"method": "GET", "uri": "/", "headers": {"host": "a"}, "body": ""}`), or HTTP/1.1 as
//! text, separated by lines that start with `###`.

use super::text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A request. Other members of a line are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// `GET` if it is left out.
    #[serde(default = "get")]
    pub method: String,
    /// The target, a path or a whole URI.
    pub uri: String,
    /// By name; a header that is sent several times is not told apart from one value.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body, if any.
    #[serde(default)]
    pub body: String,
}

fn get() -> String {
    "GET".to_owned()
}

impl Request {
    /// Returns the request as the `http` crate has it; `None` if HTTP does not allow it.
    #[must_use]
    pub fn message(&self) -> Option<http::Request<Vec<u8>>> {
        let mut builder = http::Request::builder().method(&*self.method).uri(&*self.uri);
        for (name, value) in &self.headers {
            builder = builder.header(name, value);
        }
        builder.body(self.body.clone().into_bytes()).ok()
    }
}

/// Reads the requests of a file, and how many are left out because HTTP does not allow them.
///
/// # Errors
/// The file can't be read, or a line is no request: its name, the line, and why.
pub fn requests(path: &Path) -> Result<(Vec<Request>, usize), String> {
    let text = text(path)?;
    let found = if text.trim_start().starts_with('{') { lines(&text) } else { texts(&text) };
    let found = found.map_err(|why| format!("{}:{why}", path.display()))?;
    let count = found.len();
    let valid: Vec<Request> = found.into_iter().filter(|request| request.message().is_some()).collect();
    let left_out = count - valid.len();
    Ok((valid, left_out))
}

fn lines(text: &str) -> Result<Vec<Request>, String> {
    let lines = (1_usize..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| serde_json::from_str(line).map_err(|error| format!("{number}: {error}"))).collect()
}

fn texts(text: &str) -> Result<Vec<Request>, String> {
    let mut parts: Vec<(usize, String)> = vec![(1, String::new())];
    for (number, line) in (1_usize..).zip(text.split_inclusive('\n')) {
        match parts.last_mut() {
            Some((_, part)) if !line.starts_with("###") => part.push_str(line),
            _ => parts.push((number + 1, String::new())),
        }
    }
    let parts = parts.iter().filter(|(_, part)| !part.trim().is_empty());
    parts.map(|(number, part)| one(part.trim_start()).map_err(|why| format!("{number}: {why}"))).collect()
}

fn one(text: &str) -> Result<Request, String> {
    // Line ends may be those of text files.
    let (head, body) = text
        .replace("\r\n", "\n")
        .split_once("\n\n")
        .map_or((text.to_owned(), String::new()), |(head, body)| (head.to_owned(), body.to_owned()));
    let head = head.trim_end().replace("\r\n", "\n").replace('\n', "\r\n") + "\r\n\r\n";
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut parsed = httparse::Request::new(&mut headers);
    parsed.parse(head.as_bytes()).map_err(|error| format!("not an HTTP request: {error}"))?;
    let headers = parsed.headers.iter();
    Ok(Request {
        method: parsed.method.unwrap_or("GET").to_owned(),
        uri: parsed.path.unwrap_or("/").to_owned(),
        headers: headers.map(|h| (h.name.to_owned(), String::from_utf8_lossy(h.value).into_owned())).collect(),
        body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_texts_give_the_same() {
        let json = lines(
            "{\"method\": \"POST\", \"uri\": \"/a\", \"headers\": {\"Host\": \"x\"}, \"body\": \"b\", \"id\": 3}\n",
        )
        .unwrap();
        let text = texts("### first\nPOST /a HTTP/1.1\nHost: x\n\nb").unwrap();
        assert_eq!(json, text);
        assert_eq!(json[0].message().unwrap().headers()["host"], "x");
        assert!(lines("{}").unwrap_err().starts_with("1: missing field `uri`"));
        assert!(texts("GET").is_err());
    }
}
