//! Splits Rust source into words and punctuation, each with its line. Comments, strings and numbers are left out.

/// A word or a punctuation character (`::` is one token).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    /// Line number, from 1.
    pub(super) line: usize,
}

/// The tokens of a file.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let (length, is_token) = match first {
            c if c.is_alphabetic() || c == '_' => match literal_prefix(rest) {
                Some(length) => (length, false),
                None => (word(rest), true),
            },
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            '/' if rest.starts_with("/*") => (block_comment(rest), false),
            '"' => (quoted(rest), false),
            '\'' => (character_or_lifetime(rest), false),
            c if c.is_ascii_digit() => (word(rest), false),
            ':' if rest.starts_with("::") => (2, true),
            c => (c.len_utf8(), !c.is_whitespace()),
        };
        let (text, after) = rest.split_at(length);
        if is_token {
            found.push(Token { text: text.strip_prefix("r#").unwrap_or(text), line });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    found
}

fn word(text: &str) -> usize {
    let start = if text.starts_with("r#") { 2 } else { 0 };
    let end = text[start..].find(|c: char| !c.is_alphanumeric() && c != '_');
    end.map_or(text.len(), |end| start + end)
}

/// Length of a string or character literal that starts with a letter (`r"..", b'x', br#".."#, c".."`).
fn literal_prefix(text: &str) -> Option<usize> {
    let prefix = text.find(|c: char| !matches!(c, 'r' | 'b' | 'c'))?;
    let after = &text[prefix..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    if text[..prefix].contains('r') && after[hashes..].starts_with('"') {
        let end = format!("\"{}", "#".repeat(hashes));
        let body = &after[hashes + 1..];
        return Some(prefix + hashes + 1 + body.find(&end).map_or(body.len(), |at| at + end.len()));
    }
    match after.chars().next()? {
        '"' if prefix <= 2 => Some(prefix + quoted(after)),
        '\'' if &text[..prefix] == "b" => Some(prefix + character_or_lifetime(after)),
        _ => None,
    }
}

fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn block_comment(text: &str) -> usize {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 {
        let (open, close) = (text[at..].find("/*"), text[at..].find("*/"));
        match (open, close) {
            (Some(open), Some(close)) if open < close => (at, depth) = (at + open + 2, depth + 1),
            (_, Some(close)) => (at, depth) = (at + close + 2, depth - 1),
            (_, None) => return text.len(),
        }
    }
    at
}

fn character_or_lifetime(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => {
            chars.next();
            text[3..].find('\'').map_or(text.len(), |end| 3 + end + 1)
        }
        Some((at, c)) if text[at + c.len_utf8()..].starts_with('\'') => at + c.len_utf8() + 1,
        _ => 1,
    }
}

#[test]
fn only_code_is_left() {
    let source = r####"
        /* a /* nested */ comment */ use r#type::x; // crate::no
        let (s, t) = ("crate::\"no", r#"crate::"no"#); let c = ['"', '\'', b'"', '\u{41}', 'a'];
        fn f<'a>(x: &'a str) -> u8 { 0x1f }"####;
    let texts: Vec<_> = tokens(source).iter().map(|token| token.text).collect();
    let expected = "use type :: x ; let ( s , t ) = ( , ) ; let c = [ , , , , ] ; \
                    fn f < a > ( x : & a str ) - > u8 { }";
    assert_eq!(texts.join(" "), expected);
    assert_eq!(tokens("a\n\"\n\"b")[1], Token { text: "b", line: 3 });
}
