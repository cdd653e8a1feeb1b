//! Writes trees as canonical CEL text: parsing the text gives the same tree except for places in the source.
//!
//! Parentheses are written only where they are needed, macros in their macro form, equal strings
//! with equal quotes. [`unparse`] writes one line; [`layout`] breaks what does not fit into a line
//! at `&&`, `||`, `?:` and in brackets.

use crate::ast::{Ast, BinaryOp, Expr, FallbackKind, FoldKind, Literal, LogicOp, Name, NodeId, UnaryOp};
use crate::cel::parser::{RANGE, UNNAMED};
use crate::cel::quote::{is_plain_name, quote_bytes, quote_string};
use crate::limits::with_stack;

/// Writes a tree on one line.
///
/// ```
/// let ast = celero_frontend::parse("( a&&(b) )||!has( c . d )", &celero_frontend::Limits::default()).unwrap();
/// assert_eq!(celero_frontend::unparse(&ast), "a && b || !has(c.d)");
/// ```
#[must_use]
pub fn unparse(ast: &Ast) -> String {
    unparse_node(ast, ast.root())
}

/// Writes a part of a tree on one line, as [`unparse`] writes a whole one.
#[must_use]
pub fn unparse_node(ast: &Ast, id: NodeId) -> String {
    Writer::new(ast, Vec::new(), usize::MAX).finish(id).0
}

/// Writes a tree on lines of at most `width` characters, as far as its names and literals allow.
#[must_use]
pub fn layout(ast: &Ast, width: usize) -> String {
    let (flat, lengths) = Writer::new(ast, Vec::new(), usize::MAX).finish(ast.root());
    if flat.chars().count() <= width { flat } else { Writer::new(ast, lengths, width).finish(ast.root()).0 }
}

// Precedence of expressions. An operand is put in parentheses if its precedence is lower than its position requires.
const CONDITIONAL: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const RELATION: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;
const PREFIX: u8 = 6;
const MEMBER: u8 = 7;

/// Indentation of the content of brackets, in columns.
const INDENT: usize = 2;
/// Largest indentation, in columns. Deeper nesting is not indented further, so that the length of
/// the text is linear in the source's.
const MAX_INDENT: usize = 40;

/// An element, entry, field or argument in brackets.
struct Item {
    /// Whether it is marked `?`.
    marked: bool,
    key: EntryKey,
    value: NodeId,
}

/// The part of an item before its `:`, if it has one.
enum EntryKey {
    None,
    Field(Name),
    Expr(NodeId),
}

struct Writer<'a> {
    ast: &'a Ast,
    text: String,
    // In characters: the length of the text, and of the text before the current line.
    length: usize,
    line_start: usize,
    indent: usize,
    /// Indexed by node id: the length of the node on one line. Filled by the pass for one line,
    /// read by the pass that breaks lines.
    lengths: Vec<usize>,
    width: usize,
}

impl<'a> Writer<'a> {
    fn new(ast: &'a Ast, lengths: Vec<usize>, width: usize) -> Self {
        Self { ast, text: String::new(), length: 0, line_start: 0, indent: 0, lengths, width }
    }

    fn finish(mut self, id: NodeId) -> (String, Vec<usize>) {
        self.lengths.resize(self.ast.nodes().len(), 0);
        with_stack(self.ast.depth(), || self.node(id));
        (self.text, self.lengths)
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.length = self.length.saturating_add(text.chars().count());
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.length = self.length.saturating_add(1);
        self.line_start = self.length;
        let indent = self.indent.min(MAX_INDENT);
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.length = self.length.saturating_add(indent);
    }

    /// Calls `write` with deeper indentation.
    fn inside(&mut self, write: impl FnOnce(&mut Self)) {
        self.indent = self.indent.saturating_add(INDENT);
        write(self);
        self.indent = self.indent.saturating_sub(INDENT);
    }

    fn fits(&self, length: usize) -> bool {
        self.length.saturating_sub(self.line_start).saturating_add(length) <= self.width
    }

    fn length_of(&self, id: NodeId) -> usize {
        self.lengths.get(id.0 as usize).copied().unwrap_or(0)
    }

