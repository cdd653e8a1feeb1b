//! Counts the lines of a head while its bytes arrive, without copying them.

use crate::config::Limits;
use http::StatusCode;
use memchr::{memchr, memchr_iter};

/// Maximum number of empty lines before a request. A server ignores at least one (RFC 9112, section 2.2).
const MAX_BLANK_LINES: usize = 10;

/// What is known of a head whose bytes are arriving.
#[derive(Debug, Default)]
pub(super) struct HeadScan {
    /// Empty lines before the request line.
    blank: usize,
    /// Lines that are complete, the request line among them.
    lines: usize,
    /// Bytes of the current line, without a carriage return before its end.
    line: usize,
    /// Bytes of the request line.
    request_line: usize,
    /// Bytes of the head so far.
    size: usize,
    /// Whether the empty line that ends the head has arrived.
    ended: bool,
    /// Whether bytes arrived after the end of the head.
    surplus: bool,
}

impl HeadScan {
    /// Takes the next bytes of the connection. Cost: one step for each line of the head, and a search of its bytes.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.ended {
                self.surplus = true;
                return;
            }
            let end = memchr(b'\n', bytes);
            let (line, rest) = end.and_then(|end| bytes.split_at_checked(end)).unwrap_or((bytes, &[]));
            let returns = memchr_iter(b'\r', line).count();
            self.line = self.line.saturating_add(line.len().saturating_sub(returns));
            if self.lines == 0 {
                self.request_line = self.line;
            }
            self.size = self.size.saturating_add(line.len());
            bytes = rest.get(1..).unwrap_or_default();
            if end.is_none() {
                return;
            }
            self.size = self.size.saturating_add(1);
            if self.line == 0 {
                self.ended = self.lines > 0;
                self.blank = self.blank.saturating_add(usize::from(!self.ended));
                if self.blank > MAX_BLANK_LINES {
                    return;
                }
            } else {
                self.lines = self.lines.saturating_add(1);
                self.line = 0;
            }
        }
    }

    /// Returns the status that refuses the head: 400 for empty lines before it, 414 for its request
    /// line, 431 for its size and the number of its header lines.
    pub(super) fn refusal(&self, limits: &Limits) -> Option<StatusCode> {
        if self.blank > MAX_BLANK_LINES {
            return Some(StatusCode::BAD_REQUEST);
        }
        if self.request_line > limits.request_line {
            return Some(StatusCode::URI_TOO_LONG);
        }
        let large = self.size > limits.head || self.lines > limits.headers.saturating_add(1);
        large.then_some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
    }

    /// Returns whether the next bytes are certainly the start of the next head: nothing that
    /// arrived belongs to it already.
    pub(super) fn exact_end(&self) -> bool {
        self.ended && !self.surplus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(pieces: &[&str]) -> HeadScan {
        let mut scan = HeadScan::default();
        pieces.iter().for_each(|piece| scan.take(piece.as_bytes()));
        scan
    }

    #[test]
    fn a_head_ends_with_an_empty_line() {
        for head in ["GET / HTTP/1.1\r\nhost: a\r\n\r\n", "\r\n\nGET / HTTP/1.1\nhost: a\n\n"] {
            let whole = scan(&[head]);
            assert!(whole.exact_end());
            assert_eq!((whole.lines, whole.request_line), (2, 14));
            let bytes: Vec<String> = head.chars().map(String::from).collect();
            assert!(scan(&bytes.iter().map(String::as_str).collect::<Vec<_>>()).exact_end());
            assert!(!scan(&[head, "x"]).exact_end());
            assert!(!scan(&[&format!("{head}x")]).exact_end());
            assert!(!scan(&[head.strip_suffix('\n').unwrap()]).exact_end());
        }
    }

    #[test]
    fn few_lines_before_a_head_are_ignored() {
        for line in ["\n", "\r\n"] {
            let blank = line.repeat(MAX_BLANK_LINES);
            let whole = scan(&[&blank, "GET / HTTP/1.1\r\nhost: a\r\n\r\n"]);
            assert!(whole.exact_end() && whole.refusal(&Limits::default()).is_none());
            assert_eq!(scan(&[&blank]).refusal(&Limits::default()), None);
            assert_eq!(scan(&[&blank, line, "GET / HT"]).refusal(&Limits::default()), Some(StatusCode::BAD_REQUEST));
        }
    }

    #[test]
    fn lines_are_counted_within_the_head_only() {
        let limits = Limits { headers: 2, request_line: 20, ..Limits::default() };
        assert_eq!(scan(&["GET / HTTP/1.1\r\na: b\r\nc: d\r\n\r\n1\n2\n3\n4\n"]).refusal(&limits), None);
        let many = scan(&["GET / HTTP/1.1\r\na: b\r\nc: d\r\ne: f\r\n"]);
        assert_eq!(many.refusal(&limits), Some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
        assert_eq!(scan(&["GET /0123456789012345"]).refusal(&limits), Some(StatusCode::URI_TOO_LONG));
        let limits = Limits { head: 40, ..Limits::default() };
        assert_eq!(scan(&["GET / HTTP/1.1\r\na: b\r\n\r\n0123456789012345678901234567890"]).refusal(&limits), None);
        let large = scan(&["GET / HTTP/1.1\r\na: 0123456789012345678901234567890"]);
        assert_eq!(large.refusal(&limits), Some(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
    }
}
