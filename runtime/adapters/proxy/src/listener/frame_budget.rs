//! Bounds the HTTP/2 frames that make work without carrying a request.
//!
//! Pings and settings must be answered, and a request that is reset at once costs the server behind the proxy as much as any other. A
//! well-behaved client sends few of these frames; a flood of them ends the connection.

use std::time::Duration;
use tokio::time::Instant;

/// The bytes before the first frame: the preface.
const PREFACE: usize = 24;
/// The bytes of a frame's head (RFC 9113, section 4.1).
const HEAD: usize = 9;
/// The time in which a whole budget is given again.
const PERIOD: Duration = Duration::from_secs(10);

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;

/// Reads the heads of the frames of a connection.
#[derive(Debug)]
pub(super) struct FrameBudget {
    /// Bytes until the next head of a frame.
    skip: usize,
    head: [u8; HEAD],
    filled: usize,
    most: u32,
    left: u32,
    filled_up: Instant,
}

impl FrameBudget {
    /// Returns a budget of `most` frames in ten seconds.
    pub(super) fn new(most: u32) -> Self {
        Self { skip: PREFACE, head: [0; HEAD], filled: 0, most, left: most, filled_up: Instant::now() }
    }

    /// Takes the next bytes of the connection. Returns whether the budget suffices. Cost: one step for each frame.
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if let Some((_, rest)) = bytes.split_at_checked(self.skip) {
                bytes = rest;
                self.skip = 0;
            } else {
                self.skip = self.skip.saturating_sub(bytes.len());
                return true;
            }
            while let (Some(place), Some((byte, rest))) = (self.head.get_mut(self.filled), bytes.split_first()) {
                *place = *byte;
                self.filled = self.filled.saturating_add(1);
                bytes = rest;
            }
            if self.filled == HEAD && !self.frame() {
                return false;
            }
        }
        true
    }

    /// Takes a frame whose head is complete.
    fn frame(&mut self) -> bool {
        let [a, b, c, kind, flags, ..] = self.head;
        let length = u32::from_be_bytes([0, a, b, c]);
        self.skip = usize::try_from(length).unwrap_or(usize::MAX);
        self.filled = 0;
        match kind {
            DATA => length > 0 || flags & END_STREAM != 0 || self.spend(),
            HEADERS | WINDOW_UPDATE => true,
            _ => self.spend(),
        }
    }

    fn spend(&mut self) -> bool {
        if self.left == 0 && self.filled_up.elapsed() >= PERIOD {
            self.left = self.most;
            self.filled_up = Instant::now();
        }
        let enough = self.left > 0;
        self.left = self.left.saturating_sub(1);
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, payload: usize) -> Vec<u8> {
        let head = vec![0, (payload >> 8) as u8, payload as u8, kind, flags, 0, 0, 0, 1];
        [head, vec![b'x'; payload]].concat()
    }

    #[test]
    fn only_frames_without_content_are_counted() {
        let start = vec![0; PREFACE];
        let free = [frame(DATA, 0, 300), frame(HEADERS, 4, 20), frame(WINDOW_UPDATE, 0, 4), frame(DATA, END_STREAM, 0)];
        let ping = frame(6, 0, 8);
        for size in [1, 2, 7, 9, 17, 1000] {
            let mut budget = FrameBudget::new(3);
            let mut take = |bytes: &[u8]| bytes.chunks(size).all(|piece| budget.take(piece));
            assert!(take(&start));
            assert!((0..50).all(|_| take(&free.concat())));
            assert!(take(&ping) && take(&frame(DATA, 0, 0)) && take(&frame(3, 0, 4)));
            assert!(take(&free.concat()));
            assert!(!take(&ping), "pieces of {size} bytes");
        }
    }
}
