//! Expressions other people wrote parse: the collected rules and the conformance suite's, where they are at hand.

use celero_frontend::{Limits, Style, parse, render};
use std::path::PathBuf;

/// The directory of shared data, or `None` with a line saying what is left out.
pub(crate) fn shared(what: &str) -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared");
    let root = std::env::var_os("CELERO_SHARED").map_or_else(|| PathBuf::from(default), PathBuf::from);
    let path = root.join(what);
    let found = path.exists().then_some(path);
    if found.is_none() {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "left out: {what} is not there (CELERO_SHARED names its directory)");
    }
    found
}

#[test]
fn collected_rules_parse() {
    let Some(path) = shared("corpora/cel_expressions.jsonl") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let mut failures = String::new();
    let mut count = 0;
    for line in text.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let source = entry["expr"].as_str().unwrap();
        count += 1;
        if let Err(diagnostics) = parse(source, &Limits::default()) {
            failures += &render(source, "rule", &diagnostics, Style::Plain);
        }
    }
    assert!(count > 0);
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn conformance_expressions_parse() {
    let Some(path) = shared("conformance/testdata") else { return };
    let mut failures = String::new();
    let mut count = 0;
    for file in std::fs::read_dir(path).unwrap() {
        let path = file.unwrap().path();
        // These use macros that exist in the suite only.
        if path.ends_with("block_ext.textproto") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines = text.lines().map(str::trim).peekable();
        while let Some(line) = lines.next() {
            let Some(mut literal) = line.strip_prefix("expr:").map(str::trim) else { continue };
            if literal.is_empty() {
                literal = lines.next().unwrap();
            }
            let mut source = unescape(literal);
            while let Some(more) = lines.next_if(|line| line.starts_with(['"', '\''])) {
                source += &unescape(more);
            }
            count += 1;
            if let Err(diagnostics) = parse(&source, &Limits::default()) {
                failures += &render(&source, &path.to_string_lossy(), &diagnostics, Style::Plain);
            }
        }
    }
    assert!(count > 1000, "{count}");
    assert!(failures.is_empty(), "{failures}");
}

/// The value of a textproto string literal.
fn unescape(literal: &str) -> String {
    let mut bytes = Vec::new();
    let literal = literal.trim_end_matches(';');
    let mut rest = literal[1..literal.len() - 1].bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let kind = rest.next().unwrap();
        let mut number = |digits: usize, radix: u32, first: u32| {
            let mut value = first;
            for _ in 0..digits {
                let Some(digit) = rest.peek().and_then(|&b| char::from(b).to_digit(radix)) else { break };
                value = value * radix + digit;
                rest.next();
            }
            value
        };
        match kind {
            b'a' => bytes.push(7),
            b'b' => bytes.push(8),
            b'f' => bytes.push(12),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'v' => bytes.push(11),
            b'x' | b'X' => bytes.push(u8::try_from(number(2, 16, 0)).unwrap()),
            b'0'..=b'7' => bytes.push(u8::try_from(number(2, 8, u32::from(kind - b'0'))).unwrap()),
            b'u' | b'U' => {
                let value = number(if kind == b'u' { 4 } else { 8 }, 16, 0);
                bytes.extend_from_slice(char::from_u32(value).unwrap().encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => bytes.push(kind),
        }
    }
    String::from_utf8(bytes).unwrap()
}
