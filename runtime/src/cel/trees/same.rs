//! Whether two syntax trees are the same expression, places in their sources apart.

use celero_frontend::{Ast, Expr, Literal, Name, NodeId};

/// The nodes of the second tree, each with its equal in the first; `None` if the trees differ.
pub(super) fn same(a: &Ast, b: &Ast) -> Option<Vec<(NodeId, NodeId)>> {
    let mut todo = vec![(a.root(), b.root())];
    let mut pairs = Vec::with_capacity(b.nodes().len());
    let (mut left, mut right) = (Vec::new(), Vec::new());
    while let Some((x, y)) = todo.pop() {
        if !are_heads_same((a, x), (b, y)) {
            return None;
        }
        pairs.push((y, x));
        a.each_child(x, |child| left.push(child));
        b.each_child(y, |child| right.push(child));
        if left.len() != right.len() {
            return None;
        }
        todo.extend(left.drain(..).zip(right.drain(..)));
    }
    Some(pairs)
}

/// Whether two nodes are the same, their children apart.
fn are_heads_same((a, x): (&Ast, NodeId), (b, y): (&Ast, NodeId)) -> bool {
    let named = |x: &Name, y: &Name| a.name(*x) == b.name(*y);
    let maybe = |x: &Option<Name>, y: &Option<Name>| match (x, y) {
        (Some(x), Some(y)) => named(x, y),
        (x, y) => x.is_none() && y.is_none(),
    };
    match (a.expr(x), b.expr(y)) {
        (Expr::Literal(Literal::Double(x)), Expr::Literal(Literal::Double(y))) => x.to_bits() == y.to_bits(),
        (Expr::Literal(x), Expr::Literal(y)) => x == y,
        (Expr::Ident { name: x, rooted, test }, Expr::Ident { name: y, rooted: other_rooted, test: other_test }) => {
            named(x, y) && rooted == other_rooted && test == other_test
        }
        (
            Expr::Select { field: x, test, optional, .. },
            Expr::Select { field: y, test: other_test, optional: other_optional, .. },
        ) => named(x, y) && test == other_test && optional == other_optional,
        (Expr::Index { optional: x, .. }, Expr::Index { optional: y, .. }) => x == y,
        (Expr::Unary { op: x, .. }, Expr::Unary { op: y, .. }) => x == y,
        (Expr::Binary { op: x, .. }, Expr::Binary { op: y, .. }) => x == y,
        (Expr::Logic { op: x, .. }, Expr::Logic { op: y, .. }) => x == y,
        (Expr::Cond { .. }, Expr::Cond { .. }) => true,
        (
            Expr::Call { target: x, function, rooted, .. },
            Expr::Call { target: y, function: other, rooted: other_rooted, .. },
        ) => named(function, other) && rooted == other_rooted && x.is_some() == y.is_some(),
        (Expr::List { optional: x, .. }, Expr::List { optional: y, .. })
        | (Expr::Map { optional: x, .. }, Expr::Map { optional: y, .. }) => x == y,
        (
            Expr::Message { name: x, fields, optional, .. },
            Expr::Message { name: y, fields: others, optional: other, .. },
        ) => {
            let all = || fields.iter().zip(others).all(|(x, y)| named(x, y));
            named(x, y) && optional == other && fields.len() == others.len() && all()
        }
        (
            Expr::Fold { kind, var, var2, filter, transform, .. },
            Expr::Fold { kind: other, var: v, var2: v2, filter: f, transform: t, .. },
        ) => {
            let parts = filter.is_some() == f.is_some() && transform.is_some() == t.is_some();
            kind == other && named(var, v) && maybe(var2, v2) && parts
        }
        (Expr::Bind { var: x, with, .. }, Expr::Bind { var: y, with: other, .. }) => named(x, y) && with == other,
        (Expr::OptMap { var: x, flat, .. }, Expr::OptMap { var: y, flat: other, .. }) => named(x, y) && flat == other,
        (Expr::Fallback { kind: x, .. }, Expr::Fallback { kind: y, .. }) => x == y,
        _ => false,
    }
}
