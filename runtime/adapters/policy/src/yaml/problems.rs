//! Errors and warnings about files, each with the span of the file that it is about.
//!
//! Invariant: every mistake of a file is reported, at its place. Test:
//! `runtime/adapters/policy/tests/policy/errors.rs::messages_are_as_recorded`.

use super::SourceText;
use super::concealed::Concealed;
pub use super::file_span::FileSpan;
use super::reach::{Reach, Use};
use super::url_secrets::hide_url_secrets;
use celero::Diagnostic;
use celero::diagnostics::{Label, Severity, Span, Stage, Style};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most errors and warnings of one file that are shown. Showing one reads the file up to its place.
const MAX_SHOWN: usize = 100;

/// A file that was read.
#[derive(Clone, Debug)]
struct File {
    name: String,
    text: String,
}

/// An error or a warning about a file.
#[derive(Clone, Debug)]
pub struct Problem {
    file: usize,
    diagnostic: Diagnostic,
}

impl Problem {
    /// Adds a second span with a text. A span of another file is left out.
    pub fn also(&mut self, place: FileSpan, text: &str) -> &mut Self {
        if place.file == self.file {
            self.diagnostic.labels.push(Label { span: place.span(), text: text.to_owned() });
        }
        self
    }

    /// Adds a line that says how to correct it.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.diagnostic.help.push(help.into());
        self
    }

    /// Adds the help "did you mean ..?" if one of the known names is similar to what is written.
    /// Returns whether there is one.
    pub fn suggest(&mut self, written: &str, known: &[&str]) -> bool {
        let Some(name) = similar(written, known) else { return false };
        self.help(format!("did you mean `{name}`?"));
        true
    }
}

/// Files that are read together, such as a policy with its includes, and the errors and warnings about them.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    files: Vec<File>,
    found: Vec<Problem>,
    /// What messages may not quote.
    concealed: Vec<Concealed>,
    /// The numbers of those that are about expressions, by where they are.
    of_expressions: HashMap<(usize, Span), Vec<usize>>,
    /// The files that were read, for hosts that watch them, each once.
    paths: Vec<PathBuf>,
    known_paths: HashSet<PathBuf>,
    /// What was used of the machine.
    used: Reach,
    /// What may be used of it; `None`: all.
    reach: Option<Arc<Reach>>,
}

impl Problems {
    /// Returns no problems, of files that may use only this of the machine; `None`: all.
    pub(crate) fn within(reach: Option<Arc<Reach>>) -> Self {
        Self { reach, ..Self::default() }
    }

    /// Returns whether a file, which must be in `folder`, or an environment variable may be used. Reports at `at` that
    /// it may not.
    pub(crate) fn may_use(&mut self, purpose: Use, name: &OsStr, folder: Option<&Path>, at: &SourceText) -> bool {
        if self.reach.as_ref().is_some_and(|reach| !reach.has(purpose, name, folder)) {
            let what = if purpose == Use::Variable { "environment variable" } else { "file" };
            let message = format!("the {what} `{}` is out of reach of this text", at.text);
            let problem = self.add("policy-reach", at.place, message);
            problem.help("a changed text uses the files and environment variables of the policy that was loaded, for what it uses them");
            return false;
        }
        self.used.add(purpose, name, folder);
        true
    }

    /// Returns the files and environment variables that were used.
    pub(crate) fn used(&self) -> &Reach {
        &self.used
    }

    /// Adds a file and returns its number.
    pub fn file(&mut self, name: String, text: &str) -> usize {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
        self.files.push(File { name, text });
        self.files.len().saturating_sub(1)
    }

    /// Returns where a place begins, as `file:line:column`, both counted from 1.
    #[must_use]
    pub fn position(&self, place: FileSpan) -> String {
        let before = self.text(place.file).get(..place.start as usize).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let (lines, columns) = (before.matches('\n').count(), line.chars().count());
        format!("{}:{}:{}", self.name(place.file), lines.saturating_add(1), columns.saturating_add(1))
    }

    /// Returns the same files without errors and warnings, for reading again what they name.
    pub(crate) fn of_same_files(&self) -> Self {
        let reach = self.reach.clone();
        Self { files: self.files.clone(), concealed: self.concealed.clone(), reach, ..Self::default() }
    }

    /// Says that messages about a scalar do not quote its text, which has values of environment
    /// variables, but what is written in the file.
    pub fn conceal(&mut self, place: FileSpan, written: String, text: &str, values: &[String]) {
        self.concealed.push(Concealed::new(place, written, text, values));
    }

