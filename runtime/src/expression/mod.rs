//! Checked expressions: what programs and rule sets are made from, and their evaluation by the interpreter.

mod checked_rule;
mod text;

pub use checked_rule::CheckedRule;
pub use text::TextPiece;
pub(crate) use text::text;

use crate::context::Host;
use crate::error::{ErrorKind, EvalError};
use crate::function::{Functions, contained};
use crate::interpret::interpret;
use crate::library::Cx;
use crate::lower::is_pure;
use crate::value::Value;
use celero_frontend::{Cel, Checked, Declarations, Diagnostic, Language, Limits, NodeId, Reference};
use std::sync::Arc;

/// A checked expression and the warnings about it.
#[derive(Debug)]
pub(crate) struct Expression {
    /// The tree as written.
    written: Checked,
    /// The tree with the bodies of functions defined in CEL in the places of their calls; `None` if it calls none.
    inlined: Option<Checked>,
    warnings: Vec<Diagnostic>,
    language: Arc<dyn Language>,
}

impl Expression {
    /// Parses and checks a source, and puts the bodies of functions defined in CEL in the places of their calls.
    ///
    /// # Errors
    /// Every diagnostic.
    pub(crate) fn of(
        source: &str,
        language: &Arc<dyn Language>,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<Self, Vec<Diagnostic>> {
        let (written, warnings) = language.check(source, declarations, limits)?;
        let inlined = celero_frontend::inline(&written, declarations, limits)?;
        Ok(Self { written, inlined, warnings, language: Arc::clone(language) })
    }

    /// Replaces the warnings.
    pub(crate) fn with_warnings(self, warnings: Vec<Diagnostic>) -> Self {
        Self { warnings, ..self }
    }

    /// An expression from a tree that is CEL.
    ///
    /// # Errors
    /// With the bodies of functions in the places of their calls, the tree exceeds the limits.
    pub(crate) fn of_cel(
        written: Checked,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<Self, Vec<Diagnostic>> {
        let inlined = celero_frontend::inline(&written, declarations, limits)?;
        Ok(Self { written, inlined, warnings: Vec::new(), language: Arc::new(Cel) })
    }

    /// The tree as written: what is shown to people.
    pub(crate) fn written(&self) -> &Checked {
        &self.written
    }

    /// The text of the tree on one line, in its language.
    pub(crate) fn unparse(&self) -> String {
        self.language.unparse(&self.written)
    }

    /// The tree that is evaluated.
    pub(crate) fn evaluated(&self) -> &Checked {
        self.inlined.as_ref().unwrap_or(&self.written)
    }

    pub(crate) fn source(&self) -> &str {
        self.written.ast().source()
    }

    /// Whether the evaluated tree calls no impure function.
    pub(crate) fn is_pure(&self, functions: &Functions) -> bool {
        let checked = self.evaluated();
        let mut ids = (0..u32::try_from(checked.ast().nodes().len()).unwrap_or(u32::MAX)).map(NodeId);
        ids.all(|id| match checked.reference(id) {
            Reference::Call { overloads, .. } => overloads.iter().all(|called| is_pure(called, functions)),
            _ => true,
        })
    }

    pub(crate) fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Evaluates the expression with the interpreter.
    ///
    /// # Errors
    /// The evaluation's error; [`EvalError::HOST`] if the host's data panics, as in native code.
    #[inline(never)]
    pub(crate) fn interpret<'a>(
        &'a self,
        functions: &'a Functions,
        host: &'a dyn Host,
        cx: &Cx<'a>,
    ) -> Result<Value<'a>, EvalError> {
        let mut value = Value::Null;
        contained(|| interpret(self.evaluated(), functions, host, cx, &mut value))
            .unwrap_or(Err(EvalError::HOST))
            .map_err(|error| error.settled(self.source()))?;
        Ok(value)
    }

    /// Returns the result of a rule.
    ///
    /// # Errors
    /// `no_such_overload` for a value that is no `bool`.
    #[inline]
    pub(crate) fn truth(&self, value: &Value<'_>) -> Result<bool, EvalError> {
        if let Value::Bool(truth) = value {
            return Ok(*truth);
        }
        let ast = self.written.ast();
        let span = ast.span(ast.root());
        Err(EvalError { kind: ErrorKind::NoSuchOverload, start: span.start, end: span.end })
    }
}
