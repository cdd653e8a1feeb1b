//! [`FilterRule`]: a rule of the filter language, as the stages behind it see it.

use super::binding::{FilterBinding, Source};
use super::necessary::FilterShapes;
use super::static_cost::part_costs;
use super::{Filter, letter_cases, lint};
use crate::context::Host;
use crate::error::{ErrorKind, EvalError};
use crate::fields::Fields;
use crate::function::Functions;
use crate::interpret::{Recorded, Recorder};
use crate::language::{KnownNames, PartCost, Role, RuleTree, necessary};
use crate::library::Cx;
use crate::lower::Lowered;
use crate::report::{Known, Words};
use crate::value::Value;
use celero_frontend::filter::{Connective, FilterExpr, FilterTree, filter_json, unparse_filter};
use celero_frontend::{Diagnostic, Limits, NodeId, Span, Type, Variable, with_stack};
use celero_ir::layout::Field as Layout;
use celero_matching::pattern::{Dialect, PatternCache};
use std::sync::Arc;

/// A rule in the filter language, with the language of its environment.
#[derive(Debug)]
pub(crate) struct FilterRule {
    pub(crate) filter: Filter,
    pub(crate) binding: Arc<FilterBinding>,
    /// The nodes of the large expressions whose values its fields have, at each use.
    inlined_nodes: usize,
}

impl FilterRule {
    /// # Errors
    /// The rule exceeds the limits, or a pattern is too large.
    pub(super) fn new(
        tree: FilterTree,
        binding: &Arc<FilterBinding>,
        limits: &Limits,
    ) -> Result<Self, Vec<Diagnostic>> {
        let inlined_nodes = binding.inlined_nodes(&tree, limits).map_err(|excess| vec![excess])?;
        Ok(Self { filter: Filter::of_tree(tree, Vec::new())?, binding: Arc::clone(binding), inlined_nodes })
    }

    pub(super) fn tree(&self) -> &FilterTree {
        self.filter.tree()
    }
}

impl FilterRule {
    /// Writes a condition without the operands of `and` and `or` in it that are decided.
    fn write_undecided(&self, id: NodeId, results: &[Recorded<'_>], out: &mut String) {
        let tree = self.tree();
        let is_decided = |id: NodeId| {
            let value = results.get(id.0 as usize).and_then(Recorded::only_value);
            matches!(value, Some(Value::Bool(_)))
        };
        // Of what is decided, no operand may be left out: one that was not evaluated would be left.
        let (FilterExpr::Logic { op, operands }, false) = (tree.expr(id), is_decided(id)) else {
            let Span { start, end } = self.span(id);
            return out.push_str(self.source().get(start as usize..end as usize).unwrap_or_default());
        };
        let word = match op {
            Connective::And => "and",
            Connective::Or => "or",
            Connective::Xor => "xor",
        };
        let operands = tree.children(*operands);
        let undecided = operands.iter().filter(|operand| *op == Connective::Xor || !is_decided(**operand));
        for (at, &operand) in undecided.enumerate() {
            if at > 0 {
                out.push_str(&format!(" {word} "));
            }
            out.push('(');
            self.write_undecided(operand, results, out);
            out.push(')');
        }
    }
}

impl RuleTree for FilterRule {
    fn source(&self) -> &str {
        self.tree().source()
    }

    fn result_type(&self) -> Type {
        Type::from(self.tree().result_type())
    }

    fn type_name(&self) -> String {
        self.tree().result_type().to_string()
    }

    fn unparse(&self) -> String {
        unparse_filter(self.tree())
    }

    fn dump(&self) -> String {
        filter_json(self.tree()) + "\n"
    }

    fn is_variable(&self) -> bool {
        let field = |field| matches!(self.binding.source(field), Source::Variable(..));
        matches!(self.tree().expr(self.root()), FilterExpr::Field(index) if field(*index))
    }

    fn node_count(&self) -> usize {
        self.tree().nodes().len()
    }

    fn root(&self) -> NodeId {
        self.tree().root()
    }

    fn span(&self, id: NodeId) -> Span {
        self.tree().node(id).span
    }

    fn is_literal(&self, id: NodeId) -> bool {
        matches!(self.tree().expr(id), FilterExpr::Literal(_))
    }

