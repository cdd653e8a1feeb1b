//! Names of servers that lead to other addresses.

use crate::client::get;
use crate::process::Process;
use crate::running::{Folder, config, eventually, free_port, say};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Command, Stdio};

/// A server at an address of this machine that answers with a text.
fn serve(address: SocketAddr, text: &'static str) {
    let listener = TcpListener::bind(address).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let length = text.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all((head + text).as_bytes());
        }
    });
}

/// The proxy has a file of names of its own, which a namespace of mounts gives it.
#[test]
fn a_name_that_leads_elsewhere_is_followed() {
    let folder = Folder::new();
    let hosts = folder.0.join("hosts");
    std::fs::write(&hosts, "127.0.0.2 server.test\n").unwrap();
    let mounted = format!("mount --bind '{}' /etc/hosts", hosts.display());
    let can = Command::new("unshare").args(["-rm", "sh", "-c", &mounted]).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        say("left out: no namespace of mounts can be made here");
        return;
    }
    let port = free_port();
    let at = |last: u8| SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), port));
    serve(at(2), "two");
    serve(at(3), "three");
    let rest = format!(
        "upstreams: [{{ name: one, servers: [\"server.test:{port}\"], resolve: 20ms }}]\nroutes: [{{ upstream: one }}]\n"
    );
    folder.write("policy.yaml", "empty: allowed\n");
    let file = folder.write("proxy.yaml", &config(&rest));
    let script = format!("{mounted} && exec '{}' --config '{}'", env!("CARGO_BIN_EXE_celero-proxy"), file.display());
    let process = Process::spawn(Command::new("unshare").args(["-rm", "sh", "-c", &script]));
    let answer = || get(process.address, "/").text();
    assert_eq!(answer(), "two");
    // The file that is mounted stays the same one.
    std::fs::write(&hosts, "127.0.0.3 server.test\n").unwrap();
    eventually(|| answer() == "three", || "the other server".into());
    let said = format!("upstream one: its servers are now 127.0.0.3:{port}");
    eventually(|| process.said().contains(&said), || said.clone());
    // A name that is gone changes nothing.
    std::fs::write(&hosts, "127.0.0.1 localhost\n").unwrap();
    eventually(|| process.said().contains("its servers stay, because a name can't be resolved"), || "a warning".into());
    assert_eq!(answer(), "three");
    std::fs::write(&hosts, "127.0.0.2 server.test\n").unwrap();
    eventually(|| answer() == "two", || "the first server again".into());
    assert_eq!(process.said().matches("can't be resolved").count(), 1, "{}", process.said());
}
