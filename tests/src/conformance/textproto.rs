//! A reader of protobuf's text format that knows no schema: fields by name, in the order written.
//!
//! It takes what the format's specification allows: `{}` and `<>` messages with or without a colon, lists in brackets,
//! adjacent strings, every escape, decimal, hexadecimal and octal numbers, `inf` and `nan`, enum names, expanded
//! `Any` values (`[type.googleapis.com/x] {..}`), extension names, comments, and `,` or `;` between fields.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// Deepest nesting of messages.
const MAX_DEPTH: u32 = 100;

/// A message: its fields in the order written. A repeated field is several fields of one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// Name and value. The name of an expanded `Any` or of an extension is without its brackets.
    pub fields: Vec<(String, Node)>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A message.
    Message(Message),
    /// A string or bytes, escapes resolved.
    Text(Vec<u8>),
    /// A whole number.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A name: `true`, an enum value.
    Word(String),
}

/// What is wrong with the text, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Line, from 1.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for Error {}

impl Message {
    /// The last value of a field: what a field that is not repeated holds.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.fields.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// All values of a repeated field.
    pub fn all<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Node> {
        self.fields.iter().filter(move |(n, _)| n == name).map(|(_, v)| v)
    }

    /// A message field.
    #[must_use]
    pub fn message(&self, name: &str) -> Option<&Message> {
        self.get(name).and_then(Node::message)
    }

    /// A string field as text, empty when it is absent or not UTF-8.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Node::Text(bytes)) => std::str::from_utf8(bytes).unwrap_or(""),
            _ => "",
        }
    }

    /// A bool field, false when it is absent.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Node::bool).unwrap_or(false)
    }
}

impl Node {
    /// As a message.
    #[must_use]
    pub fn message(&self) -> Option<&Message> {
        match self {
            Node::Message(m) => Some(m),
            _ => None,
        }
    }

    /// As a bool: `true`, `t`, `1` and their opposites.
    #[must_use]
    pub fn bool(&self) -> Option<bool> {
        match self {
            Node::Word(w) => match w.as_str() {
                "true" | "True" | "t" => Some(true),
                "false" | "False" | "f" => Some(false),
                _ => None,
            },
            Node::Int(1) => Some(true),
            Node::Int(0) => Some(false),
            _ => None,
        }
    }

    /// As a number.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a whole number in a double field is meant to be rounded")]
    pub fn double(&self) -> Option<f64> {
        match self {
            Node::Float(v) => Some(*v),
            Node::Int(v) => Some(*v as f64),
            _ => None,
        }
    }
}

/// Reads a text-format message.
///
/// # Errors
/// The first thing that is not text format, with its line.
pub fn parse(text: &str) -> Result<Message, Error> {
    let mut parser = Parser { tokens: tokens(text)?.into_iter().peekable(), line: 1 };
    parser.fields(None, 0)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Punct(char),
    Text(Vec<u8>),
    Word(String),
    Number(String),
}

struct Parser {
    tokens: Peekable<std::vec::IntoIter<(Token, u32)>>,
    line: u32,
}

