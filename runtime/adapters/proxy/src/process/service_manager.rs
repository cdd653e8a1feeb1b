//! What the proxy and a service manager such as systemd tell each other: sockets that were opened
//! before the start, and the state of the service.
//!
//! Without a service manager all of this does nothing.

use crate::error::Error;
use crate::process::hand_over::{Listening, Predecessor};
use listenfd::ListenFd;
use sd_notify::NotifyState;
use std::net::{SocketAddr, TcpListener};

/// The sockets that the service manager has opened for this process (systemd: `ListenStream=`), or
/// that the process before this one hands over.
pub(crate) struct InheritedSockets {
    sockets: Vec<Listening>,
    predecessor: Option<Predecessor>,
}

impl InheritedSockets {
    /// Takes the sockets of the process before this one, or of the environment (`LISTEN_FDS`, `LISTEN_PID`).
    ///
    /// # Errors
    /// Returns an error if one of them does not listen for TCP, or none arrives.
    pub(crate) fn take() -> Result<Self, Error> {
        if let Some((predecessor, sockets)) = Predecessor::find()? {
            return Ok(Self { sockets, predecessor: Some(predecessor) });
        }
        let mut sockets = ListenFd::from_env();
        let mut found = Vec::new();
        for number in 0..sockets.len() {
            let socket = sockets.take_tcp_listener(number).map_err(|error| {
                Error::new(format!("error: socket {number} of the service manager does not listen for TCP: {error}"))
            })?;
            if let Some(socket) = socket {
                found.push((socket.local_addr()?, socket));
            }
        }
        Ok(Self { sockets: found, predecessor: None })
    }

    /// Returns the socket for an address.
    pub(crate) fn of(&mut self, address: SocketAddr) -> Option<TcpListener> {
        let position = self.sockets.iter().position(|(known, _)| *known == address)?;
        Some(self.sockets.remove(position).1)
    }

    /// Checks that all sockets of a service manager were used. Those of a process before this one
    /// may be left: they are closed. Returns that process.
    ///
    /// # Errors
    /// Returns an error that names a socket that no listener has as its address: clients would
    /// connect to it and wait for ever.
    pub(crate) fn all_used(self) -> Result<Option<Predecessor>, Error> {
        let Some((address, _)) = self.sockets.first() else { return Ok(self.predecessor) };
        if self.predecessor.is_some() {
            log::info!("nothing listens on {address} any more");
            return Ok(self.predecessor);
        }
        Err(Error::new(format!(
            "error: the service manager passes a socket for {address}, which is the address of no listener\n  = help: write the address \
             in the configuration as in the socket unit; systemd makes `ListenStream=443` the address `\"[::]:443\"`"
        )))
    }
}

/// Says that the sockets are open and the files loaded, and in a sentence how the proxy is.
pub(crate) fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// Says that files are being loaded.
pub(crate) fn reloading() {
    if let Ok(now) = NotifyState::monotonic_usec_now() {
        tell(&[NotifyState::Reloading, now]);
    }
}

/// Says that another process has taken over.
pub(crate) fn replaced_by(process: u32) {
    tell(&[NotifyState::MainPid(process)]);
}

/// Says that the proxy is about to stop.
pub(crate) fn stopping() {
    tell(&[NotifyState::Stopping]);
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        log::warn!("the service manager can't be told the state of the proxy: {error}");
    }
}
