//! Services whose sockets are bound before the server starts.
//!
//! A port that is in use is then an error at the start, and port 0 (any free port) works.

use async_trait::async_trait;
use pingora::apps::ServerApp;
use pingora::server::{ListenFds, ShutdownWatch};
use pingora::services::Service;
use pingora::services::listening::Service as Listening;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{IntoRawFd, OwnedFd};

/// Binds `address`.
pub(crate) fn bind(address: SocketAddr) -> Result<TcpListener, crate::Error> {
    let listener = TcpListener::bind(address);
    prepare(listener.map_err(|error| crate::Error::new(format!("error: can't listen on {address}: {error}")))?)
}

/// Makes a socket ready for the server.
pub(crate) fn prepare(listener: TcpListener) -> Result<TcpListener, crate::Error> {
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// A service and its socket.
pub(crate) struct BoundService<A> {
    service: Listening<A>,
    socket: Option<(String, OwnedFd)>,
}

impl<A> BoundService<A> {
    pub(crate) fn new(mut service: Listening<A>, listener: TcpListener) -> std::io::Result<Self> {
        let address = listener.local_addr()?.to_string();
        service.add_tcp(&address);
        Ok(Self { service, socket: Some((address, listener.into())) })
    }
}

#[async_trait]
impl<A: ServerApp + Send + Sync + 'static> Service for BoundService<A> {
    async fn start_service(&mut self, sockets: Option<ListenFds>, shutdown: ShutdownWatch, tasks: usize) {
        if let (Some(sockets), Some((address, socket))) = (&sockets, self.socket.take()) {
            // Pingora uses the sockets of this table instead of binding its own, and owns them from then on.
            sockets.lock().add(address, socket.into_raw_fd());
        }
        self.service.start_service(sockets, shutdown, tasks).await;
    }

    fn name(&self) -> &str {
        self.service.name()
    }

    fn threads(&self) -> Option<usize> {
        self.service.threads()
    }

    fn listen_addresses(&self) -> Option<Vec<String>> {
        self.service.listen_addresses()
    }
}
