//! Document symbols: the rules of a file by name; phases, rules and definitions of a policy.

use crate::documents::document::{Document, Kind};
use celero_policy::{Outline, Phase, PolicyRule};
use celero_tooling::rules::file::RulesFile;
use celero_tooling::rules::source::Format;
use lsp_types::{DocumentSymbol, SymbolKind};
use std::ops::Range;

/// Returns the symbols of a document, in its order.
pub(crate) fn symbols(document: &Document) -> Vec<DocumentSymbol> {
    let Kind::Rules { text, start } = document.kind() else { return Vec::new() };
    let symbol = |name: String, detail: String, kind, range: Range<usize>, selection: Range<usize>| {
        let moved = |range: Range<usize>| range.start.saturating_add(start)..range.end.saturating_add(start);
        symbol(document, name, detail, kind, moved(range), moved(selection))
    };
    match text.format {
        Format::Cel => Vec::new(),
        Format::Rules => {
            let Ok(file) = RulesFile::parse(document.name(), text.text, text.language) else { return Vec::new() };
            let mut rules = file.rules;
            rules.sort_by_key(|rule| rule.head);
            let symbol = |rule: celero_tooling::rules::file::Rule| {
                let selection = rule.head..rule.head.saturating_add(rule.name.len());
                let end = rule.end.max(selection.end);
                symbol(rule.name, rule.tags.join(", "), SymbolKind::FUNCTION, rule.head..end, selection)
            };
            rules.into_iter().map(symbol).collect()
        }
        Format::Policy => {
            let Some(outline) = Outline::with_loader(&document.name(), &text.text, document.base(), &document.policies)
            else {
                return Vec::new();
            };
            let definitions = outline.definitions.iter().filter(|definition| definition.file.is_none());
            let mut found: Vec<DocumentSymbol> = definitions
                .map(|definition| {
                    let kind = if definition.is_function { SymbolKind::FUNCTION } else { SymbolKind::CONSTANT };
                    let range = definition.range.clone();
                    symbol(definition.name.clone(), definition.declaration.clone(), kind, range.clone(), range)
                })
                .collect();
            for phase in Phase::ALL {
                let rules: Vec<&PolicyRule> = outline.rules.iter().filter(|rule| rule.phase == phase).collect();
                let (Some(first), Some(last)) = (rules.first(), rules.last()) else { continue };
                let range = first.range.start..last.range.end;
                let mut of_phase =
                    symbol(phase.name().to_owned(), String::new(), SymbolKind::NAMESPACE, range.clone(), range);
                let rule = |(number, rule): (usize, &&PolicyRule)| {
                    let name = rule.name.clone().unwrap_or_else(|| format!("rule {}", number.saturating_add(1)));
                    let selection = if rule.name.is_some() { rule.name_range.clone() } else { rule.range.clone() };
                    symbol(name, String::new(), SymbolKind::FUNCTION, rule.range.clone(), selection)
                };
                of_phase.children = Some(rules.iter().enumerate().map(rule).collect());
                found.push(of_phase);
            }
            found.sort_by_key(|symbol| symbol.range.start);
            found
        }
    }
}

fn symbol(
    document: &Document,
    name: String,
    detail: String,
    kind: SymbolKind,
    range: Range<usize>,
    selection: Range<usize>,
) -> DocumentSymbol {
    // Line ends behind a symbol are no part of it.
    let length = document.text.get(range.clone()).map_or(0, |text| text.trim_end().len());
    let end = range.start.saturating_add(length).max(selection.end);
    let range = range.start.min(selection.start)..end;
    #[expect(deprecated, reason = "the field must be given")]
    DocumentSymbol {
        name,
        detail: (!detail.is_empty()).then_some(detail),
        kind,
        tags: None,
        deprecated: None,
        range: document.lines.range(&document.text, range),
        selection_range: document.lines.range(&document.text, selection),
        children: None,
    }
}
