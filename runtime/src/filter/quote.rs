//! Byte strings and patterns as literals of the filter language.

/// A quoted string.
pub(super) fn quoted(bytes: &[u8]) -> String {
    let mut literal = "\"".to_owned();
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' | '\\' => literal.extend(['\\', letter]),
                _ if letter.is_control() => {
                    let mut buffer = [0; 4];
                    literal.extend(letter.encode_utf8(&mut buffer).bytes().map(escaped));
                }
                _ => literal.push(letter),
            }
        }
        literal.extend(chunk.invalid().iter().copied().map(escaped));
    }
    literal.push('"');
    literal
}

fn escaped(byte: u8) -> String {
    format!("\\x{byte:02X}")
}

/// A raw string: a pattern is written as it is, because its escapes are its own.
pub(super) fn raw(pattern: &str) -> String {
    let most = pattern.match_indices('"').map(|(at, _)| {
        let behind = pattern.get(at.saturating_add(1)..).unwrap_or_default();
        behind.len().saturating_sub(behind.trim_start_matches('#').len()).saturating_add(1)
    });
    let hashes = "#".repeat(most.max().unwrap_or(0));
    format!("r{hashes}\"{pattern}\"{hashes}")
}
