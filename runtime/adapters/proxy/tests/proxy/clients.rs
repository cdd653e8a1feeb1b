//! Who the client is: headers of trusted proxies and of others, the PROXY protocol.

use crate::certificates::Authority;
use crate::client::{Client, Reply, get, get_with};
use crate::h2;
use crate::running::{Running, eventually};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

/// Tells in headers what rules read.
const TELL: &str = r#"
response:
  - setHeaders:
      x-source: "${source.address} ${string(source.port)} ${source.via}"
      x-chain: "${request.headers[\"x-forwarded-for\"]}"
      x-destination: "${string(destination.port)}"
"#;

/// A proxy that trusts these networks.
fn trusting(networks: &str, header: &str) -> Running {
    Running::with(&format!("{DEMO}forwarded: {{ trusted: [{networks}], header: {header} }}\n"), TELL)
}

/// What rules read of the source, and what the server got of a header.
fn seen(reply: &Reply, name: &str) -> (String, String) {
    (reply.header("x-source"), reply.echo().header(name).join(" + "))
}

#[test]
fn headers_of_untrusted_peers_are_replaced() {
    let proxy = trusting("10.0.0.0/8", "x-forwarded-for");
    let spoofed = [
        "x-forwarded-for: 10.0.0.1",
        "X-Forwarded-For: 192.0.2.1, 127.0.0.1",
        "forwarded: for=10.0.0.1;proto=https",
        "x-forwarded-proto: https",
        "x-forwarded-host: evil.example",
        "x-forwarded-port: 443",
        "x-real-ip: 10.0.0.1",
        "x-request-id: chosen",
        "traceparent: junk",
        "tracestate: a=b",
    ];
    let reply = get_with(proxy.address, "/echo", &spoofed);
    assert!(
        reply.header("x-source").starts_with("127.0.0.1 ") && reply.header("x-source").ends_with(" connection"),
        "{reply:?}"
    );
    assert_eq!(reply.header("x-chain"), "127.0.0.1");
    let echo = reply.echo();
    for (name, expected) in [
        ("x-forwarded-for", vec!["127.0.0.1".to_owned()]),
        ("x-real-ip", vec!["127.0.0.1".to_owned()]),
        ("x-forwarded-proto", vec!["http".to_owned()]),
        ("x-forwarded-host", vec!["localhost".to_owned()]),
        ("x-forwarded-port", vec![proxy.address.port().to_string()]),
        ("forwarded", vec![]),
        ("traceparent", vec![]),
        ("tracestate", vec![]),
    ] {
        assert_eq!(echo.header(name), expected, "{name}");
    }
    let id = echo.header("x-request-id").concat();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    let line = &proxy.log(1)[0];
    assert_eq!(line["requestId"], id);
    assert!(line["client"].as_str().unwrap().starts_with("127.0.0.1:") && line["via"].is_null(), "{line}");
}

