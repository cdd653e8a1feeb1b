//! The front end: the text of a rule to a checked syntax tree, whatever language the rule is written in.
//!
//! ```
//! use celero_frontend::{Cel, Declarations, Language, Limits, Style, Type, Variable, render};
//!
//! let mut declarations = Declarations::new();
//! declarations.add_variable(Variable::new("request.path", Type::String));
//! let limits = Limits::default();
//!
//! let (checked, _) = Cel.check("request.path == '/admin'", &declarations, &limits).unwrap();
//! assert_eq!(checked.result_type(), &Type::Bool);
//!
//! let source = "request.pth == '/admin'";
//! let errors = Cel.check(source, &declarations, &limits).unwrap_err();
//! assert!(render(source, "rule", &errors, Style::Plain).contains("did you mean `request.path`?"));
//! ```
//!
//! # Stages
//!
//! ```text
//! source ──Language::check──▶ Checked ──inline──▶ Checked ──▶ interpreter, lowering to native code
//!    │                           │
//!    └──▶ Diagnostic ──render──▶ text
//! ```
//!
//! - [`Declarations`] say what a rule may mention: variables, functions of the host, functions
//!   defined in CEL, libraries.
//! - A [`Language`] parses and checks a rule against them. CEL is in [`cel`]: [`parse`] makes an
//!   [`Ast`], [`check`] gives each node its [`Type`] and its [`Reference`].
//! - [`Checked`] is all that later stages see. Its documentation lists the invariants that they rely on.
//! - [`filter`] is Cloudflare's filter language, with schemes and a checked tree of its own.
//! - [`inline`] puts the bodies of defined functions in the places of their calls.
//! - [`Diagnostic`]s carry a stable code, a message, places and help; [`render`] shows them with the source line.
//!
//! All stages take time linear in the source within [`Limits`], which bound bytes, nodes, depth and
//! diagnostics. Recursive walks run inside [`with_stack`].
//!
//! # Adding a language
//!
//! 1. Implement [`Language`] in a folder of its own. Later stages know nothing of the language's
//!    text: a rule's meaning is its tree.
//! 2. Look names up with [`Declarations::variable`] and [`Declarations::functions`]. Map operators
//!    and functions to the rows of [`stdlib::TABLE`]; a new function is a new row there, with an
//!    implementation in the runtime's library.
//! 3. Build the tree with [`TreeBuilder`], children first. [`TreeBuilder::finish`] verifies it; an
//!    [`InvalidTree`] is a fault of the language, not of the rule.
//!    A language whose rules are made of several expressions of CEL checks each with [`Cel`] and puts
//!    their trees together with [`TreeBuilder::graft`].
//! 4. Report what is wrong as [`Diagnostic`]s whose codes [`Language::codes`] lists; [`similar`] finds what was meant.
//! 5. Implement [`Language::format`] and [`Language::unparse`], and test that their results check to the same tree.
//!
//! `frontend/tests/it/plain.rs` is a language of one page, made in this way.

mod alternatives;
mod ast;
pub mod cel;
mod checked;
mod declarations;
mod defined_call;
mod diagnostic;
mod dump;
mod expanded_size;
mod expansion;
pub mod filter;
mod inline;
mod language;
mod lexicon;
mod limits;
mod messages;
mod per_node;
mod render;
mod similar;
mod span;
pub mod stdlib;
mod tree_builder;
mod types;
mod verify;

pub use alternatives::alternatives;
pub use ast::{Ast, BinaryOp, Expr, FallbackKind, FoldKind, Literal, LogicOp, Name, Node, NodeId, Nodes, UnaryOp};
pub use cel::{
    CHECKER_CODES, Cel, FORMAT_CODES, FunctionDeclaration, MacroForm, NotationError, PARSER_CODES, Parameter, RECEIVER,
    check, common_type, define, format, layout, macro_forms, macro_library, misdeclared, parse, parse_variables,
    parse_variables_with, parse_with, push_escaped, push_escaped_byte, quote_string, unparse, unparse_node,
};
pub use checked::{Checked, ListAccess, Reference};
pub use declarations::{Declarations, DeclaredList, Definition, HostFunction, LISTS, ListKey, ListValues, Variable};
pub use diagnostic::{CodeInfo, Diagnostic, Label, Severity, Stage, TOO_DEEP, TOO_MANY_NODES};
pub use dump::{dump, dump_checked};
pub use inline::{Graft, inline, inlined_nodes};
pub use language::{ExpressionVisitor, Language};
pub use lexicon::{Lexicon, TextLiteral, quoted_text};
pub use limits::{Limits, with_stack};
pub use messages::{MessageTypes, type_of_message};
pub use render::{Style, render};
pub use similar::{edit_distance, similar};
pub use span::Span;
pub use stdlib::{Overload, Signature};
pub use tree_builder::{Place, TreeBuilder};
pub use types::Type;
pub use verify::{InvalidTree, Invariant};
