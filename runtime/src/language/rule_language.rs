//! The seam between rule languages and everything behind them: [`FrontEnd`] is a language,
//! [`RuleLanguage`] is one in an environment and checks sources, [`RuleTree`] is a checked rule.
//!
//! Environments, engines, programs and sets know these traits only. A language is implemented in a
//! folder of its own: `cel/` for all languages whose trees are those of CEL, `filter/` for the
//! filter language. Only `translate/` knows two of them.
//!
//! Native code does not come through here: a tree is lowered to a graph once, and the graph is the
//! same for all languages.
//!
//! Invariant: no stage names a language; languages meet in the graph. Test:
//! `tests/tests/it/tidy/languages.rs::no_stage_names_a_language`.

use super::necessary::KnownNames;
use super::static_cost::PartCost;
use crate::context::Host;
use crate::error::EvalError;
use crate::fields::Fields;
use crate::function::Functions;
use crate::interpret::{Recorded, Recorder};
use crate::library::Cx;
use crate::lint::Validator;
use crate::lower::Lowered;
use crate::report::{Known, Words};
use crate::value::Value;
use celero_frontend::{Declarations, Diagnostic, Language, Lexicon, Limits, NodeId, Span, Type, Variable};
use celero_ir::layout::Field as Layout;
use celero_matching::pattern::{Dialect, PatternCache};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A checked rule and the warnings of the check, or every diagnostic.
pub(crate) type CheckedSource = Result<(Box<dyn RuleTree>, Vec<Diagnostic>), Vec<Diagnostic>>;

/// A language before it is in an environment.
pub(crate) trait FrontEnd: Debug + Send + Sync {
    /// The name in lower case, as in a configuration file.
    fn name(&self) -> &str;

    /// What people call it.
    fn title(&self) -> &str;

    /// Its words, for editors.
    fn lexicon(&self) -> Lexicon;

    /// The language, if its trees are those of CEL.
    fn checked_language(&self) -> Option<&dyn Language> {
        None
    }

    /// Returns the language of an environment. What is wrong with its own declarations is added to `problems`.
    fn bind(&self, declared: Declared<'_>, problems: &mut Vec<String>) -> Arc<dyn RuleLanguage>;
}

/// A rule language of any kind, for registries of languages:
/// [`Env::in_language`](crate::Env::in_language) puts an environment into it. Cheap to clone.
///
/// Made from a [`Language`] with [`new`](Self::new), and from a
/// [`FilterLanguage`](crate::filter::FilterLanguage) by `into`.
#[derive(Clone, Debug)]
pub struct AnyLanguage(Arc<dyn FrontEnd>);

impl AnyLanguage {
    pub(crate) fn of(front_end: impl FrontEnd + 'static) -> Self {
        Self(Arc::new(front_end))
    }

    /// Returns the name in lower case, as in a configuration file: `cel`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns what people call the language.
    #[must_use]
    pub fn title(&self) -> &str {
        self.0.title()
    }

    /// Returns the words of the language, for editors.
    #[must_use]
    pub fn lexicon(&self) -> Lexicon {
        self.0.lexicon()
    }

    /// Returns the language if its trees are those of CEL: its sources can be checked and formatted
    /// without an environment.
    #[must_use]
    pub fn checked_language(&self) -> Option<&dyn Language> {
        self.0.checked_language()
    }

    pub(crate) fn bind(&self, declared: Declared<'_>, problems: &mut Vec<String>) -> Arc<dyn RuleLanguage> {
        self.0.bind(declared, problems)
    }
}

/// A language as it is in one environment.
pub(crate) trait RuleLanguage: Debug + Send + Sync + Any {
    /// Whether a source gives the same tree in the other language.
    fn is_same(&self, other: &dyn RuleLanguage) -> bool;

    /// Parses and checks a source. Definitions that it uses are in the places of their calls where
    /// the rule is evaluated. Equal arguments give equal trees.
    ///
    /// # Errors
    /// Every diagnostic.
    fn check(&self, source: &str, declarations: &Declarations, limits: &Limits) -> CheckedSource;

    /// As [`check`](Self::check), but definitions that the source uses stay where they are: for the
    /// body of a definition.
    ///
    /// # Errors
    /// Every diagnostic.
    fn check_body(&self, source: &str, declarations: &Declarations, limits: &Limits) -> CheckedSource {
        self.check(source, declarations, limits)
    }

    /// Returns the canonical layout of a source in lines of at most `width` columns, with a line end.
    ///
    /// # Errors
    /// The syntax errors, or what the layout would lose.
    fn format(&self, source: &str, limits: &Limits, width: usize) -> Result<String, Vec<Diagnostic>>;

    /// The name of a type in this language.
    fn type_name(&self, ty: &Type) -> String;

    /// The type of texts that [`text`](Self::text) makes.
    fn text_type(&self) -> Type;

