//! What a newcomer gets wrong, and what the proxy says.

use crate::certificates::Authority;
use crate::running::{Folder, LONG, NO_RULES, config};
use celero_proxy::Proxy;
use celero_proxy::config::Config;

const REST: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";
const DENY: &str = "request: [{ deny: 403 }]\n";

/// The message about a configuration and a policy.
fn message(proxy: &str, policy: &str) -> String {
    let folder = Folder::new();
    folder.write("policy.yaml", if policy.is_empty() { NO_RULES } else { policy });
    let file = folder.write("proxy.yaml", proxy);
    let error = Config::check(&file).expect_err("this is wrong").to_string();
    error.replace(&format!("{}/", folder.0.display()), "")
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "expected {part:?} in:\n{message}");
    }
}

#[test]
fn a_good_one_is_taken() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    let file = folder.write("proxy.yaml", &config(REST));
    Config::check(&file).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_misspelt_field_is_named() {
    says(
        &message(&config(REST).replace("threads", "thraeds"), ""),
        &["proxy.yaml:5:1", "no key `thraeds`", "did you mean `threads`?"],
    );
    says(&message(&config(REST).replace("h2c", "http2"), ""), &["proxy.yaml:1:37", "its keys are `address`, `h2c`"]);
    says(&message(&config(REST), "reqest: []\n"), &["policy.yaml:1:1", "request"]);
}

/// The proxy makes no tunnels: `accept` would promise what CONNECT does not get.
#[test]
fn tunnels_are_refused_by_name() {
    let expected =
        ["policy.yaml", "`normalize: {connect: accept}`", "celero-proxy makes no tunnels", "405", "remove it"];
    says(&message(&config(REST), "normalize: {connect: accept}\n"), &expected);
    let proxy = crate::running::Running::with(REST, "normalize: {connect: refuse}\n");
    let tunnel = "CONNECT a.example:443 HTTP/1.1\r\nhost: a.example:443\r\n\r\n";
    assert_eq!(crate::client::Client::connect(proxy.address).send(tunnel).reply().status, 405);
    proxy.folder.write("policy.yaml", "normalize: {connect: accept}\n");
    says(&proxy.handle.reload().unwrap_err().to_string(), &expected);
    assert_eq!(crate::client::get(proxy.address, "/").status, 200, "what was in force stays");
}

#[test]
fn what_is_missing_is_named() {
    says(&message(&config(REST).replace("policy: policy.yaml\n", ""), ""), &["needs the key `policy`"]);
    says(&message("", ""), &["is empty"]);
    says(&message(&config("upstreams: []\nroutes: []\n"), ""), &["`upstreams` must not be empty"]);
    let missing = message(&config(REST).replace("policy.yaml", "polciy.yaml"), "");
    says(&missing, &["polciy.yaml"]);
}

#[test]
fn values_are_checked() {
    says(
        &message(&config(REST).replace("127.0.0.1:0, h2c", "127.0.0.1, h2c"), ""),
        &["proxy.yaml:1:", "127.0.0.1:8080"],
    );
    says(&message(&config(REST).replace("threads: 1", "threads: 0"), ""), &["from 1 to 1024"]);
    says(&message(&format!("{}timeouts: {{ read: 5 }}\n", config(REST)), ""), &["`5m`"]);
    let rest = "upstreams: [{ name: demo, demo: true, balance: consistant }]\nroutes: [{ upstream: dmeo }]\n";
    says(
        &message(&config(rest), ""),
        &["proxy.yaml:6:", "did you mean `consistent`?", "proxy.yaml:7:", "did you mean `demo`?"],
    );
    let rest = "upstreams: [{ name: a, demo: true }, { name: a, demo: true }]\nroutes: [{ upstream: a, label: x }]\n";
    says(&message(&config(rest), ""), &["another upstream has the name `a`", "label: tier=canary"]);
    for (kind, expected) in
        [("text", "`text` is not a content type"), ("'*/*'", "`text/*`"), ("text/html; q", "text/html; q")]
    {
        says(&message(&format!("{}compression: {{ types: [{kind}] }}\n", config(REST)), ""), &[expected]);
    }
    says(
        &message(&format!("{}compression: {{ types: [], level: 10 }}\n", config(REST)), ""),
        &["`types` must not be empty", "from 1 to 9"],
    );
    for by in ["label", "header", "header a b", "paths"] {
        let rest = format!(
            "upstreams: [{{ name: a, demo: true, balance: consistent, by: {by} }}]\nroutes: [{{ upstream: a }}]\n"
        );
        says(&message(&config(&rest), ""), &[&format!("`by` can't be `{by}`")]);
    }
}