impl Parser {
    fn next(&mut self) -> Option<Token> {
        let (token, line) = self.tokens.next()?;
        self.line = line;
        Some(token)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = matches!(self.tokens.peek(), Some((Token::Punct(p), _)) if *p == c);
        if found {
            self.next();
        }
        found
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, Error> {
        Err(Error { line: self.line, message: message.into() })
    }

    fn fields(&mut self, end: Option<char>, depth: u32) -> Result<Message, Error> {
        if depth > MAX_DEPTH {
            return self.error(format!("messages nest deeper than {MAX_DEPTH}"));
        }
        let mut message = Message::default();
        loop {
            while self.eat(',') || self.eat(';') {}
            if end.is_some_and(|c| self.eat(c)) {
                return Ok(message);
            }
            let name = match self.next() {
                None if end.is_none() => return Ok(message),
                Some(Token::Word(name)) => name,
                Some(Token::Punct('[')) => self.bracketed()?,
                other => return self.error(format!("expected a field name, found {other:?}")),
            };
            self.eat(':');
            if self.eat('[') {
                while !self.eat(']') {
                    let value = self.value(depth)?;
                    message.fields.push((name.clone(), value));
                    self.eat(',');
                }
            } else {
                let value = self.value(depth)?;
                message.fields.push((name, value));
            }
        }
    }

    fn bracketed(&mut self) -> Result<String, Error> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some(Token::Punct(']')) => return Ok(name),
                Some(Token::Punct(c)) => name.push(c),
                Some(Token::Word(w) | Token::Number(w)) => name.push_str(&w),
                other => return self.error(format!("expected `]`, found {other:?}")),
            }
        }
    }

    fn value(&mut self, depth: u32) -> Result<Node, Error> {
        let negative = self.eat('-');
        match self.next() {
            Some(Token::Punct('{')) if !negative => self.fields(Some('}'), depth.saturating_add(1)).map(Node::Message),
            Some(Token::Punct('<')) if !negative => self.fields(Some('>'), depth.saturating_add(1)).map(Node::Message),
            Some(Token::Text(mut text)) if !negative => {
                while let Some((Token::Text(_), _)) = self.tokens.peek() {
                    if let Some(Token::Text(more)) = self.next() {
                        text.extend(more);
                    }
                }
                Ok(Node::Text(text))
            }
            Some(Token::Number(digits)) => self.number(&digits, negative),
            Some(Token::Word(word)) => {
                let sign = if negative { -1.0 } else { 1.0 };
                match word.to_ascii_lowercase().as_str() {
                    "inf" | "infinity" => Ok(Node::Float(f64::INFINITY.copysign(sign))),
                    "nan" => Ok(Node::Float(f64::NAN)),
                    _ if negative => self.error(format!("expected a number after `-`, found `{word}`")),
                    _ => Ok(Node::Word(word)),
                }
            }
            other => self.error(format!("expected a value, found {other:?}")),
        }
    }

    fn number(&self, digits: &str, negative: bool) -> Result<Node, Error> {
        let whole = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hex) => i128::from_str_radix(hex, 16).ok(),
            None if digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()) => {
                i128::from_str_radix(digits, 8).ok()
            }
            None => digits.parse().ok(),
        };
        if let Some(value) = whole {
            // `-0` stays a double's negative zero.
            return Ok(match (negative, value) {
                (true, 0) => Node::Float(-0.0),
                (true, v) => Node::Int(v.saturating_neg()),
                (false, v) => Node::Int(v),
            });
        }
        match digits.trim_end_matches(['f', 'F']).parse::<f64>() {
            Ok(value) => Ok(Node::Float(if negative { -value } else { value })),
            Err(_) => self.error(format!("`{digits}` is not a number")),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<(Token, u32)>, Error> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    let mut line = 1u32;
    while let Some(c) = chars.next() {
        let token = match c {
            '\n' => {
                line = line.saturating_add(1);
                continue;
            }
            _ if c.is_whitespace() => continue,
            '#' => {
                while chars.next_if(|&c| c != '\n').is_some() {}
                continue;
            }
            '"' | '\'' => {
                Token::Text(string(c, &mut chars).map_err(|message| Error { line, message: message.to_owned() })?)
            }
            _ if c.is_ascii_digit() || (c == '.' && chars.peek().is_some_and(char::is_ascii_digit)) => {
                Token::Number(number(c, &mut chars))
            }
            _ if c.is_ascii_alphabetic() || c == '_' => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')) {
                    word.push(c);
                }
                Token::Word(word)
            }
            '{' | '}' | '<' | '>' | '[' | ']' | ':' | ',' | ';' | '-' | '/' | '.' => Token::Punct(c),
            _ => return Err(Error { line, message: format!("unexpected character {c:?}") }),
        };
        out.push((token, line));
    }
    Ok(out)
}

fn number(first: char, chars: &mut Peekable<Chars<'_>>) -> String {
    let mut digits = String::from(first);
    let mut last = first;
    while let Some(c) = chars
        .next_if(|&c| c.is_ascii_alphanumeric() || c == '.' || (matches!(c, '+' | '-') && matches!(last, 'e' | 'E')))
    {
        digits.push(c);
        last = c;
    }
    digits
}

