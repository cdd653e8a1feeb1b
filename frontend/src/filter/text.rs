//! The text of results: trees put together to one whose value is a byte string. Nodes are copied;
//! nothing is parsed again.

use super::function::StandardFunction;
use super::literal::{BytesForm, BytesLiteral, FilterLiteral};
use super::quote::quoted_bytes;
use super::scheme::Scheme;
use super::tree::{Comparison, FilterExpr, FilterNode, FilterTree};
use super::types::FilterType;
use crate::ast::{NodeId, Nodes};
use crate::limits::Limits;
use crate::span::Span;
use std::sync::Arc;

/// A part of a text: [`filter_text`].
#[derive(Clone, Copy, Debug)]
pub enum FilterPiece<'t> {
    /// This text.
    Literal(&'t str),
    /// The result of this rule as text. A byte string stays what it is; of another value the text
    /// is that of `to_string`.
    Result(&'t FilterTree),
}

/// Levels of a walk for the calls around a piece.
const LEVELS: u32 = 4;

/// Returns the rule `concat(.., to_string(..), ..)`: its value is the text of these pieces, one
/// after the other. The trees are of `scheme`, and their results are byte strings, numbers,
/// addresses or conditions. Missing values have no text.
///
/// # Errors
/// Why there is no such rule: the scheme has no such functions, or the rule exceeds the limits.
pub fn filter_text(
    pieces: &[FilterPiece<'_>],
    scheme: &Arc<Scheme>,
    limits: &Limits,
) -> Result<FilterTree, (String, String)> {
    let function = |wanted: StandardFunction| {
        let known = (0_u32..).zip(scheme.functions()).find(|(_, function)| function.standard == Some(wanted));
        known.map(|(index, _)| index)
    };
    let (Some(concat), Some(to_string)) = (function(StandardFunction::Concat), function(StandardFunction::ToString))
    else {
        return Err((String::new(), "the scheme has no `concat` and `to_string`".to_owned()));
    };
    let mut join = Join { source: String::new(), nodes: Vec::new(), pool: Vec::new(), depth: 0, items: 0 };
    let is_joined = pieces.len() > 1;
    if is_joined {
        join.source.push_str("concat(");
    }
    let mut arguments = Vec::with_capacity(pieces.len());
    for (index, piece) in pieces.iter().enumerate() {
        if index > 0 {
            join.source.push_str(", ");
        }
        arguments.push(match piece {
            FilterPiece::Literal(text) => join.literal(text),
            FilterPiece::Result(tree) => join.result(tree, to_string),
        });
    }
    if pieces.is_empty() {
        arguments.push(join.literal(""));
    }
    let root = match *arguments {
        [only] => only,
        _ => {
            join.source.push(')');
            let args = join.children(&arguments);
            join.call(concat, args, 0)
        }
    };
    let Join { source, nodes, pool, depth, items } = join;
    if source.len() > limits.max_source_bytes as usize {
        let message = format!(
            "the source is {} bytes long, the limit is {} (`max_source_bytes`)",
            source.len(),
            limits.max_source_bytes
        );
        return Err((source, message));
    }
    if nodes.len().saturating_add(items) > limits.max_nodes as usize {
        let message = format!("the expression has more than {} nodes (`max_nodes`)", limits.max_nodes);
        return Err((source, message));
    }
    let (source, scheme) = (source.into(), Arc::clone(scheme));
    Ok(FilterTree { source, scheme, nodes, pool, root, depth: depth.saturating_add(LEVELS) })
}

/// The tree that is being made, and its source.
struct Join {
    source: String,
    nodes: Vec<FilterNode>,
    pool: Vec<NodeId>,
    depth: u32,
    /// Items of sets, which count as nodes.
    items: usize,
}

impl Join {
    fn at(&self) -> u32 {
        u32::try_from(self.source.len()).unwrap_or(u32::MAX)
    }

    fn add(&mut self, node: FilterNode) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    fn children(&mut self, ids: &[NodeId]) -> Nodes {
        let start = u32::try_from(self.pool.len()).unwrap_or(u32::MAX);
        self.pool.extend_from_slice(ids);
        Nodes { start, len: u32::try_from(ids.len()).unwrap_or(u32::MAX) }
    }

    fn literal(&mut self, text: &str) -> NodeId {
        let start = self.at();
        self.source.push_str(&quoted_bytes(text.as_bytes()));
        let span = Span::new(start, self.at());
        let literal = BytesLiteral { value: text.as_bytes().into(), form: BytesForm::Quoted };
        let expr = FilterExpr::Literal(FilterLiteral::Bytes(literal));
        self.add(FilterNode { expr, ty: FilterType::Bytes, each: false, span, focus: span })
    }

    /// A call whose text begins at `start` and is written, the arguments included.
    fn call(&mut self, function: u32, args: Nodes, start: u32) -> NodeId {
        let span = Span::new(start, self.at());
        let expr = FilterExpr::Call { function, args };
        self.add(FilterNode { expr, ty: FilterType::Bytes, each: false, span, focus: span })
    }

    fn result(&mut self, tree: &FilterTree, to_string: u32) -> NodeId {
        let start = self.at();
        // As an argument, a condition has parentheses.
        let (before, after) = match tree.result_type() {
            FilterType::Bytes => ("", ""),
            FilterType::Bool => ("to_string((", "))"),
            _ => ("to_string(", ")"),
        };
        self.source.push_str(before);
        let root = self.copy(tree);
        self.source.push_str(after);
        if before.is_empty() {
            return root;
        }
        let args = self.children(&[root]);
        self.call(to_string, args, start)
    }

    /// Copies a tree and its source. Returns the new id of its root.
    fn copy(&mut self, tree: &FilterTree) -> NodeId {
        let blanks = tree.source.len().saturating_sub(tree.source.trim_start().len());
        let (to, blanks) = (self.at(), u32::try_from(blanks).unwrap_or(u32::MAX));
        let place = |at: u32| at.saturating_sub(blanks).saturating_add(to);
        let moved = |span: Span| Span::new(place(span.start), place(span.end));
        let first = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let first_child = u32::try_from(self.pool.len()).unwrap_or(u32::MAX);
        let id = |old: NodeId| NodeId(old.0.saturating_add(first));
        let run = |old: Nodes| Nodes { start: old.start.saturating_add(first_child), len: old.len };
        for node in &tree.nodes {
            let expr = match &node.expr {
                expr @ (FilterExpr::Field(_) | FilterExpr::Literal(_)) => expr.clone(),
                FilterExpr::Call { function, args } => FilterExpr::Call { function: *function, args: run(*args) },
                FilterExpr::Access { base, steps } => FilterExpr::Access { base: id(*base), steps: steps.clone() },
                FilterExpr::Test(value) => FilterExpr::Test(id(*value)),
                FilterExpr::Compare { value, comparison } => {
                    if let Comparison::OneOf(items) = comparison {
                        self.items = self.items.saturating_add(items.len());
                    }
                    FilterExpr::Compare { value: id(*value), comparison: comparison.clone() }
                }
                FilterExpr::Not(operand) => FilterExpr::Not(id(*operand)),
                FilterExpr::Logic { op, operands } => FilterExpr::Logic { op: *op, operands: run(*operands) },
                FilterExpr::Quantifier { all, operand } => FilterExpr::Quantifier { all: *all, operand: id(*operand) },
            };
            let FilterNode { ty, each, span, focus, .. } = node;
            let (span, focus) = (moved(*span), moved(*focus));
            self.nodes.push(FilterNode { expr, ty: ty.clone(), each: *each, span, focus });
        }
        self.pool.extend(tree.pool.iter().map(|child| id(*child)));
        self.depth = self.depth.max(tree.depth);
        self.source.push_str(tree.source.trim());
        id(tree.root)
    }
}