#[test]
fn another_form_than_the_expected_is_corrected() {
    let found =
        message("listeners: 8080\npolicy: policy.yaml\nupstreams: {a: {demo: true}}\nroutes: [{upstream: a}]\n", "");
    says(&found, &["`listeners` is a list, not `8080`", "each entry starts with `- `, as in `- address: ..`"]);
    says(&found, &["`upstreams` is a list, not a mapping", "as in `- name: ..`"]);
    // Not that there is no upstream `a`: that follows from the mistake above.
    assert_eq!(found.matches("error[").count(), 2, "{found}");
    let found = message(&config(REST).replace("{ address: 127.0.0.1:0, h2c: true }", "127.0.0.1:8080"), "");
    says(
        &found,
        &["an entry of `listeners` is a mapping, not `127.0.0.1:8080`", "the keys of a listener are `address`"],
    );
}

#[test]
fn a_policy_is_not_a_configuration() {
    let found = message("request:\n- deny: 403\n", "");
    says(&found, &["proxy.yaml:1:1", "this is a policy, not a configuration of celero-proxy", "`policy: proxy.yaml`"]);
    assert_eq!(found.matches("error[").count(), 1, "{found}");
}

#[test]
fn what_is_no_yaml_is_shown() {
    says(&message("listeners: [\n", ""), &["proxy.yaml:"]);
}

#[test]
fn a_policy_with_mistakes_is_explained() {
    let wrong = |policy: &str| message(&config(REST), policy);
    // A name of a later phase.
    says(&wrong("request:\n  - { when: response.code == 200, deny: true }\n"), &["policy.yaml:2:", "response"]);
    // A regular expression that is none.
    says(&wrong("request:\n  - { when: 'request.path.matches(\"(\")', deny: true }\n"), &["policy.yaml:2:"]);
    // A file that is not there.
    let jwt = "jwt:\n  keys:\n    - { pem: missing.pem, algorithm: RS256 }\n";
    says(&wrong(jwt), &["policy.yaml:3:", "missing.pem"]);
    // A misspelt action.
    says(&wrong("request:\n  - { when: true, denny: true }\n"), &["policy.yaml:2:", "did you mean `deny`?"]);
}

/// A configuration in which one text is replaced.
fn with(from: &str, to: &str) -> String {
    let whole =
        format!("{}upstreams: [{{ name: a, servers: ['127.0.0.1:9'] }}]\nroutes: [{{ upstream: a }}]\n", config(""));
    assert!(whole.contains(from), "{whole}");
    whole.replace(from, to)
}

