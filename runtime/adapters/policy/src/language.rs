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
