//! The structure of CEL expressions.

use super::{Feature, bucket};
use celero_frontend::{Ast, BinaryOp, Expr, Limits, Literal, NodeId, Nodes, parse, with_stack};
use std::collections::BTreeSet;
use std::fmt::Write;

pub(super) fn structure(source: &str) -> Result<(String, BTreeSet<Feature>), String> {
    let ast = parse(source, &Limits::default())
        .map_err(|errors| errors.first().map_or_else(String::new, |error| error.message.clone()))?;
    let mut walk = Walk { ast: &ast, key: String::new(), features: BTreeSet::new() };
    with_stack(ast.depth(), || walk.visit(ast.root()));
    Ok((walk.key, walk.features))
}

struct Walk<'a> {
    ast: &'a Ast,
    key: String,
    features: BTreeSet<Feature>,
}

impl Walk<'_> {
    fn constant(literal: &Literal) -> &'static str {
        match literal {
            Literal::Null => "null",
            // Truth values decide what is folded, so they are no mere constants.
            Literal::Bool(true) => "true",
            Literal::Bool(false) => "false",
            Literal::Int(_) => "int",
            Literal::Uint(_) => "uint",
            Literal::Double(_) => "double",
            Literal::String(_) => "string",
            Literal::Bytes(_) => "bytes",
        }
    }

    /// The type of all of these, if they are constants of one type.
    fn constants(&self, nodes: Nodes) -> Option<&'static str> {
        let mut types = self.ast.children(nodes).iter().map(|id| match self.ast.expr(*id) {
            Expr::Literal(literal) => Some(Self::constant(literal)),
            _ => None,
        });
        let first = types.next()??;
        types.all(|ty| ty == Some(first)).then_some(first)
    }

    /// Writes the children of a node, in parentheses.
    fn children(&mut self, id: NodeId) {
        let mut children = Vec::new();
        self.ast.each_child(id, |child| children.push(child));
        self.key.push('(');
        for child in children {
            self.visit(child);
            self.key.push(' ');
        }
        self.key.push(')');
    }

    fn visit(&mut self, id: NodeId) {
        let ast = self.ast;
        let head: &str = match ast.expr(id) {
            Expr::Error => "error",
            Expr::Literal(literal) => Self::constant(literal),
            Expr::Ident { name, test, .. } => {
                self.key.push_str(if *test { "has" } else { "" });
                ast.name(*name)
            }
            Expr::Select { field, test, optional, .. } => {
                if *test || *optional {
                    self.features.insert(Feature::Maps);
                }
                let _ = write!(self.key, "{}{}.", if *test { "has" } else { "" }, if *optional { "?" } else { "" });
                ast.name(*field)
            }
            Expr::Index { .. } => {
                self.features.insert(Feature::Maps);
                "[]"
            }
            Expr::Unary { op, .. } => op.function(),
            Expr::Binary { op, .. } => {
                self.features.insert(match op {
                    BinaryOp::In => Feature::Set,
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                        Feature::Arithmetic
                    }
                    _ => Feature::Comparison,
                });
                op.function()
            }
            Expr::Logic { op, .. } => {
                let _ = write!(self.key, "{op:?}");
                ""
            }
            Expr::Cond { .. } => "?:",
            Expr::Call { function, args, .. } => {
                let name = ast.name(*function);
                let feature = Feature::of_function(name);
                self.features.insert(feature);
                if feature == Feature::Regex
                    && let Some(length) = ast.children(*args).iter().find_map(|id| match ast.expr(*id) {
                        Expr::Literal(Literal::String(pattern)) => Some(pattern.len()),
                        _ => None,
                    })
                {
                    let _ = write!(self.key, "pattern*{} ", bucket(length));
                }
                name
            }
            Expr::List { elements, .. } => {
                if let Some(ty) = self.constants(*elements) {
                    let _ = write!(self.key, "[{ty}*{}]", bucket(elements.len as usize));
                    return;
                }
                "list"
            }
            Expr::Map { .. } | Expr::Message { .. } => {
                self.features.insert(Feature::Maps);
                "map"
            }
            Expr::Fold { kind, .. } => {
                self.features.insert(Feature::Macros);
                kind.name()
            }
            Expr::Bind { .. } => "bind",
            Expr::OptMap { .. } => "optMap",
            Expr::Fallback { .. } => "fallback",
        };
        self.key.push_str(head);
        self.children(id);
    }
}
