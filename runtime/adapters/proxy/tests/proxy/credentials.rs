//! Credentials over sockets: passwords that take long, keys at URLs, certificates that a peer forwards.

use crate::client::{Client, get, get_with};
use crate::h2;
use crate::running::{Running, eventually};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value as Json, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

fn basic(login: &str) -> String {
    format!("authorization: Basic {}", STANDARD.encode(login))
}

#[test]
fn forty_wrong_logins_delay_no_public_page() {
    let hash = bcrypt::hash("right", 12).unwrap();
    let file = std::env::temp_dir().join(format!("celero-users-{}", std::process::id()));
    std::fs::write(&file, format!("ada:{hash}\n")).unwrap();
    let policy = format!(
        "basicAuth: {{users: {}, threads: 1, maxWaiting: 60}}\nrequest:\n\
         - {{when: request.path.startsWith('/public'), allow: true}}\n- {{when: '!has(basicAuth.username)', deny: 401}}\n",
        file.display()
    );
    let proxy = Running::demo(&policy);
    let _ = std::fs::remove_file(&file);
    let replies = Arc::new(Mutex::new(Vec::new()));
    for number in 0..40 {
        let (address, replies) = (proxy.address, Arc::clone(&replies));
        std::thread::spawn(move || {
            let mut login = Client::connect(address);
            login.request("GET /private", &[&basic(&format!("ada:{number}"))], b"");
            // The proxy ends before most of them have an answer.
            if let Ok(reply) = login.try_reply(true) {
                replies.lock().unwrap().push((reply.status, reply.header("retry-after")));
            }
        });
    }
    let refused = || replies.lock().unwrap().iter().filter(|reply| **reply == (503, "1".to_owned())).count();
    eventually(|| refused() >= 10, || "refused logins".into());
    let reply = get_with(proxy.address, "/public", &[&basic("ada:other"), "connection: close"]);
    assert_eq!(reply.status, 200);
    let reply = h2::exchange(proxy.address, vec![h2::request("GET", "/public", b"")]).remove(0);
    assert_eq!(reply.status(), 200);
    assert!(proxy.metric("celero_auth_waiting") >= 10.0, "the logins still wait");
    assert!(proxy.metric("celero_auth_refused_total") >= 10.0);
    let entry = proxy.log(1).into_iter().find(|entry| entry["status"] == 503).unwrap();
    assert_eq!(entry["rule"], "auth.busy");
}

/// Four addresses send as many wrong logins as they can, a fifth one logs in: it is verified after
/// at most one login of each of them.
#[test]
fn four_addresses_do_not_hold_out_others() {
    const PLACES: usize = 16;
    let hash = bcrypt::hash("right", 11).unwrap();
    let policy = format!(
        "basicAuth: {{users: users, threads: 1, maxWaiting: {PLACES}}}\nrequest: [{{when: '!has(basicAuth.username)', deny: 401}}]\n"
    );
    let settings = format!("{DEMO}forwarded: {{ trusted: [127.0.0.1] }}\n");
    let proxy = Running::with_listener("h2c: true", &settings, &policy, |folder| {
        folder.write("users", &format!("ada:{hash}\n"));
    });
    let login = |client: usize, login: &str| {
        let mut connection = Client::connect(proxy.address);
        connection.request("GET /", &[&basic(login), &format!("x-forwarded-for: 10.0.0.{client}")], b"");
        connection
    };
    let refused = || proxy.metric("celero_auth_refused_total");
    let mut others = Vec::new();
    for number in 0..PLACES {
        // A user each: none of them has a share that is taken.
        others.extend((0..4).map(|client| login(client, &format!("u{client}-{number}:wrong"))));
    }
    eventually(|| refused() >= 20.0, || "the places to be taken".into());
    let done = || proxy.metric("celero_auth_verifications_total");
    let (refused_before, before) = (refused(), done());
    assert_eq!(login(9, "ada:right").reply().status, 200);
    // One of each address, the one that ran, its own, and what was done while this looked.
    let between = done() - before;
    assert!(between <= 4.0 + 1.0 + 1.0 + 3.0 && refused() >= refused_before, "{between}");
}

