//! The text of results: checked trees put together to one whose result is a `string`.
//!
//! Trees are copied node by node, so that no source is parsed again. The source of the result is
//! written along with it: what is shown, and what the places of evaluation errors refer to.

use super::CheckedTree;
use crate::language::{Piece, RuleTree};
use crate::lint;
use celero_frontend::stdlib::{Builtin, TABLE};
use celero_frontend::{
    Ast, BinaryOp, Checked, Declarations, Diagnostic, Expr, Limits, Literal, Name, NodeId, Nodes, Overload, Place,
    Reference, Severity, Span, Stage, TreeBuilder, Type,
};

/// The function that makes text of a value (CEL language definition, "String Conversions").
const STRING: &str = "string";

/// A tree for the text of these pieces, one after the other.
///
/// # Errors
/// A result has no text, or the tree exceeds the limits.
pub(super) fn text(
    pieces: &[Piece<'_>],
    declarations: &Declarations,
    limits: &Limits,
) -> Result<Checked, (String, Vec<Diagnostic>)> {
    let mut source = String::new();
    let mut spans = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if !source.is_empty() {
            source.push_str(" + ");
        }
        let start = source.len();
        let inner = match piece {
            Piece::Literal(text) => {
                source.push_str(&quoted(text));
                start
            }
            Piece::Result(rule) => {
                source.push_str(if is_text(*rule) { "(" } else { "string(" });
                let inner = source.len();
                source.push_str(rule.source());
                // The source may end with a comment.
                source.push_str("\n)");
                inner
            }
        };
        spans.push((span(start, source.len()), inner));
    }
    if pieces.is_empty() {
        source.push_str("\"\"");
    }
    let failed = |source: &str, span, message, help: &str| {
        let help = if help.is_empty() { Vec::new() } else { vec![help.to_owned()] };
        let (severity, stage, labels) = (Severity::Error, Stage::Check, Vec::new());
        (source.to_owned(), vec![Diagnostic { severity, stage, code: lint::NO_TEXT, message, span, labels, help }])
    };
    let mut tree = TreeBuilder::new(&source);
    let mut all: Option<(NodeId, u32)> = None;
    for (piece, (whole, inner)) in pieces.iter().zip(spans) {
        let node = match piece {
            Piece::Literal(text) => literal(&mut tree, text, whole),
            Piece::Result(rule) => {
                let Some(CheckedTree { written: checked, .. }) = rule.downcast::<CheckedTree>() else {
                    let help = "write the whole text in one language";
                    return Err(failed(&source, whole, "this result is one of another language".into(), help));
                };
                let root = copy(&mut tree, checked, inner);
                if is_text(*rule) {
                    root
                } else {
                    let overloads = overloads_for(checked.result_type(), declarations);
                    if overloads.is_empty() {
                        let message = format!("a result of type `{}` has no text", checked.result_type());
                        return Err(failed(
                            &source,
                            whole,
                            message,
                            "`join` makes text of a list, `toJson` of any value",
                        ));
                    }
                    let (function, args) = (tree.name(STRING), tree.children(&[root]));
                    let call = Expr::Call { target: None, function, rooted: false, args };
                    tree.add(call, whole, Type::String, Reference::Call { overloads, receiver: false })
                }
            }
        };
        all = Some(match all {
            None => (node, whole.start),
            Some((left, start)) => {
                let reference =
                    Reference::Call { overloads: [Overload::Builtin(Builtin::AddString)].into(), receiver: false };
                let sum = Expr::Binary { op: BinaryOp::Add, left, right: node };
                (tree.add(sum, Span::new(start, whole.end), Type::String, reference), start)
            }
        });
    }
    let root = match all {
        Some((root, _)) => root,
        None => literal(&mut tree, "", span(0, source.len())),
    };
    tree.finish(root, declarations, limits)
        .map_err(|error| failed(&source, span(0, source.len()), error.to_string(), ""))
}

fn is_text(rule: &dyn RuleTree) -> bool {
    rule.result_type() == Type::String
}

fn span(start: usize, end: usize) -> Span {
    Span::new(u32::try_from(start).unwrap_or(u32::MAX), u32::try_from(end).unwrap_or(u32::MAX))
}

/// A CEL string literal for a text.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len().saturating_add(2));
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn literal(tree: &mut TreeBuilder, text: &str, span: Span) -> NodeId {
    tree.add(Expr::Literal(Literal::String(text.into())), span, Type::String, Reference::None)
}

