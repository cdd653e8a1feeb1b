//! Go to definition: from a name to where a policy defines it, from a macro's variable to where it is declared.

use crate::checks::environment::Checks;
use crate::checks::scope::Scope;
use crate::cursor::locals::locals;
use crate::documents::document::Document;
use crate::documents::line_index::LineIndex;
use crate::documents::region::Regions;
use crate::documents::uri;
use crate::features::hover::path_at;
use celero_policy::PolicyDefinition;
use lsp_types::{Location, Uri};

/// Returns where the name at a place is defined.
pub(crate) fn definition(document: &Document, uri: &Uri, offset: usize, checks: &dyn Checks) -> Option<Location> {
    let regions = Regions::of(document);
    let (region, at) = regions.at(offset)?;
    let outline = regions.outline.as_ref();
    let is_defined = |name: &str| outline.is_some_and(|outline| outline.definitions.iter().any(|d| d.name == name));
    let (range, path) = path_at(&region.source, region.language, at, is_defined)?;
    if region.language.is_default() {
        let first = path.split('.').next().unwrap_or(path);
        let scope = Scope::of(region, outline, checks);
        let (locals, _) = locals(region.source.get(..range.start)?, &scope.declarations);
        if let Some(local) = locals.iter().rev().find(|local| local.name == first) {
            let range = document.lines.range(&document.text, region.range(local.declared.clone()));
            return Some(Location { uri: uri.clone(), range });
        }
    }
    let outline = outline?;
    // The last segment is the name of a function that is called on a value.
    let last = path.rsplit('.').next().unwrap_or(path);
    let is_it = |definition: &&PolicyDefinition| {
        let called_on = definition.is_function && definition.name.rsplit('.').next() == Some(last);
        definition.name == path || called_on
    };
    let exact = outline.definitions.iter().find(|definition| definition.name == path);
    let found = exact.or_else(|| outline.definitions.iter().find(is_it))?;
    match (&found.file, &found.file_text) {
        (Some(file), Some(text)) => {
            let range = LineIndex::new(text).range(text, found.range.clone());
            Some(Location { uri: uri::of_path(file)?, range })
        }
        _ => {
            let start = if document.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
            let range = found.range.start.saturating_add(start)..found.range.end.saturating_add(start);
            Some(Location { uri: uri.clone(), range: document.lines.range(&document.text, range) })
        }
    }
}
