//! [`TestReport`]: the results of cases.

use crate::file::error::PolicyError;
use crate::problems::Problems;
use celero::Diagnostic;

/// The results of the cases of a file.
#[derive(Debug)]
pub struct TestReport {
    pub(super) cases: Vec<(String, bool)>,
    /// Indexed by case, if they were asked for.
    pub(super) reasons: Vec<Vec<String>>,
    pub(super) unmatched: Vec<String>,
    pub(super) problems: Problems,
}

impl TestReport {
    /// Returns the names of the cases, and whether each passed.
    pub fn cases(&self) -> impl Iterator<Item = (&str, bool)> {
        self.cases.iter().map(|(name, passed)| (&**name, *passed))
    }

    /// Returns why the cases have their results, in the order of [`cases`](Self::cases): what became of the rules that
    /// ended a phase, acted, or were expected, as lines of text. Nothing unless they were asked for with
    /// [`Policy::test_with_reasons`](crate::Policy::test_with_reasons).
    pub fn reasons(&self) -> impl Iterator<Item = &[String]> {
        self.reasons.iter().map(|lines| &**lines)
    }

    /// Returns whether all cases passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        !self.problems.has_errors()
    }

    /// Returns the rules that did not match in any case so far, as `phase: name`.
    #[must_use]
    pub fn unmatched_rules(&self) -> &[String] {
        &self.unmatched
    }

    /// Returns the differences, each with the name of its file. Spans are byte offsets in that file.
    pub fn diagnostics(&self) -> impl Iterator<Item = (&str, Diagnostic)> {
        self.problems.all()
    }

    /// Returns the differences as text, each with the line of the file that expects otherwise.
    /// `color` adds ANSI colours.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        PolicyError::new(self.problems.clone()).render(color)
    }
}
