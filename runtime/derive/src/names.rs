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

/// How a name is derived from the name of a field or of a variant.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Same,
    Lower,
    Upper,
    Snake,
    ScreamingSnake,
    Kebab,
    Camel,
    Pascal,
}

/// The cases of variables, made from fields in snake case.
pub(crate) const FIELD_CASES: &[(&str, Case)] =
    &[("snake_case", Case::Same), ("camelCase", Case::Camel), ("PascalCase", Case::Pascal)];

/// The cases of texts, made from variants in Pascal case.
pub(crate) const VARIANT_CASES: &[(&str, Case)] = &[
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("camelCase", Case::Camel),
    ("PascalCase", Case::Pascal),
];

impl Case {
    /// The name in this case. A word starts behind an underscore and at an upper case letter.
    pub(crate) fn apply(self, name: &str) -> String {
        match self {
            Self::Same => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Snake => Self::separated(name, '_').to_ascii_lowercase(),
            Self::ScreamingSnake => Self::separated(name, '_').to_ascii_uppercase(),
            Self::Kebab => Self::separated(name, '-').to_ascii_lowercase(),
            Self::Camel => Self::joined(name, false),
            Self::Pascal => Self::joined(name, true),
        }
    }

    fn separated(name: &str, separator: char) -> String {
        let mut result = String::new();
        for letter in name.chars() {
            let starts = letter.is_ascii_uppercase() && !result.is_empty() && !result.ends_with(separator);
            if starts {
                result.push(separator);
            }
            result.push(if letter == '_' { separator } else { letter });
        }
        result
    }

    fn joined(name: &str, mut upper: bool) -> String {
        let mut result = String::new();
        for letter in name.chars() {
            if letter == '_' {
                upper = upper || !result.is_empty();
            } else {
                let first = result.is_empty();
                result.push(match (upper, first) {
                    (true, _) => letter.to_ascii_uppercase(),
                    (false, true) => letter.to_ascii_lowercase(),
                    (false, false) => letter,
                });
                upper = false;
            }
        }
        result
    }
}

/// Joins alternatives for a message.
pub(crate) fn or(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
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
            assert_eq!(Case::Same.apply(field), field);
        }
    }

    #[test]
    fn variants_are_named_in_every_case() {
        let names = |variant| VARIANT_CASES.iter().map(|(_, case)| case.apply(variant)).collect::<Vec<_>>().join(" ");
        assert_eq!(names("HttpOnly"), "httponly HTTPONLY http_only HTTP_ONLY http-only httpOnly HttpOnly");
        assert_eq!(names("V2"), "v2 V2 v2 V2 v2 v2 V2");
        assert_eq!(names("A_b"), "a_b A_B a_b A_B a-b aB AB");
    }
}
