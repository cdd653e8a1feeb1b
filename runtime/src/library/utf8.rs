//! Bytes of the host as text.

use crate::arena::{Arena, EvalResult};
use celero_ir::ErrorKind;

/// Returns bytes as text, with each invalid sequence replaced by U+FFFD. Valid UTF-8 is borrowed.
///
/// # Errors
/// `out_of_budget` when the replaced text does not fit into the arena.
#[inline]
pub(crate) fn lossy<'a>(bytes: &'a [u8], arena: &'a Arena) -> EvalResult<&'a str> {
    match celero_matching::ascii_str(bytes) {
        Some(text) => Ok(text),
        None => lossy_beyond_ascii(bytes, arena),
    }
}

#[inline(never)]
fn lossy_beyond_ascii<'a>(bytes: &'a [u8], arena: &'a Arena) -> EvalResult<&'a str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text);
    }
    let mut text = arena.vec();
    text.reserve(bytes.len())?;
    for chunk in bytes.utf8_chunks() {
        text.extend(chunk.valid().as_bytes())?;
        if !chunk.invalid().is_empty() {
            text.extend("\u{fffd}".as_bytes())?;
        }
    }
    std::str::from_utf8(text.finish()).map_err(|_| ErrorKind::InvalidArgument)
}
