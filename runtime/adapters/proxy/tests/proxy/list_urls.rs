//! Lists with entries at URLs, fetched from a server that does what servers do.

use crate::client::{Client, get};
use crate::lists::{TOKEN, change, denied, json, rest, start, told};
use crate::running::{Folder, Running, config, eventually};
use serde_json::Value as Json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the server does with each request.
#[derive(Clone)]
enum Behaviour {
    /// A document with an `etag` and a `last-modified`; 304 to who knows it.
    Document {
        body: Vec<u8>,
        version: u32,
    },
    /// These bytes.
    Raw(Vec<u8>),
    Hang,
}

struct Server {
    address: SocketAddr,
    behaviour: Arc<Mutex<Behaviour>>,
    /// The heads of requests.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let behaviour = Arc::new(Mutex::new(Behaviour::Document { body: body.into(), version: 1 }));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (now, seen) = (Arc::clone(&behaviour), Arc::clone(&heads));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (now, seen) = (Arc::clone(&now), Arc::clone(&seen));
                std::thread::spawn(move || serve(stream.unwrap(), &now, &seen));
            }
        });
        Self { address, behaviour, heads }
    }

    fn set(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    fn document(&self, body: impl Into<Vec<u8>>, version: u32) {
        self.set(Behaviour::Document { body: body.into(), version });
    }

    fn last_head(&self) -> String {
        self.heads.lock().unwrap().last().cloned().unwrap_or_default()
    }
}

fn serve(mut stream: TcpStream, behaviour: &Mutex<Behaviour>, heads: &Mutex<Vec<String>>) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let mut head = vec![0; 4096];
    let length = stream.read(&mut head).unwrap_or(0);
    let head = String::from_utf8_lossy(&head[..length]).to_ascii_lowercase();
    let behaviour = behaviour.lock().unwrap().clone();
    heads.lock().unwrap().push(head.clone());
    let bytes = match behaviour {
        Behaviour::Document { version, .. } if head.contains(&format!("if-none-match: \"v{version}\"")) => {
            b"HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n".to_vec()
        }
        Behaviour::Document { body, version } => {
            let date = "Wed, 21 Oct 2015 07:28:00 GMT";
            let about = format!("etag: \"v{version}\"\r\nlast-modified: {date}\r\nconnection: close\r\n\r\n");
            [format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{about}", body.len()).into_bytes(), body].concat()
        }
        Behaviour::Raw(bytes) => bytes,
        Behaviour::Hang => {
            std::thread::sleep(Duration::from_secs(5));
            return;
        }
    };
    let _ = stream.write_all(&bytes);
}

/// Denies the paths of a list with entries in the policy, in a file and at a URL.
fn policy(server: SocketAddr) -> String {
    format!(
        "lists:\n  paths:\n    kind: texts\n    entries: [/inline]\n    files: [paths.txt]\n    urls:\n      \
         - {{url: 'http://{server}/lists/paths.txt?key=secret', refresh: 1s, timeout: 500ms, largest: 1KiB}}\n\
         request:\n  - {{name: listed, when: request.path in lists.paths, deny: 403}}\n"
    )
}

fn running(server: &Server) -> Running {
    Running::with_listener("h2c: true", &rest(""), &policy(server.address), |folder| {
        folder.write("paths.txt", "/file\n");
        folder.write("admin.token", TOKEN);
    })
}

fn metric(server: &Server, result: &str) -> String {
    let url = format!("http://{}/lists/paths.txt", server.address);
    format!("celero_list_fetches_total{{list=\"paths\",url=\"{url}\",number=\"1\",result=\"{result}\"}}")
}

/// What operators are told of the sources of the first list with URLs.
fn sources(metrics: SocketAddr) -> Json {
    let token = format!("authorization: Bearer {TOKEN}");
    let listing = json(&Client::connect(metrics).request("GET /lists", &[&token], b"").reply());
    let lists = listing["lists"].as_array().unwrap();
    lists.iter().find(|list| list["urls"] != serde_json::json!([])).unwrap()["urls"].clone()
}

const PATHS: [&str; 5] = ["/inline", "/file", "/a", "/b", "/c"];