/// What the server with the keys does.
#[derive(Clone)]
enum Behaviour {
    Document(String),
    Text(&'static str),
    Huge,
    Hang,
    RedirectTo(SocketAddr),
}

/// A server with keys.
struct KeyServer {
    address: SocketAddr,
    behaviour: Arc<Mutex<Behaviour>>,
    hits: Arc<AtomicUsize>,
}

impl KeyServer {
    fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (behaviour, hits) = (Arc::new(Mutex::new(behaviour)), Arc::new(AtomicUsize::new(0)));
        let (now, count) = (Arc::clone(&behaviour), Arc::clone(&hits));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                count.fetch_add(1, Ordering::SeqCst);
                let now = now.lock().unwrap().clone();
                std::thread::spawn(move || serve(stream.unwrap(), &now));
            }
        });
        Self { address, behaviour, hits }
    }

    fn set(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }

    /// A proxy whose policy has the keys of this server.
    fn proxy(&self) -> Running {
        Running::demo(&format!(
            "jwt: {{keys: [{{jwksUrl: 'http://{}/keys?tenant=1', cooldown: 1s, timeout: 3s}}]}}\nrequest:\n\
             - {{when: request.path == '/public', allow: true}}\n- {{when: '!has(jwt.sub)', deny: 401}}\n",
            self.address
        ))
    }
}

fn serve(mut stream: TcpStream, behaviour: &Behaviour) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let _ = stream.read(&mut [0; 4096]);
    let answer = |status: &str, more: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{more}connection: close\r\n\r\n{body}", body.len())
    };
    let text = match behaviour {
        Behaviour::Document(text) => answer("200 OK", "", text),
        Behaviour::Text(text) => answer("200 OK", "", text),
        Behaviour::Huge => answer("200 OK", "", &" ".repeat(5 << 20)),
        Behaviour::Hang => {
            std::thread::sleep(Duration::from_secs(10));
            return;
        }
        Behaviour::RedirectTo(other) => answer("302 Found", &format!("location: http://{other}/keys\r\n"), ""),
    };
    let _ = stream.write_all(text.as_bytes());
}

fn signing(file: &str) -> EncodingKey {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../policy/tests/keys").join(file);
    EncodingKey::from_rsa_pem(&std::fs::read(file).unwrap()).unwrap()
}

fn keys(file: &str) -> Behaviour {
    let mut jwk = serde_json::to_value(Jwk::from_encoding_key(&signing(file), Algorithm::RS256).unwrap()).unwrap();
    jwk["kid"] = json!(file);
    Behaviour::Document(json!({ "keys": [jwk] }).to_string())
}

fn bearer(file: &str) -> String {
    let claims: Json = json!({ "sub": "ada", "exp": jsonwebtoken::get_current_timestamp() + 600 });
    let header = Header { kid: Some(file.to_owned()), ..Header::new(Algorithm::RS256) };
    format!("authorization: Bearer {}", encode(&header, &claims, &signing(file)).unwrap())
}

fn status(proxy: &Running, token: &str) -> u16 {
    get_with(proxy.address, "/", &[token, "connection: close"]).status
}

#[test]
fn keys_at_a_url_are_fetched_and_rotate() {
    let server = KeyServer::start(keys("rsa.pem"));
    let proxy = server.proxy();
    let (old, new) = (bearer("rsa.pem"), bearer("other.pem"));
    // Later than that an unknown id lets the keys be fetched.
    let within_cooldown = |begun: Instant| begun.elapsed() < Duration::from_secs(1);
    let begun = Instant::now();
    assert_eq!(status(&proxy, &old), 200, "the first request waits for the keys");
    let answer = (status(&proxy, &new), server.hits());
    assert!(answer == (401, 1) || !within_cooldown(begun), "an unknown id right after a fetch: {answer:?}");
    server.set(keys("other.pem"));
    std::thread::sleep(Duration::from_millis(1_050));
    let (begun, before) = (Instant::now(), server.hits());
    assert_eq!((status(&proxy, &new), status(&proxy, &old)), (200, 401));
    let fetched = server.hits() - before;
    assert!(fetched == 1 || !within_cooldown(begun), "fetched {fetched} times");
    // A reload keeps the keys, and does not fetch.
    let before = server.hits();
    proxy.handle.reload().unwrap();
    assert_eq!((status(&proxy, &new), server.hits()), (200, before));
    let h2 = h2::request("GET", "/", b"");
    let (mut head, body) = h2.into_parts();
    head.headers.insert("authorization", new.trim_start_matches("authorization: ").parse().unwrap());
    let reply = h2::exchange(proxy.address, vec![http::Request::from_parts(head, body)]).remove(0);
    assert_eq!(reply.status(), 200);
}