#[test]
fn times_and_sizes_have_bounds_that_messages_name() {
    for (section, key) in [
        ("timeouts", "connect"),
        ("timeouts", "read"),
        ("timeouts", "write"),
        ("timeouts", "head"),
        ("timeouts", "body"),
        ("timeouts", "send"),
    ] {
        let whole = format!("{}{section}: {{ {key}: 0s }}\n", config(REST));
        says(&message(&whole, ""), &[&format!("`{key}` is a time from 1ms to 24h, as in"), "not `0s`"]);
    }
    let keys = [
        "health: { interval: 0s }",
        "health: { timeout: 0s }",
        "ejection: { time: 0s }",
        "pool: { idle: 25h }",
        "slowStart: 25h",
    ];
    for key in keys {
        let found = message(&with("['127.0.0.1:9']", &format!("['127.0.0.1:9'], {key}")), "");
        says(&found, &["is a time from ", " to 24h", "not `"]);
    }
    let found = message(&with("routes: [{ upstream: a", "routes: [{ upstream: a, timeouts: { read: 0s }"), "");
    says(&found, &["`read` is a time from 1ms to 24h"]);
    let huge = format!("{}limits: {{ head: 2GiB, bodyRate: 0, requestLine: 0 }}\n", config(REST));
    let expected =
        ["head", "bodyRate", "requestLine"].map(|key| format!("`{key}` is a number of bytes from 1 to 1GiB"));
    says(&message(&huge, ""), &expected.each_ref().map(String::as_str));
}

#[test]
fn addresses_that_nobody_reaches_are_refused() {
    says(
        &message(&with("'127.0.0.1:9'", "'127.0.0.1:0'"), ""),
        &["proxy.yaml:6:", "`127.0.0.1:0` is not a server: its port is 0"],
    );
    let whole = config(REST).replace("127.0.0.1:0", "127.0.0.1:18080");
    says(&message(&whole, ""), &["a listener has the address `127.0.0.1:18080`", "the first is here"]);
}

