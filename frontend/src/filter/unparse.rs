//! Writes a tree as canonical text on one line: operators as words, no parentheses that precedence
//! makes needless, literals in the form in which they were written. Checking the text gives the
//! same tree, places apart.

use super::literal::{BytesForm, BytesLiteral, FilterLiteral, IpItem, Pattern, SetItems};
use super::quote::{quoted_bytes, raw_string};
use super::tree::{AccessStep, Comparison, Connective, FilterExpr, FilterTree, OrderOp};
use crate::ast::NodeId;
use crate::limits::with_stack;
use crate::render::is_hidden;
use std::fmt::Write;
use std::net::IpAddr;

/// Returns the canonical text of a tree on one line. Checking it gives the same tree, places apart.
#[must_use]
pub fn unparse_filter(tree: &FilterTree) -> String {
    FlatText::of(tree).text
}

/// The text of a tree on one line, and which part of it each node is.
pub(super) struct FlatText {
    pub(super) text: String,
    parts: Vec<(usize, usize)>,
}

impl FlatText {
    pub(super) fn of(tree: &FilterTree) -> Self {
        let mut flat = Self { text: String::new(), parts: vec![(0, 0); tree.nodes().len()] };
        with_stack(tree.depth(), || flat.node(tree, tree.root()));
        flat
    }

    /// The text of a node.
    pub(super) fn part(&self, id: NodeId) -> &str {
        let (start, end) = self.parts.get(id.0 as usize).copied().unwrap_or_default();
        self.text.get(start..end).unwrap_or("")
    }

    fn node(&mut self, tree: &FilterTree, id: NodeId) {
        let start = self.text.len();
        match tree.expr(id) {
            FilterExpr::Field(index) => self.text.push_str(tree.field(*index).map_or("", |field| &field.name)),
            FilterExpr::Literal(literal) => self.text.push_str(&argument_text(literal)),
            FilterExpr::Call { function, args } => {
                self.text.push_str(tree.function(*function).map_or("", |function| &function.name));
                self.text.push('(');
                for (index, &argument) in tree.children(*args).iter().enumerate() {
                    self.text.push_str(if index > 0 { ", " } else { "" });
                    self.enclosed(tree, argument, is_enclosed_argument(tree, argument));
                }
                self.text.push(')');
            }
            FilterExpr::Access { base, steps } => {
                self.node(tree, *base);
                for step in steps {
                    let _ = match step {
                        AccessStep::Index(index) => write!(self.text, "[{index}]"),
                        AccessStep::Key(key) => write!(self.text, "[{}]", quoted_bytes(key.as_bytes())),
                        AccessStep::Each => write!(self.text, "[*]"),
                    };
                }
            }
            FilterExpr::Test(value) => self.node(tree, *value),
            FilterExpr::Compare { value, comparison } => {
                self.node(tree, *value);
                let _ = write!(self.text, " {} ", operator_word(comparison));
                self.text.push_str(&right_side_text(comparison));
            }
            FilterExpr::Not(operand) => {
                self.text.push_str("not ");
                self.enclosed(tree, *operand, is_logic(tree, *operand));
            }
            FilterExpr::Logic { op, operands } => {
                for (index, &operand) in tree.children(*operands).iter().enumerate() {
                    if index > 0 {
                        let _ = write!(self.text, " {} ", connective_word(*op));
                    }
                    self.enclosed(tree, operand, is_enclosed_operand(tree, *op, operand));
                }
            }
            FilterExpr::Quantifier { all, operand } => {
                self.text.push_str(quantifier_word(*all));
                self.text.push('(');
                self.enclosed(tree, *operand, is_enclosed_argument(tree, *operand));
                self.text.push(')');
            }
        }
        if let Some(part) = self.parts.get_mut(id.0 as usize) {
            *part = (start, self.text.len());
        }
    }

    fn enclosed(&mut self, tree: &FilterTree, id: NodeId, parentheses: bool) {
        if parentheses {
            self.text.push('(');
        }
        self.node(tree, id);
        if parentheses {
            self.text.push(')');
        }
    }
}

pub(super) fn is_logic(tree: &FilterTree, id: NodeId) -> bool {
    matches!(tree.expr(id), FilterExpr::Logic { .. })
}

/// Whether an operand of a connective stands in parentheses: it is joined by one that does not bind tighter.
pub(super) fn is_enclosed_operand(tree: &FilterTree, op: Connective, operand: NodeId) -> bool {
    matches!(tree.expr(operand), FilterExpr::Logic { op: inner, .. } if *inner <= op)
}

