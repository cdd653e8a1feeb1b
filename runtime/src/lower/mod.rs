//! Lowering: from the checked tree to the graph.
//!
//! A node of the graph has the representation ([`Ty`]) that its operation produces. It is boxed,
//! unboxed or decoded where a consumer needs another one. Static types are not trusted beyond that:
//! with gradual typing, an expression of type `int` can be a string at evaluation
//! (`([1] + dyn(["a"]))[1]`), and both tiers must then give the same error.
//!
//! Operands are evaluated in the order in which they are written, so that the first error is the
//! same in both tiers. If an operand would have to be unboxed before a later operand that can fail,
//! the call is dispatched instead: dispatch checks types last.
//!
//! Invariant: a static type is trusted only as far as it was checked: a value of gradual type is unboxed, with a check,
//! where an operation needs it. Types are checked after the last operand, so that the first error is the same in both
//! tiers. Test: `runtime/tests/it/tiers.rs::tiers_agree`.
//!
//! # How to add a type of values
//!
//! As messages of protocol buffers were (`value/message/`). Each place below either handles all types
//! explicitly or says what it rejects, in this order:
//!
//! 1. `frontend/src/types.rs`: the static type, and what `frontend/src/cel/check/` infers.
//! 2. The enum `Value` with its type name, equality, order and `fits`: the compiler lists the
//!    matches to extend. Its layout is fixed (`celero_ir::layout::value`); a new variant needs a
//!    tag there only if native code boxes or unboxes it.
//! 3. The library: the functions that accept the type (`frontend/src/stdlib/table.rs` declares
//!    them, `library/calls/invoke.rs` runs them), and its JSON (`library/json/write.rs`).
//! 4. `interpret/`: literals of the type, and `interpret/select.rs` for its fields.
//! 5. Here: the same two, in [`Lowering::expr`] and `select.rs`.
//!    The representation [`Ty::Value`] always works; a `Ty` of its own makes it faster and needs
//!    `celero_ir`, `celero_jit` and `native/frame.rs`.
//! 6. `constants.rs`: whether a value of the type can be folded to a constant; `None` is always right.
//! 7. The host's side: `context/` for fields of the type, `function/typed.rs` for parameters and results.
//! 8. The filter language: `filter/convert.rs`, where `None` means that the language has no such value.
//! 9. Copies and texts: `value/copy.rs`, `value/text.rs`, `owned/serde.rs`; `report/operand.rs` for
//!    errors, `runtime/adapters/policy/src/host/typed_json.rs` for the tools,
//!    `runtime/adapters/policy/src/host/values.rs` for headers and logs of policies.

mod builtin;
mod by_types;
mod calls;
mod constants;
mod fold;
pub(crate) mod merge;
mod network;
mod select;
mod seq;
mod signature;
mod views;

pub(crate) use calls::{Callee, Calls, Extension, calls_impure, is_pure};
pub(crate) use constants::{ConstantEvaluator, value_of};
pub(crate) use select::header_name;
pub(crate) use signature::signature_of;

use self::signature::representation;
use crate::function::Functions;
use crate::value::message;
use celero_frontend::{
    Ast, BinaryOp, Checked, Expr, FallbackKind, Literal, LogicOp, Name, NodeId as AstId, Overload, Reference, Type,
    UnaryOp, with_stack,
};
use celero_ir::{Catch, Constant, ErrorKind, Graph, NodeId, Op, Origin, Ty, layout, passes};
use std::sync::Arc;

/// The result of lowering: a graph with one root, and the functions that it calls by number.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub(crate) graph: Graph,
    pub(crate) calls: Calls,
}

/// Lowers a checked expression for a host with these fields.
pub(crate) fn lower(checked: &Checked, functions: &Functions, fields: &[layout::Field]) -> Lowered {
    // Most nodes of a tree become one node.
    let graph = Graph::with_capacity(checked.ast().nodes().len());
    let mut lowered = Lowered { graph, calls: Calls::default() };
    let root = lower_into(&mut lowered, 0, checked, functions, fields);
    lowered.graph.add_root(root);
    lowered
}

