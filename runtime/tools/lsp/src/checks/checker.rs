//! What is wrong with a document, at the places in the document.
//!
//! Invariant: diagnostics are those of `celero check`. Test:
//! `runtime/tools/cli/tests/it/language_server/diagnostics.rs::diagnostics_are_those_of_check`.

use crate::checks::environment::Checks;
use crate::documents::document::{Document, Kind, MAX_CHECKED};
use crate::documents::line_index::LineIndex;
use crate::documents::uri;
use celero::Diagnostic;
use celero::diagnostics::{Severity, Span};
use celero_policy::Outline;
use celero_tooling::rules::file::RulesFile;
use celero_tooling::rules::source::{Format, RuleText, Unreadable};
use lsp_types::{Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The code of a file whose format, language or lines can't be read. The other codes are those of
/// `docs/diagnostics.md`.
const INVALID_FILE: &str = "invalid-file";

/// A diagnostic of a document.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The diagnostic. Its spans are byte offsets in the document.
    pub(crate) diagnostic: Diagnostic,
    /// The file that it is about, if it is another one that the document includes, and the place there.
    elsewhere: Option<(PathBuf, Span)>,
}

impl Finding {
    fn here(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, elsewhere: None }
    }

    fn about_file(span: Range<usize>, severity: Severity, message: String) -> Self {
        let error = Diagnostic::warning(INVALID_FILE, span_of(&span), message);
        Self::here(Diagnostic { severity, ..error })
    }

    /// Returns the range of bytes in the document.
    pub(crate) fn range(&self) -> Range<usize> {
        self.diagnostic.span.start as usize..self.diagnostic.span.end as usize
    }
}

fn span_of(range: &Range<usize>) -> Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(offset(range.start), offset(range.end))
}

/// Checks a document.
pub(crate) fn check(document: &Document, checks: &dyn Checks) -> Vec<Finding> {
    let first_line = || {
        let end = document.text.find('\n').unwrap_or(document.text.len());
        0..end
    };
    match document.kind() {
        Kind::Other => Vec::new(),
        Kind::TooLarge => {
            let message = format!(
                "the file is larger than {MAX_CHECKED} bytes, so it is not checked while you type; `celero check` checks it"
            );
            vec![Finding::about_file(first_line(), Severity::Warning, message)]
        }
        Kind::Unreadable(Unreadable::Language(why)) => {
            vec![Finding::about_file(first_line(), Severity::Error, why)]
        }
        Kind::Unreadable(Unreadable::OtherFormat) => {
            let message = "the file holds a policy, by its content: rename it to end in .yaml".to_owned();
            vec![Finding::about_file(first_line(), Severity::Error, message)]
        }
        Kind::Rules { text, start } => {
            let mut found = of_text(document, text, checks);
            let start = u32::try_from(start).unwrap_or(0);
            let shifted = |span: Span| Span::new(span.start.saturating_add(start), span.end.saturating_add(start));
            for Finding { diagnostic, elsewhere } in &mut found {
                if elsewhere.is_none() && start > 0 {
                    diagnostic.span = shifted(diagnostic.span);
                    diagnostic.labels.iter_mut().for_each(|label| label.span = shifted(label.span));
                }
            }
            found
        }
    }
}

fn of_text(document: &Document, text: RuleText, checks: &dyn Checks) -> Vec<Finding> {
    let RuleText { text, format, language, .. } = text;
    match format {
        Format::Cel => checks.expression(language, &text).into_iter().map(Finding::here).collect(),
        Format::Rules => match RulesFile::parse(document.name(), text, language) {
            Ok(file) => checks.rules(&file).into_iter().map(Finding::here).collect(),
            Err(invalid) => {
                let lines = LineIndex::new(&document.text);
                let line = invalid.line.saturating_sub(1);
                let start = lines.line_start(&document.text, line);
                let end = lines.line_start(&document.text, invalid.line);
                let line = document.text.get(start..end).unwrap_or_default();
                let end = start.saturating_add(line.trim_end().len());
                vec![Finding::about_file(start..end, Severity::Error, invalid.message)]
            }
        },
        Format::Policy => policy(document, &text),
    }
}

fn policy(document: &Document, text: &str) -> Vec<Finding> {
    let name = document.name();
    let checked = document.policies.check(&name, text, document.base());
    let found: Vec<(String, Diagnostic)> = match &checked {
        Ok(policy) => policy.warnings().map(|(file, found)| (file.to_owned(), found)).collect(),
        Err(error) => error.diagnostics().map(|(file, found)| (file.to_owned(), found)).collect(),
    };
    let is_elsewhere = found.iter().any(|(file, _)| *file != name);
    let outline =
        is_elsewhere.then(|| Outline::with_loader(&name, text, document.base(), &document.policies)).flatten();
    let includes = outline.map(|outline| outline.includes).unwrap_or_default();
    let placed = |(file, diagnostic): (String, Diagnostic)| {
        if file == name {
            return Finding::here(diagnostic);
        }
        // A file that an included file includes is shown at the first entry.
        let path = PathBuf::from(file);
        let entry = includes.iter().find(|(included, _)| *included == path).or(includes.first());
        let place = entry.map_or(0..0, |(_, range)| range.clone());
        let elsewhere = Some((path, diagnostic.span));
        Finding { diagnostic: Diagnostic { span: span_of(&place), labels: Vec::new(), ..diagnostic }, elsewhere }
    };
    found.into_iter().map(placed).collect()
}

/// The files besides a document that its findings are about. Each is read once.
#[derive(Default)]
pub(crate) struct OtherFiles(HashMap<PathBuf, (String, LineIndex)>);

impl OtherFiles {
    fn range(&mut self, path: &Path, span: Span) -> lsp_types::Range {
        let (text, lines) = self.0.entry(path.to_owned()).or_insert_with(|| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let lines = LineIndex::new(&text);
            (text, lines)
        });
        lines.range(text, span.start as usize..span.end as usize)
    }
}

/// Returns a finding in the form of the protocol. The message has the help below it.
pub(crate) fn shown(finding: &Finding, document: &Document, uri: &lsp_types::Uri, others: &mut OtherFiles) -> Shown {
    let Finding { diagnostic, elsewhere } = finding;
    let range = |span: Span| document.lines.range(&document.text, span.start as usize..span.end as usize);
    let mut message = diagnostic.message.clone();
    for help in &diagnostic.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    let related = |label: &celero::diagnostics::Label| DiagnosticRelatedInformation {
        location: Location { uri: uri.clone(), range: range(label.span) },
        message: label.text.clone(),
    };
    let mut related: Vec<DiagnosticRelatedInformation> = diagnostic.labels.iter().map(related).collect();
    if let Some((path, span)) = elsewhere {
        message = format!("in {}: {message}", path.display());
        let range = others.range(path, *span);
        related.extend(uri::of_path(path).map(|uri| DiagnosticRelatedInformation {
            location: Location { uri, range },
            message: diagnostic.message.clone(),
        }));
    }
    Shown {
        range: range(diagnostic.span),
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(diagnostic.code.to_owned())),
        source: Some("celero".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Shown::default()
    }
}
