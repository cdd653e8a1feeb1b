//! [`CheckedTree`]: a rule whose tree is that of CEL.

use super::necessary::CelShapes;
use super::residual::Residual;
use crate::context::Host;
use crate::error::EvalError;
use crate::fields::Fields;
use crate::function::Functions;
use crate::interpret::{Constants, Recorded, Recorder, interpret, interpret_recorded};
use crate::language::{KnownNames, PartCost, Role, RuleTree, necessary, part_costs};
use crate::library::Cx;
use crate::lint::{self, Validator};
use crate::lower::{Lowered, calls_impure, lower};
use crate::report::{Known, Words, describe_checked};
use crate::value::Value;
use celero_frontend::{
    Checked, Declarations, Diagnostic, Expr, Language, Limits, NodeId, Reference, Span, Type, UnaryOp, Variable,
    dump_checked, inline, unparse_node, with_stack,
};
use celero_ir::layout::Field as Layout;
use celero_matching::pattern::{Dialect, PatternCache};
use std::sync::Arc;

/// A rule of a [`Language`].
#[derive(Debug)]
pub(crate) struct CheckedTree {
    /// The tree as written: what is shown to people.
    pub(super) written: Checked,
    /// The tree with the bodies of functions defined in CEL in the places of their calls; `None` if it calls none.
    inlined: Option<Checked>,
    /// Of the tree that is evaluated.
    constants: Constants,
    language: Arc<dyn Language>,
}

impl CheckedTree {
    pub(super) fn new(written: Checked, language: Arc<dyn Language>) -> Self {
        Self { written, inlined: None, constants: Constants::default(), language }
    }

    /// The tree with the bodies of functions defined in CEL in the places of their calls.
    ///
    /// # Errors
    /// It exceeds the limits.
    pub(super) fn inlined(self, declarations: &Declarations, limits: &Limits) -> Result<Self, Vec<Diagnostic>> {
        let inlined = inline(&self.written, declarations, limits)?;
        Ok(Self { inlined, ..self })
    }

    /// The tree as it is written, with calls of functions defined in CEL.
    pub(crate) fn as_written(&self) -> &Checked {
        &self.written
    }

    /// The tree that is evaluated.
    pub(crate) fn evaluated(&self) -> &Checked {
        self.inlined.as_ref().unwrap_or(&self.written)
    }
}

/// Whether a node is a variable or a part of its value.
fn reads(tree: &Checked, mut id: NodeId) -> bool {
    loop {
        match *tree.ast().expr(id) {
            Expr::Ident { .. } => return true,
            Expr::Select { operand, test: false, .. } | Expr::Index { operand, .. } => id = operand,
            _ => return false,
        }
    }
}

impl RuleTree for CheckedTree {
    fn source(&self) -> &str {
        self.written.ast().source()
    }

    fn result_type(&self) -> Type {
        self.written.result_type().clone()
    }

    fn type_name(&self) -> String {
        self.written.result_type().to_string()
    }

    fn unparse(&self) -> String {
        self.language.unparse(&self.written)
    }

    fn dump(&self) -> String {
        dump_checked(&self.written)
    }

    fn is_variable(&self) -> bool {
        let (tree, root) = (self.evaluated(), self.root());
        let is_test = tree.ast().expr(root).is_test();
        !is_test && matches!(tree.reference(root), Reference::Variable(_))
    }

    fn node_count(&self) -> usize {
        self.evaluated().ast().nodes().len()
    }

    fn root(&self) -> NodeId {
        self.evaluated().ast().root()
    }

    fn span(&self, id: NodeId) -> Span {
        self.evaluated().ast().span(id)
    }

    fn is_literal(&self, id: NodeId) -> bool {
        matches!(self.evaluated().ast().expr(id), Expr::Literal(_))
    }

    fn add_parts(&self, id: NodeId, parts: &mut Vec<NodeId>) {
        let tree = self.evaluated();
        // The beginning of a name with points is not evaluated.
        if !tree.reference(id).is_name() {
            tree.ast().each_child(id, |child| parts.push(child));
        }
    }

