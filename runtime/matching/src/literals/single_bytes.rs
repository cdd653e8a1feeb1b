//! Keys of one byte.

use std::ops::ControlFlow;

/// A key of one byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingleByte {
    pub(super) byte: u8,
    /// Whether only this byte matches, not that of the other case.
    pub(super) exact: bool,
    pub(super) id: u32,
}

/// All keys of one byte.
#[derive(Clone, Debug)]
pub(super) struct SingleBytes(Box<[SingleByte]>);

impl SingleByte {
    /// The byte of the other case, if that matches too.
    fn other_case(self) -> u8 {
        if self.exact { self.byte } else { self.byte.to_ascii_uppercase() }
    }
}

impl SingleBytes {
    pub(super) fn new(keys: Vec<SingleByte>) -> Self {
        Self(keys.into())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls `hit` with the id of each key that a text has, once for each, until it breaks.
    pub(super) fn search(&self, text: &[u8], mut hit: impl FnMut(u32) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.0.len() <= 2 {
            for key in &self.0 {
                if memchr::memchr2(key.byte, key.other_case(), text).is_some() {
                    hit(key.id)?;
                }
            }
            return ControlFlow::Continue(());
        }
        let mut seen = [false; 256];
        for byte in text {
            if let Some(seen) = seen.get_mut(usize::from(*byte)) {
                *seen = true;
            }
        }
        let seen = |byte: u8| seen.get(usize::from(byte)).copied().unwrap_or(false);
        for key in &self.0 {
            if seen(key.byte) || seen(key.other_case()) {
                hit(key.id)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}