#[test]
fn documents_are_fetched_and_kept_fresh() {
    let server = Server::start("/a\n/b # twice\n");
    let proxy = running(&server);
    let now = || denied(proxy.address, &PATHS);
    eventually(|| now() == ["/inline", "/file", "/a", "/b"], || format!("the document, but there is {:?}", now()));
    // The next fetches say which version is known.
    eventually(|| proxy.metric(&metric(&server, "unchanged")) >= 1.0, || "304".into());
    let head = server.last_head();
    assert!(head.starts_with("get /lists/paths.txt?key=secret http/1.1"), "{head}");
    assert!(head.contains("if-none-match: \"v1\"") && head.contains("if-modified-since: wed, 21 oct 2015"), "{head}");
    // What operators say counts over all documents, and a file over none.
    assert_eq!(change(proxy.metrics, "DELETE /lists/paths", "text/plain", "/a\n").status, 200);
    assert_eq!(change(proxy.metrics, "POST /lists/paths", "text/plain", "/c\n").status, 200);
    server.document("/a\n", 2);
    eventually(|| now() == ["/inline", "/file", "/c"], || format!("the second document, but there is {:?}", now()));
    server.document("/a\n/b\n", 3);
    eventually(
        || now() == ["/inline", "/file", "/b", "/c"],
        || format!("the third document, but there is {:?}", now()),
    );
    // Neither a reload of the policy nor one of the file loses it.
    server.set(Behaviour::Hang);
    proxy.handle.reload().unwrap();
    assert_eq!(now(), ["/inline", "/file", "/b", "/c"]);
    proxy.folder.write("paths.txt", "/other\n");
    eventually(|| now() == ["/inline", "/b", "/c"], || format!("the file to be read again, but there is {:?}", now()));
    assert!(proxy.metric(&metric(&server, "new")) == 3.0);
    // The key in the URL is told nobody.
    let (page, told) = (get(proxy.metrics, "/metrics").text(), sources(proxy.metrics).to_string());
    assert!(page.contains("celero_list_document_age_seconds{list=\"paths\",") && !page.contains("secret"), "{page}");
    assert!(told.contains("/lists/paths.txt\"") && !told.contains("secret"), "{told}");
}

#[test]
fn documents_that_cannot_be_used_change_nothing() {
    let server = Server::start("/a\n");
    let proxy = running(&server);
    let now = || denied(proxy.address, &PATHS);
    let good = ["/inline", "/file", "/a"];
    eventually(|| now() == good, || format!("the document, but there is {:?}", now()));
    let answer = |head: &str, body: &str| format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n{body}").into_bytes();
    for (behaviour, part) in [
        (Behaviour::Raw(answer("500 Oops\r\ncontent-length: 3", "/b\n")), "status 500"),
        (Behaviour::Raw(answer("404 Gone\r\ncontent-length: 3", "/b\n")), "status 404"),
        (Behaviour::Raw(answer("206 Partial\r\ncontent-length: 3", "/b\n")), "status 206"),
        (
            Behaviour::Raw(answer(
                &format!("302 Found\r\nlocation: http://{}/b\r\ncontent-length: 0", server.address),
                "",
            )),
            "redirects are not followed",
        ),
        (Behaviour::Document { body: b"/b\n".repeat(400), version: 5 }, "limit"),
        (Behaviour::Raw(answer("200 OK\r\ncontent-length: 100", "/b\n")), ""),
        (Behaviour::Raw(answer("200 OK\r\ntransfer-encoding: chunked", "3\r\n/b\n\r\n5\r\n/c")), ""),
        (Behaviour::Raw(answer("200 OK", "/b\n")), "how long the document is"),
        (Behaviour::Raw(answer("200 OK\r\ncontent-length: 2", "\n ")), "the document is empty"),
        (Behaviour::Raw(answer("200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3", "/b\n")), "content-encoding"),
        (Behaviour::Document { body: b"/b\n\xff\n".to_vec(), version: 6 }, "not UTF-8"),
        (Behaviour::Raw(b"hello\r\n\r\n".to_vec()), ""),
        (Behaviour::Hang, ""),
    ] {
        let failed = proxy.metric(&metric(&server, "failed"));
        server.set(behaviour);
        eventually(|| proxy.metric(&metric(&server, "failed")) > failed, || format!("a failure: {part}"));
        // A request that began before may have ended meanwhile.
        eventually(
            || sources(proxy.metrics)[0]["error"].as_str().is_some_and(|error| error.contains(part)),
            || format!("{part:?}, but there is {}", sources(proxy.metrics)),
        );
        assert_eq!(now(), good, "{part}");
    }
    // It is fetched again after all this.
    server.document("/b\n", 9);
    eventually(|| now() == ["/inline", "/file", "/b"], || format!("the new document, but there is {:?}", now()));
    assert_eq!(sources(proxy.metrics)[0]["error"], Json::Null);
}

