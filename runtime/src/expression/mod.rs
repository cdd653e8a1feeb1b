//! Checked expressions: what programs and rule sets are made from, and their evaluation by the interpreter.

mod checked_rule;
mod text;
mod trace;

pub use checked_rule::CheckedRule;
pub use text::TextPiece;
pub(crate) use text::text;
pub use trace::{PartResult, Trace, TracedPart};

use crate::context::Host;
use crate::env::{FilterBinding, RuleLanguage};
use crate::error::{ErrorKind, EvalError};
use crate::fields::Fields;
use crate::filter::Filter;
use crate::function::{Functions, contained};
use crate::interpret::interpret;
use crate::library::Cx;
use crate::lint;
use crate::lower::is_pure;
use crate::value::Value;
use celero_frontend::filter::{FilterExpr, unparse_filter};
use celero_frontend::{
    Cel, Checked, Declarations, Diagnostic, Language, Limits, NodeId, Reference, Span, Type, Variable,
};
use celero_ir::layout::Field as Layout;
use celero_lists::Lists;
use std::sync::Arc;

/// A checked expression and the warnings about it.
#[derive(Debug)]
pub(crate) struct Expression {
    tree: Tree,
    ty: Type,
    warnings: Vec<Diagnostic>,
    /// See [`Limits::case_steps`](crate::Limits::case_steps).
    case_steps: usize,
}

/// The tree of an expression, by the family of its language.
#[derive(Debug)]
pub(crate) enum Tree {
    /// That of a [`Language`].
    Checked(CheckedTree),
    /// That of the filter language.
    Filter(FilterRule),
}

/// A tree of a [`Language`].
#[derive(Debug)]
pub(crate) struct CheckedTree {
    /// The tree as written: what is shown to people.
    pub(crate) written: Checked,
    /// The tree with the bodies of functions defined in CEL in the places of their calls; `None` if it calls none.
    inlined: Option<Checked>,
    language: Arc<dyn Language>,
}

impl CheckedTree {
    /// The tree that is evaluated.
    pub(crate) fn evaluated(&self) -> &Checked {
        self.inlined.as_ref().unwrap_or(&self.written)
    }
}

/// A rule in the filter language, with the language of its environment.
#[derive(Debug)]
pub(crate) struct FilterRule {
    pub(crate) filter: Filter,
    pub(crate) binding: Arc<FilterBinding>,
    /// The nodes of the large expressions whose values its fields have, at each use.
    inlined_nodes: usize,
}

