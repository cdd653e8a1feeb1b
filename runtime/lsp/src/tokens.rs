//! Words of an expression that need not be valid: what completion, signatures and colours work on while somebody types.
//!
//! The front ends read valid text; these words only tell names, texts, numbers and comments apart.

use celero_tooling::language::Language;
use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or a keyword.
    Name,
    /// A number, an address or what looks like one.
    Number,
    /// A string or bytes literal. `closed`: whether its last quote is there.
    Text { closed: bool },
    /// A comment.
    Comment,
    /// One character.
    Symbol(char),
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) range: Range<usize>,
}

impl Token {
    /// Returns whether the token is this character.
    pub(crate) fn is(&self, symbol: char) -> bool {
        self.kind == TokenKind::Symbol(symbol)
    }

    /// Returns the token's text.
    pub(crate) fn text<'s>(&self, source: &'s str) -> &'s str {
        source.get(self.range.clone()).unwrap_or_default()
    }
}

/// Splits a source into tokens. Takes time linear in the source.
pub(crate) fn tokens(source: &str, language: Language) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(character) = source.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = source.get(at..).unwrap_or_default();
        let (kind, length) = if character.is_whitespace() {
            at = at.saturating_add(character.len_utf8());
            continue;
        } else if let Some((length, closed)) = text(rest, language) {
            (TokenKind::Text { closed }, length)
        } else if language == Language::Cel && rest.starts_with("//") {
            (TokenKind::Comment, rest.find('\n').unwrap_or(rest.len()))
        } else if character.is_alphanumeric() || character == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (if character.is_ascii_digit() { TokenKind::Number } else { TokenKind::Name }, length)
        } else {
            (TokenKind::Symbol(character), character.len_utf8())
        };
        let end = at.saturating_add(length.max(1));
        found.push(Token { kind, range: at..end });
        at = end;
    }
    found
}

/// Returns the length of the text literal at the start of a source, and whether it is closed.
fn text(rest: &str, language: Language) -> Option<(usize, bool)> {
    match language {
        Language::Cel => cel_text(rest),
        Language::Filter => filter_text(rest),
    }
}

fn cel_text(rest: &str) -> Option<(usize, bool)> {
    // At most two letters stand before the quote: looking further would take time quadratic in the source.
    let prefix = rest.bytes().take(3).position(|byte| matches!(byte, b'"' | b'\''))?;
    let letters = rest.get(..prefix)?;
    if !letters.chars().all(|c| matches!(c, 'r' | 'R' | 'b' | 'B')) {
        return None;
    }
    let raw = letters.contains(['r', 'R']);
    let body = rest.get(prefix..)?;
    let quote = body.get(..1)?;
    let long = quote.repeat(3);
    let mark = if body.starts_with(&long) { &*long } else { quote };
    let mut at = mark.len();
    while let Some(character) = body.get(at..).and_then(|rest| rest.chars().next()) {
        if body.get(at..).is_some_and(|rest| rest.starts_with(mark)) {
            return Some((prefix.saturating_add(at).saturating_add(mark.len()), true));
        }
        if character == '\n' && mark.len() == 1 {
            return Some((prefix.saturating_add(at), false));
        }
        at = at.saturating_add(character.len_utf8());
        if character == '\\' && !raw {
            at = at.saturating_add(body.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8));
        }
    }
    Some((rest.len(), false))
}

fn filter_text(rest: &str) -> Option<(usize, bool)> {
    if let Some(raw) = rest.strip_prefix('r') {
        let marks = raw.len().saturating_sub(raw.trim_start_matches('#').len());
        if let Some(body) = raw.get(marks..).and_then(|raw| raw.strip_prefix('"')) {
            let end = format!("\"{}", "#".repeat(marks));
            let start = rest.len().saturating_sub(body.len());
            let found = body.find(&end).map(|at| start.saturating_add(at).saturating_add(end.len()));
            return Some((found.unwrap_or(rest.len()), found.is_some()));
        }
    }
    let body = rest.strip_prefix('"')?;
    let mut escaped = false;
    for (at, character) in body.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some((at.saturating_add(2), true)),
            _ => {}
        }
    }
    Some((rest.len(), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(source: &str, language: Language) -> Vec<&str> {
        tokens(source, language).iter().map(|token| token.text(source)).collect()
    }

    #[test]
    fn words_of_both_languages() {
        let cel = r#"a.b1["x\"y"] + r'\' // c"#;
        assert_eq!(split(cel, Language::Cel), ["a", ".", "b1", "[", r#""x\"y""#, "]", "+", r"r'\'", "// c"]);
        assert_eq!(split("'''a'b''' \"é\u{1f600}", Language::Cel), ["'''a'b'''", "\"é\u{1f600}"]);
        assert_eq!(split("br'a' rbx'c'", Language::Cel), ["br'a'", "rbx", "'c'"]);
        let filter = r##"http.host eq r#"a"b"# and $x in {1.2.3.0/24}"##;
        let words = split(filter, Language::Filter);
        assert_eq!(words.get(..5).unwrap(), ["http", ".", "host", "eq", r##"r#"a"b"#"##]);
    }

    #[test]
    fn long_sources_take_linear_time() {
        for language in [Language::Cel, Language::Filter] {
            assert_eq!(tokens(&"(".repeat(300_000), language).len(), 300_000);
        }
    }

    #[test]
    fn open_texts_end_with_the_line_or_the_source() {
        let found = tokens("'a\n+ \"b", Language::Cel);
        let open: Vec<bool> = found
            .iter()
            .filter_map(|t| if let TokenKind::Text { closed } = t.kind { Some(!closed) } else { None })
            .collect();
        assert_eq!(open, [true, true]);
    }
}
