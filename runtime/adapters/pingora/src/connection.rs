//! The phase `connection` for sockets of Pingora.

use celero_policy::{ClientConnection, ConnectionOutcome, Policy, TlsHello};
use pingora::protocols::GetSocketDigest;
use std::net::SocketAddr;
use std::sync::Arc;

/// Runs the phase `connection` for a socket that was accepted. Call it from
/// `ServerApp::process_new` or where you accept sockets, before anything is read but the header of
/// the PROXY protocol, whose addresses are then those of the socket's digest.
///
/// `via` says how the address of the client is known, `connection` or `proxy-protocol`; rules read
/// it as `source.via`. `hello` is what the client says when it begins TLS; read it first if
/// [`Policy::reads_tls_hello`].
///
/// Keep what is returned until the connection has ended: limits of open connections count it.
///
/// # Errors
/// Returns the name of the rule that denies the connection. Close the socket without an answer.
pub fn admit_connection(
    policy: &Policy,
    socket: &impl GetSocketDigest,
    via: &'static str,
    hello: Option<TlsHello>,
) -> Result<ClientConnection, Arc<str>> {
    let digest = socket.get_socket_digest();
    let end = |address: Option<&pingora::protocols::l4::socket::SocketAddr>| -> Option<SocketAddr> {
        let address = address?.as_inet()?;
        // An IPv4 address in IPv6 notation is the IPv4 address, as in the phases of requests.
        Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
    };
    let ends = digest.as_ref().map(|digest| (end(digest.peer_addr()), end(digest.local_addr())));
    let (client, local) = ends.unwrap_or_default();
    let connection = ClientConnection::new(client, local).with_via(via);
    let mut connection = match hello {
        Some(hello) => connection.with_hello(hello),
        None => connection,
    };
    match policy.connection(&mut connection) {
        ConnectionOutcome::Accept => Ok(connection),
        ConnectionOutcome::Close { rule } => Err(rule),
    }
}
