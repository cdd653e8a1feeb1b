//! The bytes of messages, read and written in the memory of an evaluation, and what that costs.

use crate::arena::{ArenaVec, EvalResult};
use crate::cx::Cx;
use celero_ir::ErrorKind;
use celero_protobuf::{Record, Records, Sink};

/// Bytes of a message that are read for one step: of records with a number of one byte, eight.
const BYTES_PER_STEP: usize = 16;

/// A field is looked for in all bytes of a message.
pub(super) fn charge(cx: &Cx<'_>, bytes: &[u8]) -> EvalResult<()> {
    cx.charge((bytes.len() / BYTES_PER_STEP).saturating_add(1))
}

/// Tests that bytes are a message to their end. Only then may others follow them, or stand around
/// them.
pub(super) fn whole(cx: &Cx<'_>, bytes: &[u8]) -> EvalResult<()> {
    charge(cx, bytes)?;
    records(bytes).try_for_each(|record| record.map(|_| ()))
}

/// The records of a message, as long as it is not malformed.
pub(super) fn records(bytes: &[u8]) -> impl Iterator<Item = EvalResult<Record<'_>>> {
    Records::new(bytes).map(|record| record.map_err(|_| ErrorKind::InvalidArgument))
}

/// Bytes of a message that is written into the arena.
pub(super) struct Buffer<'a, 'c> {
    cx: &'c Cx<'a>,
    bytes: ArenaVec<'a, u8>,
}

impl<'a, 'c> Buffer<'a, 'c> {
    pub(super) fn new(cx: &'c Cx<'a>) -> Self {
        Self { cx, bytes: cx.arena().vec() }
    }

    pub(super) fn finish(self) -> &'a [u8] {
        self.bytes.finish()
    }
}

impl Sink for Buffer<'_, '_> {
    type Error = ErrorKind;

    fn append(&mut self, bytes: &[u8]) -> EvalResult<()> {
        self.cx.charge_bytes(bytes.len())?;
        self.bytes.extend(bytes)
    }
}