/// Lowers a checked expression as a part of a graph, inside of constructs that bind this many
/// variables, which it does not use. Returns its node.
pub(crate) fn lower_into(
    lowered: &mut Lowered,
    variables: u32,
    checked: &Checked,
    functions: &Functions,
    fields: &[layout::Field],
) -> NodeId {
    let Lowered { graph, calls } = lowered;
    let mut lowering = Lowering {
        checked,
        ast: checked.ast(),
        functions,
        fields,
        graph: std::mem::take(graph),
        calls: std::mem::take(calls),
        outer: variables,
        locals: Vec::new(),
        records: Vec::new(),
        sure: vec![None; fields.len()],
    };
    let root = with_stack(checked.ast().depth(), || lowering.expr(checked.ast().root()));
    (*graph, *calls) = (lowering.graph, lowering.calls);
    root
}

struct Lowering<'c> {
    checked: &'c Checked,
    ast: &'c Ast,
    functions: &'c Functions,
    fields: &'c [layout::Field],
    graph: Graph,
    calls: Calls,
    /// The number of variables that are bound around the expression.
    outer: u32,
    /// The representation of each variable in scope, indexed by level.
    locals: Vec<Ty>,
    /// The variables in scope that are structs of the host: the index in `locals`, and the field that is the list.
    records: Vec<seq::Record>,
    /// The reads of fields that cannot fail, indexed by field.
    sure: Vec<Option<NodeId>>,
}

