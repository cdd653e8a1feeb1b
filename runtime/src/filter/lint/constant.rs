//! Operands of `and` and `or` that are constant as written, sets that contain nothing, and patterns
//! and texts that are found everywhere or nowhere.

use crate::lint::CONSTANT_CONDITION;
use celero_frontend::filter::{
    Comparison, Connective, FilterExpr, FilterLiteral, FilterNode, FilterTree, StandardFunction,
};
use celero_frontend::{Diagnostic, NodeId};
use celero_matching::pattern::byte_constant;

pub(super) fn constant_conditions(tree: &FilterTree, node: &FilterNode, found: &mut Vec<Diagnostic>) {
    match &node.expr {
        FilterExpr::Logic { op, operands } => {
            for &operand in tree.children(*operands) {
                let Some(value) = truth(tree, operand) else { continue };
                let message = match (op, value) {
                    (Connective::And, false) => "with this operand, `and` is always false",
                    (Connective::Or, true) => "with this operand, `or` is always true",
                    (Connective::Xor, true) => "this operand only negates the others",
                    _ => "this operand changes nothing",
                };
                found.push(Diagnostic::warning(CONSTANT_CONDITION, tree.node(operand).span, message));
            }
        }
        FilterExpr::Compare { comparison: Comparison::OneOf(items), .. } if items.is_empty() => {
            found.push(Diagnostic::warning(CONSTANT_CONDITION, node.span, "no value is in an empty set"));
        }
        FilterExpr::Compare { comparison: Comparison::Matches(pattern), .. } => {
            if let Some(result) = byte_constant(&pattern.text) {
                let message = if result { "this pattern matches every text" } else { "this pattern matches no text" };
                found.push(Diagnostic::warning(CONSTANT_CONDITION, node.span, message));
            }
        }
        FilterExpr::Compare { comparison: Comparison::Contains(part), .. } if part.value.is_empty() => {
            found.push(Diagnostic::warning(CONSTANT_CONDITION, node.span, "the empty text is a part of every text"));
        }
        FilterExpr::Call { function, args } => {
            let standard = tree.function(*function).and_then(|function| function.standard);
            if let Some(StandardFunction::StartsWith | StandardFunction::EndsWith) = standard
                && let [_, part] = tree.children(*args)
                && matches!(tree.expr(*part), FilterExpr::Literal(FilterLiteral::Bytes(part)) if part.value.is_empty())
            {
                found.push(Diagnostic::warning(
                    CONSTANT_CONDITION,
                    node.span,
                    "the empty text is a part of every text",
                ));
            }
        }
        _ => {}
    }
}

/// The value of a condition that is one of the constant fields, `true` and `false`, or its opposite.
fn truth(tree: &FilterTree, id: NodeId) -> Option<bool> {
    match tree.expr(id) {
        FilterExpr::Test(value) => match tree.expr(*value) {
            FilterExpr::Field(index) => tree.field(*index)?.constant,
            _ => None,
        },
        FilterExpr::Not(operand) => match tree.expr(*operand) {
            FilterExpr::Test(_) => truth(tree, *operand).map(|value| !value),
            _ => None,
        },
        _ => None,
    }
}
