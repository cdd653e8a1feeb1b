//! The command, and the signals that it knows.

use crate::client::{Client, get};
use crate::running::{Folder, config, eventually};
use crate::scripted::Scripted;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

pub(crate) const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\ngrace: 60s\n";

/// A process, killed when dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Those of all listeners.
    addresses: Vec<SocketAddr>,
    pub(crate) metrics: SocketAddr,
    said: Arc<Mutex<String>>,
}

impl Process {
    pub(crate) fn start(folder: &Folder) -> Self {
        Self::start_with(folder, DEMO)
    }

    pub(crate) fn start_with(folder: &Folder, rest: &str) -> Self {
        folder.write("policy.yaml", "empty: allowed\n");
        let file = folder.write("proxy.yaml", &config(rest));
        Self::spawn(Command::new(env!("CARGO_BIN_EXE_celero-proxy")).arg("--config").arg(file))
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut addresses: Vec<SocketAddr> = Vec::new();
        let metrics = lines.find_map(|line| {
            addresses
                .extend(line.split_once("listening on ").map(|(_, address)| address.parse::<SocketAddr>().unwrap()));
            Some(line.split_once("metrics on http://")?.1.trim_end_matches("/metrics").to_owned())
        });
        let metrics = metrics.expect("the command tells where it listens").parse().unwrap();
        let address = addresses[0];
        // What nobody reads would stop it in the end.
        let said = Arc::new(Mutex::new(String::new()));
        let log = Arc::clone(&said);
        std::thread::spawn(move || lines.for_each(|line| *log.lock().unwrap() += &format!("{line}\n")));
        Self { child, address, addresses, metrics, said }
    }

    /// The process log.
    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    pub(crate) fn all_addresses(&self) -> Vec<SocketAddr> {
        self.addresses.clone()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("sh").arg("-c").arg(format!("kill -{name} {}", self.child.id())).status().unwrap();
        assert!(sent.success());
    }

