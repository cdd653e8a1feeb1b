//! The interface between rule languages and the later stages.

use crate::checked::Checked;
use crate::declarations::Declarations;
use crate::diagnostic::{CodeInfo, Diagnostic};
use crate::limits::Limits;
use std::fmt::Debug;

/// A language in which rules are written. [`Cel`](crate::cel::Cel) is the one that comes with this crate.
///
/// Later stages (lints, inlining, the interpreter, the lowering to native code) see [`Checked`] trees only, whatever language
/// they come from. An implementation builds them with [`TreeBuilder`](crate::TreeBuilder), which verifies what those stages
/// rely on.
///
/// The crate's documentation says how to add a language.
pub trait Language: Send + Sync + Debug {
    /// The name of the language in lower case, as in a configuration file: `cel`.
    fn name(&self) -> &str;

    /// Parses and checks a rule against what is declared. Returns the tree and the warnings.
    ///
    /// The tree's [source](crate::Ast::source) is `source`. Equal arguments give equal trees: rules are checked again when
    /// one of a set must be evaluated alone. The time is bounded by `limits`; that of a linear pass over the source is usual.
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

    /// Returns the text of a rule in canonical layout, with a line end: in lines of at most `width` characters where names and
    /// literals allow. Names need not be declared. Formatting the result gives the same text.
    ///
    /// # Errors
    ///
    /// The syntax errors, or the parts that the layout would lose (comments).
    fn format(&self, source: &str, limits: &Limits, width: usize) -> Result<String, Vec<Diagnostic>>;

    /// Returns the text of a tree of this language on one line. Checking the text gives the same tree, places apart.
    fn unparse(&self, checked: &Checked) -> String;

    /// The codes of all diagnostics that [`check`](Self::check) and [`format`](Self::format) can report.
    fn codes(&self) -> Vec<CodeInfo>;
}
