//! What a client says when it begins TLS, read before anything is computed for it.

use celero_policy::TlsHello;
use pingora::protocols::l4::stream::Stream as Socket;
use rustls::server::Acceptor;
use std::io::{Error, ErrorKind, Result};
use tokio::io::AsyncReadExt;

/// The most bytes that are read of a client before its hello is complete. Hellos have some hundred
/// bytes, with keys that resist quantum computers about two thousand.
const LARGEST_HELLO: usize = 32 << 10;

/// Reads the hello of a client, and leaves every byte to be read again by the handshake.
///
/// # Errors
/// The connection ends, or does not begin with a hello.
pub(crate) async fn read_hello(socket: &mut Socket) -> Result<TlsHello> {
    let mut acceptor = Acceptor::default();
    let (mut seen, mut piece) = (Vec::new(), [0; 2048]);
    loop {
        let count = socket.read(&mut piece).await?;
        let Some(mut new) = piece.get(..count).filter(|new| !new.is_empty()) else {
            return Err(Error::new(ErrorKind::UnexpectedEof, "the client ended before its hello was complete"));
        };
        seen.extend_from_slice(new);
        while !new.is_empty() {
            if acceptor.read_tls(&mut new)? == 0 {
                return Err(Error::new(ErrorKind::InvalidData, "the client's bytes are no hello"));
            }
            let accepted = acceptor.accept().map_err(|(error, _)| Error::new(ErrorKind::InvalidData, error))?;
            if let Some(accepted) = accepted {
                socket.rewind(&seen);
                return Ok(described(&accepted.client_hello()));
            }
        }
        if seen.len() > LARGEST_HELLO {
            return Err(Error::new(ErrorKind::InvalidData, format!("the hello is larger than {LARGEST_HELLO} bytes")));
        }
    }
}

fn described(hello: &rustls::server::ClientHello<'_>) -> TlsHello {
    let mut described = TlsHello::new();
    if let Some(name) = hello.server_name() {
        described = described.with_sni(name);
    }
    match hello.alpn() {
        Some(names) => described.with_alpn(names),
        None => described,
    }
}
