//! Configurations of several files.

use crate::client::get;
use crate::running::{Folder, NO_RULES, Running, config, eventually};
use celero_proxy::config::Config;
use std::path::Path;

const DEMO: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

/// A route whose answer has this status.
fn route(path: &str, status: u16) -> String {
    format!("routes: [{{ path: {path}, answer: {{ status: {status} }} }}]\n")
}

fn write(folder: &Folder, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let (folder, name) = (path.parent().unwrap(), path.file_name().unwrap());
        let new = folder.join(format!(".{}.new", name.display()));
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &path).unwrap();
    }
}

/// The error about a configuration that includes `includes`, without the folder.
fn message(includes: &str, files: &[(&str, &str)]) -> String {
    let folder = Folder::new();
    write(&folder, &[("policy.yaml", NO_RULES)]);
    write(&folder, files);
    let file = folder.write("proxy.yaml", &format!("include: [{includes}]\n{}", config(DEMO)));
    let error = Config::load(&file).expect_err("this is wrong").to_string();
    error.replace(&format!("{}/", folder.0.display()), "")
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "expected {part:?} in:\n{message}");
    }
}

#[test]
fn files_are_put_together() {
    let down = "routes: [{ path: /down, answer: { status: 503, file: down.txt } }]\n";
    let more = "include: [\"more/*.yaml\", sites/b.yaml]\nmetrics: 127.0.0.1:0\n";
    let text = config(DEMO).replace("metrics: 127.0.0.1:0\n", more);
    let proxy = Running::with_files(&text, "", |folder| {
        write(
            folder,
            &[
                ("more/2.yaml", &route("/x", 402)),
                ("more/1.yaml", &route("/x/y", 401)),
                ("more/.hidden.yaml", "what\n"),
                ("more/notes.txt", "what\n"),
                ("sites/b.yaml", "include: [c/c.yaml]\nretries: 0\nupstreams: [{ name: b, demo: true }]\n"),
                ("sites/c/c.yaml", down),
                ("sites/c/down.txt", "closed\n"),
            ],
        );
    });
    // In the order of their names, and before the routes of the main file, which fit everything.
    assert_eq!(["/x", "/x/y", "/z"].map(|path| get(proxy.address, path).status), [402, 401, 200]);
    // Paths start from the folder of the file that has them.
    let reply = get(proxy.address, "/down");
    assert_eq!((reply.status, reply.text()), (503, "closed\n".to_owned()));
}

#[test]
fn what_is_there_twice_is_named_with_both_places() {
    let found = message("a.yaml", &[("a.yaml", "# A\nupstreams: [{ name: demo, demo: true }]\n")]);
    says(&found, &["proxy.yaml:7:21", "another upstream has the name `demo`", "the first is at a.yaml:2:21"]);
    let found = message("a.yaml, b.yaml", &[("a.yaml", "retries: 1\n"), ("b.yaml", "\nretries: 2\n")]);
    says(&found, &["b.yaml:2:1", "`retries` is in two files", "the first is at a.yaml:1:1"]);
    let routes = [("a.yaml", &*route("/x", 402)), ("b.yaml", &*route("/x", 403))];
    let found = message("a.yaml, b.yaml", &routes);
    says(&found, &["b.yaml:1:", "a route of another file fits the same requests", "the first is at a.yaml:1:10"]);
    let listener = "listeners: [{ address: 127.0.0.1:8080 }]\n";
    let found = message("a.yaml, b.yaml", &[("a.yaml", listener), ("b.yaml", listener)]);
    says(&found, &["b.yaml:1:24", "another listener has the address `127.0.0.1:8080`", "the first is at a.yaml:1:24"]);
}

