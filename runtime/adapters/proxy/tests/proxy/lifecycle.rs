//! Starting and stopping under a service manager: pages for probes, draining, sockets that are
//! passed on, files of Kubernetes.

use crate::client::{Client, get};
use crate::process::{DEMO, Process};
use crate::running::{Folder, LONG, Running, config, eventually};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::Instant;

const COMMAND: &str = env!("CARGO_BIN_EXE_celero-proxy");

#[test]
fn probes_are_answered() {
    let proxy = Running::demo("request: [{ name: all, deny: 403 }]\n");
    for (path, status, text) in
        [("/health", 200, "ok\n"), ("/ready", 200, "ready\n"), ("/x", 404, "there are /metrics")]
    {
        let reply = get(proxy.metrics, path);
        assert!(reply.status == status && reply.text().starts_with(text), "{path}: {reply:?}");
    }
    // They are no pages of the proxy itself.
    assert_eq!(get(proxy.address, "/health").status, 403);
}

/// Servers that are down, and files that were refused, leave the proxy as ready as it was.
#[test]
fn readiness_depends_on_no_server() {
    let rest = "upstreams: [{ name: gone, servers: [\"127.0.0.1:1\"] }]\nroutes: [{ upstream: gone }]\n";
    let proxy = Running::with(rest, "");
    assert_eq!(get(proxy.address, "/").status, 502);
    proxy.folder.write("policy.yaml", "request: [{ deny: treu }]\n");
    proxy.handle.reload().unwrap_err();
    assert_eq!(get(proxy.metrics, "/ready").status, 200);
}

#[test]
fn a_proxy_that_drains_still_serves() {
    let folder = Folder::new();
    let mut process = Process::start_with(&folder, &format!("{DEMO}drainDelay: 1h\n"));
    process.signal("TERM");
    eventually(|| get(process.metrics, "/ready").status == 503, || "503".into());
    assert_eq!(get(process.metrics, "/ready").text(), "draining\n");
    assert_eq!(get(process.metrics, "/health").status, 200);
    // A new connection.
    assert_eq!(get(process.address, "/").status, 200);
    // Another signal ends the delay.
    process.signal("TERM");
    assert!(process.end().success());
}

#[test]
fn the_delay_ends() {
    let folder = Folder::new();
    let mut process = Process::start_with(&folder, &format!("{DEMO}drainDelay: 300ms\n"));
    process.signal("TERM");
    assert!(process.end().success());
    let ended = || process.said().ends_with("INFO  stopped\n");
    eventually(ended, || process.said());
    let said = process.said();
    let (first, then) =
        said.split_once("SIGTERM: /ready answers 503; new connections are accepted for 300ms more").unwrap();
    assert!(!first.contains("SIGTERM") && then.contains("SIGTERM: no new connections are accepted"), "{said}");
}

/// A client that never ends its request holds the proxy up no longer than `grace`.
#[test]
fn the_end_has_a_bound() {
    let folder = Folder::new();
    // A server that takes the connection and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = silent.local_addr().unwrap();
    let rest = format!("upstreams: [{{ name: a, servers: [\"{server}\"] }}]\nroutes: [{{ upstream: a }}]\ngrace: 1s\n");
    let mut process = Process::start_with(&folder, &rest);
    let mut client = Client::connect(process.address);
    client.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nha");
    let open = || get(process.metrics, "/metrics").text().contains("\ncelero_requests_open 1\n");
    eventually(open, || "a request".into());
    process.signal("TERM");
    assert!(process.end().success());
    eventually(|| process.said().contains("1 open requests were cut off"), || process.said());
}

/// Starts the proxy with a socket that was opened before, as systemd does.
fn activated(folder: &Folder, socket: &TcpListener) -> Command {
    folder.write("policy.yaml", "empty: allowed\n");
    let address = socket.local_addr().unwrap();
    let file = folder.write("proxy.yaml", &config(DEMO).replacen("127.0.0.1:0", &address.to_string(), 1));
    let mut command = Command::new("sh");
    let script = format!("exec 3<&0; LISTEN_PID=$$ LISTEN_FDS=1 exec {COMMAND} --config {}", file.display());
    command.arg("-c").arg(script).stdin(Stdio::from(OwnedFd::from(socket.try_clone().unwrap())));
    command
}

/// No connection is refused between two processes: it waits for the second.
#[test]
fn sockets_of_a_service_manager_outlive_the_process() {
    let (folder, socket) = (Folder::new(), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = socket.local_addr().unwrap();
    for _ in 0..2 {
        let mut waiting = Client::connect(address);
        waiting.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        let mut process = Process::spawn(&mut activated(&folder, &socket));
        assert_eq!(process.address, address);
        assert_eq!(waiting.reply().status, 200);
        process.signal("TERM");
        assert!(process.end().success());
    }
}

#[test]
fn a_socket_for_no_listener_is_an_error() {
    let (folder, socket) = (Folder::new(), TcpListener::bind("127.0.0.1:0").unwrap());
    let mut command = activated(&folder, &socket);
    folder.write("proxy.yaml", &config(DEMO));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = format!("a socket for {}, which is the address of no listener", socket.local_addr().unwrap());
    assert!(!output.status.success() && said.contains(&expected), "{said}");
}

#[test]
fn the_service_manager_is_told_the_state() {
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
    let file = folder.write("proxy.yaml", &config(DEMO));
    let mut process = Process::spawn(Command::new(COMMAND).arg("--config").arg(file).env("NOTIFY_SOCKET", &path));
    let says = |expected: &[&str]| {
        let message = told();
        for line in expected {
            assert!(message.lines().any(|found| found.starts_with(line)), "{line} in {message}");
        }
    };
    says(&["READY=1", "STATUS=requests are handled"]);
    process.signal("HUP");
    says(&["RELOADING=1", "MONOTONIC_USEC="]);
    says(&["READY=1", "STATUS=the files in force are the current ones"]);
    folder.write("policy.yaml", "request: [{ deny: treu }]\n");
    says(&["RELOADING=1"]);
    says(&["READY=1", "STATUS=the last reload was refused"]);
    process.signal("TERM");
    says(&["STOPPING=1"]);
    assert!(process.end().success());
}

/// Kubernetes replaces a symbolic link to a folder, and removes the old folder; the files themselves never change.
#[test]
fn files_of_a_config_map_are_reloaded() {
    let folder = Folder::new();
    let version = |number: usize| {
        let inner = folder.0.join(format!("..v{number}"));
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("proxy.yaml"), config(DEMO)).unwrap();
        let policy = format!("response: [{{ name: v, setHeaders: {{ x-version: \"{number}\" }} }}]\n");
        std::fs::write(inner.join("policy.yaml"), policy).unwrap();
        symlink(format!("..v{number}"), folder.0.join("..data_tmp")).unwrap();
        std::fs::rename(folder.0.join("..data_tmp"), folder.0.join("..data")).unwrap();
    };
    version(1);
    for file in ["proxy.yaml", "policy.yaml"] {
        symlink(format!("..data/{file}"), folder.0.join(file)).unwrap();
    }
    let process = Process::spawn(Command::new(COMMAND).arg("--config").arg(folder.0.join("proxy.yaml")));
    let answers = || get(process.address, "/").header("x-version");
    assert_eq!(answers(), "1");
    for number in 2..5 {
        version(number);
        std::fs::remove_dir_all(folder.0.join(format!("..v{}", number - 1))).unwrap();
        let begun = Instant::now();
        eventually(|| answers() == number.to_string(), || format!("version {number} after {:?}", begun.elapsed()));
    }
    assert!(!process.said().contains("ERROR"), "{}", process.said());
}
