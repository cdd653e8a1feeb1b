//! Child processes on loopback: started, waited for until they listen, measured, and killed on drop.

use crate::Failure;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// This program as a child process in another role. Killed on drop.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

/// A loopback address with a free port.
fn free() -> Result<SocketAddr, Failure> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

impl Process {
    /// Starts a role on a free port, and waits up to 60 s until it listens.
    pub(crate) fn start(arguments: &[&str]) -> Result<Self, Failure> {
        let address = free()?;
        let child = Command::new(std::env::current_exe()?)
            .args(arguments)
            .args(["--listen", &address.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        let mut process = Self { child, address };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = process.child.try_wait()? {
                return Err(format!("{} ended with {status}", arguments.join(" ")).into());
            }
            if start.elapsed() > Duration::from_secs(60) {
                return Err(format!("{} does not listen", arguments.join(" ")).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(process)
    }

    /// CPU time of all its threads so far.
    pub(crate) fn cpu(&self) -> Result<Duration, Failure> {
        let mut nanos: u64 = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            // A thread may end meanwhile.
            let Ok(text) = std::fs::read_to_string(task?.path().join("schedstat")) else { continue };
            nanos = nanos.saturating_add(text.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0));
        }
        Ok(Duration::from_nanos(nanos))
    }

    /// Sends one request and returns the whole answer, head and body.
    pub(crate) fn get(&self, target: &str, headers: &[(String, String)]) -> Result<String, Failure> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let mut request = format!("GET {target} HTTP/1.1\r\nconnection: close\r\nx-echo: 1\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