#[test]
fn mistakes_are_reported_where_they_are() {
    let found = message("a.yaml", &[("a.yaml", "\n\nroutes: [{ path: /x, upstrem: demo }]\n")]);
    says(&found, &["a.yaml:3:", "did you mean `upstream`?"]);
    let found = message("a.yaml", &[("a.yaml", "routes: []\nthreds: 1\n")]);
    says(&found, &["proxy.yaml:1:11", "a.yaml:2:1", "did you mean `threads`?"]);
    says(&message("a.yaml", &[("a.yaml", "routes: what\n")]), &["a.yaml:1:9", "`routes` is a list"]);
    says(&message("a.yaml", &[("a.yaml", "- a\n")]), &["a.yaml:1:1", "it is no mapping with keys"]);
    says(&message("a.yaml", &[("a.yaml", "routes: [\n")]), &["a.yaml:"]);
    says(&message("none.yaml", &[]), &["proxy.yaml:1:11", "none.yaml can't be read"]);
    says(&message("\"none/*.yaml\"", &[]), &["proxy.yaml:1:11", "`none/*.yaml` can't be included"]);
    says(
        &message("\"*/a.yaml\"", &[]),
        &["proxy.yaml:1:11", "a pattern is `*.` and an extension, as the name of the file"],
    );
    says(&message("\"*.*\"", &[]), &["a pattern is `*.` and an extension"]);
    let cycle = [("a.yaml", "include: [b.yaml]\n"), ("b.yaml", "include: [./a.yaml]\n")];
    says(&message("a.yaml", &cycle), &["b.yaml:1:11", "a.yaml includes itself"]);
    says(&message("proxy.yaml", &[]), &["proxy.yaml:1:11", "proxy.yaml includes itself"]);
    says(&message("a.yaml, ./a.yaml", &[("a.yaml", "")]), &["proxy.yaml:1:19", "is included twice"]);
    let many: Vec<(String, String)> =
        (0..101).map(|n| (format!("d/{n:03}.yaml"), route(&format!("/{n}"), 401))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, text)| (&**name, &**text)).collect();
    says(&message("\"d/*.yaml\"", &many), &["a configuration includes at most 100 files"]);
    let each: Vec<&str> = many.iter().map(|(name, _)| *name).collect();
    says(&message(&each.join(", "), &many), &["a configuration includes at most 100 files"]);
}

#[test]
fn included_files_are_watched() {
    let text = format!("include: [\"more/*.yaml\"]\n{}", config(DEMO));
    let proxy = Running::with_files(&text, "", |folder| write(folder, &[("more/a.yaml", &route("/x", 401))]));
    let status = |path: &str| get(proxy.address, path).status;
    assert_eq!(status("/x"), 401);
    write(&proxy.folder, &[("more/a.yaml", &route("/x", 402))]);
    eventually(|| status("/x") == 402, || "402".into());
    // A file that is new, and one that is gone.
    write(&proxy.folder, &[("more/b.yaml", &route("/y", 403))]);
    eventually(|| status("/y") == 403, || "403".into());
    std::fs::remove_file(proxy.folder.0.join("more/a.yaml")).unwrap();
    eventually(|| status("/x") == 200, || "200".into());
    // A mistake in an included file changes nothing.
    write(&proxy.folder, &[("more/b.yaml", "routes: [{ path: /y }]\n")]);
    eventually(|| proxy.metric("celero_policy_reload_failures_total") >= 1.0, || "a failure".into());
    assert_eq!(status("/y"), 403);
    write(&proxy.folder, &[("more/b.yaml", &route("/y", 404))]);
    eventually(|| status("/y") == 404, || "404".into());
    // A new file with a mistake is read again when the mistake is corrected.
    let failures = proxy.metric("celero_policy_reload_failures_total");
    write(&proxy.folder, &[("more/c.yaml", "routes: [{ path: /z }]\n")]);
    eventually(|| proxy.metric("celero_policy_reload_failures_total") > failures, || "another failure".into());
    write(&proxy.folder, &[("more/c.yaml", &route("/z", 405))]);
    eventually(|| status("/z") == 405, || "405".into());
}

#[test]
fn an_end_marker_is_required_of_included_files() {
    let folder = Folder::new();
    write(&folder, &[("policy.yaml", "empty: allowed\n...\n"), ("a.yaml", &route("/x", 401))]);
    let text = format!("include: [a.yaml]\nreload: {{ endMarker: true }}\n{}...\n", config(DEMO));
    let file = folder.write("proxy.yaml", &text);
    let error = Config::check(Path::new(&file)).unwrap_err().to_string();
    says(&error, &["a.yaml does not end with the line `...`"]);
    write(&folder, &[("a.yaml", &format!("{}...\n", route("/x", 401)))]);
    Config::check(&file).unwrap_or_else(|error| panic!("{error}"));
}
