//! The command, and the signals that it knows.

use crate::client::{Client, get};
use crate::running::{Folder, config, eventually};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\ngrace: 60s\n";

/// A process, killed when dropped.
struct Process {
    child: Child,
    address: SocketAddr,
    metrics: SocketAddr,
}

impl Process {
    fn start(folder: &Folder) -> Self {
        folder.write("policy.yaml", "");
        let mut command = Command::new(env!("CARGO_BIN_EXE_celero-proxy"));
        command.arg("--config").arg(folder.write("proxy.yaml", &config(DEMO)));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut told = |before: &str, after: &str| -> SocketAddr {
            let found = lines.find_map(|line| Some(line.split_once(before)?.1.trim_end_matches(after).to_owned()));
            found.expect("the command tells where it listens").parse().unwrap()
        };
        let (address, metrics) = (told("listening on ", ""), told("metrics on http://", "/metrics"));
        // What nobody reads would stop it in the end.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address, metrics }
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("sh").arg("-c").arg(format!("kill -{name} {}", self.child.id())).status().unwrap();
        assert!(sent.success());
    }

    fn end(&mut self) -> ExitStatus {
        let mut status = None;
        eventually(
            || {
                status = self.child.try_wait().unwrap();
                status.is_some()
            },
            || "the process to end".into(),
        );
        status.unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_hangup_reads_the_files_again_and_opens_a_new_log() {
    let folder = Folder::new();
    let process = Process::start(&folder);
    let (log, old) = (folder.0.join("access.log"), folder.0.join("access.log.1"));
    let lines = |file| std::fs::read_to_string(file).unwrap_or_default().lines().count();
    assert_eq!(get(process.address, "/").status, 200);
    eventually(|| lines(&log) == 1, || "a line".into());
    std::fs::rename(&log, &old).unwrap();
    process.signal("HUP");
    let reloaded = || get(process.metrics, "/metrics").text().contains("\ncelero_policy_reloads 1\n");
    eventually(reloaded, || "a reload".into());
    assert_eq!(get(process.address, "/").status, 200);
    eventually(|| lines(&log) == 1, || "a line in the new log".into());
    assert_eq!(lines(&old), 1);
}

#[test]
fn a_termination_lets_requests_end() {
    let folder = Folder::new();
    let mut process = Process::start(&folder);
    let mut client = Client::connect(process.address);
    client.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nha");
    // The request must have come before the signal does.
    let open = || get(process.metrics, "/metrics").text().contains("\ncelero_requests_open 1\n");
    eventually(open, || "a request".into());
    process.signal("TERM");
    std::thread::sleep(std::time::Duration::from_millis(300));
    client.send("lf");
    assert_eq!(client.reply().status, 200);
    assert!(process.end().success());
}
