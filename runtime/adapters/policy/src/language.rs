//! The languages of a policy's expressions.

use celero::{TextPiece, Type};
use std::fmt::Write;

/// The language of the expressions of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// CEL.
    #[default]
    Cel,
    /// Cloudflare's filter language.
    Filter,
}

impl Language {
    /// The words of the key `language`.
    pub(crate) const NAMES: &'static [&'static str] = &["cel", "filter"];

    /// Returns the word of the key `language`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cel => "cel",
            Self::Filter => "filter",
        }
    }

    /// The language of a word.
    pub(crate) fn named(word: &str) -> Option<Self> {
        match word {
            "cel" => Some(Self::Cel),
            "filter" => Some(Self::Filter),
            _ => None,
        }
    }
}

/// Whether a value of the filter language has a text.
pub(crate) fn has_text(ty: &Type) -> bool {
    matches!(ty, Type::Bytes | Type::Int | Type::Bool | Type::Opaque(..))
}

/// An expression of the filter language for the text of these pieces, one after the other. Missing values have no text.
pub(crate) fn filter_text(pieces: &[TextPiece<'_>]) -> String {
    let written: Vec<String> = pieces
        .iter()
        .map(|piece| match piece {
            TextPiece::Literal(text) => quoted(text),
            TextPiece::Result(rule) if *rule.result_type() == Type::Bytes => rule.source().trim().to_owned(),
            // As an argument, conditions that are joined have parentheses.
            TextPiece::Result(rule) if *rule.result_type() == Type::Bool => {
                format!("to_string(({}))", rule.source().trim())
            }
            TextPiece::Result(rule) => format!("to_string({})", rule.source().trim()),
        })
        .collect();
    match written.as_slice() {
        [only] => only.clone(),
        all => format!("concat({})", all.join(", ")),
    }
}

/// A literal of the filter language.
fn quoted(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => literal.extend(['\\', character]),
            // Line breaks are easier to read as escapes.
            '\n' | '\r' => {
                let _ = write!(literal, "\\x{:02x}", u32::from(character));
            }
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero::filter::FilterLanguage;
    use celero::{Bindings, Engine, Env, Scratch, Tier, Value};

    /// Expressions of each kind, and their texts.
    const EXPRESSIONS: &[(&str, &str)] = &[
        ("b", "x\"y"),
        (" b\n", "x\"y"),
        ("i", "-7"),
        ("t", "true"),
        ("not t", "false"),
        ("t and not t", "false"),
        ("not t or t", "true"),
        ("t xor t", "false"),
        ("(t)", "true"),
        ("not (t and (not t or t))", "false"),
        ("i eq -7", "true"),
        ("i bitwise_and 1", "true"),
        ("i in {1..3 -7}", "true"),
        ("b contains \"\\\"\"", "true"),
        ("b matches r\"^x(\\W{1})?y$\"", "true"),
        ("b matches \"^x[\"]y$\"", "true"),
        ("b wildcard \"X*\"", "true"),
        ("b strict wildcard \"X*\"", "false"),
        ("b in {\"a, b)\" \"${\"}", "false"),
        ("lower(b)", "x\"y"),
        ("upper( b )", "X\"Y"),
        ("concat(b, \", \\\\ ) \", b)", "x\"y, \\ ) x\"y"),
        ("len(b)", "3"),
        ("regex_replace(b, r\"x(.)(.)?(.{2})?\", \"<${2}>\")", "<y>"),
        ("starts_with(b, \"x\")", "true"),
        ("to_string(i)", "-7"),
        ("l[1]", "two"),
        ("l[9]", ""),
        ("any(l[*] eq \"two\")", "true"),
    ];

    #[test]
    fn texts_of_templates_are_those_of_their_expressions() {
        let env = Env::dynamic()
            .variable("b", Type::Bytes)
            .variable("i", Type::Int)
            .variable("t", Type::Bool)
            .variable("l", Type::list(Type::Bytes))
            .filter_language(FilterLanguage::new());
        let engine = Engine::builder().tier(Tier::Interpret).build();
        let list = [Value::Bytes(b"one"), Value::Bytes(b"two")];
        let mut bindings = Bindings::new(&env);
        bindings.set("b", Value::Bytes(b"x\"y")).unwrap();
        bindings.set("i", Value::Int(-7)).unwrap();
        bindings.set("t", Value::Bool(true)).unwrap();
        bindings.set("l", Value::List(celero::List::Slice(&list))).unwrap();
        let text = |pieces: &[TextPiece<'_>]| {
            let source = filter_text(pieces);
            let program = engine.compile(&env, &source).unwrap_or_else(|error| panic!("{source}\n{error}"));
            let mut scratch = Scratch::new();
            match program.eval(&bindings, &mut scratch) {
                Ok(Value::Bytes(text)) => String::from_utf8(text.to_vec()).unwrap(),
                Err(error) if error.kind == celero::ErrorKind::NoSuchKey => String::new(),
                other => panic!("{source}: {other:?}"),
            }
        };
        let around = "\\ \", (${\n\t) é\u{0}";
        for (source, expected) in EXPRESSIONS {
            let rule = engine.check(&env, source).unwrap_or_else(|error| panic!("{source}\n{error}"));
            let (piece, literal) = (TextPiece::Result(&rule), TextPiece::Literal(around));
            assert_eq!(text(&[piece]), *expected, "{source}");
            assert_eq!(text(&[literal, piece, piece]), format!("{around}{expected}{expected}"), "{source}");
            assert_eq!(text(&[piece, literal]), format!("{expected}{around}"), "{source}");
        }
    }
}
