//! Texts that were meant as several ones, `"GET,HEAD"` and `"GET|HEAD"`, and that a field is compared with as they are.

use super::excluded::{Place, excluded_text};
use super::{ALTERNATIVES_AS_TEXT, Lint};
use celero_frontend::{NodeId, alternatives};
use celero_ir::{Domain, Never, TextDomain};

/// What is said of such a text.
pub(crate) fn as_text(text: &str) -> String {
    let separator = if text.contains(',') { ',' } else { '|' };
    format!("this is compared as one text: `{separator}` separates nothing here")
}

/// Returns the texts that were probably meant by one that a field with this domain has in this place; `None` if the
/// text was.
pub(crate) fn alternatives_meant<'t>(domain: &Domain, place: Place, text: &'t str) -> Option<Vec<&'t str>> {
    let parts = alternatives(text).filter(|_| place == Place::Whole)?;
    parts.iter().all(|part| is_value(domain, part)).then_some(parts)
}

/// Whether a text is a value of a domain of which a text with a comma or a bar is none in practice.
fn is_value(domain: &Domain, part: &str) -> bool {
    let Domain::Text(TextDomain { begins, never, .. }) = domain else {
        return !matches!(domain, Domain::Range(..)) && excluded_text(domain, Place::Whole, part.as_bytes()).is_none();
    };
    let is_in_form = if *begins == "/" {
        part.starts_with('/') && part.len() > 1
    } else if never.contains(&Never::LowerCase) {
        part.len() > 2 && part.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-')
    } else if never.contains(&Never::Port) {
        part.contains('.')
    } else {
        let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-./+".contains(&byte);
        never.contains(&Never::UpperCase) && part.bytes().all(is_lower)
    };
    is_in_form && excluded_text(domain, Place::Whole, part.as_bytes()).is_none()
}

impl Lint<'_> {
    /// Warns about such a text, which is a node: an operand of the comparison `id`, or an element of a list if it is
    /// that itself.
    pub(super) fn several(&mut self, id: NodeId, field: NodeId, text: (NodeId, &str), parts: &[&str], negated: bool) {
        let (node, text) = text;
        let list = parts.iter().map(|part| format!("\"{part}\"")).collect::<Vec<_>>().join(", ");
        let field = self.source(field);
        let help = match (id == node, negated) {
            (true, _) => format!("write `{list}`"),
            (false, false) => format!("write `{field} in [{list}]`"),
            (false, true) => format!("write `!({field} in [{list}])`"),
        };
        self.warn(ALTERNATIVES_AS_TEXT, self.ast.span(node), as_text(text), &help);
    }
}
