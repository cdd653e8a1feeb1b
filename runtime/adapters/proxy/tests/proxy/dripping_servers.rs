//! Servers that send a response byte by byte, without end: whoever asks them gives up within a time
//! for the whole, wherever they drip.

use crate::backend::Backend;
use crate::certificates::Authority;
use crate::client::{Client, get};
use crate::h2::exchange;
use crate::raw_h2::{ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, RawH2, SETTINGS, frame};
use crate::running::{Running, config, eventually};
use crate::scripted::Scripted;
use http::Request;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{scope, sleep, spawn};
use std::time::Duration;

/// The time between two bytes.
const PAUSE: Duration = Duration::from_millis(50);
/// The most bytes that drip: then the server closes the connection, which is another failure than
/// the one that is expected.
const MAX: usize = 400;

/// Where a response drips: what arrives at once, and what follows it byte by byte, again and again.
#[derive(Clone)]
struct Drip {
    name: &'static str,
    /// Whether the head of the response is complete before it drips.
    head: bool,
    at_once: Vec<u8>,
    drop: Vec<u8>,
}

/// The places in a response of HTTP/1.1.
fn drips() -> Vec<Drip> {
    const OK: &str = "HTTP/1.1 200 OK\r\n";
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let drip = |name, head, at_once: &[&str], drop: &str| Drip {
        name,
        head,
        at_once: at_once.concat().into_bytes(),
        drop: drop.into(),
    };
    vec![
        drip("nothing", false, &[], ""),
        drip("blank lines before the head", false, &[], "\r\n"),
        drip("the status line", false, &["HTTP/1.1 200 "], "O"),
        drip("the name of a field", false, &[OK], "x"),
        drip("the value of a field", false, &[OK, "x: "], "y"),
        drip("fields", false, &[OK], "x: y\r\n"),
        drip("the end of the head", false, &[OK, "content-length: 0\r\n\r"], ""),
        drip("interim responses", false, &[], "HTTP/1.1 102 P\r\n\r\n"),
        drip("the head after an interim response", false, &["HTTP/1.1 103 E\r\n\r\n", OK], "x"),
        drip("spaces after the size of a chunk", true, &[CHUNKED, "1"], " "),
        drip("the extension of a chunk", true, &[CHUNKED, "1\r\na\r\n1;"], "x"),
        drip("the value of a trailer", true, &[CHUNKED, "1\r\na\r\n0\r\nx: "], "y"),
        drip("trailers", true, &[CHUNKED, "0\r\n"], "x: y\r\n"),
    ]
}

/// Starts a server that drips into every connection. `begin` reads the request.
fn server(drip: Drip, begin: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (drip, begin) = (Arc::new(drip), Arc::new(begin));
    spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let (drip, begin) = (Arc::clone(&drip), Arc::clone(&begin));
            spawn(move || {
                socket.set_nodelay(true)?;
                begin(&mut socket)?;
                socket.write_all(&drip.at_once)?;
                for i in 0..MAX {
                    sleep(PAUSE);
                    let next = i.checked_rem(drip.drop.len()).map(|at| &drip.drop[at..=at]);
                    socket.write_all(next.unwrap_or_default())?;
                }
                std::io::Result::Ok(())
            });
        }
    });
    address
}

/// Reads up to the end of a head.
fn read_head(socket: &mut TcpStream) -> std::io::Result<()> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte)?;
        head.extend_from_slice(&byte);
    }
    Ok(())
}

/// How the clients of a proxy speak to the server.
struct Way {
    scheme: &'static str,
    /// Keys of upstreams and of the service for limits.
    keys: &'static str,
}

const PLAIN: Way = Way { scheme: "http", keys: "" };
const HTTP2: Way = Way { scheme: "http", keys: "h2c: true, " };
const TLS: Way = Way { scheme: "https", keys: "tls: { serverName: a.example, authorities: authority.pem }, " };

/// A proxy whose every client asks this server.
fn asking(way: &Way, server: SocketAddr) -> Running {
    let Way { scheme, keys } = way;
    let tls = if keys.starts_with("tls") { keys } else { "" };
    // Copies are sent in HTTP/1.1.
    let mirror = if keys.starts_with("h2c") { "" } else { ", mirror: { upstream: drip }" };
    let rest = format!(
        "upstreams:\n  - {{ name: drip, {keys}servers: [\"{server}\"] }}\n  - {{ name: demo, demo: true }}\n  \
         - {{ name: checked, {tls}servers: [\"{server}\"], health: {{ path: /, interval: 100ms, timeout: 500ms, unhealthyAfter: 1 }} }}\n\
         routes:\n  - {{ path: /drip, upstream: drip }}\n  - {{ path: /copy, upstream: demo{mirror} }}\n  \
         - {{ path: /checked, upstream: checked }}\n  - {{ upstream: demo }}\n\
         timeouts: {{ connect: 3s, read: 3s }}\n\
         rateLimitServices: [{{ name: counter, {tls}address: \"{server}\", domain: tests, timeout: 500ms }}]\n\
         traces: {{ sampled: 1, export: {{ url: \"{scheme}://{server}/v1/traces\" }} }}\n\
         metrics: {{ address: \"127.0.0.1:0\", export: {{ url: \"{scheme}://{server}/v1/metrics\", interval: 1s }} }}\n"
    );
    let policy = format!(
        "jwt: {{ keys: [{{ jwksUrl: '{scheme}://{server}/keys', cooldown: 1s, timeout: 1s }}] }}\n\
         lists: {{ paths: {{ kind: texts, entries: [/listed], urls: [{{ url: '{scheme}://{server}/paths', refresh: 1s, timeout: 500ms }}] }} }}\n\
         request:\n  - {{ when: request.path == '/never' && !has(jwt.sub), deny: 401 }}\n  \
         - {{ when: request.path in lists.paths, deny: 403 }}\n  \
         - {{ when: request.path == '/limited', limit: {{ remote: counter, descriptors: {{ a: b }} }} }}\n"
    );
    let config = config(&rest).replacen("metrics: 127.0.0.1:0\n", "", 1);
    Running::with_files(&config, &policy, |folder| {
        folder.write("authority.pem", &Authority::new("tests").pem());
    })
}