/// Whether an argument stands in parentheses: without them a value would not be a condition, and a
/// chain would end at its first connective.
pub(super) fn is_enclosed_argument(tree: &FilterTree, argument: NodeId) -> bool {
    matches!(tree.expr(argument), FilterExpr::Logic { .. } | FilterExpr::Test(_))
}

pub(super) fn connective_word(op: Connective) -> &'static str {
    match op {
        Connective::Or => "or",
        Connective::Xor => "xor",
        Connective::And => "and",
    }
}

pub(super) fn quantifier_word(all: bool) -> &'static str {
    if all { "all" } else { "any" }
}

pub(super) fn operator_word(comparison: &Comparison) -> &'static str {
    match comparison {
        Comparison::Order(OrderOp::Equal, _) => "eq",
        Comparison::Order(OrderOp::NotEqual, _) => "ne",
        Comparison::Order(OrderOp::GreaterEqual, _) => "ge",
        Comparison::Order(OrderOp::LessEqual, _) => "le",
        Comparison::Order(OrderOp::Greater, _) => "gt",
        Comparison::Order(OrderOp::Less, _) => "lt",
        Comparison::BitwiseAnd(_) => "bitwise_and",
        Comparison::Contains(_) => "contains",
        Comparison::Matches(_) => "matches",
        Comparison::Wildcard(_) => "wildcard",
        Comparison::StrictWildcard(_) => "strict wildcard",
        Comparison::OneOf(_) | Comparison::InList(_) => "in",
    }
}

fn right_side_text(comparison: &Comparison) -> String {
    match comparison {
        Comparison::Order(_, FilterLiteral::Int(value)) | Comparison::BitwiseAnd(value) => value.to_string(),
        Comparison::Order(_, FilterLiteral::Ip(value)) => value.to_string(),
        Comparison::Order(_, FilterLiteral::Bytes(value)) | Comparison::Contains(value) => bytes_text(value, ':'),
        Comparison::Matches(pattern) => pattern_text(pattern),
        Comparison::Wildcard(wildcard) | Comparison::StrictWildcard(wildcard) => bytes_text(&wildcard.pattern, ':'),
        Comparison::OneOf(items) => format!("{{{}}}", item_texts(items).join(" ")),
        Comparison::InList(name) => format!("${name}"),
    }
}

/// The items of a set, as text.
pub(super) fn item_texts(items: &SetItems) -> Vec<String> {
    match items {
        SetItems::Ints(items) => items
            .iter()
            .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}..{last}") })
            .collect(),
        SetItems::Ips(items) => items.iter().map(ip_item_text).collect(),
        SetItems::Bytes(items) => items.iter().map(|item| bytes_text(item, ':')).collect(),
    }
}

/// An item of a set of addresses, as text. A network of one address is the address.
pub(super) fn ip_item_text(item: &IpItem) -> String {
    match item {
        IpItem::Network(address @ IpAddr::V4(_), 32) | IpItem::Network(address @ IpAddr::V6(_), 128) => {
            address.to_string()
        }
        IpItem::Network(address, prefix) => format!("{address}/{prefix}"),
        IpItem::Range(first, last) => format!("{first}..{last}"),
    }
}

/// A literal argument. Hexadecimal bytes are separated by `-`: with `:` they could be read as an address.
fn argument_text(literal: &FilterLiteral) -> String {
    match literal {
        FilterLiteral::Int(value) => value.to_string(),
        FilterLiteral::Ip(value) => value.to_string(),
        FilterLiteral::Bytes(value) => bytes_text(value, '-'),
    }
}

fn bytes_text(literal: &BytesLiteral, separator: char) -> String {
    match literal.form {
        BytesForm::Hex => {
            let mut text = String::new();
            for (index, byte) in literal.value.iter().enumerate() {
                if index > 0 {
                    text.push(separator);
                }
                let _ = write!(text, "{byte:02X}");
            }
            text
        }
        BytesForm::Raw => match std::str::from_utf8(&literal.value) {
            Ok(value) if !value.contains(is_hidden) => raw_string(value),
            _ => quoted_bytes(&literal.value),
        },
        BytesForm::Quoted => quoted_bytes(&literal.value),
    }
}

/// A pattern as it was written, since other escapes would be another pattern.
fn pattern_text(pattern: &Pattern) -> String {
    if pattern.form == BytesForm::Raw {
        return raw_string(&pattern.text);
    }
    let mut text = String::from("\"");
    let mut in_class = false;
    let mut characters = pattern.text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => {
                text.push(c);
                text.extend(characters.next());
                continue;
            }
            '"' if !in_class => text.push('\\'),
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        text.push(c);
    }
    text.push('"');
    text
}
