//! The checker: resolves names and overloads, and computes the type of every node (language definition, "Gradual Type
//! Checking" and "Name Resolution").
//!
//! It walks the tree recursively and sets the type and reference of each node exactly once. A node with an error has
//! [`Type::Error`], which is compatible with every type, so that one mistake causes one diagnostic.

mod calls;
mod codes;
mod compared;
mod define;
mod folds;
mod infer;
mod lists;
mod literals;
mod names;
mod report;
mod rewrite;
mod select;

use crate::ast::{Ast, Expr, FallbackKind, LogicOp, NodeId};
use crate::checked::{Checked, Reference};
use crate::declarations::Declarations;
use crate::diagnostic::Diagnostic;
use crate::limits::{Limits, with_stack};
use crate::per_node::PerNode;
use crate::types::{MAX_TYPE_DEPTH, Type};
pub use codes::CHECKER_CODES;
pub use define::{define, misdeclared};
use infer::Inference;
pub use infer::common_type;
use names::Names;
use std::borrow::Cow;

/// The name of a method's receiver in its body.
pub const RECEIVER: &str = "this";

/// Limits on the parts of types that inference may visit: for each node of the tree, and a constant in addition.
const STEPS_PER_NODE: u64 = 512;
const STEPS: u64 = 1 << 16;

/// Checks a parsed expression against what is declared.
///
/// An [`Expr::Error`] is not reported again: the parser has reported it.
///
/// # Errors
///
/// All diagnostics, warnings included, if one of them is an error. Otherwise the second part of the
/// result has the warnings. Diagnostics are in source order and at most
/// [`Limits::max_diagnostics`]. A type nested deeper than 64 levels or of more than 1,024 parts is
/// an error.
pub fn check(
    ast: Ast,
    declarations: &Declarations,
    limits: &Limits,
) -> Result<(Checked, Vec<Diagnostic>), Vec<Diagnostic>> {
    with_stack(levels(&ast), || {
        let mut checker = Checker::new(&ast, declarations, limits);
        checker.check(ast.root());
        checker.finish_types();
        outcome(checker)
    })
    .map(|(types, references, warnings)| {
        let checked = Checked::new_unverified(ast, types, references);
        debug_assert_eq!(checked.verify(declarations, limits), Ok(()));
        (checked, warnings)
    })
}

/// An operand or argument: the node that it is and its type.
type Argument = (NodeId, Type);

/// Returns how deep checking a tree recurses.
fn levels(ast: &Ast) -> u32 {
    ast.depth().saturating_add(MAX_TYPE_DEPTH.saturating_mul(2))
}

/// The types of all nodes and what they refer to, and the warnings; or all diagnostics.
type Outcome = Result<(PerNode<Type>, PerNode<Reference>, Vec<Diagnostic>), Vec<Diagnostic>>;

fn outcome(checker: Checker<'_>) -> Outcome {
    let Checker { types, references, mut errors, mut warnings, limits, .. } = checker;
    if errors.is_empty() {
        warnings.sort_by_key(|d| d.span.start);
        return Ok((types, references, warnings));
    }
    errors.append(&mut warnings);
    errors.truncate(limits.max_diagnostics.max(1) as usize);
    errors.sort_by_key(|d| d.span.start);
    Err(errors)
}

struct Checker<'a> {
    ast: &'a Ast,
    names: Names<'a>,
    infer: Inference,
    unchecked: bool,
    /// The function whose body is checked, if any.
    defining: Option<&'a str>,
    limits: &'a Limits,
    /// Steps that inference may take in total.
    steps: u64,
    types: PerNode<Type>,
    references: PerNode<Reference>,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// Whether [`codes::TYPE_TOO_COMPLEX`] was reported: once is enough.
    too_complex: bool,
}

impl<'a> Checker<'a> {
    fn new(ast: &'a Ast, declarations: &'a Declarations, limits: &'a Limits) -> Self {
        let nodes = ast.nodes().len();
        let steps = STEPS_PER_NODE.saturating_mul(nodes as u64).saturating_add(STEPS);
        Self {
            ast,
            names: Names::new(declarations),
            infer: Inference::new(steps),
            unchecked: declarations.is_unchecked(),
            defining: None,
            limits,
            steps,
            // A node that is never visited is part of a qualified name, and not evaluated.
            types: PerNode::filled(nodes, Type::Dyn),
            references: PerNode::filled(nodes, Reference::None),
            errors: Vec::new(),
            warnings: Vec::new(),
            too_complex: false,
        }
    }

