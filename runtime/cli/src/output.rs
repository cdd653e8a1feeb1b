//! Writes results to standard output and errors to standard error, with colours if wanted.

use std::io::{self, BufWriter, IsTerminal, Write};

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The two output streams. If the reader of standard output ends (`celero .. | head`), the rest is not written; that is not an error.
pub(crate) struct Output {
    out: BufWriter<io::Stdout>,
    closed: bool,
    color: Color,
}

impl Output {
    pub(crate) fn new(color: Color) -> Self {
        Self { out: BufWriter::new(io::stdout()), closed: false, color }
    }

    /// Returns whether errors are coloured.
    pub(crate) fn color(&self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        }
    }

    /// Writes text to standard output.
    pub(crate) fn print(&mut self, text: &str) {
        self.closed |= self.out.write_all(text.as_bytes()).is_err();
    }

    /// Writes a line to standard output.
    pub(crate) fn line(&mut self, text: &str) {
        self.print(text);
        self.print("\n");
    }

    /// Flushes standard output. Returns `false` if its reader has ended.
    pub(crate) fn flush(&mut self) -> bool {
        self.closed |= self.out.flush().is_err();
        !self.closed
    }

    /// Writes a line to standard error, after flushing standard output.
    pub(crate) fn complain(&mut self, text: &str) {
        self.flush();
        let _ = writeln!(io::stderr(), "{}", text.trim_end());
    }

    /// Flushes standard output at the end.
    pub(crate) fn finish(mut self) {
        self.flush();
    }
}
