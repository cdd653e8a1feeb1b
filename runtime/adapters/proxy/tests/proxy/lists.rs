//! Lists that operators change while the proxy runs, over sockets, and files of lists that change.

use crate::client::{Client, Reply, get};
use crate::process::{DEMO, Process};
use crate::running::{Folder, Running, config, eventually};
use serde_json::{Value as Json, json};
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) const TOKEN: &str = "correct-horse-battery-staple-0123456789";

/// Denies the paths of a list; there are lists of other kinds.
const POLICY: &str = "\
lists:
  paths: {kind: texts, entries: [/inline], files: [paths.txt]}
  nets: {kind: addresses, entries: [192.0.2.0/24]}
  ports: {kind: integers, entries: [1..9]}
request:
  - {name: listed, when: request.path in lists.paths, deny: 403}
  - {name: net, when: source.address in lists.nets, deny: 403}
  - {name: port, when: source.port in lists.ports, deny: 403}
";

const UPSTREAM: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

pub(crate) fn rest(more: &str) -> String {
    format!("{UPSTREAM}admin: {{ token: admin.token, listChanges: changes.redb }}\n{more}")
}

pub(crate) fn running(rest: &str) -> Running {
    Running::with_listener("h2c: true", rest, POLICY, |folder| {
        folder.write("paths.txt", "/file\n/both # a comment\n");
        folder.write("admin.token", &format!("{TOKEN}\n"));
    })
}

/// Sends a change and returns the answer.
pub(crate) fn change(address: SocketAddr, line: &str, media: &str, body: &str) -> Reply {
    let media = format!("content-type: {media}");
    let token = format!("authorization: Bearer {TOKEN}");
    Client::connect(address).request(line, &[&token, &media], body.as_bytes()).reply()
}

pub(crate) fn json(reply: &Reply) -> Json {
    serde_json::from_slice(&reply.body).unwrap_or_else(|error| panic!("{error}: {}", reply.text()))
}

#[track_caller]
fn changed(proxy: &Running, line: &str, media: &str, body: &str, inserted: u64, removed: u64) {
    let reply = change(proxy.metrics, line, media, body);
    let answer = json(&reply);
    assert_eq!(
        (reply.status, &answer["inserted"], &answer["removed"]),
        (200, &json!(inserted), &json!(removed)),
        "{answer}"
    );
}

/// The paths of these that are denied.
pub(crate) fn denied<'p>(address: SocketAddr, paths: &[&'p str]) -> Vec<&'p str> {
    paths.iter().copied().filter(|path| get(address, path).status == 403).collect()
}

const PATHS: [&str; 6] = ["/inline", "/file", "/both", "/a", "/b", "/c"];

#[test]
fn a_change_is_visible_when_it_is_acknowledged() {
    let proxy = running(&rest(""));
    assert_eq!(denied(proxy.address, &PATHS), ["/inline", "/file", "/both"]);
    changed(&proxy, "POST /lists/paths", "text/plain", "# scanners\n/a\n/b # twice\n/file\n", 2, 0);
    assert_eq!(denied(proxy.address, &PATHS), ["/inline", "/file", "/both", "/a", "/b"]);
    changed(&proxy, "DELETE /lists/paths", "application/json", "[\"/b\", {\"entry\": \"/both\"}, \"/none\"]", 0, 2);
    changed(&proxy, "POST /lists/paths", "text/csv; charset=utf-8", "note,entry\nx,/c\n", 1, 0);
    changed(&proxy, "DELETE /lists/paths", "application/x-ndjson", "\"/inline\"\n", 0, 1);
    assert_eq!(denied(proxy.address, &PATHS), ["/file", "/a", "/c"]);
    changed(&proxy, "POST /lists/ports", "application/json", "[65536, \"70000..70009\"]", 2, 0);
    changed(&proxy, "POST /lists/nets", "text/plain", "127.0.0.0/8\n", 1, 0);
    assert_eq!(get(proxy.address, "/").status, 403);

    let token = format!("authorization: Bearer {TOKEN}");
    let listing = json(&Client::connect(proxy.metrics).request("GET /lists", &[&token], b"").reply());
    assert_eq!(listing["lists"][0]["name"], "paths");
    assert_eq!((&listing["lists"][0]["entries"], &listing["lists"][0]["changes"]), (&json!(3), &json!(5)));
    proxy.reaches("celero_list_entries{list=\"paths\"}", 3.0);
    proxy.reaches("celero_list_changes{list=\"paths\"}", 5.0);
    proxy.reaches("celero_list_changed_entries_total{action=\"inserted\"}", 6.0);
    assert!(proxy.metric("celero_list_source_age_seconds{list=\"paths\"}") >= 0.0);
    let page = get(proxy.metrics, "/").text();
    assert!(page.contains("<td>paths<td>texts<td class=\"n\">3") && !page.contains(TOKEN), "{page}");
}

