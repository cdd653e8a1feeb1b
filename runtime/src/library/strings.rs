//! Text and bytes.

use crate::arena::{Arena, EvalResult};
use crate::library::Cx;
use celero_ir::ErrorKind;

pub(crate) fn string_add<'a>(cx: &Cx<'a>, a: &'a str, b: &'a str) -> EvalResult<&'a str> {
    match (a, b) {
        (all, "") | ("", all) => Ok(all),
        _ => std::str::from_utf8(bytes_add(cx, a.as_bytes(), b.as_bytes())?).map_err(|_| ErrorKind::InvalidArgument),
    }
}

pub(crate) fn bytes_add<'a>(cx: &Cx<'a>, a: &'a [u8], b: &'a [u8]) -> EvalResult<&'a [u8]> {
    let length = a.len().saturating_add(b.len());
    cx.charge_bytes(length)?;
    let mut both = cx.arena().vec();
    both.reserve(length)?;
    both.extend(a)?;
    both.extend(b)?;
    Ok(both.finish())
}

/// How many code points it has.
pub(crate) fn string_size<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<i64> {
    cx.charge_bytes(text.len())?;
    Ok(length(text.chars().count()))
}

pub(crate) fn bytes_size<'a>(_: &Cx<'a>, bytes: &'a [u8]) -> i64 {
    length(bytes.len())
}

/// A length as CEL has it. No object in memory is longer than `i64::MAX`.
pub(crate) fn length(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Longest text that is searched without preparation, in bytes.
const SHORT: usize = 512;

pub(crate) fn string_contains<'a>(cx: &Cx<'a>, text: &'a str, needle: &'a str) -> EvalResult<bool> {
    cx.charge_bytes(text.len().saturating_add(needle.len()))?;
    // To get ready takes `memmem` longer than to search a short text; then it is the faster by far.
    Ok(if text.len() <= SHORT {
        text.contains(needle)
    } else {
        memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some()
    })
}

pub(crate) fn string_starts_with<'a>(cx: &Cx<'a>, text: &'a str, prefix: &'a str) -> bool {
    cx.spend_bytes(prefix.len());
    text.starts_with(prefix)
}

pub(crate) fn string_ends_with<'a>(cx: &Cx<'a>, text: &'a str, suffix: &'a str) -> bool {
    cx.spend_bytes(suffix.len());
    text.ends_with(suffix)
}

pub(crate) fn bytes_equal<'a>(cx: &Cx<'a>, a: &'a [u8], b: &'a [u8]) -> bool {
    cx.spend_bytes(a.len().min(b.len()));
    a == b
}

/// -1, 0 or 1. Text in UTF-8 has the order of its code points.
pub(crate) fn bytes_compare<'a>(cx: &Cx<'a>, a: &'a [u8], b: &'a [u8]) -> i64 {
    cx.spend_bytes(a.len().min(b.len()));
    i64::from(a.cmp(b) as i8)
}

/// The text of bytes from the host, each invalid sequence read as U+FFFD. Valid UTF-8 is not copied.
#[inline]
pub(crate) fn text_decode<'a>(cx: &Cx<'a>, text: &'a [u8]) -> EvalResult<&'a str> {
    cx.charge_bytes(text.len())?;
    lossy(text, cx.arena())
}

/// Bytes as text, each invalid sequence read as U+FFFD; borrowed where there is none.
///
/// # Errors
/// `out_of_budget` when the text must be built and does not fit the arena.
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
