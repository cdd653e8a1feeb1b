//! The errors of starting and reloading a proxy.

use celero_policy::PolicyError;
use std::fmt;

/// Why a proxy can't start or load changed files. Displays as a message for the author of the files.
#[derive(Debug)]
pub struct Error {
    text: String,
    /// Whether a file was refused only because something in it is empty.
    emptiness: bool,
}

impl Error {
    /// Returns an error with this message.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), emptiness: false }
    }

    /// Returns the same error with another text.
    #[must_use]
    pub(crate) fn with_text(self, text: String) -> Self {
        Self { text, ..self }
    }

    /// Returns whether a file was refused only because something in it is empty.
    pub(crate) fn is_emptiness(&self) -> bool {
        self.emptiness
    }

    /// Names the part of the configuration that the error is about.
    #[must_use]
    pub(crate) fn within(self, part: &str) -> Self {
        let text = self.text.strip_prefix("error: ").unwrap_or(&self.text);
        Self { text: format!("error: {part}: {text}"), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl From<PolicyError> for Error {
    fn from(error: PolicyError) -> Self {
        Self { text: error.to_string(), emptiness: error.is_emptiness() }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::new(format!("error: {error}"))
    }
}
