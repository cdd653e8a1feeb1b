//! Replaces the program while it runs: a new process gets the sockets, and this one ends the requests that it has.
//!
//! The program is started again as it was started, with one end of a pair of sockets as its
//! standard input. Over it the new process receives the sockets of the listeners, which have one
//! queue of connections in both processes. When it serves, it says so, and only then this process
//! stops accepting: no connection is refused. If it fails before, nothing changes.
//!
//! Invariant: a process that is replaced accepts connections until the new one has said that it serves. Test:
//! `runtime/adapters/proxy/tests/proxy/hand_over.rs::nothing_is_lost_under_load`.

use crate::error::Error;
use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use std::ffi::OsString;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Tells the new process what its standard input is.
const VARIABLE: &str = "CELERO_PROXY_TAKES_OVER";

/// How long the new process may take until it serves. A large policy takes seconds to compile.
const START: Duration = Duration::from_secs(120);

/// How long the new process waits for the sockets.
const RECEIVE: Duration = Duration::from_secs(10);

/// The bytes of a message: an address as a text, padded with spaces, or only spaces after the last one.
const MESSAGE: usize = 80;

/// What the new process says when it serves.
const SERVES: &[u8; 1] = b"s";

/// How this process was started, and what was started to replace it.
pub(crate) struct Program {
    command: Vec<OsString>,
    started: Mutex<Started>,
}

#[derive(Default)]
struct Started {
    /// The new process.
    child: Option<Child>,
    /// Whether this process was told to stop: then nothing replaces it.
    stops: bool,
}

/// A socket that listens, and the address in the configuration that it was opened for: port 0 means any there.
pub(crate) type Listening = (SocketAddr, TcpListener);

impl Program {
    /// Returns how this process was started. The program is looked up again by the same name, so
    /// that a new version of it is found.
    pub(crate) fn of_this_process() -> Self {
        Self { command: std::env::args_os().collect(), started: Mutex::default() }
    }

    /// Starts the program with these sockets, and waits until it serves. Returns its process ID. Blocks.
    pub(crate) fn replace(&self, sockets: &[Listening]) -> Result<u32, Error> {
        let Some((name, arguments)) = self.command.split_first() else {
            return Err(Error::new("the program has no name"));
        };
        let (mut own, theirs) = UnixStream::pair()?;
        let mut command = Command::new(name);
        command
            .args(arguments)
            .env(VARIABLE, "1")
            // Those of a service manager were for this process.
            .env_remove("LISTEN_FDS")
            .env_remove("LISTEN_PID")
            .env_remove("LISTEN_FDNAMES")
            .stdin(Stdio::from(OwnedFd::from(theirs)));
        let process = self
            .start(command)
            .map_err(|error| Error::new(format!("{} can't be started: {error}", name.to_string_lossy())))?;
        match give(&mut own, sockets) {
            Ok(()) => Ok(process),
            Err(error) => Err(Error::new(format!("the new process {}", self.ended(&error)))),
        }
    }

    /// Starts the new process. Afterwards only that has its end of the pair of sockets: the
    /// command, which has a copy, is dropped.
    fn start(&self, mut command: Command) -> std::io::Result<u32> {
        let mut started = self.lock();
        if started.stops {
            return Err(std::io::Error::other("this process was told to stop"));
        }
        let child = command.spawn()?;
        Ok(started.child.insert(child).id())
    }

    /// Ends a new process that does not serve. Returns what happened to it.
    fn ended(&self, error: &std::io::Error) -> String {
        let child = self.lock().child.take();
        let status = child.map(|mut child| {
            // It may have closed its end and live on. The status of one that has ended stays as it is.
            let _ = child.kill();
            child.wait()
        });
        match (error.kind(), status) {
            (std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut, _) => {
                format!("did not serve within {START:?} and was ended")
            }
            (_, Some(Ok(status))) if status.code().is_some() => format!("ended before it served ({status})"),
            (_, Some(Ok(status))) => format!("did not serve, and was ended ({status}): {error}"),
            _ => format!("does not answer: {error}"),
        }
    }

