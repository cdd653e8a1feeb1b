//! What a rule language other than CEL is made of. [`Env::language`](crate::Env::language) selects it.
//!
//! A language parses and checks a source and builds a tree; the interpreter, native code, rule sets
//! and their index work on that tree. [`TreeBuilder::finish`] verifies the tree, so a mistake of
//! the language is an error and not a wrong result.
//!
//! ```
//! use celero::language::{
//!     Checked, CodeInfo, Declarations, Diagnostic, Expr, Language, Limits, Reference, Span, Stage, TreeBuilder,
//! };
//! use celero::{Bindings, Engine, Env, Type, Value};
//!
//! /// A rule is the name of a `bool` variable.
//! #[derive(Debug)]
//! struct Flag;
//!
//! const UNKNOWN: CodeInfo =
//!     CodeInfo { code: "unknown-flag", stage: Stage::Check, summary: "no flag of this name is declared" };
//!
//! impl Language for Flag {
//!     fn name(&self) -> &str {
//!         "flag"
//!     }
//!
//!     fn check(
//!         &self,
//!         source: &str,
//!         declarations: &Declarations,
//!         limits: &Limits,
//!     ) -> Result<(Checked, Vec<Diagnostic>), Vec<Diagnostic>> {
//!         let span = Span::new(0, u32::try_from(source.len()).unwrap_or(u32::MAX));
//!         let error = |message| vec![Diagnostic::error(UNKNOWN.stage, UNKNOWN.code, span, message)];
//!         let found = declarations.variable(source).filter(|(_, variable)| variable.ty == Type::Bool);
//!         let Some((index, _)) = found else { return Err(error(format!("there is no flag `{source}`"))) };
//!         let mut tree = TreeBuilder::new(source);
//!         let name = tree.name(source);
//!         let flag = Expr::Ident { name, rooted: false, test: false };
//!         let root = tree.add(flag, span, Type::Bool, Reference::Variable(index));
//!         let checked = tree.finish(root, declarations, limits);
//!         checked.map(|checked| (checked, Vec::new())).map_err(|invalid| error(invalid.to_string()))
//!     }
//!
//!     fn format(&self, source: &str, _: &Limits, _: usize) -> Result<String, Vec<Diagnostic>> {
//!         Ok(format!("{source}\n"))
//!     }
//!
//!     fn unparse(&self, checked: &Checked) -> String {
//!         checked.ast().source().to_string()
//!     }
//!
//!     fn codes(&self) -> Vec<CodeInfo> {
//!         vec![UNKNOWN]
//!     }
//! }
//!
//! let env = Env::dynamic().variable("beta", Type::Bool).language(Flag);
//! let rule = Engine::new().compile(&env, "beta")?;
//! let mut bindings = Bindings::new(&env);
//! bindings.set("beta", Value::Bool(true))?;
//! assert!(rule.test(&bindings)?);
//! assert!(Engine::new().compile(&env, "alpha").unwrap_err().to_string().contains("there is no flag `alpha`"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checked_costs;
mod necessary;
mod rule_language;
mod static_cost;

pub use celero_frontend::cel::{KEYWORDS, RESERVED};
pub use celero_frontend::stdlib::{Builtin, TABLE};
pub use celero_frontend::{
    Ast, BinaryOp, Cel, Checked, CodeInfo, Declarations, Definition, Diagnostic, Expr, ExpressionVisitor, FallbackKind,
    FoldKind, FunctionDeclaration, Graft, HostFunction, InvalidTree, Invariant, Label, Language, Lexicon, Limits,
    Literal, LogicOp, MacroForm, Name, Node, NodeId, Nodes, Overload, Parameter, Place, RECEIVER, Reference, Severity,
    Signature, Span, Stage, TreeBuilder, Type, UnaryOp, Variable, common_type, edit_distance, inline, macro_forms,
    similar,
};
pub(crate) use checked_costs::part_costs;
pub use checked_costs::static_costs;
pub(crate) use necessary::{KnownNames, Shape, Shapes, necessary};
pub use rule_language::AnyLanguage;
pub(crate) use rule_language::{CheckedSource, Declared, FrontEnd, Piece, Role, RuleLanguage, RuleTree};
pub(crate) use static_cost::DEEPEST;
pub use static_cost::{PartCost, StaticCost};
