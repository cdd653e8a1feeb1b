//! CEL text to a checked syntax tree.
mod ast;
pub mod cel;
mod checked;
mod declarations;
mod diagnostic;
mod dump;
mod inline;
mod language;
mod limits;
mod render;
mod similar;
mod span;
pub mod stdlib;
mod tree_builder;
mod types;
mod verify;

pub use ast::{Ast, BinaryOp, Expr, FallbackKind, FoldKind, Literal, LogicOp, Name, Node, NodeId, Nodes, UnaryOp};
pub use cel::{
    CHECKER_CODES, Cel, FORMAT_CODES, FunctionDeclaration, NotationError, PARSER_CODES, Parameter, RECEIVER, check,
    define, format, layout, macro_library, misdeclared, parse, parse_variables, parse_with, unparse,
};
pub use checked::{Checked, Reference};
pub use declarations::{Declarations, Definition, HostFunction, Variable};
pub use diagnostic::{CodeInfo, Diagnostic, Label, Severity, Stage, TOO_DEEP, TOO_MANY_NODES};
pub use dump::{dump, dump_checked};
pub use inline::inline;
pub use language::Language;
pub use limits::{Limits, with_stack};
pub use render::{Style, render};
pub use similar::{edit_distance, similar};
pub use span::Span;
pub use stdlib::{Overload, Signature};
pub use tree_builder::{Place, TreeBuilder};
pub use types::Type;
pub use verify::{InvalidTree, Invariant};