    /// Checks a node and returns its type, which may contain inference variables.
    fn check(&mut self, id: NodeId) -> Type {
        let ast = self.ast;
        let ty = match ast.expr(id) {
            Expr::Error => Type::Error,
            Expr::Literal(literal) => literal.ty(),
            Expr::Ident { .. } | Expr::Select { .. } => return self.check_select(id),
            Expr::Unary { op, operand } => self.check_unary(id, *op, *operand),
            Expr::Binary { op, left, right } => self.check_binary(id, *op, *left, *right),
            Expr::Index { operand, index, optional } => self.check_index(id, *operand, *index, *optional),
            Expr::Call { target, function, rooted, args } => {
                self.check_call(id, *target, *function, *rooted, ast.children(*args))
            }
            Expr::Logic { op, operands } => self.check_logic(id, *op, ast.children(*operands)),
            Expr::Cond { condition, then, otherwise } => self.check_cond(id, *condition, *then, *otherwise),
            Expr::List { elements, optional } => self.check_list(ast.children(*elements), optional),
            Expr::Map { entries, optional } => self.check_map(ast.children(*entries), optional),
            Expr::Message { name, fields, values, optional } => {
                self.check_message(id, *name, fields, ast.children(*values), optional)
            }
            Expr::Fold { .. } => self.check_fold(id),
            Expr::Bind { var, init, body, .. } => self.check_bind(id, *var, *init, *body),
            Expr::OptMap { target, var, body, flat } => self.check_opt_map(id, *target, *var, *body, *flat),
            Expr::Fallback { kind, operands } => self.check_fallback(id, *kind, ast.children(*operands)),
        };
        self.set_type(id, ty)
    }

    /// Records and returns a node's type, or [`Type::Error`] if the type exceeds the bounds.
    fn set_type(&mut self, id: NodeId, ty: Type) -> Type {
        let ty = if self.unchecked { Type::Dyn } else { ty };
        let ty = self.bounded(id, ty);
        self.types.set(id, Cow::Borrowed(&ty));
        ty
    }

    fn bounded(&mut self, id: NodeId, ty: Type) -> Type {
        if ty.is_leaf() {
            return ty;
        }
        let excess = self.infer.measure(&ty);
        if excess.is_none() && !self.infer.exhausted() {
            return ty;
        }
        self.report_excess(id, excess);
        Type::Error
    }

    fn set_reference(&mut self, id: NodeId, reference: Reference) {
        self.references.set(id, Cow::Owned(reference));
    }

    /// Replaces the inference variables in all types. Variables without a binding become `dyn`.
    fn finish_types(&mut self) {
        for index in 0..self.types.len() {
            let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
            let Some(ty) = self.types.get(id).filter(|ty| !ty.is_leaf()).cloned() else { continue };
            let ty = self.bounded(id, ty);
            let ty = self.infer.resolve(&ty, false);
            let ty = self.bounded(id, ty);
            self.types.set(id, Cow::Owned(ty));
        }
        if self.infer.exhausted() {
            self.report_excess(self.ast.root(), None);
        }
    }

    fn check_logic(&mut self, id: NodeId, op: LogicOp, operands: &[NodeId]) -> Type {
        let (symbol, name) = match op {
            LogicOp::And => ("&&", "_&&_"),
            LogicOp::Or => ("||", "_||_"),
        };
        if self.refuse_excluded(id, name) {
            return Type::Error;
        }
        // Whether what the literals before this operand mean was said: one mistake causes one diagnostic.
        let mut explained = false;
        for (at, &operand) in operands.iter().enumerate() {
            let is_alternative = self.is_alternative(operand);
            explained &= is_alternative;
            if explained {
                continue;
            }
            let ty = self.check(operand);
            let meant = if is_alternative { self.alternatives(op, operands, at) } else { None };
            explained = meant.is_some();
            let error = self.expect_bool(operand, &ty, format_args!("an operand of `{symbol}`"));
            if let Some((error, help)) = error.zip(meant) {
                error.help.push(help);
            }
        }
        Type::Bool
    }

    fn check_cond(&mut self, id: NodeId, condition: NodeId, then: NodeId, otherwise: NodeId) -> Type {
        if self.refuse_excluded(id, "_?_:_") {
            return Type::Error;
        }
        let ty = self.check(condition);
        self.expect_bool(condition, &ty, format_args!("the condition of `?:`"));
        let left = self.check(then);
        let right = self.check(otherwise);
        match self.infer.merge(&left, &right) {
            Some(ty) => ty,
            None => self.report_branches(id, "the branches of `?:`", (then, &left), (otherwise, &right)),
        }
    }

    /// Returns the common type of operands, as for `?:`. An operand that is always null only makes the result nullable.
    fn check_fallback(&mut self, id: NodeId, kind: FallbackKind, operands: &[NodeId]) -> Type {
        let mut known: Option<(NodeId, Type)> = None;
        let (mut null, mut failed) = (false, false);
        for &operand in operands {
            let ty = self.check(operand);
            if self.infer.shallow(&ty) == Type::Null {
                null = true;
                continue;
            }
            match known.take() {
                None => known = Some((operand, ty)),
                Some((_, before)) if let Some(merged) = self.infer.merge(&before, &ty) => {
                    known = Some((operand, merged));
                }
                Some((at, before)) => {
                    let name = match kind {
                        FallbackKind::Default => "the operands of `default`",
                        FallbackKind::Coalesce => "the operands of `coalesce`",
                    };
                    self.report_branches(id, name, (at, &before), (operand, &ty));
                    failed = true;
                    known = Some((at, before));
                }
            }
        }
        match known {
            _ if failed => Type::Error,
            Some(_) if null => Type::Dyn,
            Some((_, ty)) => ty,
            None => Type::Null,
        }
    }
}
