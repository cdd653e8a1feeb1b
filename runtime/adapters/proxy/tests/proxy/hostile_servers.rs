//! Servers whose responses could be read in two ways, and clients of HTTP/1.0, which know neither
//! chunks nor interim responses.

use crate::client::{Client, Reply};
use crate::h2::exchange;
use crate::running::Running;
use crate::scripted::Scripted;
use http::Request;

/// The connection of a client that has sent a request of this version of HTTP, and got these bytes of the server.
fn asked(version: &str, response: &str) -> (Client, Running, Scripted) {
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), "");
    let mut client = Client::connect(proxy.address);
    client.send(format!("GET / HTTP/{version}\r\nhost: a\r\nconnection: keep-alive\r\n\r\n"));
    server.until("\r\n\r\n");
    server.say(response);
    (client, proxy, server)
}

const SWITCHED: &str = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";

#[test]
fn a_switch_that_nobody_asked_for_is_refused() {
    let (mut client, _proxy, _server) = asked("1.1", &format!("{SWITCHED}HELLO"));
    let reply = client.reply();
    assert_eq!((reply.status, reply.header("upgrade").as_str()), (502, ""));
    assert!(client.closed());
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), "");
    server.say(SWITCHED);
    let request = Request::get("http://a/").version(http::Version::HTTP_2).body(Vec::new()).unwrap();
    assert_eq!(exchange(proxy.address, vec![request])[0].status(), 502);
}

#[test]
fn bodies_with_unknown_framing_are_refused() {
    for fields in [
        "transfer-encoding: identity\r\ncontent-length: 5\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: chunked, chunked\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: gzip\r\n",
        "transfer-encoding: x\r\n",
    ] {
        let response = format!("HTTP/1.1 200 OK\r\n{fields}\r\n5\r\nhello\r\n0\r\n\r\n");
        let (mut client, _proxy, _server) = asked("1.1", &response);
        assert_eq!(client.reply().status, 502, "{fields}");
        assert!(client.closed(), "{fields}");
    }
    let (mut client, _proxy, _server) =
        asked("1.1", "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    assert_eq!(client.try_reply(false).unwrap().status, 200);
    assert_eq!(client.chunk(), b"hello");
}

#[test]
fn a_response_of_http_1_0_is_neither_chunked_nor_a_switch() {
    for fields in ["transfer-encoding: chunked\r\n", "transfer-encoding: chunked\r\ncontent-length: 5\r\n"] {
        for version in ["1.0", "1.1"] {
            let response = format!("HTTP/1.0 200 OK\r\n{fields}\r\n5\r\nhello\r\n0\r\n\r\n");
            let (mut client, _proxy, _server) = asked(version, &response);
            assert_eq!(client.reply().status, 502, "{version}, {fields}");
            assert!(client.closed(), "{version}, {fields}");
        }
    }
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), "");
    let mut client = Client::connect(proxy.address);
    client.request("GET /", &["connection: upgrade", "upgrade: websocket"], b"");
    server.until("\r\n\r\n");
    server.say(SWITCHED.replace("HTTP/1.1", "HTTP/1.0"));
    assert_eq!(client.reply().status, 502);
    assert!(client.closed());
}

#[test]
fn responses_of_http_1_0_have_the_version_of_the_proxy() {
    for response in ["HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello", "HTTP/1.0 204 No Content\r\n\r\n"] {
        let (mut client, _proxy, _server) = asked("1.1", &format!("HTTP/1.0 103 Early Hints\r\n\r\n{response}"));
        let interim = client.reply();
        assert_eq!((interim.version.as_str(), interim.status), ("HTTP/1.1", 103), "{response}");
        assert_eq!(client.kept().version, "HTTP/1.1", "{response}");
    }
}

/// Whatever the version of the client: a server of HTTP/1.0 need not know the length before.
#[test]
fn a_body_that_ends_with_the_connection_of_the_server_arrives_whole() {
    let response = "HTTP/1.0 200 OK\r\n\r\nhello";
    let (mut client, _proxy, server) = asked("1.1", response);
    drop(server);
    let reply = client.kept();
    assert_eq!((reply.version.as_str(), reply.status, reply.text().as_str()), ("HTTP/1.1", 200, "hello"));
    let (mut client, _proxy, server) = asked("1.0", response);
    drop(server);
    is_plain_hello(&mut client);
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), "");
    let address = proxy.address;
    let request = Request::get("http://a/").version(http::Version::HTTP_2).body(Vec::new()).unwrap();
    let client = std::thread::spawn(move || exchange(address, vec![request]));
    server.until("\r\n\r\n");
    server.say(response);
    drop(server);
    let replies = client.join().unwrap();
    assert_eq!((replies[0].status().as_u16(), replies[0].body().as_slice()), (200, b"hello".as_slice()));
}

