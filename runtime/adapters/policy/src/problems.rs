//! What is wrong with files: findings, each at its place in one of them.

use crate::yaml::{Text, offset_in_file};
use celero::{Diagnostic, Label, Severity, Span, Stage, Style};
use std::path::PathBuf;

/// A range of bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number among the files.
    pub file: usize,
    /// The first byte.
    pub start: u32,
    /// The byte behind the last one.
    pub end: u32,
}

impl Place {
    pub(crate) fn new(file: usize, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    fn span(self) -> Span {
        Span::new(self.start, self.end.max(self.start))
    }
}

/// A file that was read.
#[derive(Clone, Debug)]
struct File {
    name: String,
    text: String,
}

/// A finding of a file.
#[derive(Clone, Debug)]
pub struct Problem {
    file: usize,
    diagnostic: Diagnostic,
}

impl Problem {
    /// Names a second place. One of another file is left out.
    pub fn also(&mut self, place: Place, text: &str) -> &mut Self {
        if place.file == self.file {
            self.diagnostic.labels.push(Label { span: place.span(), text: text.to_owned() });
        }
        self
    }

    /// Says what to do about it.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.diagnostic.help.push(help.into());
        self
    }
}

/// Files of one purpose, such as those of a policy, and what is wrong with them.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    files: Vec<File>,
    found: Vec<Problem>,
    /// What was read, to be watched.
    pub(crate) paths: Vec<PathBuf>,
}

impl Problems {
    /// Adds a file and gives its number.
    pub fn file(&mut self, name: String, text: &str) -> usize {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
        self.files.push(File { name, text });
        self.files.len().saturating_sub(1)
    }

    pub(crate) fn text(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |file| &file.text)
    }

    pub(crate) fn name(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |file| &file.name)
    }

    /// A file that can't be read, which has no place.
    pub(crate) fn unreadable(&mut self, name: &str, why: &str) {
        let file = self.file(name.to_owned(), "");
        self.add("policy-file", Place::new(file, 0, 0), format!("{name} can't be read: {why}"));
    }

    /// Adds an error.
    pub fn add(&mut self, code: &'static str, place: Place, message: String) -> &mut Problem {
        self.push(Severity::Error, code, place, message)
    }

    /// Adds a warning.
    pub(crate) fn warn(&mut self, code: &'static str, place: Place, message: String) -> &mut Problem {
        self.push(Severity::Warning, code, place, message)
    }

    fn push(&mut self, severity: Severity, code: &'static str, place: Place, message: String) -> &mut Problem {
        let (stage, span) = (Stage::Check, place.span());
        let diagnostic = Diagnostic { severity, stage, code, message, span, labels: Vec::new(), help: Vec::new() };
        self.found.push_mut(Problem { file: place.file, diagnostic })
    }

    /// Adds a finding of an expression that begins at the byte `start` of a text. One that is there already, because an expression
    /// was looked at twice, is not added again.
    pub(crate) fn of_expression(&mut self, text: &Text, start: usize, found: &Diagnostic) {
        let mut diagnostic = found.clone();
        diagnostic.span = self.placed(text, start, found.span);
        for label in &mut diagnostic.labels {
            label.span = self.placed(text, start, label.span);
        }
        let file = text.place.file;
        if !self.found.iter().any(|known| known.file == file && known.diagnostic == diagnostic) {
            self.found.push(Problem { file, diagnostic });
        }
    }

    /// The place in the file of a part of an expression.
    pub(crate) fn placed(&self, text: &Text, start: usize, span: Span) -> Span {
        let Place { file, start: from, end: to } = text.place;
        let place = |at: u32| {
            let (file, at) = (self.text(file), start.saturating_add(at as usize));
            let at = offset_in_file(file, from as usize..to as usize, &text.text, text.style, at);
            u32::try_from(at).unwrap_or(u32::MAX)
        };
        let first = place(span.start);
        // The end is one past the last character, which is not where the next one begins.
        let last = if span.end > span.start { place(span.end.saturating_sub(1)).saturating_add(1) } else { first };
        Span::new(first, last.max(first))
    }

    pub(crate) fn count(&self) -> usize {
        self.found.len()
    }

    /// Whether there is an error among the findings.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|problem| problem.diagnostic.severity == Severity::Error)
    }

    /// Warnings only.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = (&str, &Diagnostic)> {
        self.all().filter(|(_, diagnostic)| diagnostic.severity == Severity::Warning)
    }

    /// All findings with the names of their files.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &Diagnostic)> {
        self.found
            .iter()
            .map(|Problem { file, diagnostic }| (self.files.get(*file).map_or("", |file| &*file.name), diagnostic))
    }

    /// The findings of the files in their order, each file's in the order of its text.
    pub(crate) fn render(&self, style: Style) -> String {
        let mut text = String::new();
        for (number, file) in self.files.iter().enumerate() {
            let mut found: Vec<Diagnostic> =
                self.found.iter().filter(|p| p.file == number).map(|p| p.diagnostic.clone()).collect();
            found.sort_by_key(|diagnostic| (diagnostic.severity == Severity::Warning, diagnostic.span.start));
            if !text.is_empty() && !found.is_empty() {
                text.push('\n');
            }
            text.push_str(&celero::render(&file.text, &file.name, &found, style));
        }
        text
    }
}