fn string(quote: char, chars: &mut Peekable<Chars<'_>>) -> Result<Vec<u8>, &'static str> {
    let mut out = Vec::new();
    let push = |out: &mut Vec<u8>, c: char| out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    loop {
        let c = chars.next().ok_or("string without an end")?;
        match c {
            '\n' => return Err("string without an end"),
            '\\' => match chars.next().ok_or("string without an end")? {
                'a' => out.push(7),
                'b' => out.push(8),
                'f' => out.push(12),
                'n' => out.push(b'\n'),
                'r' => out.push(b'\r'),
                't' => out.push(b'\t'),
                'v' => out.push(11),
                c @ ('?' | '\\' | '\'' | '"') => push(&mut out, c),
                'x' | 'X' => out.push(escaped(chars, 16, 1, 2).and_then(|v| u8::try_from(v).ok()).ok_or("bad `\\x`")?),
                'u' => push(&mut out, escaped(chars, 16, 4, 4).and_then(char::from_u32).ok_or("bad `\\u`")?),
                'U' => push(&mut out, escaped(chars, 16, 8, 8).and_then(char::from_u32).ok_or("bad `\\U`")?),
                c => {
                    let first = c.to_digit(8).ok_or("unknown escape")?;
                    let more = escaped_digits(chars, 8, 2);
                    let value = more.iter().fold(first, |v, d| v.saturating_mul(8).saturating_add(*d));
                    out.push(u8::try_from(value).map_err(|_| "octal escape over 377")?);
                }
            },
            c if c == quote => return Ok(out),
            c => push(&mut out, c),
        }
    }
}

fn escaped(chars: &mut Peekable<Chars<'_>>, radix: u32, least: usize, most: usize) -> Option<u32> {
    let digits = escaped_digits(chars, radix, most);
    let value = digits.iter().try_fold(0u32, |v, d| v.checked_mul(radix)?.checked_add(*d))?;
    (digits.len() >= least).then_some(value)
}

fn escaped_digits(chars: &mut Peekable<Chars<'_>>, radix: u32, most: usize) -> Vec<u32> {
    let mut digits = Vec::new();
    while digits.len() < most {
        match chars.next_if(|c| c.is_digit(radix)).and_then(|c| c.to_digit(radix)) {
            Some(digit) => digits.push(digit),
            None => break,
        }
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Node {
        parse(text).unwrap().fields.remove(0).1
    }

    #[test]
    fn scalars() {
        assert_eq!(one("a: -9223372036854775808"), Node::Int(i128::from(i64::MIN)));
        assert_eq!(one("a: 0x1F"), Node::Int(31));
        assert_eq!(one("a: 017"), Node::Int(15));
        assert_eq!(one("a: 1e3"), Node::Float(1000.0));
        assert_eq!(one("a: .5f"), Node::Float(0.5));
        assert_eq!(one("a: - 2.5e-1"), Node::Float(-0.25));
        assert_eq!(one("a: -inf"), Node::Float(f64::NEG_INFINITY));
        assert!(matches!(one("a: NaN"), Node::Float(v) if v.is_nan()));
        assert!(matches!(one("a: -0"), Node::Float(v) if v.is_sign_negative()));
        assert_eq!(one("a: NULL_VALUE"), Node::Word("NULL_VALUE".into()));
        assert_eq!(one("a: true").bool(), Some(true));
    }

    #[test]
    fn strings_join_and_unescape() {
        assert_eq!(
            one(r#"a: "x" 'y"' # no
            "\n\x41\101\u00e9\U0001F431\?\'""#),
            Node::Text("xy\"\nAA\u{e9}\u{1F431}?'".into())
        );
        assert_eq!(one(r#"a: "\377\xfF""#), Node::Text(vec![0xff, 0xff]));
    }

    #[test]
    fn messages_lists_and_any() {
        let m =
            parse("a { b: 1, c < d: 2; > } a: {} e: [1, 2] f: [{g: 3}] [type.googleapis.com/x.Y] { h: 4 }").unwrap();
        assert_eq!(m.all("a").count(), 2);
        assert_eq!(m.all("e").cloned().collect::<Vec<_>>(), [Node::Int(1), Node::Int(2)]);
        assert_eq!(m.message("f").unwrap().get("g"), Some(&Node::Int(3)));
        assert_eq!(m.message("type.googleapis.com/x.Y").unwrap().get("h"), Some(&Node::Int(4)));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line) in
            [("a: 1\nb: \"x\n\"", 2), ("a {", 1), ("\n\na: }", 3), ("a: \"\\q\"", 1), ("a: - b", 1), ("?", 1)]
        {
            assert_eq!(parse(text).unwrap_err().line, line, "{text}");
        }
        assert!(parse(&"a{".repeat(1000)).unwrap_err().message.contains("nest"));
    }
}
