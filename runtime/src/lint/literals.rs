//! Calls on literals that always fail: malformed patterns, formats, times, addresses and numbers,
//! and other calls of the library with only literal operands. The lint calls the library's
//! functions to find out.

use super::place::inside;
use super::{CONSTANT_CONDITION, Lint, NEVER_VALID};
use crate::arena::Arena;
use crate::cx::CxSettings;
use crate::interpret::literal_value;
use crate::library::{Cx, Malformed, Piece, invoke, pieces};
use crate::value::{Timestamp, Value};
use celero_frontend::stdlib::Builtin;
use celero_frontend::{Expr, Literal, NodeId};
use celero_ir::ErrorKind;
use celero_matching::pattern::{Dialect, ParsedPattern, Pattern, PatternError};
use std::ops::Range;
use std::sync::Arc;

/// Budget in steps and bytes for evaluating a call on literals. A call that exceeds it causes no warning.
const STEPS: i64 = 100_000;
const MEMORY: usize = 1 << 20;

/// Longest literal quoted in a message, in characters.
pub(super) const QUOTED: usize = 40;

/// A parameter whose text must have a certain form.
struct Form {
    /// Which parameter, the receiver counted.
    parameter: usize,
    /// What the text must be.
    what: &'static str,
    /// How such text looks.
    help: &'static str,
}

fn form(builtin: Builtin) -> Option<Form> {
    use Builtin as B;
    let (parameter, what, help) = match builtin {
        B::TimestampFromString => {
            (0, "a timestamp", "write it as in \"2024-02-29T13:00:00Z\", with a year from 1 to 9999")
        }
        B::DurationFromString => (0, "a duration", "write it as in \"1h30m\", \"90s\" or \"1.5s\""),
        B::IpFromString => (0, "an IP address", "write it as in \"192.0.2.1\" or \"2001:db8::1\""),
        B::CidrFromString => (0, "a network", "write it as in \"10.0.0.0/8\" or \"2001:db8::/32\""),
        B::CidrContainsIpString => (1, "an IP address", "write it as in \"192.0.2.1\" or \"2001:db8::1\""),
        B::Wildcard | B::StrictWildcard => (
            1,
            "a wildcard pattern",
            "one `*` stands for any text; write `\\*` for a star and `\\\\` for a backslash, in a raw string `r\"..\"`",
        ),
        B::IntFromString => (0, "an `int`", "write decimal digits, as in \"-42\""),
        B::UintFromString => (0, "a `uint`", "write decimal digits, as in \"42\""),
        B::DoubleFromString => (0, "a `double`", ""),
        B::BoolFromString => (0, "a `bool`", "write \"true\" or \"false\""),
        B::JsonFromString | B::JsonFromBytes => (0, "a JSON document", ""),
        B::Base64Decode | B::Base64DecodeUrl => (0, "base64", ""),
        B::HexDecode => (0, "hexadecimal", "write two digits for each byte, as in \"01ff\""),
        B::UrlDecode => (0, "percent-encoded text", "write `%` and two hexadecimal digits, as in \"%2F\""),
        B::FullYearIn
        | B::MonthIn
        | B::DayOfYearIn
        | B::DayOfMonthIn
        | B::DateIn
        | B::DayOfWeekIn
        | B::HoursIn
        | B::MinutesIn
        | B::SecondsIn
        | B::MillisecondsIn => {
            (1, "a time zone", "write a name as in \"Europe/Berlin\", or an offset as in \"+05:30\"")
        }
        _ => return None,
    };
    Some(Form { parameter, what, help })
}

/// Whether the second parameter is a regular expression.
pub(super) fn takes_pattern(builtin: Builtin) -> bool {
    use Builtin as B;
    matches!(
        builtin,
        B::Matches
            | B::RegexExtract
            | B::RegexExtractAll
            | B::RegexReplace
            | B::RegexReplaceFirst
            | B::RegexReplaceOnce
    )
}

/// Most patterns of a rule that are compiled to test them.
const MAX_COMPILED: u32 = 32;