    pub(crate) fn end(&mut self) -> ExitStatus {
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
    let reloaded = || get(process.metrics, "/metrics").text().contains("\ncelero_policy_reloads_total 1\n");
    eventually(reloaded, || "a reload".into());
    assert_eq!(get(process.address, "/").status, 200);
    eventually(|| lines(&log) == 1, || "a line in the new log".into());
    assert_eq!(lines(&old), 1);
}

/// As soon as the log says where the proxy listens: before that nobody knows that it runs.
#[test]
fn signals_count_from_the_start() {
    for signal in ["HUP", "USR1"] {
        for _ in 0..5 {
            let folder = Folder::new();
            let process = Process::start(&folder);
            process.signal(signal);
            let says = || process.said().contains(&format!("SIG{signal}"));
            eventually(says, || format!("SIG{signal} in {}", process.said()));
            assert_eq!(get(process.address, "/").status, 200);
        }
    }
}

/// None of these ends the process as it would if the proxy did not await it.
#[test]
fn signals_to_stop_count_from_the_start() {
    let graceful = "SIGTERM: no new connections are accepted; 0 open requests have up to 60s";
    for (signal, expected) in [("TERM", graceful), ("QUIT", graceful), ("INT", "SIGINT: 0 open requests are cut off")] {
        for _ in 0..5 {
            let folder = Folder::new();
            let mut process = Process::start(&folder);
            process.signal(signal);
            let status = process.end();
            let ended = || process.said().contains(expected) && process.said().ends_with("INFO  stopped\n");
            eventually(ended, || format!("SIG{signal}, {status}: {}", process.said()));
            assert!(status.success(), "SIG{signal}: {status}");
        }
    }
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

#[test]
fn the_log_says_what_signals_and_reloads_do() {
    let folder = Folder::new();
    let mut process = Process::start(&folder);
    folder.write("policy.yaml", "request: [{ name: no-admin, when: 'request.path == \"/admin\"', deny: true }]\n");
    let says = |text: &str| {
        eventually(|| process.said().contains(text), || format!("{text:?} in:\n{}", process.said()));
    };
    says("policy.yaml changed; now in force: a policy with 1 rule; new: no-admin");
    process.signal("HUP");
    says("INFO  SIGHUP; now in force: a policy with 1 rule\n");
    folder.write("policy.yaml", "request: [{ deny: treu }]\n");
    says("ERROR ");
    says("policy.yaml changed, but nothing changes because of errors in the files:\n");
    process.signal("TERM");
    says("SIGTERM: no new connections are accepted; 0 open requests have up to 60s");
    assert!(process.end().success());
    eventually(|| process.said().contains("INFO  stopped\n"), || format!("an end:\n{}", process.said()));
}

/// Waits until the access log has a text.
#[track_caller]
fn logs(folder: &Folder, text: &str) {
    let log = || std::fs::read_to_string(folder.0.join("access.log")).unwrap_or_default();
    eventually(|| log().contains(text), || format!("{text} in:\n{}", log()));
}

/// What clients do is no error of the proxy, and no words of a library's code are in the log.
#[test]
fn clients_leave_no_errors_in_the_log() {
    let folder = Folder::new();
    let process = Process::start(&folder);
    for bytes in ["GET / HT", "GARBAGE\r\n\r\n", "POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf"] {
        for address in [process.address, process.metrics] {
            Client::connect(address).send(bytes);
        }
    }
    assert_eq!(get(process.address, "/").status, 200);
    let open = || get(process.metrics, "/metrics").text().contains("\ncelero_requests_open 0\n");
    eventually(open, || "no open requests".into());
    logs(&folder, "the client closed the connection");
    let said = process.said();
    assert!(!said.contains("ERROR") && !said.contains("WARN") && !said.contains("Fail to proxy"), "{said}");
}

#[test]
fn failures_of_servers_are_warnings() {
    let folder = Folder::new();
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let rest = format!("upstreams: [{{ name: api, servers: [\"{gone}\"] }}]\nroutes: [{{ upstream: api }}]\n");
    let process = Process::start_with(&folder, &rest);
    assert_eq!(get(process.address, "/").status, 502);
    let expected = format!("WARN  upstream api, server {gone}: ");
    eventually(|| process.said().contains(&expected), || format!("{expected} in:\n{}", process.said()));
    let refused = || process.said().contains("refuses connections");
    eventually(refused, || format!("a reason in:\n{}", process.said()));
    assert!(!process.said().contains("ERROR"), "{}", process.said());
    logs(&folder, "\"error\":\"no server of the upstream accepts a connection\"");
}

/// Without bytes of the server.
#[test]
fn a_malformed_response_is_a_warning_that_says_why() {
    let said = "HTTP/1.1 200 OK\r\ntransfer-encoding: x-secret\r\n\r\n";
    for (response, why) in [(said, ": a transfer-encoding other than chunked\n"), ("x-secret\r\n\r\n", "\n")] {
        let folder = Folder::new();
        let server = Scripted::start();
        let process = Process::start_with(&folder, &server.config());
        let mut client = Client::connect(process.address);
        client.request("GET /", &[], b"");
        server.until("\r\n\r\n");
        server.say(response);
        assert_eq!(client.reply().status, 502);
        let address = server.address;
        let expected = format!("WARN  upstream one, server {address}: the server's response is malformed{why}");
        eventually(|| process.said().contains(&expected), || format!("{expected} in:\n{}", process.said()));
        assert!(!process.said().contains("x-secret"), "{}", process.said());
    }
}

#[test]
fn the_log_is_json_if_asked_for() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    let file = folder.write("proxy.yaml", &config(DEMO));
    let mut command = Command::new(env!("CARGO_BIN_EXE_celero-proxy"));
    command.args(["--log-format", "json", "--config"]).arg(file).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    // There may be a warning about the limit of open files before it.
    let line = lines.find(|line| line.contains("listening on")).unwrap();
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(line["level"], "info");
    assert!(line["message"].as_str().unwrap().starts_with("listening on 127.0.0.1:"), "{line}");
    assert!(line["time"].as_str().unwrap().ends_with('Z') && line.as_object().unwrap().len() == 3, "{line}");
}

/// For rotation without a reload.
#[test]
fn a_user_signal_opens_a_new_log() {
    let folder = Folder::new();
    let process = Process::start(&folder);
    let log = folder.0.join("access.log");
    let lines = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    assert_eq!(get(process.address, "/").status, 200);
    eventually(|| lines() == 1, || "a line".into());
    std::fs::rename(&log, folder.0.join("access.log.1")).unwrap();
    process.signal("USR1");
    eventually(|| process.said().contains("SIGUSR1: the access log is reopened"), || process.said());
    assert_eq!(get(process.address, "/").status, 200);
    eventually(|| lines() == 1, || "a line in the new log".into());
    assert!(get(process.metrics, "/metrics").text().contains("\ncelero_policy_reloads_total 0\n"));
}

/// Whoever reads JSON can read why the proxy did not start.
#[test]
fn an_error_at_the_start_is_json_too() {
    let folder = Folder::new();
    folder.write("policy.yaml", "request: [{ deny: treu }]\n");
    let file = folder.write("proxy.yaml", &config(DEMO));
    let run = |format: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_celero-proxy"));
        let output = command.args(["--log-format", format, "--config"]).arg(&file).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let line: serde_json::Value = serde_json::from_str(&run("json")).unwrap();
    assert_eq!(line["level"], "error");
    assert!(line["message"].as_str().unwrap().starts_with("error[policy-value]: "), "{line}");
    assert!(run("text").starts_with("error[policy-value]: "));
}

/// The soft limit of open files is often 1024, however many the hard one allows.
#[test]
fn as_many_files_may_be_open_as_connections_need() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    let rest = |connections: u32| config(&format!("{DEMO}limits: {{ connections: {connections} }}\n"));
    let file = folder.write("proxy.yaml", &rest(200));
    let script = format!(
        "ulimit -n 600 && ulimit -S -n 256 && exec {} --config {}",
        env!("CARGO_BIN_EXE_celero-proxy"),
        file.display()
    );
    let process = Process::spawn(Command::new("sh").arg("-c").arg(script));
    let may_open = |files: u32| {
        let page = || get(process.metrics, "/metrics").text();
        eventually(|| page().contains(&format!("\nprocess_max_fds {files}\n")), page);
    };
    // Two for each connection, the unused ones to servers, and some more.
    may_open(592);
    folder.write("proxy.yaml", &rest(300));
    may_open(600);
    let expected =
        "WARN  limits.connections is 300, for 1 listener up to 792 open files, but the system allows the process 600 ";
    eventually(|| process.said().contains(expected), || process.said());
}