    /// Writes an operand, in parentheses if its precedence is lower than `least`.
    fn operand(&mut self, id: NodeId, least: u8) {
        if precedence(self.ast, id) >= least {
            self.node(id);
        } else {
            self.parentheses(id);
        }
    }

    fn parentheses(&mut self, id: NodeId) {
        let breaks = matches!(self.ast.expr(id), Expr::Logic { .. } | Expr::Cond { .. });
        self.push("(");
        if breaks && !self.fits(self.length_of(id)) {
            self.inside(|w| {
                w.line();
                w.node(id);
            });
            self.line();
        } else {
            self.node(id);
        }
        self.push(")");
    }

    fn node(&mut self, id: NodeId) {
        let start = self.length;
        let ast = self.ast;
        match ast.expr(id) {
            // The parser returns no tree with error nodes, but another builder could.
            Expr::Error => self.push("<error>"),
            Expr::Literal(literal) => self.literal(literal),
            Expr::Ident { name, rooted, test } => {
                self.push(if *test { "has(" } else { "" });
                self.push(if *rooted { "." } else { "" });
                self.push(ast.name(*name));
                self.push(if *test { ")" } else { "" });
            }
            Expr::Select { operand, field, test, optional } => {
                self.push(if *test { "has(" } else { "" });
                self.operand(*operand, MEMBER);
                self.push(if *optional { ".?" } else { "." });
                self.field(*field);
                self.push(if *test { ")" } else { "" });
            }
            Expr::Index { operand, index, optional } => {
                self.operand(*operand, MEMBER);
                self.push(if *optional { "[?" } else { "[" });
                self.node(*index);
                self.push("]");
            }
            Expr::Unary { op, operand } => self.unary(*op, *operand),
            Expr::Binary { op, left, right } => {
                let (text, precedence) = binary(*op);
                self.operand(*left, precedence);
                self.push(text);
                self.operand(*right, precedence.saturating_add(1));
            }
            Expr::Logic { op, operands } => self.logic(id, *op, ast.children(*operands)),
            Expr::Cond { .. } => self.conditional(id),
            Expr::Call { target, function, rooted, args } => {
                if let Some(target) = target {
                    self.operand(*target, MEMBER);
                    self.push(".");
                }
                self.push(if *rooted { "." } else { "" });
                self.push(ast.name(*function));
                self.arguments(&[], self.written(ast.children(*args)));
            }
            Expr::List { elements, optional } => {
                let items: Vec<Item> = ast
                    .children(*elements)
                    .iter()
                    .enumerate()
                    .map(|(at, &value)| Item { marked: marked(optional, at), key: EntryKey::None, value })
                    .collect();
                self.items("[", &[], &items, "]");
            }
            Expr::Map { entries, optional } => {
                let items: Vec<Item> = ast
                    .children(*entries)
                    .chunks_exact(2)
                    .enumerate()
                    .filter_map(|(at, pair)| match pair {
                        &[key, value] => Some(Item { marked: marked(optional, at), key: EntryKey::Expr(key), value }),
                        _ => None,
                    })
                    .collect();
                self.items("{", &[], &items, "}");
            }
            Expr::Message { name, fields, values, optional } => {
                self.push(ast.name(*name));
                let items: Vec<Item> = fields
                    .iter()
                    .zip(ast.children(*values))
                    .enumerate()
                    .map(|(at, (&field, &value))| Item {
                        marked: marked(optional, at),
                        key: EntryKey::Field(field),
                        value,
                    })
                    .collect();
                self.items("{", &[], &items, "}");
            }
            Expr::Fold { kind, range, var, var2, filter, transform } => {
                self.operand(*range, MEMBER);
                self.push(".");
                self.push(kind.name());
                let mut variables: Vec<Name> = std::iter::once(*var).chain(*var2).collect();
                variables.retain(|name| ast.name(*name) != UNNAMED);
                let written = if *kind == FoldKind::FilterKeys { &None } else { transform };
                let arguments: Vec<NodeId> = filter.iter().chain(written).copied().collect();
                self.arguments(&variables, &arguments);
            }
            Expr::Bind { var, init, body, .. } if ast.name(*var) == RANGE => self.sort_by(*init, *body),
            Expr::Bind { var, init, body, with: true } => {
                self.operand(*init, MEMBER);
                self.push(".with");
                self.arguments(&[*var], &[*body]);
            }
            Expr::Bind { var, init, body, with: false } => {
                self.push("cel.bind");
                self.arguments(&[*var], &[*init, *body]);
            }
            Expr::OptMap { target, var, body, flat } => {
                self.operand(*target, MEMBER);
                self.push(if *flat { ".optFlatMap" } else { ".optMap" });
                self.arguments(&[*var], &[*body]);
            }
            Expr::Fallback { kind, operands } => {
                self.push(match kind {
                    FallbackKind::Default => "default",
                    FallbackKind::Coalesce => "coalesce",
                });
                self.arguments(&[], ast.children(*operands));
            }
        }
        if self.width == usize::MAX
            && let Some(length) = self.lengths.get_mut(id.0 as usize)
        {
            *length = self.length.saturating_sub(start);
        }
    }

