//! Parses a whole document in one pass and reports its content to a [`Sink`].
//!
//! Whether a document is valid JSON does not depend on the sink. Nothing recurses.

use super::token::{Scalar, StringStops, Text, is_blank, number, slice, string, visible, word};
use crate::arena::EvalResult;
use crate::cx::Cx;
use celero_ir::ErrorKind::InvalidArgument;
use celero_matching::json_simd::{self, ScanTask, Scanner};

/// Deepest nesting of objects and arrays that is accepted.
pub(super) const MAX_DEPTH: usize = 128;

/// A kind of value that contains other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    Object,
    Array,
}

/// Receives the content of a document in document order. In an object, each key is reported before its value.
pub(super) trait Sink<'j> {
    /// The key of the next value.
    fn key(&mut self, key: Text<'j>) -> EvalResult<()>;
    /// A value that is not a container.
    fn scalar(&mut self, scalar: Scalar<'j>) -> EvalResult<()>;
    /// A container starts. Returns whether to report its content and then `close`; if not, it is
    /// validated and reported by `skipped`.
    fn open(&mut self, container: Container) -> bool;
    /// A container for which `open` returned false ends. `json` is its source text.
    fn skipped(&mut self, json: &'j [u8]);
    /// A container for which `open` returned true ends.
    fn close(&mut self, container: Container) -> EvalResult<()>;
}

/// Ignores the content: for text that is only validated.
struct ValidateOnly;

impl<'j> Sink<'j> for ValidateOnly {
    #[inline(always)]
    fn key(&mut self, _: Text<'j>) -> EvalResult<()> {
        Ok(())
    }

    #[inline(always)]
    fn scalar(&mut self, _: Scalar<'j>) -> EvalResult<()> {
        Ok(())
    }

    #[inline(always)]
    fn open(&mut self, _: Container) -> bool {
        true
    }

    #[inline(always)]
    fn skipped(&mut self, _: &'j [u8]) {}

    #[inline(always)]
    fn close(&mut self, _: Container) -> EvalResult<()> {
        Ok(())
    }
}

/// Bytes of a document that are scanned for one step: a document of escapes takes ten times as long as one of words.
const BYTES_PER_STEP: usize = 16;

/// Charges the budget for the scan of a document.
pub(super) fn charge_scan(cx: &Cx<'_>, json: &[u8]) -> EvalResult<()> {
    cx.charge((json.len() / BYTES_PER_STEP).saturating_add(1))
}

/// Validates a document and reports its content to `sink`.
///
/// # Errors
/// `invalid_argument` if it is not JSON, nests deeper than [`MAX_DEPTH`] or has a number beyond the
/// range of a double; the errors of the sink.
pub(super) fn scan<'j>(json: &'j [u8], sink: &mut impl Sink<'j>) -> EvalResult<()> {
    let end = json_simd::run(ValueTask { json, at: 0, max_depth: MAX_DEPTH, sink })?;
    let rest = json.get(end..).unwrap_or(&[]);
    if rest.iter().all(|&byte| is_blank(byte)) { Ok(()) } else { Err(InvalidArgument) }
}

/// Parses the value at `at`, nested at most `max_depth` deep, and returns the offset after it.
struct ValueTask<'j, 's, S> {
    json: &'j [u8],
    at: usize,
    max_depth: usize,
    sink: &'s mut S,
}

impl<'j, S: Sink<'j>> ScanTask for ValueTask<'j, '_, S> {
    type Output = EvalResult<usize>;

    #[inline(always)]
    fn run_with<C: Scanner>(self, scanner: C) -> EvalResult<usize> {
        value(self.json, self.at, self.max_depth, self.sink, scanner)
    }
}

#[inline(always)]
fn value<'j>(
    json: &'j [u8],
    mut at: usize,
    max_depth: usize,
    sink: &mut impl Sink<'j>,
    scanner: impl Scanner,
) -> EvalResult<usize> {
    // The open containers: one bit for each, the innermost in the lowest bit, set for objects.
    let mut objects = 0_u128;
    let mut depth = 0_usize;
    // Whether a key must follow.
    let mut key = false;
    let mut stops = StringStops::from(scanner, at);
    let mut byte;
    loop {
        (byte, at) = visible(json, at).ok_or(InvalidArgument)?;
        if byte == b'"' {
            let start = at;
            at = string(json, start, &mut stops).ok_or(InvalidArgument)?;
            let text = Text(slice(json, start, at.wrapping_sub(1)));
            if key {
                (byte, at) = visible(json, at).ok_or(InvalidArgument)?;
                if byte != b':' {
                    return Err(InvalidArgument);
                }
                key = false;
                sink.key(text)?;
                continue;
            }
            sink.scalar(Scalar::String(text))?;
        } else if key {
            return Err(InvalidArgument);
        } else if byte == b'{' || byte == b'[' {
            let container = if byte == b'{' { Container::Object } else { Container::Array };
            if depth >= max_depth {
                return Err(InvalidArgument);
            }
            if sink.open(container) {
                depth = depth.wrapping_add(1);
                objects = (objects << 1) | u128::from(container == Container::Object);
                let (next, after) = visible(json, at).ok_or(InvalidArgument)?;
                if next != byte.wrapping_add(2) {
                    key = container == Container::Object;
                    continue;
                }
                at = after;
                depth = depth.wrapping_sub(1);
                objects >>= 1;
                sink.close(container)?;
            } else {
                let start = at.wrapping_sub(1);
                at = scanner.run(ValueTask {
                    json,
                    at: start,
                    max_depth: max_depth.wrapping_sub(depth),
                    sink: &mut ValidateOnly,
                })?;
                stops = StringStops::from(scanner, at);
                sink.skipped(slice(json, start, at));
            }
        } else {
            let (scalar, end) = bare(json, at.wrapping_sub(1), byte).ok_or(InvalidArgument)?;
            at = end;
            sink.scalar(scalar)?;
        }
        // After a value: a comma, or the ends of containers.
        loop {
            if depth == 0 {
                return Ok(at);
            }
            (byte, at) = visible(json, at).ok_or(InvalidArgument)?;
            let object = objects & 1 != 0;
            if byte == b',' {
                key = object;
                break;
            }
            let (container, end) = if object { (Container::Object, b'}') } else { (Container::Array, b']') };
            if byte != end {
                return Err(InvalidArgument);
            }
            depth = depth.wrapping_sub(1);
            objects >>= 1;
            sink.close(container)?;
        }
    }
}

/// Parses a value without quotes or brackets. Returns it and the offset after it.
#[inline(always)]
fn bare(json: &[u8], start: usize, first: u8) -> Option<(Scalar<'_>, usize)> {
    match first {
        b'-' | b'0'..=b'9' => {
            let end = number(json, start)?;
            Some((Scalar::Number(slice(json, start, end)), end))
        }
        b't' => Some((Scalar::Bool(true), word(json, start, b"true")?)),
        b'f' => Some((Scalar::Bool(false), word(json, start, b"false")?)),
        b'n' => Some((Scalar::Null, word(json, start, b"null")?)),
        _ => None,
    }
}