#[test]
fn wrong_entries_of_a_document_are_named_with_their_lines() {
    let server = Server::start("entry,rank,name\n/a,1,one\n");
    let policy = format!(
        "lists:\n  tiers:\n    kind: texts\n    values: {{rank: int, name: string}}\n    urls: \
         [{{url: 'http://{}/tiers?key=secret', format: csv, refresh: 1s}}]\nrequest:\n  - {{when: request.path in lists.tiers, setHeaders: \
         {{x-tier: '${{lists.tiers[request.path].name}}'}}}}\n",
        server.address
    );
    let proxy = Running::with_listener("h2c: true", &rest(""), &policy, |folder| {
        folder.write("admin.token", TOKEN);
    });
    let tier = |path: &str| told(proxy.address, path, "x-tier");
    eventually(|| tier("/a").as_deref() == Some("one"), || "the document".into());
    server.document("entry,rank,name\n/a,2,two\n/b,many,b\n/c,3\n", 2);
    eventually(|| sources(proxy.metrics)[0]["error"] != Json::Null, || "an error".into());
    let error = sources(proxy.metrics)[0]["error"].as_str().unwrap().to_owned();
    assert!(error.contains("line 3: \"many\": `rank`: not an integer") && error.contains("line 4"), "{error}");
    assert!(!error.contains("secret"), "{error}");
    assert_eq!((tier("/a").as_deref(), tier("/b")), (Some("one"), None));
    // With the changes of operators, values of documents are overridden.
    let body = "[{\"entry\": \"/a\", \"name\": \"mine\"}]";
    assert_eq!(change(proxy.metrics, "POST /lists/tiers", "application/json", body).status, 200);
    server.document("entry,rank,name\n/a,2,two\n/b,3,three\n", 3);
    eventually(|| tier("/b").as_deref() == Some("three"), || "the new document".into());
    assert_eq!(tier("/a").as_deref(), Some("mine"));
}

/// Queries are not shown, so the place among the URLs tells the series apart.
#[test]
fn urls_that_differ_in_their_queries_are_counted_apart() {
    let server = Server::start("/a\n");
    let url = format!("http://{}/x.txt", server.address);
    let policy = format!(
        "lists:\n  paths: {{kind: texts, urls: ['{url}?type=a', '{url}?type=b']}}\n\
         request:\n  - {{when: request.path in lists.paths, deny: 403}}\n"
    );
    let proxy = Running::with_listener("h2c: true", &rest(""), &policy, |folder| {
        folder.write("admin.token", TOKEN);
    });
    for number in [1, 2] {
        let of_one = format!("{{list=\"paths\",url=\"{url}\",number=\"{number}\"");
        let new = format!("celero_list_fetches_total{of_one},result=\"new\"}}");
        proxy.reaches(&new, 1.0);
        assert!(proxy.metric(&format!("celero_list_document_age_seconds{of_one}}}")) >= 0.0);
    }
    let told = sources(proxy.metrics);
    assert_eq!((&told[0]["number"], &told[1]["number"]), (&Json::from(1), &Json::from(2)));
}

/// Without a copy, the list lacks the document's entries after a restart. What operators removed
/// stays removed when it arrives.
#[test]
fn removals_survive_a_restart_without_a_document() {
    let folder = Folder::new();
    folder.write("paths.txt", "/file\n");
    folder.write("admin.token", TOKEN);
    let server = Server::start("/a\n/b\n");
    let (policy, rest) = (policy(server.address), rest(""));
    let mut process = start(&folder, &policy, &rest);
    let now = |address| denied(address, &PATHS);
    eventually(|| now(process.address) == ["/inline", "/file", "/a", "/b"], || "the document".into());
    assert_eq!(change(process.metrics, "DELETE /lists/paths", "text/plain", "/a\n").status, 200);
    process.signal("KILL");
    drop(process);
    server.set(Behaviour::Hang);
    process = start(&folder, &policy, &rest);
    assert_eq!(now(process.address), ["/inline", "/file"]);
    // Nobody knows yet whether the document has it.
    assert_eq!(change(process.metrics, "DELETE /lists/paths", "text/plain", "/c\n").status, 200);
    server.document("/a\n/b\n/c\n", 2);
    let address = process.address;
    eventually(|| now(address) == ["/inline", "/file", "/b"], || format!("{:?}", now(address)));
}

