//! The lexer of CEL (language definition, "Syntax"): one pass, no allocation, a span on every token.
//!
//! The lexer never fails. Where the text is not CEL it returns a token with a [`Problem`]: either
//! the token that was probably meant (`&&` for `&`), or [`Token::Bad`]. Literals are only delimited
//! here; `parser/literal.rs` decodes them.

use super::words::is_reserved;
use crate::span::Span;

/// What a token is. Its text is the source under its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// The end of the source, an empty span; repeated for ever.
    End,
    /// A name that is neither keyword nor reserved.
    Ident,
    /// A reserved word: fields and methods may have this name, variables and functions may not.
    Reserved,
    /// `` `name` ``
    Quoted,
    True,
    False,
    Null,
    In,
    /// Decimal or hexadecimal.
    Int,
    /// Decimal or hexadecimal with the suffix `u`.
    Uint,
    Double,
    String(StringForm),
    Dot,
    Comma,
    Colon,
    Question,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Bang,
    Minus,
    Plus,
    Star,
    Slash,
    Percent,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    /// An operator of another language for which CEL has a function.
    Relation,
    /// Text that is not a token. The problem says why.
    Bad,
    /// A block comment, which CEL does not have.
    Comment,
}

/// How a string literal is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StringForm {
    pub(crate) bytes: bool,
    pub(crate) raw: bool,
    pub(crate) triple: bool,
    /// Whether it has escape sequences.
    pub(crate) escapes: bool,
}

/// What is wrong with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    InvalidCharacter,
    /// Another language's operator; the token is CEL's.
    Misspelt(&'static str),
    BlockComment,
    InvalidNumber,
    /// No closing quote before the end of the line (or of the source, for a triple-quoted one). The
    /// span covers all that was read; `quote` is where it opens, prefix included.
    Unterminated {
        quote: Span,
    },
    InvalidQuotedName,
}

/// A token with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) span: Span,
    pub(crate) problem: Option<Problem>,
}

/// A cursor over the source; a copy looks ahead.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'s> {
    source: &'s str,
    position: usize,
}

impl<'s> Lexer<'s> {
    /// A lexer at the start of `source`, whose length must fit in 32 bits.
    pub(crate) fn new(source: &'s str) -> Self {
        Self { source, position: 0 }
    }

    /// A lexer of the same source at another place.
    pub(crate) fn at(self, position: u32) -> Self {
        Self { position: position as usize, ..self }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.as_bytes().get(self.position.saturating_add(ahead)).copied()
    }

