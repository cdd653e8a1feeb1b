//! The words of CEL, for editors.

use crate::lexicon::Lexicon;

/// The words of CEL.
pub(super) const LEXICON: Lexicon =
    Lexicon::new(&[("true", ""), ("false", ""), ("null", ""), ("in", "")], Some("//"), text);

fn text(rest: &str) -> Option<(usize, bool)> {
    // At most two letters stand before the quote: looking further would take time quadratic in the source.
    let prefix = rest.bytes().take(3).position(|byte| matches!(byte, b'"' | b'\''))?;
    let letters = rest.get(..prefix)?;
    if !letters.chars().all(|c| matches!(c, 'r' | 'R' | 'b' | 'B')) {
        return None;
    }
    let raw = letters.contains(['r', 'R']);
    let body = rest.get(prefix..)?;
    let quote = body.get(..1)?;
    let long = quote.repeat(3);
    let mark = if body.starts_with(&long) { &*long } else { quote };
    let mut at = mark.len();
    while let Some(character) = body.get(at..).and_then(|rest| rest.chars().next()) {
        if body.get(at..).is_some_and(|rest| rest.starts_with(mark)) {
            return Some((prefix.saturating_add(at).saturating_add(mark.len()), true));
        }
        if character == '\n' && mark.len() == 1 {
            return Some((prefix.saturating_add(at), false));
        }
        at = at.saturating_add(character.len_utf8());
        if character == '\\' && !raw {
            at = at.saturating_add(body.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8));
        }
    }
    Some((rest.len(), false))
}
