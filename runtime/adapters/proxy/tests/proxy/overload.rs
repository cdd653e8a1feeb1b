//! More requests at once than the proxy may have open.

use crate::client::{Client, get};
use crate::h2;
use crate::running::{Running, eventually};

const REST: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\nlimits: { requests: 2 }\n";

/// Two requests that are open until their bodies end.
fn busy(proxy: &Running) -> [Client; 2] {
    let clients = [(); 2].map(|()| {
        let mut client = Client::connect(proxy.address);
        client.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nha");
        client
    });
    eventually(|| proxy.metric("celero_requests_open") == 2.0, || "two open requests".into());
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
    assert_eq!(proxy.metric("celero_overload_refused_total"), 5.0);
    let log = proxy.log(5);
    assert!(log.iter().all(|line| line["refused"] == "overload" && line["status"] == 503), "{log:?}");
    // The page of metrics and the probes are no requests of clients.
    assert_eq!(get(proxy.metrics, "/ready").status, 200);

    for client in &mut busy {
        assert_eq!(client.send("lf").reply().status, 200);
    }
    eventually(|| proxy.metric("celero_requests_open") == 0.0, || "no open request".into());
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
