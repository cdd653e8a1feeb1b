//! Bounds the HTTP/2 frames that make work without carrying a request or a part of one.
//!
//! Each frame that a client sends has a price of one, but the ones that are paid for otherwise:
//! `DATA` with content, whose bytes were sent, and `HEADERS` of a request as long as no more
//! requests are open than may be. A client pays from what it has earned:
//!
//! | event | earns | because clients send for it |
//! |---|---|---|
//! | a request | 2 | the window of its stream, its priority, trailers, the end of its body |
//! | a head of a response | 2 | priorities, acknowledgements |
//! | `DATA` sent to the client | 2, and 2 for each KiB | `WINDOW_UPDATE` of the stream and of the connection, at worst for each read of 1 KiB; pings with which gRPC measures the bandwidth |
//!
//! What is not earned is paid from the budget. `RST_STREAM`, and `HEADERS` beyond the open
//! requests, are always paid from the budget: a request that is reset costs the server behind the
//! proxy as much as any other. A connection whose budget is spent is closed.
//!
//! Invariant: every HTTP/2 frame of a client is paid for: by bytes, by a request, by what was sent to the client, or
//! from `limits.controlFrames`. Test:
//! `runtime/adapters/proxy/src/listener/frame_budget.rs::every_kind_of_frame_without_content_has_a_price`.

use super::frame_heads::{DATA, FrameHead, FrameHeads, HEADERS, RST_STREAM};
use std::time::Duration;
use tokio::time::Instant;

/// The bytes before the client's first frame: the preface.
const PREFACE: usize = 24;
/// The time in which a whole budget is given again.
const PERIOD: Duration = Duration::from_secs(10);

/// What a request, a response and a frame with content earn.
const EARNED: u32 = 2;
/// The bytes of content that earn as much again.
const PIECE: u32 = 1 << 10;
/// The most that is kept of what was earned: enough for 32 MiB that the client releases at once in pieces of 1 KiB.
const MAX_EARNED: u32 = 1 << 16;

/// The frames after which others have their turn: a connection is read in one go as long as bytes are there.
const TURN: u32 = 256;

/// The code of `RST_STREAM` for requests beyond those that may be open.
const REFUSED_STREAM: u32 = 7;

/// The frames of a connection.
#[derive(Debug)]
pub(super) struct FrameBudget {
    received: FrameHeads,
    sent: FrameHeads,
    most: u32,
    left: u32,
    filled_up: Instant,
    earned: u32,
    /// How many requests may be open.
    streams: u32,
    last_stream: u32,
    /// Requests without a response.
    unanswered: u32,
    /// Frames since others had their turn.
    in_turn: u32,
}

impl FrameBudget {
    /// Returns a budget of `most` frames in ten seconds, for a connection that may have `streams` open requests.
    pub(super) fn new(most: u32, streams: u32) -> Self {
        Self {
            received: FrameHeads::after(PREFACE),
            sent: FrameHeads::after(0),
            most,
            left: most,
            filled_up: Instant::now(),
            earned: 0,
            streams,
            last_stream: 0,
            unanswered: 0,
            in_turn: 0,
        }
    }

    /// Takes the next bytes from the client. Returns whether the budget suffices. Cost: one step for each frame.
    pub(super) fn receive(&mut self, mut bytes: &[u8]) -> bool {
        while let Some(frame) = self.received.next(&mut bytes) {
            self.in_turn = self.in_turn.saturating_add(1);
            if !self.pays(frame) {
                return false;
            }
        }
        true
    }

    /// Takes the next bytes to the client.
    pub(super) fn send(&mut self, mut bytes: &[u8]) {
        while let Some(frame) = self.sent.next(&mut bytes) {
            match frame.kind {
                HEADERS => {
                    self.answer();
                    self.earn(EARNED);
                }
                DATA => self.earn(frame.content.div_ceil(PIECE).saturating_add(1).saturating_mul(EARNED)),
                RST_STREAM if frame.code != REFUSED_STREAM => self.answer(),
                _ => {}
            }
        }
    }

    /// Returns whether others should have their turn before more is read, and begins the next turn then.
    pub(super) fn turn_is_over(&mut self) -> bool {
        let over = self.in_turn >= TURN;
        if over {
            self.in_turn = 0;
        }
        over
    }

    /// Returns the last frame of a connection whose budget is spent (`GOAWAY` with
    /// `ENHANCE_YOUR_CALM`), unless another one is being sent.
    pub(super) fn farewell(&self) -> Option<[u8; 17]> {
        let [a, b, c, d] = self.last_stream.to_be_bytes();
        self.sent.is_between_frames().then_some([0, 0, 8, 7, 0, 0, 0, 0, 0, a, b, c, d, 0, 0, 0, 11])
    }

