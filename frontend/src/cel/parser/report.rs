//! The parser's error messages, and its resynchronization after an error.

use super::code::Code;
use super::{Bracket, Parse, Parser, Stop};
use crate::cel::foreign::{self, Relation};
use crate::cel::lexer::{Problem, Token};
use crate::diagnostic::{Diagnostic, Label};
use crate::span::Span;

/// Longest piece of source quoted in a message, in characters.
const QUOTED_CHARACTERS: usize = 32;

/// Most tokens that are examined for the bracket that closes another.
const MAX_ENCLOSED: usize = 64;

impl Parser<'_> {
    /// Reports an error after which parsing continues without resynchronization.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Parse<()> {
        if self.diagnostics.len() >= self.limits.max_diagnostics.max(1) as usize {
            return Err(Stop);
        }
        self.diagnostics.push(diagnostic);
        Ok(())
    }

    /// As [`report`](Self::report), before what was reported from the place `at` on.
    pub(super) fn report_at(&mut self, at: usize, diagnostic: Diagnostic) -> Parse<()> {
        self.report(diagnostic)?;
        self.diagnostics.get_mut(at..).unwrap_or(&mut []).rotate_right(1);
        Ok(())
    }

    /// Reports a syntax error, unless the parser is still recovering from an earlier one.
    pub(super) fn error(&mut self, diagnostic: Diagnostic) -> Parse<()> {
        if self.recovering {
            return Ok(());
        }
        self.recovering = true;
        self.report(diagnostic)
    }

    /// Reports an exceeded limit, which ends parsing.
    pub(super) fn limit(&mut self, diagnostic: Diagnostic) -> Stop {
        self.report(diagnostic).err().unwrap_or(Stop)
    }

    /// Describes the next token for a message.
    pub(super) fn describe(&self) -> String {
        match self.token {
            Token::End => "the end of the expression".to_owned(),
            _ => quote(self.text(self.span)),
        }
    }

    /// Reports that the next token is not what is expected here.
    pub(super) fn unexpected(&mut self, expected: &str) -> Parse<()> {
        let found = self.describe();
        let code = if self.token == Token::End { Code::UnexpectedEnd } else { Code::UnexpectedToken };
        let mut diagnostic = code.at(self.span, format!("expected {expected}, found {found}"));
        if self.token == Token::End
            && let Some(bracket) = self.brackets.last()
        {
            diagnostic.labels.push(Label { span: bracket.span, text: "this bracket is open".to_owned() });
        }
        if self.token == Token::Double
            && let Some(digits) = self.text(self.span).strip_prefix('.')
        {
            let address = self.numbers();
            if let Some(help) = foreign::address(self.text(address)) {
                let text = quote(self.text(address));
                diagnostic = Code::InvalidNumber.at(address, format!("{text} is not a number"));
                diagnostic.help.push(help);
            } else {
                diagnostic.help.push(format!("an element is selected with `[{digits}]`"));
            }
        }
        if let Token::String(_) = self.token
            && let Some((call, literal)) = self.method_before().zip(foreign::repeated(self.text(self.span)))
        {
            diagnostic.help.push(format!("write `{call}({literal})`"));
        }
        if self.token == Token::Slash {
            diagnostic.help.push("texts and patterns stand in quotes".to_owned());
        }
        let arrow = self.previous.to(self.span);
        if self.token == Token::Greater
            && self.text(arrow) == "->"
            && let Some(lambda) = self.lambda(arrow)
        {
            diagnostic = lambda;
        }
        self.error(diagnostic)
    }

    /// Reports that `bracket` should be closed here, and skips to a token that may be its closing bracket.
    pub(super) fn not_closed(&mut self, bracket: Bracket) -> Parse<()> {
        let opener = self.text(bracket.span);
        let closer = closer_text(bracket.closer);
        match self.token {
            Token::End => {
                let mut diagnostic = Code::UnclosedBracket.at(bracket.span, format!("this `{opener}` is never closed"));
                diagnostic.labels.push(Label { span: self.span, text: format!("expected `{closer}` here") });
                self.error(diagnostic)
            }
            Token::CloseParen | Token::CloseBracket | Token::CloseBrace => {
                let found = self.describe();
                let mut diagnostic =
                    Code::MismatchedBracket.at(self.span, format!("expected `{closer}`, found {found}"));
                diagnostic.labels.push(Label { span: bracket.span, text: format!("to close this `{opener}`") });
                if !self.recovering {
                    // From here on brackets cannot be matched reliably.
                    self.error(diagnostic)?;
                    return Err(Stop);
                }
                // A closing bracket of another kind: if it matches an outer open bracket, leave it
                // there; if ours follows, skip it; otherwise take it for ours.
                if self.brackets.iter().any(|b| b.closer == self.token) {
                    return Ok(());
                }
                let mut ahead = self.lexer;
                if ahead.next().token == bracket.closer {
                    self.advance()?;
                } else {
                    self.token = bracket.closer;
                }
                Ok(())
            }
            Token::Comma if bracket.closer == Token::CloseParen && !self.recovering => {
                let found = self.describe();
                let mut diagnostic =
                    Code::UnexpectedToken.at(self.span, format!("expected an operator or `{closer}`, found {found}"));
                let list = self.enclosed(bracket.span.end).and_then(foreign::repeated).unwrap_or("a, b");
                diagnostic.help.push(format!("a list is written `[{list}]`"));
                self.error(diagnostic)?;
                self.skip_to_closer()
            }
            _ => {
                self.unexpected(&format!("an operator or `{closer}`"))?;
                self.skip_to_closer()
            }
        }
    }

    fn skip_to_closer(&mut self) -> Parse<()> {
        loop {
            self.synchronise()?;
            if self.token != Token::Comma {
                return Ok(());
            }
            self.advance()?;
        }
    }

    /// Returns what stands before the next token, if it is a method without its parentheses: `request.path.startsWith`.
    fn method_before(&self) -> Option<&str> {
        let before = self.source.get(..self.previous.end as usize)?;
        let name = self.text(self.previous);
        let is_method =
            matches!(foreign::relation(name), Some(Relation::Method(method)) if method == name) || name == "matches";
        let start = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')).len();
        let call = before.get(start..)?;
        (is_method && call.len() > name.len()).then_some(call)
    }

    /// Returns the run of digits, points and slashes around the next token, which starts where the one before it ends.
    fn numbers(&self) -> Span {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '/');
        let start = if self.previous.end == self.span.start { self.previous.start } else { self.span.start };
        let rest = self.source.get(start as usize..).unwrap_or_default();
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        Span::new(start, start.saturating_add(u32::try_from(length).unwrap_or(u32::MAX)))
    }

    /// Returns the text from a place behind an opening bracket to the bracket that closes it, if it is near.
    fn enclosed(&self, start: u32) -> Option<&str> {
        let mut ahead = self.lexer.at(start);
        let mut open = 0_u32;
        for _ in 0..MAX_ENCLOSED {
            let lexeme = ahead.next();
            match lexeme.token {
                Token::End => return None,
                Token::OpenParen | Token::OpenBracket | Token::OpenBrace => open = open.saturating_add(1),
                Token::CloseParen | Token::CloseBracket | Token::CloseBrace if open == 0 => {
                    return Some(self.text(Span::new(start, lexeme.span.start)));
                }
                Token::CloseParen | Token::CloseBracket | Token::CloseBrace => open = open.saturating_sub(1),
                _ => {}
            }
        }
        None
    }

    /// The diagnostic of the arrow from a place on, which the next token ends, if it is that of an anonymous function:
    /// `x => body`.
    fn lambda(&self, arrow: Span) -> Option<Diagnostic> {
        let bracket = self.brackets.last();
        let is_argument = bracket.is_some_and(|bracket| {
            let before = self.source.get(..bracket.span.start as usize).unwrap_or_default();
            bracket.closer == Token::CloseParen && before.ends_with(|c: char| c.is_ascii_alphanumeric())
        });
        let open = bracket.map_or(0, |bracket| bracket.span.end);
        let head = self.text(Span::new(open, arrow.start));
        let body_start = arrow.end;
        let body = match bracket {
            Some(_) => self.enclosed(body_start)?,
            None => self.source.get(body_start as usize..)?,
        };
        let variable = head.trim();
        let variable =
            variable.strip_prefix('(').and_then(|inside| inside.strip_suffix(')')).unwrap_or(variable).trim();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if variable.is_empty() || !variable.chars().all(is_part) {
            return None;
        }
        let body = foreign::repeated(body)?;
        let uses = body.split(|c| !is_part(c)).any(|word| word == variable);
        if !is_argument && !uses {
            return None;
        }
        let length = |text: &str| u32::try_from(text.len()).ok();
        let start = open.checked_add(length(head)?.checked_sub(length(head.trim_start())?)?)?;
        let sign = self.text(arrow);
        let mut diagnostic = Code::MisspeltOperator.at(arrow, format!("`{sign}` is not an operator"));
        diagnostic.help.push(if is_argument {
            let end = body_start.checked_add(length(self.enclosed(body_start)?.trim_end())?)?;
            diagnostic.span = Span::new(start, end);
            format!("the variable of a macro is its first argument: `{variable}, {body}`")
        } else {
            format!("only macros have a variable, as their first argument: `list.map({variable}, {body})`")
        });
        Some(diagnostic)
    }

    /// Skips to the next `,` or closing bracket that belongs to an open one, or to the end.
    pub(super) fn synchronise(&mut self) -> Parse<()> {
        let mut inner: u32 = 0;
        loop {
            match self.token {
                Token::End => return Ok(()),
                Token::Comma if inner == 0 => return Ok(()),
                Token::OpenParen | Token::OpenBracket | Token::OpenBrace => inner = inner.saturating_add(1),
                Token::CloseParen | Token::CloseBracket | Token::CloseBrace => {
                    if inner == 0 {
                        return Ok(());
                    }
                    inner = inner.saturating_sub(1);
                }
                _ => {}
            }
            self.advance()?;
        }
    }

    /// Reports what the lexer found wrong with the token just read.
    pub(super) fn lexical(&mut self, problem: Problem) -> Parse<()> {
        if self.recovering {
            return Ok(());
        }
        let text = self.text(self.span);
        match problem {
            Problem::Misspelt(meant) => match if text == "=>" { self.lambda(self.span) } else { None } {
                Some(diagnostic) => self.error(diagnostic),
                None => self.misspelt(meant),
            },
            Problem::BlockComment => {
                let mut diagnostic = Code::BlockComment.at(self.span, "block comments are not supported");
                diagnostic.help.push("a comment starts with `//` and ends with the line".to_owned());
                self.report(diagnostic)
            }
            Problem::InvalidCharacter => {
                let mut diagnostic = Code::InvalidCharacter.at(self.span, format!("{} is not CEL", quote(text)));
                if text.contains(['\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}']) {
                    diagnostic.help.push("write strings with `'` or `\"`".to_owned());
                } else if text.starts_with('#') {
                    diagnostic.help.push("a comment starts with `//`".to_owned());
                } else if text.starts_with(';') {
                    diagnostic
                        .help
                        .push("a rule is one expression; conditions are joined with `&&` and `||`".to_owned());
                } else if text.chars().any(char::is_alphabetic) {
                    diagnostic.help.push("names are made of ASCII letters, digits and `_`".to_owned());
                }
                self.error(diagnostic)
            }
            Problem::InvalidNumber => {
                let mut diagnostic = Code::InvalidNumber.at(self.span, format!("{} is not a number", quote(text)));
                if text.starts_with("0X") {
                    diagnostic.help.push("write hexadecimal numbers with a small `x`".to_owned());
                }
                diagnostic.help.extend(foreign::number(text));
                self.error(diagnostic)
            }
            Problem::Unterminated { quote } => {
                let end = Span::new(self.span.end, self.span.end);
                let opening = self.text(quote);
                let mark = opening.trim_start_matches(|c: char| c.is_ascii_alphabetic());
                let mut diagnostic = Code::UnterminatedString.at(end, format!("expected `{mark}` to end the literal"));
                if mark == "`" {
                    diagnostic.message = "expected a closing backquote".to_owned();
                }
                diagnostic.labels.push(Label { span: quote, text: "it starts here".to_owned() });
                if (self.span.end as usize) < self.source.len() && mark != "`" {
                    diagnostic.help.push(format!("text of several lines is written {0}..{0}", mark.repeat(3)));
                }
                self.error(diagnostic)
            }
            Problem::InvalidQuotedName => {
                let mut diagnostic = Code::InvalidQuotedName.at(self.span, "this is not a valid name");
                diagnostic
                    .help
                    .push("between backquotes there may be letters, digits, `_`, `.`, `-`, `/` and blanks".to_owned());
                self.error(diagnostic)
            }
        }
    }

    /// Reports that the next token is another language's spelling of `meant`.
    pub(super) fn misspelt(&mut self, meant: &str) -> Parse<()> {
        let found = self.describe();
        let mut diagnostic = Code::MisspeltOperator.at(self.span, format!("{found} is not an operator"));
        diagnostic.help.push(format!("did you mean `{meant}`?"));
        self.report(diagnostic)
    }
}

/// Returns source text in backquotes, on one line and cut if it is long.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from("`");
    for (count, c) in text.chars().enumerate() {
        if count >= QUOTED_CHARACTERS {
            quoted.push_str("..");
            break;
        }
        if c.is_control() { quoted.extend(c.escape_default()) } else { quoted.push(c) }
    }
    quoted.push('`');
    quoted
}

fn closer_text(closer: Token) -> &'static str {
    match closer {
        Token::CloseParen => ")",
        Token::CloseBracket => "]",
        _ => "}",
    }
}
