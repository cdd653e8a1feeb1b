//! The frames of a gRPC body, each with one message
//! (<https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>, "Length-Prefixed-Message").

use std::fmt;

/// The bytes of a frame before its message: the flag, and the length in four bytes.
const HEAD: usize = 5;

/// Why bytes are no body of a gRPC call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameError {
    /// A frame begins with another flag than 0 and 1.
    Flag(u8),
    /// A message is longer than the limit.
    TooLong { length: u32, limit: usize },
    /// The body ends inside a frame.
    Truncated,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "a frame begins with the flag {flag}, which is neither 0 nor 1"),
            Self::TooLong { length, limit } => {
                write!(f, "a message has {length} bytes, more than the limit of {limit}")
            }
            Self::Truncated => f.write_str("the body ends inside a frame"),
        }
    }
}

/// Takes the first frame off a body: whether its message is compressed, and the message as it is
/// sent. `None`: the body has no more frames.
///
/// # Errors
/// The body does not begin with a whole frame of a message of at most `limit` bytes.
pub(crate) fn take_frame<'b>(body: &mut &'b [u8], limit: usize) -> Result<Option<(bool, &'b [u8])>, FrameError> {
    let Some(flag) = body.first() else { return Ok(None) };
    if *flag > 1 {
        return Err(FrameError::Flag(*flag));
    }
    let Some(&[a, b, c, d]) = body.get(1..HEAD) else { return Err(FrameError::Truncated) };
    let length = u32::from_be_bytes([a, b, c, d]);
    let Some(bytes) = usize::try_from(length).ok().filter(|bytes| *bytes <= limit) else {
        return Err(FrameError::TooLong { length, limit });
    };
    let after = body.get(HEAD..).unwrap_or_default();
    let (message, rest) = after.split_at_checked(bytes).ok_or(FrameError::Truncated)?;
    *body = rest;
    Ok(Some((*flag == 1, message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 20;

    fn frame(flag: u8, message: &[u8]) -> Vec<u8> {
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        [&[flag][..], &length, message].concat()
    }

    type Frame<'b> = (bool, &'b [u8]);

    /// The frames of a body, and what follows them.
    fn taken(mut body: &[u8]) -> (Vec<Frame<'_>>, Result<(), FrameError>) {
        let mut found = Vec::new();
        loop {
            match take_frame(&mut body, LIMIT) {
                Ok(None) => return (found, Ok(())),
                Ok(Some(frame)) => found.push(frame),
                Err(error) => {
                    assert_eq!(take_frame(&mut body, LIMIT), Err(error), "nothing is taken");
                    return (found, Err(error));
                }
            }
        }
    }

    /// Each flag, with each kind of length, cut after each byte, alone and behind another frame.
    #[test]
    fn each_flag_length_and_truncation() {
        let first = frame(0, b"first");
        for flag in 0..=255 {
            for length in [0, 1, LIMIT - 1, LIMIT, LIMIT + 1, 70_000] {
                let body = frame(flag, &vec![7; length]);
                for cut in (0..=body.len()).filter(|cut| *cut < 30 || body.len() - cut < 3) {
                    let expected = if cut == 0 {
                        Ok(0)
                    } else if flag > 1 {
                        Err(FrameError::Flag(flag))
                    } else if cut >= HEAD && length > LIMIT {
                        Err(FrameError::TooLong { length: u32::try_from(length).unwrap(), limit: LIMIT })
                    } else if cut < body.len() {
                        Err(FrameError::Truncated)
                    } else {
                        Ok(1)
                    };
                    let (found, end) = taken(&body[..cut]);
                    let what = format!("flag {flag}, {length} bytes, cut at {cut}");
                    assert_eq!(end.map(|()| found.len()), expected, "{what}");
                    for (is_compressed, message) in found {
                        assert_eq!((is_compressed, message), (flag == 1, &vec![7; length][..]), "{what}");
                    }
                    let both = [&first, &body[..cut]].concat();
                    let (found, end) = taken(&both);
                    assert_eq!(end.map(|()| found.len()), expected.map(|frames| frames + 1), "{what}");
                    assert_eq!(found[0], (false, &b"first"[..]), "{what}");
                }
            }
        }
        let longest = [0, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(taken(&longest).1, Err(FrameError::TooLong { length: u32::MAX, limit: LIMIT }));
    }

    /// Frames of random messages, from a fixed seed.
    #[test]
    fn what_is_written_is_taken() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..2_000 {
            let mut written = Vec::new();
            for _ in 0..random.usize(..6) {
                let length = random.usize(..=LIMIT);
                let message: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(length).collect();
                written.push((random.bool(), message));
            }
            let body: Vec<u8> = written.iter().flat_map(|(flag, message)| frame((*flag).into(), message)).collect();
            let expected: Vec<_> = written.iter().map(|(flag, message)| (*flag, &**message)).collect();
            assert_eq!(taken(&body), (expected, Ok(())));
            // A cut is found, but between two frames.
            let cut = random.usize(..=body.len());
            let (found, end) = taken(&body[..cut]);
            let whole: usize = found.iter().map(|(_, message)| message.len() + HEAD).sum();
            assert_eq!(end.is_ok(), whole == cut, "{body:?} cut at {cut}");
        }
    }
}
