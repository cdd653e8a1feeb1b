//! Patterns of `matches`: regular expressions of the `regex` crate on bytes, without Unicode classes.

use super::bytes::BytesForm;
use super::scanner::{Read, Scanner, fault, span};
use crate::filter::codes;
use regex_syntax::ast::{Ast, Flag, Flags, Visitor, visit};
use std::convert::Infallible;
use std::sync::Arc;

/// A regular expression. Its syntax was checked; a search with it is unanchored, on bytes, with `unicode(false)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The expression, as the `regex` crate takes it.
    pub text: Arc<str>,
    /// Whether it is written quoted or raw.
    pub form: BytesForm,
}

impl Scanner<'_> {
    /// Reads a pattern and checks its syntax.
    pub(crate) fn pattern(&mut self) -> Read<Pattern> {
        let start = self.at();
        let (text, form) = match self.peek() {
            Some(b'"') => (self.quoted_pattern()?, BytesForm::Quoted),
            Some(b'r') => (self.raw()?.to_owned(), BytesForm::Raw),
            _ => return self.expected(codes::BYTES, "\" or r"),
        };
        if let Err(problem) = check_pattern(&text) {
            let place = match form {
                // A raw pattern is written as it is: the place in it is a place in the source.
                BytesForm::Raw => {
                    let written = self.text().get(start..self.at()).unwrap_or("");
                    let inner = start.saturating_add(written.find('"').unwrap_or(0)).saturating_add(1);
                    span(inner.saturating_add(problem.start), inner.saturating_add(problem.end))
                }
                _ => self.span_from(start),
            };
            let mut error = fault(codes::PATTERN, place, format!("invalid regular expression: {}", problem.message));
            let second = match text.get(problem.start..problem.end) {
                Some("(?!" | "(?<!") => Some("and not x matches \"..\""),
                Some("(?=" | "(?<=") => Some("and x matches \"..\""),
                _ => None,
            };
            error.help.extend(second.map(|second| format!("test the rest by a second condition: `{second}`")));
            return Err(error);
        }
        Ok(Pattern { text: text.into(), form })
    }

    /// Reads a quoted pattern, from its quote on. `\"` outside of a class is a quote; every other
    /// escape is the pattern's. Inside a class (`[..]`) a quote does not end the literal.
    fn quoted_pattern(&mut self) -> Read<String> {
        let start = self.at();
        self.advance(1);
        let mut text = String::new();
        let mut class = None;
        let mut characters = self.rest().char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' => {
                    if let Some((_, escaped)) = characters.next() {
                        if class.is_some() || escaped != '"' {
                            text.push('\\');
                        }
                        text.push(escaped);
                    }
                }
                '"' if class.is_none() => {
                    self.advance(at.saturating_add(1));
                    return Ok(text);
                }
                _ => {
                    match c {
                        '[' if class.is_none() => class = Some(at),
                        ']' => class = None,
                        _ => {}
                    }
                    text.push(c);
                }
            }
        }
        let mut error = match self.unterminated(start) {
            Err(error) => error,
            Ok(text) => return Ok(text),
        };
        if class.is_some() {
            error
                .help
                .push("inside a class `[..]` a quote does not end the pattern: close the class with `]`".to_owned());
        }
        Err(error)
    }
}

/// What is wrong with a pattern, and where in it.
pub(crate) struct PatternProblem {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) message: String,
}

/// Checks the syntax of a pattern. Whether its automaton is too large shows when it is compiled,
/// and so does what is wrong with Unicode classes in a pattern that ignores case: finding their
/// letter cases takes milliseconds for each, which is bounded there.
pub(crate) fn check_pattern(text: &str) -> Result<(), PatternProblem> {
    let mut parser = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build();
    let mut syntax = regex_syntax::ast::parse::Parser::new();
    let problem = |span: &regex_syntax::ast::Span, message: String| PatternProblem {
        start: span.start.offset,
        end: span.end.offset,
        message,
    };
    // Only a flag makes a pattern ignore case.
    if text.contains("(?") {
        let tree = syntax.parse(text).map_err(|error| problem(error.span(), error.kind().to_string()))?;
        let Ok(is_slow) = visit(&tree, UnicodeCases::default());
        if is_slow {
            return Ok(());
        }
    }
    parser.parse(text).map(drop).map_err(|error| match error {
        regex_syntax::Error::Parse(error) => problem(error.span(), error.kind().to_string()),
        regex_syntax::Error::Translate(error) => problem(error.span(), error.kind().to_string()),
        other => PatternProblem { start: 0, end: text.len(), message: other.to_string() },
    })
}

/// Finds out whether a pattern switches on both letter cases and Unicode.
#[derive(Default)]
struct UnicodeCases {
    ignores_case: bool,
    unicode: bool,
}

impl UnicodeCases {
    fn flags(&mut self, flags: &Flags) {
        self.ignores_case |= flags.flag_state(Flag::CaseInsensitive) == Some(true);
        self.unicode |= flags.flag_state(Flag::Unicode) == Some(true);
    }
}

impl Visitor for UnicodeCases {
    type Output = bool;
    type Err = Infallible;

    fn finish(self) -> Result<bool, Infallible> {
        Ok(self.ignores_case && self.unicode)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        match ast {
            Ast::Flags(set) => self.flags(&set.flags),
            Ast::Group(group) => group.flags().into_iter().for_each(|flags| self.flags(flags)),
            _ => {}
        }
        Ok(())
    }
}