#[test]
fn interim_responses_carry_nothing_that_rules_decide() {
    let server = Scripted::start();
    let policy = "response:\n  - { setHeaders: { x-team: a }, removeHeaders: [x-internal] }\n";
    let proxy = Running::with(&server.config(), policy);
    let mut client = Client::connect(proxy.address);
    client.request("GET /", &[], b"");
    server.until("\r\n\r\n");
    let fields = "x-internal: 1\r\nx_internal: 1\r\nx-team: b\r\nset-cookie: a=b\r\nvary: a\r\n\
                  content-type: b\r\nlink: </a>\r\n";
    server.say(format!("HTTP/1.1 103 Early Hints\r\n{fields}\r\nHTTP/1.1 200 OK\r\n{fields}content-length: 0\r\n\r\n"));
    let interim = client.reply();
    let names: Vec<&str> = interim.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((interim.status, names), (103, vec!["link"]));
    let reply = client.kept();
    assert_eq!((reply.header("x-internal").as_str(), reply.header("x-team").as_str()), ("", "a"));
}

#[test]
fn interim_responses_are_bounded() {
    for count in [100, 101] {
        let interim = "HTTP/1.1 102 Processing\r\n\r\n".repeat(count);
        let (mut client, proxy, _server) =
            asked("1.1", &format!("{interim}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
        let mut seen = 0;
        let last = loop {
            match client.reply() {
                Reply { status: 102, .. } => seen += 1,
                last => break last,
            }
        };
        assert_eq!((seen, last.status), if count == 100 { (100, 200) } else { (100, 502) });
        assert_eq!(proxy.log(1)[0]["status"], last.status);
    }
}

#[test]
fn a_response_without_content_says_no_length() {
    let (mut client, _proxy, _server) = asked("1.1", "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n");
    let reply = client.kept();
    assert_eq!((reply.status, reply.header("content-length").as_str()), (204, ""));
}

#[test]
fn clients_of_http_1_0_get_no_chunks_and_no_interim_responses() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    for response in [chunked, &format!("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n{chunked}")] {
        let (mut client, _proxy, _server) = asked("1.0", response);
        is_plain_hello(&mut client);
    }
    let (mut client, _proxy, _server) = asked("1.0", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
    assert_eq!(client.kept().text(), "hello");
    // While the body of the request is buffered, another session is in the place of Pingora's.
    let server = Scripted::start();
    let proxy = Running::with(&server.config(), "requestBody: [{ when: 'request.body == b\"no\"', deny: 403 }]\n");
    let mut client = Client::connect(proxy.address);
    client.send("POST / HTTP/1.0\r\nhost: a\r\nconnection: keep-alive\r\ncontent-length: 3\r\n\r\nyes");
    server.until("yes");
    server.say(chunked);
    is_plain_hello(&mut client);
    // A server of HTTP/2: another proxy.
    let server = Scripted::start();
    let behind = Running::with(&server.config(), "");
    let rest = format!(
        "upstreams: [{{ name: a, servers: [\"{}\"], h2c: true }}]\nroutes: [{{ upstream: a }}]\n",
        behind.address
    );
    let proxy = Running::with(&rest, "");
    let mut client = Client::connect(proxy.address);
    client.send("GET / HTTP/1.0\r\nhost: a\r\nconnection: keep-alive\r\n\r\n");
    server.until("\r\n\r\n");
    server.say(chunked);
    is_plain_hello(&mut client);
}

/// Expects a body that ends with the connection.
#[track_caller]
fn is_plain_hello(client: &mut Client) {
    let head = client.try_reply(false).unwrap();
    assert_eq!((head.status, head.header("transfer-encoding").as_str()), (200, ""), "{head:?}");
    assert_eq!(head.header("connection"), "close");
    assert_eq!(client.bytes(5), b"hello");
    assert!(client.closed());
}
