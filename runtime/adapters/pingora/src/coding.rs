//! The codings that responses are compressed with, and their encoders.

use brotli::CompressorWriter;
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// The window of brotli, as a power of two: 512 KiB. It bounds the memory of the client's decoder.
/// That of the encoder depends on the level too.
const BROTLI_WINDOW: u32 = 19;
/// The same of zstd. RFC 9659, section 3.1 allows at most 8 MiB.
const ZSTD_WINDOW: u32 = 19;
/// The highest level of brotli and zstd. At 9, a stream would take 27 and 10 MiB instead of 2 and 3.
const MAX_LEVEL: u32 = 5;
/// The bytes that brotli's encoder hands over at a time.
const BROTLI_BUFFER: usize = 4 << 10;

/// A coding of a response body (RFC 9110, section 8.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Coding {
    /// `br` (RFC 7932).
    Brotli,
    /// `zstd` (RFC 8878), with a window as RFC 9659 asks for.
    Zstd,
    /// `gzip` (RFC 1952).
    Gzip,
}

impl Coding {
    /// All codings, the preferred one first.
    pub const ALL: [Self; 3] = [Self::Brotli, Self::Zstd, Self::Gzip];

    /// Returns the name in `content-encoding` and `accept-encoding`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// Returns the coding of this name, in lower case. `x-gzip` is `gzip` (RFC 9110, section 8.4.1.3).
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let name = if name == "x-gzip" { "gzip" } else { name };
        Self::ALL.into_iter().find(|coding| coding.name() == name)
    }
}

/// What compresses one body.
pub(crate) enum Encoder {
    Brotli(Box<CompressorWriter<Vec<u8>>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
    Gzip(GzEncoder<Vec<u8>>),
}

impl Encoder {
    /// Returns an encoder with a level from 1, the fastest, to 9. Brotli and zstd take levels above
    /// [`MAX_LEVEL`] as that.
    ///
    /// # Errors
    /// Returns an error if there is no memory for it.
    pub(crate) fn new(coding: Coding, level: u32) -> io::Result<Self> {
        let level = level.clamp(1, if coding == Coding::Gzip { 9 } else { MAX_LEVEL });
        Ok(match coding {
            Coding::Brotli => {
                Self::Brotli(Box::new(CompressorWriter::new(Vec::new(), BROTLI_BUFFER, level, BROTLI_WINDOW)))
            }
            Coding::Zstd => {
                let level = i32::try_from(level).unwrap_or_default();
                let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), level)?;
                encoder.window_log(ZSTD_WINDOW)?;
                Self::Zstd(encoder)
            }
            Coding::Gzip => Self::Gzip(GzEncoder::new(Vec::new(), flate2::Compression::new(level))),
        })
    }

    /// Compresses a piece of the body.
    pub(crate) fn write(&mut self, data: &[u8]) -> io::Result<()> {
        match self {
            Self::Brotli(encoder) => encoder.write_all(data),
            Self::Zstd(encoder) => encoder.write_all(data),
            Self::Gzip(encoder) => encoder.write_all(data),
        }
    }

    /// Makes all that was written part of the output: a client can decode it without what follows.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Brotli(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
            Self::Gzip(encoder) => encoder.flush(),
        }
    }

    /// Returns the output that was not taken yet.
    pub(crate) fn output(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Brotli(encoder) => encoder.get_mut(),
            Self::Zstd(encoder) => encoder.get_mut(),
            Self::Gzip(encoder) => encoder.get_mut(),
        }
    }

    /// Ends the body, and returns the rest of the output.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            // A vector takes everything.
            Self::Brotli(encoder) => Ok(encoder.into_inner()),
            Self::Zstd(encoder) => encoder.finish(),
            Self::Gzip(encoder) => encoder.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn decoded(coding: Coding, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        match coding {
            Coding::Brotli => brotli::Decompressor::new(bytes, 4096).read_to_end(&mut plain)?,
            Coding::Zstd => zstd::stream::read::Decoder::new(bytes)?.read_to_end(&mut plain)?,
            Coding::Gzip => flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain)?,
        };
        Ok(plain)
    }

    #[test]
    fn every_body_comes_back() {
        // Texts that repeat, and bytes that don't, in pieces of many sizes, with flushes between.
        let mut noise = 1_u64;
        let mut random = move || {
            noise ^= noise << 13;
            noise ^= noise >> 7;
            noise ^= noise << 17;
            noise
        };
        for coding in Coding::ALL {
            for level in 1..=9 {
                for pieces in [0, 1, 3, 40] {
                    let mut encoder = Encoder::new(coding, level).unwrap();
                    let (mut plain, mut sent) = (Vec::new(), Vec::new());
                    for _ in 0..pieces {
                        let length = usize::try_from(random() % 70_000).unwrap();
                        let piece: Vec<u8> = match random() % 3 {
                            0 => (0..length).map(|_| random().to_le_bytes()[0]).collect(),
                            1 => b"some text, ".iter().copied().cycle().take(length).collect(),
                            _ => Vec::new(),
                        };
                        encoder.write(&piece).unwrap();
                        plain.extend(piece);
                        if random() % 2 == 0 {
                            encoder.flush().unwrap();
                        }
                        sent.append(encoder.output());
                    }
                    sent.extend(encoder.finish().unwrap());
                    assert!(decoded(coding, &sent).unwrap() == plain, "{coding:?} {level} {pieces}");
                }
            }
        }
    }

    #[test]
    fn a_flush_sends_everything_so_far() {
        for coding in Coding::ALL {
            let mut encoder = Encoder::new(coding, 5).unwrap();
            encoder.write(b"first").unwrap();
            encoder.flush().unwrap();
            let mut plain = [0; 5];
            let sent = encoder.output().clone();
            match coding {
                Coding::Brotli => brotli::Decompressor::new(&*sent, 4096).read_exact(&mut plain).unwrap(),
                Coding::Zstd => zstd::stream::read::Decoder::new(&*sent).unwrap().read_exact(&mut plain).unwrap(),
                Coding::Gzip => flate2::read::GzDecoder::new(&*sent).read_exact(&mut plain).unwrap(),
            }
            assert_eq!(&plain, b"first", "{coding:?}");
        }
    }

    /// The frame's header says what a decoder has to keep (RFC 8878, section 3.1.1.1.2): five bits
    /// are the window's power of two above 10.
    #[test]
    fn the_window_of_zstd_is_the_same_at_all_levels() {
        for level in 1..=9 {
            let mut encoder = Encoder::new(Coding::Zstd, level).unwrap();
            encoder.write(b"first").unwrap();
            encoder.flush().unwrap();
            let [_, _, _, _, descriptor, window, ..] = encoder.output()[..] else { panic!("no header") };
            let has_no_window = descriptor & 0x20 != 0;
            assert_eq!((has_no_window, u32::from(window)), (false, ZSTD_WINDOW.saturating_sub(10) << 3), "{level}");
        }
    }

    #[test]
    fn names_are_those_of_the_registry() {
        for coding in Coding::ALL {
            assert_eq!(Coding::of_name(coding.name()), Some(coding));
        }
        assert_eq!(Coding::of_name("x-gzip"), Some(Coding::Gzip));
        assert_eq!(Coding::of_name("deflate"), None);
    }
}
