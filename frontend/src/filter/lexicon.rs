//! The words of the filter language, for editors.

use super::words::FILTER_WORDS;
use crate::lexicon::{Lexicon, quoted_text};

/// The words of the filter language.
pub const FILTER_LEXICON: Lexicon = Lexicon::new(FILTER_WORDS, None, text);

fn text(rest: &str) -> Option<(usize, bool)> {
    if let Some(raw) = rest.strip_prefix('r') {
        let marks = raw.len().saturating_sub(raw.trim_start_matches('#').len());
        if let Some(body) = raw.get(marks..).and_then(|raw| raw.strip_prefix('"')) {
            let end = format!("\"{}", "#".repeat(marks));
            let start = rest.len().saturating_sub(body.len());
            let found = body.find(&end).map(|at| start.saturating_add(at).saturating_add(end.len()));
            return Some((found.unwrap_or(rest.len()), found.is_some()));
        }
    }
    quoted_text(rest)
}
