//! Lowering: from the tree of the filter language to the graph.
//!
//! A value that is missing is an error in the graph, whose kind does not matter: comparisons catch
//! it (`coalesce`) and are false, or true for `!=` where the scheme says so. Nothing else fails,
//! but for a spent budget, which is final.
//!
//! Byte strings have the representation in which they are read: text, text of the host that may not
//! be UTF-8, or bytes. An operation on text is used where its result on the bytes is the same.
//!
//! `any` and `all` become folds over the elements, without lists of results. Conditions of many
//! results are lists only where they are joined element by element.
//!
//! Invariant: only a spent budget, and a rule that is itself a missing value, fail; comparisons catch every other
//! missing value. Test: `runtime/tests/it/filter_tiers.rs::both_tiers_say_what_the_language_says`.

mod addresses;
mod compare;
mod extension;
mod many;
mod value;

use super::Filter;
use crate::filter::binding::FilterBinding;
use crate::function::Functions;
use crate::lower::{Callee, Calls, Extension, Lowered};
use celero_frontend::filter::{Comparison, Connective, FilterExpr, FilterTree, FilterType, OrderOp};
use celero_frontend::{NodeId as TreeId, Type, with_stack};
use celero_ir::layout::Field as Layout;
use celero_ir::{Catch, Cmp, Constant, ErrorKind, Graph, NodeId, Op, Origin, Ty};
use extension::Converted;
use std::sync::Arc;

impl Filter {
    /// Lowers the rule for a host with these fields.
    ///
    /// # Errors
    /// What has no graph.
    pub(crate) fn lower(
        &self,
        binding: &Arc<FilterBinding>,
        functions: &Functions,
        fields: &[Layout],
    ) -> Result<Lowered, String> {
        let tree = &self.tree;
        let lowered = Lowered { graph: Graph::new(), calls: Calls::default() };
        let mut lowering = Lowering { filter: self, tree, binding, functions, fields, lowered, level: 0 };
        let root = with_stack(tree.depth(), || lowering.root(tree.root()))?;
        lowering.lowered.graph.add_root(root);
        Ok(lowering.lowered)
    }
}

/// The result of lowering a part; an error if it has no graph.
type Lower<T> = Result<T, String>;

/// A value, and the type by which its elements are read.
#[derive(Clone)]
struct Operand {
    node: NodeId,
    ty: Type,
}

struct Lowering<'c> {
    filter: &'c Filter,
    tree: &'c FilterTree,
    binding: &'c Arc<FilterBinding>,
    functions: &'c Functions,
    fields: &'c [Layout],
    lowered: Lowered,
    /// The number of variables in scope.
    level: u32,
}

impl<'c> Lowering<'c> {
    fn root(&mut self, id: TreeId) -> Lower<NodeId> {
        if self.is_value(id) && *self.tree.result_type() != FilterType::Bool {
            return self.result(id);
        }
        self.condition(id)
    }

    /// The value of a rule that is a value, as hosts see it: byte strings are `bytes`.
    fn result(&mut self, id: TreeId) -> Lower<NodeId> {
        let (operand, ty) = (self.value(id)?, self.tree.result_type());
        let value = match ty {
            FilterType::Bool | FilterType::Int | FilterType::Bytes => {
                let node = self.unboxed(operand, ty, id);
                let node = if *ty == FilterType::Bytes { self.as_bytes(node, id) } else { node };
                self.boxed(node, id)
            }
            _ => self.call(Converted::new(ty), &[operand.node], id),
        };
        // Whatever is missing, the error is one.
        let missing = self.missing(Ty::Value, id);
        Ok(self.add(Op::Coalesce(Catch::Any), Ty::Value, &[value, missing], id))
    }

    fn is_value(&self, id: TreeId) -> bool {
        matches!(
            self.tree.expr(id),
            FilterExpr::Field(_) | FilterExpr::Literal(_) | FilterExpr::Call { .. } | FilterExpr::Access { .. }
        )
    }

    fn add(&mut self, op: Op, ty: Ty, args: &[NodeId], at: TreeId) -> NodeId {
        let span = self.tree.node(at).span;
        self.lowered.graph.add(op, ty, args, Origin { start: span.start, end: span.end })
    }

    fn ty(&self, node: NodeId) -> Ty {
        self.lowered.graph.ty(node)
    }

    fn constant(&mut self, constant: Constant, ty: Ty, at: TreeId) -> NodeId {
        let id = self.lowered.graph.constant(constant);
        self.add(Op::Const(id), ty, &[], at)
    }

    fn truth(&mut self, value: bool, at: TreeId) -> NodeId {
        self.constant(Constant::Bool(value), Ty::Bool, at)
    }