    fn role(&self, id: NodeId, parts: &mut Vec<NodeId>) -> Role {
        let tree = self.evaluated();
        match *tree.ast().expr(id) {
            Expr::Logic { operands, .. } => {
                parts.extend_from_slice(tree.ast().children(operands));
                Role::SameResult
            }
            Expr::Unary { op: UnaryOp::Not, operand } => {
                parts.push(operand);
                Role::Evaluated
            }
            Expr::Bind { body, .. } => {
                parts.push(body);
                Role::Evaluated
            }
            Expr::Cond { .. } => {
                self.add_parts(id, parts);
                Role::Evaluated
            }
            // The check of a definition's argument or result.
            Expr::Call { .. } if matches!(tree.reference(id), Reference::Guard(_)) => {
                self.add_parts(id, parts);
                Role::Evaluated
            }
            _ if reads(tree, id) => Role::Read,
            _ => {
                self.add_parts(id, parts);
                Role::Computed
            }
        }
    }

    fn copied_text(&self, id: NodeId) -> Option<String> {
        self.inlined.as_ref().map(|inlined| unparse_node(inlined.ast(), id))
    }

    fn inlined_nodes(&self) -> usize {
        self.inlined.as_ref().map_or(0, |inlined| inlined.ast().nodes().len())
    }

    fn case_steps(&self, limit: usize, dialect: Dialect) -> Result<usize, Diagnostic> {
        lint::case_steps(self.evaluated(), limit, dialect)
    }

    fn fields(&self, variables: &[Variable], layouts: &[Layout]) -> Fields {
        Fields::of(self.evaluated(), variables, layouts)
    }

    fn asks_lists(&self) -> bool {
        self.evaluated().asks_lists()
    }

    fn calls_impure(&self, functions: &Functions) -> bool {
        calls_impure(self.evaluated(), functions)
    }

    fn lint(&self, layouts: &[Layout], patterns: &PatternCache) -> Vec<Diagnostic> {
        lint::lint(&self.written, layouts, patterns)
    }

    fn validate(
        &self,
        validators: &[Validator],
        patterns: &PatternCache,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Vec<Diagnostic> {
        let mut refused = Vec::new();
        // A language may check its source again to find its expressions.
        if !validators.is_empty() {
            self.language.each_expression(&self.written, declarations, limits, &mut |expression, place| {
                let found = lint::validate(expression, validators, patterns);
                refused.extend(found.into_iter().map(|error| error.placed(place)));
            });
        }
        refused
    }

    fn guard_warnings(&self, layouts: &[Layout], variables: &[Variable], fails_open: bool) -> Vec<Diagnostic> {
        lint::guard_warnings(self.evaluated(), layouts, variables, fails_open)
    }

    fn part_costs(&self) -> Vec<PartCost> {
        part_costs(self.evaluated())
    }

    fn interpret<'a>(
        &'a self,
        recorder: Option<&Recorder<'a>>,
        functions: &'a Functions,
        host: &'a dyn Host,
        cx: &Cx<'a>,
        place: &mut Value<'a>,
    ) -> Result<(), EvalError> {
        match recorder {
            Some(recorder) => interpret_recorded(recorder, self.evaluated(), functions, host, cx, place),
            None => interpret(self.evaluated(), &self.constants, functions, host, cx, place),
        }
    }

    fn write_residual(&self, results: &[Recorded<'_>], out: &mut String) {
        let tree = self.evaluated();
        if self.language.has_parts_in_source() {
            with_stack(tree.ast().depth(), || Residual { tree, results }.write(out));
        } else {
            out.push_str(self.source());
        }
    }

    fn necessary(&self, names: KnownNames<'_>) -> Option<String> {
        let tree = &self.written;
        let has_parts = self.language.has_parts_in_source();
        has_parts.then(|| necessary(&mut CelShapes::new(names), (tree, tree.ast().root()), self.source()))?
    }

    fn lower(&self, functions: &Functions, layouts: &[Layout]) -> Result<Lowered, String> {
        Ok(lower(self.evaluated(), functions, layouts))
    }

    fn describe(&self, error: EvalError, host: &dyn Host, known: &Known<'_>) -> Words {
        describe_checked(self.evaluated(), error, host, known)
    }
}
