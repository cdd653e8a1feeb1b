//! Undoes the codings of a body (`content-encoding`, RFC 9110, section 8.4), within a bound.
//!
//! A server may read only what a coding's end mark ends, or also what follows. So that rules see
//! what every server sees, a body with bytes after the end of its coding counts as damaged, and so
//! does a gzip body of several members.
//!
//! Invariant: a decoded body has at most `limit` bytes. Test:
//! `runtime/adapters/policy/tests/policy/bodies.rs::bombs_are_bounded`.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::bufread::{GzDecoder, ZlibDecoder};
use http::{HeaderMap, HeaderValue, header};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::io::{BufRead, ErrorKind, Read};

/// The largest number of codings of one body. Servers use one.
const MAX_CODINGS: usize = 3;

/// The codings that can be undone, for `accept-encoding` in a refusal (RFC 9110, section 12.5.3).
pub(crate) const KNOWN: &str = "gzip, deflate, br";

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    /// The zlib format (RFC 1950), as RFC 9110, section 8.4.1.2 defines it.
    Deflate,
    Brotli,
}

/// Decodes single messages of a body (`grpc-encoding`), of which there may be many: its memory is
/// made once. `R`: what the bytes of a message are.
#[derive(Debug)]
pub(crate) enum MessageDecoder<R> {
    Gzip(GzDecoder<R>),
    Deflate(ZlibDecoder<R>),
}

impl<R: BufRead + Default> MessageDecoder<R> {
    pub(crate) fn gzip() -> Self {
        Self::Gzip(GzDecoder::new(R::default()))
    }

    pub(crate) fn deflate() -> Self {
        Self::Deflate(ZlibDecoder::new(R::default()))
    }

    /// Returns the decoded message, which has at most `most` bytes. Else as [`decode`].
    pub(crate) fn decode(&mut self, message: R, most: usize) -> Result<Vec<u8>, DecodeError> {
        match self {
            Self::Gzip(decoder) => {
                decoder.reset(message);
                read(decoder, most, false).and_then(|out| ended(out, decoder.get_mut(), false))
            }
            Self::Deflate(decoder) => {
                decoder.reset(message);
                read(decoder, most, false).and_then(|out| ended(out, decoder.get_mut(), false))
            }
        }
    }
}

/// Why a body can't be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecodeError {
    /// An unknown coding, or more than [`MAX_CODINGS`].
    Unknown,
    /// The body is not in the format of its coding.
    Damaged,
    /// The decoded body is larger than the bound.
    TooLarge,
}

/// Returns whether a body has a transfer coding other than `chunked`, or `chunked` twice.
fn transfer_coded(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(header::TRANSFER_ENCODING).iter();
    let chunked = |line: &HeaderValue| line.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
    lines.next().is_some_and(|first| !chunked(first) || lines.next().is_some())
}

/// Returns whether a message says that its body is coded.
pub(crate) fn is_coded(headers: &HeaderMap) -> bool {
    codings(headers).next().is_some() || transfer_coded(headers)
}

/// Returns the decoded body, which has at most `most` bytes. Of a `partial` body, whose end may be
/// missing, returns what its bytes decode to, and at most `most` bytes of it.
///
/// Takes time and memory in proportion to `body.len() + most`, whatever the body says.
pub(crate) fn decode<'b>(
    headers: &HeaderMap,
    body: &'b [u8],
    most: usize,
    partial: bool,
) -> Result<Cow<'b, [u8]>, DecodeError> {
    if body.is_empty() {
        return Ok(Cow::Borrowed(body));
    }
    if transfer_coded(headers) {
        return Err(DecodeError::Unknown);
    }
    let mut known: SmallVec<[Coding; MAX_CODINGS]> = SmallVec::new();
    for name in codings(headers) {
        if known.len() >= MAX_CODINGS {
            return Err(DecodeError::Unknown);
        }
        known.push(named(name).ok_or(DecodeError::Unknown)?);
    }
    let mut decoded = Cow::Borrowed(body);
    // They are listed in the order in which they were applied.
    for coding in known.into_iter().rev() {
        decoded = Cow::Owned(undo(coding, &decoded, most, partial)?);
    }
    Ok(decoded)
}

/// Returns the names of a message's codings, without `identity`, which does nothing.
fn codings(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = headers.get_all(header::CONTENT_ENCODING).iter().map(HeaderValue::as_bytes);
    let names = lines.flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"))
}

fn named(name: &[u8]) -> Option<Coding> {
    const NAMES: [(&[u8], Coding); 4] =
        [(b"gzip", Coding::Gzip), (b"x-gzip", Coding::Gzip), (b"deflate", Coding::Deflate), (b"br", Coding::Brotli)];
    NAMES.into_iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, coding)| coding)
}

fn undo(coding: Coding, body: &[u8], most: usize, partial: bool) -> Result<Vec<u8>, DecodeError> {
    match coding {
        Coding::Gzip => {
            let mut decoder = GzDecoder::new(body);
            read(&mut decoder, most, partial).and_then(|out| ended(out, decoder.into_inner(), partial))
        }
        Coding::Deflate => {
            let mut decoder = ZlibDecoder::new(body);
            read(&mut decoder, most, partial).and_then(|out| ended(out, decoder.into_inner(), partial))
        }
        Coding::Brotli => brotli(body, most, partial),
    }
}

fn read(decoder: &mut impl Read, most: usize, partial: bool) -> Result<Vec<u8>, DecodeError> {
    let mut out = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    match decoder.take(bound).read_to_end(&mut out) {
        Ok(_) => bounded(out, most, partial),
        Err(error) if partial && error.kind() == ErrorKind::UnexpectedEof => bounded(out, most, partial),
        Err(_) => Err(DecodeError::Damaged),
    }
}

fn bounded(mut out: Vec<u8>, most: usize, partial: bool) -> Result<Vec<u8>, DecodeError> {
    if out.len() > most && !partial {
        return Err(DecodeError::TooLarge);
    }
    out.truncate(most);
    Ok(out)
}

/// Returns what was decoded, unless bytes follow the end of the coding.
fn ended(out: Vec<u8>, mut rest: impl BufRead, partial: bool) -> Result<Vec<u8>, DecodeError> {
    let rest = rest.fill_buf().is_ok_and(<[u8]>::is_empty);
    if rest || partial { Ok(out) } else { Err(DecodeError::Damaged) }
}

fn brotli(body: &[u8], most: usize, partial: bool) -> Result<Vec<u8>, DecodeError> {
    let alloc = StandardAlloc::default;
    let mut state = BrotliState::new(alloc(), alloc(), alloc());
    let mut out = Vec::new();
    let (mut left, mut read, mut total) = (body.len(), 0, 0);
    let mut piece = [0; 4096];
    loop {
        let (mut room, mut written) = (piece.len(), 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut read,
            body,
            &mut room,
            &mut written,
            &mut piece,
            &mut total,
            &mut state,
        );
        out.extend_from_slice(piece.get(..written).unwrap_or_default());
        if out.len() > most {
            return bounded(out, most, partial);
        }
        match result {
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultSuccess if left == 0 || partial => return Ok(out),
            BrotliResult::NeedsMoreInput if partial => return Ok(out),
            BrotliResult::ResultSuccess | BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure => {
                return Err(DecodeError::Damaged);
            }
        }
    }
}
