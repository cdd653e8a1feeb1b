//! Whether two parts of CEL trees are the same expression: a documented field is found by the
//! expression that gives its value.

use celero_frontend::{Checked, Expr, NodeId, Nodes, Reference};

/// Whether a part of one tree is a part of another one, names of macro variables and the way of quoting apart.
pub(super) fn same(one: (&Checked, NodeId), other: (&Checked, NodeId)) -> bool {
    let ((a, x), (b, y)) = (one, other);
    match (a.reference(x), b.reference(y)) {
        (Reference::Variable(one), Reference::Variable(other)) => {
            let test = |checked: &Checked, id| checked.ast().expr(id).is_test();
            return one == other && test(a, x) == test(b, y);
        }
        (one, other) if one != other => return false,
        _ => {}
    }
    let both = |x: &NodeId, y: &NodeId| same((a, *x), (b, *y));
    let all = |x: &Nodes, y: &Nodes| {
        let (x, y) = (a.ast().children(*x), b.ast().children(*y));
        x.len() == y.len() && x.iter().zip(y).all(|(x, y)| both(x, y))
    };
    match (a.ast().expr(x), b.ast().expr(y)) {
        (Expr::Literal(x), Expr::Literal(y)) => x == y,
        (
            Expr::Select { operand: x, field: name, test, optional },
            Expr::Select { operand: y, field: other, test: tests, optional: may },
        ) => a.ast().name(*name) == b.ast().name(*other) && test == tests && optional == may && both(x, y),
        (Expr::Index { operand: x, index: i, optional }, Expr::Index { operand: y, index: j, optional: may }) => {
            optional == may && both(x, y) && both(i, j)
        }
        (Expr::Unary { op, operand: x }, Expr::Unary { op: other, operand: y }) => op == other && both(x, y),
        (Expr::Binary { op, left: x, right: i }, Expr::Binary { op: other, left: y, right: j }) => {
            op == other && both(x, y) && both(i, j)
        }
        (Expr::Logic { op, operands: x }, Expr::Logic { op: other, operands: y }) => op == other && all(x, y),
        (Expr::Cond { condition: c, then: x, otherwise: i }, Expr::Cond { condition: d, then: y, otherwise: j }) => {
            both(c, d) && both(x, y) && both(i, j)
        }
        (Expr::Call { target: x, args: i, .. }, Expr::Call { target: y, args: j, .. }) => {
            // What is called is in the reference. A target that is part of the function's name is no operand.
            let Reference::Call { receiver, .. } = a.reference(one.1) else { return false };
            let targets = match (x, y) {
                (Some(x), Some(y)) => !*receiver || both(x, y),
                (None, None) => true,
                _ => false,
            };
            targets && all(i, j)
        }
        (Expr::Fallback { kind, operands: x }, Expr::Fallback { kind: other, operands: y }) => {
            kind == other && all(x, y)
        }
        _ => false,
    }
}
