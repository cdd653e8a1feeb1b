//! The errors of compilations and evaluations.

pub use celero_ir::ErrorKind;

use celero_frontend::{Diagnostic, Span, Style};
use std::fmt;
use std::sync::Arc;

/// An evaluation error: what went wrong, and where in the rule's source.
///
/// It is a kind and a place, because creating it costs nothing. Which key, header or index, what the
/// host's function says, and the line of the rule are found when they are asked for:
/// [`Program::describe`](crate::Program::describe) and [`RuleSet::describe`](crate::RuleSet::describe)
/// make a [`Report`](crate::diagnostics::Report), and
/// [`Program::test_described`](crate::Program::test_described) fails with an error that displays as
/// all that. This one displays as ``no such key (at 12..38; `Program::describe` says more)``.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvalError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// Byte offset in the source at which the failed expression starts. Both tiers give the same
    /// place. A spent budget belongs to the whole rule, because the tiers count different steps.
    pub start: u32,
    /// Byte offset at which it ends, exclusive.
    pub end: u32,
}

impl EvalError {
    /// Returns the place in the source: the expression that failed.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }

    /// The error as the host gets it: a spent budget belongs to the whole source.
    pub(crate) fn widen_budget_error(self, source: &str) -> Self {
        if self.kind != ErrorKind::OutOfBudget {
            return self;
        }
        let end = source.trim_end().len();
        let start = source.len().saturating_sub(source.trim_start().len()).min(end);
        let offset = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        Self { start: offset(start), end: offset(end), ..self }
    }

    /// A failure of the host that belongs to no place of the rule.
    pub(crate) const HOST: Self = Self { kind: ErrorKind::Host, start: 0, end: 0 };
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {}..{}; `Program::describe` says more)", self.kind, self.start, self.end)
    }
}

impl std::error::Error for EvalError {}

/// The error of one rule of a [`RuleSet`](crate::RuleSet) or of [`Rules`](crate::sets::Rules).
///
/// Displays as `rule "admin": no such key (at 12..38)`;
/// [`RuleSet::describe`](crate::RuleSet::describe) says more. Two errors are equal if rule and
/// error are: the name follows from the rule.
#[derive(Clone, Debug)]
pub struct RuleError {
    /// The rule's index in its set.
    pub rule: usize,
    /// Why the rule has no result, and where in its source.
    pub error: EvalError,
    /// The rule's name, in errors that an evaluation returns.
    name: Option<Box<str>>,
}

impl RuleError {
    /// Creates the error of a rule without a name.
    #[must_use]
    pub fn new(rule: usize, error: EvalError) -> Self {
        Self { rule, error, name: None }
    }

    /// The error with the name of its rule, if it has one.
    pub(crate) fn named(self, name: &str) -> Self {
        Self { name: (!name.is_empty()).then(|| name.into()), ..self }
    }

    /// Returns the rule's name: of an error that an evaluation returns.
    /// [`Scratch::errors`](crate::Scratch::errors) has the indices of rules only.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl PartialEq for RuleError {
    fn eq(&self, other: &Self) -> bool {
        (self.rule, self.error) == (other.rule, other.error)
    }
}

impl Eq for RuleError {}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "rule \"{}\": ", name.escape_debug())?,
            None => write!(f, "rule {}: ", self.rule)?,
        }
        let EvalError { kind, start, end } = self.error;
        write!(f, "{kind} (at {start}..{end})")
    }
}

impl std::error::Error for RuleError {}

/// Why an expression was rejected: all diagnostics, not only the first. Displays as source lines
/// with carets under what is wrong.
#[derive(Clone)]
pub struct CompileError {
    source: Arc<str>,
    diagnostics: Vec<Diagnostic>,
}

impl CompileError {
    pub(crate) fn new(source: &str, diagnostics: Vec<Diagnostic>) -> Self {
        Self { source: source.into(), diagnostics }
    }

    /// Returns all diagnostics, in the order of the source.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the diagnostics as text, with the source lines that they are about. `origin` names
    /// the source, such as a file; `color` adds ANSI colours.
    #[must_use]
    pub fn render(&self, origin: &str, color: bool) -> String {
        let style = if color { Style::Ansi } else { Style::Plain };
        celero_frontend::render(&self.source, origin, &self.diagnostics, style)
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render("rule", false))
    }
}

impl fmt::Debug for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As `Display`, because people `unwrap` it.
        write!(f, "\n{self}")
    }
}

impl std::error::Error for CompileError {}
