//! A client of HTTP/1.1 that sends what it is told, byte by byte if need be.

use crate::running::LONG;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A connection, which may be one of TLS.
pub(crate) struct Client<S: Read = TcpStream> {
    stream: BufReader<S>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    /// As in the status line.
    pub(crate) version: String,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::try_connect(address).unwrap()
    }

    pub(crate) fn try_connect(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(LONG))?;
        stream.set_nodelay(true)?;
        Ok(Self::over(stream))
    }

    /// Says that nothing more is sent.
    pub(crate) fn finish(&mut self) -> &mut Self {
        let _ = self.stream.get_mut().shutdown(std::net::Shutdown::Write);
        self
    }
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn over(stream: S) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    /// Sends bytes. A server that answered and left is found out when its answer is read.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let _ = self.stream.get_mut().write_all(bytes.as_ref());
        self
    }

    /// Sends a request with a body of known length.
    pub(crate) fn request(&mut self, line: &str, headers: &[&str], body: &[u8]) -> &mut Self {
        let mut head = format!("{line} HTTP/1.1\r\n");
        if !headers.iter().any(|header| header.starts_with("host:")) {
            head.push_str("host: localhost\r\n");
        }
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        if !body.is_empty() {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        self.send(head + "\r\n").send(body)
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = Vec::new();
        self.stream.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\r\n") {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.len() - 2);
        Ok(line.into_iter().map(char::from).collect())
    }

    /// Reads a response to a request that was not HEAD.
    pub(crate) fn reply(&mut self) -> Reply {
        self.try_reply(true).expect("a response")
    }

    /// Reads a response after which the connection stays.
    pub(crate) fn kept(&mut self) -> Reply {
        let reply = self.reply();
        assert_eq!(reply.header("connection"), "keep-alive");
        reply
    }

    /// Reads a response, if the connection gives one.
    pub(crate) fn try_reply(&mut self, with_body: bool) -> std::io::Result<Reply> {
        let line = self.line()?;
        let mut words = line.split(' ');
        let version = words.next().unwrap_or_default().to_owned();
        let status = words.next().and_then(|code| code.parse().ok()).expect("a status line");
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_lowercase(), value.trim().chars().map(|c| c as u8).collect()));
        }
        let mut reply = Reply { version, status, headers, body: Vec::new() };
        if !with_body || matches!(status, 100..=199 | 204 | 304) {
            return Ok(reply);
        }
        if reply.header("transfer-encoding") == "chunked" {
            loop {
                let size = usize::from_str_radix(self.line()?.trim(), 16).expect("the size of a chunk");
                let mut chunk = vec![0; size + 2];
                self.stream.read_exact(&mut chunk)?;
                reply.body.extend_from_slice(&chunk[..size]);
                if size == 0 {
                    break;
                }
            }
        } else {
            reply.body = vec![0; reply.header("content-length").parse().expect("a length")];
            self.stream.read_exact(&mut reply.body)?;
        }
        Ok(reply)
    }

    /// Reads a chunk of a response whose head was read; the last one is empty.
    pub(crate) fn chunk(&mut self) -> Vec<u8> {
        let size = usize::from_str_radix(self.line().unwrap().trim(), 16).expect("the size of a chunk");
        let mut chunk = self.bytes(size + 2);
        chunk.truncate(size);
        chunk
    }

    /// Reads so many bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Whether the other side has closed the connection.
    pub(crate) fn closed(&mut self) -> bool {
        match self.stream.fill_buf() {
            Ok(bytes) => bytes.is_empty(),
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }
}

impl Reply {
    /// The value of a header, `` if there is none.
    pub(crate) fn header(&self, name: &str) -> String {
        self.all(name).join(", ")
    }

    /// All values of a header.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        let found = self.headers.iter().filter(|(known, _)| known == name);
        found.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// What the demo server saw.
    pub(crate) fn echo(&self) -> Echo {
        Echo(serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no echo: {self:?}")))
    }
}

/// What the demo server says that it got.
pub(crate) struct Echo(pub(crate) serde_json::Value);

impl Echo {
    /// All values of a header.
    pub(crate) fn header(&self, name: &str) -> Vec<&str> {
        let headers = self.0["headers"].as_array().unwrap();
        headers.iter().filter(|header| header[0] == name).map(|header| header[1].as_str().unwrap()).collect()
    }
}

/// A GET on a connection of its own.
pub(crate) fn get(address: SocketAddr, path: &str) -> Reply {
    Client::connect(address).request(&format!("GET {path}"), &["connection: close"], b"").reply()
}

/// The same with headers.
pub(crate) fn get_with(address: SocketAddr, path: &str, headers: &[&str]) -> Reply {
    Client::connect(address).request(&format!("GET {path}"), headers, b"").reply()
}

/// A POST.
pub(crate) fn post(address: SocketAddr, path: &str, body: &[u8]) -> Reply {
    Client::connect(address).request(&format!("POST {path}"), &[], body).reply()
}
