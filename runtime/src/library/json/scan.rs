//! The grammar of JSON over its tokens: one pass over a whole document, which tells a [`Sink`] of what is in it. A document
//! is accepted or refused whatever the sink does with it. Nothing recurses.

use super::token::{Looked, Scalar, Text, is_blank, number, slice, string, visible, word};
use crate::arena::EvalResult;
use celero_ir::ErrorKind::InvalidArgument;
use celero_matching::json_simd::{self, ScanTask, Scanner};

/// How deep objects and arrays may nest.
pub(super) const MAX_DEPTH: usize = 128;

/// What holds other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    Object,
    Array,
}

/// What is told of a document, in its order. In an object each value comes after its key.
pub(super) trait Sink<'j> {
    /// The key of the next value.
    fn key(&mut self, key: Text<'j>) -> EvalResult<()>;
    /// A value.
    fn scalar(&mut self, scalar: Scalar<'j>) -> EvalResult<()>;
    /// A value that holds others begins. Whether to tell of them, and of its end.
    fn open(&mut self, container: Container) -> bool;
    /// All of a value that was not to be told of, as written.
    fn passed(&mut self, json: &'j [u8]);
    /// A value of which all was told ends.
    fn close(&mut self, container: Container) -> EvalResult<()>;
}

/// Takes no notice.
struct Nothing;

impl<'j> Sink<'j> for Nothing {
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
    fn passed(&mut self, _: &'j [u8]) {}

    #[inline(always)]
    fn close(&mut self, _: Container) -> EvalResult<()> {
        Ok(())
    }
}

/// Reads a document.
///
/// # Errors
/// `invalid_argument` if it is not JSON, nests deeper than [`MAX_DEPTH`] or has a number beyond the range of a double; what
/// the sink fails with.
pub(super) fn scan<'j>(json: &'j [u8], sink: &mut impl Sink<'j>) -> EvalResult<()> {
    let end = json_simd::run(Reading { json, at: 0, room: MAX_DEPTH, sink })?;
    let rest = json.get(end..).unwrap_or(&[]);
    if rest.iter().all(|&byte| is_blank(byte)) { Ok(()) } else { Err(InvalidArgument) }
}

/// Reads the value at a place, nested so deep at most, and gives the place behind it.
struct Reading<'j, 's, S> {
    json: &'j [u8],
    at: usize,
    room: usize,
    sink: &'s mut S,
}

impl<'j, S: Sink<'j>> ScanTask for Reading<'j, '_, S> {
    type Output = EvalResult<usize>;

    #[inline(always)]
    fn run_with<C: Scanner>(self, chunks: C) -> EvalResult<usize> {
        value(self.json, self.at, self.room, self.sink, chunks)
    }
}

#[inline(always)]
fn value<'j>(
    json: &'j [u8],
    mut at: usize,
    room: usize,
    sink: &mut impl Sink<'j>,
    chunks: impl Scanner,
) -> EvalResult<usize> {
    // The containers around the place: a bit for each, the innermost lowest, set for objects.
    let mut objects = 0_u128;
    let mut depth = 0_usize;
    // Whether a key is due.
    let mut key = false;
    let mut looked = Looked::nothing(chunks, at);
    let mut byte;
    loop {
        (byte, at) = visible(json, at).ok_or(InvalidArgument)?;
        if byte == b'"' {
            let start = at;
            at = string(json, start, &mut looked).ok_or(InvalidArgument)?;
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
            if depth >= room {
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
                at = chunks.run(Reading { json, at: start, room: room.wrapping_sub(depth), sink: &mut Nothing })?;
                looked = Looked::nothing(chunks, at);
                sink.passed(slice(json, start, at));
            }
        } else {
            let (scalar, end) = bare(json, at.wrapping_sub(1), byte).ok_or(InvalidArgument)?;
            at = end;
            sink.scalar(scalar)?;
        }
        // What follows a value.
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

/// A value without quotes or brackets, and the place behind it.
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