#[test]
fn wrong_entries_are_named_and_nothing_changes() {
    let proxy = running(&rest(""));
    let generation = proxy.metric("celero_list_generation");
    let reply = change(proxy.metrics, "POST /lists/nets", "text/plain", "10.0.0.0/8\n10.0.0.0/99\n\nhost\n");
    let answer = json(&reply);
    assert_eq!((reply.status, &answer["error"]), (400, &json!("2 wrong entries; nothing has changed")));
    assert_eq!((&answer["wrong"][0]["line"], &answer["wrong"][1]["line"]), (&json!(2), &json!(4)));
    let many = "::1..f::\n".repeat(10_000);
    for (line, media, body, status, part) in [
        ("POST /lists/nets", "text/plain", &*many, 400, "more than 1000000 entries"),
        ("POST /lists/ports", "application/json", "[1, 2.5]", 400, "\"element\":2"),
        ("POST /lists/ports", "application/json", "[1, 2", 400, "no array in JSON: EOF"),
        ("POST /lists/ports", "application/json", "{\"entry\": 1}", 400, "no array in JSON"),
        ("POST /lists/ports", "application/json", "[]", 400, "has no entries"),
        ("POST /lists/ports", "text/plain", "# nothing\n", 400, "has no entries"),
        ("POST /lists/ports", "application/x-ndjson", "1\n{\"entry\": 2, \"exp", 400, "\"line\":2"),
        ("POST /lists/ports", "text/csv", "port\n80\n", 400, "no column `entry`"),
        ("POST /lists/nets", "text/plain", "a.example\n", 400, "not an IP address"),
        ("POST /lists/ports", "application/x-www-form-urlencoded", "80", 415, "must be text/plain"),
        ("POST /lists/port", "text/plain", "80", 404, "there are nets, paths, ports"),
        ("PUT /lists/ports", "text/plain", "80", 405, "POST inserts"),
        ("POST /lists", "text/plain", "80", 405, "/lists/NAME"),
        ("GET /lists/ports", "text/plain", "", 405, "POST inserts"),
        ("POST /lists/ports?list=nets", "text/plain", "80", 400, "no parameters"),
    ] {
        let reply = change(proxy.metrics, line, media, body);
        assert_eq!(reply.status, status, "{line} {body}: {}", reply.text());
        assert!(reply.text().contains(part), "{line} {body}: {}", reply.text());
        json(&reply);
    }
    assert_eq!(proxy.metric("celero_list_generation"), generation);
}

#[test]
fn without_the_token_nothing_is_told_or_changed() {
    let proxy = running(&rest(""));
    let right = format!("authorization: Bearer {TOKEN}");
    let almost = format!("authorization: Bearer {}", TOKEN.strip_suffix('9').unwrap());
    let basic = format!("authorization: Basic {TOKEN}");
    let attempts: [&[&str]; 5] = [&[], &[&almost], &["authorization: Bearer "], &[&basic], &[&right, &right]];
    for headers in &attempts {
        for line in ["POST /lists/paths", "DELETE /lists/paths", "GET /lists", "POST /lists/nothing"] {
            let headers: Vec<&str> = headers.iter().copied().chain(["content-type: text/plain"]).collect();
            let reply = Client::connect(proxy.metrics).request(line, &headers, b"/x").reply();
            assert_eq!((reply.status, reply.header("www-authenticate")), (401, "Bearer".to_owned()), "{headers:?}");
            assert!(!reply.text().contains("paths"), "{}", reply.text());
        }
    }
    proxy.reaches("celero_admin_refused_total", 20.0);
    assert_eq!(denied(proxy.address, &["/x"]), [""; 0]);
    // A proxy whose configuration says nothing of it can't be changed at all, nor on the listener of clients.
    let plain = running(UPSTREAM);
    let reply = change(plain.metrics, "POST /lists/paths", "text/plain", "/x");
    assert_eq!((reply.status, reply.text().contains("no `admin`")), (403, true));
    change(proxy.address, "POST /lists/paths", "text/plain", "/x");
    assert_eq!(denied(proxy.address, &["/x"]), [""; 0]);
    // A new token counts as soon as its file was read again.
    proxy.folder.write("admin.token", &"n".repeat(32));
    eventually(|| change(proxy.metrics, "POST /lists/paths", "text/plain", "/x").status == 401, || "401".into());
}