    /// Takes the price of a frame. Returns whether it could be paid.
    fn pays(&mut self, frame: FrameHead) -> bool {
        match frame.kind {
            DATA if frame.content > 0 => true,
            HEADERS if frame.stream > self.last_stream => {
                self.last_stream = frame.stream;
                self.unanswered = self.unanswered.saturating_add(1);
                if self.unanswered > self.streams {
                    return self.spend();
                }
                self.earn(EARNED);
                true
            }
            RST_STREAM => {
                self.answer();
                self.spend()
            }
            _ if self.earned > 0 => {
                self.earned = self.earned.saturating_sub(1);
                true
            }
            _ => self.spend(),
        }
    }

    fn answer(&mut self) {
        self.unanswered = self.unanswered.saturating_sub(1);
    }

    fn earn(&mut self, frames: u32) {
        self.earned = self.earned.saturating_add(frames).min(MAX_EARNED);
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

    const WINDOW_UPDATE: u8 = 8;
    const STREAMS: u32 = 5;

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    }

    /// Returns the number of a client's stream.
    fn nth_stream(number: u32) -> u32 {
        (number << 1) | 1
    }

    fn started(most: u32) -> FrameBudget {
        let mut budget = FrameBudget::new(most, STREAMS);
        assert!(budget.receive(&[0; PREFACE]));
        budget
    }

    /// Returns how many of these frames a budget takes, of 10,000.
    fn taken(budget: &mut FrameBudget, mut next: impl FnMut(u32) -> Vec<u8>) -> u32 {
        (0..10_000).find(|i| !budget.receive(&next(*i))).unwrap_or(10_000)
    }

    #[test]
    fn every_kind_of_frame_without_content_has_a_price() {
        for kind in 0..=u8::MAX {
            // Of a stream that is known, and with padding only.
            for (flags, payload) in [(0, &[][..]), (1, &[]), (8, &[3, 0, 0, 0]), (9, &[0])] {
                if matches!(kind, DATA) || flags & 8 == 0 {
                    let mut budget = started(20);
                    assert!(budget.receive(&frame(HEADERS, 4, 1, b"x")));
                    let most = taken(&mut budget, |_| frame(kind, flags, 1, payload));
                    assert!((20..=22).contains(&most), "{most} frames of kind {kind} with flags {flags}");
                }
            }
        }
    }

    #[test]
    fn requests_beyond_the_open_ones_have_a_price() {
        let mut budget = started(20);
        let refused = (0..10_000).find(|i| {
            budget.send(&frame(RST_STREAM, 0, nth_stream(*i), &[0, 0, 0, 7]));
            !budget.receive(&frame(HEADERS, 5, nth_stream(*i), b"x"))
        });
        assert_eq!(refused, Some(20 + STREAMS));
        // Answered ones have none.
        let mut budget = started(0);
        for i in 0..10_000 {
            assert!(budget.receive(&frame(HEADERS, 5, nth_stream(i), b"x")));
            budget.send(&frame(HEADERS, 5, nth_stream(i), b"y"));
        }
        // Those that the client resets cost one.
        let mut budget = started(20);
        let reset =
            |i| [frame(HEADERS, 5, nth_stream(i), b"x"), frame(RST_STREAM, 0, nth_stream(i), &[0, 0, 0, 8])].concat();
        assert_eq!(taken(&mut budget, reset), 20);
    }

    #[test]
    fn windows_are_paid_by_what_was_sent() {
        for length in [1, 100, 1024, 16 << 10] {
            let mut budget = started(0);
            assert!(budget.receive(&frame(HEADERS, 5, 1, b"x")));
            budget.send(&frame(HEADERS, 4, 1, b"y"));
            let data = frame(DATA, 0, 1, &vec![b'y'; length]);
            for _ in 0..5_000 {
                data.chunks(7).for_each(|piece| budget.send(piece));
                for _ in 0..length.div_ceil(1 << 10) {
                    assert!(budget.receive(&frame(WINDOW_UPDATE, 0, 1, &[0, 0, 4, 0])));
                    assert!(budget.receive(&frame(WINDOW_UPDATE, 0, 0, &[0, 0, 4, 0])));
                }
            }
        }
        let mut budget = started(20);
        assert_eq!(taken(&mut budget, |_| frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])), 20);
    }

    #[test]
    fn a_body_has_no_price() {
        let mut budget = started(0);
        assert!(budget.receive(&frame(HEADERS, 4, 1, b"x")));
        assert!((0..10_000).all(|_| budget.receive(&frame(DATA, 0, 1, b"x"))));
        assert!(budget.receive(&frame(DATA, 1, 1, b"")));
    }

    #[test]
    fn others_have_their_turn() {
        let mut budget = started(10_000);
        let turns = (0..2560_u32).filter(|_| {
            assert!(budget.receive(&frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])));
            budget.turn_is_over()
        });
        assert_eq!(turns.count(), 10);
    }
}