#[test]
fn paths_that_no_request_has_are_refused() {
    for (path, canonical) in [("/a/../b", "/b"), ("/%61", "/a"), ("/a/./b", "/a/b"), ("/%c3%a9", "/%C3%A9")] {
        let found = message(&with("{ upstream: a }", &format!("{{ path: '{path}', upstream: a }}")), "");
        says(&found, &["proxy.yaml:7:", &format!("no request has the path `{path}`"), &format!("write `{canonical}`")]);
    }
    for path in ["/a%2", "/a%00"] {
        let found = message(&with("{ upstream: a }", &format!("{{ path: '{path}', upstream: a }}")), "");
        says(&found, &[&format!("no request has the path `{path}`")]);
    }
    for path in ["/", "/a//b", "/a%2Fb", "/a%7Cb", "/a/"] {
        let folder = Folder::new();
        folder.write("policy.yaml", "empty: allowed\n");
        let whole = with("{ upstream: a }", &format!("{{ path: '{path}', upstream: a }}"));
        Config::check(&folder.write("proxy.yaml", &whole)).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn what_the_proxy_writes_is_nothing_that_it_reads() {
    let log = |file: &str| format!("accessLog: {file}");
    for (keys, first, second) in [
        (log("policy.yaml"), "accessLog", "policy"),
        (log("a\nrecord: { file: ./policy.yaml }"), "record.file", "policy"),
        (log("log\nrecord: { file: log }"), "record.file", "accessLog"),
        (log("log.1\nrecord: { file: log }"), "record.file", "accessLog"),
        (log("proxy.yaml"), "accessLog", "configuration"),
        (log("a\nadmin: { token: token, listChanges: token }"), "admin.listChanges", "admin.token"),
    ] {
        let whole = config(REST).replace("accessLog: access.log", &keys);
        says(&message(&whole, ""), &["config-conflict", "are the same file", first, second]);
    }
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    let whole = config(REST).replace("accessLog: access.log", &log("/dev/null\nrecord: { file: /dev/null }"));
    Config::check(&folder.write("proxy.yaml", &whole)).unwrap_or_else(|error| panic!("{error}"));
    for key in ["accessLog: sub", "accessLog: a\nrecord: { file: sub }"] {
        let folder = Folder::new();
        folder.write("policy.yaml", "empty: allowed\n");
        std::fs::create_dir(folder.0.join("sub")).unwrap();
        let whole = config(REST).replace("accessLog: access.log", key);
        let error = Config::check(&folder.write("proxy.yaml", &whole)).unwrap_err().to_string();
        says(&error, &["sub is a folder"]);
    }
}

#[test]
fn what_the_proxy_writes_is_nothing_that_the_policy_reads() {
    let error = |files: &str, keys: &str| {
        let folder = Folder::new();
        for name in ["blocked.txt", "log.1"] {
            folder.write(name, "/a\n");
        }
        std::fs::create_dir(folder.0.join("blocked.d")).unwrap();
        std::os::unix::fs::symlink("blocked.d", folder.0.join("link.d")).unwrap();
        std::os::unix::fs::symlink("../blocked.txt", folder.0.join("blocked.d/link.txt")).unwrap();
        let lists = format!("lists: {{ blocked: {{ kind: texts, files: [{files}] }} }}\n");
        folder
            .write("policy.yaml", &format!("{lists}request: [{{ when: request.path in lists.blocked, deny: 403 }}]\n"));
        let file = folder.write("proxy.yaml", &config(REST).replace("accessLog: access.log", keys));
        let checked = Config::check(&file).map_err(|error| error.to_string());
        if checked.is_err() {
            // Neither does the proxy start.
            assert_eq!(Proxy::bind(&file).map(drop).map_err(|error| error.to_string()), checked, "{files}, {keys}");
        }
        checked.err()
    };
    for (files, keys, key) in [
        ("blocked.txt", "accessLog: ./blocked.txt", "accessLog"),
        ("log.1", "record: { file: log }", "record.file"),
        ("blocked.d/*.txt", "accessLog: blocked.txt", "accessLog"),
        ("link.d/*.txt", "accessLog: blocked.d/new.txt", "accessLog"),
    ] {
        let found = error(files, keys).unwrap_or_else(|| panic!("{files}, {keys}"));
        let expected = format!("error: `{key}` and a file of the policy are the same file: ");
        says(&found, &[&expected, "the proxy writes to it; choose another file"]);
    }
    for keys in ["accessLog: blocked.d/new.log", "accessLog: /dev/null"] {
        assert_eq!(error("blocked.d/*.txt", keys), None, "{keys}");
    }
}

/// A pipe would never end, and a device fill the memory.
#[cfg(unix)]
#[test]
fn a_policy_is_a_regular_file_of_bounded_size() {
    says(&message(&config(REST).replace("policy.yaml", "/dev/zero"), ""), &["/dev/zero", "it is not a regular file"]);
    let folder = Folder::new();
    let file = folder.write("proxy.yaml", &config(REST));
    let policy = std::fs::File::create(folder.0.join("policy.yaml")).unwrap();
    // A file with a hole: it takes no room.
    policy.set_len((64 << 20) + 1).unwrap();
    let error = Config::check(&file).unwrap_err().to_string();
    says(&error, &["policy.yaml", "it is larger than 64 MiB"]);
}

/// Opening a pipe waits until somebody writes to it, and a device may have no end: a reload would never end.
#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_wherever_a_file_is_named() {
    let authority = Authority::new("tests");
    let listener = |tls: &str| config(REST).replace("h2c: true", &format!("tls: {{ {tls} }}"));
    let own = "{ chain: own.pem, key: own.key }";
    let upstream =
        |tls: &str| with("['127.0.0.1:9']", &format!("['127.0.0.1:9'], tls: {{ serverName: a.example, {tls} }}"));
    let service = "rateLimitServices: [{ name: a, address: '127.0.0.1:9', domain: a, tls: { serverName: a.example, authorities: PIPE } }]";
    let policy = |text: &str| (config(REST), format!("{text}\n{DENY}"));
    let proxy = |text: String| (text, DENY.to_owned());
    let cases = [
        proxy(config(REST).replace("policy.yaml", "PIPE.yaml")),
        proxy(format!("include: [PIPE.yaml]\n{}", config(REST))),
        proxy(format!("include: ['PI*.yaml']\n{}", config(REST)).replace("PI*", "pipes/*")),
        proxy(listener("certificates: [{ chain: PIPE, key: own.key }]")),
        proxy(listener("certificates: [{ chain: own.pem, key: PIPE }]")),
        proxy(listener("certificates: [{ chain: own.pem, key: own.key, ocsp: PIPE }]")),
        proxy(listener(&format!("certificates: [{own}], clients: {{ authorities: PIPE }}"))),
        proxy(listener(&format!("certificates: [{own}], clients: {{ authorities: own.pem, revoked: PIPE }}"))),
        proxy(upstream("authorities: PIPE")),
        proxy(upstream("authorities: own.pem, certificate: { chain: PIPE, key: own.key }")),
        proxy(upstream("authorities: own.pem, certificate: { chain: own.pem, key: PIPE }")),
        proxy(format!("admin: {{ token: PIPE }}\n{}", config(REST))),
        proxy(config(REST).replace("routes: [", "routes: [{ path: /x, answer: { status: 200, file: PIPE } }, ")),
        proxy(format!("{service}\n{}", config(REST))),
        policy("include: [PIPE.yaml]"),
        policy("levels: [PIPE.yaml]"),
        policy("lists: {a: {kind: texts, files: [PIPE.txt]}}"),
        policy("lists: {a: {kind: texts, files: ['pipes/*.txt']}}"),
        policy("lists: {a: {kind: addresses, values: {country: string}, files: [PIPE.mmdb]}}"),
        policy("jwt: {keys: [{jwks: PIPE}]}"),
        policy("jwt: {keys: [{pem: PIPE, algorithm: RS256}]}"),
        policy("jwt: {keys: [{secret: PIPE, algorithm: HS256}]}"),
        policy("basicAuth: {users: PIPE}"),
    ];
    let folder = Folder::new();
    authority.server(&["a.example"]).write(&folder, "own");
    std::fs::create_dir(folder.0.join("pipes")).unwrap();
    for name in ["pipes/a", "pipes/a.yaml", "pipes/a.txt", "pipes/a.mmdb"] {
        let made = std::process::Command::new("mkfifo").arg(folder.0.join(name)).status().unwrap();
        assert!(made.success());
    }
    for (number, (text, policy)) in cases.into_iter().enumerate() {
        for place in ["pipes/a", "/dev/zero"] {
            if place == "/dev/zero" && (text.contains("PIPE.") || policy.contains("PIPE.")) {
                continue;
            }
            let (text, policy) = (text.replace("PIPE", place), policy.replace("PIPE", place));
            folder.write("policy.yaml", &policy);
            let file = folder.write("proxy.yaml", &text);
            let (tell, said) = std::sync::mpsc::channel();
            std::thread::spawn(move || tell.send(Config::check(&file).map_err(|error| error.to_string())));
            let said = said.recv_timeout(LONG).unwrap_or_else(|_| panic!("case {number} hangs:\n{text}{policy}"));
            says(&said.expect_err(&text), &["it is not a regular file"]);
        }
    }
}

#[test]
fn routes_that_are_never_tried_are_warned_of() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    let summary = |routes: &str| {
        Config::summary(&folder.write("proxy.yaml", &with("[{ upstream: a }]", routes)))
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let found = summary("[{ upstream: a }, { path: /x, upstream: a }, { host: b.example, upstream: a }]");
    says(&found, &["warning: 2 routes from `*/x` on: never tried"]);
    for routes in
        ["[{ path: /x, upstream: a }, { upstream: a }]", "[{ label: a=b, upstream: a }, { path: /x, upstream: a }]"]
    {
        assert!(!summary(routes).contains("warning"), "{routes}");
    }
}

#[test]
fn files_of_tls_are_named_with_their_place() {
    let tls = "tls: { certificates: [{ chain: no.pem, key: no.key }] }";
    let found = message(&config(REST).replace("h2c: true", tls), "");
    says(&found, &["error: `tls` of the listener 127.0.0.1:0: no.pem: "]);
    let found =
        message(&with("['127.0.0.1:9']", "['127.0.0.1:9'], tls: { serverName: a.example, authorities: no.pem }"), "");
    says(&found, &["error: `tls` of the upstream a: no.pem: "]);
}