/// A copy that is missing, or is of another document, is written although the server says that the
/// document has not changed.
#[test]
fn a_missing_copy_is_written_without_a_new_document() {
    let folder = Folder::new();
    folder.write("paths.txt", "/file\n");
    folder.write("admin.token", TOKEN);
    let server = Server::start("/a\n");
    let process = start(&folder, &policy(server.address), &rest(""));
    eventually(|| denied(process.address, &PATHS) == ["/inline", "/file", "/a"], || "the document".into());
    folder.write("proxy.yaml", &config(&rest("listCopies: copies\n")));
    let copies = folder.0.join("copies");
    let copy = || {
        let mut files = std::fs::read_dir(&copies).ok()?.filter_map(|file| Some(file.ok()?.path()));
        files.find(|file| file.extension().is_some_and(|extension| extension == "copy"))
    };
    eventually(|| copy().is_some(), || "a copy".into());
    let path = copy().unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    eventually(|| path.exists(), || "another copy".into());
    let is_whole = || std::fs::read_to_string(&path).is_ok_and(|text| text == whole);
    for wrong in [whole.replacen("v1", "v0", 1), whole.replacen("Oct 2015", "Oct 2014", 1), format!("{whole}/b\n")] {
        assert_ne!(wrong, whole);
        std::fs::write(&path, wrong).unwrap();
        eventually(is_whole, || "the copy of the document".into());
    }
    let head = server.last_head();
    assert!(head.contains("if-none-match: \"v1\""), "{head}");
}

#[test]
fn a_copy_serves_without_network() {
    let folder = Folder::new();
    folder.write("paths.txt", "/file\n");
    folder.write("admin.token", TOKEN);
    let server = Server::start("/a\n");
    let (policy, rest) = (policy(server.address), rest("listCopies: copies\n"));
    let mut process = start(&folder, &policy, &rest);
    let good = ["/inline", "/file", "/a"];
    eventually(|| denied(process.address, &PATHS) == good, || "the document".into());
    let copies = folder.0.join("copies");
    let files = || -> Vec<_> {
        let read = std::fs::read_dir(&copies).map(|read| read.map(|file| file.unwrap().path()).collect());
        read.unwrap_or_default()
    };
    let copied = || files().iter().any(|file| file.extension().is_some_and(|extension| extension == "copy"));
    eventually(copied, || format!("a copy, but there is {:?}", files()));
    let copy = files().pop().unwrap();
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    process.signal("KILL");
    drop(process);
    // The server is gone, but its port is taken: whoever connects waits.
    server.set(Behaviour::Hang);
    server.heads.lock().unwrap().clear();
    process = start(&folder, &policy, &rest);
    assert_eq!(denied(process.address, &PATHS), good);
    eventually(|| server.last_head().contains("if-none-match: \"v1\""), || server.last_head());
    drop(process);
    // What is damaged, or no copy, is left out, and said.
    let whole = std::fs::read(&copy).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() = b'x';
    let later = String::from_utf8(whole.clone()).unwrap().replacen("\"format\":1", "\"format\":2", 1);
    let digest = "{\"format\":1,\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}\n";
    for (bytes, part) in [
        (&whole[..whole.len() - 1], "it is damaged"),
        (&changed[..], "it is damaged"),
        (b"", "it is damaged"),
        (b"/b\n", "it is damaged"),
        (later.as_bytes(), "it is of format 2; this version knows 1"),
        (digest.as_bytes(), ""),
    ] {
        std::fs::write(&copy, bytes).unwrap();
        process = start(&folder, &policy, &rest);
        assert_eq!(denied(process.address, &PATHS), ["/inline", "/file"], "{part}");
        drop(process);
    }
    // What is of no source is removed at a start, and nothing else.
    let name = |end: &str| copies.join(format!("{}.{end}", "0".repeat(64)));
    let (other, old, new) = (name("copy"), name("17.tmp"), name("18.tmp"));
    let (link, note) = (copies.join(format!("{}.copy", "1".repeat(64))), copies.join("note.copy"));
    for file in [&other, &old, &new, &note] {
        std::fs::write(file, "x").unwrap();
    }
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(2 * 86_400);
    std::fs::File::options().append(true).open(&old).unwrap().set_modified(long_ago).unwrap();
    std::os::unix::fs::symlink(&note, &link).unwrap();
    process = start(&folder, &policy, &rest);
    eventually(|| !other.exists() && !old.exists(), || format!("files to be removed from {:?}", files()));
    assert!([&new, &note, &link, &copy].iter().all(|file| file.exists()), "{:?}", files());
    drop(process);
    // A link is not followed.
    let secret = folder.write("elsewhere", std::str::from_utf8(&whole).unwrap());
    std::fs::remove_file(&copy).unwrap();
    std::os::unix::fs::symlink(secret, &copy).unwrap();
    process = start(&folder, &policy, &rest);
    assert_eq!(denied(process.address, &PATHS), ["/inline", "/file"]);
    // With a new document there is a new copy.
    server.document("/b\n", 3);
    let now = || denied(process.address, &PATHS);
    eventually(|| now() == ["/inline", "/file", "/b"], || format!("{:?}", now()));
    eventually(|| std::fs::read(&copy).is_ok_and(|copy| copy.ends_with(b"\n/b\n")), || "the copy".into());
    assert!(!std::fs::symlink_metadata(&copy).unwrap().is_symlink());
}
