//! A position in the text of a rule, and what is found there.

use crate::diagnostic::{Diagnostic, Stage};
use crate::filter::codes;
use crate::span::Span;

/// What a reader of literals returns. The error is boxed because diagnostics are large and errors rare.
pub(crate) type Read<T> = Result<T, Box<Diagnostic>>;

/// A cursor over the text of a rule, with the warnings found so far.
pub(crate) struct Scanner<'s> {
    text: &'s str,
    at: usize,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Whether to warn of what the language accepts by accident.
    strict: bool,
}

impl<'s> Scanner<'s> {
    /// A cursor at the start of `text`, which must be shorter than 4 GiB.
    pub(crate) fn new(text: &'s str, strict: bool) -> Self {
        Self { text, at: 0, warnings: Vec::new(), strict }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn text(&self) -> &'s str {
        self.text
    }

    /// Goes to an offset, which must be a character boundary.
    pub(crate) fn go_to(&mut self, at: usize) {
        self.at = at.min(self.text.len());
    }

    pub(crate) fn rest(&self) -> &'s str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(crate) fn starts_with(&self, word: &str) -> bool {
        self.rest().starts_with(word)
    }

    /// Goes on by a number of bytes that end at a character boundary.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.go_to(self.at.saturating_add(bytes));
    }

    /// Takes `word` if the text goes on with it.
    pub(crate) fn eat(&mut self, word: &str) -> bool {
        let found = self.starts_with(word);
        if found {
            self.advance(word.len());
        }
        found
    }

    /// Takes the characters that are accepted.
    pub(crate) fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'s str {
        let rest = self.rest();
        let taken = rest.get(..rest.find(|c| !accept(c)).unwrap_or(rest.len())).unwrap_or("");
        self.advance(taken.len());
        taken
    }

    /// Skips the blanks of the language: space, carriage return and line feed, not the tab.
    pub(crate) fn skip_space(&mut self) {
        self.take_while(|c| matches!(c, ' ' | '\r' | '\n'));
    }

    /// The span from an offset to here.
    pub(crate) fn span_from(&self, start: usize) -> Span {
        span(start, self.at)
    }

    /// The span of the next character, empty at the end.
    pub(crate) fn here(&self) -> Span {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        span(self.at, self.at.saturating_add(length))
    }

    /// `expected {name}`, as Wirefilter says it.
    pub(crate) fn expected<T>(&self, code: &'static str, name: &str) -> Read<T> {
        Err(Box::new(Diagnostic::error(Stage::Parse, code, self.here(), format!("expected {name}"))))
    }

    /// The same, with a hint if a quoted literal stands here.
    pub(crate) fn expected_without_quotes<T>(&self, code: &'static str, name: &str, what: &str) -> Read<T> {
        let mut error = fault(code, self.here(), format!("expected {name}"));
        let quoted = self.rest().strip_prefix('"').and_then(|rest| rest.split('"').next());
        if let Some(inner) = quoted.filter(|inner| inner.len() <= 64) {
            error.help.push(format!("{what} is written without quotes: `{inner}`"));
        }
        Err(error)
    }

    pub(crate) fn warn(&mut self, code: &'static str, span: Span, message: impl Into<String>, help: impl Into<String>) {
        let mut warning = Diagnostic::warning(code, span, message);
        warning.help.push(help.into());
        self.warnings.push(warning);
    }

    /// Warns in strict mode only.
    pub(crate) fn warn_if_strict(&mut self, code: &'static str, span: Span, message: impl Into<String>, help: &str) {
        if self.strict {
            self.warn(code, span, message, help);
        }
    }

    /// The quote that opens at `start` is never closed.
    pub(crate) fn unterminated<T>(&self, start: usize) -> Read<T> {
        let end = span(start, self.text.len());
        let message = "could not find an ending quote";
        Err(Box::new(Diagnostic::error(Stage::Parse, codes::UNTERMINATED, end, message)))
    }
}

/// A span of byte offsets.
pub(crate) fn span(start: usize, end: usize) -> Span {
    let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(offset(start), offset(end))
}

/// An error at a place of the text.
pub(crate) fn fault(code: &'static str, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Stage::Parse, code, span, message))
}

/// The same with a hint.
pub(crate) fn fault_with_help(
    code: &'static str,
    span: Span,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Box<Diagnostic> {
    let mut fault = fault(code, span, message);
    fault.help.push(help.into());
    fault
}
