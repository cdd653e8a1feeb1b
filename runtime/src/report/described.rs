//! [`DescribedError`]: a report as the error of a function.

use super::Report;
use std::fmt;

/// An evaluation error with all that is known of it: displays as the message and what to do, under
/// the line of the rule that failed. For code that passes errors on with `?` to whoever prints them.
///
/// Made by [`Program::test_described`](crate::Program::test_described), and from any [`Report`] by
/// [`Report::into_error`]. The text of the context's data may be in it, as in [`Report::message`].
#[derive(Clone)]
pub struct DescribedError(Box<Report>);

impl DescribedError {
    pub(super) fn new(report: Report) -> Self {
        Self(Box::new(report))
    }

    /// Returns the report, for parts of the text and for logs.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.0
    }
}

impl fmt::Display for DescribedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.render(self.0.rule().unwrap_or("rule"), false).trim_end())
    }
}

impl fmt::Debug for DescribedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As `Display`, because `main` and `unwrap` print it.
        write!(f, "\n{self}")
    }
}

impl std::error::Error for DescribedError {}