    /// Returns a rule whose value is the text of these pieces, one after the other. Nothing is parsed.
    ///
    /// # Errors
    /// A piece has no text in this language, or the whole exceeds the limits; with the source that
    /// the diagnostics are about.
    fn text(
        &self,
        pieces: &[Piece<'_>],
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<Box<dyn RuleTree>, (String, Vec<Diagnostic>)>;
}

/// What an environment declares when it is put into a language.
#[derive(Clone, Copy)]
pub(crate) struct Declared<'d> {
    pub(crate) declarations: &'d Declarations,
    /// How native code reads the variables.
    pub(crate) layouts: &'d [Layout],
    pub(crate) functions: &'d Functions,
}

/// A part of a text.
#[derive(Clone, Copy)]
pub(crate) enum Piece<'t> {
    /// This text.
    Literal(&'t str),
    /// The result of this rule as text.
    Result(&'t dyn RuleTree),
}

/// How the value of a node comes about, for explanations of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// `a && b`, `a || b`: of the parts, those with the result of the node decide.
    SameResult,
    /// `!a`, `a ? b : c`: the parts that were evaluated decide.
    Evaluated,
    /// It is computed from the values of the parts.
    Computed,
    /// It is read: a variable or a part of its value. There are no parts.
    Read,
}

/// A checked rule in some language. Its nodes have numbers; the parts of a trace and the places of
/// errors follow from these.
pub(crate) trait RuleTree: Debug + Send + Sync + Any {
    /// The text that was checked.
    fn source(&self) -> &str;

    /// The static type of the result.
    fn result_type(&self) -> Type;

    /// The name of the type of the result, in this language.
    fn type_name(&self) -> String;

    /// The text of the rule on one line.
    fn unparse(&self) -> String;

    /// The tree as text, for people who study what becomes of a rule.
    fn dump(&self) -> String;

    /// Whether the rule is the value of a variable, and nothing else.
    fn is_variable(&self) -> bool;

    /// The number of nodes that are evaluated.
    fn node_count(&self) -> usize;

    /// The node of the whole rule.
    fn root(&self) -> NodeId;

    /// The place of a node.
    fn span(&self, id: NodeId) -> Span;

    /// Whether a node is a literal.
    fn is_literal(&self, id: NodeId) -> bool;

    /// Adds the parts of a node that have a value of their own.
    fn add_parts(&self, id: NodeId, parts: &mut Vec<NodeId>);

    /// How the value of a node comes about. Adds the nodes that it comes from to `parts`: what
    /// [`Role`] says.
    fn role(&self, id: NodeId, parts: &mut Vec<NodeId>) -> Role;

    /// The text of a node that was copied from the body of a definition, and so has the place of the call.
    /// `None` if no node was copied.
    fn copied_text(&self, _id: NodeId) -> Option<String> {
        None
    }

    /// The number of nodes with the bodies of definitions in the places of their uses; 0 if no large one is used.
    fn inlined_nodes(&self) -> usize;

    /// The steps for letter cases of the patterns. Those of CEL are of this dialect.
    ///
    /// # Errors
    /// They are more than `limit`; at the pattern that exceeds it.
    fn case_steps(&self, limit: usize, dialect: Dialect) -> Result<usize, Diagnostic>;

    /// What an evaluation can read of the context.
    fn fields(&self, variables: &[Variable], layouts: &[Layout]) -> Fields;

    /// Whether an evaluation may ask lists of the host.
    fn asks_lists(&self) -> bool;

    /// Whether an evaluation may call an impure function.
    fn calls_impure(&self, functions: &Functions) -> bool;

    /// What is valid, but probably not meant.
    fn lint(&self, layouts: &[Layout], patterns: &PatternCache) -> Vec<Diagnostic>;

    /// What validators of the environment refuse. They are about trees of CEL. The rule was checked with these
    /// declarations and limits.
    fn validate(
        &self,
        _validators: &[Validator],
        _patterns: &PatternCache,
        _: &Declarations,
        _: &Limits,
    ) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// How a client can pass the rule as a guard; see
    /// [`CheckedRule::guard_warnings`](crate::settings::CheckedRule::guard_warnings).
    fn guard_warnings(&self, layouts: &[Layout], variables: &[Variable], fails_open: bool) -> Vec<Diagnostic>;

    /// The static cost of each part that is evaluated and is no literal, the whole rule last. Takes time linear in the
    /// number of nodes.
    fn part_costs(&self) -> Vec<PartCost>;

    /// Evaluates the rule into `place` with the language's own interpreter, the oracle of native
    /// code. With a recorder it keeps the result of each node.
    ///
    /// # Errors
    /// The evaluation's error.
    fn interpret<'a>(
        &'a self,
        recorder: Option<&Recorder<'a>>,
        functions: &'a Functions,
        host: &'a dyn Host,
        cx: &Cx<'a>,
        place: &mut Value<'a>,
    ) -> Result<(), EvalError>;

    /// Writes the source of the rule without what is decided by these results of its nodes.
    fn write_residual(&self, results: &[Recorded<'_>], out: &mut String);

    /// Returns the source of a condition that reads only what is known, and is false only where the
    /// rule is; `None` if there is none.
    fn necessary(&self, names: KnownNames<'_>) -> Option<String>;

    /// Builds the graph of the rule for a host with these fields.
    ///
    /// # Errors
    /// What has no graph: a defect of the language.
    fn lower(&self, functions: &Functions, layouts: &[Layout]) -> Result<Lowered, String>;

    /// Puts an error of the rule into words.
    fn describe(&self, error: EvalError, host: &dyn Host, known: &Known<'_>) -> Words;
}

impl dyn RuleLanguage {
    /// The language, if it is of this type. For the language itself and for translations.
    pub(crate) fn downcast<L: RuleLanguage>(&self) -> Option<&L> {
        (self as &dyn Any).downcast_ref()
    }
}

impl dyn RuleTree {
    /// The tree, if it is of this type. For its language and for translations.
    pub(crate) fn downcast<T: RuleTree>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}
