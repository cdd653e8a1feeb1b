//! The bytes of a stream of messages that have arrived and were not forwarded.
//!
//! Invariant: these are at most one message, of at most `limit` bytes, and the last piece that
//! arrived; a compressed message is there twice, and decoded, while it is judged. Test:
//! `runtime/adapters/policy/tests/policy/grpc_streams.rs::memory_is_one_message`.

use crate::bodies::content_coding::MessageDecoder;
use crate::grpc::call::{CallRefusal, decoder};
use crate::grpc::frames::{FrameError, take_frame};
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use std::borrow::Cow;
use std::io::Cursor;

/// The bytes of a stream that are held back.
#[derive(Debug)]
pub(crate) struct HeldMessages {
    bytes: BytesMut,
    /// How many of them, from the first on, may be forwarded.
    passed: usize,
    /// No more will come.
    ended: bool,
    /// The largest message, in bytes, also decoded.
    limit: usize,
    /// What decodes compressed messages, once there was one.
    decoder: Option<MessageDecoder<Cursor<Vec<u8>>>>,
}

/// A whole message that was not judged.
pub(crate) struct HeldMessage<'h> {
    /// The message, decoded.
    pub(crate) bytes: Cow<'h, [u8]>,
    /// The length of its frame, in bytes.
    pub(crate) frame: usize,
}

impl HeldMessages {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: BytesMut::new(), passed: 0, ended: false, limit, decoder: None }
    }

    /// Adds bytes. What comes after the end is dropped.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        if !self.ended {
            self.bytes.extend_from_slice(piece);
        }
    }

    /// Notes that no more bytes come.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }

    /// Returns the first message that was not judged. `None`: its end has not arrived, or there is none.
    ///
    /// # Errors
    /// The bytes begin no frame, one of a message that is too large, or one that can't be decoded,
    /// or they end inside a frame.
    pub(crate) fn next(&mut self, headers: &HeaderMap) -> Result<Option<HeldMessage<'_>>, CallRefusal> {
        let Self { bytes, passed, ended, limit, decoder: made } = self;
        let unjudged = bytes.get(*passed..).unwrap_or_default();
        let mut rest = unjudged;
        let (is_compressed, message) = match take_frame(&mut rest, *limit) {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(None),
            Err(FrameError::Truncated) if !*ended => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let frame = unjudged.len().saturating_sub(rest.len());
        if !is_compressed {
            return Ok(Some(HeldMessage { bytes: Cow::Borrowed(message), frame }));
        }
        let decoder = match made {
            Some(decoder) => decoder,
            None => made.insert(decoder(headers)?),
        };
        let decoded = decoder.decode(Cursor::new(message.to_vec()), *limit)?;
        Ok(Some(HeldMessage { bytes: Cow::Owned(decoded), frame }))
    }

    /// Lets the first message that was not judged be forwarded: `frame` bytes.
    pub(crate) fn pass(&mut self, frame: usize) {
        self.passed = self.passed.saturating_add(frame).min(self.bytes.len());
    }

    /// Returns the bytes that may be forwarded, once.
    pub(crate) fn take_passed(&mut self) -> Bytes {
        let passed = std::mem::take(&mut self.passed);
        if passed == 0 {
            return Bytes::new();
        }
        if passed == self.bytes.len() {
            return std::mem::take(&mut self.bytes).freeze();
        }
        self.bytes.split_to(passed.min(self.bytes.len())).freeze()
    }

    /// Drops what was not judged, and what follows.
    pub(crate) fn refuse(&mut self) {
        self.bytes.truncate(self.passed);
        self.ended = true;
    }
}
