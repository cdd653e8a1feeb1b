//! Text and bytes: concatenation, comparison, size, `contains`, `startsWith`, `endsWith`.

use crate::arena::EvalResult;
use crate::cx::Cx;
use crate::library::utf8::lossy;
use celero_ir::ErrorKind;

/// `a + b`
pub(crate) fn string_add<'a>(cx: &Cx<'a>, a: &'a str, b: &'a str) -> EvalResult<&'a str> {
    match (a, b) {
        (all, "") | ("", all) => Ok(all),
        _ => std::str::from_utf8(bytes_add(cx, a.as_bytes(), b.as_bytes())?).map_err(|_| ErrorKind::InvalidArgument),
    }
}

/// `a + b`
pub(crate) fn bytes_add<'a>(cx: &Cx<'a>, a: &'a [u8], b: &'a [u8]) -> EvalResult<&'a [u8]> {
    let length = a.len().saturating_add(b.len());
    cx.charge((length / 64).saturating_add(1))?;
    let mut both = cx.arena().vec();
    both.reserve(length)?;
    both.extend(a)?;
    both.extend(b)?;
    Ok(both.finish())
}

/// Returns the number of code points.
#[inline]
pub(crate) fn string_size<'a>(cx: &Cx<'a>, text: &'a str) -> EvalResult<i64> {
    cx.charge_bytes(text.len())?;
    Ok(length(text.chars().count()))
}

/// Returns the number of bytes.
#[inline]
pub(crate) fn bytes_size<'a>(_: &Cx<'a>, bytes: &'a [u8]) -> i64 {
    length(bytes.len())
}

/// Returns a length as an `int`. No object in memory is longer than `i64::MAX`.
#[inline]
pub(crate) fn length(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Longest text in bytes that is searched without preparing a searcher.
const MAX_SIMPLE_SEARCH: usize = 512;

/// Longest needle in bytes that is searched for in blocks, whatever the text.
const MAX_BLOCK_NEEDLE: usize = 32;

/// Charges the budget for preparing a search and searching.
#[inline]
fn charge_search(cx: &Cx<'_>, text: usize, needle: usize) -> EvalResult<()> {
    if needle <= MAX_BLOCK_NEEDLE {
        cx.charge_bytes(text.saturating_add(needle))
    } else {
        cx.charge_each_byte((text / 2).saturating_add(needle))
    }
}

/// `text.contains(needle)`
#[inline]
pub(crate) fn string_contains<'a>(cx: &Cx<'a>, text: &'a str, needle: &'a str) -> EvalResult<bool> {
    if needle.len() > text.len() {
        return Ok(false);
    }
    charge_search(cx, text.len(), needle.len())?;
    // Preparing `memmem` takes longer than searching a short text; on long texts it is faster by far.
    Ok(if text.len() <= MAX_SIMPLE_SEARCH {
        text.contains(needle)
    } else {
        memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some()
    })
}

/// Takes what reading these bytes costs from the budget, unless nothing reads that.
#[inline]
fn spend_bytes(cx: Option<&Cx<'_>>, bytes: usize) {
    if let Some(cx) = cx {
        cx.spend_bytes(bytes);
    }
}

/// `text.startsWith(prefix)`, for bytes too.
#[inline]
pub(crate) fn bytes_starts_with<'a>(cx: Option<&Cx<'a>>, bytes: &'a [u8], prefix: &'a [u8]) -> bool {
    spend_bytes(cx, prefix.len());
    bytes.starts_with(prefix)
}

/// `text.endsWith(suffix)`, for bytes too.
#[inline]
pub(crate) fn bytes_ends_with<'a>(cx: Option<&Cx<'a>>, bytes: &'a [u8], suffix: &'a [u8]) -> bool {
    spend_bytes(cx, suffix.len());
    bytes.ends_with(suffix)
}

/// `a == b`, for text too.
#[inline]
pub(crate) fn bytes_equal<'a>(cx: Option<&Cx<'a>>, a: &'a [u8], b: &'a [u8]) -> bool {
    spend_bytes(cx, a.len().min(b.len()));
    a == b
}

/// Compares bytes and returns -1, 0 or 1. UTF-8 text is ordered by its code points.
#[inline]
pub(crate) fn bytes_compare<'a>(cx: Option<&Cx<'a>>, a: &'a [u8], b: &'a [u8]) -> i64 {
    spend_bytes(cx, a.len().min(b.len()));
    i64::from(a.cmp(b) as i8)
}

/// Returns bytes of the host as text, with each invalid sequence replaced by U+FFFD. Valid UTF-8 is not copied.
#[inline]
pub(crate) fn text_decode<'a>(cx: &Cx<'a>, text: &'a [u8]) -> EvalResult<&'a str> {
    cx.charge_bytes(text.len())?;
    lossy(text, cx.arena())
}
