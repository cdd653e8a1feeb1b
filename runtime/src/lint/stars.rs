//! Texts with `*` that a path or a host is compared with as they are, where a pattern was probably meant.

use super::excluded::Place;
use super::{Lint, WILDCARD_AS_TEXT};
use celero_frontend::NodeId;
use celero_ir::{Domain, Never, TextDomain};

/// What is said of such a text.
pub(crate) const AS_TEXT: &str = "this is compared as text: `*` stands for itself here";

/// Returns the wildcard pattern that was probably meant by a text that a field with this domain has in this place;
/// `None` if the text was. The path `*` is that of `OPTIONS *`.
pub(crate) fn wildcard_meant(domain: &Domain, place: Place, part: &str) -> Option<String> {
    if !part.contains('*') || part == "*" {
        return None;
    }
    let Domain::Text(TextDomain { begins, never, .. }) = domain else { return None };
    if *begins != "/" && !never.contains(&Never::Port) {
        return None;
    }
    let mut pattern = String::new();
    let (before, after) = match place {
        Place::Whole => ("", ""),
        Place::Start => ("", "*"),
        Place::End => ("*", ""),
        Place::Anywhere => ("*", "*"),
    };
    // A pattern has no two stars in a row.
    for c in before.chars().chain(part.chars()).chain(after.chars()) {
        if c != '*' || !pattern.ends_with('*') {
            pattern.push(c);
        }
    }
    let is_plain = !pattern.contains(|c: char| c.is_control() || matches!(c, '"' | '\\' | '`'));
    is_plain.then_some(pattern)
}

impl Lint<'_> {
    /// Warns about such a text, which is a node.
    pub(super) fn star(&mut self, id: NodeId, field: NodeId, domain: &Domain, place: Place) {
        let Some(pattern) = self.text(id).and_then(|text| wildcard_meant(domain, place, &text)) else { return };
        let help = format!("write `{}.strictWildcard(\"{pattern}\")`", self.source(field));
        self.warn(WILDCARD_AS_TEXT, self.ast.span(id), AS_TEXT.to_owned(), &help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_become_patterns_of_the_whole_text() {
        let path = Domain::Text(TextDomain { begins: "/", never: &[], also: &["*"] });
        for (place, part, expected) in [
            (Place::Whole, "/api/*", Some("/api/*")),
            (Place::Whole, "/api/**", Some("/api/*")),
            (Place::Start, "/a*/b", Some("/a*/b*")),
            (Place::End, "*.php", Some("*.php")),
            (Place::Anywhere, "a*b", Some("*a*b*")),
            (Place::Whole, "*", None),
            (Place::Whole, "/api", None),
            (Place::Whole, "/a\"*", None),
        ] {
            assert_eq!(wildcard_meant(&path, place, part).as_deref(), expected, "{part}");
        }
        let other = Domain::Text(TextDomain { begins: "", never: &[Never::UpperCase], also: &[] });
        assert_eq!(wildcard_meant(&other, Place::Whole, "a*"), None);
    }
}
