//! [`Report`]: why an evaluation failed, in words.
//!
//! An [`EvalError`] is a kind and a place, which costs nothing to make. The rest is found out when
//! a report is asked for: the interpreter evaluates the expression once more, with a witness that
//! keeps the operands of what fails (`facts.rs`), and `cause.rs` puts them into words. Impure
//! functions are not called again: what they said is kept where they failed
//! (`function/message.rs`).

mod cause;
mod described;
mod facts;
mod failed;
mod operand;

pub use described::DescribedError;
pub(crate) use facts::{Known, Words, describe_checked};
pub(crate) use operand::{on_one_line, text_of};

use crate::error::{ErrorKind, EvalError};
use celero_frontend::{Diagnostic, Severity, Span, Stage, Style};
use std::fmt;

/// Why an evaluation failed, in words: which key, index, pattern, variable, overload, or what the host's function says.
///
/// Made by [`Program::describe`](crate::Program::describe),
/// [`RuleSet::describe`](crate::RuleSet::describe) and [`Rules::describe`](crate::sets::Rules::describe).
/// Displays on one line: `rule "admin": no header "x-team" (at 12..38); guard it with ..`.
/// [`render`](Self::render) shows it under the source, as compile errors are shown.
///
/// ```
/// use celero::http::RequestContext;
/// use celero::{Engine, Env};
///
/// let env = Env::<RequestContext>::new();
/// let program = Engine::new().compile(&env, r#"request.headers["x-team"] == "ops""#)?;
/// let request = http::Request::new(());
/// let context = RequestContext::new(&request);
/// let error = program.test(&context).unwrap_err();
/// let report = program.describe(&error, &context);
/// assert_eq!(report.message(), r#"no header "x-team""#);
/// assert!(report.render("team.cel", false).contains("team.cel:1:1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Report {
    rule: Option<Box<str>>,
    source: Box<str>,
    error: EvalError,
    /// With the values that the evaluation met.
    diagnostic: Diagnostic,
    /// The message without the text of the context's data.
    redacted: String,
}

impl Report {
    /// A report about an error of a rule with this source.
    pub(crate) fn new(source: &str, error: EvalError, words: Words) -> Self {
        let Words { message, redacted, help } = words;
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            stage: Stage::Check,
            code: error.kind.name(),
            message,
            span: error.span(),
            labels: Vec::new(),
            help: help.into_iter().collect(),
        };
        Self { rule: None, source: source.into(), error, diagnostic, redacted }
    }

    /// The report with the name of the rule.
    pub(crate) fn of_rule(self, name: &str) -> Self {
        Self { rule: Some(name.into()), ..self }
    }

    /// Returns the report about a part of the source as if the part were the whole: for hosts that
    /// put a condition of their own before that of an author, which begins `start` bytes after it.
    #[must_use]
    pub fn of_part(mut self, start: u32) -> Self {
        self.error.start = self.error.start.saturating_sub(start);
        self.error.end = self.error.end.saturating_sub(start);
        self.diagnostic.span = self.error.span();
        self.source = self.source.get(start as usize..).unwrap_or_default().into();
        self
    }

    /// Returns the error.
    #[must_use]
    pub fn error(&self) -> EvalError {
        self.error
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.error.kind
    }

    /// Returns the place in the source.
    #[must_use]
    pub fn span(&self) -> Span {
        self.error.span()
    }

    /// Returns the name of the rule; `None` for an expression that is not in a set.
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    /// Returns what is wrong, on one line, without the place: `no header "x-team"`. Values of the
    /// context may be in it, each cut after 64 characters.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.diagnostic.message
    }

    /// Returns the message without text of the context's data, for logs: only literals of the rule,
    /// numbers, types, names, and what a function of the host says are in it.
    #[must_use]
    pub fn redacted(&self) -> &str {
        &self.redacted
    }

    /// Returns what the author of the rule can do about it.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.diagnostic.help.first().map(String::as_str)
    }

    /// Returns the report as a diagnostic, like those of a compile error. Its code is the name of the error's kind.
    #[must_use]
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }

    /// Returns the report under the line of the source that it is about. `origin` names the source,
    /// such as a file; `color` adds ANSI colours.
    #[must_use]
    pub fn render(&self, origin: &str, color: bool) -> String {
        let style = if color { Style::Ansi } else { Style::Plain };
        celero_frontend::render(&self.source, origin, std::slice::from_ref(&self.diagnostic), style)
    }

    /// Returns the report as an error that displays as [`render`](Self::render) does, for `?`.
    ///
    /// ```
    /// use celero::http::RequestContext;
    /// use celero::{Engine, Env, Scratch};
    ///
    /// let env = Env::<RequestContext>::new();
    /// let rules = Engine::new().rules(&env).rule("team", r#"request.headers["x-team"] == "ops""#, ()).build()?;
    /// let request = http::Request::new(());
    /// let context = RequestContext::new(&request);
    /// let error = rules.first(&context, &mut Scratch::new()).unwrap_err();
    /// let error = rules.describe(&error, &context).expect("the rule exists").into_error();
    /// assert!(error.to_string().starts_with(r#"error[no_such_key]: no header "x-team""#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn into_error(self) -> DescribedError {
        DescribedError::new(self)
    }

    /// Returns the line that the report displays as, without text of the context's data, for logs: with the message as
    /// [`redacted`](Self::redacted) describes it.
    #[must_use]
    pub fn log_line(&self) -> String {
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = self.line(&mut line, &self.redacted);
        line
    }

    fn line(&self, f: &mut impl fmt::Write, message: &str) -> fmt::Result {
        if let Some(rule) = &self.rule {
            write!(f, "rule \"{}\": ", rule.escape_debug())?;
        }
        f.write_str(message)?;
        if self.error.end > 0 {
            write!(f, " (at {}..{})", self.error.start, self.error.end)?;
        }
        self.help().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.line(f, self.message())
    }
}

impl std::error::Error for Report {}