    /// Returns the arguments of a call as written: the parser collects those of `math.greatest` and
    /// `math.least` in one list.
    fn written<'s>(&self, args: &'s [NodeId]) -> &'s [NodeId]
    where
        'a: 's,
    {
        let ast = self.ast;
        match args {
            &[list] => match ast.expr(list) {
                Expr::List { elements, .. } if !ast.source().get(at(ast, list)..).unwrap_or("[").starts_with('[') => {
                    ast.children(*elements)
                }
                _ => args,
            },
            _ => args,
        }
    }

    /// Writes `range.sortBy(x, key)` for the call that the parser expands it to.
    fn sort_by(&mut self, range: NodeId, body: NodeId) {
        self.operand(range, MEMBER);
        self.push(".sortBy");
        if let Expr::Call { args, .. } = self.ast.expr(body)
            && let &[_, keys] = self.ast.children(*args)
            && let Expr::Fold { var, transform: Some(key), .. } = self.ast.expr(keys)
        {
            self.arguments(&[*var], &[*key]);
        }
    }

    fn field(&mut self, field: Name) {
        let name = self.ast.name(field);
        if is_plain_name(name) {
            self.push(name);
        } else {
            self.push(&format!("`{name}`"));
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: NodeId) {
        self.push(if op == UnaryOp::Not { "!" } else { "-" });
        match self.ast.expr(operand) {
            Expr::Unary { op: inner, .. } if *inner == op => self.node(operand),
            _ if op == UnaryOp::Neg && starts_with_number(self.ast, operand) => self.parentheses(operand),
            _ => self.operand(operand, MEMBER),
        }
    }

    fn logic(&mut self, id: NodeId, op: LogicOp, operands: &[NodeId]) {
        let (text, precedence) = match op {
            LogicOp::And => ("&& ", AND),
            LogicOp::Or => ("|| ", OR),
        };
        let broken = !self.fits(self.length_of(id));
        for (at, &operand) in operands.iter().enumerate() {
            if at > 0 {
                if broken {
                    self.line()
                } else {
                    self.push(" ")
                }
                self.push(text);
            }
            match self.ast.expr(operand) {
                Expr::Logic { op: LogicOp::And, .. } if op == LogicOp::Or => self.inside(|w| w.node(operand)),
                _ => self.operand(operand, precedence.saturating_add(1)),
            }
        }
    }

    /// Writes a chain of conditionals.
    fn conditional(&mut self, id: NodeId) {
        let broken = !self.fits(self.length_of(id));
        let mut id = id;
        while let Expr::Cond { condition, then, otherwise } = *self.ast.expr(id) {
            self.inside(|w| w.operand(condition, OR));
            if broken {
                self.line()
            } else {
                self.push(" ")
            }
            self.push("? ");
            self.inside(|w| w.operand(then, OR));
            if broken {
                self.line()
            } else {
                self.push(" ")
            }
            self.push(": ");
            id = otherwise;
        }
        self.inside(|w| w.node(id));
    }

    fn arguments(&mut self, variables: &[Name], arguments: &[NodeId]) {
        let items: Vec<Item> =
            arguments.iter().map(|&value| Item { marked: false, key: EntryKey::None, value }).collect();
        self.items("(", variables, &items, ")");
    }

    fn items(&mut self, open: &str, variables: &[Name], items: &[Item], close: &str) {
        self.push(open);
        let mut separator = "";
        for &variable in variables {
            self.push(separator);
            self.push(self.ast.name(variable));
            separator = ", ";
        }
        let length = items.iter().fold(close.len(), |sum, item| {
            let key = match item.key {
                EntryKey::None => 0,
                EntryKey::Field(name) => self.ast.name(name).len(),
                EntryKey::Expr(key) => self.length_of(key),
            };
            sum.saturating_add(key).saturating_add(self.length_of(item.value)).saturating_add(separator.len())
        });
        let broken = !items.is_empty() && !self.fits(length);
        self.inside(|w| {
            for item in items {
                w.push(if broken { separator.trim_end() } else { separator });
                if broken {
                    w.line();
                }
                w.item(item);
                separator = ", ";
            }
        });
        if broken {
            self.line();
        }
        self.push(close);
    }

    fn item(&mut self, item: &Item) {
        self.push(if item.marked { "?" } else { "" });
        match item.key {
            EntryKey::None => {}
            EntryKey::Field(name) => {
                self.field(name);
                self.push(": ");
            }
            EntryKey::Expr(key) => {
                // The grammar allows any expression here. A conditional gets parentheses, because it contains a `:`.
                self.operand(key, OR);
                self.push(": ");
            }
        }
        self.node(item.value);
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Null => self.push("null"),
            Literal::Bool(value) => self.push(&value.to_string()),
            Literal::Int(value) => self.push(&value.to_string()),
            Literal::Uint(value) => self.push(&format!("{value}u")),
            Literal::Double(value) => self.push(&format!("{value:?}")),
            Literal::String(value) => self.push(&quote_string(value)),
            Literal::Bytes(value) => self.push(&quote_bytes(value)),
        }
    }
}

