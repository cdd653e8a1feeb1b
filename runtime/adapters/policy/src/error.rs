//! Why a policy was rejected.

use std::fmt;

/// Why a policy was rejected: everything that is wrong with it, each with file, line, column and a caret under the place.
pub struct PolicyError {
    text: String,
}

impl PolicyError {
    /// A file that can't be read.
    pub(crate) fn unreadable(file: &std::path::Path, error: &std::io::Error) -> Self {
        Self { text: format!("error: {} can't be read: {error}", file.display()) }
    }

    /// The findings; `color` asks for ANSI colours.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        let _ = color;
        self.text.clone()
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl fmt::Debug for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As `Display`, because people `unwrap` it.
        write!(f, "\n{self}")
    }
}

impl std::error::Error for PolicyError {}
