//! Writes results to standard output and errors to standard error, with colours if wanted.
//!
//! Invariant: what `--json` prints has the form of `docs/command.schema.json`. Test:
//! `runtime/tools/cli/tests/it/schema.rs::the_schema_describes_every_output`.

pub(crate) mod costs;
pub(crate) mod failure;
pub(crate) mod hints;
pub(crate) mod listing;
pub(crate) mod units;

use std::io::{self, BufWriter, IsTerminal, Write};

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the environment variable `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Colours for text, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint(bool);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// What matters most: totals, titles.
    pub(crate) fn strong(self, text: &str) -> String {
        self.with("1", text)
    }

    /// The title of a section.
    pub(crate) fn title(self, text: &str) -> String {
        self.with("1;34", text)
    }

    /// What matters less: offsets, bytes, units.
    pub(crate) fn faint(self, text: &str) -> String {
        self.with("2", text)
    }

    /// What is as it should be.
    pub(crate) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// What is not as it should be.
    pub(crate) fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    /// Names.
    pub(crate) fn name(self, text: &str) -> String {
        self.with("36", text)
    }

    /// Source text of rules.
    pub(crate) fn source(self, text: &str) -> String {
        self.with("33", text)
    }
}

/// The two output streams. If the reader of standard output ends (`celero .. | head`), the rest is
/// not written; that is not an error.
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
        self.colored(io::stderr().is_terminal())
    }

    /// Returns the colours of results.
    pub(crate) fn paint(&self) -> Paint {
        Paint(self.colored(io::stdout().is_terminal()))
    }

    fn colored(&self, terminal: bool) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
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

    /// Writes hints to standard error.
    pub(crate) fn hints(&mut self, hints: &[String]) {
        let word = Paint(self.color()).strong("hint:");
        for hint in hints {
            self.complain(&format!("{word} {hint}"));
        }
    }

    /// Flushes standard output at the end.
    pub(crate) fn finish(mut self) {
        self.flush();
    }
}