    fn skip(&mut self, bytes: usize) {
        self.position = self.position.saturating_add(bytes).min(self.source.len());
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        let rest = self.source.as_bytes().get(self.position..).unwrap_or(&[]);
        self.skip(rest.iter().position(|&byte| !accept(byte)).unwrap_or(rest.len()));
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.position..).unwrap_or("")
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(offset(start), offset(self.position))
    }

    /// The next token; [`Token::End`] at the end.
    pub(crate) fn next(&mut self) -> Lexeme {
        self.skip_blank();
        let start = self.position;
        let (token, problem) = match self.peek(0) {
            None => (Token::End, None),
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => self.word(),
            Some(byte) if byte.is_ascii_digit() => self.number(),
            Some(b'.') if self.peek(1).is_some_and(|b| b.is_ascii_digit()) => self.number(),
            Some(b'"' | b'\'') => self.string(start, false, false),
            Some(b'`') => self.quoted(start),
            Some(b'/') if self.peek(1) == Some(b'*') => {
                let length = self.rest().find("*/").map_or(usize::MAX, |at| at.saturating_add(2));
                self.skip(length);
                (Token::Comment, Some(Problem::BlockComment))
            }
            Some(byte) => self.punctuation(byte),
        };
        Lexeme { token, span: self.span_from(start), problem }
    }

    fn skip_blank(&mut self) {
        loop {
            self.skip_while(|b| matches!(b, b'\t' | b'\n' | 0x0c | b'\r' | b' '));
            if self.peek(0) != Some(b'/') || self.peek(1) != Some(b'/') {
                return;
            }
            self.skip_while(|b| b != b'\n');
        }
    }

    fn word(&mut self) -> (Token, Option<Problem>) {
        let start = self.position;
        self.skip_while(is_word);
        let word = self.source.get(start..self.position).unwrap_or("");
        if matches!(self.peek(0), Some(b'"' | b'\'')) {
            match word {
                "r" | "R" => return self.string(start, false, true),
                "b" | "B" => return self.string(start, true, false),
                _ if word.eq_ignore_ascii_case("br") || word.eq_ignore_ascii_case("rb") => {
                    return self.string(start, true, true);
                }
                _ => {}
            }
        }
        let token = match word {
            "true" => Token::True,
            "false" => Token::False,
            "null" => Token::Null,
            "in" => Token::In,
            _ if is_reserved(word) => Token::Reserved,
            _ => Token::Ident,
        };
        (token, None)
    }

    fn number(&mut self) -> (Token, Option<Problem>) {
        let mut token = Token::Int;
        if self.peek(0) == Some(b'0')
            && self.peek(1) == Some(b'x')
            && self.peek(2).is_some_and(|b| b.is_ascii_hexdigit())
        {
            self.skip(2);
            self.skip_while(|b| b.is_ascii_hexdigit());
        } else {
            self.skip_while(|b| b.is_ascii_digit());
            if self.peek(0) == Some(b'.') && self.peek(1).is_some_and(|b| b.is_ascii_digit()) {
                token = Token::Double;
                self.skip(1);
                self.skip_while(|b| b.is_ascii_digit());
            }
            if matches!(self.peek(0), Some(b'e' | b'E')) {
                let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
                if self.peek(sign.saturating_add(1)).is_some_and(|b| b.is_ascii_digit()) {
                    token = Token::Double;
                    self.skip(sign.saturating_add(1));
                    self.skip_while(|b| b.is_ascii_digit());
                }
            }
        }
        if token == Token::Int && matches!(self.peek(0), Some(b'u' | b'U')) {
            token = Token::Uint;
            self.skip(1);
        }
        if !self.peek(0).is_some_and(is_word) {
            return (token, None);
        }
        // `1in [1]` is valid CEL; any other word directly after a number is reported.
        let mut ahead = *self;
        ahead.skip_while(is_word);
        if self.source.get(self.position..ahead.position) == Some("in") {
            return (token, None);
        }
        *self = ahead;
        (Token::Bad, Some(Problem::InvalidNumber))
    }

    /// Scans a string from its opening quote on. `start` is the start of its prefix.
    fn string(&mut self, start: usize, bytes: bool, raw: bool) -> (Token, Option<Problem>) {
        let delimiter = self.peek(0);
        let triple = self.peek(1) == delimiter && self.peek(2) == delimiter;
        self.skip(if triple { 3 } else { 1 });
        let quote = self.span_from(start);
        let mut escapes = false;
        loop {
            self.skip_while(|byte| !matches!(byte, b'"' | b'\'' | b'\\' | b'\n' | b'\r'));
            let byte = self.peek(0);
            match byte {
                None => break,
                Some(b'\n' | b'\r') if !triple => break,
                // A line never continues after a backslash.
                Some(b'\\') if !raw && (triple || !matches!(self.peek(1), Some(b'\n' | b'\r'))) => {
                    escapes = true;
                    self.skip(2);
                }
                Some(_) if byte == delimiter && !triple => {
                    self.skip(1);
                    return (Token::String(StringForm { bytes, raw, triple, escapes }), None);
                }
                Some(_) if byte == delimiter && self.peek(1) == delimiter && self.peek(2) == delimiter => {
                    self.skip(3);
                    return (Token::String(StringForm { bytes, raw, triple, escapes }), None);
                }
                Some(_) => self.skip(1),
            }
        }
        (Token::Bad, Some(Problem::Unterminated { quote }))
    }

    fn quoted(&mut self, start: usize) -> (Token, Option<Problem>) {
        self.skip(1);
        let quote = self.span_from(start);
        let inner = self.position;
        self.skip_while(|b| !matches!(b, b'`' | b'\n' | b'\r'));
        let name = self.source.as_bytes().get(inner..self.position).unwrap_or(&[]);
        if self.peek(0) != Some(b'`') {
            return (Token::Bad, Some(Problem::Unterminated { quote }));
        }
        self.skip(1);
        let valid = !name.is_empty() && name.iter().all(|&b| is_word(b) || matches!(b, b'.' | b'-' | b'/' | b' '));
        (Token::Quoted, (!valid).then_some(Problem::InvalidQuotedName))
    }

    fn punctuation(&mut self, first: u8) -> (Token, Option<Problem>) {
        let second = self.peek(1);
        let third = self.peek(2);
        let (length, token, meant) = match (first, second) {
            (b'=', Some(b'=')) if third == Some(b'=') => (3, Token::Equal, Some("==")),
            (b'=', Some(b'=')) if third == Some(b'~') => (3, Token::Relation, None),
            (b'!', Some(b'=')) if third == Some(b'=') => (3, Token::NotEqual, Some("!=")),
            (b'=', Some(b'=')) => (2, Token::Equal, None),
            (b'!', Some(b'=')) => (2, Token::NotEqual, None),
            (b'<', Some(b'=')) => (2, Token::LessEqual, None),
            (b'>', Some(b'=')) => (2, Token::GreaterEqual, None),
            (b'=', Some(b'<')) => (2, Token::LessEqual, Some("<=")),
            (b'=', Some(b'>')) => (2, Token::GreaterEqual, Some(">=")),
            (b'<', Some(b'>')) => (2, Token::NotEqual, Some("!=")),
            (b'=' | b'!', Some(b'~')) if third == Some(b'*') => (3, Token::Relation, None),
            (b'=' | b'!', Some(b'~')) | (b'~', Some(b'=' | b'*')) => (2, Token::Relation, None),
            (b'~', _) => (1, Token::Relation, None),
            (b'&', Some(b'&')) => (2, Token::And, None),
            (b'|', Some(b'|')) => (2, Token::Or, None),
            (b'=', _) => (1, Token::Equal, Some("==")),
            (b'&', _) => (1, Token::And, Some("&&")),
            (b'|', _) => (1, Token::Or, Some("||")),
            (b'.', _) => (1, Token::Dot, None),
            (b',', _) => (1, Token::Comma, None),
            (b':', _) => (1, Token::Colon, None),
            (b'?', _) => (1, Token::Question, None),
            (b'(', _) => (1, Token::OpenParen, None),
            (b')', _) => (1, Token::CloseParen, None),
            (b'[', _) => (1, Token::OpenBracket, None),
            (b']', _) => (1, Token::CloseBracket, None),
            (b'{', _) => (1, Token::OpenBrace, None),
            (b'}', _) => (1, Token::CloseBrace, None),
            (b'!', _) => (1, Token::Bang, None),
            (b'-', _) => (1, Token::Minus, None),
            (b'+', _) => (1, Token::Plus, None),
            (b'*', _) => (1, Token::Star, None),
            (b'/', _) => (1, Token::Slash, None),
            (b'%', _) => (1, Token::Percent, None),
            (b'<', _) => (1, Token::Less, None),
            (b'>', _) => (1, Token::Greater, None),
            _ => return self.invalid(),
        };
        self.skip(length);
        (token, meant.map(Problem::Misspelt))
    }

    /// Scans a run of characters that no token contains; it is reported once.
    fn invalid(&mut self) -> (Token, Option<Problem>) {
        let length = self.rest().find(|c: char| c.is_ascii() && !is_foreign(c)).unwrap_or(usize::MAX);
        self.skip(length);
        (Token::Bad, Some(Problem::InvalidCharacter))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns whether no token starts with this ASCII character.
fn is_foreign(c: char) -> bool {
    matches!(c, '#' | '$' | ';' | '@' | '\\' | '^' | '\x0b' | '\x7f')
        || (c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\x0c' | '\r'))
}

fn offset(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