#[test]
fn a_faulty_server_of_keys_closes_and_recovers() {
    let other = KeyServer::start(keys("rsa.pem"));
    let server = KeyServer::start(Behaviour::Hang);
    let proxy = server.proxy();
    let token = bearer("rsa.pem");
    let page = get(proxy.metrics, "/metrics").text();
    assert!(page.contains("celero_auth_keys{") && !page.contains("tenant"), "{page}");
    // The token waits for the server that hangs; nothing else does.
    let begun = Instant::now();
    let mut waiting = Client::connect(proxy.address);
    waiting.request("GET /", &[&token], b"");
    eventually(|| server.hits() == 1, || "a fetch".into());
    assert_eq!(get_with(proxy.address, "/public", &[&token, "connection: close"]).status, 200);
    assert_eq!(get(proxy.address, "/").status, 401);
    let failed = format!(
        "celero_auth_key_fetches_total{{url=\"http://{}/keys\",number=\"1\",result=\"failed\"}}",
        server.address
    );
    let hangs = proxy.metric(&failed) == 0.0;
    assert!(hangs || begun.elapsed() >= Duration::from_secs(3), "the server still hangs");
    assert_eq!(waiting.reply().status, 401);
    assert_eq!((proxy.metric(&failed), status(&proxy, &token)), (1.0, 401));
    for (number, bad) in
        [Behaviour::Text("<html>"), Behaviour::Huge, Behaviour::RedirectTo(other.address)].into_iter().enumerate()
    {
        server.set(bad);
        std::thread::sleep(Duration::from_millis(1_050));
        assert_eq!(status(&proxy, &token), 401);
        assert!(proxy.metric(&failed) >= number as f64 + 2.0);
    }
    assert_eq!(other.hits(), 0, "redirects are not followed");
    server.set(keys("rsa.pem"));
    std::thread::sleep(Duration::from_millis(1_050));
    assert_eq!(status(&proxy, &token), 200);
}

#[test]
fn only_trusted_peers_forward_certificates() {
    let rules = "request:\n- {when: 'has(clientCert.subject)', setHeaders: {x-subject: '${clientCert.subject}', x-hash: '${clientCert.hash}'}}\n";
    let ask = |trusted: &str, headers: &[&str]| {
        let proxy = Running::with(DEMO, &format!("clientCert: {{trusted: [{trusted}]}}\n{rules}"));
        let echo = get_with(proxy.address, "/echo", headers).echo();
        (echo.header("x-subject").join("|"), echo.header("x-forwarded-client-cert").len())
    };
    let cert = "X-Forwarded-Client-Cert: Hash=AA;Subject=\"CN=root\",Hash=bb;Subject=\"CN=ada, O=x\"";
    assert_eq!(ask("127.0.0.0/8", &[cert]), ("CN=ada, O=x".to_owned(), 1));
    assert_eq!(ask("127.0.0.1", &[cert]), ("CN=ada, O=x".to_owned(), 1));
    assert_eq!(ask("10.0.0.0/8, '::/0'", &[cert]), (String::new(), 0), "removed");
    assert_eq!(ask("10.0.0.0/8", &[cert, cert]), (String::new(), 0), "removed");
    assert_eq!(ask("127.0.0.1", &[cert, cert]), (String::new(), 2), "two headers are no certificate");
    // Rules don't read a header that nobody may trust.
    let rule = "request:\n- {when: '\"x-forwarded-client-cert\" in request.headers', deny: 403}\n";
    let status = |trusted: &str| {
        let proxy = Running::with(DEMO, &format!("clientCert: {{trusted: [{trusted}]}}\n{rule}"));
        get_with(proxy.address, "/echo", &[cert]).status
    };
    assert_eq!((status("127.0.0.1"), status("10.0.0.0/8")), (403, 200));
    assert_eq!(ask("127.0.0.1", &["x-forwarded-client-cert: Hash=a;Subject=CN=root"]), (String::new(), 1));
}