#[test]
fn hostile_requests_change_nothing() {
    let proxy = running(&rest("timeouts: { body: 2s, bodyTotal: 5s, head: 5s }\n"));
    let head = |line: &str, more: &str| {
        format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: text/plain\r\n{more}\r\n"
        )
    };
    let generation = proxy.metric("celero_list_generation");

    // Too large, said and unsaid; the answer can be read though the client sends on.
    for more in ["content-length: 9000000\r\n", "content-length: 99999999999999999999\r\n"] {
        let reply = Client::connect(proxy.metrics).send(head("POST /lists/paths", more)).try_reply(true);
        assert!(reply.as_ref().is_ok_and(|reply| matches!(reply.status, 400 | 413)), "{more}: {reply:?}");
    }
    let mut client = Client::connect(proxy.metrics);
    client.send(head("POST /lists/paths", "transfer-encoding: chunked\r\n"));
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "/x\n".repeat((1 << 20) / 3) + "\n");
    for _ in 0..12 {
        client.send(&chunk);
    }
    assert_eq!(client.reply().status, 413);
    let mut client = Client::connect(proxy.metrics);
    let line = "POST /lists/paths HTTP/1.1\r\nhost: localhost\r\ncontent-length: 20000000\r\n\r\n";
    client.send(line).send("x".repeat(1 << 20));
    assert_eq!(client.reply().status, 401);

    // A body that stops, and one that trickles.
    let mut stops = Client::connect(proxy.metrics);
    stops.send(head("POST /lists/paths", "content-length: 10\r\n")).send("/x\n");
    assert_eq!(stops.reply().status, 408);
    let mut trickles = Client::connect(proxy.metrics);
    trickles.send(head("POST /lists/paths", "content-length: 1000\r\n"));
    for _ in 0..60 {
        trickles.send("/\n");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(trickles.reply().status, 408);
    // One that ends too soon: the client closes its side.
    let mut ends = Client::connect(proxy.metrics);
    ends.send(head("POST /lists/paths", "content-length: 10\r\n")).send("/x\n").finish();
    assert!(ends.try_reply(true).is_ok_and(|reply| reply.status >= 400));

    // Paths that are no list.
    for path in [
        "/lists/",
        "/lists/../lists/paths",
        "/lists/./paths",
        "/lists//paths",
        "/lists/paths/",
        "/lists/%70aths",
        "/lists/PATHS",
        "/lists/paths%00",
        "/lists;/paths",
        "//lists/paths",
        "/Lists/paths",
        "/lists/lists.paths",
    ] {
        let reply = Client::connect(proxy.metrics)
            .send(head(&format!("POST {path}"), "content-length: 2\r\n"))
            .send("/x")
            .try_reply(true);
        assert!(reply.as_ref().is_ok_and(|reply| matches!(reply.status, 400 | 404)), "{path}: {reply:?}");
    }
    // Heads that two programs may read differently, and lines in header values.
    for more in [
        "content-length: 2\r\ncontent-length: 3\r\n",
        "content-length: 2\r\ntransfer-encoding: chunked\r\n",
        "content-length: +2\r\n",
        "content-encoding: gzip\r\ncontent-length: 2\r\n",
        "x: y\rcontent-length: 2\r\n",
        "transfer-encoding: gzip, chunked\r\n",
    ] {
        let reply = Client::connect(proxy.metrics).send(head("POST /lists/paths", more)).send("/x").try_reply(true);
        assert!(reply.as_ref().map_or(true, |reply| reply.status >= 400), "{more}: {reply:?}");
    }
    let not_utf8 =
        Client::connect(proxy.metrics).send(head("POST /lists/paths", "content-length: 2\r\n")).send(b"/\xff").reply();
    assert_eq!((not_utf8.status, not_utf8.text().contains("not UTF-8")), (400, true));

    assert_eq!(proxy.metric("celero_list_generation"), generation);
    assert_eq!(denied(proxy.address, &["/x", "/"]), [""; 0]);
    // Still there for those who may.
    changed(&proxy, "POST /lists/paths", "text/plain", "/x", 1, 0);
    // A client that waits for 100 gets it.
    let mut waits = Client::connect(proxy.metrics);
    waits.send(head("POST /lists/paths", "content-length: 2\r\nexpect: 100-continue\r\n"));
    assert_eq!(waits.reply().status, 100);
    assert_eq!(waits.send("/y").reply().status, 200);
}