#[test]
fn a_trusted_proxy_names_the_client() {
    let proxy = trusting("127.0.0.1, 10.0.0.0/8", "x-forwarded-for");
    for (lines, source, chain) in [
        (&["x-forwarded-for: 192.0.2.1"][..], "192.0.2.1 0 x-forwarded-for", "192.0.2.1, 127.0.0.1"),
        (&["x-forwarded-for: 192.0.2.1:4711"], "192.0.2.1 4711 x-forwarded-for", "192.0.2.1, 127.0.0.1"),
        (&["x-forwarded-for: [2001:DB8::1]:80"], "2001:db8::1 80 x-forwarded-for", "2001:db8::1, 127.0.0.1"),
        (&["x-forwarded-for: ::ffff:192.0.2.1"], "192.0.2.1 0 x-forwarded-for", "192.0.2.1, 127.0.0.1"),
        // What the client wrote before its own address is dropped, whatever it is.
        (&["x-forwarded-for: 10.1.1.1, 192.0.2.1"], "192.0.2.1 0 x-forwarded-for", "192.0.2.1, 127.0.0.1"),
        (&["x-forwarded-for: unknown, \", 192.0.2.1"], "192.0.2.1 0 x-forwarded-for", "192.0.2.1, 127.0.0.1"),
        (
            &["x-forwarded-for: 10.1.1.1", "X-Forwarded-For: 192.0.2.1"],
            "192.0.2.1 0 x-forwarded-for",
            "192.0.2.1, 127.0.0.1",
        ),
        // Through another trusted hop, over two lines.
        (
            &["x-forwarded-for: 6.6.6.6, 192.0.2.1", "x-forwarded-for: 10.0.0.7"],
            "192.0.2.1 0 x-forwarded-for",
            "192.0.2.1, 10.0.0.7, 127.0.0.1",
        ),
        (&["x-forwarded-for: , 192.0.2.1,"], "192.0.2.1 0 x-forwarded-for", "192.0.2.1, 127.0.0.1"),
        // `Forwarded` is not the header in which this proxy names clients.
        (
            &["x-forwarded-for: 192.0.2.1", "forwarded: for=10.0.0.9"],
            "192.0.2.1 0 x-forwarded-for",
            "192.0.2.1, 127.0.0.1",
        ),
    ] {
        let reply = get_with(proxy.address, "/echo", lines);
        assert_eq!(seen(&reply, "x-forwarded-for"), (source.into(), chain.into()), "{lines:?}");
        assert_eq!(reply.header("x-chain"), chain, "rules read what the server gets");
        assert_eq!(reply.echo().header("forwarded"), [""; 0], "{lines:?}");
    }
    // Many lines cost what their bytes cost; only those of trusted hops are read.
    let lines: Vec<String> = (0..80).map(|n| format!("x-forwarded-for: 10.0.0.{n}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(get_with(proxy.address, "/", &lines).header("x-source"), "10.0.0.0 0 x-forwarded-for");
    // A trusted proxy that names nobody is the client.
    let own = get(proxy.address, "/").header("x-source");
    assert!(own.starts_with("127.0.0.1 ") && own.ends_with(" connection"), "{own}");
}

#[test]
fn what_a_trusted_proxy_says_is_kept() {
    let proxy = trusting("127.0.0.1", "x-forwarded-for");
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let parent = format!("traceparent: {trace}");
    let told = [
        "x-forwarded-proto: HTTPS",
        "x-forwarded-host: Shop.Example",
        "x-request-id: abc-1",
        &parent,
        "tracestate: a=b",
    ];
    let echo = get_with(proxy.address, "/echo", &told).echo();
    for (name, expected) in [
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "shop.example"),
        ("x-forwarded-port", "443"),
        ("x-request-id", "abc-1"),
        ("traceparent", trace),
        ("tracestate", "a=b"),
    ] {
        assert_eq!(echo.header(name), [expected], "{name}");
    }
    let line = &proxy.log(1)[0];
    assert_eq!(
        (line["requestId"].as_str(), line["traceId"].as_str()),
        (Some("abc-1"), Some("4bf92f3577b34da6a3ce929d0e0e4736"))
    );
    // A number that is none is replaced.
    for id in ["x-request-id: a b", "x-request-id: é", &format!("x-request-id: {}", "x".repeat(129))] {
        assert_eq!(get_with(proxy.address, "/echo", &[id]).echo().header("x-request-id").concat().len(), 32, "{id}");
    }
}

#[test]
fn what_a_trusted_proxy_garbles_is_refused() {
    let proxy = trusting("127.0.0.1, 10.0.0.0/8", "x-forwarded-for");
    for lines in [
        &["x-forwarded-for: unknown"][..],
        &["x-forwarded-for: 192.0.2.1, _hidden"],
        &["x-forwarded-for: x, 10.0.0.1"],
        &["x-forwarded-for: 192.0.2.300"],
        &["x-forwarded-for: fe80::1%eth0"],
        &["x-forwarded-for: caf\u{e9}"],
        &["x-forwarded-proto: gopher"],
        &["x-forwarded-proto: https, http"],
        &["x-forwarded-proto: https", "x-forwarded-proto: http"],
        &["x-forwarded-host: a b"],
        &["x-forwarded-port: 0"],
        &["x-forwarded-port: +80"],
    ] {
        assert_eq!(get_with(proxy.address, "/", lines).status, 400, "{lines:?}");
    }
    assert!(proxy.log(12).iter().all(|line| line["refused"] == "forwarded" && line["status"] == 400));
}

#[test]
fn forwarded_is_read_as_the_rfc_says() {
    let proxy = trusting("127.0.0.1, 10.0.0.0/8, \"fd00::/8\"", "forwarded");
    for (lines, source, sent, proto) in [
        (
            &["forwarded: for=192.0.2.1;proto=https"][..],
            "192.0.2.1 0",
            "for=192.0.2.1;proto=https, for=127.0.0.1;proto=http",
            "https",
        ),
        (
            &["Forwarded: For=\"[2001:db8::1]:4711\""],
            "2001:db8::1 4711",
            "For=\"[2001:db8::1]:4711\", for=127.0.0.1;proto=http",
            "http",
        ),
        (
            &["forwarded: for=10.9.9.9, for=192.0.2.1", "forwarded: for=\"[fd00::1]\";by=_lb"],
            "192.0.2.1 0",
            "for=192.0.2.1, for=\"[fd00::1]\";by=_lb, for=127.0.0.1;proto=http",
            "http",
        ),
        // `x-forwarded-for` is not the header in which this proxy names clients.
        (
            &["x-forwarded-for: 10.0.0.9", "forwarded: for=192.0.2.1"],
            "192.0.2.1 0",
            "for=192.0.2.1, for=127.0.0.1;proto=http",
            "http",
        ),
        (
            &["forwarded: for=_secret;proto=https, for=192.0.2.1"],
            "192.0.2.1 0",
            "for=192.0.2.1, for=127.0.0.1;proto=http",
            "http",
        ),
    ] {
        let reply = get_with(proxy.address, "/echo", lines);
        assert_eq!(seen(&reply, "forwarded"), (format!("{source} forwarded"), sent.into()), "{lines:?}");
        assert_eq!(reply.echo().header("x-forwarded-proto"), [proto], "{lines:?}");
        assert!(
            reply.header("x-chain").ends_with(", 127.0.0.1") && !reply.header("x-chain").contains("10."),
            "{lines:?}"
        );
    }
    for line in [
        "forwarded: for=unknown",
        "forwarded: for=_hidden",
        "forwarded: proto=https",
        "forwarded: for=2001:db8::1",
        "forwarded: for=192.0.2.1;for=192.0.2.2",
        "forwarded: for=192.0.2.1;proto=gopher",
        "forwarded: for=192.0.2.1 for=1",
        // A client that opens a quote does not hide what the proxy adds.
        "forwarded: for=\"10.0.0.1, for=192.0.2.1",
    ] {
        assert_eq!(get_with(proxy.address, "/", &[line]).status, 400, "{line}");
    }
}

#[test]
fn clients_of_http2_are_found_too() {
    let proxy = trusting("127.0.0.1", "x-forwarded-for");
    let mut request = h2::request("GET", "/echo", b"");
    for value in ["10.0.0.1", "192.0.2.1"] {
        request.headers_mut().append("x-forwarded-for", value.parse().unwrap());
    }
    let response = &h2::exchange(proxy.address, vec![request])[0];
    assert_eq!(response.headers()["x-source"], "192.0.2.1 0 x-forwarded-for");
    assert_eq!(response.headers()["x-chain"], "192.0.2.1, 127.0.0.1");
    assert!(String::from_utf8_lossy(response.body()).contains("[\"x-forwarded-host\",\"test.example\"]"));
}

/// The proxy keeps the client's traceparent as the configuration says, and otherwise starts a trace.
#[test]
fn traces_are_started() {
    let client = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let id = |value: &str| value.split('-').nth(1).unwrap().to_owned();
    for (traces, trusted, kept) in [
        ("{ sampled: 1 }", "10.0.0.0/8", false),
        ("{ sampled: 1 }", "127.0.0.1", true),
        ("{ accept: all }", "10.0.0.0/8", true),
    ] {
        let rest = format!("{DEMO}traces: {traces}\nforwarded: {{ trusted: [{trusted}] }}\n");
        let proxy = Running::with(&rest, "");
        let echo = get_with(proxy.address, "/echo", &[client, "tracestate: a=b", "connection: close"]).echo();
        let given = echo.header("traceparent").concat();
        assert_eq!(given == client.trim_start_matches("traceparent: "), kept, "{traces} {given}");
        assert_eq!(echo.header("tracestate").is_empty(), !kept, "the state of another trace");
        assert_eq!(proxy.log(1)[0]["traceId"], id(&given));
        for wrong in ["x-none: 1", "traceparent: junk"] {
            let echo = get_with(proxy.address, "/echo", &[wrong, "connection: close"]).echo();
            let started = echo.header("traceparent").concat();
            assert!(started.len() == 55 && started.starts_with("00-") && id(&started) != id(&given), "{started}");
        }
    }
}

/// A client can't have the proxy's headers removed.
#[test]
fn connection_names_none_of_these_headers() {
    let proxy = Running::demo("empty: allowed\n");
    for name in ["x-request-id", "X-Real-IP", "x-forwarded-port", "traceparent"] {
        assert_eq!(get_with(proxy.address, "/", &[&format!("connection: {name}")]).status, 400, "{name}");
    }
    assert_eq!(get_with(proxy.address, "/", &["x_request_id: 1"]).status, 400);
}

/// A proxy whose listener expects the PROXY protocol from these networks.
fn behind_balancer(networks: &str, more: &str) -> Running {
    Running::with_listener(&format!("h2c: true, proxyProtocol: [{networks}]"), &format!("{DEMO}{more}"), TELL, |_| {})
}

const V1: &[u8] = b"PROXY TCP4 192.0.2.1 203.0.113.9 56324 443\r\n";

fn v2(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
    [b"\r\n\r\n\0\r\nQUIT\n", &[command, family][..], &length, rest].concat()
}

fn after(address: SocketAddr, header: &[u8]) -> Reply {
    let mut client = Client::connect(address);
    client.send(header);
    client.request("GET /echo", &[], b"").reply()
}

#[test]
fn the_proxy_protocol_names_the_client() {
    let proxy = behind_balancer("127.0.0.0/8", "");
    let v4 = [192, 0, 2, 1, 203, 0, 113, 9, 0xdc, 0x04, 1, 187];
    for header in [V1.to_vec(), v2(0x21, 0x11, &v4), v2(0x21, 0x11, &[&v4[..], &[4, 0, 3, 1, 2, 3]].concat())] {
        let reply = after(proxy.address, &header);
        assert_eq!(seen(&reply, "x-forwarded-for"), ("192.0.2.1 56324 proxy-protocol".into(), "192.0.2.1".into()));
        assert_eq!(reply.header("x-destination"), "443");
        assert_eq!(reply.echo().header("x-forwarded-port"), ["443"]);
    }
    let v6 = after(proxy.address, b"PROXY TCP6 2001:db8::1 ::1 1 2\r\n");
    assert_eq!(v6.header("x-source"), "2001:db8::1 1 proxy-protocol");
    // A balancer that speaks for itself.
    for header in [v2(0x20, 0, &[]), b"PROXY UNKNOWN\r\n".to_vec()] {
        let source = after(proxy.address, &header).header("x-source");
        assert!(source.starts_with("127.0.0.1 ") && source.ends_with(" connection"), "{source}");
    }
    // All at once, byte by byte, and over HTTP/2.
    let mut client = Client::connect(proxy.address);
    for byte in [V1, b"GET /echo HTTP/1.1\r\nhost: a\r\n\r\n"].concat() {
        client.send([byte]);
    }
    assert_eq!(client.reply().header("x-source"), "192.0.2.1 56324 proxy-protocol");
    assert_eq!(client.request("GET /", &[], b"").reply().header("x-source"), "192.0.2.1 56324 proxy-protocol");
    let line = &proxy.log(1)[0];
    assert_eq!((line["client"].as_str(), line["via"].as_str()), (Some("192.0.2.1:56324"), Some("proxy-protocol")));
}

#[test]
fn a_bad_header_of_the_protocol_ends_the_connection() {
    let proxy = behind_balancer("127.0.0.1", "timeouts: { head: 400ms }\n");
    let large = v2(0x21, 0x11, &[0; 5000]);
    let long = [b"PROXY UNKNOWN ", "x".repeat(200).as_bytes(), b"\r\n"].concat();
    let bad = [
        &b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"[..],
        b"PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n",
        &large,
        &long,
        &v2(0x31, 0x11, &[0; 12]),
    ];
    for (number, header) in bad.into_iter().enumerate() {
        let mut client = Client::connect(proxy.address);
        client.send(header);
        assert!(client.closed(), "{number}");
        proxy.reaches("celero_proxy_headers_refused_total", (number + 1) as f64);
    }
    // One that never ends.
    let mut client = Client::connect(proxy.address);
    client.send("PROXY TCP4 1.2.3.4");
    assert!(client.closed());
    proxy.reaches("celero_proxy_headers_refused_total", 6.0);
}

/// Others than the balancers can't use the protocol: what they send is a malformed request.
#[test]
fn only_balancers_use_the_protocol() {
    let proxy = behind_balancer("10.0.0.0/8", "");
    assert!(get(proxy.address, "/").header("x-source").ends_with(" connection"));
    let mut client = Client::connect(proxy.address);
    client.send(V1).send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(client.reply().status, 400);
}

/// The header comes before TLS, and the client that it names may be trusted to name another.
#[test]
fn the_protocol_goes_with_tls_and_headers() {
    let authority = Authority::new("tests");
    let listener = "tls: { certificates: [{ chain: one.pem, key: one.key }] }, proxyProtocol: [127.0.0.1]";
    let rest = format!("{DEMO}forwarded: {{ trusted: [192.0.2.0/24] }}\nlimits: {{ connectionsPerAddress: 1 }}\n");
    let proxy =
        Running::with_listener(listener, &rest, TELL, |folder| authority.server(&["one.example"]).write(folder, "one"));
    let ask = |header: &str| -> std::io::Result<String> {
        let mut socket = TcpStream::connect(proxy.address)?;
        socket.write_all(V1)?;
        let mut stream = authority.trust().over(socket, "one.example")?;
        write!(stream, "GET /echo HTTP/1.1\r\nhost: one.example\r\nconnection: close\r\n{header}\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    };
    let text = ask("x-forwarded-for: 198.51.100.7\r\n").unwrap();
    assert!(text.contains("x-source: 198.51.100.7 0 x-forwarded-for\r\n"), "{text}");
    assert!(
        text.contains("[\"x-forwarded-for\",\"198.51.100.7, 192.0.2.1\"]")
            && text.contains("[\"x-forwarded-proto\",\"https\"]"),
        "{text}"
    );
    // Bounds of an address are those of the address that the balancer names.
    let mut open = TcpStream::connect(proxy.address).unwrap();
    open.write_all(V1).unwrap();
    let mut open = authority.trust().over(open, "one.example").unwrap();
    open.write_all(b"GET").unwrap();
    assert!(ask("").is_err());
    drop(open);
    eventually(|| ask("").is_ok(), || "a connection".into());
}
