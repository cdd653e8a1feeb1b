//! What operators see: the page of the admin listener, the description of a configuration, the log of a reload.

use crate::certificates::Authority;
use crate::client::{Client, get};
use crate::process::Process;
use crate::running::{Folder, Running, config, eventually};
use celero_proxy::config::Config;

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

#[test]
fn the_page_shows_what_happens() {
    let policy = "request:\n  - { name: no-admin, when: 'request.path.startsWith(\"/admin\")', deny: 403 }\n";
    let rest = "upstreams: [{ name: demo, demo: true }, { name: two, demo: true }]\n\
                routes: [{ host: a.example, path: /shop, upstream: two }, { split: [{ upstream: two, weight: 1 }, { upstream: demo, weight: 9 }] }]\n";
    let proxy = Running::with(rest, policy);
    assert_eq!(get(proxy.address, "/admin/x?token=secret").status, 403);
    assert_eq!(get(proxy.address, "/").status, 200);
    assert_eq!(Client::connect(proxy.address).send("GET /%zz HTTP/1.1\r\nhost: a\r\n\r\n").reply().status, 400);
    proxy.folder.write("policy.yaml", "request: [{ deny: treu }]\n");
    proxy.handle.reload().unwrap_err();
    let page = || get(proxy.metrics, "/").text();
    eventually(|| page().contains("<td>no-admin"), page);
    let page = page();
    for part in [
        "a.example/shop",
        "two (1), demo (9) by address",
        "<span class=\"ok\">healthy</span>",
        "/admin/x",
        "<td>no-admin",
        "<span class=\"bad\">refused</span>",
        "0 open requests",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!page.contains("secret"), "{page}");
}

/// A page in an operator's browser may let a name of its own resolve to this machine, and read under it what is there.
#[test]
fn an_address_of_loopback_is_known_by_no_name() {
    let proxy = Running::demo("request: [{ deny: 403 }]\n");
    let status = |target: &str, host: &str| {
        let request = format!("GET {target} HTTP/1.1\r\n{host}connection: close\r\n\r\n");
        Client::connect(proxy.metrics).send(request).reply().status
    };
    for path in ["/", "/metrics", "/health", "/ready", "/style.css", "/lists"] {
        for host in ["localhost", "127.0.0.1:9090", "[::1]:1"] {
            let status = status(path, &format!("host: {host}\r\n"));
            // Lists have a token.
            assert!(status == 200 || path == "/lists" && status != 421, "{path} {host}: {status}");
        }
        for host in ["host: evil.example\r\n", "host: localhost.evil.example:9090\r\n"] {
            assert_eq!(status(path, host), 421, "{path} {host}");
        }
    }
    let absolute = status("http://evil.example/metrics", "host: localhost\r\n");
    assert!(matches!(absolute, 400 | 421), "{absolute}");
}

