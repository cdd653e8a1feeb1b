//! The operators of comparisons.

use crate::filter::tree::OrderOp;

/// A comparison operator.
#[derive(Clone, Copy)]
pub(super) enum Operator {
    In,
    Order(OrderOp),
    BitwiseAnd,
    Contains,
    Matches,
    Wildcard,
    StrictWildcard,
}

/// The operators, in the order in which they are tried. Words need no blank behind them, and
/// `strict wildcard` has exactly one inside.
pub(super) const OPERATORS: [(&str, Operator); 20] = [
    ("in", Operator::In),
    ("eq", Operator::Order(OrderOp::Equal)),
    ("==", Operator::Order(OrderOp::Equal)),
    ("ne", Operator::Order(OrderOp::NotEqual)),
    ("!=", Operator::Order(OrderOp::NotEqual)),
    ("ge", Operator::Order(OrderOp::GreaterEqual)),
    (">=", Operator::Order(OrderOp::GreaterEqual)),
    ("le", Operator::Order(OrderOp::LessEqual)),
    ("<=", Operator::Order(OrderOp::LessEqual)),
    ("gt", Operator::Order(OrderOp::Greater)),
    (">", Operator::Order(OrderOp::Greater)),
    ("lt", Operator::Order(OrderOp::Less)),
    ("<", Operator::Order(OrderOp::Less)),
    ("&", Operator::BitwiseAnd),
    ("bitwise_and", Operator::BitwiseAnd),
    ("contains", Operator::Contains),
    ("~", Operator::Matches),
    ("matches", Operator::Matches),
    ("wildcard", Operator::Wildcard),
    ("strict wildcard", Operator::StrictWildcard),
];

/// Whether a word is an operator.
pub(super) fn is_word_of_operator(word: &str) -> bool {
    OPERATORS.iter().any(|(known, _)| *known == word)
}