    /// Kills the new process, if there is one, and lets no other start: this process was told to
    /// stop, and the new one is part of the same service.
    pub(crate) fn stop(&self) {
        let mut started = self.lock();
        started.stops = true;
        if let Some(child) = &mut started.child {
            let _ = child.kill();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Started> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends the sockets, and waits until the other process serves.
fn give(other: &mut UnixStream, sockets: &[Listening]) -> std::io::Result<()> {
    for (address, socket) in sockets {
        send(other, &address.to_string(), Some(socket))?;
    }
    send(other, "", None)?;
    other.set_read_timeout(Some(START))?;
    let mut said = [0; SERVES.len()];
    other.read_exact(&mut said)?;
    if said == *SERVES { Ok(()) } else { Err(std::io::ErrorKind::InvalidData.into()) }
}

fn send(other: &UnixStream, text: &str, socket: Option<&TcpListener>) -> std::io::Result<()> {
    let message = format!("{text:MESSAGE$}");
    let descriptors: Vec<_> = socket.iter().map(|socket| socket.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    let sent = sendmsg(other, &[IoSlice::new(message.as_bytes())], &mut control, SendFlags::NOSIGNAL)?;
    if sent == message.len() { Ok(()) } else { Err(std::io::ErrorKind::WriteZero.into()) }
}

/// The process before this one, which waits until this one serves.
pub(crate) struct Predecessor(UnixStream);

impl Predecessor {
    /// Returns the process that has started this one to be replaced by it, and its sockets. `None`: there is none.
    ///
    /// # Errors
    /// Returns an error if the sockets don't arrive.
    pub(crate) fn find() -> Result<Option<(Self, Vec<Listening>)>, Error> {
        if std::env::var_os(VARIABLE).is_none() {
            return Ok(None);
        }
        let other = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        let taken = take(&other);
        let sockets = taken.map_err(|error| {
            Error::new(format!("error: {VARIABLE} is set, but no sockets arrive on the standard input: {error}"))
        })?;
        Ok(Some((Self(other), sockets)))
    }

    /// Says that this process serves: the other one then stops accepting.
    ///
    /// # Errors
    /// The other process is gone. Nobody asks for this one any more, so it must end.
    pub(crate) fn replaced(mut self) -> Result<(), Error> {
        let told = self.0.write_all(SERVES);
        told.map_err(|error| Error::new(format!("the process that it was to replace is gone: {error}")))
    }
}

/// Receives the sockets.
fn take(other: &UnixStream) -> std::io::Result<Vec<Listening>> {
    other.set_read_timeout(Some(RECEIVE))?;
    let mut sockets = Vec::new();
    loop {
        let (text, socket) = receive(other)?;
        let invalid = |reason: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, reason.to_owned());
        match (text.trim_end(), socket) {
            ("", None) => return Ok(sockets),
            (address, Some(socket)) => {
                let address = address.parse().map_err(|_| invalid("an address is malformed"))?;
                socket.local_addr()?;
                sockets.push((address, socket));
            }
            (_, None) => return Err(invalid("an address has no socket")),
        }
    }
}

fn receive(other: &UnixStream) -> std::io::Result<(String, Option<TcpListener>)> {
    let mut message = Vec::with_capacity(MESSAGE);
    let mut socket = None;
    while message.len() < MESSAGE {
        let mut piece = vec![0; MESSAGE.saturating_sub(message.len())];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(other, &mut [IoSliceMut::new(&mut piece)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
        if received.bytes == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        for ancillary in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = ancillary {
                socket = descriptors.map(TcpListener::from).last().or(socket);
            }
        }
        message.extend_from_slice(piece.get(..received.bytes).unwrap_or_default());
    }
    let text = String::from_utf8(message).map_err(|_| std::io::Error::from(std::io::ErrorKind::InvalidData))?;
    Ok((text, socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_arrive_with_their_addresses() {
        let (own, other) = UnixStream::pair().unwrap();
        let sockets: Vec<Listening> = ["127.0.0.1:0", "[::1]:0"]
            .iter()
            .filter_map(|text| Some((text.parse().unwrap(), TcpListener::bind(text).ok()?)))
            .collect();
        for (address, socket) in &sockets {
            send(&own, &address.to_string(), Some(socket)).unwrap();
        }
        send(&own, "", None).unwrap();
        let taken = take(&other).unwrap();
        let shown = |sockets: &[Listening]| -> Vec<_> {
            sockets.iter().map(|(address, socket)| (*address, socket.local_addr().unwrap())).collect()
        };
        assert_eq!(shown(&taken), shown(&sockets));
    }

    fn program(script: &str) -> Program {
        let command = ["sh", "-c", script].map(OsString::from).to_vec();
        Program { command, started: Mutex::default() }
    }

    #[test]
    fn a_process_that_does_not_serve_is_ended() {
        for script in ["exec 0<&-; exec sleep 100", "echo x >&0; exec sleep 100"] {
            let program = program(script);
            let error = program.replace(&[]).unwrap_err().to_string();
            assert!(error.starts_with("the new process did not serve, and was ended (signal: 9"), "{error}");
            assert!(program.lock().child.is_none());
        }
        let error = program("exit 3").replace(&[]).unwrap_err().to_string();
        assert_eq!(error, "the new process ended before it served (exit status: 3)");
    }

    #[test]
    fn a_stop_ends_the_new_process_and_lets_none_start() {
        let serves = program("echo s >&0; exec sleep 100");
        let process = serves.replace(&[]).unwrap();
        serves.stop();
        let mut child = serves.lock().child.take().unwrap();
        assert_eq!((child.id(), child.wait().unwrap().code()), (process, None));
        assert!(serves.replace(&[]).unwrap_err().to_string().ends_with("this process was told to stop"));
        // It is the same whether the new process is there already or not.
        let silent = program("exec sleep 100");
        std::thread::scope(|scope| {
            let replacing = scope.spawn(|| silent.replace(&[]));
            silent.stop();
            assert!(replacing.join().unwrap().is_err());
        });
    }

    #[test]
    fn a_process_learns_that_the_one_before_it_is_gone() {
        let (own, other) = UnixStream::pair().unwrap();
        drop(own);
        assert!(Predecessor(other).replaced().is_err());
        let (mut own, other) = UnixStream::pair().unwrap();
        assert!(Predecessor(other).replaced().is_ok());
        assert!(own.read_exact(&mut [0; SERVES.len()]).is_ok());
    }

    #[test]
    fn what_is_no_hand_over_is_refused() {
        for (sent, reason) in [
            (format!("{:MESSAGE$}", "127.0.0.1:1"), "an address has no socket"),
            ("short".to_owned(), "unexpected end of file"),
            (String::new(), "unexpected end of file"),
        ] {
            let (mut own, other) = UnixStream::pair().unwrap();
            own.write_all(sent.as_bytes()).unwrap();
            drop(own);
            assert_eq!(take(&other).unwrap_err().to_string(), reason);
        }
        let (own, other) = UnixStream::pair().unwrap();
        send(&own, "here", Some(&TcpListener::bind("127.0.0.1:0").unwrap())).unwrap();
        assert_eq!(take(&other).unwrap_err().to_string(), "an address is malformed");
    }
}
