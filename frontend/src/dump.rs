//! Writes a tree as indented text, one node per line: the node, then its byte range in the source.
//!
//! The text is for people and tests; there is no parser for it.

use crate::ast::{Ast, BinaryOp, Expr, FallbackKind, Literal, LogicOp, NodeId, UnaryOp};
use crate::checked::Checked;
use std::fmt::Write;

/// Writes `ast` as indented text.
///
/// ```
/// let ast = celero_frontend::parse("a && b.c", &celero_frontend::Limits::default()).unwrap();
/// assert_eq!(celero_frontend::dump(&ast), "&& 0..8\n  ident a 0..1\n  select .c 5..8\n    ident b 5..6\n");
/// ```
#[must_use]
pub fn dump(ast: &Ast) -> String {
    write_tree(ast, |_| String::new())
}

/// Writes a checked tree as indented text, with the type of each node.
#[must_use]
pub fn dump_checked(checked: &Checked) -> String {
    write_tree(checked.ast(), |id| format!(" : {}", checked.type_of(id)))
}

fn write_tree(ast: &Ast, note: impl Fn(NodeId) -> String) -> String {
    let mut text = String::new();
    // Lines to be written, the next one last. Labels name a child's part in its parent.
    let mut todo = vec![(ast.root(), String::new(), 0usize)];
    let mut children = Vec::new();
    while let Some((id, label, indent)) = todo.pop() {
        let span = ast.span(id);
        let head = describe(ast, id, &mut children);
        let _ = writeln!(text, "{:indent$}{label}{head} {}..{}{}", "", span.start, span.end, note(id));
        let below = indent.saturating_add(2);
        todo.extend(children.drain(..).rev().map(|(id, label)| (id, label, below)));
    }
    text
}

type Children = Vec<(NodeId, String)>;

/// The node's own words; its children are added to `children` in the order written.
fn describe(ast: &Ast, id: NodeId, children: &mut Children) -> String {
    let mut child = |id: NodeId, label: &str| children.push((id, label.to_owned()));
    let name = |name| ast.name(name);
    match ast.expr(id) {
        Expr::Error => "error".to_owned(),
        Expr::Literal(literal) => self::literal(literal),
        Expr::Ident { name: n, rooted, test } => {
            format!("{} {}{}", if *test { "has" } else { "ident" }, dot(*rooted), name(*n))
        }
        Expr::Select { operand, field, test, optional } => {
            child(*operand, "");
            let head = if *test { "has" } else { "select" };
            format!("{head} .{}{}", mark(*optional), name(*field))
        }
        Expr::Index { operand, index, optional } => {
            child(*operand, "");
            child(*index, "");
            format!("index{}", if *optional { " ?" } else { "" })
        }
        Expr::Unary { op, operand } => {
            child(*operand, "");
            match op {
                UnaryOp::Not => "!".to_owned(),
                UnaryOp::Neg => "-".to_owned(),
            }
        }
        Expr::Binary { op, left, right } => {
            child(*left, "");
            child(*right, "");
            binary(*op).to_owned()
        }
        Expr::Logic { op, operands } => {
            ast.children(*operands).iter().for_each(|&id| child(id, ""));
            match op {
                LogicOp::And => "&&".to_owned(),
                LogicOp::Or => "||".to_owned(),
            }
        }
        Expr::Cond { condition, then, otherwise } => {
            child(*condition, "");
            child(*then, "then: ");
            child(*otherwise, "else: ");
            "cond".to_owned()
        }
        Expr::Call { target, function, rooted, args } => {
            if let Some(target) = target {
                child(*target, "target: ");
            }
            ast.children(*args).iter().for_each(|&id| child(id, ""));
            format!("call {}{}", dot(*rooted), name(*function))
        }
        Expr::List { elements, optional } => {
            for (at, &id) in ast.children(*elements).iter().enumerate() {
                child(id, mark(optional.get(at) == Some(&true)));
            }
            "list".to_owned()
        }
        Expr::Map { entries, optional } => {
            for (at, pair) in ast.children(*entries).chunks(2).enumerate() {
                if let &[key, value] = pair {
                    child(key, &format!("{}key: ", mark(optional.get(at) == Some(&true))));
                    child(value, "value: ");
                }
            }
            "map".to_owned()
        }
        Expr::Message { name: n, fields, values, optional } => {
            for (at, (&field, &id)) in fields.iter().zip(ast.children(*values)).enumerate() {
                child(id, &format!("{}{}: ", mark(optional.get(at) == Some(&true)), name(field)));
            }
            format!("message {}", name(*n))
        }
        Expr::Fold { kind, range, var, var2, filter, transform } => {
            child(*range, "range: ");
            if let Some(filter) = filter {
                child(*filter, "filter: ");
            }
            if let Some(transform) = transform {
                child(*transform, "transform: ");
            }
            let second = var2.map_or_else(String::new, |v| format!(", {}", name(v)));
            format!("{} {}{second}", kind.name(), name(*var))
        }
        Expr::Bind { var, init, body, with } => {
            child(*init, "init: ");
            child(*body, "body: ");
            format!("{} {}", if *with { "with" } else { "bind" }, name(*var))
        }
        Expr::OptMap { target, var, body, flat } => {
            child(*target, "target: ");
            child(*body, "body: ");
            format!("{} {}", if *flat { "optFlatMap" } else { "optMap" }, name(*var))
        }
        Expr::Fallback { kind, operands } => {
            ast.children(*operands).iter().for_each(|&id| child(id, ""));
            match kind {
                FallbackKind::Default => "default".to_owned(),
                FallbackKind::Coalesce => "coalesce".to_owned(),
            }
        }
    }
}

fn dot(rooted: bool) -> &'static str {
    if rooted { "." } else { "" }
}

fn mark(optional: bool) -> &'static str {
    if optional { "?" } else { "" }
}

fn literal(literal: &Literal) -> String {
    match literal {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => format!("bool {value}"),
        Literal::Int(value) => format!("int {value}"),
        Literal::Uint(value) => format!("uint {value}"),
        Literal::Double(value) => format!("double {value:?}"),
        Literal::String(value) => format!("string {value:?}"),
        Literal::Bytes(value) => format!("bytes \"{}\"", value.escape_ascii()),
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::In => "in",
    }
}
