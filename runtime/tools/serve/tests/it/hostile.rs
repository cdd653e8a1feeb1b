//! Clients that mean harm: slow, huge, of other origins, or with rules made to take long.

use crate::support::{get, post, read, request, send, serve};
use celero_serve::{Files, limits};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

#[test]
fn other_names_and_origins_are_refused() {
    let to = serve(Files::default());
    let with =
        |headers: &str| send(to, format!("GET / HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").as_bytes()).status;
    assert_eq!(with(&format!("Host: {to}\r\n")), 200);
    assert_eq!(with("Host: localhost:1234\r\n"), 200);
    assert_eq!(with("Host: evil.example\r\n"), 421);
    assert_eq!(with("Host: 127.0.0.1.evil.example\r\n"), 421);
    assert_eq!(with(""), 400);
    assert_eq!(with("Host: 127.0.0.1\r\nHost: evil.example\r\n"), 400);
    assert_eq!(with("Host: 127.0.0.1\r\nOrigin: http://evil.example\r\n"), 403);
    assert_eq!(
        send(to, format!("GET http://evil.example/ HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n").as_bytes())
            .status,
        421
    );
    let body = "{\"rule\":\"1\"}";
    let plain = format!(
        "POST /api/rule HTTP/1.1\r\nHost: {to}\r\nX-Celero: 1\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(send(to, plain.as_bytes()).status, 415);
    let options =
        format!("OPTIONS /api/rule HTTP/1.1\r\nHost: {to}\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n");
    let preflight = send(to, options.as_bytes());
    assert_eq!(preflight.status, 403);
    assert!(!preflight.head.to_ascii_lowercase().contains("access-control"));
    // What an image on a page of another origin sends if this server is not on the browser's
    // computer: no `Origin`, no `Sec-Fetch-Site`.
    for path in ["/api/rules", "/api/policy", "/api/start"] {
        let image = format!("GET {path} HTTP/1.1\r\nHost: {to}\r\nAccept: image/*\r\nConnection: close\r\n\r\n");
        assert_eq!(send(to, image.as_bytes()).status, 403, "{path}");
    }
}

#[test]
fn nothing_but_the_page_and_the_api_is_there() {
    let to = serve(Files::default());
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/page.js/",
        "/api",
        "/api/rule/x",
        "/%00",
        "/page.js%00.css",
    ] {
        assert_eq!(get(to, path).status, 404, "{path}");
    }
    assert_eq!(get(to, "/api/rule").status, 405);
    assert_eq!(request("PUT", to, "/", "").status, 405);
    assert_eq!(get(to, "/api/policy").status, 404);
    assert_eq!(get(to, "/api/rules").status, 404);
}

#[test]
fn every_answer_forbids_foreign_scripts() {
    let to = serve(Files::default());
    for path in ["/", "/page.js", "/page.css", "/icon.svg", "/nothing", "/api/start"] {
        let head = get(to, path).head.to_ascii_lowercase();
        assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self';"), "{head}");
        assert!(head.contains("x-content-type-options: nosniff") && head.contains("frame-ancestors 'none'"), "{head}");
        assert!(!head.contains("unsafe") && !head.contains("access-control"), "{head}");
    }
    let (mut paths, mut at) = (vec!["/".to_owned(), "/page.css".to_owned(), "/page.js".to_owned()], 0);
    while let Some(path) = paths.get(at).cloned() {
        at += 1;
        let answer = get(to, &path);
        assert_eq!(answer.status, 200, "{path}");
        let body = answer.body;
        // The modules that a module imports are there, and obey the same.
        for module in body.split(" from \".").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())) {
            if !paths.contains(&module) {
                paths.push(module);
            }
        }
        for forbidden in [
            "http://",
            "https://",
            "innerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            " style=",
            "onclick=\"",
        ] {
            // Addresses stand in examples only.
            let found = body.lines().find(|line| line.contains(forbidden) && !line.contains("shop.example"));
            assert_eq!(found, None, "{path} has {forbidden}");
        }
    }
    assert!(paths.len() > 10, "{paths:?}");
}

#[test]
fn what_is_not_the_question_is_refused() {
    let to = serve(Files::default());
    for body in [
        "",
        "{",
        "[]",
        "null",
        "{\"rule\": 1}",
        "{\"rules\": \"1\"}",
        "{\"language\": \"lua\"}",
        "{\"rule\": \"\\ud800\"}",
    ] {
        let answer = request("POST", to, "/api/rule", body);
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        assert!(answer.json()["error"].is_string());
    }
    let nested = format!(
        "{{\"rule\": \"a\", \"input\": {}}}",
        json!(format!("{{\"a\": {}1{}}}", "[".repeat(5000), "]".repeat(5000)))
    );
    let answer = request("POST", to, "/api/rule", &nested);
    assert!(answer.json()["input"]["error"]["message"].as_str().unwrap().contains("recursion"), "{answer:?}");
    assert_eq!(post(to, "/api/rule", &json!({ "rule": "1", "source": "nobody" })).status, 400);
}

