//! Checked expressions: what programs and rule sets are made from, and their evaluation by the interpreter.

mod checked_rule;
mod deciding;
mod partial;
mod trace;

pub use checked_rule::{CheckedRule, TextPiece};
pub use partial::{Partial, Unknowns};
pub use trace::{PartResult, Trace, TracedPart};

pub(crate) use partial::decided;

use crate::context::Host;
use crate::error::{ErrorKind, EvalError};
use crate::fields::Fields;
use crate::function::{Functions, contained};
use crate::interpret::Recorder;
use crate::language::{KnownNames, PartCost, Piece, RuleLanguage, RuleTree, StaticCost};
use crate::library::Cx;
use crate::lint;
use crate::report::{Known, Report};
use crate::value::Value;
use celero_frontend::{Declarations, Diagnostic, Limits, Span, Stage, Style, Type, Variable};
use celero_ir::layout::Field as Layout;
use celero_lists::Lists;
use celero_matching::pattern::Dialect;
use std::sync::Arc;

/// A checked expression and the warnings about it.
#[derive(Debug)]
pub(crate) struct Expression {
    tree: Box<dyn RuleTree>,
    language: Arc<dyn RuleLanguage>,
    ty: Type,
    warnings: Vec<Diagnostic>,
    /// See [`Limits::case_steps`](crate::Limits::case_steps).
    case_steps: usize,
}