#[test]
fn a_file_of_a_list_is_read_again_without_the_policy() {
    let proxy = running(&rest(""));
    changed(&proxy, "POST /lists/paths", "text/plain", "/a\n", 1, 0);
    changed(&proxy, "DELETE /lists/paths", "text/plain", "/both\n", 0, 1);
    proxy.folder.write("paths.txt", "/both\n/b\n");
    eventually(
        || denied(proxy.address, &PATHS) == ["/inline", "/a", "/b"],
        || format!("{:?}", denied(proxy.address, &PATHS)),
    );
    proxy.reaches("celero_list_reads_total", 1.0);
    assert_eq!(proxy.metric("celero_policy_reloads_total"), 0.0);
    // Wrong entries change nothing.
    proxy.folder.write("paths.txt", &format!("/c\n{}\n", "x".repeat(5000)));
    proxy.reaches("celero_list_read_failures_total", 1.0);
    assert_eq!(denied(proxy.address, &PATHS), ["/inline", "/a", "/b"]);
    // The policy with all its files: what was changed stays, and what no source has needs no removal any more.
    proxy.folder.write("paths.txt", "/c\n");
    proxy.handle.reload().unwrap();
    assert_eq!(denied(proxy.address, &PATHS), ["/inline", "/a", "/c"]);
    proxy.reaches("celero_list_changes{list=\"paths\"}", 1.0);
    proxy.folder.write("paths.txt", "/both\n");
    eventually(|| denied(proxy.address, &PATHS) == ["/inline", "/both", "/a"], || "both again".into());
}

#[test]
fn entries_expire_and_do_not_come_back() {
    let proxy = running(&rest(""));
    let soon = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 3;
    let body = format!("[{{\"entry\": \"/a\", \"expires\": {soon}}}, {{\"entry\": \"/file\", \"expires\": {soon}}}]");
    changed(&proxy, "POST /lists/paths", "application/json", &body, 1, 0);
    assert_eq!(denied(proxy.address, &["/a", "/file"]), ["/a", "/file"]);
    eventually(|| denied(proxy.address, &["/a", "/file"]).is_empty(), || "both to expire".into());
    proxy.handle.reload().unwrap();
    assert!(denied(proxy.address, &["/a", "/file"]).is_empty());
}

/// Tells the server what lists with values say of the path.
const TIERS: &str = "\
lists:
  tiers:
    kind: texts
    values: {rank: int, name: string}
    entries: [{entry: /a, rank: 1, name: one}, {entry: /b, rank: 2}]
    files: [tiers.csv]
  names: {kind: texts, values: string, entries: [{entry: /a, value: ada}]}
request:
  - name: known
    when: request.path in lists.tiers
    setHeaders:
      x-tier: '${string(default(lists.tiers[request.path].rank, -1))} ${default(lists.tiers[request.path].name, \"?\")}'
  - {name: named, when: request.path in lists.names, setHeaders: {x-name: '${lists.names[request.path]}'}}
";

/// What the server is told of a path in a header.
pub(crate) fn told(address: SocketAddr, path: &str, header: &str) -> Option<String> {
    let headers = json(&get(address, path))["headers"].take();
    let value = headers.as_array()?.iter().find(|pair| pair[0] == header)?[1].as_str()?;
    Some(value.to_owned())
}