impl Lowering<'_> {
    fn origin(&self, id: AstId) -> Origin {
        let span = self.ast.span(id);
        Origin { start: span.start, end: span.end }
    }

    fn add(&mut self, op: Op, ty: Ty, args: &[NodeId], at: AstId) -> NodeId {
        let origin = self.origin(at);
        self.graph.add(op, ty, args, origin)
    }

    fn constant(&mut self, constant: Constant, ty: Ty, at: AstId) -> NodeId {
        let id = self.graph.constant(constant);
        self.add(Op::Const(id), ty, &[], at)
    }

    fn text(&mut self, text: &str, at: AstId) -> NodeId {
        self.constant(Constant::Str(text.into()), Ty::Str, at)
    }

    fn fail(&mut self, kind: ErrorKind, at: AstId) -> NodeId {
        self.add(Op::Fail(kind), Ty::Value, &[], at)
    }

    fn level(&self) -> u32 {
        self.inner_level().saturating_add(self.outer)
    }

    /// The level of the next variable, without those around the expression.
    fn inner_level(&self) -> u32 {
        u32::try_from(self.locals.len()).unwrap_or(u32::MAX)
    }

    /// Returns the node in representation `ty`, or `None` if it can never have that type.
    fn convert(&mut self, node: NodeId, ty: Ty, at: AstId) -> Option<NodeId> {
        let from = self.graph.ty(node);
        if from == ty {
            return Some(node);
        }
        if let Op::Fail(kind) = self.graph.op(node) {
            let origin = self.graph.origin(node);
            return Some(self.graph.add(Op::Fail(kind), ty, &[], origin));
        }
        match (from, ty) {
            (_, Ty::Value) => Some(self.add(Op::Box, Ty::Value, &[node], at)),
            (Ty::Value, _) => Some(self.add(Op::Unbox(ty), ty, &[node], at)),
            _ => None,
        }
    }

    /// The node as a value of any type.
    fn boxed(&mut self, node: NodeId, at: AstId) -> NodeId {
        self.convert(node, Ty::Value, at).unwrap_or(node)
    }

    /// The node as a truth value; "no such overload" where it is none.
    fn truth(&mut self, node: NodeId, at: AstId) -> NodeId {
        if let Some(node) = self.convert(node, Ty::Bool, at) {
            return node;
        }
        // A value of another type: evaluated for its errors, then refused.
        let boxed = self.boxed(node, at);
        self.add(Op::Unbox(Ty::Bool), Ty::Bool, &[boxed], at)
    }

    fn expr(&mut self, id: AstId) -> NodeId {
        let ast = self.ast;
        match self.checked.reference(id) {
            Reference::Message(name) => {
                if let Expr::Message { fields, values, optional, .. } = ast.expr(id) {
                    return self.message(id, name, fields, ast.children(*values), optional);
                }
            }
            Reference::Constant(number) => return self.constant(Constant::Int(*number), Ty::Int, id),
            // What fails is the literal, not the name of its type.
            _ if matches!(ast.expr(id), Expr::Error | Expr::Message { .. }) => {
                return self.fail(ErrorKind::NoSuchOverload, id);
            }
            Reference::Variable(index) => return self.variable(id, *index),
            Reference::Local(level) => {
                let ty = self.locals.get(*level as usize).copied().unwrap_or(Ty::Value);
                return self.add(Op::Local(level.saturating_add(self.outer)), ty, &[], id);
            }
            Reference::Type(ty) => {
                let name = crate::value::type_name_of(ty);
                return self.constant(Constant::Type(name.into()), Ty::Value, id);
            }
            Reference::Undeclared => return self.fail(ErrorKind::NoSuchKey, id),
            Reference::Guard(ty) => {
                if let Expr::Call { args, .. } = ast.expr(id)
                    && let &[arg] = ast.children(*args)
                {
                    return self.guard(id, ty, arg);
                }
            }
            Reference::InList(list) => {
                if let Expr::Binary { left, .. } = *ast.expr(id) {
                    return self.in_list(id, left, *list);
                }
            }
            Reference::ListValue { .. } => {
                if let Some(access) = self.checked.list_access(id) {
                    return self.list_value(id, access);
                }
            }
            Reference::None | Reference::Call { .. } => {}
        }
        match ast.expr(id) {
            Expr::Error | Expr::Message { .. } | Expr::Ident { .. } => self.fail(ErrorKind::NoSuchKey, id),
            Expr::Literal(literal) => self.literal(literal, id),
            Expr::Select { operand, field, test, optional } => {
                self.select(id, *operand, ast.name(*field), *test, *optional)
            }
            Expr::Index { operand, index, .. } => self.index(id, *operand, *index),
            Expr::Unary { op, operand } => {
                let operand = self.expr(*operand);
                match op {
                    UnaryOp::Not | UnaryOp::Neg => self.call(id, &[operand]),
                }
            }
            Expr::Binary { op: BinaryOp::In, left, right } => self.contains(id, *left, *right),
            Expr::Binary { left, right, .. } => {
                let special = self.sequences_equal(id, *left, *right);
                if let Some(node) = special.or_else(|| self.same_address(id, *left, *right)) {
                    return node;
                }
                let left = self.expr(*left);
                let right = self.expr(*right);
                self.call(id, &[left, right])
            }
            Expr::Logic { op, operands } => {
                let operands: Vec<NodeId> = ast
                    .children(*operands)
                    .iter()
                    .map(|&operand| {
                        let node = self.expr(operand);
                        self.truth(node, operand)
                    })
                    .collect();
                let op = match op {
                    LogicOp::And => Op::And,
                    LogicOp::Or => Op::Or,
                };
                self.add(op, Ty::Bool, &operands, id)
            }
            Expr::Cond { condition, then, otherwise } => {
                let test = self.expr(*condition);
                let test = self.truth(test, *condition);
                let then_node = self.expr(*then);
                let otherwise_node = self.expr(*otherwise);
                self.choose(id, test, then_node, otherwise_node)
            }
            Expr::Call { target, args, .. } => self.call_expr(id, *target, ast.children(*args)),
            Expr::List { elements, optional } => {
                let elements = ast.children(*elements);
                if let Some(list) = self.literals(elements).filter(|_| optional.is_empty()) {
                    return self.constant(list, Ty::Value, id);
                }
                let elements = self.values(elements);
                if optional.is_empty() {
                    self.add(Op::List, Ty::Value, &elements, id)
                } else {
                    self.dispatch(id, Callee::List(optional.clone()), &elements)
                }
            }
            Expr::Map { entries, optional } => {
                let entries = self.values(ast.children(*entries));
                if optional.is_empty() {
                    self.add(Op::Map, Ty::Value, &entries, id)
                } else {
                    self.dispatch(id, Callee::Map(optional.clone()), &entries)
                }
            }
            Expr::Fold { kind, range, var2, filter, transform, .. } => {
                self.fold(id, *kind, *range, var2.is_some(), *filter, *transform)
            }
            Expr::Bind { init, body, .. } => {
                let init = self.expr(*init);
                self.bind(id, init, *body)
            }
            Expr::OptMap { target, body, flat, .. } => self.opt_map(id, *target, *body, *flat),
            Expr::Fallback { kind, operands } => self.fallback(id, *kind, ast.children(*operands)),
        }
    }

    /// A literal of a message. All values are evaluated, as those of a list are, then it is built.
    fn message(&mut self, id: AstId, name: &Arc<str>, fields: &[Name], values: &[AstId], optional: &[bool]) -> NodeId {
        let values = self.values(values);
        let names = fields.iter().map(|field| self.ast.name(*field));
        let numbers = self.functions.messages().and_then(|types| message::field_numbers(types, name, names));
        let Some(fields) = numbers else { return self.fail(ErrorKind::NoSuchOverload, id) };
        self.dispatch(id, Callee::Message { name: Arc::clone(name), fields, optional: optional.into() }, &values)
    }

    /// One of two nodes, in a representation that suits both.
    fn choose(&mut self, id: AstId, test: NodeId, then: NodeId, otherwise: NodeId) -> NodeId {
        let (a, b) = (self.graph.ty(then), self.graph.ty(otherwise));
        let fails = |graph: &Graph, node| matches!(graph.op(node), Op::Fail(_));
        let ty = if a == b || fails(&self.graph, otherwise) {
            a
        } else if fails(&self.graph, then) {
            b
        } else {
            Ty::Value
        };
        let then = self.convert(then, ty, id).unwrap_or(then);
        let otherwise = self.convert(otherwise, ty, id).unwrap_or(otherwise);
        self.add(Op::Cond, ty, &[test, then, otherwise], id)
    }

    /// `default` and `coalesce`, in a representation that suits all operands.
    fn fallback(&mut self, id: AstId, kind: FallbackKind, operands: &[AstId]) -> NodeId {
        let catch = match kind {
            FallbackKind::Default => Catch::Absence,
            FallbackKind::Coalesce => Catch::Any,
        };
        let nodes: Vec<NodeId> = operands.iter().map(|&operand| self.expr(operand)).collect();
        if let &[only] = nodes.as_slice() {
            return only;
        }
        let mut types = nodes.iter().filter(|&&node| !matches!(self.graph.op(node), Op::Fail(_)));
        let first = types.next().map_or(Ty::Value, |&node| self.graph.ty(node));
        let ty = if types.all(|&node| self.graph.ty(node) == first) { first } else { Ty::Value };
        let nodes: Vec<NodeId> =
            nodes.iter().zip(operands).map(|(&node, &at)| self.convert(node, ty, at).unwrap_or(node)).collect();
        self.add(Op::Coalesce(catch), ty, &nodes, id)
    }

    fn values(&mut self, ids: &[AstId]) -> Vec<NodeId> {
        ids.iter()
            .map(|&id| {
                let node = self.expr(id);
                self.boxed(node, id)
            })
            .collect()
    }

    /// The list of these elements, if all are literals and it is small enough for a constant. A
    /// node for each would be folded to the same.
    fn literals(&self, elements: &[AstId]) -> Option<Constant> {
        let literal = |&id: &AstId| match self.ast.expr(id) {
            Expr::Literal(literal) => Some(literal),
            _ => None,
        };
        if elements.iter().any(|id| literal(id).is_none()) {
            return None;
        }
        // Of known length, so that it is collected in place.
        let constant = |id| literal(id).map_or(Constant::Null, |literal| constant_of(literal).0);
        let list = Constant::List(elements.iter().map(constant).collect());
        passes::is_small(&list).then_some(list)
    }

    fn literal(&mut self, literal: &Literal, id: AstId) -> NodeId {
        let (constant, ty) = constant_of(literal);
        self.constant(constant, ty, id)
    }

    fn call_expr(&mut self, id: AstId, target: Option<AstId>, args: &[AstId]) -> NodeId {
        let receiver = matches!(self.checked.reference(id), Reference::Call { receiver: true, .. });
        if let (Some(target), [arg], true) = (target, args, receiver)
            && let Some(node) = self.network_test(id, target, *arg)
        {
            return node;
        }
        if let (Some(target), true) = (target, receiver)
            && let Some(node) = self.of_view(id, target, args).or_else(|| self.address_property(id, target))
        {
            return node;
        }
        if let (Some(target), [arg], true) = (target, args, receiver)
            && let Some(node) = self.optional_or(id, target, *arg)
        {
            return node;
        }
        let target = if receiver { target } else { None };
        if let (Some(list), []) | (None, &[list]) = (target, args)
            && let Some(node) = self.sequence_size(id, list)
        {
            return node;
        }
        if let (Some(list), &[others]) | (None, &[list, others]) = (target, args)
            && let Some(node) = self.searches(id, list, others)
        {
            return node;
        }
        let operands: Vec<NodeId> = target.iter().chain(args).map(|&arg| self.expr(arg)).collect();
        self.call(id, &operands)
    }

    /// The call that the checker resolved `id` to.
    fn call(&mut self, id: AstId, operands: &[NodeId]) -> NodeId {
        let overloads: &[Overload] = match self.checked.reference(id) {
            Reference::Call { overloads, .. } => overloads,
            _ => &[],
        };
        let only = match overloads {
            [Overload::Builtin(builtin)] => Some(*builtin),
            _ => self.exact(overloads, operands),
        };
        if let Some(builtin) = only
            && let Some(node) = self.builtin(id, builtin, operands)
        {
            return node;
        }
        if let Some(node) = self.call_by_types(id, overloads, operands) {
            return node;
        }
        self.dispatch(id, Callee::Overloads(overloads.into()), operands)
    }

    /// The value of `arg`, which must be of the type.
    fn guard(&mut self, id: AstId, ty: &Type, arg: AstId) -> NodeId {
        let value = self.expr(arg);
        let wanted = representation(ty);
        let known = if wanted == Ty::Value { None } else { self.convert(value, wanted, id) };
        known.unwrap_or_else(|| self.dispatch(id, Callee::Guard(ty.clone()), &[value]))
    }

    fn dispatch(&mut self, id: AstId, callee: Callee, operands: &[NodeId]) -> NodeId {
        let pure = callee.is_pure(self.functions);
        let operands: Vec<NodeId> = operands.iter().map(|&operand| self.boxed(operand, id)).collect();
        let function = self.calls.number(callee, &mut self.graph);
        self.add(Op::Dispatch { function, pure }, Ty::Value, &operands, id)
    }
}

/// The constant of a literal, and the representation of a node that is it.
fn constant_of(literal: &Literal) -> (Constant, Ty) {
    match literal {
        Literal::Null => (Constant::Null, Ty::Value),
        Literal::Bool(v) => (Constant::Bool(*v), Ty::Bool),
        Literal::Int(v) => (Constant::Int(*v), Ty::Int),
        Literal::Uint(v) => (Constant::Uint(*v), Ty::Uint),
        Literal::Double(v) => (Constant::Double(v.to_bits()), Ty::Double),
        Literal::String(v) => (Constant::Str(v.clone()), Ty::Str),
        Literal::Bytes(v) => (Constant::Bytes(v.clone()), Ty::Bytes),
    }
}
