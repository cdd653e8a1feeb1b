//! Text that was changed to one case, compared with text that has letters of the other case.

use crate::lint::NEVER_THAT_CASE;
use celero_frontend::filter::{
    BytesLiteral, Comparison, FilterExpr, FilterLiteral, FilterNode, FilterTree, OrderOp, SetItems, StandardFunction,
};
use celero_frontend::{Diagnostic, NodeId};

pub(super) fn other_case(tree: &FilterTree, node: &FilterNode, found: &mut Vec<Diagnostic>) {
    let (value, literals): (NodeId, Vec<&BytesLiteral>) = match &node.expr {
        FilterExpr::Compare { value, comparison } => {
            let literals = match comparison {
                Comparison::Order(OrderOp::Equal | OrderOp::NotEqual, FilterLiteral::Bytes(bytes))
                | Comparison::Contains(bytes) => vec![bytes],
                Comparison::StrictWildcard(wildcard) => vec![&wildcard.pattern],
                Comparison::OneOf(SetItems::Bytes(items)) => items.iter().collect(),
                _ => return,
            };
            (*value, literals)
        }
        FilterExpr::Call { function, args } => {
            let standard = tree.function(*function).and_then(|function| function.standard);
            let (Some(StandardFunction::StartsWith | StandardFunction::EndsWith), [value, part]) =
                (standard, tree.children(*args))
            else {
                return;
            };
            match tree.expr(*part) {
                FilterExpr::Literal(FilterLiteral::Bytes(bytes)) => (*value, vec![bytes]),
                _ => return,
            }
        }
        _ => return,
    };
    let Some(lower) = is_lower(tree, value) else { return };
    let (name, other) = if lower { ("lower", "an upper-case") } else { ("upper", "a lower-case") };
    let is_other = |byte: &u8| if lower { byte.is_ascii_uppercase() } else { byte.is_ascii_lowercase() };
    for literal in literals {
        if let Some(letter) = literal.value.iter().find(|byte| is_other(byte)) {
            let letter = char::from(*letter);
            let message = format!("this is never found: the result of `{name}` has no letter `{letter}`");
            let help = vec![format!("write the text without {other} letter")];
            found.push(Diagnostic { help, ..Diagnostic::warning(NEVER_THAT_CASE, node.span, message) });
        }
    }
}

/// Whether a value is the result of `lower`, or of `upper`.
fn is_lower(tree: &FilterTree, id: NodeId) -> Option<bool> {
    match tree.expr(id) {
        FilterExpr::Access { base, .. } => is_lower(tree, *base),
        FilterExpr::Call { function, .. } => match tree.function(*function)?.standard? {
            StandardFunction::Lower => Some(true),
            StandardFunction::Upper => Some(false),
            _ => None,
        },
        _ => None,
    }
}
