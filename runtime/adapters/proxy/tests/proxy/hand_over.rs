//! A new process takes the sockets over: no connection is refused, and no request is lost.

use crate::certificates::Authority;
use crate::client::{Client, get};
use crate::lists::{TOKEN, change, rest};
use crate::load::{Load, Target};
use crate::process::{DEMO, Process};
use crate::running::{Folder, LONG, config_with, eventually, say};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;

const COMMAND: &str = env!("CARGO_BIN_EXE_celero-proxy");

/// The processes of a proxy, one after another. The first is a child of the test, each other one of the one before.
struct Processes {
    folder: Folder,
    first: Process,
    current: u32,
}

/// A number from the environment, for longer runs.
fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn send(signal: &str, process: u32) -> bool {
    Command::new("sh").arg("-c").arg(format!("kill -{signal} {process} 2> /dev/null")).status().unwrap().success()
}

impl Processes {
    fn start(folder: Folder, listener: &str, rest: &str) -> Self {
        Self::start_as(Path::new(COMMAND), folder, listener, rest)
    }

    /// Starts the program by this name, by which it is looked up again.
    fn start_as(program: &Path, folder: Folder, listener: &str, rest: &str) -> Self {
        let file = folder.write("proxy.yaml", &config_with(listener, rest));
        let first = Process::spawn(Command::new(program).arg("--config").arg(file));
        let current = first.id();
        Self { folder, first, current }
    }

    /// The processes that have taken over, in their order.
    fn successors(&self) -> Vec<u32> {
        let said = self.first.said();
        let of_line = |line: &str| line.split_once("process ")?.1.split_once(" serves from now on")?.0.parse().ok();
        said.lines().filter_map(of_line).collect()
    }

    /// Replaces the current process.
    fn replace(&mut self) {
        let before = self.successors().len();
        assert!(send("USR2", self.current));
        let happened = || self.successors().len() > before;
        eventually(happened, || format!("a new process:\n{}", self.first.said()));
        self.current = *self.successors().last().unwrap();
    }

    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.current)).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for process in self.successors() {
            send("KILL", process);
        }
    }
}

/// As soon as the log says where the proxy listens.
#[test]
fn a_new_process_may_be_wanted_from_the_start() {
    for _ in 0..5 {
        let folder = Folder::new();
        folder.write("policy.yaml", "empty: allowed\n");
        let mut all = Processes::start(folder, "h2c: true", DEMO);
        all.replace();
        assert!(all.first.end().success());
        assert_eq!(get(all.first.address, "/").status, 200);
    }
}

#[test]
fn a_new_process_takes_over() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    let mut all = Processes::start(folder, "h2c: true", DEMO);
    let (address, metrics) = (all.first.address, all.first.metrics);
    let mut open = Client::connect(address);
    open.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nha");
    let (mut idle, mut fresh) = (Client::connect(address), Client::connect(address));
    assert_eq!(idle.request("GET /", &[], b"").reply().status, 200);
    eventually(|| get(metrics, "/metrics").text().contains("\ncelero_requests_open 1\n"), || "a request".into());
    all.replace();
    // What the old process has accepted, it answers: also what it had read nothing of.
    assert_eq!(fresh.request("GET /", &[], b"").reply().status, 200);
    let last = || {
        let reply = idle.request("GET /", &[], b"").reply();
        assert_eq!(reply.status, 200);
        reply.header("connection") == "close"
    };
    eventually(last, || "an answer that ends the connection".into());
    // New connections reach the new one, which has counted nothing else.
    assert_eq!(get(address, "/").status, 200);
    let counted = || get(metrics, "/metrics").text().contains("\ncelero_requests_total{status=\"2xx\"} 1\n");
    eventually(counted, || get(metrics, "/metrics").text());
    assert_eq!(get(metrics, "/ready").status, 200);
    open.send("lf");
    assert_eq!(open.reply().status, 200);
    assert!(all.first.end().success());
    // And again.
    all.replace();
    assert_eq!(all.successors().len(), 2);
    assert_eq!(get(address, "/").status, 200);
}

