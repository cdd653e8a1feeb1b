//! What the bodies of changes of lists take together.

use crate::lists::{TOKEN, change, denied, rest, running};
use crate::running::eventually;
use std::io::Write;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

/// A body whose end does not come keeps its place: another large one waits and is refused, a small one has place as soon as the first is over.
#[test]
fn the_bodies_of_all_changes_are_bounded_together() {
    let proxy = running(&rest(""));
    let head = format!(
        "POST /lists/paths HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n/held",
        8 << 20
    );
    let mut held = TcpStream::connect(proxy.metrics).unwrap();
    held.write_all(head.as_bytes()).unwrap();
    sleep(Duration::from_millis(300));
    let reply = change(proxy.metrics, "POST /lists/paths", "text/plain", "/waits\n");
    assert_eq!((reply.status, reply.header("retry-after")), (503, "1".to_owned()), "{}", reply.text());
    drop(held);
    eventually(
        || change(proxy.metrics, "POST /lists/paths", "text/plain", "/a\n").status == 200,
        || "a change after the large one".into(),
    );
    assert_eq!(denied(proxy.address, &["/a", "/held", "/waits"]), ["/a"]);
}
