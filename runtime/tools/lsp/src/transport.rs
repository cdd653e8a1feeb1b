//! Messages of the protocol: reads and writes JSON with a header that says its length.
//!
//! The crate `lsp-server` does this too, but ends at the first malformed message and allocates what the header says.

use serde_json::{Value as Json, json};
use std::io::{self, BufRead, Read, Write};

/// The longest message that is read, in bytes. The content of a longer one is skipped.
pub const MAX_MESSAGE: u64 = 32 << 20;

/// The longest line of a header that is kept, in bytes. The rest of the line is skipped.
const MAX_LINE: usize = 4096;

/// The code of JSON-RPC for content that is not JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// The code of JSON-RPC for a message that is no request.
pub(crate) const INVALID_REQUEST: i32 = -32600;

/// What was read.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message.
    Message(Json),
    /// Something else: the code and the text of the answer.
    Malformed(i32, String),
}

/// Reads a message. Returns `None` at the end of the input.
///
/// # Errors
/// Those of the input.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let (mut length, mut strange, mut line) = (None, None, Vec::new());
    loop {
        if !read_line(input, &mut line)? {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            match (length, strange.take()) {
                (Some(length), _) => return content(input, length).map(Some),
                (None, Some(line)) => {
                    let message = format!("expected a header `Content-Length: NUMBER`, found `{line}`");
                    return Ok(Some(Incoming::Malformed(INVALID_REQUEST, message)));
                }
                // Blank lines between messages.
                (None, None) => continue,
            }
        }
        match text.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => match value.trim().parse::<u64>() {
                Ok(number) => length = Some(number),
                Err(_) => strange = Some(excerpt(text)),
            },
            Some((name, _)) if name.eq_ignore_ascii_case("content-type") => {}
            _ => strange = Some(excerpt(text)),
        }
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Reads a line without keeping more than [`MAX_LINE`] bytes. Returns whether there was one.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut any = false;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        let room = MAX_LINE.saturating_sub(line.len());
        line.extend_from_slice(part.get(..room).unwrap_or(part));
        let read = part.len().saturating_add(usize::from(end.is_some()));
        input.consume(read);
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn content(input: &mut impl BufRead, length: u64) -> io::Result<Incoming> {
    let mut limited = input.take(length);
    if length > MAX_MESSAGE {
        io::copy(&mut limited, &mut io::sink())?;
        let message = format!("the message has {length} bytes; at most {MAX_MESSAGE} are read");
        return Ok(Incoming::Malformed(INVALID_REQUEST, message));
    }
    // The buffer grows with what arrives, whatever the header says.
    let mut bytes = Vec::new();
    limited.read_to_end(&mut bytes)?;
    Ok(match serde_json::from_slice(&bytes) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Malformed(PARSE_ERROR, format!("the message is not JSON: {error}")),
    })
}

/// Writes a message.
///
/// # Errors
/// Those of the output.
pub(crate) fn write(output: &mut impl Write, mut message: Json) -> io::Result<()> {
    if let Some(members) = message.as_object_mut() {
        members.insert("jsonrpc".to_owned(), json!("2.0"));
    }
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        while let Some(incoming) = read(&mut input).unwrap() {
            found.push(match incoming {
                Incoming::Message(json) => json.to_string(),
                Incoming::Malformed(code, message) => format!("{code} {message}"),
            });
        }
        found
    }

    #[test]
    fn messages_follow_malformed_ones() {
        let input = b"Content-Length: 2\r\n\r\n{}\r\nnonsense\r\n\r\nContent-Length: 1\r\n\r\n{content-length:3\n\n[1]";
        let found = all(input);
        assert_eq!(found[0], "{}");
        assert_eq!(found[1], "-32600 expected a header `Content-Length: NUMBER`, found `nonsense`");
        assert!(found[2].starts_with("-32700 the message is not JSON"), "{found:?}");
        assert_eq!((&*found[3], found.len()), ("[1]", 4));
    }

    #[test]
    fn deep_nesting_and_lying_headers_are_errors() {
        let deep = "[".repeat(100_000);
        let input = format!("Content-Length: {}\r\n\r\n{deep}Content-Length: 99999999999999\r\n\r\n{{}}", deep.len());
        let found = all(input.as_bytes());
        assert!(found[0].contains("recursion limit"), "{found:?}");
        assert!(found[1].contains("99999999999999 bytes; at most 33554432"), "{found:?}");
        let long = format!("{}\r\n\r\nContent-Length: 2\r\n\r\n{{}}", "x".repeat(1 << 20));
        assert_eq!(all(long.as_bytes()).len(), 2);
    }
}