/// What is not read again by a reload is, by a new process: here a listener more.
#[test]
fn a_new_process_has_the_new_listeners() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    let mut all = Processes::start(folder, "h2c: true", DEMO);
    let file = all.folder.0.join("proxy.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    all.folder.write("proxy.yaml", &text.replace("metrics: 127.0.0.1:0\n", ""));
    all.replace();
    assert!(all.first.end().success());
    assert_eq!(get(all.first.address, "/").status, 200);
    assert!(std::net::TcpStream::connect(all.first.metrics).is_err(), "nothing listens there any more");
    eventually(|| all.first.said().contains("nothing listens on 127.0.0.1:0 any more"), || all.first.said());
}

/// A process that fails before it serves changes nothing.
#[test]
fn a_new_process_that_fails_changes_nothing() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    let all = Processes::start(folder, "h2c: true", DEMO);
    for number in 1..3 {
        all.folder.write("policy.yaml", &format!("request: [{{ deny: treu{number} }}]\n"));
        assert!(send("USR2", all.current));
        let said = || all.first.said().matches("nothing changes, this process serves: ").count() == number;
        eventually(said, || all.first.said());
        assert!(all.first.said().contains(&format!("treu{number}")), "{}", all.first.said());
        assert!(all.first.said().contains("the new process ended before it served (exit status: 1)"));
        assert_eq!(get(all.first.address, "/").status, 200);
        assert_eq!(get(all.first.metrics, "/ready").status, 200);
    }
    assert!(all.successors().is_empty());
}

const LISTS: &str = "\
lists: { paths: { kind: texts, entries: [/inline] } }
request: [{ name: listed, when: request.path in lists.paths, deny: 403 }]
";

/// The file of changes is open in one process at a time: it goes over to the new process, or comes
/// back. What was acknowledged is there.
#[test]
fn changes_of_lists_go_over() {
    let folder = Folder::new();
    folder.write("policy.yaml", LISTS);
    folder.write("admin.token", TOKEN);
    let mut all = Processes::start(folder, "h2c: true", &rest(""));
    let (address, metrics) = (all.first.address, all.first.metrics);
    let insert = |path: &str| change(metrics, "POST /lists/paths", "text/plain", &format!("{path}\n")).status;
    assert_eq!(insert("/a"), 200);
    all.folder.write("policy.yaml", "request: [{ deny: treu }]\n");
    assert!(send("USR2", all.current));
    let failed = || all.first.said().contains("nothing changes, this process serves: ");
    eventually(failed, || all.first.said());
    assert_eq!(insert("/b"), 200);
    all.folder.write("policy.yaml", LISTS);
    all.replace();
    assert!(all.first.end().success());
    for path in ["/inline", "/a", "/b"] {
        assert_eq!(get(address, path).status, 403, "{path}");
    }
    assert_eq!(insert("/c"), 200);
    all.replace();
    // The process before may still answer, and refuses changes.
    eventually(|| insert("/d") == 200, || all.first.said());
    let denied = || ["/inline", "/a", "/b", "/c", "/d"].into_iter().all(|path| get(address, path).status == 403);
    eventually(denied, || all.first.said());
}

/// While a new process starts, lists can't be changed; and a signal to stop is for both.
#[test]
fn a_new_process_that_hangs_is_ended() {
    let folder = Folder::new();
    folder.write("policy.yaml", LISTS);
    folder.write("admin.token", TOKEN);
    let (program, told) = (folder.0.join("program"), folder.0.join("program.pid"));
    symlink(COMMAND, &program).unwrap();
    let hangs = folder.write("hangs", "#!/bin/sh\necho $$ > \"$0.pid\"\nexec sleep 100\n");
    std::fs::set_permissions(&hangs, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut all = Processes::start_as(&program, folder, "h2c: true", &rest(""));
    // From now on this is started by the same name.
    std::fs::rename(&hangs, &program).unwrap();
    let metrics = all.first.metrics;
    let insert = |path: &str| change(metrics, "POST /lists/paths", "text/plain", &format!("{path}\n")).status;
    let hanging = || {
        let process = || std::fs::read_to_string(&told).ok()?.trim().parse::<u32>().ok();
        eventually(|| process().is_some(), || all.first.said());
        process().unwrap()
    };
    assert!(send("USR2", all.current));
    let process = hanging();
    assert_eq!((insert("/a"), get(all.first.address, "/inline").status), (503, 403));
    std::fs::remove_file(&told).unwrap();
    assert!(send("KILL", process));
    let failed = || all.first.said().contains("nothing changes, this process serves: ");
    eventually(failed, || all.first.said());
    assert_eq!(insert("/a"), 200);
    assert!(send("USR2", all.current));
    let process = hanging();
    assert!(send("TERM", all.current));
    assert!(all.first.end().success());
    // One that nobody has waited for has no command line any more.
    let lives = || std::fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| !line.is_empty());
    eventually(|| !lives(), || format!("the end of {process}"));
}

