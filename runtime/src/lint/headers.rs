//! Header names in literals that no header can have, or that are not in the lower case of HTTP/2.

use super::{HEADER_NAME_CASE, INVALID_HEADER_NAME, Lint};
use crate::fields::{behind_views, header_access};
use celero_frontend::{Checked, Expr, NodeId, Reference};
use celero_ir::layout;
use std::collections::HashSet;

/// Returns the nodes that are the variable of a macro over a map of headers: the names of the headers.
pub(super) fn names_in_macros(checked: &Checked, fields: &[layout::Field]) -> HashSet<NodeId> {
    let ast = checked.ast();
    let mut found = HashSet::new();
    if !ast.nodes().iter().any(|node| matches!(node.expr, Expr::Fold { .. })) {
        return found;
    }
    let is_of_headers = |range: NodeId| match *checked.reference(behind_views(checked, range)) {
        Reference::Variable(index) => fields.get(index as usize).is_some_and(|field| field.headers.is_some()),
        _ => false,
    };
    // For each variable in scope, by its level: whether it is the name of a header.
    let mut scope: Vec<bool> = Vec::new();
    // Nodes to visit, each with the level of the first variable that its parent opens for it, and these.
    let mut open: Vec<(NodeId, usize, &[bool])> = vec![(ast.root(), 0, &[])];
    while let Some((id, level, variables)) = open.pop() {
        scope.truncate(level);
        scope.extend(variables);
        let inside = scope.len();
        match *ast.expr(id) {
            Expr::Ident { .. } => {
                if let Reference::Local(used) = *checked.reference(id)
                    && scope.get(used as usize) == Some(&true)
                {
                    found.insert(id);
                }
            }
            Expr::Fold { range, var2, filter, transform, .. } => {
                let variables: &[bool] = match (is_of_headers(range), var2.is_some()) {
                    (true, false) => &[true],
                    (true, true) => &[true, false],
                    (false, false) => &[false],
                    (false, true) => &[false, false],
                };
                open.push((range, inside, &[]));
                open.extend([filter, transform].into_iter().flatten().map(|child| (child, inside, variables)));
            }
            Expr::Bind { init: outside, body, .. } | Expr::OptMap { target: outside, body, .. } => {
                open.push((outside, inside, &[]));
                open.push((body, inside, &[false]));
            }
            _ => ast.each_child(id, |child| open.push((child, inside, &[]))),
        }
    }
    found
}

impl Lint<'_> {
    pub(super) fn headers(&mut self, id: NodeId) {
        let Some(access) = header_access(self.checked, self.fields, id) else { return };
        let span = match self.ast.expr(id) {
            Expr::Index { index, .. } => self.ast.span(*index),
            Expr::Binary { left, .. } => self.ast.span(*left),
            _ => self.ast.node(id).focus,
        };
        let name = access.name;
        if !is_header_name(name) {
            let message = format!("no header can have the name `{}`", name.escape_debug());
            let help = "a name is made of letters, digits and !#$%&'*+-.^_`|~";
            self.warn(INVALID_HEADER_NAME, span, message, help);
        } else if name.bytes().any(|b| b.is_ascii_uppercase()) {
            let help = format!("write `{}`", name.to_ascii_lowercase());
            let message = "header names are in lower case here; other implementations of CEL find no other".to_owned();
            self.warn(HEADER_NAME_CASE, span, message, &help);
        }
    }
}

/// Whether this is a token (RFC 9110, 5.6.2), which names of headers are.
fn is_header_name(name: &str) -> bool {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(is_token)
}
