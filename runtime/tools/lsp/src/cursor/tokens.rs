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
    let lexicon = language.lexicon();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(character) = source.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = source.get(at..).unwrap_or_default();
        let (kind, length) = if character.is_whitespace() {
            at = at.saturating_add(character.len_utf8());
            continue;
        } else if let Some((length, closed)) = (lexicon.text)(rest) {
            (TokenKind::Text { closed }, length)
        } else if lexicon.comment.is_some_and(|comment| rest.starts_with(comment)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn split(source: &str, language: Language) -> Vec<&str> {
        tokens(source, language).iter().map(|token| token.text(source)).collect()
    }

    #[test]
    fn words_of_both_languages() {
        let cel = r#"a.b1["x\"y"] + r'\' // c"#;
        assert_eq!(split(cel, Language::cel()), ["a", ".", "b1", "[", r#""x\"y""#, "]", "+", r"r'\'", "// c"]);
        assert_eq!(split("'''a'b''' \"é\u{1f600}", Language::cel()), ["'''a'b'''", "\"é\u{1f600}"]);
        assert_eq!(split("br'a' rbx'c'", Language::cel()), ["br'a'", "rbx", "'c'"]);
        let filter = r##"http.host eq r#"a"b"# and $x in {1.2.3.0/24}"##;
        let words = split(filter, Language::filter());
        assert_eq!(words.get(..5).unwrap(), ["http", ".", "host", "eq", r##"r#"a"b"#"##]);
    }

    #[test]
    fn long_sources_take_linear_time() {
        for language in [Language::cel(), Language::filter()] {
            assert_eq!(tokens(&"(".repeat(300_000), language).len(), 300_000);
        }
    }

    #[test]
    fn open_texts_end_with_the_line_or_the_source() {
        let found = tokens("'a\n+ \"b", Language::cel());
        let open: Vec<bool> = found
            .iter()
            .filter_map(|t| if let TokenKind::Text { closed } = t.kind { Some(!closed) } else { None })
            .collect();
        assert_eq!(open, [true, true]);
    }
}
