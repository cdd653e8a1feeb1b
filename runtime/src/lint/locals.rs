//! Where the variables of macros get their values from.

use celero_frontend::{Checked, Expr, NodeId, Reference};

/// What a variable of a macro is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The only variable of a macro over this range: an element of a list, or a key of a map.
    Item(NodeId),
    /// The first of two variables over this range: an index, or a key.
    Key(NodeId),
    /// The second of two variables over this range: an element, or a value.
    Value(NodeId),
    /// The value of this expression.
    Bound(NodeId),
    /// What is in the optional that this expression is.
    Inside,
}

/// The origins of the nodes that are variables of macros.
#[derive(Default)]
pub(super) struct Origins(Vec<Option<Origin>>);

impl Origins {
    /// Returns the origin of a node; `None` if it is no variable of a macro.
    pub(super) fn of(&self, id: NodeId) -> Option<Origin> {
        self.0.get(id.0 as usize).copied().flatten()
    }
}

/// Returns the origin of each node that is a variable of a macro.
pub(super) fn origins(checked: &Checked) -> Origins {
    let ast = checked.ast();
    let mut found = Origins::default();
    let opens = |expr: &Expr| matches!(expr, Expr::Fold { .. } | Expr::Bind { .. } | Expr::OptMap { .. });
    if !ast.nodes().iter().any(|node| opens(&node.expr)) {
        return found;
    }
    // The variables in scope, by level.
    let mut scope: Vec<Origin> = Vec::new();
    // Nodes to visit, each with the level of the first variable that its parent opens for it, and these.
    let mut open: Vec<(NodeId, usize, [Option<Origin>; 2])> = vec![(ast.root(), 0, [None; 2])];
    while let Some((id, level, variables)) = open.pop() {
        scope.truncate(level);
        scope.extend(variables.into_iter().flatten());
        let inside = scope.len();
        match *ast.expr(id) {
            Expr::Ident { .. } => {
                if let Reference::Local(used) = *checked.reference(id)
                    && let Some(origin) = scope.get(used as usize)
                {
                    found.0.resize(ast.nodes().len(), None);
                    if let Some(place) = found.0.get_mut(id.0 as usize) {
                        *place = Some(*origin);
                    }
                }
            }
            Expr::Fold { range, var2, filter, transform, .. } => {
                let variables = match var2 {
                    None => [Some(Origin::Item(range)), None],
                    Some(_) => [Some(Origin::Key(range)), Some(Origin::Value(range))],
                };
                open.push((range, inside, [None; 2]));
                open.extend([filter, transform].into_iter().flatten().map(|child| (child, inside, variables)));
            }
            Expr::Bind { init, body, .. } => {
                open.push((init, inside, [None; 2]));
                open.push((body, inside, [Some(Origin::Bound(init)), None]));
            }
            Expr::OptMap { target, body, .. } => {
                open.push((target, inside, [None; 2]));
                open.push((body, inside, [Some(Origin::Inside), None]));
            }
            _ => ast.each_child(id, |child| open.push((child, inside, [None; 2]))),
        }
    }
    found
}
