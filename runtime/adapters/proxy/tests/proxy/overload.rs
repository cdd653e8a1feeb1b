//! More requests at once than the proxy may have open.

use crate::client::{Client, get};
use crate::h2;
use crate::running::{Running, eventually};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const REST: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\nlimits: { requests: 2 }\n";

/// Two requests that are open until their bodies end.
fn busy(proxy: &Running) -> [Client; 2] {
    let clients = [(); 2].map(|()| {
        let mut client = Client::connect(proxy.address);
        client.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nha");
        client
    });
    proxy.reaches("celero_requests_open", 2.0);
    clients
}

#[test]
fn further_requests_are_refused_before_rules_run() {
    let proxy = Running::with(REST, "request: [{ name: seen, when: 'request.path == \"/seen\"', deny: 418 }]\n");
    let mut busy = busy(&proxy);
    let mut client = Client::connect(proxy.address);
    for _ in 0..3 {
        let refused = client.request("GET /seen", &[], b"").kept();
        assert_eq!((refused.status, refused.header("retry-after").as_str()), (503, "1"));
    }
    // A body that nobody reads is dropped, so that the connection stays usable.
    assert_eq!(client.request("POST /seen", &[], &[b'x'; 9000]).reply().status, 503);
    let refused = &h2::exchange(proxy.address, vec![h2::request("GET", "/seen", b"")])[0];
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (503, "1"));
    proxy.reaches("celero_overload_refused_total", 5.0);
    let log = proxy.log(5);
    assert!(log.iter().all(|line| line["refused"] == "overload" && line["status"] == 503), "{log:?}");
    // The page of metrics and the probes are no requests of clients.
    assert_eq!(get(proxy.metrics, "/ready").status, 200);

    for client in &mut busy {
        assert_eq!(client.send("lf").reply().status, 200);
    }
    proxy.reaches("celero_requests_open", 0.0);
    assert_eq!(get(proxy.address, "/seen").status, 418);
}

/// The bound is that of the configuration in force.
#[test]
fn the_bound_follows_the_configuration() {
    let proxy = Running::with(REST, "");
    let _busy = busy(&proxy);
    assert_eq!(get(proxy.address, "/").status, 503);
    proxy.folder.write("proxy.yaml", &crate::running::config(&REST.replace("requests: 2", "requests: 3")));
    proxy.handle.reload().unwrap();
    assert_eq!(get(proxy.address, "/").status, 200);
}

/// A request of one upstream is no reason to refuse those of another.
#[test]
fn a_slow_upstream_leaves_the_others_their_share() {
    let rest = "upstreams: [{ name: slow, demo: true, requests: 2 }, { name: fast, demo: true }]\n\
                routes: [{ path: /x, upstream: slow }, { upstream: fast }]\n";
    let proxy = Running::with(rest, "request: [{ name: no, when: 'request.path == \"/x/no\"', deny: 418 }]\n");
    let mut busy = busy(&proxy);
    let refused = Client::connect(proxy.address).request("GET /x", &[], b"").kept();
    assert_eq!((refused.status, refused.header("retry-after").as_str()), (503, "1"));
    let refused = &h2::exchange(proxy.address, vec![h2::request("GET", "/x", b"")])[0];
    assert_eq!(refused.status().as_u16(), 503);
    assert_eq!(get(proxy.address, "/").status, 200);
    // Rules come first.
    assert_eq!(get(proxy.address, "/x/no").status, 418);
    proxy.reaches("celero_upstream_requests_refused_total{upstream=\"slow\"}", 2.0);
    assert_eq!(proxy.metric("celero_upstream_requests_refused_total{upstream=\"fast\"}"), 0.0);
    assert_eq!(proxy.log(2)[0]["refused"], "upstream");
    for client in &mut busy {
        assert_eq!(client.send("lf").reply().status, 200);
    }
    eventually(|| get(proxy.address, "/x").status == 200, || "capacity".into());
    // A client that leaves frees capacity too.
    drop(self::busy(&proxy));
    eventually(|| get(proxy.address, "/x").status == 200, || "capacity".into());
}

/// How many requests the server of the next test works on at a time, and for how long on each.
const AT_ONCE: usize = 4;
const WORK: Duration = Duration::from_millis(10);

/// The requests that a server has.
#[derive(Default)]
struct Queue {
    /// Now and at most: those it works on, and those that wait for it.
    now: usize,
    most: usize,
    working: usize,
}

type SharedQueue = Arc<(Mutex<Queue>, Condvar)>;

/// A server that works on a few requests at a time; others wait for it.
fn limited() -> (SocketAddr, SharedQueue) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let shared = SharedQueue::default();
    let queue = Arc::clone(&shared);
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let queue = Arc::clone(&queue);
            std::thread::spawn(move || {
                let mut socket = BufReader::new(socket);
                let mut line = String::new();
                while socket.read_line(&mut line).is_ok_and(|read| read > 0) {
                    if line == "\r\n" {
                        work(&queue);
                        let _ = socket.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
                    }
                    line.clear();
                }
            });
        }
    });
    (address, shared)
}

fn work((queue, changed): &(Mutex<Queue>, Condvar)) {
    let mut entered = queue.lock().unwrap();
    entered.now += 1;
    entered.most = entered.most.max(entered.now);
    changed.wait_while(entered, |queue| queue.working >= AT_ONCE).unwrap().working += 1;
    std::thread::sleep(WORK);
    let mut left = queue.lock().unwrap();
    left.working -= 1;
    left.now -= 1;
    changed.notify_one();
}

/// Lets clients ask at the same time. Returns how many requests were answered with 200.
fn ask(address: SocketAddr, clients: usize, times: usize) -> usize {
    let (asked, answered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                let mut client = Client::connect(address);
                while asked.fetch_add(1, Ordering::Relaxed) < times {
                    match client.request("GET /", &[], b"").reply().status {
                        200 => _ = answered.fetch_add(1, Ordering::Relaxed),
                        status => {
                            assert_eq!(status, 503);
                            std::thread::sleep(WORK / 4);
                        }
                    }
                }
            });
        }
    });
    answered.into_inner()
}

/// Those who are answered wait for few others, whatever the load: with five times the clients that
/// the server can work for, it never has more requests than the bound. Without a bound each waits
/// for all others.
#[test]
fn answers_stay_fast() {
    const BOUND: usize = 2 * AT_ONCE;
    // Asks until the server had so many requests at once, and once more. Clients ask one after the
    // other while others use the machine.
    let most = |bound: &str, enough: usize| {
        let (server, queue) = limited();
        let rest = format!("upstreams: [{{ name: a, servers: [\"{server}\"]{bound} }}]\nroutes: [{{ upstream: a }}]\n");
        let proxy = Running::with(&rest, "");
        let most = || queue.0.lock().unwrap().most;
        let mut answered = 0;
        for _ in 0..20 {
            let last = most() >= enough;
            answered += ask(proxy.address, 5 * AT_ONCE, 200);
            if last {
                break;
            }
        }
        assert!(answered > 0);
        most()
    };
    assert!(most("", BOUND + 1) > BOUND);
    assert_eq!(most(&format!(", requests: {BOUND}"), BOUND), BOUND);
}