#[test]
fn large_requests_are_refused_before_they_are_read() {
    let to = serve(Files::default());
    let head = |length: usize| {
        format!(
            "POST /api/rule HTTP/1.1\r\nHost: {to}\r\nX-Celero: 1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    assert_eq!(send(to, head(1 << 30).as_bytes()).status, 413);
    let chunked = format!(
        "POST /api/rule HTTP/1.1\r\nHost: {to}\r\nX-Celero: 1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let mut stream = TcpStream::connect(to).unwrap();
    stream.write_all(chunked.as_bytes()).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(1 << 16));
    let sent = (0..1000).take_while(|_| stream.write_all(chunk.as_bytes()).is_ok()).count();
    assert!(sent < 1000, "64 MB were taken");
    let many = format!("GET / HTTP/1.1\r\nHost: {to}\r\n{}\r\n", "X-A: b\r\n".repeat(100));
    assert_eq!(send(to, many.as_bytes()).status, 431);
    let long = format!("GET / HTTP/1.1\r\nHost: {to}\r\nX-A: {}\r\n\r\n", "a".repeat(limits::HEAD_BYTES));
    assert_eq!(send(to, long.as_bytes()).status, 431);
}

#[test]
fn idle_connections_are_bounded_and_end() {
    let to = serve(Files::default());
    let idle: Vec<TcpStream> = (0..1000).filter_map(|_| TcpStream::connect(to).ok()).collect();
    // The others were closed when they were accepted.
    let is_open = |stream: &&TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        !matches!(
            {
                let mut stream: &TcpStream = stream;
                stream.read(&mut [0; 1])
            },
            Ok(0)
        )
    };
    // Each count takes time, so that the server can accept and close meanwhile.
    let open = || idle.iter().take(400).filter(is_open).count();
    let bounded = (0..100).any(|_| open() <= limits::CONNECTIONS);
    assert!(bounded, "{} connections are open", open());
    drop(idle);
    // When they are gone, the server serves again.
    let served = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        TcpStream::connect(to).is_ok() && get(to, "/").status == 200
    });
    assert!(served);
}

#[test]
fn rules_made_to_take_long_end() {
    let to = serve(Files::default());
    let list = format!("[{}]", vec!["1"; 100].join(","));
    let loops = (0..6).fold("true".to_owned(), |body, level| format!("{list}.all(x{level}, {body})"));
    let answer = post(to, "/api/rule", &json!({ "rule": loops, "measure": true })).json();
    assert_eq!(answer["result"]["error"]["kind"], "out_of_budget", "{answer}");
    let long = "a".repeat(usize::try_from(limits::RULE_BYTES).unwrap() + 1);
    let answer = post(to, "/api/rule", &json!({ "rule": long })).json();
    assert_eq!(answer["diagnostics"][0]["kind"], "limit", "{answer}");
    for rule in [
        "(".repeat(4000),
        "!".repeat(8000) + "true",
        format!("{}1{}", "[".repeat(200), "]".repeat(200)),
        "1".to_owned() + &"+1".repeat(2000),
        "'a'.matches('(a*)*(a*)*(a{1,100}){1,100}')".to_owned(),
        format!("cel.bind(a, 'aaaaaaaaaaaaaaaa', {} size(a)", "cel.bind(a, a + a, ".repeat(20)) + &")".repeat(21),
    ] {
        let answer = post(to, "/api/rule", &json!({ "rule": rule, "measure": true }));
        assert_eq!(answer.status, 200, "{rule}: {answer:?}");
    }
}

#[test]
fn a_slow_client_holds_up_nobody() {
    let to = serve(Files::default());
    let mut slow: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(to).unwrap()).collect();
    for stream in &mut slow {
        stream.write_all(b"POST /api/rule HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Celero: 1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{").unwrap();
    }
    let classes = format!(r#""x".matches(r"(?i){}")"#, r"\pL".repeat(1_100));
    let answer = post(to, "/api/rule", &json!({ "rule": classes })).json();
    assert_eq!(answer["diagnostics"][0]["code"], "too-many-cases", "{answer}");
    assert_eq!(post(to, "/api/rule", &json!({ "rule": "1 + 1" })).json()["result"]["value"]["text"], "2");
    // Two requests in one packet have two answers.
    let mut stream = TcpStream::connect(to).unwrap();
    stream.write_all(format!("GET /icon.svg HTTP/1.1\r\nHost: {to}\r\n\r\n").repeat(2).as_bytes()).unwrap();
    assert_eq!(read(&mut stream).status, 200);
}

#[test]
fn markup_stays_text() {
    let to = serve(Files::default());
    let answer = post(to, "/api/rule", &json!({ "rule": "\"<script>alert(1)</script>\"", "input": "" }));
    assert!(answer.head.to_ascii_lowercase().contains("content-type: application/json"));
    assert_eq!(answer.json()["result"]["value"]["text"], "\"<script>alert(1)</script>\"");
}
