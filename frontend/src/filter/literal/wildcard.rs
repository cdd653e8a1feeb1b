//! Wildcard patterns: `*` stands for any bytes, `\*` and `\\` for themselves. `?` is an ordinary character.

use super::bytes::BytesLiteral;
use super::scanner::{Read, Scanner, fault, fault_with_help, span};
use crate::filter::codes;
use std::fmt;
use std::sync::Arc;

/// A wildcard pattern, split at its stars. It matches a whole value, never a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wildcard {
    /// The pattern as written.
    pub pattern: BytesLiteral,
    pieces: Arc<[Box<[u8]>]>,
}

impl Wildcard {
    /// The texts between the stars: one more than there are stars. The first begins the value and the last ends it.
    #[must_use]
    pub fn pieces(&self) -> &[Box<[u8]>] {
        &self.pieces
    }

    /// Reads a pattern from a literal.
    ///
    /// # Errors
    ///
    /// What is wrong with the pattern.
    pub fn new(pattern: BytesLiteral, most_stars: Option<u32>) -> Result<Self, InvalidWildcard> {
        let mut pieces = vec![Vec::new()];
        let mut after_star = false;
        let mut bytes = pattern.value.iter().enumerate();
        while let Some((at, &byte)) = bytes.next() {
            if byte == b'*' {
                if after_star {
                    return Err(InvalidWildcard::DoubleStar);
                }
                pieces.push(Vec::new());
                after_star = true;
                continue;
            }
            after_star = false;
            let byte = match byte {
                b'\\' => match bytes.next() {
                    Some((_, &escaped @ (b'*' | b'\\'))) => escaped,
                    _ => return Err(InvalidWildcard::Escape(at)),
                },
                byte => byte,
            };
            if let Some(piece) = pieces.last_mut() {
                piece.push(byte);
            }
        }
        let stars = u32::try_from(pieces.len().saturating_sub(1)).unwrap_or(u32::MAX);
        match most_stars {
            Some(limit) if stars > limit => Err(InvalidWildcard::Stars { count: stars, limit }),
            _ => Ok(Self { pattern, pieces: pieces.into_iter().map(Vec::into_boxed_slice).collect() }),
        }
    }
}

/// Why a text is not a wildcard pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidWildcard {
    /// `**`
    DoubleStar,
    /// A backslash at this byte that is followed neither by `*` nor by `\`.
    Escape(usize),
    /// More stars than allowed.
    Stars {
        /// How many there are.
        count: u32,
        /// How many are allowed.
        limit: u32,
    },
}

impl fmt::Display for InvalidWildcard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DoubleStar => f.write_str("wildcard contains a double star"),
            Self::Escape(at) => write!(f, "invalid wildcard: expected `*` or `\\` after the `\\` at byte {at}"),
            Self::Stars { count, limit } => {
                write!(f, "wildcard has {count} star metacharacters, but the limit is {limit}")
            }
        }
    }
}

impl std::error::Error for InvalidWildcard {}

impl Scanner<'_> {
    /// Reads a wildcard pattern.
    pub(crate) fn wildcard(&mut self, most_stars: Option<u32>) -> Read<Wildcard> {
        let start = self.at();
        let literal = self.text_literal()?;
        let place = span(start, self.at());
        Wildcard::new(literal, most_stars).map_err(|invalid| match invalid {
            InvalidWildcard::DoubleStar => {
                fault_with_help(codes::WILDCARD, place, invalid.to_string(), "one star already stands for any text")
            }
            InvalidWildcard::Escape(_) => {
                let help =
                    "a backslash of the pattern is written `\\\\` in a raw string and `\\\\\\\\` in a quoted one";
                fault_with_help(codes::WILDCARD, place, invalid.to_string(), help)
            }
            InvalidWildcard::Stars { .. } => fault(codes::WILDCARD, place, invalid.to_string()),
        })
    }
}
