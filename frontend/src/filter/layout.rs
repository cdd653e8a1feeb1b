//! The canonical layout of a rule: on one line if it fits, else an operand of a connective on each
//! line, and parentheses and sets over several lines.

use super::options::FilterOptions;
use super::parser::check_filter;
use super::scheme::Scheme;
use super::tree::{Comparison, FilterExpr, FilterTree};
use super::unparse::{
    FlatText, connective_word, is_enclosed_argument, is_enclosed_operand, is_logic, item_texts, operator_word,
    quantifier_word,
};
use crate::ast::NodeId;
use crate::diagnostic::Diagnostic;
use crate::limits::with_stack;
use std::sync::Arc;

/// Returns the text of a condition in canonical layout, with a line end: in lines of at most
/// `width` bytes where names and literals allow. Formatting the result gives the same text.
///
/// The scheme is needed because the types of fields say what literals are.
///
/// # Errors
///
/// The diagnostics of [`check_filter`].
pub fn format_filter(
    source: &str,
    scheme: &Arc<Scheme>,
    options: &FilterOptions,
    width: usize,
) -> Result<String, Vec<Diagnostic>> {
    let (tree, _) = check_filter(source, scheme, options)?;
    let mut layout = Layout { tree: &tree, flat: FlatText::of(&tree), width, text: String::new(), column: 0 };
    with_stack(tree.depth(), || layout.node(tree.root(), 0, 0));
    layout.text.push('\n');
    Ok(layout.text)
}

/// Blanks at the beginning of a line, for each level.
const INDENT: usize = 2;

struct Layout<'t> {
    tree: &'t FilterTree,
    flat: FlatText,
    width: usize,
    text: String,
    /// Bytes on the current line.
    column: usize,
}

impl Layout<'_> {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.column = self.column.saturating_add(text.len());
    }

    fn line(&mut self, indent: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Writes a node. `behind` is how many bytes follow it on its line; lines that it begins are indented by `indent`.
    fn node(&mut self, id: NodeId, indent: usize, behind: usize) {
        let length = self.flat.part(id).len();
        if self.column.saturating_add(length).saturating_add(behind) <= self.width {
            return self.whole(id);
        }
        let tree = self.tree;
        match tree.expr(id) {
            FilterExpr::Logic { op, operands } => {
                let operands = tree.children(*operands);
                for (index, &operand) in operands.iter().enumerate() {
                    if index > 0 {
                        self.line(indent);
                        self.push(connective_word(*op));
                        self.push(" ");
                    }
                    let last = index.saturating_add(1) == operands.len();
                    let behind = if last { behind } else { 0 };
                    self.enclosed(operand, is_enclosed_operand(tree, *op, operand), indent, behind);
                }
            }
            FilterExpr::Not(operand) => {
                self.push("not ");
                self.enclosed(*operand, is_logic(tree, *operand), indent, behind);
            }
            FilterExpr::Quantifier { all, operand } => {
                self.push(quantifier_word(*all));
                self.push("(");
                self.enclosed(*operand, is_enclosed_argument(tree, *operand), indent, behind.saturating_add(1));
                self.push(")");
            }
            FilterExpr::Compare { value, comparison: comparison @ Comparison::OneOf(items) } if !items.is_empty() => {
                self.whole(*value);
                self.push(" ");
                self.push(operator_word(comparison));
                self.push(" {");
                let inner = indent.saturating_add(INDENT);
                for (index, item) in item_texts(items).iter().enumerate() {
                    let end = self.column.saturating_add(item.len()).saturating_add(1);
                    if index == 0 || end > self.width {
                        self.line(inner);
                    } else {
                        self.push(" ");
                    }
                    self.push(item);
                }
                self.line(indent);
                self.push("}");
            }
            _ => self.whole(id),
        }
    }

    /// Writes a node on the current line.
    fn whole(&mut self, id: NodeId) {
        let text = self.flat.part(id);
        self.text.push_str(text);
        self.column = self.column.saturating_add(text.len());
    }

    fn enclosed(&mut self, id: NodeId, parentheses: bool, indent: usize, behind: usize) {
        if !parentheses {
            return self.node(id, indent, behind);
        }
        let length = self.flat.part(id).len().saturating_add(2);
        if self.column.saturating_add(length).saturating_add(behind) <= self.width {
            self.push("(");
            self.whole(id);
            return self.push(")");
        }
        self.push("(");
        let inner = indent.saturating_add(INDENT);
        self.line(inner);
        self.node(id, inner, 0);
        self.line(indent);
        self.push(")");
    }
}