fn precedence(ast: &Ast, id: NodeId) -> u8 {
    match ast.expr(id) {
        Expr::Cond { .. } => CONDITIONAL,
        Expr::Logic { op: LogicOp::Or, .. } => OR,
        Expr::Logic { op: LogicOp::And, .. } => AND,
        Expr::Binary { op, .. } => binary(*op).1,
        Expr::Unary { .. } => PREFIX,
        Expr::Literal(literal) if is_negative(literal) => PREFIX,
        _ => MEMBER,
    }
}

fn is_negative(literal: &Literal) -> bool {
    match literal {
        Literal::Int(value) => *value < 0,
        Literal::Double(value) => value.is_sign_negative(),
        _ => false,
    }
}

/// Where a node starts in the source.
fn at(ast: &Ast, id: NodeId) -> usize {
    ast.span(id).start as usize
}

/// Returns whether the text of a node starts with a number. A `-` before it would be parsed as the number's sign.
fn starts_with_number(ast: &Ast, id: NodeId) -> bool {
    let mut at = id;
    loop {
        at = match ast.expr(at) {
            Expr::Literal(Literal::Int(_) | Literal::Double(_)) => return true,
            Expr::Select { operand, test: false, .. } | Expr::Index { operand, .. } => *operand,
            Expr::Call { target: Some(target), .. } | Expr::OptMap { target, .. } => *target,
            Expr::Fold { range, .. } => *range,
            Expr::Bind { init, with: true, .. } => *init,
            _ => return false,
        };
        if precedence(ast, at) < MEMBER {
            // Written in parentheses.
            return false;
        }
    }
}

fn marked(optional: &[bool], at: usize) -> bool {
    optional.get(at) == Some(&true)
}

fn binary(op: BinaryOp) -> (&'static str, u8) {
    match op {
        BinaryOp::Add => (" + ", SUM),
        BinaryOp::Sub => (" - ", SUM),
        BinaryOp::Mul => (" * ", PRODUCT),
        BinaryOp::Div => (" / ", PRODUCT),
        BinaryOp::Rem => (" % ", PRODUCT),
        BinaryOp::Eq => (" == ", RELATION),
        BinaryOp::Ne => (" != ", RELATION),
        BinaryOp::Lt => (" < ", RELATION),
        BinaryOp::Le => (" <= ", RELATION),
        BinaryOp::Gt => (" > ", RELATION),
        BinaryOp::Ge => (" >= ", RELATION),
        BinaryOp::In => (" in ", RELATION),
    }
}