/// Paths are chosen by attackers, and shown to operators.
#[test]
fn the_page_is_safe_to_look_at() {
    let proxy = Running::demo("request: [{ name: \"<b>'&\", deny: 403 }]\n");
    for path in ["/<script>alert(1)</script>", "/\"onload=x", "/\u{202e}"] {
        let mut client = Client::connect(proxy.address);
        client.send(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n"));
        assert!(client.reply().status >= 400);
    }
    let long = format!("/{}", "x".repeat(4000));
    assert_eq!(get(proxy.address, &long).status, 403);
    // A request is on the page when it has ended, which is after its client has the answer.
    eventually(|| get(proxy.metrics, "/").text().contains("xxx.."), || "the last request".into());
    let reply = get(proxy.metrics, "/");
    let page = reply.text();
    assert!(page.contains("&lt;b&gt;&#39;&amp;"), "{page}");
    for part in ["<script", "<b>", "\"onload", "\u{202e}", &"x".repeat(300)] {
        assert!(!page.contains(part), "{part} in {page}");
    }
    assert_eq!(reply.header("content-type"), "text/html; charset=utf-8");
    assert!(reply.header("content-security-policy").starts_with("default-src 'none'; style-src 'self';"));
    assert_eq!(reply.header("x-content-type-options"), "nosniff");
    assert_eq!(get(proxy.metrics, "/style.css").header("content-type"), "text/css; charset=utf-8");
    // However many are refused, the page stays small.
    (0..200).for_each(|_| drop(get(proxy.address, "/y")));
    assert!(get(proxy.metrics, "/").body.len() < 40_000);
}

#[test]
fn a_configuration_is_described() {
    let (folder, authority) = (Folder::new(), Authority::new("tests"));
    authority.server(&["one.example", "*.two.example"]).write(&folder, "one");
    folder.write(
        "policy.yaml",
        "lists: { blocked: { kind: addresses, entries: [192.0.2.0/24] } }\n\
         request:\n  - { name: first, deny: 403 }\nresponse:\n  - { name: second, setHeaders: { a: b } }\n",
    );
    let text = "listeners: [{ address: 127.0.0.1:8443, tls: { certificates: [{ chain: one.pem, key: one.key }] } }]\npolicy: policy.yaml\n\
                upstreams: [{ name: a, servers: [{ address: 127.0.0.1:9000, weight: 3 }], ejection: {} }, { name: b, demo: true }]\n\
                routes: [{ host: '*.example', path: /x, upstream: a, retry: {}, compression: false }, { path: /down, answer: { status: 503 } }, { split: [{ upstream: a, weight: 1 }, { upstream: b, weight: 2 }] }]\n\
                compression: { types: [text/html], level: 9 }\n\
                accessLog: '-'\ntraces: { sampled: 0.5, export: { url: 'http://127.0.0.1:4318/v1/traces' } }\n";
    let file = folder.write("proxy.yaml", text);
    let summary = Config::summary(&file).unwrap_or_else(|error| panic!("{error}"));
    for part in [
        "127.0.0.1:8443  TLS 1.2 and 1.3, HTTP/1.1 and HTTP/2",
        "one.pem: one.example, *.two.example; valid until ",
        " days left)",
        "a: roundRobin, out for 30s after 5 failures",
        "127.0.0.1:9000 (weight 3)",
        "the built-in demo server",
        "*.example/x -> a; tries up to 1 other server; not compressed",
        "gzip, level 9, bodies from 1024 bytes, 256 at a time: text/html",
        "*/down -> the answer 503 with 0 bytes",
        "* -> a (1), b (2) by address",
        "request: 1 rule: first",
        "response: 1 rule: second",
        "list blocked: addresses, 1 entry\n",
        "accessLog: -\n",
        "traces.sampled: 0.5\n",
        "traces.export.url: http://127.0.0.1:4318/v1/traces\n",
        "limits.requests: 10000",
        "metrics.address: none",
    ] {
        assert!(summary.contains(part), "{part} in\n{summary}");
    }
}

/// What could not be written is known before the proxy starts.
#[test]
fn folders_of_files_that_are_written_must_exist() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    folder.write("token", &"t".repeat(32));
    let rest = "upstreams: [{ name: b, demo: true }]\nroutes: [{ upstream: b }]\npolicy: policy.yaml\nlisteners: [{ address: 127.0.0.1:0 }]\n";
    for (key, text) in [
        ("accessLog", "accessLog: FOLDER/file\n"),
        ("listChanges", "metrics: 127.0.0.1:0\nadmin: { token: token, listChanges: FOLDER/file }\n"),
        ("listCopies", "listCopies: FOLDER/file\n"),
    ] {
        let write = |place: &str| folder.write("proxy.yaml", &format!("{rest}{}", text.replace("FOLDER", place)));
        Config::check(&write(".")).unwrap_or_else(|error| panic!("{error}"));
        let error = Config::check(&write("missing")).unwrap_err().to_string();
        assert!(
            error.contains(&format!("`{key}`: "))
                && error.contains("missing/file can't be created: there is no folder "),
            "{error}"
        );
    }
    let error =
        Config::check(&folder.write("proxy.yaml", &format!("{rest}listCopies: token\n"))).unwrap_err().to_string();
    assert!(error.contains("`listCopies`: ") && error.contains("token is not a folder"), "{error}");
}

/// The keys that `--check` describes outside of the settings.
const ELSEWHERE: [&str; 5] = ["listeners", "policy", "upstreams", "routes", "compression"];