impl Expression {
    /// Parses and checks a source, and puts the bodies of functions defined in CEL in the places of their calls.
    ///
    /// # Errors
    /// Every diagnostic.
    pub(crate) fn of(
        source: &str,
        language: &RuleLanguage,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<Self, Vec<Diagnostic>> {
        match language {
            RuleLanguage::Checked(language) => {
                let (written, warnings) = language.check(source, declarations, limits)?;
                Self::of_tree(written, Arc::clone(language), warnings, declarations, limits)
            }
            RuleLanguage::Filter(binding) => {
                let (tree, warnings) = binding.check(source, limits)?;
                let inlined_nodes = binding.inlined_nodes(&tree, limits).map_err(|excess| vec![excess])?;
                let ty = Type::from(tree.result_type());
                let filter = Filter::of_tree(tree, Vec::new())?;
                let tree = Tree::Filter(FilterRule { filter, binding: Arc::clone(binding), inlined_nodes });
                Ok(Self { tree, ty, warnings, case_steps: 0 })
            }
        }
    }

    /// Counts the steps for letter cases of its patterns.
    ///
    /// # Errors
    /// They are more than `limit`; at the pattern that exceeds it.
    pub(crate) fn count_case_steps(&mut self, limit: usize) -> Result<(), Diagnostic> {
        self.case_steps = match &self.tree {
            Tree::Checked(tree) => lint::case_steps(tree.evaluated(), limit),
            Tree::Filter(rule) => lint::filter_case_steps(rule.filter.tree(), limit),
        }?;
        Ok(())
    }

    /// The nodes of the evaluated tree, if it has bodies of functions defined in CEL; otherwise 0.
    pub(crate) fn inlined_nodes(&self) -> usize {
        match &self.tree {
            Tree::Checked(tree) => tree.inlined.as_ref().map_or(0, |inlined| inlined.ast().nodes().len()),
            Tree::Filter(rule) => rule.inlined_nodes,
        }
    }

    /// The steps for letter cases of its patterns.
    pub(crate) fn case_steps(&self) -> usize {
        self.case_steps
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
        Self::of_tree(written, Arc::new(Cel), Vec::new(), declarations, limits)
    }

    fn of_tree(
        written: Checked,
        language: Arc<dyn Language>,
        warnings: Vec<Diagnostic>,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<Self, Vec<Diagnostic>> {
        let inlined = celero_frontend::inline(&written, declarations, limits)?;
        let ty = written.result_type().clone();
        let tree = Tree::Checked(CheckedTree { written, inlined, language });
        Ok(Self { tree, ty, warnings, case_steps: 0 })
    }

    /// The tree.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Whether checking the source in this language gives this expression.
    pub(crate) fn is_in(&self, language: &RuleLanguage) -> bool {
        match (&self.tree, language) {
            (Tree::Checked(tree), RuleLanguage::Checked(language)) => tree.language.name() == language.name(),
            (Tree::Filter(rule), RuleLanguage::Filter(binding)) => Arc::ptr_eq(&rule.binding, binding),
            _ => false,
        }
    }

    /// What an evaluation can read of the context.
    pub(crate) fn fields(&self, variables: &[Variable], fields: &[Layout]) -> Fields {
        match &self.tree {
            Tree::Checked(tree) => Fields::of(tree.evaluated(), variables, fields),
            Tree::Filter(rule) => rule.filter.fields(&rule.binding, variables, fields),
        }
    }

    /// The tree of a [`Language`]; `None` in the filter language.
    pub(crate) fn checked(&self) -> Option<&CheckedTree> {
        if let Tree::Checked(tree) = &self.tree { Some(tree) } else { None }
    }

    /// The static type of the result.
    pub(crate) fn result_type(&self) -> &Type {
        &self.ty
    }

    /// The name of the type of the result, in the language of the rule.
    pub(crate) fn type_name(&self) -> String {
        match &self.tree {
            Tree::Checked(_) => self.ty.to_string(),
            Tree::Filter(rule) => rule.filter.tree().result_type().to_string(),
        }
    }

    /// The place of the whole expression.
    pub(crate) fn span(&self) -> Span {
        match &self.tree {
            Tree::Checked(CheckedTree { written, .. }) => written.ast().span(written.ast().root()),
            Tree::Filter(rule) => rule.filter.tree().node(rule.filter.tree().root()).span,
        }
    }

    /// The text of the tree on one line, in its language.
    pub(crate) fn unparse(&self) -> String {
        match &self.tree {
            Tree::Checked(tree) => tree.language.unparse(&tree.written),
            Tree::Filter(rule) => unparse_filter(rule.filter.tree()),
        }
    }

    pub(crate) fn source(&self) -> &str {
        match &self.tree {
            Tree::Checked(tree) => tree.written.ast().source(),
            Tree::Filter(rule) => rule.filter.tree().source(),
        }
    }

    /// The lists of the host, if the evaluated tree asks any.
    pub(crate) fn lists<'f>(&self, functions: &'f Functions) -> Option<&'f Lists> {
        let lists = &functions.lists()?.lists;
        let asks = match &self.tree {
            Tree::Checked(tree) => tree.evaluated().asks_lists(),
            Tree::Filter(rule) => rule.filter.tree().lists().next().is_some() || rule.binding.asks_lists(),
        };
        asks.then_some(lists)
    }

    /// Whether the evaluated tree calls no impure function and asks no list.
    pub(crate) fn is_pure(&self, functions: &Functions) -> bool {
        self.lists(functions).is_none() && !self.calls_impure(functions)
    }

    /// Whether the evaluated tree calls an impure function.
    pub(crate) fn calls_impure(&self, functions: &Functions) -> bool {
        let checked = match &self.tree {
            Tree::Checked(tree) => tree.evaluated(),
            Tree::Filter(rule) => return !rule.is_pure(functions),
        };
        let mut ids = (0..u32::try_from(checked.ast().nodes().len()).unwrap_or(u32::MAX)).map(NodeId);
        ids.any(|id| match checked.reference(id) {
            Reference::Call { overloads, .. } => !overloads.iter().all(|called| is_pure(called, functions)),
            _ => false,
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
        let evaluated = contained(|| match &self.tree {
            Tree::Checked(tree) => {
                let mut value = Value::Null;
                interpret(tree.evaluated(), functions, host, cx, &mut value).map(|()| value)
            }
            Tree::Filter(rule) => rule.filter.interpret(&rule.binding, functions, host, cx),
        });
        evaluated.unwrap_or(Err(EvalError::HOST)).map_err(|error| error.settled(self.source()))
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

impl FilterRule {
    /// Whether the rule calls no impure function of the host.
    fn is_pure(&self, functions: &Functions) -> bool {
        let calls = self.filter.tree().nodes().iter().filter_map(|node| match node.expr {
            FilterExpr::Call { function, .. } => self.binding.host_function(function),
            _ => None,
        });
        calls.into_iter().all(|(index, _)| functions.is_pure(index))
    }
}
