//! How much of a body a host buffers before it runs a body phase.
//!
//! Invariant: a rule of a body phase that may match and reads the body reads every byte of it, or of the prefix that
//! the phase names; otherwise the host answers. `tooLarge: skip` and `encoded: raw` are the only exceptions. Test:
//! `runtime/adapters/policy/src/bodies/buffering.rs::each_extent_ends_where_it_should`.

use std::fmt;
use std::time::Duration;

/// How long the prefix of a response is waited for, from its first byte on.
const PREFIX_WAIT: Duration = Duration::from_secs(1);

/// How much of a body a host buffers before it runs the phase `requestBody` or `responseBody`. Ask
/// it after each piece of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyBuffering {
    limit: usize,
    extent: Extent,
    /// Whether a prefix that arrives slowly is cut short.
    of_response: bool,
}

/// What a phase needs of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyNeed {
    /// Nothing: none of its rules matches or fails. That was the phase: it is counted, without an effect.
    NoPhase,
    /// Nothing: rules may match or fail, which do not read it.
    NoBody,
    /// A rule may read it.
    Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// The whole body, which has at most `limit` bytes.
    Whole,
    /// The first `limit` bytes.
    Prefix,
    /// What arrives first, of a stream.
    FirstPiece,
    /// The whole body of a stream, which has no end.
    Endless,
    /// No byte: what is decided does not depend on the body.
    Nothing,
}

/// What a host does with a body of which some bytes were buffered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferState {
    /// Buffer the next piece.
    More,
    /// Run the phase with what was buffered, then forward it and, as it arrives, the rest.
    Ready,
    /// The body is too large: ask [`Policy::request_body_too_large`](crate::Policy::request_body_too_large) or
    /// [`Policy::response_body_too_large`](crate::Policy::response_body_too_large).
    TooLarge,
}

impl BodyBuffering {
    pub(crate) fn new(limit: usize, prefix: bool) -> Self {
        Self { limit, extent: if prefix { Extent::Prefix } else { Extent::Whole }, of_response: false }
    }

    /// Returns the same for the body of a response.
    pub(crate) fn of_response(self) -> Self {
        Self { of_response: true, ..self }
    }

    /// Returns the same if the rules that may match read the body, and to buffer nothing if they don't; `None` if no
    /// rule may match.
    pub(crate) fn if_needed(self, need: BodyNeed) -> Option<Self> {
        match need {
            BodyNeed::NoPhase => None,
            BodyNeed::NoBody => Some(Self { limit: 0, extent: Extent::Nothing, ..self }),
            BodyNeed::Body => Some(self),
        }
    }

    /// Returns the same for a stream of events, which has no end and must arrive as it is sent.
    pub(crate) fn of_stream(self) -> Self {
        let extent = match self.extent {
            Extent::Nothing => Extent::Nothing,
            Extent::Prefix | Extent::FirstPiece => Extent::FirstPiece,
            Extent::Whole | Extent::Endless => Extent::Endless,
        };
        Self { extent, ..self }
    }

    /// Returns the limit of the body or the length of the prefix, in bytes.
    #[must_use]
    pub fn limit(self) -> usize {
        self.limit
    }

    /// Returns whether only the first bytes of the body are buffered, if any, and the rest is forwarded as it arrives.
    #[must_use]
    pub fn is_prefix(self) -> bool {
        matches!(self.extent, Extent::Prefix | Extent::FirstPiece | Extent::Nothing)
    }

    /// Returns what to do next when `bytes` bytes were buffered. `ended`: they are all of the body. Ask it
    /// before the first piece, too: it is [`Ready`](BufferState::Ready) then if the rules that may match do not read
    /// the body, which need not be asked for. What has arrived of it all the same need not be withheld from the phase.
    #[must_use]
    pub fn state(self, bytes: usize, ended: bool) -> BufferState {
        match self.extent {
            Extent::Nothing => BufferState::Ready,
            Extent::Whole if bytes > self.limit => BufferState::TooLarge,
            Extent::Endless if !ended => BufferState::TooLarge,
            Extent::Prefix if bytes >= self.limit => BufferState::Ready,
            Extent::FirstPiece if bytes > 0 => BufferState::Ready,
            _ if ended => BufferState::Ready,
            _ => BufferState::More,
        }
    }

    /// Returns how long to wait for the next pieces of this body after its first one. Then run the
    /// phase with what was buffered, though [`state`](Self::state) says
    /// [`More`](BufferState::More). `None`: until the state changes.
    ///
    /// The prefix of a response is waited for at most a second, otherwise a client would wait for a
    /// server that sends a few bytes now and then. A host without a timer looks at the clock when a
    /// piece has arrived. The prefix of a request is waited for, as a client could keep it from the
    /// rules by sending slowly.
    #[must_use]
    pub fn longest_wait(self) -> Option<Duration> {
        (self.of_response && self.extent == Extent::Prefix).then_some(PREFIX_WAIT)
    }

    /// Returns whether a body of this length is too large, so that nothing of it need be read.
    #[must_use]
    pub fn refuses(self, length: u64) -> bool {
        self.extent == Extent::Whole && usize::try_from(length).map_or(true, |length| length > self.limit)
    }
}

impl fmt::Display for BodyBuffering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, .. } = self;
        if self.is_prefix() {
            write!(f, "the first {limit} bytes are buffered, the rest is forwarded as it arrives")
        } else {
            write!(f, "buffered, up to {limit} bytes")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use BufferState::{More, Ready, TooLarge};

    #[test]
    fn each_extent_ends_where_it_should() {
        let states = |buffering: BodyBuffering| {
            [(0, false), (1, false), (4, false), (5, false), (0, true), (4, true), (5, true)]
                .map(|(bytes, ended)| buffering.state(bytes, ended))
        };
        let (whole, prefix) = (BodyBuffering::new(4, false), BodyBuffering::new(4, true));
        assert_eq!(states(whole), [More, More, More, TooLarge, Ready, Ready, TooLarge]);
        assert_eq!(states(prefix), [More, More, Ready, Ready, Ready, Ready, Ready]);
        assert_eq!(prefix.of_response().longest_wait(), Some(PREFIX_WAIT));
        assert_eq!((prefix.longest_wait(), whole.of_response().longest_wait()), (None, None));
        assert_eq!(states(prefix.of_stream()), [More, Ready, Ready, Ready, Ready, Ready, Ready]);
        assert_eq!(states(whole.of_stream())[..4], [TooLarge; 4]);
        let nothing = |buffering: BodyBuffering| buffering.if_needed(BodyNeed::NoBody).unwrap();
        for buffering in [nothing(whole), nothing(prefix).of_response(), nothing(whole).of_stream()] {
            assert_eq!((states(buffering), buffering.limit()), ([Ready; 7], 0));
            assert!(buffering.is_prefix() && !buffering.refuses(u64::MAX) && buffering.longest_wait().is_none());
        }
        assert_eq!((whole.if_needed(BodyNeed::Body), whole.if_needed(BodyNeed::NoPhase)), (Some(whole), None));
        assert!(whole.refuses(5) && !whole.refuses(4) && !prefix.refuses(5));
    }
}
