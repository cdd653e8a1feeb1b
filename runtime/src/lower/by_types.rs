//! Calls whose overload, or whether there is one, the evaluation decides. The usual types are tested
//! for first, and the function is called with typed operands; values of other types go to a function
//! that takes any value, or are dispatched. Only one overload is tested for: each is code, which
//! takes time to compile.
//!
//! All operands are evaluated before the first test, and a test does not fail: errors, and their
//! order, are those of a dispatch.

use super::signature::{representation, signature_of};
use super::{Callee, Lowering};
use crate::library::takes_any_index;
use celero_frontend::stdlib::Builtin as B;
use celero_frontend::stdlib::{Builtin, Row, TABLE};
use celero_frontend::{NodeId as AstId, Overload};
use celero_ir::layout::value::tag_of;
use celero_ir::{ErrorKind, Helper, NodeId, Op, Ty, Types};

/// The types of operands, the usual ones first.
const USUAL: [Ty; 8] = [Ty::Int, Ty::Double, Ty::Str, Ty::Timestamp, Ty::Duration, Ty::Uint, Ty::Bool, Ty::Bytes];

impl Lowering<'_> {
    /// The node of a call of a function of the library with values of unknown types, if it has a
    /// cheaper form than dispatch.
    pub(super) fn call_by_types(&mut self, id: AstId, overloads: &[Overload], operands: &[NodeId]) -> Option<NodeId> {
        let builtin = |overload: &Overload| match overload {
            Overload::Builtin(builtin) => TABLE.row(*builtin).filter(|row| row.pure),
            _ => None,
        };
        let rows: Vec<&Row> = overloads.iter().map(builtin).collect::<Option<_>>()?;
        let any = self.any_values(id, &rows, operands);
        let is_tested = match any.map(|node| self.graph.op(node)) {
            Some(Op::Call(
                Helper::value_less | Helper::value_less_equal | Helper::value_greater | Helper::value_greater_equal,
            ))
            | None => true,
            Some(_) => false,
        };
        let Some(builtin) = self.usual(&rows, operands).filter(|_| is_tested) else { return any };
        let other = match any {
            Some(node) => node,
            None if rows.len() == 1 => self.fail(ErrorKind::NoSuchOverload, id),
            None => self.dispatched(id, overloads, &rows, operands),
        };
        let types = Types::new(&signature_of(builtin)?.params)?;
        let test = self.add(Op::HasTypes(types), Ty::Bool, operands, id);
        let typed = operands.iter().zip(types.iter());
        let typed: Vec<NodeId> = typed.map(|(&operand, ty)| self.convert(operand, ty, id)).collect::<Option<_>>()?;
        let call = self.builtin(id, builtin, &typed)?;
        Some(self.choose(id, test, call, other))
    }

    /// A dispatched call, in the representation of all its results.
    fn dispatched(&mut self, id: AstId, overloads: &[Overload], rows: &[&Row], operands: &[NodeId]) -> NodeId {
        let value = self.dispatch(id, Callee::Overloads(overloads.into()), operands);
        let mut results = rows.iter().map(|row| representation(&row.result));
        let first = results.next().unwrap_or(Ty::Value);
        let ty = if results.all(|ty| ty == first) { first } else { Ty::Value };
        self.convert(value, ty, id).unwrap_or(value)
    }

    /// The call of a helper that takes values of all types that the function takes.
    fn any_values(&mut self, id: AstId, rows: &[&Row], operands: &[NodeId]) -> Option<NodeId> {
        let name = rows.first()?.name;
        let is = |builtins: &[Builtin]| {
            builtins.len() == rows.len() && rows.iter().all(|row| builtins.contains(&row.builtin))
        };
        // An index of a list may be of any type, so the overloads are what counts.
        if is(&[B::IndexList, B::IndexMap, B::IndexOptionalList, B::IndexOptionalMap]) {
            return Some(self.helper_call(id, Helper::index_value, Ty::Value, operands));
        }
        if is(&[B::IndexMap, B::IndexOptionalMap]) {
            return Some(self.helper_call(id, Helper::index_key, Ty::Value, operands));
        }
        let (helper, result) = match name {
            "_<_" => (Helper::value_less, Ty::Bool),
            "_<=_" => (Helper::value_less_equal, Ty::Bool),
            "_>_" => (Helper::value_greater, Ty::Bool),
            "_>=_" => (Helper::value_greater_equal, Ty::Bool),
            "@in" => (Helper::in_container, Ty::Bool),
            "size" => (Helper::size, Ty::Int),
            _ => return None,
        };
        // The checker may have left out overloads by a type that a value turns out not to have.
        let may_be_meant = |row: &&Row| row.name == name && self.may_be(&row.params, operands);
        let is_known = |row: &Row| rows.iter().any(|known| known.builtin == row.builtin);
        if !TABLE.rows().iter().filter(may_be_meant).all(is_known) {
            return None;
        }
        Some(self.helper_call(id, helper, result, operands))
    }

    fn helper_call(&mut self, id: AstId, helper: Helper, result: Ty, operands: &[NodeId]) -> NodeId {
        let values: Vec<NodeId> = operands.iter().map(|&operand| self.boxed(operand, id)).collect();
        self.add(Op::Call(helper), result, &values, id)
    }

    /// Whether operands may be of the types of these parameters.
    fn may_be(&self, params: &[celero_frontend::Type], operands: &[NodeId]) -> bool {
        let fits = |(param, &operand): (&celero_frontend::Type, &NodeId)| {
            let (param, ty) = (representation(param), self.graph.ty(operand));
            ty == param || ty == Ty::Value || param == Ty::Value
        };
        params.len() == operands.len() && params.iter().zip(operands).all(fits)
    }

    /// The most usual overload for which the types of the operands can be tested.
    fn usual(&self, rows: &[&Row], operands: &[NodeId]) -> Option<Builtin> {
        let only = rows.len() == 1;
        let mut usual: Vec<(bool, usize, Builtin)> = Vec::new();
        for row in rows {
            let Some(params) = signature_of(row.builtin).map(|signature| &*signature.params) else { continue };
            // What takes any index takes values of more types than its parameters'.
            if params.len() != operands.len() || params.len() > Types::MAX || takes_any_index(row.builtin) {
                continue;
            }
            let types = || operands.iter().map(|&operand| self.graph.ty(operand)).zip(params.iter().copied());
            // A function that is alone checks the types that cannot be tested for.
            let fits = |(ty, param): (Ty, Ty)| match ty {
                Ty::Value => tag_of(param).is_some() || only && param == Ty::Value,
                ty => ty == param,
            };
            let tests = |(ty, param): (Ty, Ty)| ty == Ty::Value && param != Ty::Value;
            if !types().all(fits) || !types().any(tests) {
                continue;
            }
            let rank = types().find_map(|(_, param)| USUAL.iter().position(|usual| *usual == param));
            let mixed = params.iter().any(|param| params.first() != Some(param));
            usual.push((mixed, rank.unwrap_or(USUAL.len()), row.builtin));
        }
        usual.into_iter().min_by_key(|&(mixed, rank, _)| (mixed, rank)).map(|(.., builtin)| builtin)
    }
}
