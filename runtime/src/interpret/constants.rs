//! The values of parts of a tree that are the same in every evaluation, such as lists of literals
//! and `cidr("10.0.0.0/8")`.
//!
//! The interpreter computes them itself, when it evaluates the tree for the first time. What fails
//! is computed in each evaluation, where it stands, and so is all in an evaluation that records
//! its parts.

use super::Walk;
use crate::arena::Arena;
use crate::context::Host;
use crate::cx::CxSettings;
use crate::function::Functions;
use crate::library::Cx;
use crate::owned::OwnedValue;
use celero_frontend::stdlib::TABLE;
use celero_frontend::{Checked, Expr, NodeId, Overload, Reference};
use std::sync::OnceLock;

/// Budget of computing all constants of a tree, in steps. What exceeds it is computed in each evaluation.
const STEPS: i64 = 10_000;

/// Memory in which the constants of a tree are computed, in bytes: 30,000 literals in lists.
const BYTES: usize = 1 << 20;

/// The constants of a tree, once it was interpreted.
#[derive(Debug, Default)]
pub(crate) struct Constants(OnceLock<Box<[(NodeId, OwnedValue)]>>);

impl Constants {
    /// The constants, in the order of their nodes.
    pub(super) fn of<'a>(
        &'a self,
        checked: &Checked,
        functions: &Functions,
        host: &dyn Host,
        cx: &Cx<'_>,
    ) -> &'a [(NodeId, OwnedValue)] {
        self.0.get_or_init(|| {
            let arena = Arena::new(BYTES);
            let cx = CxSettings { steps: STEPS, dialect: cx.dialect() }.cx(&arena, None);
            let mut walk = Walk::new(checked, functions, host, &cx);
            let mut value = |id| walk.eval(id).ok().and_then(|value| value.to_owned_within(BYTES).ok());
            roots(checked).into_iter().filter_map(|id| Some((id, value(id)?))).collect()
        })
    }
}

/// The largest lists and calls of pure functions of the library that read no variable, in the order of their nodes.
fn roots(checked: &Checked) -> Vec<NodeId> {
    let ast = checked.ast();
    let ids = || (0..u32::try_from(ast.nodes().len()).unwrap_or(u32::MAX)).map(NodeId);
    // Whether a node is constant, and whether it is part of a constant. Children stand before their parents.
    let (mut constant, mut part) = (vec![false; ast.nodes().len()], vec![false; ast.nodes().len()]);
    for id in ids() {
        let Some(operands) = operands(checked, id) else { continue };
        let is = |id: &&NodeId| constant.get(id.0 as usize) == Some(&true);
        if operands.clone().all(|operand| is(&operand)) {
            set(&mut constant, id);
            operands.for_each(|&operand| set(&mut part, operand));
        }
    }
    let is_root = |&id: &NodeId| {
        let at = id.0 as usize;
        let literal = matches!(ast.expr(id), Expr::Literal(_));
        constant.get(at) == Some(&true) && part.get(at) == Some(&false) && !literal
    };
    ids().filter(is_root).collect()
}

fn set(flags: &mut [bool], id: NodeId) {
    if let Some(flag) = flags.get_mut(id.0 as usize) {
        *flag = true;
    }
}

/// The operands of which the value of a node is made; `None` if it depends on more than their values.
fn operands(checked: &Checked, id: NodeId) -> Option<impl Iterator<Item = &NodeId> + Clone> {
    let (target, nodes) = match checked.ast().expr(id) {
        Expr::Literal(_) => (None, &[][..]),
        Expr::List { elements, .. } => (None, checked.ast().children(*elements)),
        Expr::Call { target, args, .. } => {
            let Reference::Call { overloads, receiver } = checked.reference(id) else { return None };
            let [Overload::Builtin(builtin)] = **overloads else { return None };
            TABLE.row(builtin).filter(|row| row.pure)?;
            (target.as_ref().filter(|_| *receiver), checked.ast().children(*args))
        }
        _ => return None,
    };
    Some(target.into_iter().chain(nodes))
}