    fn add_parts(&self, id: NodeId, parts: &mut Vec<NodeId>) {
        let tree = self.tree();
        match tree.expr(id) {
            FilterExpr::Field(_) | FilterExpr::Literal(_) => {}
            FilterExpr::Call { args, .. } => parts.extend_from_slice(tree.children(*args)),
            FilterExpr::Access { base: child, .. }
            | FilterExpr::Test(child)
            | FilterExpr::Compare { value: child, .. }
            | FilterExpr::Not(child)
            | FilterExpr::Quantifier { operand: child, .. } => parts.push(*child),
            FilterExpr::Logic { operands, .. } => parts.extend_from_slice(tree.children(*operands)),
        }
    }

    fn role(&self, id: NodeId, parts: &mut Vec<NodeId>) -> Role {
        let tree = self.tree();
        if let FilterExpr::Access { base, .. } = tree.expr(id)
            && matches!(tree.expr(*base), FilterExpr::Field(_))
        {
            return Role::Read;
        }
        self.add_parts(id, parts);
        match tree.expr(id) {
            FilterExpr::Field(_) => Role::Read,
            FilterExpr::Not(_) | FilterExpr::Test(_) | FilterExpr::Logic { op: Connective::Xor, .. } => Role::Evaluated,
            FilterExpr::Logic { .. } => Role::SameResult,
            _ => Role::Computed,
        }
    }

    fn inlined_nodes(&self) -> usize {
        self.inlined_nodes
    }

    fn case_steps(&self, limit: usize, _: Dialect) -> Result<usize, Diagnostic> {
        letter_cases::case_steps(self.tree(), limit)
    }

    fn fields(&self, variables: &[Variable], layouts: &[Layout]) -> Fields {
        self.filter.fields(&self.binding, variables, layouts)
    }

    fn asks_lists(&self) -> bool {
        self.tree().lists().next().is_some() || self.binding.asks_lists()
    }

    fn calls_impure(&self, functions: &Functions) -> bool {
        self.tree().nodes().iter().any(|node| match node.expr {
            FilterExpr::Call { function, .. } => {
                self.binding.host_function(function).is_some_and(|(index, _)| !functions.is_pure(index))
            }
            FilterExpr::Field(index) => self.binding.source(index).calls_impure(functions),
            _ => false,
        })
    }

    fn lint(&self, layouts: &[Layout], _: &PatternCache) -> Vec<Diagnostic> {
        lint::lint(self.tree(), &self.binding, layouts)
    }

    /// A comparison with what is missing is false, whatever a failure means.
    fn guard_warnings(&self, layouts: &[Layout], variables: &[Variable], _fails_open: bool) -> Vec<Diagnostic> {
        lint::guard_warnings(self.tree(), &self.binding, layouts, variables)
    }

    fn part_costs(&self) -> Vec<PartCost> {
        part_costs(self.tree(), &self.binding)
    }

    fn interpret<'a>(
        &'a self,
        recorder: Option<&Recorder<'a>>,
        functions: &'a Functions,
        host: &'a dyn Host,
        cx: &Cx<'a>,
        place: &mut Value<'a>,
    ) -> Result<(), EvalError> {
        let (filter, binding) = (&self.filter, &*self.binding);
        *place = match recorder {
            Some(recorder) => filter.interpret_recorded(recorder, binding, functions, host, cx)?,
            None => filter.interpret(binding, functions, host, cx)?,
        };
        Ok(())
    }

    fn write_residual(&self, results: &[Recorded<'_>], out: &mut String) {
        let tree = self.tree();
        with_stack(tree.depth(), || self.write_undecided(self.root(), results, out));
    }

    fn necessary(&self, names: KnownNames<'_>) -> Option<String> {
        let shapes = &mut FilterShapes::new(self, self.tree(), &self.binding, names);
        necessary(shapes, self.root(), self.source())
    }

    fn lower(&self, functions: &Functions, layouts: &[Layout]) -> Result<Lowered, String> {
        self.filter.lower(&self.binding, functions, layouts)
    }

    /// A rule fails only where its budget ends or, if it is a value, where that is missing.
    fn describe(&self, error: EvalError, _: &dyn Host, _: &Known<'_>) -> Words {
        let message = match error.kind {
            ErrorKind::NoSuchKey => "the value is missing",
            kind => kind.message(),
        };
        Words { message: message.to_owned(), redacted: message.to_owned(), help: None }
    }
}
