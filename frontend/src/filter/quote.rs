//! Byte strings and patterns as literals of the filter language.

use crate::render::is_hidden;
use std::fmt::Write as _;

/// Returns a quoted string. Bytes that are no text, and characters that do not print as they are, are escaped.
#[must_use]
pub fn quoted_bytes(value: &[u8]) -> String {
    let mut text = String::from("\"");
    let escape = |text: &mut String, bytes: &[u8]| {
        for byte in bytes {
            let _ = write!(text, "\\x{byte:02X}");
        }
    };
    for chunk in value.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                c if is_hidden(c) => escape(&mut text, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => text.push(c),
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text.push('"');
    text
}

/// Returns a raw string with as few hashes as it needs: what is in it is written as it is.
#[must_use]
pub fn raw_string(value: &str) -> String {
    let mut most = None;
    for (at, _) in value.match_indices('"') {
        let behind = value.get(at.saturating_add(1)..).unwrap_or("");
        let hashes = behind.len().saturating_sub(behind.trim_start_matches('#').len());
        most = most.max(Some(hashes));
    }
    let hashes = "#".repeat(most.map_or(0, |hashes| hashes.saturating_add(1)));
    format!("r{hashes}\"{value}\"{hashes}")
}