    /// Adds a file, or a pattern of files, to those that hosts watch.
    pub(crate) fn watch(&mut self, file: &Path) {
        if self.known_paths.insert(file.to_owned()) {
            self.paths.push(file.to_owned());
        }
    }

    /// Returns the files that hosts watch.
    pub(crate) fn watched(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Returns the text of a file, without a byte order mark.
    #[must_use]
    pub fn text(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |file| &file.text)
    }

    pub(crate) fn name(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |file| &file.name)
    }

    /// Reports a file that can't be read.
    pub(crate) fn unreadable(&mut self, name: &str, why: &str) {
        let file = self.file(name.to_owned(), "");
        self.add("policy-file", FileSpan::new(file, 0, 0), format!("{name} can't be read: {why}"));
    }

    /// Adds an error.
    pub fn add(&mut self, code: &'static str, place: FileSpan, message: String) -> &mut Problem {
        self.push(Severity::Error, code, place, message)
    }

    /// Returns the error or warning that was added last.
    pub(crate) fn last_mut(&mut self) -> Option<&mut Problem> {
        self.found.last_mut()
    }

    /// Adds a warning.
    pub(crate) fn warn(&mut self, code: &'static str, place: FileSpan, message: String) -> &mut Problem {
        self.push(Severity::Warning, code, place, message)
    }

    fn push(&mut self, severity: Severity, code: &'static str, place: FileSpan, message: String) -> &mut Problem {
        let (stage, span) = (Stage::Check, place.span());
        let diagnostic = Diagnostic { severity, stage, code, message, span, labels: Vec::new(), help: Vec::new() };
        self.found.push_mut(Problem { file: place.file, diagnostic })
    }

    /// Adds a diagnostic of an expression that starts at byte `start` of a text. A diagnostic that
    /// was added before is not added again: some expressions are checked once for each phase.
    pub(crate) fn of_expression(&mut self, text: &SourceText, start: usize, found: &Diagnostic) {
        let mut diagnostic = found.clone();
        diagnostic.span = self.placed(text, start, found.span);
        for label in &mut diagnostic.labels {
            label.span = self.placed(text, start, label.span);
        }
        let file = text.place.file;
        let here = self.of_expressions.entry((file, diagnostic.span)).or_default();
        let is_known = |number: &usize| self.found.get(*number).is_some_and(|known| known.diagnostic == diagnostic);
        if !here.iter().any(is_known) {
            here.push(self.found.len());
            self.found.push(Problem { file, diagnostic });
        }
    }

    /// Returns the span in the file of a part of an expression.
    pub(crate) fn placed(&self, text: &SourceText, start: usize, span: Span) -> Span {
        let file = self.text(text.place.file);
        let place = |at: u32| {
            let at = text.offset_in_file(file, start.saturating_add(at as usize));
            u32::try_from(at).unwrap_or(u32::MAX)
        };
        let first = place(span.start);
        // The byte after the last character, which may be far before the next character: line ends may be between them.
        let last = if span.end > span.start { place(span.end.saturating_sub(1)).saturating_add(1) } else { first };
        Span::new(first, last.max(first))
    }

    /// Returns the message and the place of the first error.
    pub(crate) fn first_error(&self) -> Option<(&str, FileSpan)> {
        let Problem { file, diagnostic } = self.found.first()?;
        Some((&diagnostic.message, FileSpan::new(*file, diagnostic.span.start, diagnostic.span.end)))
    }

    /// Returns the number of errors and warnings.
    #[must_use]
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// Returns whether there is an error, not only warnings.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|problem| problem.diagnostic.severity == Severity::Error)
    }

    /// Returns whether there is an error from the start of a place to the start of a later one in the same file.
    pub(crate) fn has_errors_between(&self, from: FileSpan, to: FileSpan) -> bool {
        let is_between = |Problem { file, diagnostic }: &Problem| {
            *file == from.file && (from.start..to.start).contains(&diagnostic.span.start)
        };
        self.found.iter().any(|found| found.diagnostic.severity == Severity::Error && is_between(found))
    }

    /// Returns the codes of the errors.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &'static str> {
        let errors = self.found.iter().filter(|found| found.diagnostic.severity == Severity::Error);
        errors.map(|found| found.diagnostic.code)
    }

    /// Returns the warnings, as [`all`](Self::all) does.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = (&str, Diagnostic)> {
        let warnings = self.found.iter().filter(|found| found.diagnostic.severity == Severity::Warning);
        warnings.map(|found| (self.name(found.file), self.without_secrets(found)))
    }

    /// Returns all errors and warnings with the names of their files. Secrets in URLs are hidden,
    /// and so is what is [concealed](Self::conceal).
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, Diagnostic)> {
        self.found.iter().map(|found| (self.name(found.file), self.without_secrets(found)))
    }

    /// Returns the errors and warnings as text: file by file, errors before warnings, in the order
    /// of the file's text. Of those beyond the first 100 of a file there is the number only.
    /// Secrets in URLs are hidden, and so is what is [concealed](Self::conceal).
    pub(crate) fn render(&self, style: Style) -> String {
        let mut text = String::new();
        for (number, file) in self.files.iter().enumerate() {
            let mut found: Vec<&Problem> = self.found.iter().filter(|found| found.file == number).collect();
            if found.is_empty() {
                continue;
            }
            found.sort_by_key(|Problem { diagnostic, .. }| {
                (diagnostic.severity == Severity::Warning, diagnostic.span.start)
            });
            let hidden = found.len().saturating_sub(MAX_SHOWN);
            let found: Vec<Diagnostic> =
                found.into_iter().take(MAX_SHOWN).map(|found| self.without_secrets(found)).collect();
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&celero::diagnostics::render(&hide_url_secrets(&file.text), &file.name, &found, style));
            if hidden > 0 {
                text.push_str(&format!("\n{}: {hidden} more errors and warnings, which are not shown\n", file.name));
            }
        }
        text
    }

    fn without_secrets(&self, Problem { file, diagnostic: found }: &Problem) -> Diagnostic {
        let place = FileSpan::new(*file, found.span.start, found.span.end);
        let shown = |text: &String| {
            let text = self.concealed.iter().fold(text.clone(), |text, concealed| {
                if concealed.concerns(place) { concealed.conceal(&text) } else { concealed.conceal_whole(&text) }
            });
            hide_url_secrets(&text).into_owned()
        };
        let labels = found.labels.iter().map(|label| Label { text: shown(&label.text), ..label.clone() });
        Diagnostic {
            message: shown(&found.message),
            labels: labels.collect(),
            help: found.help.iter().map(shown).collect(),
            ..found.clone()
        }
    }
}

