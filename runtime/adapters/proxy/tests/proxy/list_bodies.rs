//! What the bodies of changes of lists take together, and how long.

use crate::client::Client;
use crate::lists::{TOKEN, change, denied, rest, running};
use crate::running::{Running, eventually};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

/// The connection of a change with the largest body, whose first bytes have arrived.
fn held(proxy: &Running) -> Client {
    let head = format!(
        "POST /lists/paths HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n/held",
        8 << 20
    );
    let mut client = Client::connect(proxy.metrics);
    client.send(head);
    sleep(Duration::from_millis(300));
    client
}

/// A body that arrives slowly, but not too slowly, keeps its place: another one waits and is
/// refused, and has place as soon as the first is over.
#[test]
fn the_bodies_of_all_changes_are_bounded_together() {
    let proxy = running(&rest(""));
    let over = AtomicBool::new(false);
    scope(|scope| {
        scope.spawn(|| {
            let mut client = held(&proxy);
            while !over.load(Ordering::Relaxed) {
                client.send([b'x'; 64 << 10]);
                sleep(Duration::from_millis(400));
            }
        });
        sleep(Duration::from_millis(300));
        let reply = change(proxy.metrics, "POST /lists/paths", "text/plain", "/waits\n");
        over.store(true, Ordering::Relaxed);
        assert_eq!((reply.status, reply.header("retry-after")), (503, "1".to_owned()), "{}", reply.text());
    });
    eventually(
        || change(proxy.metrics, "POST /lists/paths", "text/plain", "/a\n").status == 200,
        || "a change after the large one".into(),
    );
    assert_eq!(denied(proxy.address, &["/a", "/held", "/waits"]), ["/a"]);
}

/// Those that wait get their turn.
#[test]
fn a_body_that_stalls_loses_its_place() {
    let proxy = running(&rest(""));
    for burst in [0, 1 << 20] {
        let mut client = held(&proxy);
        client.send(vec![b'x'; burst]);
        let reply = change(proxy.metrics, "POST /lists/paths", "text/plain", "/a\n");
        assert_eq!(reply.status, 200, "after {burst} bytes: {}", reply.text());
        let late = client.reply();
        assert_eq!(late.status, 408, "after {burst} bytes: {}", late.text());
    }
    assert_eq!(denied(proxy.address, &["/a", "/held"]), ["/a"]);
}
