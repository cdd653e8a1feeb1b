//! Why a policy was rejected.

use crate::file::emptiness::CODE;
use crate::problems::Problems;
use crate::yaml::reach::Reach;
use celero::Diagnostic;
use celero::diagnostics::Style;
use std::fmt;
use std::path::PathBuf;

/// All errors and warnings of a rejected policy. Displays as text, each with file, line, column and the marked source.
#[derive(Clone)]
pub struct PolicyError {
    problems: Box<Problems>,
}

impl PolicyError {
    /// Returns an error with these problems. Hosts use it for their own files.
    #[must_use]
    pub fn new(problems: Problems) -> Self {
        Self { problems: Box::new(problems) }
    }

    /// Returns the errors and warnings, each with the name of its file. Spans are byte offsets in
    /// that file. What may be secret in a URL is hidden.
    pub fn diagnostics(&self) -> impl Iterator<Item = (&str, Diagnostic)> {
        self.problems.all()
    }

    /// Returns the errors and warnings as text, with the lines that they are about. `color` adds ANSI colours.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        self.problems.render(if color { Style::Ansi } else { Style::Plain })
    }
}

impl PolicyError {
    /// Returns every file that was read, for hosts that watch them.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        self.problems.watched()
    }

    /// Returns the files and environment variables that were used.
    #[must_use]
    pub fn reach(&self) -> &Reach {
        self.problems.used()
    }

    /// Returns whether the policy was rejected only because something in it is empty.
    #[must_use]
    pub fn is_emptiness(&self) -> bool {
        self.problems.has_errors() && self.problems.errors().all(|code| code == CODE)
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl fmt::Debug for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The same as `Display`: `unwrap` and `main` show this form.
        write!(f, "\n{self}")
    }
}

impl std::error::Error for PolicyError {}