/// Every setting is shown with its value, or with its default.
#[test]
fn all_settings_are_described() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    folder.write("admin.token", &"t".repeat(32));
    let collector = "url: \"http://me:secret@127.0.0.1:1/x?key=secret\"";
    let file = folder.write(
        "proxy.yaml",
        &format!(
            "listeners: [{{ address: 127.0.0.1:0 }}]\npolicy: policy.yaml\n{DEMO}\
             traces: {{ sample: [{{ when: request.path == '/', share: 0 }}], export: {{ {collector}, attributes: {{ a: b }} }} }}\n\
             metrics: {{ address: 127.0.0.1:0, export: {{ {collector} }} }}\nadmin: {{ token: admin.token }}\n\
             rateLimitServices: [{{ name: counter, address: \"127.0.0.1:8081\", domain: edge, failures: 7 }}]\n"
        ),
    );
    let summary = Config::summary(&file).unwrap_or_else(|error| panic!("{error}"));
    let schema = Config::json_schema();
    let mut checked = 0;
    let mut look = |path: String, keys: &serde_json::Value| {
        for key in keys["properties"].as_object().into_iter().flat_map(|keys| keys.keys()) {
            assert!(summary.contains(&format!("\n  {path}{key}")), "{path}{key} in\n{summary}");
            checked += 1;
        }
    };
    for key in ["forwarded", "timeouts", "limits", "reload", "admin", "traces"] {
        look(format!("{key}."), &schema["properties"][key]);
    }
    look("traces.export.".to_owned(), &schema["properties"]["traces"]["properties"]["export"]);
    for key in schema["properties"].as_object().unwrap().keys().filter(|key| !ELSEWHERE.contains(&key.as_str())) {
        let shown = ['.', ':'].map(|end| format!("\n  {key}{end}"));
        assert!(shown.iter().any(|start| summary.contains(start)), "{key} in\n{summary}");
        checked += 1;
    }
    for key in ["metrics.export.interval", "metrics.export.histograms"] {
        assert!(summary.contains(&format!("\n  {key}: ")), "{key} in\n{summary}");
    }
    let service =
        "rateLimitServices.counter: 127.0.0.1:8081, domain edge, timeout 50ms, concurrent 100, failures 7, pause 1s\n";
    assert!(summary.contains(service), "{summary}");
    assert!(checked >= 30, "{checked} of\n{schema:#}");
    assert!(
        summary.contains("traces.sample: 0 when request.path == '/'") && summary.contains(": http://127.0.0.1:1/x?..")
    );
    assert!(!summary.contains("secret"), "{summary}");
}

#[test]
fn a_reload_says_what_differs() {
    let folder = Folder::new();
    let process = Process::start_with(&folder, &format!("{DEMO}retries: 2\n"));
    assert_eq!(get(process.address, "/").status, 200);
    let rest = "upstreams: [{ name: other, demo: true }, { name: demo, demo: true, slowStart: 1s }]\nroutes: [{ path: /a, upstream: other }, { upstream: demo }]\n";
    folder.write("proxy.yaml", &config(rest));
    let said = || process.said();
    eventually(
        || said().contains("new upstreams: other; changed upstreams: demo; new routes: */a; changed: retries"),
        said,
    );
    // The order decides.
    let rest = rest.replace(
        "{ path: /a, upstream: other }, { upstream: demo }",
        "{ upstream: demo }, { path: /a, upstream: other }",
    );
    folder.write("proxy.yaml", &config(&rest));
    eventually(|| said().contains("; the order of routes changed"), said);
}

#[test]
fn values_may_come_from_the_environment() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    // Cargo sets these for tests.
    let route = "{ path: /v, answer: { status: 200, body: '${CARGO_PKG_NAME} $${X} ${CELERO_NOT_SET:-usual}' } }";
    let proxy = Running::with(&DEMO.replace("[{ upstream: demo }]", &format!("[{route}, {{ upstream: demo }}]")), "");
    assert_eq!(get(proxy.address, "/v").text(), "celero-proxy ${X} usual");
    let file = folder.write("proxy.yaml", &config(&format!("{DEMO}grace: ${{CELERO_NOT_SET}}\n")));
    let error = Config::check(&file).unwrap_err().to_string();
    assert!(
        error.contains("the environment variable `CELERO_NOT_SET` is not set") && error.contains("proxy.yaml:8:8"),
        "{error}"
    );
}