impl Lint<'_> {
    pub(super) fn literals(&mut self, id: NodeId) {
        let Some((builtin, operands)) = self.call(id) else { return };
        if takes_pattern(builtin)
            && let Some(&pattern) = operands.get(1)
            && let Some(text) = self.text(pattern)
            && (self.pattern(builtin, pattern, &text) || builtin == Builtin::Matches)
        {
            return;
        }
        if let (Builtin::Format, &[format, values]) = (builtin, &*operands)
            && let Some(text) = self.text(format)
        {
            self.format(format, &text, values);
            return;
        }
        if let Some(form) = form(builtin)
            && let Some(&argument) = operands.get(form.parameter)
            && let Some(text) = self.text(argument)
        {
            let verdict = match reading(builtin, Value::String(&text)) {
                Err(ErrorKind::Overflow) => "out of the range of",
                Err(ErrorKind::InvalidArgument) => "not",
                _ => return,
            };
            let message = format!("{} is {verdict} {}", quoted(&text), form.what);
            self.warn(NEVER_VALID, self.ast.span(argument), message, form.help);
            return;
        }
        self.constant_call(id, builtin, &operands);
    }

    pub(super) fn text(&self, id: NodeId) -> Option<Arc<str>> {
        match self.ast.expr(id) {
            Expr::Literal(Literal::String(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// Whether the pattern is wrong, and so warned of.
    fn pattern(&mut self, builtin: Builtin, id: NodeId, pattern: &str) -> bool {
        // Compiling is slow, so only the first patterns of a rule are tested.
        let is_tested = self.compiled < MAX_COMPILED;
        let tested = if is_tested { self.patterns.check(pattern) } else { Ok(()) };
        if is_tested && tested.is_ok() {
            // A pattern that can be compiled has no syntax error.
            self.compiled = self.compiled.saturating_add(1);
            if builtin == Builtin::Matches
                && let Some(result) = self.patterns.constant(pattern)
            {
                let what = if result { "every text" } else { "no text" };
                self.warn(CONSTANT_CONDITION, self.ast.span(id), format!("this pattern matches {what}"), "");
            }
            return false;
        }
        let mut help = "";
        let (reason, part) = match (syntax_error(self.patterns.pattern(pattern)), tested) {
            (Some((reason, part)), _) => {
                help = second_condition(builtin, pattern, &part);
                (reason, part)
            }
            (None, Ok(())) => return false,
            (None, Err(reason)) => {
                self.compiled = self.compiled.saturating_add(1);
                (reason.to_string(), 0..pattern.len())
            }
        };
        let message = format!("this is not a regular expression: {}", reason.replace('\n', " "));
        self.warn_inside(id, pattern, part, message, help);
        true
    }

    /// Warns about a format with a malformed clause, or with more clauses than the literal list has values.
    fn format(&mut self, id: NodeId, format: &str, values: NodeId) {
        let most = match self.ast.expr(values) {
            Expr::List { elements, .. } => self.ast.children(*elements).len(),
            _ => usize::MAX,
        };
        let mut count = 0_usize;
        let mut unmet = None;
        for piece in pieces(format) {
            match piece {
                Err(Malformed { reason, at }) => {
                    let help = "the verbs are %s %d %f %e %b %o %x %X, as in \"%.2f\"; a percent sign is %%";
                    self.warn_inside(id, format, at, format!("this is not a format: {reason}"), help);
                    return;
                }
                Ok(Piece::Text(_)) => {}
                Ok(Piece::Clause(clause)) => {
                    if count == most {
                        unmet = Some(clause.at);
                    }
                    count = count.saturating_add(1);
                }
            }
        }
        if let Some(at) = unmet {
            let message = format!("there is no value for this: the format takes {count}, the list has {most}");
            self.warn_inside(id, format, at, message, "");
        }
    }

    /// A warning about a part of a string literal.
    fn warn_inside(&mut self, id: NodeId, value: &str, part: Range<usize>, message: String, help: &str) {
        let span = inside(self.ast.source(), self.ast.span(id), value, part);
        self.warn(NEVER_VALID, span, message, help);
    }

    /// A call on literals alone.
    fn constant_call(&mut self, id: NodeId, builtin: Builtin, operands: &[NodeId]) {
        let ast = self.ast;
        let values: Option<Vec<Value<'_>>> = operands
            .iter()
            .map(|&operand| match ast.expr(operand) {
                Expr::Literal(literal) => Some(literal_value(literal)),
                _ => None,
            })
            .collect();
        let Some(values) = values.filter(|values| !values.is_empty()) else { return };
        let arena = Arena::new(MEMORY);
        let settings = CxSettings { steps: STEPS, dialect: self.patterns.dialect() };
        let result = invoke(&settings.cx(&arena, None), builtin, &values);
        if let Err(
            kind @ (ErrorKind::DivideByZero
            | ErrorKind::ModulusByZero
            | ErrorKind::Overflow
            | ErrorKind::InvalidArgument),
        ) = result
        {
            self.warn(NEVER_VALID, ast.span(id), format!("this always fails: {}", kind.message()), "");
        }
    }
}

/// Returns the result of parsing text, or bytes, as such a parameter.
fn reading(builtin: Builtin, text: Value<'_>) -> Result<(), ErrorKind> {
    let arena = Arena::new(MEMORY);
    let cx = Cx::new(STEPS, &arena);
    let value = match builtin {
        Builtin::CidrContainsIpString => invoke(&cx, Builtin::IpFromString, &[text]),
        Builtin::Wildcard | Builtin::StrictWildcard => invoke(&cx, builtin, &[Value::String(""), text]),
        _ if form(builtin).is_some_and(|form| form.parameter == 1) => {
            invoke(&cx, builtin, &[Value::Timestamp(Timestamp::default()), text])
        }
        _ => invoke(&cx, builtin, &[text]),
    };
    value.map(|_| ())
}

/// Why a function of the library does not accept these values, and how text for it looks, if it is
/// for the form of a text. `quoted` is called with the number of the operand that is to blame;
/// patterns are of `dialect`.
pub(crate) fn malformed(
    builtin: Builtin,
    operands: &[Value<'_>],
    dialect: Dialect,
    quoted: impl Fn(usize) -> String,
) -> Option<(String, &'static str)> {
    let text = |index: usize| match operands.get(index) {
        Some(Value::String(text)) => Some(*text),
        _ => None,
    };
    if takes_pattern(builtin)
        && let Some(pattern) = text(1)
        && let Some((reason, part)) = syntax_error(dialect.pattern(pattern))
    {
        let help = second_condition(builtin, pattern, &part);
        return Some((format!("{} is not a regular expression: {reason}", quoted(1)), help));
    }
    if builtin == Builtin::Matches {
        let help = "a pattern has at most 16 KiB, and its compiled program at most 2 MiB";
        return Some((format!("the pattern {} is too large", quoted(1)), help));
    }
    if let (Builtin::Format, Some(format)) = (builtin, text(0)) {
        return Some(match (pieces(format).find_map(Result::err), operands.get(1)) {
            (Some(Malformed { reason, .. }), _) => (format!("{} is not a format: {reason}", quoted(0)), ""),
            (None, Some(Value::List(list))) if clauses(format) > list.len() => {
                (format!("{} takes {} values, the list has {}", quoted(0), clauses(format), list.len()), "")
            }
            _ => {
                let help = "%s takes any value, %d %f %e numbers, %o integers, %b integers and bools, %x and %X integers, text and bytes";
                (format!("a value does not fit its verb in {}", quoted(0)), help)
            }
        });
    }
    if let (Builtin::CharAt | Builtin::Substring | Builtin::SubstringTo, Some(text)) = (builtin, text(0)) {
        let length = text.chars().count();
        let outside = |value: &Value<'_>| match value {
            Value::Int(position) => usize::try_from(*position).map_or(true, |position| position > length),
            _ => false,
        };
        let at = operands.iter().position(outside)?;
        return Some((format!("position {} is out of range: the text has {length} characters", quoted(at)), ""));
    }
    let form = form(builtin)?;
    let verdict = match reading(builtin, *operands.get(form.parameter)?) {
        Err(ErrorKind::Overflow) => "out of the range of",
        Err(ErrorKind::InvalidArgument) => "not",
        _ => return None,
    };
    Some((format!("{} is {verdict} {}", quoted(form.parameter), form.what), form.help))
}

/// Returns how many values a format takes.
fn clauses(format: &str) -> usize {
    pieces(format).filter(|piece| matches!(piece, Ok(Piece::Clause(_)))).count()
}

/// What is wrong with the syntax of a pattern, or with parsing it, and where.
fn syntax_error(pattern: Pattern<'_>) -> Option<(String, Range<usize>)> {
    match ParsedPattern::new(pattern).err()? {
        PatternError::Syntax(error) => Some((error.reason, error.span)),
        error @ PatternError::TooManyCases => Some((error.to_string(), 0..pattern.text.len())),
        _ => None,
    }
}

/// Returns the help for a condition whose pattern has a look-around at `part`.
fn second_condition(builtin: Builtin, pattern: &str, part: &Range<usize>) -> &'static str {
    match (builtin, pattern.get(part.clone())) {
        (Builtin::Matches, Some("(?!" | "(?<!")) => "test the rest by a second condition: `&& !x.matches(..)`",
        (Builtin::Matches, Some("(?=" | "(?<=")) => "test the rest by a second condition: `&& x.matches(..)`",
        _ => "",
    }
}

/// Returns text in quotes, on one line and cut if it is long.
fn quoted(text: &str) -> String {
    if text.chars().count() <= QUOTED {
        return format!("`{}`", text.escape_debug());
    }
    let start: String = text.chars().take(QUOTED).collect();
    format!("`{}..`", start.escape_debug())
}