/// Most names among which the one that was meant is looked for: a file may have as many wrong names as right ones.
pub(crate) const MAX_COMPARED: usize = 250;

/// Returns the name that was probably meant. Names in another case are similar.
pub(crate) fn similar<'n>(written: &str, names: &[&'n str]) -> Option<&'n str> {
    let lower: Vec<String> = names.iter().take(MAX_COMPARED).map(|name| name.to_ascii_lowercase()).collect();
    let written = written.to_ascii_lowercase();
    let known = lower.iter().position(|name| *name == written).or_else(|| {
        let name = celero::diagnostics::similar(&written, lower.iter().map(String::as_str))?;
        lower.iter().position(|known| known == name)
    });
    names.get(known?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_hundred_are_shown() {
        let mut problems = Problems::default();
        let file = problems.file("a.yaml".to_owned(), "a: 1\n");
        for _ in 0..MAX_SHOWN {
            problems.add("policy-key", FileSpan::new(file, 0, 1), "wrong".to_owned());
        }
        assert!(!problems.render(Style::Plain).contains("not shown"));
        problems.add("policy-key", FileSpan::new(file, 0, 1), "wrong".to_owned());
        let text = problems.render(Style::Plain);
        assert_eq!(text.matches("error[policy-key]").count(), MAX_SHOWN);
        assert!(text.ends_with("\na.yaml: 1 more errors and warnings, which are not shown\n"), "{text}");
    }

    #[test]
    fn similar_names_are_found() {
        let keys = ["addHeaders", "setHeaders", "deny", "h2c"];
        assert_eq!(similar("setHeader", &keys), Some("setHeaders"));
        assert_eq!(similar("denny", &keys), Some("deny"));
        assert_eq!(similar("dney", &keys), Some("deny"));
        assert_eq!(similar("set_headers", &keys), Some("setHeaders"));
        assert_eq!(similar("H2C", &keys), Some("h2c"));
        assert_eq!(similar("log", &keys), None);
    }
}
