//! Requests are recorded, and tried with other configurations.

use crate::client::{Client, get, get_with};
use crate::h2;
use crate::running::{Folder, Running, config, eventually, workspace};
use celero_proxy::replay::{ReplayReport, replay};
use std::process::Command;

const REST: &str = "upstreams: [{ name: api, demo: true }, { name: web, demo: true }]\n\
                    routes: [{ path: /api, upstream: api }, { host: \"*.example\", upstream: web }]\n";
const POLICY: &str = "request:\n\
    - { name: admin, when: 'request.path.startsWith(\"/admin\")', deny: 403 }\n\
    - { name: user, when: 'request.path == \"/api/me\"', setHeaders: { x-user: 'u-${request.uri.query(\"id\")[0]}' } }\n\
    - { name: login, when: 'request.path == \"/login\"', limit: { key: '${source.address}', rate: 2/m } }\n";

const WRITTEN: &str = "celero_recorded_requests_total{result=\"written\"}";

fn recording(more: &str) -> String {
    format!("{REST}record: {{ file: requests.jsonl, {more} }}\n")
}

fn recorded(proxy: &Running, lines: usize) -> String {
    let read = || std::fs::read_to_string(proxy.folder.0.join("requests.jsonl")).unwrap_or_default();
    eventually(|| read().lines().count() >= lines, || format!("{lines} lines, but there are:\n{}", read()));
    read()
}

/// A folder with this configuration; the report has no path of it.
fn tried(record: &str, files: &[(&str, &str, &str)], before: Option<&str>) -> Result<(String, ReplayReport), String> {
    let folder = Folder::new();
    for (name, rest, policy) in files {
        folder.write(&format!("{name}.policy.yaml"), policy);
        let text = config(rest).replace("policy.yaml", &format!("{name}.policy.yaml"));
        folder.write(&format!("{name}.yaml"), &text);
    }
    let record = folder.write("requests.jsonl", record);
    let file = |name: &str| folder.0.join(format!("{name}.yaml"));
    let report = replay(&record, &file("new"), before.map(file).as_deref()).map_err(|error| error.to_string())?;
    Ok((report.to_string().replace(&format!("{}/", folder.0.display()), ""), report))
}

#[test]
fn what_was_recorded_is_decided_as_before() {
    let proxy = Running::with(&recording(""), POLICY);
    let host = "host: test.example";
    let ask = |path: &str, headers: &[&str]| get_with(proxy.address, path, &[headers, &[host]].concat()).status;
    assert_eq!(ask("/api/me?id=7&token=hidden1", &["authorization: Bearer hidden2", "cookie: a=hidden3"]), 200);
    assert_eq!(ask("/admin/x", &[]), 403);
    assert_eq!(ask("/api/%zz", &[]), 400);
    assert_eq!(ask("/shop", &[]), 200);
    assert_eq!(ask("/nowhere", &["x-forwarded-for: 192.0.2.1"]), 200);
    for expected in [200, 200, 429] {
        assert_eq!(ask("/login", &[]), expected);
    }
    let mut client = Client::connect(proxy.address);
    assert_eq!(client.send("POST /other HTTP/1.1\r\nhost: b\r\ncontent-length: 6\r\n\r\nhidden").reply().status, 404);
    assert_eq!(h2::exchange(proxy.address, vec![h2::request("GET", "/api/2", b"")])[0].status(), 200);
    let record = recorded(&proxy, 10);
    assert!(!record.contains("hidden"), "{record}");
    assert!(record.contains("token=REDACTED") && record.contains("\"x-forwarded-for\":\"192.0.2.1\""), "{record}");
    proxy.reaches(WRITTEN, 10.0);

    let (said, report) = tried(&record, &[("new", REST, POLICY)], Some("new")).unwrap();
    assert_eq!((report.requests(), report.differences()), (10, 0), "{said}");
    for expected in [
        "requests.jsonl: 10 requests\n",
        "         4  route *.example: upstream web\n",
        "         2  route */api: upstream api\n",
        "         1  rule admin: 403\n",
        "         1  rule login: 429\n",
        "         1  no route: 404\n",
        "         1  no canonical form (",
        "differences from new.yaml: 0 requests\n",
        "bodies, which are not recorded: of 1 request\n",
        "secrets, which are not recorded: in 1 request they read REDACTED\n",
        "limits of open requests",
    ] {
        assert!(said.contains(expected), "{expected:?} is missing in\n{said}");
    }
}

fn line(number: u32, path: &str) -> String {
    format!(
        "{{\"source\":\"192.0.2.1:7\",\"method\":\"GET\",\"uri\":\"{path}\",\"headers\":{{\"host\":\"a.example\"}},\
         \"time\":\"2026-01-01T00:00:{number:02}Z\"}}\n"
    )
}

