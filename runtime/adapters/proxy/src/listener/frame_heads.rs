//! Finds the heads of HTTP/2 frames in the bytes of one direction of a connection.

/// The bytes of a frame's head (RFC 9113, section 4.1).
const HEAD: usize = 9;
/// The most bytes of a payload that are looked at.
const LOOKED_AT: usize = 4;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
const PADDED: u8 = 8;

/// What is known of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub(super) kind: u8,
    pub(super) stream: u32,
    /// Bytes of the payload, without padding.
    pub(super) content: u32,
    /// The code of `RST_STREAM`; 0 of other frames.
    pub(super) code: u32,
}

/// The place in a direction of a connection.
#[derive(Debug)]
pub(super) struct FrameHeads {
    /// Bytes until the next head.
    skip: usize,
    /// The current head, and the bytes of its payload that are looked at.
    head: [u8; HEAD + LOOKED_AT],
    filled: usize,
}

impl FrameHeads {
    /// Returns the start of a direction that has this many bytes before its first frame.
    pub(super) fn after(preface: usize) -> Self {
        Self { skip: preface, head: [0; HEAD + LOOKED_AT], filled: 0 }
    }

    /// Returns whether the last frame is complete.
    pub(super) fn is_between_frames(&self) -> bool {
        self.skip == 0 && self.filled == 0
    }

    /// Takes bytes up to the next head that is complete. `None`: all were taken. Cost: one step for each frame.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Option<FrameHead> {
        let Some((_, rest)) = bytes.split_at_checked(self.skip) else {
            self.skip = self.skip.saturating_sub(bytes.len());
            *bytes = &[];
            return None;
        };
        *bytes = rest;
        self.skip = 0;
        loop {
            let (length, looked_at) = self.sizes();
            if self.filled >= HEAD.saturating_add(looked_at) {
                self.skip = length.saturating_sub(looked_at);
                self.filled = 0;
                return Some(self.complete(length));
            }
            let (place, (byte, rest)) = (self.head.get_mut(self.filled)?, bytes.split_first()?);
            *place = *byte;
            self.filled = self.filled.saturating_add(1);
            *bytes = rest;
        }
    }

    /// Returns the length of the current frame's payload, and how many bytes of it are looked at.
    fn sizes(&self) -> (usize, usize) {
        let [a, b, c, kind, flags, ..] = self.head;
        let length = usize::try_from(u32::from_be_bytes([0, a, b, c])).unwrap_or(usize::MAX);
        let wanted = match kind {
            DATA if flags & PADDED != 0 => 1,
            RST_STREAM => LOOKED_AT,
            _ => 0,
        };
        (length, wanted.min(length))
    }

    fn complete(&self, length: usize) -> FrameHead {
        let [_, _, _, kind, flags, a, b, c, d, payload @ ..] = self.head;
        let padding = match payload {
            [padding, ..] if kind == DATA && flags & PADDED != 0 => usize::from(padding).saturating_add(1),
            _ => 0,
        };
        FrameHead {
            kind,
            stream: u32::from_be_bytes([a, b, c, d]) & (u32::MAX >> 1),
            content: u32::try_from(length.saturating_sub(padding)).unwrap_or(u32::MAX),
            code: if kind == RST_STREAM { u32::from_be_bytes(payload) } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_in_pieces_of_any_size() {
        let bytes: Vec<u8> = [
            &b"preface"[..],
            &[0, 0, 3, DATA, 0, 0, 0, 0, 1, 7, 7, 7],
            &[0, 0, 3, DATA, PADDED, 0x80, 0, 0, 3, 2, 0, 0],
            &[0, 0, 0, DATA, PADDED, 0, 0, 0, 3],
            &[0, 0, 4, RST_STREAM, 0, 0, 0, 0, 5, 0, 0, 1, 7],
            &[0, 0, 1, RST_STREAM, 0, 0, 0, 0, 5, 9],
            &[0, 0, 2, HEADERS, PADDED, 0, 0, 1, 1, 1, 1],
        ]
        .concat();
        let of = |kind, stream, content, code| FrameHead { kind, stream, content, code };
        for size in 1..=bytes.len() {
            let (mut heads, mut found) = (FrameHeads::after(7), Vec::new());
            for mut piece in bytes.chunks(size) {
                while let Some(head) = heads.next(&mut piece) {
                    found.push(head);
                }
            }
            let codes: Vec<_> = found.iter().map(|head| head.code).take(4).collect();
            assert_eq!(codes, [0, 0, 0, 263]);
            let expected = [of(DATA, 1, 3, 0), of(DATA, 3, 0, 0), of(DATA, 3, 0, 0), of(RST_STREAM, 5, 4, 263)];
            assert_eq!(found.get(..4), Some(&expected[..]), "pieces of {size} bytes");
            assert_eq!(found.last(), Some(&of(HEADERS, 257, 2, 0)));
            assert!(found.len() == 6 && heads.is_between_frames());
        }
    }
}
