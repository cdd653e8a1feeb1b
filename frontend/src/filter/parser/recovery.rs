//! What happens after an error: where the parser goes on, and hints about what was meant.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::filter::codes;
use crate::filter::literal::{fault, span};

/// Where skipping stops, besides the end of the text and a closing bracket that was not opened on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Behind a condition: before a connective.
    Connective,
    /// Behind an argument: before a comma.
    Comma,
    /// At the closing parenthesis only.
    Close,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

impl Parser<'_> {
    /// Goes behind the rest of a condition with an error: before the next connective, comma or closing parenthesis.
    pub(super) fn skip_condition(&mut self) {
        self.skip(Until::Connective);
    }

    /// Goes behind the rest of an argument that starts at `start`: before the next comma or the closing parenthesis.
    pub(super) fn skip_argument(&mut self, start: usize) {
        self.skip(Until::Comma);
        // Always forward, even if the comma itself was not expected.
        if self.scan.at() == start && self.scan.starts_with(",") {
            self.scan.advance(1);
            self.skip(Until::Comma);
        }
    }

    /// Goes behind the closing parenthesis. Returns whether there is one.
    pub(super) fn skip_to_close(&mut self) -> bool {
        self.skip(Until::Close);
        self.scan.eat(")")
    }

    fn skip(&mut self, until: Until) {
        let mut open = 0u32;
        while let Some(byte) = self.scan.peek() {
            match byte {
                b'(' | b'{' => open = open.saturating_add(1),
                b')' if open == 0 => return,
                b')' | b'}' => open = open.saturating_sub(1),
                b',' if open == 0 && until != Until::Close => return,
                b'"' => {
                    if self.scan.quoted().is_err() {
                        self.skip_string();
                    }
                    continue;
                }
                b'r' if self.skip_raw() => continue,
                _ if open == 0 && until == Until::Connective && self.at_connective() => return,
                _ if is_word(byte) => {
                    self.scan.take_while(|c| u8::try_from(c).is_ok_and(is_word));
                    continue;
                }
                _ => {}
            }
            let length = self.scan.rest().chars().next().map_or(1, char::len_utf8);
            self.scan.advance(length);
        }
    }

    /// Goes behind a raw string, if one stands here; to the end if it is not closed.
    fn skip_raw(&mut self) -> bool {
        let start = self.scan.at();
        let skipped = self.scan.raw().is_ok() || self.scan.peek().is_none();
        if !skipped {
            self.scan.go_to(start);
        }
        skipped
    }

    /// Goes behind a string whose escapes are wrong, or to the end.
    fn skip_string(&mut self) {
        loop {
            self.scan.take_while(|c| !matches!(c, '"' | '\\'));
            match self.scan.peek() {
                Some(b'\\') => {
                    self.scan.advance(1);
                    let length = self.scan.rest().chars().next().map_or(0, char::len_utf8);
                    self.scan.advance(length);
                }
                Some(_) => {
                    self.scan.advance(1);
                    return;
                }
                None => return,
            }
        }
    }

    /// Whether a connective stands here, as a word of its own.
    fn at_connective(&self) -> bool {
        let rest = self.scan.rest();
        let before = self.scan.text().as_bytes().get(..self.scan.at()).and_then(<[u8]>::last);
        let word = |word: &str| {
            rest.strip_prefix(word).is_some_and(|behind| !behind.bytes().next().is_some_and(is_word))
                && !before.copied().is_some_and(is_word)
        };
        ["&&", "||", "^^"].iter().any(|sign| rest.starts_with(sign)) || ["and", "or", "xor"].into_iter().any(word)
    }

    /// Whether the condition goes on here within a set, whose closing brace is missing. A connective is an item,
    /// although no valid one, if the brace follows before another set begins. An error follows in both cases, and their
    /// number is bounded, so the time is linear.
    pub(super) fn goes_on_behind_set(&self) -> bool {
        let brace = || {
            let mut in_string = false;
            self.scan.rest().bytes().find(|byte| {
                in_string ^= *byte == b'"';
                !in_string && matches!(byte, b'{' | b'}')
            })
        };
        self.scan.starts_with(")") || self.at_connective() && brace() != Some(b'}')
    }

    /// Goes behind an item of a set that starts at `start`.
    pub(super) fn skip_item(&mut self, start: usize) {
        self.scan.go_to(start);
        if self.scan.starts_with("\"") {
            if self.scan.quoted().is_err() {
                self.scan.go_to(start.saturating_add(1));
                self.skip_string();
            }
            return;
        }
        let skipped = self.scan.take_while(|c| !matches!(c, ' ' | '\r' | '\n' | '}' | ',' | '"'));
        if skipped.is_empty() && !self.scan.starts_with("}") {
            let length = self.scan.rest().chars().next().map_or(0, char::len_utf8);
            self.scan.advance(length);
        }
    }

    /// The word or sign that stands here.
    pub(super) fn word_here(&self) -> &str {
        let rest = self.scan.rest();
        let word = rest.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let belongs = |c: char| match word {
            true => c.is_ascii_alphanumeric() || c == '_',
            false => matches!(c, '=' | '!' | '<' | '>' | '~' | '&' | '|' | '^'),
        };
        rest.get(..rest.find(|c| !belongs(c)).unwrap_or(rest.len())).unwrap_or("")
    }

    /// The text goes on where it should end.
    pub(super) fn unrecognised(&mut self) -> Diagnostic {
        let start = self.scan.at();
        let length = self.word_here().len();
        let place = if length == 0 { self.scan.here() } else { span(start, start.saturating_add(length)) };
        let mut error = *fault(codes::TRAILING, place, "unrecognised input");
        if self.scan.starts_with(")") {
            error.help.push("this parenthesis is not opened".to_owned());
        } else if self.operator().is_some() {
            error.help.push("a Bool takes no operator: write it alone, or with `not`".to_owned());
        } else {
            error.help.extend(self.hint_at_operator());
        }
        error
    }

    /// What was probably meant between two conditions.
    pub(super) fn hint_at_operator(&self) -> Option<String> {
        let word = self.word_here();
        match word.to_ascii_lowercase().as_str() {
            lower @ ("and" | "or" | "xor" | "not") if lower != word => Some(format!("did you mean `{lower}`?")),
            "&" => Some("did you mean `&&`?".to_owned()),
            "|" => Some("did you mean `||`?".to_owned()),
            "^" => Some("did you mean `^^`?".to_owned()),
            "" => self.hint_at_tab(),
            _ if self.scan.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) => {
                Some("conditions are joined by `and`, `or` or `xor`".to_owned())
            }
            _ => None,
        }
    }

    /// What was probably meant where a name is expected.
    pub(super) fn hint_at_identifier(&self) -> Option<String> {
        match self.scan.peek() {
            Some(b'#' | b'/') => Some("the language has no comments".to_owned()),
            Some(b'"') => Some("a comparison begins with a field; the string stands on the right side".to_owned()),
            Some(b'$') => Some("a list stands behind `in`: `ip.src in $name`".to_owned()),
            _ => self.hint_at_tab(),
        }
    }

    pub(super) fn hint_at_tab(&self) -> Option<String> {
        let hint = "a tab is no blank of the language: use spaces and line ends";
        self.scan.starts_with("\t").then(|| hint.to_owned())
    }
}
