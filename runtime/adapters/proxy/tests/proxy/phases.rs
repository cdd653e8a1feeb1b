//! What rules do in each phase.

use crate::client::{Client, get, get_with, post};
use crate::running::Running;

#[test]
fn a_request_is_changed_before_the_server_sees_it() {
    let proxy = Running::demo(
        r#"
request:
  - name: stamp
    setHeaders: { x-set: "for ${request.path}", x-replaced: new }
    addHeaders: { x-many: second }
    removeHeaders: [x-secret]
    removePrefixes: [x-internal-]
"#,
    );
    let headers = ["x-replaced: old", "X-Many: first", "x-secret: 1", "x-internal-a: 1", "x-kept: 1"];
    let echo = get_with(proxy.address, "/echo", &headers).echo();
    assert_eq!(echo.header("x-set"), ["for /echo"]);
    assert_eq!(echo.header("x-replaced"), ["new"]);
    assert_eq!(echo.header("x-many"), ["first", "second"]);
    assert_eq!(echo.header("x-kept"), ["1"]);
    assert!(echo.header("x-secret").is_empty() && echo.header("x-internal-a").is_empty());
}

const ANSWERS: &str = r#"
request:
  - { name: open, when: 'request.path.startsWith("/open/")', allow: true }
  - { name: never, when: 'request.path.startsWith("/open/")', deny: true }
  - { name: plain, when: 'request.path == "/deny"', deny: true }
  - { name: status, when: 'request.path == "/deny/429"', deny: 429 }
  - name: full
    when: request.path == "/deny/full"
    deny: { status: 451, headers: { x-why: law }, body: "no ${request.method} here" }
  - { name: teapot, when: 'request.path == "/respond"', respond: { status: 418, body: short } }
  - { name: moved, when: 'request.path == "/old"', redirect: { to: "https://${request.host}/new", status: "308" } }
log:
  - logFields: { seen: "${request.path}" }
"#;

