//! Why a policy was rejected.

use crate::problems::Problems;
use celero::{Diagnostic, Style};
use std::fmt;

/// Why a policy was rejected: everything that is wrong with it, each with file, line, column and a caret under the place.
#[derive(Clone)]
pub struct PolicyError {
    problems: Box<Problems>,
}

impl PolicyError {
    /// Of what was found. Hosts use it for files of their own.
    #[must_use]
    pub fn new(problems: Problems) -> Self {
        Self { problems: Box::new(problems) }
    }

    /// The findings, warnings among them, each with the name of its file; places are bytes of that file.
    pub fn diagnostics(&self) -> impl Iterator<Item = (&str, &Diagnostic)> {
        self.problems.all()
    }

    /// The findings with the lines they are about; `color` asks for ANSI colours.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        self.problems.render(if color { Style::Ansi } else { Style::Plain })
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl fmt::Debug for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As `Display`, because people `unwrap` it.
        write!(f, "\n{self}")
    }
}

impl std::error::Error for PolicyError {}