/// As with `MemoryDenyWriteExecute=` of systemd.
#[test]
#[cfg(target_os = "linux")]
fn rules_are_interpreted_where_pages_must_not_become_executable() {
    use seccompiler::{BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter};
    let right = u64::from(libc::PROT_EXEC.unsigned_abs());
    let to_executable = SeccompCondition::new(2, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(right), right);
    let rule = seccompiler::SeccompRule::new(vec![to_executable.unwrap()]).unwrap();
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let machine = std::env::consts::ARCH.try_into().unwrap();
    let rules = [(libc::SYS_mprotect, vec![rule])].into();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, machine).unwrap();
    let folder = Folder::new();
    // A process has the filter of the thread that starts it.
    let forbidden = || {
        seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        folder.write("policy.yaml", "request: [{ name: secret, when: request.path == '/secret', deny: 403 }]\n");
        let file = folder.write("proxy.yaml", &config(DEMO));
        Process::spawn(Command::new(env!("CARGO_BIN_EXE_celero-proxy")).arg("--config").arg(file))
    };
    let process = std::thread::scope(|scope| scope.spawn(forbidden).join().unwrap());
    let warning = "rules are interpreted, with the same results: no memory for native code: pages can't be made executable: Operation not permitted";
    eventually(|| process.said().contains(warning), || process.said());
    assert_eq!(process.said().matches("rules are interpreted").count(), 1);
    assert_eq!((get(process.address, "/secret").status, get(process.address, "/").status), (403, 200));
}
