//! Why there is no set of rules.

use crate::compilation::cancellation::Cancelled;
use crate::error::CompileError;
use celero_frontend::Diagnostic;
use std::fmt;

/// Why there is no set: all diagnostics of all rules, which displays as source lines with carets
/// under the names of the rules; or that the compilation was cancelled.
#[derive(Clone)]
pub struct RuleSetError {
    failed: Vec<(usize, Box<str>, CompileError)>,
    cancelled: bool,
}

impl RuleSetError {
    /// Because of these rules.
    pub(super) fn refused(failed: Vec<(usize, Box<str>, CompileError)>) -> Self {
        Self { failed, cancelled: false }
    }

    /// Returns whether the compilation was [cancelled](crate::sets::RuleSetBuilder::cancel_if). Nothing
    /// is known of the rules then: there are no diagnostics.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    /// Returns the rules that do not compile, by name, in the order of the set.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = (&str, &CompileError)> {
        self.failed.iter().map(|(_, name, error)| (&**name, error))
    }

    /// Returns all diagnostics, each with the index that its rule would have in the set, in the order of the set.
    pub fn diagnostics(&self) -> impl Iterator<Item = (usize, &Diagnostic)> {
        self.failed.iter().flat_map(|(rule, _, error)| error.diagnostics().iter().map(|found| (*rule, found)))
    }

    /// Returns the diagnostics as text, with the source lines that they are about. `color` adds ANSI colours.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        if self.cancelled {
            return "the compilation of the rules was cancelled\n".to_owned();
        }
        self.failed.iter().map(|(_, name, error)| error.render(name, color)).collect()
    }
}

impl From<Cancelled> for RuleSetError {
    fn from(_: Cancelled) -> Self {
        Self { failed: Vec::new(), cancelled: true }
    }
}

impl fmt::Display for RuleSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl fmt::Debug for RuleSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As `Display`, because people `unwrap` it.
        write!(f, "\n{self}")
    }
}

impl std::error::Error for RuleSetError {}