#[test]
fn differences_are_named_with_requests() {
    let record: String =
        (0..10).map(|number| line(number, ["/api/me?id=1", "/admin", "/shop"][number as usize % 3])).collect();
    let rest = REST.replace("host: \"*.example\", upstream: web", "upstream: api");
    let policy = POLICY.replace("\"/admin\"", "\"/closed\"").replace("'u-$", "'user-$");
    let (said, report) = tried(&record, &[("new", &rest, &policy), ("old", REST, POLICY)], Some("old")).unwrap();
    assert_eq!(report.differences(), 10, "{said}");
    let (_, differences) = said.split_once("differences from old.yaml: 10 requests\n").unwrap();
    for expected in [
        "         4  route */api: upstream api, with another request: x-user\n            line 1: GET a.example/api/me from 192.0.2.1\n",
        "         3  rule admin: 403 -> route *: upstream api\n            line 2: GET a.example/admin from 192.0.2.1\n",
        "         3  route *.example: upstream web -> route *: upstream api\n",
    ] {
        assert!(differences.contains(expected), "{expected:?} is missing in\n{said}");
    }
    assert!(!said.contains("id=1"), "a query may have secrets");
    // Another name of a rule or a route changes nothing.
    let renamed = POLICY.replace("name: admin", "name: closed");
    let (said, report) = tried(&record, &[("new", REST, &renamed), ("old", REST, POLICY)], Some("old")).unwrap();
    assert_eq!(report.differences(), 0, "{said}");
    // A delay is a difference, and is not waited for.
    let delayed =
        POLICY.replace("request:\n", "request:\n- { name: slow, when: 'request.path == \"/shop\"', delay: 7s }\n");
    let (said, report) = tried(&record, &[("new", REST, &delayed), ("old", REST, POLICY)], Some("old")).unwrap();
    assert_eq!(report.differences(), 3, "{said}");
    assert!(said.contains("upstream web -> route *.example: upstream web after 7s\n"), "{said}");
}

/// What is decided by chance is decided alike for both configurations.
#[test]
fn the_same_configuration_never_differs() {
    let record: String = (0..60).map(|number| line(number, "/shop")).collect();
    let policy = "request:\n  - { name: some, sample: 0.5, deny: 403 }\n\
                  \x20 - { name: others, when: random() < 0.5, setHeaders: { x-number: '${string(random())}' } }\n";
    let (said, report) = tried(&record, &[("new", REST, policy)], Some("new")).unwrap();
    assert!(said.contains("rule some: 403") && said.contains("route *.example: upstream web"), "{said}");
    assert_eq!(report.differences(), 0, "{said}");
}

/// Behind a proxy that speaks the PROXY protocol, `source.via` is what it was.
#[test]
fn how_the_client_is_known_is_recorded() {
    let policy = "request: [{ name: told, when: source.via == 'proxy-protocol', deny: 403 }]\n";
    let direct = line(1, "/shop");
    let told = direct.replace("\"method\"", "\"via\":\"proxy-protocol\",\"method\"");
    let (said, _) = tried(&(direct + &told), &[("new", REST, policy)], None).unwrap();
    assert!(said.contains("         1  rule told: 403\n"), "{said}");
}

/// Limits read the times of the record, not those of the replay.
#[test]
fn limits_count_in_the_time_of_the_record() {
    let at = |times: &[u32]| -> String { times.iter().map(|second| line(*second, "/login")).collect() };
    for (times, limited) in [(&[0, 1, 2, 3][..], 2), (&[0, 20, 40, 59], 1), (&[5, 4, 3], 1)] {
        let (said, _) = tried(&at(times), &[("new", REST, POLICY)], None).unwrap();
        let expected = format!("{limited:>10}  rule login: 429\n");
        assert!(said.contains(&expected), "{times:?}: {said}");
    }
}

#[test]
fn what_is_no_request_is_left_out() {
    let long = format!("{{\"uri\":\"/{}\"}}", "x".repeat(3 << 20));
    let record = format!("{}\n\nnonsense\n{{}}\n{long}\n\u{0}\n{}", line(1, "/api"), line(2, "/shop"));
    let (said, report) = tried(&record, &[("new", REST, POLICY)], None).unwrap();
    assert_eq!(report.requests(), 2, "{said}");
    for expected in [
        "left out: 4 lines",
        "line 4: it is no JSON object",
        "line 5: it has no `uri`",
        "line 6: it is longer than 1048576 bytes",
    ] {
        assert!(said.contains(expected), "{expected:?} is missing in\n{said}");
    }
    for (record, expected) in [("", "has no request"), ("nonsense\n", "has no request: line 1: it is no JSON object")] {
        let error = tried(record, &[("new", REST, POLICY)], None).expect_err(record);
        assert!(error.contains(expected), "{error}");
    }
    let error = tried(&line(1, "/"), &[("new", REST, "request: [{ when: 'x' }]\n")], None).unwrap_err();
    assert!(error.contains("new.policy.yaml:1"), "{error}");
}

