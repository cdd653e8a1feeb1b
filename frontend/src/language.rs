//! The interface between rule languages and the later stages.

use crate::checked::Checked;
use crate::declarations::Declarations;
use crate::diagnostic::{CodeInfo, Diagnostic};
use crate::lexicon::Lexicon;
use crate::limits::Limits;
use crate::span::Span;
use std::fmt::Debug;

/// Takes an expression as it was checked, and what gives the place in the source of a place in it.
pub type ExpressionVisitor<'v> = dyn FnMut(&Checked, &dyn Fn(Span) -> Span) + 'v;

/// A language in which rules are written, whose trees are those of CEL. [`Cel`](crate::cel::Cel) is
/// one; a language with other values, such as the [filter language](crate::filter), has a tree of
/// its own and is none.
///
/// Later stages (lints, inlining, the interpreter, the lowering to native code) see [`Checked`]
/// trees only, whichever of these languages they come from. An implementation builds them with
/// [`TreeBuilder`](crate::TreeBuilder), which verifies what those stages rely on.
///
/// The crate's documentation says how to add a language.
pub trait Language: Send + Sync + Debug {
    /// The name of the language in lower case, as in a configuration file: `cel`.
    fn name(&self) -> &str;

    /// Parses and checks a rule against what is declared. Returns the tree and the warnings.
    ///
    /// The tree's [source](crate::Ast::source) is `source`. Equal arguments give equal trees: rules
    /// are checked again when one of a set must be evaluated alone. The time is bounded by
    /// `limits`; that of a linear pass over the source is usual.
    ///
    /// # Errors
    ///
    /// All diagnostics, warnings included, in source order: at least one error, and at most
    /// [`Limits::max_diagnostics`].
    fn check(
        &self,
        source: &str,
        declarations: &Declarations,
        limits: &Limits,
    ) -> Result<(Checked, Vec<Diagnostic>), Vec<Diagnostic>>;

    /// Returns the text of a rule in canonical layout, with a line end: in lines of at most `width`
    /// characters where names and literals allow. Names need not be declared. Formatting the result
    /// gives the same text.
    ///
    /// # Errors
    ///
    /// The syntax errors, or the parts that the layout would lose (comments).
    fn format(&self, source: &str, limits: &Limits, width: usize) -> Result<String, Vec<Diagnostic>>;

    /// Returns the text of a tree of this language on one line. Checking the text gives the same tree, places apart.
    fn unparse(&self, checked: &Checked) -> String;

    /// The codes of all diagnostics that [`check`](Self::check) and [`format`](Self::format) can report.
    fn codes(&self) -> Vec<CodeInfo>;

    /// Visits every expression that the author of a source wrote by itself, in which calls of definitions are calls:
    /// what validators judge. `rule` is what [`check`](Self::check) gave for the source, with the same declarations
    /// and limits. By default a source is one expression.
    fn each_expression(&self, rule: &Checked, _: &Declarations, _: &Limits, visit: &mut ExpressionVisitor<'_>) {
        visit(rule, &|span| span);
    }

    /// Whether the part of a source at the place of a node is a rule that has the node's value, and a
    /// literal of CEL may stand in its place. By default not: a source may be of another form.
    fn has_parts_in_source(&self) -> bool {
        false
    }

    /// What people call the language. By default its [name](Self::name).
    fn title(&self) -> &str {
        self.name()
    }

    /// The words of the language, for editors.
    fn lexicon(&self) -> Lexicon {
        Lexicon::default()
    }
}
