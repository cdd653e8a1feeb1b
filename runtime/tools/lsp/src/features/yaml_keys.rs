//! The keys of policies: hover and completion from the tables of `celero-policy`.

use crate::cursor::yaml_path::YamlPath;
use crate::documents::document::Document;
use celero_policy::Outline;
use celero_policy::schema::{KeySpec, ValueSpec};
use lsp_types::{CompletionItem, CompletionItemKind, Documentation};
use std::ops::Range;

/// Returns what a key at a place is for, or where the definition at a place is used.
pub(crate) fn hover(document: &Document, outline: &Outline, offset: usize) -> Option<(Range<usize>, String)> {
    let text = &*document.text;
    let line = document.lines.line_of(offset);
    let start = document.lines.line_start(text, line);
    let end = document.lines.line_start(text, line.saturating_add(1));
    let content = text.get(start..end)?;
    if let Some(definition) = outline
        .definitions
        .iter()
        .find(|found| found.file.is_none() && (found.range.start..=found.range.end).contains(&offset))
    {
        let what = if definition.is_function { "Function" } else { "Variable" };
        let text = format!(
            "```cel\n{} = {}\n```\n\n{what} of this policy: `{}`.",
            definition.declaration,
            definition.body.trim(),
            definition.name
        );
        return Some((definition.range.clone(), text));
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let at = offset.checked_sub(start)?;
    let first = content.get(..at)?.trim_end_matches(is_part).len();
    let rest = content.get(first..)?;
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let key = rest.get(..length)?;
    if !rest.get(length..)?.starts_with(':') {
        return None;
    }
    let range = start.saturating_add(first)..start.saturating_add(first).saturating_add(length);
    let path = YamlPath::at_end(&format!("{}{key}: ", text.get(..range.start)?));
    let spec = path.key_spec()?;
    Some((range, description(spec)))
}

fn description(spec: &'static KeySpec) -> String {
    let required = if spec.required { " Required." } else { "" };
    let words = match words(&spec.value) {
        words if words.is_empty() => String::new(),
        words => format!("\n\nOne of `{}`.", words.join("`, `")),
    };
    format!("**{}**\n\n{}{required}{words}", spec.name, spec.description)
}

fn words(spec: &'static ValueSpec) -> Vec<&'static str> {
    match spec {
        ValueSpec::Word(words) => words.to_vec(),
        ValueSpec::KnownWord(words) => words(),
        ValueSpec::OneOf(specs) => specs.iter().flat_map(words).collect(),
        _ => Vec::new(),
    }
}

/// Returns the keys or the words that may stand at a cursor.
pub(crate) fn completion(path: &YamlPath) -> Vec<CompletionItem> {
    if path.key.is_some() {
        let words = path.values().into_iter().flat_map(|value| match value {
            ValueSpec::Word(words) => words.to_vec(),
            ValueSpec::KnownWord(words) => words(),
            ValueSpec::True => vec!["true"],
            ValueSpec::Bool => vec!["true", "false"],
            _ => Vec::new(),
        });
        let item = |word: &str| CompletionItem {
            label: word.to_owned(),
            kind: Some(CompletionItemKind::ENUM_MEMBER),
            ..CompletionItem::default()
        };
        return words.map(item).collect();
    }
    let item = |key: &'static KeySpec| CompletionItem {
        label: key.name.to_owned(),
        kind: Some(CompletionItemKind::PROPERTY),
        detail: key.required.then(|| "required".to_owned()),
        documentation: Some(Documentation::String(key.description.to_owned())),
        insert_text: Some(format!("{}: ", key.name)),
        ..CompletionItem::default()
    };
    path.keys().into_iter().map(item).collect()
}