/// Recording begins and ends with a reload, and the file is bounded.
#[test]
fn recording_follows_the_configuration() {
    let proxy = Running::with(REST, "");
    get(proxy.address, "/api");
    let reload = |rest: &str| {
        proxy.folder.write("proxy.yaml", &config(rest));
        proxy.handle.reload().unwrap();
    };
    reload(&recording("maxSize: 2KiB, redactHeaders: [x-secret], redactParameters: [Page]"));
    let headers = ["x-secret: hidden", "cookie: hidden", "x-other: shown1"];
    assert_eq!(get_with(proxy.address, "/api?token=hidden&page=hidden&other=shown2", &headers).status, 200);
    let text = recorded(&proxy, 1);
    assert!(text.contains("shown1") && text.contains("shown2") && !text.contains("hidden"), "{text}");
    for _ in 0..30 {
        get(proxy.address, "/api");
    }
    let bytes = |name: &str| std::fs::metadata(proxy.folder.0.join(name)).map_or(0, |about| about.len());
    proxy.reaches(WRITTEN, 31.0);
    eventually(|| bytes("requests.jsonl.1") > 0, || "a second file".into());
    assert!(bytes("requests.jsonl") <= 2048 && bytes("requests.jsonl.1") <= 2048);
    reload(REST);
    let before = bytes("requests.jsonl");
    get(proxy.address, "/api");
    assert_eq!(proxy.log(33).len(), 33);
    assert_eq!(bytes("requests.jsonl"), before);
    // A file that can't be written refuses the reload.
    proxy.folder.write("proxy.yaml", &config(&format!("{REST}record: {{ file: missing/requests.jsonl }}\n")));
    let error = proxy.handle.reload().unwrap_err().to_string();
    assert!(error.contains("missing/requests.jsonl"), "{error}");
}

/// The headers of the policy's credentials are not recorded, also when only the policy changes.
#[test]
fn credentials_of_the_policy_are_not_recorded() {
    let policy =
        |header: &str| format!("apiKey: {{ header: {header}, keys: [{{ name: a, sha256: {} }}] }}\n", "a".repeat(64));
    let proxy = Running::with(&recording("share: 1"), &policy("x-team-key"));
    let ask = || get_with(proxy.address, "/api", &["x-team-key: first", "x-group-key: second"]).status;
    assert_eq!(ask(), 200);
    let text = recorded(&proxy, 1);
    assert!(!text.contains("first") && text.contains("second"), "{text}");
    proxy.folder.write("policy.yaml", &policy("x-group-key"));
    proxy.handle.reload().unwrap();
    assert_eq!(ask(), 200);
    let text = recorded(&proxy, 2);
    // The file is the same, and so is its counter.
    proxy.reaches(WRITTEN, 2.0);
    assert!(text.contains("first") && text.matches("second").count() == 1, "{text}");
}

/// The commands of `docs/proxy.md`.
#[test]
fn the_command_says_by_its_status_whether_something_differs() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.0.join("new")).unwrap();
    for (place, policy) in [("", POLICY.to_owned()), ("new/", POLICY.replace("403", "404"))] {
        std::fs::write(folder.0.join(format!("{place}policy.yaml")), policy).unwrap();
        std::fs::write(folder.0.join(format!("{place}proxy.yaml")), config(REST)).unwrap();
    }
    folder.write("requests.jsonl", &(line(1, "/admin") + &line(2, "/shop")));
    let page = std::fs::read_to_string(workspace().join("docs/proxy.md")).unwrap();
    let run = |command: &str| {
        assert!(page.contains(&format!("$ {command}\n")), "`{command}` is not in docs/proxy.md");
        let arguments = command.split(' ').skip(1);
        let output =
            Command::new(env!("CARGO_BIN_EXE_celero-proxy")).args(arguments).current_dir(&folder.0).output().unwrap();
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        (output.status.code(), said)
    };
    let (code, said) = run("celero-proxy --config new/proxy.yaml --replay requests.jsonl");
    assert!(code == Some(0) && said.contains("rule admin: 404"), "{code:?}: {said}");
    let (code, said) = run("celero-proxy --config new/proxy.yaml --replay requests.jsonl --against proxy.yaml");
    assert!(code == Some(3) && said.contains("rule admin: 403 -> rule admin: 404"), "{code:?}: {said}");
    std::fs::copy(folder.0.join("policy.yaml"), folder.0.join("new/policy.yaml")).unwrap();
    let (code, said) = run("celero-proxy --config new/proxy.yaml --replay requests.jsonl --against proxy.yaml");
    assert!(code == Some(0) && said.contains("differences from proxy.yaml: 0 requests"), "{code:?}: {said}");
    std::fs::remove_file(folder.0.join("requests.jsonl")).unwrap();
    let (code, said) = run("celero-proxy --config new/proxy.yaml --replay requests.jsonl");
    assert!(code == Some(1) && said.contains("requests.jsonl"), "{code:?}: {said}");
}
