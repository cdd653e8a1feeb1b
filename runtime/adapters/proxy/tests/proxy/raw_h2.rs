//! A client of HTTP/2 that sends any frames, also those that a well-behaved client would not send.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;

/// A connection.
pub(crate) struct RawH2 {
    stream: Box<dyn Bytes>,
}

/// A stream of bytes in both directions.
pub(crate) trait Bytes: Read + Write {}

impl<S: Read + Write> Bytes for S {}

/// A frame.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl RawH2 {
    /// Connects, and sends the preface and settings.
    pub(crate) fn connect(address: SocketAddr, settings: &[u8]) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(8))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self::over(stream, settings)
    }

    /// The same on a connection that is there.
    pub(crate) fn over(stream: impl Bytes + 'static, settings: &[u8]) -> Self {
        let mut client = Self::begun(stream);
        client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        client.frame(SETTINGS, 0, 0, settings);
        client
    }

    /// Returns an end of a connection on which both have said that they speak HTTP/2.
    pub(crate) fn begun(stream: impl Bytes + 'static) -> Self {
        Self { stream: Box::new(stream) }
    }

    /// Sends bytes. Returns whether the connection takes them.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok() && self.stream.flush().is_ok()
    }

    /// Sends a frame.
    pub(crate) fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> bool {
        self.send(&frame(kind, flags, stream, payload))
    }

    /// Sends the head of a request.
    pub(crate) fn request(&mut self, method: &str, path: &str, flags: u8, stream: u32) -> bool {
        self.frame(HEADERS, flags, stream, &fields(method, path))
    }

    /// Reads a frame. `None`: the connection is closed, or silent for too long.
    pub(crate) fn read(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload).ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some(Frame { kind: head[3], flags: head[4], stream, payload })
    }

    /// Reads until a frame of this kind arrives.
    pub(crate) fn find(&mut self, kind: u8) -> Option<Frame> {
        std::iter::from_fn(|| self.read()).find(|frame| frame.kind == kind)
    }

    /// Reads until the connection is closed. Returns `false` if it stays open.
    pub(crate) fn closed(&mut self) -> bool {
        let mut bytes = [0; 4096];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return true,
                Ok(_) => {}
                // TLS was not ended, or what was sent was not read.
                Err(error) => return matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof),
            }
        }
    }
}

/// The bytes of a frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// The fields of a request for `a.example`, in literals of HPACK (RFC 7541, section 6.2).
pub(crate) fn fields(method: &str, path: &str) -> Vec<u8> {
    let mut fields = vec![0x86];
    for (name, value) in [(2, method), (4, path), (1, "a.example")] {
        fields.push(name);
        fields.push(u8::try_from(value.len()).unwrap());
        fields.extend_from_slice(value.as_bytes());
    }
    fields
}

/// A field in a literal with a new name.
pub(crate) fn literal(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

/// The status in a block of fields: one of the table, or a literal.
pub(crate) fn status(payload: &[u8]) -> String {
    let table = ["200", "204", "206", "304", "400", "404", "500"];
    match payload {
        [first @ 0x88..=0x8e, ..] => table[usize::from(first - 0x88)].to_owned(),
        // A literal with the name `:status`, its length (perhaps of a Huffman code) and its value.
        [_, length, rest @ ..] if length & 0x80 == 0 => String::from_utf8_lossy(&rest[..usize::from(*length)]).into(),
        [_, length, rest @ ..] => digits(&rest[..usize::from(length & 0x7f)]),
        _ => String::new(),
    }
}

/// Three digits in the Huffman code of HPACK: `0` to `2` have five bits, the others six.
fn digits(bytes: &[u8]) -> String {
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1)).collect();
    let (mut at, mut text) = (0, String::new());
    let number = |from: usize, to: usize| bits[from..to].iter().fold(0_u8, |sum, bit| sum << 1 | bit);
    while text.len() < 3 {
        let short = number(at, at + 5);
        if short < 3 {
            text.push(char::from(b'0' + short));
            at += 5;
        } else {
            text.push(char::from(b'3' + number(at, at + 6) - 0b01_1001));
            at += 6;
        }
    }
    text
}