#[test]
fn a_request_is_answered_by_the_policy() {
    let proxy = Running::demo(ANSWERS);
    assert_eq!(get(proxy.address, "/open/x").status, 200);
    let plain = get(proxy.address, "/deny");
    assert_eq!(plain.status, 403);
    assert_eq!(get(proxy.address, "/deny/429").status, 429);
    let full = get(proxy.address, "/deny/full");
    assert_eq!((full.status, full.text().as_str(), full.header("x-why").as_str()), (451, "no GET here", "law"));
    let teapot = get(proxy.address, "/respond");
    assert_eq!((teapot.status, teapot.text().as_str()), (418, "short"));
    let moved = get(proxy.address, "/old");
    assert_eq!((moved.status, moved.header("location").as_str()), (308, "https://localhost/new"));

    let log = proxy.log(6);
    assert_eq!(log[0]["status"], 200);
    assert_eq!(log[0]["upstream"], "demo");
    assert_eq!(log[1]["rule"], "plain");
    assert_eq!(log[3]["rule"], "full");
    assert_eq!(log[3]["status"], 451);
    assert_eq!(log[3]["seen"], "/deny/full");
    assert!(log[3].get("upstream").is_none());
    assert!(proxy.metric(r#"celero_rule_matches_total{phase="request",rule="full"}"#) >= 1.0);
    proxy.reaches(r#"celero_phase_evaluations_total{phase="request"}"#, 6.0);
}

#[test]
fn rules_are_measured() {
    let proxy = Running::demo(
        r#"
request:
  - { name: open, when: 'request.path.startsWith("/open/")' }
  - { name: team, when: 'request.headers["x-team"] == "ops"', deny: true }
"#,
    );
    let mut client = Client::connect(proxy.address);
    for n in 0..192 {
        let headers: &[&str] = if n % 3 == 0 { &[] } else { &["x-team: web"] };
        let path = if n % 2 == 0 { "GET /open/" } else { "GET /" };
        assert_eq!(client.request(path, headers, b"").reply().status, if n % 3 == 0 { 403 } else { 200 });
    }
    let metric =
        |name: &str, rule: &str| proxy.metric(&format!(r#"celero_rule_{name}{{phase="request",rule="{rule}"}}"#));
    for (rule, matches, errors, timed) in [("open", 96.0, 0.0, 2.0), ("team", 64.0, 64.0, 1.0)] {
        assert_eq!(metric("evaluations_total", rule), 192.0);
        assert_eq!(metric("matches_total", rule), matches);
        assert_eq!(metric("errors_total", rule), errors);
        assert_eq!(metric("duration_seconds_count", rule), timed);
        assert!(metric("duration_seconds_sum", rule) > 0.0);
    }
}

#[test]
fn an_answer_to_head_has_no_body() {
    let proxy = Running::demo(ANSWERS);
    let mut client = Client::connect(proxy.address);
    for _ in 0..2 {
        let reply = client.request("HEAD /respond", &[], b"").try_reply(false).unwrap();
        assert_eq!((reply.status, reply.header("content-length").as_str()), (418, "5"));
    }
}

const BODY: &str = r#"
requestBody:
  limit: 300KiB
  rules:
    - { name: evil, when: 'string(request.body).contains("evil")', deny: { status: 400, body: "evil\n" } }
    - name: model
      when: request.path == "/model"
      setHeaders: { x-model: "${json(request.body).model}" }
"#;

#[test]
fn a_body_is_looked_at_before_the_server_is_asked() {
    let proxy = Running::demo(BODY);
    assert_eq!(post(proxy.address, "/x", b"good").echo().0["body"], "good");
    let evil = post(proxy.address, "/x", b"some evil thing");
    assert_eq!((evil.status, evil.text().as_str()), (400, "evil\n"));
    let echo = post(proxy.address, "/model", br#"{"model": "large"}"#).echo();
    assert_eq!(echo.header("x-model"), ["large"]);
    assert_eq!(echo.0["body"], r#"{"model": "large"}"#);
    // Without a body the rules see an empty one.
    assert_eq!(get(proxy.address, "/x").status, 200);
    let log = proxy.log(4);
    assert_eq!(log[1]["rule"], "evil");
    assert!(log[1].get("server").is_none(), "the server was asked");
}

const RESPONSES: &str = r#"
response:
  - name: mark
    setHeaders: { x-served-by: celero, x-code: "${string(response.code)}" }
    addHeaders: { x-more: a }
    removeHeaders: [content-type]
  - name: hide
    when: response.code >= 500
    respond: { status: 503, headers: { retry-after: "1" }, body: "later\n" }
  - { name: not-for-you, when: 'response.code == 404', deny: true }
"#;

#[test]
fn a_response_is_changed_before_the_client_sees_it() {
    let proxy = Running::demo(RESPONSES);
    let reply = get(proxy.address, "/");
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("x-served-by"), "celero");
    assert_eq!(reply.header("x-code"), "200");
    assert_eq!(reply.header("x-more"), "a");
    assert_eq!(reply.header("content-type"), "");
    assert_eq!(reply.text(), "Hello from the demo upstream of celero-proxy.\n");
}

#[test]
fn a_response_is_replaced_by_the_policy() {
    let proxy = Running::demo(RESPONSES);
    let later = get(proxy.address, "/status/500");
    assert_eq!((later.status, later.text().as_str()), (503, "later\n"));
    assert_eq!(later.header("retry-after"), "1");
    assert_eq!(later.header("x-served-by"), "", "changes belong to the response that was replaced");
    assert_eq!(get(proxy.address, "/status/404").status, 403);
    assert_eq!(get(proxy.address, "/").status, 200);
    let log = proxy.log(3);
    assert_eq!((&log[0]["status"], &log[0]["rule"]), (&503.into(), &"hide".into()));
    assert!(log[0].get("error").is_none());
}

#[test]
fn the_log_has_what_the_policy_says() {
    let proxy = Running::demo(
        r#"
request:
  - labels: { team: "${request.headers['x-team']}" }
log:
  - name: all
    logFields: { agent: "${request.headers['user-agent']}", team: "${labels.team}", code: "${response.code}", took: "${request.duration}" }
  - { name: errors, when: response.code >= 400, logFields: { alarm: "yes" } }
"#,
    );
    get_with(proxy.address, "/", &["user-agent: probe \"1\"", "x-team: red"]);
    get_with(proxy.address, "/status/500", &["user-agent: probe", "x-team: blue"]);
    let log = proxy.log(2);
    assert_eq!(log[0]["agent"], "probe \"1\"");
    assert_eq!(log[0]["team"], "red");
    assert_eq!(log[0]["code"], 200);
    assert!(log[0].get("alarm").is_none());
    assert_eq!(log[1]["team"], "blue");
    assert_eq!(log[1]["alarm"], "yes");
    for field in ["time", "client", "method", "host", "path", "protocol", "status", "bytesSent", "durationMs"] {
        assert!(log[0].get(field).is_some(), "no {field} in {}", log[0]);
    }
}