    fn missing(&mut self, ty: Ty, at: TreeId) -> NodeId {
        self.add(Op::Fail(ErrorKind::NoSuchKey), ty, &[], at)
    }

    /// The value, or the default where it is missing.
    fn settled(&mut self, node: NodeId, default: bool, at: TreeId) -> NodeId {
        let default = self.truth(default, at);
        self.add(Op::Coalesce(Catch::Any), Ty::Bool, &[node, default], at)
    }

    /// One of several conditions, or all; the neutral value of none.
    fn joined(&mut self, op: Op, mut nodes: Vec<NodeId>, at: TreeId) -> NodeId {
        match (nodes.len(), nodes.pop()) {
            (1, Some(only)) => only,
            (_, Some(last)) => {
                nodes.push(last);
                self.add(op, Ty::Bool, &nodes, at)
            }
            (_, None) => self.truth(op == Op::And, at),
        }
    }

    /// The node as a value of any type.
    fn boxed(&mut self, node: NodeId, at: TreeId) -> NodeId {
        match self.ty(node) {
            Ty::Value => node,
            Ty::Raw => {
                let bytes = self.add(Op::AsBytes, Ty::Bytes, &[node], at);
                self.add(Op::Box, Ty::Value, &[bytes], at)
            }
            // The text of an address is read as an address again.
            Ty::Ip => {
                let text = self.add(Op::IpText, Ty::Str, &[node], at);
                self.add(Op::Box, Ty::Value, &[text], at)
            }
            _ => match self.lowered.graph.op(node) {
                Op::Fail(kind) => self.add(Op::Fail(kind), Ty::Value, &[], at),
                _ => self.add(Op::Box, Ty::Value, &[node], at),
            },
        }
    }

    /// A call of a function of this language.
    fn call(&mut self, function: impl Extension + 'static, operands: &[NodeId], at: TreeId) -> NodeId {
        let pure = function.is_pure(self.functions);
        let operands: Vec<NodeId> = operands.iter().map(|&operand| self.boxed(operand, at)).collect();
        let callee = Callee::Extension(Arc::new(function));
        let Lowered { graph, calls } = &mut self.lowered;
        let function = calls.number(callee, graph);
        self.add(Op::Dispatch { function, pure }, Ty::Value, &operands, at)
    }

    /// A condition with one result, which does not fail.
    fn condition(&mut self, id: TreeId) -> Lower<NodeId> {
        match self.tree.expr(id) {
            FilterExpr::Test(value) => {
                let test = self.test(*value)?;
                Ok(self.settled(test, false, id))
            }
            FilterExpr::Compare { value, comparison } => {
                let nil =
                    matches!(comparison, Comparison::Order(OrderOp::NotEqual, _)) && self.tree.scheme().nil_not_equal();
                let holds = match self.compare_folded(id, *value, comparison)? {
                    Some(holds) => holds,
                    None => {
                        let operand = self.value(*value)?;
                        self.compare(id, operand, *value, comparison)?
                    }
                };
                Ok(self.settled(holds, nil, id))
            }
            FilterExpr::Not(operand) => {
                let operand = self.condition(*operand)?;
                Ok(self.add(Op::Not, Ty::Bool, &[operand], id))
            }
            FilterExpr::Logic { op, operands } => {
                let operands = self.tree.children(*operands);
                let nodes: Vec<NodeId> =
                    operands.iter().map(|&operand| self.condition(operand)).collect::<Lower<_>>()?;
                Ok(self.connected(*op, nodes, id))
            }
            FilterExpr::Quantifier { all, operand } => self.quantifier(id, *all, *operand),
            _ => {
                let test = self.test(id)?;
                Ok(self.settled(test, false, id))
            }
        }
    }

    /// Conditions joined by an operator.
    fn connected(&mut self, op: Connective, nodes: Vec<NodeId>, at: TreeId) -> NodeId {
        match op {
            Connective::And => self.joined(Op::And, nodes, at),
            Connective::Or => self.joined(Op::Or, nodes, at),
            Connective::Xor => {
                let mut nodes = nodes.into_iter();
                let first = nodes.next();
                let first = first.unwrap_or_else(|| self.truth(false, at));
                nodes.fold(first, |left, right| self.add(Op::Cmp(Cmp::Ne), Ty::Bool, &[left, right], at))
            }
        }
    }

    /// A value of type `Bool`.
    fn test(&mut self, value: TreeId) -> Lower<NodeId> {
        let operand = self.value(value)?;
        Ok(self.unboxed(operand, &FilterType::Bool, value))
    }
}