/// The clients that a proxy has besides the ones for requests, each with the beginning of a line of
/// metrics, its label, and the value from which on it has given up.
const HEALTH: GivesUp = ("the health check", "celero_upstream_servers_healthy{upstream=\"checked\"", "", 0.0);
const COPY: GivesUp = ("the copy of a request", "celero_mirrored_requests_total{", "\"failed\"", 1.0);
const LIMIT: GivesUp = ("the question about a limit", "celero_rate_limit_calls_total{", "\"timeout\"", 1.0);
const FETCHES: [GivesUp; 4] = [
    ("the fetch of keys", "celero_auth_key_fetches_total{", "\"failed\"", 1.0),
    ("the fetch of a list", "celero_list_fetches_total{", "\"failed\"", 1.0),
    ("the export of spans", "celero_spans_total{", "\"failed\"", 1.0),
    ("the export of metrics", "celero_metric_exports_total{", "\"failed\"", 1.0),
];

type GivesUp = (&'static str, &'static str, &'static str, f64);

/// Waits until a client has given up.
fn gives_up(proxy: &Running, (name, metric, label, least): GivesUp, drip: &Drip) {
    let has = |line: &str| line.starts_with(metric) && line.contains(label);
    let value = |line: &str| line.rsplit(' ').next()?.parse::<f64>().ok();
    let now = || get(proxy.metrics, "/metrics").text().lines().filter(|line| has(line)).find_map(value);
    let over = || now().is_some_and(|now| if least == 0.0 { now == 0.0 } else { now >= least });
    eventually(over, || format!("{name} to give up, while the server drips {}", drip.name));
}

/// What the log says of a server that is late.
const LATE: &str = "the server did not send its response in time";

/// Sends requests for the server of which nothing or only the head arrives.
fn requests_end(proxy: &Running, drip: &Drip, expected: u16, words: &str) {
    // A client that asks for another protocol, one of HTTP/1.0, and one with a body.
    let requests = [
        "GET /drip HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
        "GET /drip HTTP/1.0\r\nhost: a\r\n\r\n",
        "POST /drip HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx",
    ];
    let mut clients = requests.map(|request| {
        let mut client = Client::connect(proxy.address);
        client.send(request);
        client
    });
    for client in &mut clients {
        let status = std::iter::repeat_with(|| client.try_reply(false).unwrap().status).find(|status| *status >= 200);
        assert_eq!(status, Some(expected), "{}", drip.name);
    }
    let mut count = requests.len();
    if !drip.head {
        count += 1;
        let request = Request::get("http://a/drip").version(http::Version::HTTP_2).body(Vec::new()).unwrap();
        assert_eq!(exchange(proxy.address, vec![request])[0].status(), expected, "{}", drip.name);
    }
    let lines = || {
        let log = std::fs::read_to_string(proxy.folder.0.join("access.log")).unwrap_or_default();
        log.lines().filter(|line| line.contains("\"/drip\"")).map(str::to_owned).collect::<Vec<_>>()
    };
    eventually(|| lines().len() >= count, || format!("{count} requests to end, while the server drips {}", drip.name));
    for line in lines() {
        assert!(line.contains(words), "{}: {line}", drip.name);
    }
}

fn each(drips: Vec<Drip>, test: impl Fn(Drip) + Sync) {
    scope(|scope| {
        let test = &test;
        for drip in drips {
            scope.spawn(move || test(drip));
        }
    });
}

#[test]
fn every_client_of_http_1_gives_up() {
    each(drips(), |drip| {
        let proxy = asking(&PLAIN, server(drip.clone(), read_head));
        assert_eq!(get(proxy.address, "/copy").status, 200);
        requests_end(&proxy, &drip, if drip.head { 200 } else { 504 }, LATE);
        FETCHES.iter().for_each(|client| gives_up(&proxy, *client, &drip));
        gives_up(&proxy, HEALTH, &drip);
        if !drip.head {
            // A whole copy may take 30 s, for which no test waits.
            gives_up(&proxy, COPY, &drip);
        }
    });
}

/// Reads the frames of a client up to the head of its request.
fn read_request(socket: &mut TcpStream) -> std::io::Result<()> {
    socket.read_exact(&mut [0; 24])?;
    let mut frames = RawH2::begun(socket.try_clone()?);
    frames.send(&[frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])].concat());
    frames.find(HEADERS).map(|_| ()).ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
}