/// The overloads of `string` that values of a type may need.
fn overloads_for(ty: &Type, declarations: &Declarations) -> Box<[Overload]> {
    let signatures = TABLE.signatures(STRING, declarations.libraries()).filter(|signature| !signature.receiver);
    let fits = |param: &Type| *ty == Type::Dyn || param == ty;
    signatures
        .filter(|signature| signature.params.first().is_some_and(fits))
        .map(|signature| signature.overload)
        .collect()
}

/// Copies a tree whose source starts at this byte of the new source. Returns the new id of its root.
fn copy(tree: &mut TreeBuilder, from: &Checked, start: usize) -> NodeId {
    let start = u32::try_from(start).unwrap_or(u32::MAX);
    let moved = |span: Span| Span::new(span.start.saturating_add(start), span.end.saturating_add(start));
    let ast = from.ast();
    let mut ids: Vec<NodeId> = Vec::with_capacity(ast.nodes().len());
    // Children have smaller ids than their parents.
    for (index, node) in (0_u32..).zip(ast.nodes()) {
        let old = NodeId(index);
        let expr = Copy { tree: &mut *tree, ast, ids: &ids }.expr(&node.expr);
        let place = Place { span: moved(node.span), focus: moved(node.focus) };
        ids.push(tree.add(expr, place, from.type_of(old).clone(), from.reference(old).clone()));
    }
    ids.get(ast.root().0 as usize).copied().unwrap_or(NodeId(0))
}

/// A tree that is being copied.
struct Copy<'c> {
    tree: &'c mut TreeBuilder,
    ast: &'c Ast,
    /// Indexed by old id: the new one.
    ids: &'c [NodeId],
}

impl Copy<'_> {
    fn id(&self, old: NodeId) -> NodeId {
        self.ids.get(old.0 as usize).copied().unwrap_or(old)
    }

    fn children(&mut self, old: Nodes) -> Nodes {
        let ids: Vec<NodeId> = self.ast.children(old).iter().map(|&child| self.id(child)).collect();
        self.tree.children(&ids)
    }

    fn name(&mut self, old: Name) -> Name {
        self.tree.name(self.ast.name(old))
    }

    fn expr(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::Error => Expr::Error,
            Expr::Literal(literal) => Expr::Literal(literal.clone()),
            Expr::Ident { name, rooted, test } => Expr::Ident { name: self.name(*name), rooted: *rooted, test: *test },
            Expr::Select { operand, field, test, optional } => {
                Expr::Select { operand: self.id(*operand), field: self.name(*field), test: *test, optional: *optional }
            }
            Expr::Index { operand, index, optional } => {
                Expr::Index { operand: self.id(*operand), index: self.id(*index), optional: *optional }
            }
            Expr::Unary { op, operand } => Expr::Unary { op: *op, operand: self.id(*operand) },
            Expr::Binary { op, left, right } => Expr::Binary { op: *op, left: self.id(*left), right: self.id(*right) },
            Expr::Logic { op, operands } => Expr::Logic { op: *op, operands: self.children(*operands) },
            Expr::Cond { condition, then, otherwise } => {
                Expr::Cond { condition: self.id(*condition), then: self.id(*then), otherwise: self.id(*otherwise) }
            }
            Expr::Call { target, function, rooted, args } => Expr::Call {
                target: target.map(|target| self.id(target)),
                function: self.name(*function),
                rooted: *rooted,
                args: self.children(*args),
            },
            Expr::List { elements, optional } => {
                Expr::List { elements: self.children(*elements), optional: optional.clone() }
            }
            Expr::Map { entries, optional } => {
                Expr::Map { entries: self.children(*entries), optional: optional.clone() }
            }
            Expr::Message { name, fields, values, optional } => Expr::Message {
                name: self.name(*name),
                fields: fields.iter().map(|field| self.name(*field)).collect(),
                values: self.children(*values),
                optional: optional.clone(),
            },
            Expr::Fold { kind, range, var, var2, filter, transform } => Expr::Fold {
                kind: *kind,
                range: self.id(*range),
                var: self.name(*var),
                var2: var2.map(|var2| self.name(var2)),
                filter: filter.map(|filter| self.id(filter)),
                transform: transform.map(|transform| self.id(transform)),
            },
            Expr::Bind { var, init, body, with } => {
                Expr::Bind { var: self.name(*var), init: self.id(*init), body: self.id(*body), with: *with }
            }
            Expr::OptMap { target, var, body, flat } => {
                Expr::OptMap { target: self.id(*target), var: self.name(*var), body: self.id(*body), flat: *flat }
            }
            Expr::Fallback { kind, operands } => Expr::Fallback { kind: *kind, operands: self.children(*operands) },
        }
    }
}
