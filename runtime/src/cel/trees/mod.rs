//! Trees of expressions in the form that implementations of CEL exchange: `cel.expr.ParsedExpr` and
//! `cel.expr.CheckedExpr`.
//!
//! [`schema`] is the table of their messages, [`binary`] and the JSON modules read and write what it describes.
//! [`export`] makes a tree of a syntax tree, with macros expanded; [`import`] makes a syntax tree, with macros
//! recognised, and its canonical text.

mod binary;
mod build;
mod error;
mod expand;
mod export;
mod import;
mod json_read;
mod json_write;
mod message;
mod names;
mod numbers;
mod recognise;
mod same;
mod schema;
mod source;
mod types;

pub use error::{TreeError, TreePlace};
pub(crate) use source::TreeSource;

use celero_frontend::{Ast, Checked, Declarations, Diagnostic, Limits};
use message::{Bounds, MessageId, Messages};
use schema::Shape;

/// Which of the two messages a [`Tree`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeKind {
    /// `cel.expr.ParsedExpr`: the expression as written, macros expanded, with places in its source.
    Parsed,
    /// `cel.expr.CheckedExpr`: with the type of each part, and what names and calls refer to.
    Checked,
}

impl TreeKind {
    fn shape(self) -> Shape {
        match self {
            Self::Parsed => Shape::ParsedExpr,
            Self::Checked => Shape::CheckedExpr,
        }
    }
}

/// An expression as other implementations of CEL exchange it: a message of the type `cel.expr.ParsedExpr` or
/// `cel.expr.CheckedExpr` of the CEL specification (`proto/cel/expr/syntax.proto`, `checked.proto`).
///
/// [`Engine::parsed_tree`](crate::Engine::parsed_tree) and [`Engine::checked_tree`](crate::Engine::checked_tree) make
/// trees, [`Engine::compile_tree`](crate::Engine::compile_tree) compiles one.
#[derive(Clone, Debug)]
pub struct Tree {
    kind: TreeKind,
    messages: Messages,
    root: MessageId,
}

impl Tree {
    /// Reads the binary form. Fields that the specification does not have are skipped, except in expressions, whose
    /// meaning they could change.
    ///
    /// Time and memory are bounded by `limits`. The tree of an expression within them is read, unless
    /// its names or types are very large: the tree repeats them at each expression.
    ///
    /// # Errors
    /// The bytes are no such message, or exceed the bounds. A field that is given twice is an error, because
    /// implementations differ in which of the values counts.
    pub fn from_bytes(kind: TreeKind, bytes: &[u8], limits: &Limits) -> Result<Self, TreeError> {
        let mut messages = Messages::default();
        let root = binary::read(&mut messages, kind.shape(), bytes, &Bounds::of(limits))?;
        Ok(Self { kind, messages, root })
    }

    /// Reads the JSON form (protocol buffers' "ProtoJSON Format"), as [`from_bytes`](Self::from_bytes) reads bytes.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and a field that the specification does not have.
    pub fn from_json(kind: TreeKind, json: &str, limits: &Limits) -> Result<Self, TreeError> {
        let mut messages = Messages::default();
        let root = json_read::read(&mut messages, kind.shape(), json, &Bounds::of(limits))?;
        Ok(Self { kind, messages, root })
    }

    /// The tree of a parsed expression.
    pub(crate) fn of_parsed(ast: &Ast) -> Self {
        let (messages, root) = export::parsed(ast);
        Self { kind: TreeKind::Parsed, messages, root }
    }

    /// The tree of a checked expression.
    pub(crate) fn of_checked(checked: &Checked, declarations: &Declarations) -> Self {
        let (messages, root) = export::checked(checked, declarations);
        Self { kind: TreeKind::Checked, messages, root }
    }

    /// Returns the tree of an expression, which is parsed with the macros of all libraries.
    ///
    /// # Errors
    /// The syntax errors.
    pub fn parse(source: &str, limits: &Limits) -> Result<Self, Vec<Diagnostic>> {
        celero_frontend::parse(source, limits).map(|ast| Self::of_parsed(&ast))
    }

    /// Returns which of the two messages it is.
    #[must_use]
    pub fn kind(&self) -> TreeKind {
        self.kind
    }

    /// Returns the binary form. Equal trees give equal bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        binary::write(&self.messages, self.root)
    }

    /// Returns the JSON form, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        json_write::write(&self.messages, self.root)
    }

    /// The text of the tree in an environment with these declarations.
    pub(crate) fn source(&self, declarations: &Declarations, limits: &Limits) -> Result<TreeSource, TreeError> {
        TreeSource::of(self, declarations, limits)
    }

    fn expr(&self) -> Option<MessageId> {
        let number = match self.kind {
            TreeKind::Parsed => 2,
            TreeKind::Checked => 4,
        };
        self.messages.part(self.root, number)
    }

    fn source_info(&self) -> Option<MessageId> {
        let number = match self.kind {
            TreeKind::Parsed => 3,
            TreeKind::Checked => 5,
        };
        self.messages.part(self.root, number)
    }
}