/// The places in a response of HTTP/2.
fn frames() -> Vec<Drip> {
    let drip = |name, head, at_once: &[Vec<u8>], drop: &[u8]| Drip {
        name,
        head,
        at_once: at_once.concat(),
        drop: drop.into(),
    };
    // `:status` 200 and 103.
    let (ok, interim) = ([0x88], [8, 3, b'1', b'0', b'3']);
    // A frame of which only the head and some bytes arrive.
    let begun = |kind, flags, rest: &[u8]| {
        let whole = frame(kind, flags, 1, &[rest, &[0; 1000]].concat());
        whole.get(..9 + rest.len()).unwrap_or_default().to_vec()
    };
    vec![
        drip("no frame", false, &[], b""),
        drip("the head of a frame", false, &[vec![0, 1, 0, HEADERS]], b""),
        drip("HEADERS", false, &[begun(HEADERS, END_HEADERS, &ok)], b"\0"),
        drip("CONTINUATION", false, &[frame(HEADERS, 0, 1, &ok), begun(CONTINUATION, 0, &[])], b"\0"),
        drip("interim responses", false, &[], &frame(HEADERS, END_HEADERS, 1, &interim)),
        drip("SETTINGS", false, &[], &frame(SETTINGS, 0, 0, &[])),
        drip("PING", false, &[], &frame(PING, 0, 0, &[0; 8])),
        drip("DATA", true, &[frame(HEADERS, END_HEADERS, 1, &ok), begun(DATA, 0, b"a")], b"a"),
        drip(
            "trailers",
            true,
            &[frame(HEADERS, END_HEADERS, 1, &ok), begun(HEADERS, END_HEADERS | END_STREAM, &[])],
            b"\0",
        ),
    ]
}

/// A frame of DATA without content counts as a sign of life: Pingora drops it before the proxy sees it.
#[test]
fn every_client_of_http_2_gives_up() {
    each(frames(), |drip| {
        let proxy = asking(&HTTP2, server(drip.clone(), read_request));
        requests_end(&proxy, &drip, if drip.head { 200 } else { 504 }, LATE);
        assert_eq!(get(proxy.address, "/limited").status, 503, "{}", drip.name);
        gives_up(&proxy, LIMIT, &drip);
    });
}

#[test]
fn every_client_gives_up_a_handshake_of_tls() {
    let drip =
        |name, at_once: &[u8], drop: &[u8]| Drip { name, head: false, at_once: at_once.into(), drop: drop.into() };
    let drips = vec![
        drip("nothing", b"", b""),
        drip("a record of the handshake", b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc", b"\x03"),
    ];
    each(drips, |drip| {
        let begin = |socket: &mut TcpStream| socket.read_exact(&mut [0; 5]);
        let proxy = asking(&TLS, server(drip.clone(), begin));
        assert_eq!(get(proxy.address, "/copy").status, 200);
        requests_end(&proxy, &drip, 502, "no server of the upstream accepts a connection");
        FETCHES.iter().chain(&[HEALTH, COPY]).for_each(|client| gives_up(&proxy, *client, &drip));
        assert_eq!(get(proxy.address, "/limited").status, 503, "{}", drip.name);
        gives_up(&proxy, LIMIT, &drip);
    });
}

/// A server that is late for one request is another's failure: the request goes to the next server.
#[test]
fn another_server_is_tried() {
    let Some(drip) = drips().into_iter().find(|drip| drip.name == "fields") else { panic!("no such place") };
    let (late, good) = (server(drip, read_head), Backend::start("good"));
    let rest = format!(
        "upstreams: [{{ name: a, servers: [\"{late}\", \"{}\"], ejection: {{ failures: 1 }} }}]\n\
         routes: [{{ upstream: a, retry: {{ attempts: 1 }}, timeouts: {{ read: 300ms }} }}]\n",
        good.address
    );
    let proxy = Running::with(&rest, "");
    for _ in 0..4 {
        assert_eq!(get(proxy.address, "/").text(), "good");
    }
    proxy.reaches("celero_upstream_ejections_total{upstream=\"a\"}", 1.0);
}

/// A server may take its time as long as the request arrives, and a body may be slow.
#[test]
fn what_is_slow_for_good_reasons_is_served() {
    let server = Scripted::start();
    let proxy = Running::with(&format!("{}timeouts: {{ read: 1s }}\n", server.config()), "");
    let mut client = Client::connect(proxy.address);
    client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 8\r\n\r\n");
    for _ in 0..8 {
        sleep(Duration::from_millis(200));
        client.send("x");
    }
    server.until("xxxxxxxx");
    server.say("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n");
    for _ in 0..8 {
        sleep(Duration::from_millis(200));
        server.say("y");
    }
    assert_eq!(client.kept().text(), "yyyyyyyy");
}