#[test]
fn values_are_changed_while_the_proxy_runs() {
    let folder = Folder::new();
    folder.write("tiers.csv", "entry,rank,name\n/f,5,file\n");
    folder.write("admin.token", TOKEN);
    let rest = rest("grace: 1s\n");
    let mut process = start(&folder, TIERS, &rest);
    let tier = |process: &Process, path: &str| told(process.address, path, "x-tier");
    let known = |process: &Process| ["/a", "/b", "/c", "/f"].map(|path| tier(process, path).unwrap_or_default());
    assert_eq!(known(&process), ["1 one", "2 ?", "", "5 file"]);
    let reply = |process: &Process, line: &str, media: &str, body: &str| {
        let reply = change(process.metrics, line, media, body);
        (reply.status, json(&reply))
    };
    let lines = "{\"entry\": \"/c\", \"rank\": 3}\n{\"entry\": \"/a\", \"rank\": 9, \"name\": \"neun\"}\n";
    let (status, answer) = reply(&process, "POST /lists/tiers", "application/x-ndjson", lines);
    assert_eq!((status, &answer["inserted"], &answer["updated"]), (200, &json!(1), &json!(1)), "{answer}");
    let (status, _) = reply(&process, "POST /lists/tiers", "text/csv", "entry,name,rank\n/f,datei,\n");
    assert_eq!(status, 200);
    let (status, _) =
        reply(&process, "POST /lists/names", "application/json", "[{\"entry\": \"/a\", \"value\": \"eve\"}]");
    assert_eq!((status, told(process.address, "/a", "x-name").as_deref()), (200, Some("eve")));
    // A removed entry needs no value, in whatever form it is written.
    let (status, answer) = reply(&process, "DELETE /lists/tiers", "text/plain", "/b\n");
    assert_eq!((status, &answer["removed"]), (200, &json!(1)));
    let expected = ["9 neun", "", "3 ?", "-1 datei"];
    assert_eq!(known(&process), expected);

    for (media, body, part) in [
        ("text/plain", "/x\n", "plain lines have no values"),
        ("text/csv", "entry,rank\n/x,1\n", "no column `name`"),
        ("text/csv", "entry,rank,name\n/x,1,a\n/y,one,b\n", "\"line\":3"),
        (
            "application/x-ndjson",
            "{\"entry\": \"/x\", \"rank\": 1}\n{\"entry\": \"/y\", \"rank\": \"1\"}",
            "\"member\":\"rank\"",
        ),
        ("application/json", "[{\"entry\": \"/x\", \"rank\": 1}, {\"entry\": \"/y\", \"rank\": 1e9}]", "\"element\":2"),
        ("application/json", "[{\"entry\": \"/x\", \"rank\": 9223372036854775808}]", "not an integer of 64 bits"),
    ] {
        let (status, answer) = reply(&process, "POST /lists/tiers", media, body);
        assert!(status == 400 && answer.to_string().contains(part), "{body}: {status} {answer}");
    }
    let (status, answer) = reply(&process, "POST /lists/names", "application/json", "[\"/x\"]");
    assert!(status == 400 && answer.to_string().contains("no value"), "{answer}");
    let long = json!([{"entry": "/x", "value": "v".repeat(5000)}]).to_string();
    assert_eq!(reply(&process, "POST /lists/names", "application/json", &long).0, 400);
    assert_eq!((tier(&process, "/x"), told(process.address, "/x", "x-name")), (None, None));

    // After a restart and when files change, what was said at run time counts.
    drop(process);
    folder.write("tiers.csv", "entry,rank,name\n/f,6,other\n/g,7,new\n");
    process = start(&folder, TIERS, &rest);
    assert_eq!((known(&process), tier(&process, "/g")), (expected.map(str::to_owned), Some("7 new".to_owned())));
    folder.write("tiers.csv", "entry,rank,name\n/f,7,another\n/g,8,newer\n");
    eventually(|| tier(&process, "/g").as_deref() == Some("8 newer"), || "the file to be read again".into());
    assert_eq!(known(&process), expected);

    // One that expires is gone with its value, also if a file has it.
    let soon = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 2;
    let body = json!([{"entry": "/f", "rank": 1, "expires": soon}]).to_string();
    assert_eq!(reply(&process, "POST /lists/tiers", "application/json", &body).0, 200);
    eventually(|| tier(&process, "/f").is_none(), || "the entry to expire".into());
    let token = format!("authorization: Bearer {TOKEN}");
    let listing = json(&Client::connect(process.metrics).request("GET /lists", &[&token], b"").reply());
    let tiers = listing["lists"].as_array().unwrap().iter().find(|list| list["name"] == "tiers").unwrap();
    assert_eq!((&tiers["values"], &tiers["changes"]), (&json!("{rank: int, name: string}"), &json!(4)));

    // Changes of a list with other values are kept, and not mixed up.
    drop(process);
    let other =
        "lists: {tiers: {kind: texts, values: string}}\nrequest: [{when: request.path in lists.tiers, deny: 403}]\n";
    let process = start(&folder, other, &rest);
    assert_eq!(denied(process.address, &["/a", "/c"]), [""; 0]);
    drop(process);
    let process = start(&folder, TIERS, &rest);
    assert_eq!(known(&process), ["9 neun", "", "3 ?", ""]);
}

