//! Places in the files of a policy.

use celero::diagnostics::Span;

/// A range of bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSpan {
    /// The number of the file, as [`Problems::file`](super::problems::Problems::file) returned it.
    pub file: usize,
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl FileSpan {
    /// The range of these bytes.
    #[must_use]
    pub fn new(file: usize, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    pub(super) fn span(self) -> Span {
        Span::new(self.start, self.end.max(self.start))
    }
}