/// systemd learns which process is the service now, and not that it stops.
#[test]
fn the_service_manager_follows() {
    let folder = Folder::new();
    let path = folder.0.join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(LONG)).unwrap();
    let told = || {
        let mut bytes = [0; 512];
        let length = manager.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    folder.write("policy.yaml", "empty: allowed\n");
    let file = folder.write("proxy.yaml", &config_with("h2c: true", DEMO));
    let first = Process::spawn(Command::new(COMMAND).arg("--config").arg(file).env("NOTIFY_SOCKET", &path));
    let current = first.id();
    let mut all = Processes { folder, first, current };
    assert!(told().starts_with("READY=1"));
    all.replace();
    assert_eq!(told().trim(), format!("MAINPID={}", all.current));
    assert!(all.first.end().success());
    assert!(send("TERM", all.current));
    assert!(told().starts_with("STOPPING=1"));
}

/// Restarts and reloads while clients of HTTP/1.1 and HTTP/2, with TLS and without, ask as fast as
/// they can. For more of them set `CELERO_PROXY_RESTARTS` and `CELERO_PROXY_RELOADS`.
#[test]
fn nothing_is_lost_under_load() {
    let (restarts, reloads) = (number("CELERO_PROXY_RESTARTS", 3), number("CELERO_PROXY_RELOADS", 9));
    let authority = Authority::new("tests");
    let folder = Folder::new();
    authority.server(&["one.example"]).write(&folder, "one");
    let policy = |number: usize| format!("response: [{{ name: v, setHeaders: {{ x-version: \"{number}\" }} }}]\n");
    folder.write("policy.yaml", &policy(0));
    let tls = "tls: { certificates: [{ chain: one.pem, key: one.key }] } }, { address: 127.0.0.1:0, h2c: true";
    let mut all = Processes::start(folder, tls, DEMO);
    let said = all.first.all_addresses();
    let [secure, plain] = said[..] else { panic!("{said:?}") };
    let config = |protocol: &str| authority.trust().protocols(&[protocol]).config();
    let load = Load::start(&[
        Target::http1(plain, None),
        Target::http1(secure, Some(config("http/1.1"))),
        Target::http2(plain, None),
        Target::http2(secure, Some(config("h2"))),
    ]);
    let (mut done, mut memory) = (0, Vec::new());
    for restart in 0..=restarts {
        while done < reloads * (restart + 1) / (restarts + 1) {
            done += 1;
            let before = load.answered();
            all.folder.write("policy.yaml", &policy(done));
            assert!(send("HUP", all.current));
            let version = || get(plain, "/").header("x-version") == done.to_string();
            eventually(version, || format!("version {done}: {}", all.first.said()));
            eventually(|| load.answered() > before + 8, || format!("answers: {:?}", load.failures()));
            memory.push(all.memory());
        }
        if restart < restarts {
            all.replace();
            let before = load.answered();
            eventually(|| load.answered() > before + 40, || format!("answers: {:?}", load.failures()));
        }
        let failures = load.failures();
        assert!(failures.is_empty(), "after {restart} restarts and {done} reloads: {failures:?}");
    }
    let (answered, again) = (load.answered(), load.again());
    let failures = load.stop();
    assert!(failures.is_empty(), "{failures:?}");
    let (first, last) = (memory.first(), memory.last());
    say(&format!(
        "{restarts} restarts, {reloads} reloads, {answered} requests answered, 0 failed, {again} not begun and sent again; KiB of memory \
         after the first and the last reload: {first:?} {last:?}"
    ));
    assert!(all.successors().len() == restarts);
}