pub(crate) fn start(folder: &Folder, policy: &str, rest: &str) -> Process {
    folder.write("policy.yaml", policy);
    let file = folder.write("proxy.yaml", &config(rest));
    Process::spawn(Command::new(env!("CARGO_BIN_EXE_celero-proxy")).arg("--config").arg(file))
}

#[test]
fn changes_are_kept_over_a_restart() {
    let folder = Folder::new();
    folder.write("paths.txt", "/file\n/both\n");
    folder.write("admin.token", TOKEN);
    let rest = rest("grace: 1s\n");
    let process = start(&folder, POLICY, &rest);
    assert_eq!(change(process.metrics, "POST /lists/paths", "text/plain", "/a\n").status, 200);
    assert_eq!(change(process.metrics, "DELETE /lists/paths", "text/plain", "/both\n/inline\n").status, 200);
    // Another process that would overwrite the file does not start.
    let refused = Command::new(env!("CARGO_BIN_EXE_celero-proxy"))
        .arg("--config")
        .arg(folder.0.join("proxy.yaml"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("changes.redb, for changes of lists: "), "{said}");
    drop(process);
    let process = start(&folder, POLICY, &rest);
    assert_eq!(denied(process.address, &PATHS), ["/file", "/a"]);
    drop(process);
    // A list that the policy does not have for a while is not forgotten.
    drop(start(&folder, "lists: {paths: {kind: hosts, entries: [a.example]}}\n", &rest));
    assert_eq!(denied(start(&folder, POLICY, &rest).address, &PATHS), ["/file", "/a"]);
    // What is no such file is left alone.
    folder.write("changes.redb", "something else");
    let refused = Command::new(env!("CARGO_BIN_EXE_celero-proxy"))
        .arg("--config")
        .arg(folder.0.join("proxy.yaml"))
        .output()
        .unwrap();
    assert!(!refused.status.success());
    assert_eq!(std::fs::read_to_string(folder.0.join("changes.redb")).unwrap(), "something else");
}

#[test]
fn a_token_must_be_one() {
    let folder = Folder::new();
    folder.write("policy.yaml", "empty: allowed\n");
    for (token, part) in
        [("short", "it has 5 bytes"), (&*"two words ".repeat(5), "visible ASCII"), ("", "openssl rand")]
    {
        folder.write("admin.token", token);
        let file = folder.write("proxy.yaml", &config(&rest("")));
        let error = celero_proxy::Proxy::bind(&file).err().unwrap().to_string();
        assert!(error.contains(part) && !error.contains("two words"), "{error}");
    }
    let without_address =
        config(&format!("{DEMO}admin: {{ token: admin.token }}\n")).replace("metrics: 127.0.0.1:0\n", "");
    let error =
        celero_proxy::config::Config::load(&folder.write("proxy.yaml", &without_address)).unwrap_err().to_string();
    assert!(error.contains("`admin` needs the key `metrics`"), "{error}");
}

/// Many operators and reloads at once: each change is visible to its operator when it is acknowledged, and stays.
#[test]
fn changes_and_reloads_do_not_lose_each_other() {
    let proxy = running(&rest(""));
    std::thread::scope(|scope| {
        let operators: Vec<_> = (0..3)
            .map(|operator| {
                let proxy = &proxy;
                scope.spawn(move || {
                    for round in 0..12 {
                        let path = format!("/{operator}/{round}");
                        changed(proxy, "POST /lists/paths", "text/plain", &path, 1, 0);
                        assert_eq!(get(proxy.address, &path).status, 403, "{path}");
                        if round % 2 == 0 {
                            changed(proxy, "DELETE /lists/paths", "text/plain", &path, 0, 1);
                            assert_eq!(get(proxy.address, &path).status, 200, "{path}");
                        }
                    }
                })
            })
            .collect();
        let mut round = 0;
        while operators.iter().any(|operator| !operator.is_finished()) {
            proxy.folder.write("paths.txt", &format!("/file\n/v{round}\n"));
            if round % 2 == 0 {
                proxy.handle.reload().unwrap();
            }
            std::thread::sleep(Duration::from_millis(60));
            round += 1;
        }
    });
    proxy.handle.reload().unwrap();
    for operator in 0..3 {
        for round in 0..12 {
            let expected = if round % 2 == 0 { 200 } else { 403 };
            assert_eq!(get(proxy.address, &format!("/{operator}/{round}")).status, expected);
        }
    }
}
