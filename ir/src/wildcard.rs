//! Wildcard patterns, as [`Op::WildcardConst`](crate::Op::WildcardConst) matches them.

use crate::quoted;
use std::fmt;
use std::sync::Arc;

/// A wildcard pattern: texts with stars between them, each of which stands for any bytes. It matches a whole value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wildcard {
    /// What stands between the stars: one more than there are stars. In lower case unless the pattern is strict.
    pub pieces: Arc<[Arc<[u8]>]>,
    /// Whether ASCII letters match in their own case only.
    pub strict: bool,
}

impl Wildcard {
    /// A pattern of these pieces. Unless it is `strict` they are put into lower case.
    #[must_use]
    pub fn new<'p>(pieces: impl IntoIterator<Item = &'p [u8]>, strict: bool) -> Self {
        let fold = |piece: &[u8]| if strict { piece.into() } else { piece.to_ascii_lowercase().into() };
        Self { pieces: pieces.into_iter().map(fold).collect(), strict }
    }

    /// The pieces before and after the only star, the second `None` without a star. `None` for a
    /// pattern with several stars.
    #[must_use]
    pub fn ends(&self) -> Option<(&[u8], Option<&[u8]>)> {
        match &*self.pieces {
            [whole] => Some((whole, None)),
            [start, end] => Some((start, Some(end))),
            _ => None,
        }
    }

    /// Whether it has a piece, and its pieces are in lower case if they have to be.
    pub(crate) fn is_valid(&self) -> bool {
        let lower = |piece: &Arc<[u8]>| !piece.iter().any(u8::is_ascii_uppercase);
        !self.pieces.is_empty() && (self.strict || self.pieces.iter().all(lower))
    }
}

impl fmt::Display for Wildcard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.strict { "strict [" } else { "[" })?;
        for (index, piece) in self.pieces.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            quoted::text_or_bytes(f, piece)?;
        }
        f.write_str("]")
    }
}
