//! Wildcard patterns that are prepared before the evaluation.

use crate::arena::EvalResult;
use crate::cx::Cx;
use celero_matching::Wildcard;

/// Prepares the pattern of a constant.
pub(crate) fn prepared_wildcard(wildcard: &celero_ir::Wildcard) -> Wildcard {
    Wildcard::new(wildcard.pieces.iter().map(|piece| &**piece), wildcard.strict)
}

/// Whether a pattern matches all of the bytes.
#[inline]
pub(crate) fn wildcard_found(cx: &Cx<'_>, wildcard: &Wildcard, bytes: &[u8]) -> EvalResult<bool> {
    wildcard.matches(bytes, cx)
}
