//! The tree as JSON, in the shape of Wirefilter's.

use super::literal::{BytesForm, BytesLiteral, FilterLiteral, IpItem, SetItems};
use super::tree::{AccessStep, Comparison, Connective, FilterExpr, FilterTree, OrderOp};
use super::unparse::ip_item_text;
use crate::ast::NodeId;
use crate::limits::with_stack;
use std::fmt::Write;

/// Returns a tree as JSON in Wirefilter's shape, without blanks:
/// `{"lhs":"http.host","op":"Equal","rhs":"example.com"}`.
///
/// Byte strings are texts, or arrays of numbers if they are written as hexadecimal bytes or are not
/// UTF-8. Parentheses do not show.
#[must_use]
pub fn filter_json(tree: &FilterTree) -> String {
    let mut text = String::new();
    with_stack(tree.depth(), || node(&mut text, tree, tree.root()));
    text
}

fn node(out: &mut String, tree: &FilterTree, id: NodeId) {
    match tree.expr(id) {
        FilterExpr::Field(index) => string(out, tree.field(*index).map_or("", |field| &field.name)),
        FilterExpr::Literal(value) => literal(out, value),
        FilterExpr::Call { function, args } => {
            out.push_str("{\"name\":");
            string(out, tree.function(*function).map_or("", |function| &function.name));
            out.push_str(",\"args\":");
            list(out, tree.children(*args), |out, &id| argument(out, tree, id));
            out.push('}');
        }
        FilterExpr::Access { base, steps } => {
            out.push('[');
            node(out, tree, *base);
            for step in steps {
                out.push(',');
                match step {
                    AccessStep::Index(index) => {
                        let _ = write!(out, "{{\"kind\":\"ArrayIndex\",\"value\":{index}}}");
                    }
                    AccessStep::Key(key) => {
                        out.push_str("{\"kind\":\"MapKey\",\"value\":");
                        string(out, key);
                        out.push('}');
                    }
                    AccessStep::Each => out.push_str("{\"kind\":\"MapEach\"}"),
                }
            }
            out.push(']');
        }
        FilterExpr::Test(value) => {
            out.push_str("{\"lhs\":");
            node(out, tree, *value);
            out.push_str(",\"op\":\"IsTrue\"}");
        }
        FilterExpr::Compare { value, comparison } => {
            out.push_str("{\"lhs\":");
            node(out, tree, *value);
            let _ = write!(out, ",\"op\":\"{}\",\"rhs\":", operator(comparison));
            right_side(out, comparison);
            out.push('}');
        }
        FilterExpr::Not(operand) => {
            out.push_str("{\"op\":\"Not\",\"arg\":");
            node(out, tree, *operand);
            out.push('}');
        }
        FilterExpr::Logic { op, operands } => {
            let name = match op {
                Connective::Or => "Or",
                Connective::Xor => "Xor",
                Connective::And => "And",
            };
            let _ = write!(out, "{{\"op\":\"{name}\",\"items\":");
            list(out, tree.children(*operands), |out, &id| node(out, tree, id));
            out.push('}');
        }
        FilterExpr::Quantifier { all, operand } => {
            let _ = write!(out, "{{\"op\":\"{}\",\"arg\":", if *all { "All" } else { "Any" });
            argument(out, tree, *operand);
            out.push('}');
        }
    }
}

/// An argument with its kind.
fn argument(out: &mut String, tree: &FilterTree, id: NodeId) {
    let kind = match tree.expr(id) {
        FilterExpr::Literal(_) => "Literal",
        FilterExpr::Field(_) | FilterExpr::Call { .. } | FilterExpr::Access { .. } => "IndexExpr",
        _ => "SimpleExpr",
    };
    let _ = write!(out, "{{\"kind\":\"{kind}\",\"value\":");
    node(out, tree, id);
    out.push('}');
}

fn operator(comparison: &Comparison) -> &'static str {
    match comparison {
        Comparison::Order(OrderOp::Equal, _) => "Equal",
        Comparison::Order(OrderOp::NotEqual, _) => "NotEqual",
        Comparison::Order(OrderOp::GreaterEqual, _) => "GreaterThanEqual",
        Comparison::Order(OrderOp::LessEqual, _) => "LessThanEqual",
        Comparison::Order(OrderOp::Greater, _) => "GreaterThan",
        Comparison::Order(OrderOp::Less, _) => "LessThan",
        Comparison::BitwiseAnd(_) => "BitwiseAnd",
        Comparison::Contains(_) => "Contains",
        Comparison::Matches(_) => "Matches",
        Comparison::Wildcard(_) => "Wildcard",
        Comparison::StrictWildcard(_) => "Strict Wildcard",
        Comparison::OneOf(_) => "OneOf",
        Comparison::InList(_) => "InList",
    }
}

fn right_side(out: &mut String, comparison: &Comparison) {
    match comparison {
        Comparison::Order(_, value) => literal(out, value),
        Comparison::BitwiseAnd(value) => {
            let _ = write!(out, "{value}");
        }
        Comparison::Contains(value) => bytes(out, value),
        Comparison::Matches(pattern) => string(out, &pattern.text),
        Comparison::Wildcard(wildcard) | Comparison::StrictWildcard(wildcard) => bytes(out, &wildcard.pattern),
        Comparison::InList(name) => string(out, name),
        Comparison::OneOf(SetItems::Ints(items)) => list(out, items, |out, (first, last)| {
            let _ = write!(out, "{{\"start\":{first},\"end\":{last}}}");
        }),
        Comparison::OneOf(SetItems::Ips(items)) => list(out, items, |out, item| match item {
            IpItem::Range(first, last) => {
                let _ = write!(out, "{{\"start\":\"{first}\",\"end\":\"{last}\"}}");
            }
            IpItem::Network(..) => string(out, &ip_item_text(item)),
        }),
        Comparison::OneOf(SetItems::Bytes(items)) => list(out, items, bytes),
    }
}

fn literal(out: &mut String, literal: &FilterLiteral) {
    match literal {
        FilterLiteral::Int(value) => {
            let _ = write!(out, "{value}");
        }
        FilterLiteral::Ip(value) => {
            let _ = write!(out, "\"{value}\"");
        }
        FilterLiteral::Bytes(value) => bytes(out, value),
    }
}

fn bytes(out: &mut String, literal: &BytesLiteral) {
    match std::str::from_utf8(&literal.value) {
        Ok(text) if literal.form != BytesForm::Hex => string(out, text),
        _ => list(out, &literal.value, |out, byte| {
            let _ = write!(out, "{byte}");
        }),
    }
}

fn list<T>(out: &mut String, items: &[T], mut item: impl FnMut(&mut String, &T)) {
    out.push('[');
    for (index, value) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        item(out, value);
    }
    out.push(']');
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