impl Expression {
    /// Parses and checks a source, and puts the bodies of functions defined in CEL in the places of their calls.
    ///
    /// # Errors
    /// Every diagnostic.
    pub(crate) fn of(
        source: &str,
        language: &Arc<dyn RuleLanguage>,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<Self, Vec<Diagnostic>> {
        let (tree, warnings) = language.check(source, declarations, limits)?;
        Ok(Self::new(tree, language, warnings))
    }

    /// An expression whose value is the text of these pieces.
    ///
    /// # Errors
    /// As [`RuleLanguage::text`].
    pub(crate) fn text(
        pieces: &[Piece<'_>],
        language: &Arc<dyn RuleLanguage>,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<Self, (String, Vec<Diagnostic>)> {
        let tree = language.text(pieces, declarations, limits)?;
        Ok(Self::new(tree, language, Vec::new()))
    }

    /// A condition that reads only what is known, and is false only where this one is, in the same
    /// language; `None` if there is none within the limits.
    pub(crate) fn necessary(&self, names: KnownNames<'_>, limits: &Limits) -> Option<Self> {
        let source = self.tree.necessary(names)?;
        let necessary = Self::of(&source, &self.language, names.declarations, limits).ok()?;
        (!necessary.tree.calls_impure(names.functions)).then_some(necessary)
    }

    fn new(tree: Box<dyn RuleTree>, language: &Arc<dyn RuleLanguage>, warnings: Vec<Diagnostic>) -> Self {
        let ty = tree.result_type();
        Self { tree, language: Arc::clone(language), ty, warnings, case_steps: 0 }
    }

    /// Counts the steps for letter cases of its patterns.
    ///
    /// # Errors
    /// They are more than `limit`; at the pattern that exceeds it.
    pub(crate) fn count_case_steps(&mut self, limit: usize, dialect: Dialect) -> Result<(), Diagnostic> {
        self.case_steps = self.tree.case_steps(limit, dialect)?;
        Ok(())
    }

    /// The steps for letter cases of its patterns.
    pub(crate) fn case_steps(&self) -> usize {
        self.case_steps
    }

    /// The static cost of the whole.
    pub(crate) fn static_cost(&self) -> StaticCost {
        self.tree.part_costs().last().map_or(StaticCost::default(), |whole| whole.cost)
    }

    /// See [`CheckedRule::costliest_part`].
    pub(crate) fn costliest_part(&self, elements: u64) -> Option<PartCost> {
        let parts = self.tree.part_costs();
        let most = parts.last()?.cost.most_for(elements);
        // Parts come before what they are parts of. A cost that is not known is above all others.
        parts.into_iter().find(|part| {
            let of_part = part.cost.most_for(elements);
            of_part == u64::MAX || of_part.saturating_mul(2) > most
        })
    }

    /// See [`CheckedRule::too_costly`].
    pub(crate) fn too_costly(&self, limit: u64, elements: u64) -> Option<Diagnostic> {
        // Parts come before what they are parts of.
        let part = self.tree.part_costs().into_iter().find(|part| part.cost.most_for(elements) > limit)?;
        let most = match part.cost.most_for(elements) {
            u64::MAX => "uncounted".to_owned(),
            most => most.to_string(),
        };
        let message = format!(
            "this takes up to {most} operations if lists and maps have up to {elements} elements, more than {limit} (`operations`)"
        );
        Some(Diagnostic::error(Stage::Limit, lint::TOO_COSTLY, part.span, message))
    }

    /// Replaces the warnings.
    pub(crate) fn with_warnings(self, warnings: Vec<Diagnostic>) -> Self {
        Self { warnings, ..self }
    }

    /// The tree.
    pub(crate) fn tree(&self) -> &dyn RuleTree {
        &*self.tree
    }

    /// Whether checking the source in this language gives this expression.
    pub(crate) fn is_in(&self, language: &Arc<dyn RuleLanguage>) -> bool {
        self.language.is_same(&**language)
    }

    /// What an evaluation can read of the context.
    pub(crate) fn fields(&self, variables: &[Variable], layouts: &[Layout]) -> Fields {
        self.tree.fields(variables, layouts)
    }

    /// The static type of the result.
    pub(crate) fn result_type(&self) -> &Type {
        &self.ty
    }

    /// The place of the whole expression.
    pub(crate) fn span(&self) -> Span {
        self.tree.span(self.tree.root())
    }

    pub(crate) fn source(&self) -> &str {
        self.tree.source()
    }

    /// The lists of the host, if the evaluated tree asks any.
    pub(crate) fn lists<'f>(&self, functions: &'f Functions) -> Option<&'f Lists> {
        let lists = &functions.lists()?.lists;
        self.tree.asks_lists().then_some(lists)
    }

    /// Whether the evaluated tree calls no impure function and asks no list.
    pub(crate) fn is_pure(&self, functions: &Functions) -> bool {
        self.lists(functions).is_none() && !self.tree.calls_impure(functions)
    }

    pub(crate) fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The warnings as text, with the source lines that they are about.
    pub(crate) fn render_warnings(&self, origin: &str, color: bool) -> String {
        let style = if color { Style::Ansi } else { Style::Plain };
        celero_frontend::render(self.source(), origin, &self.warnings, style)
    }

    /// Evaluates the expression with the interpreter, and records the results of its nodes if somebody wants them.
    ///
    /// # Errors
    /// The evaluation's error; [`EvalError::HOST`] if the host's data panics, as in native code.
    // Neither is inlined: native code, which is evaluated in the same places, would take the stack for it.
    #[inline(never)]
    pub(crate) fn interpret<'a>(
        &'a self,
        recorder: Option<&Recorder<'a>>,
        functions: &'a Functions,
        host: &'a dyn Host,
        cx: &Cx<'a>,
    ) -> Result<Value<'a>, EvalError> {
        let mut value = Value::Null;
        self.interpret_into(recorder, functions, host, cx, &mut value)?;
        Ok(value)
    }

    /// Evaluates the expression with the interpreter as a rule.
    ///
    /// # Errors
    /// Those of [`interpret`](Self::interpret) and [`truth`](Self::truth).
    #[inline(never)]
    pub(crate) fn test(&self, functions: &Functions, host: &dyn Host, cx: &Cx<'_>) -> Result<bool, EvalError> {
        let mut value = Value::Null;
        self.interpret_into(None, functions, host, cx, &mut value)?;
        self.truth(&value)
    }

    #[inline]
    fn interpret_into<'a>(
        &'a self,
        recorder: Option<&Recorder<'a>>,
        functions: &'a Functions,
        host: &'a dyn Host,
        cx: &Cx<'a>,
        place: &mut Value<'a>,
    ) -> Result<(), EvalError> {
        match contained(|| self.tree.interpret(recorder, functions, host, cx, place)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(error.widen_budget_error(self.source())),
            Err(()) => Err(EvalError::HOST),
        }
    }

    /// Puts an error of an evaluation into words. Evaluates the expression again, as far as it is pure.
    pub(crate) fn describe(&self, error: EvalError, host: &dyn Host, known: &Known<'_>) -> Report {
        Report::new(self.source(), error, self.tree.describe(error, host, known))
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
        let span = self.span();
        Err(EvalError { kind: ErrorKind::NoSuchOverload, start: span.start, end: span.end })
    }
}
