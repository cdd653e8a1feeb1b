//! The names of variables: CEL identifiers, separated by dots (language definition, "Syntax").

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Error, Ident, Result};

/// Words that are never identifiers. The lexer of `celero-frontend` decides; a procedural macro can't depend on it.
const KEYWORDS: [&str; 4] = ["false", "in", "null", "true"];

/// Words that are identifiers only after a dot.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// How the name of a variable is derived from the name of its field.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Snake,
    Camel,
    Pascal,
}

impl Case {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "snake_case" => Some(Self::Snake),
            "camelCase" => Some(Self::Camel),
            "PascalCase" => Some(Self::Pascal),
            _ => None,
        }
    }

    pub(crate) fn apply(self, field: &str) -> String {
        let mut upper = match self {
            Self::Snake => return field.to_owned(),
            Self::Camel => false,
            Self::Pascal => true,
        };
        let mut name = String::new();
        for letter in field.chars() {
            if letter == '_' {
                upper = upper || !name.is_empty();
            } else {
                name.push(if upper { letter.to_ascii_uppercase() } else { letter });
                upper = false;
            }
        }
        name
    }
}

/// Returns a field's identifier without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    ident.unraw().to_string()
}

pub(crate) fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

/// Returns a name if rules can mention it.
pub(crate) fn checked(name: String, span: Span) -> Result<String> {
    for (position, segment) in name.split('.').enumerate() {
        let mut letters = segment.bytes();
        let starts = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == b'_');
        if !starts || !letters.all(|c| c.is_ascii_alphanumeric() || c == b'_') {
            let text = format!("`{name}` can't be the name of a variable: `{segment}` is not a CEL identifier");
            return Err(Error::new(span, text));
        }
        if KEYWORDS.contains(&segment) || (position == 0 && RESERVED.contains(&segment)) {
            let text = format!("`{name}` can't be the name of a variable: `{segment}` is a reserved word of CEL");
            return Err(Error::new(span, text));
        }
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_of_the_front_end() {
        assert_eq!(KEYWORDS, celero_frontend::cel::KEYWORDS);
        assert_eq!(RESERVED, celero_frontend::cel::RESERVED);
    }

    #[test]
    fn cases_drop_underscores_and_keep_the_rest() {
        for (field, camel, pascal) in
            [("path_and_query", "pathAndQuery", "PathAndQuery"), ("ip", "ip", "Ip"), ("_a__b", "aB", "AB")]
        {
            assert_eq!(Case::Camel.apply(field), camel);
            assert_eq!(Case::Pascal.apply(field), pascal);
            assert_eq!(Case::Snake.apply(field), field);
        }
    }
}
