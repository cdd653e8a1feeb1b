//! Text that a function builds in the arena, charged by its length.

use crate::arena::{ArenaVec, EvalResult};
use crate::cx::Cx;
use celero_ir::ErrorKind::InvalidArgument;

/// Builds text in the arena. Each appended text is charged to the budget.
pub(crate) struct TextBuilder<'c, 'a> {
    cx: &'c Cx<'a>,
    bytes: ArenaVec<'a, u8>,
}

impl<'c, 'a> TextBuilder<'c, 'a> {
    pub(crate) fn new(cx: &'c Cx<'a>) -> Self {
        Self { cx, bytes: cx.arena().vec() }
    }

    pub(crate) fn push(&mut self, text: &str) -> EvalResult<()> {
        self.cx.charge_bytes(text.len())?;
        self.bytes.extend(text.as_bytes())
    }

    /// Appends a character. Not charged: callers charge the text that the characters come from.
    pub(crate) fn push_char(&mut self, c: char) -> EvalResult<()> {
        if c.is_ascii() { self.bytes.push(c as u8) } else { self.bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()) }
    }

    /// Reserves memory for text of `bytes` bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) -> EvalResult<()> {
        self.bytes.reserve(bytes)
    }

    pub(crate) fn finish(self) -> EvalResult<&'a str> {
        std::str::from_utf8(self.bytes.finish()).map_err(|_| InvalidArgument)
    }
}
