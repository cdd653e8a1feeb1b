//! Lists with all files of a folder, which come and go while the proxy runs.

use crate::lists::denied;
use crate::running::{Running, config_with, eventually};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

const POLICY: &str = "\
lists:
  paths: {kind: texts, entries: [/inline], files: [paths.d/*.txt]}
request:
  - {name: listed, when: request.path in lists.paths, deny: 403}
";

const REST: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\nreload: { settle: 300ms }\n";

const PATHS: [&str; 5] = ["/inline", "/a", "/b", "/c", "/d"];

/// Writes a file as careful writers do.
fn replace(folder: &Path, name: &str, text: &str) {
    let new = folder.join(format!(".{name}.new"));
    fs::write(&new, text).unwrap();
    fs::rename(new, folder.join(name)).unwrap();
}

#[track_caller]
fn becomes(proxy: &Running, expected: &[&str]) {
    let now = || denied(proxy.address, &PATHS);
    eventually(|| now() == expected, || format!("{expected:?}, but there is {:?}", now()));
}

#[test]
fn files_are_added_changed_and_removed() {
    let proxy = Running::with_listener("h2c: true", REST, POLICY, |folder| {
        let lists = folder.0.join("paths.d");
        fs::create_dir(&lists).unwrap();
        replace(&lists, "one.txt", "/a\n");
        replace(&lists, "note.md", "/d\n");
        replace(&lists, ".hidden.txt", "/d\n");
    });
    let lists = proxy.folder.0.join("paths.d");
    becomes(&proxy, &["/inline", "/a"]);
    replace(&lists, "two.txt", "/b\n");
    becomes(&proxy, &["/inline", "/a", "/b"]);
    replace(&lists, "one.txt", "/c\n");
    becomes(&proxy, &["/inline", "/b", "/c"]);
    fs::remove_file(lists.join("two.txt")).unwrap();
    becomes(&proxy, &["/inline", "/c"]);
    assert_eq!(proxy.metric("celero_policy_reloads_total"), 0.0);
    // A wrong file changes nothing, whatever else changes.
    let failures = proxy.metric("celero_list_read_failures_total");
    replace(&lists, "wrong.txt", &format!("/d\n{}\n", "x".repeat(5000)));
    eventually(|| proxy.metric("celero_list_read_failures_total") > failures, || "a failure".into());
    becomes(&proxy, &["/inline", "/c"]);
    fs::rename(lists.join("wrong.txt"), lists.join("wrong.bak")).unwrap();
    let begun = Instant::now();
    replace(&lists, "right.txt", "/d\n");
    becomes(&proxy, &["/inline", "/c", "/d"]);
    // A file that is being written is awaited, for much longer than files are usually read.
    let long = (begun.elapsed() * 4).max(Duration::from_millis(900));
    let mut file = File::create(lists.join("slow.txt")).unwrap();
    file.write_all(b"/a\n").unwrap();
    replace(&lists, "right.txt", "/d\n/b\n");
    std::thread::sleep(long);
    assert_eq!(denied(proxy.address, &PATHS), ["/inline", "/c", "/d"]);
    file.write_all(b"/b\n").unwrap();
    drop(file);
    becomes(&proxy, &PATHS);
    // Without its folder a list stays what it was.
    let failures = proxy.metric("celero_list_read_failures_total");
    fs::rename(&lists, proxy.folder.0.join("gone")).unwrap();
    eventually(|| proxy.metric("celero_list_read_failures_total") > failures, || "a failure".into());
    assert_eq!(denied(proxy.address, &PATHS), PATHS);
}

/// The folder that takes the place of another one is watched, too.
#[test]
fn a_replaced_folder_is_watched() {
    let proxy = Running::with_listener("h2c: true", REST, POLICY, |folder| {
        let lists = folder.0.join("paths.d");
        fs::create_dir(&lists).unwrap();
        replace(&lists, "one.txt", "/a\n");
    });
    becomes(&proxy, &["/inline", "/a"]);
    let (lists, new) = (proxy.folder.0.join("paths.d"), proxy.folder.0.join("new.d"));
    fs::create_dir(&new).unwrap();
    replace(&new, "one.txt", "/b\n");
    fs::rename(&lists, proxy.folder.0.join("old.d")).unwrap();
    fs::rename(&new, &lists).unwrap();
    becomes(&proxy, &["/inline", "/b"]);
    replace(&lists, "one.txt", "/c\n");
    becomes(&proxy, &["/inline", "/c"]);
    replace(&lists, "two.txt", "/d\n");
    becomes(&proxy, &["/inline", "/c", "/d"]);
}

/// A ConfigMap of Kubernetes: links to a link to a folder, which is replaced as a whole.
#[test]
fn a_folder_behind_links_is_replaced_as_a_whole() {
    let mounted = |lists: &Path, version: &str, files: &[(&str, &str)]| {
        let data = lists.join(format!("..{version}"));
        fs::create_dir(&data).unwrap();
        for (name, text) in files {
            fs::write(data.join(name), text).unwrap();
        }
        symlink(format!("..{version}"), lists.join("..data_tmp")).unwrap();
        fs::rename(lists.join("..data_tmp"), lists.join("..data")).unwrap();
        for (name, _) in files {
            let _ = symlink(format!("..data/{name}"), lists.join(name));
        }
    };
    let proxy = Running::with_listener("h2c: true", REST, POLICY, |folder| {
        let lists = folder.0.join("paths.d");
        fs::create_dir(&lists).unwrap();
        mounted(&lists, "2026_1", &[("one.txt", "/a\n"), ("two.txt", "/b\n")]);
    });
    becomes(&proxy, &["/inline", "/a", "/b"]);
    let lists = proxy.folder.0.join("paths.d");
    mounted(&lists, "2026_2", &[("one.txt", "/c\n"), ("two.txt", "/b\n")]);
    fs::remove_dir_all(lists.join("..2026_1")).unwrap();
    becomes(&proxy, &["/inline", "/b", "/c"]);
    // One file more, and one less.
    mounted(&lists, "2026_3", &[("one.txt", "/c\n"), ("three.txt", "/d\n")]);
    fs::remove_file(lists.join("two.txt")).unwrap();
    becomes(&proxy, &["/inline", "/c", "/d"]);
}

/// The folder is a link, which leads to another folder from one moment to the next; so is a file,
/// of whose folder the system reports nothing. Nothing else changes in folders that are watched:
/// the links and the access log are in others than the configuration.
#[test]
fn links_to_folders_and_files_are_followed() {
    let config = config_with("h2c: true", REST).replace("accessLog: access.log", "accessLog: logs/access.log");
    let policy = POLICY.replace("paths.d/", "lists/current/");
    let proxy = Running::with_files(&config, &policy, |folder| {
        fs::create_dir(folder.0.join("logs")).unwrap();
        let lists = folder.0.join("lists");
        for (version, text) in [("v1", "/a\n"), ("v2", "/b\n")] {
            fs::create_dir_all(lists.join(version)).unwrap();
            replace(&lists.join(version), "one.txt", text);
        }
        fs::create_dir(folder.0.join("elsewhere")).unwrap();
        symlink("v1", lists.join("current")).unwrap();
    });
    becomes(&proxy, &["/inline", "/a"]);
    let lists = proxy.folder.0.join("lists");
    // Looks that the start and earlier changes cause would see the next change, too.
    let quiet = || std::thread::sleep(Duration::from_millis(900));
    quiet();
    symlink("v2", lists.join("new")).unwrap();
    fs::rename(lists.join("new"), lists.join("current")).unwrap();
    becomes(&proxy, &["/inline", "/b"]);
    replace(&lists.join("v2"), "two.txt", "/c\n");
    becomes(&proxy, &["/inline", "/b", "/c"]);
    let elsewhere = proxy.folder.0.join("elsewhere");
    replace(&elsewhere, "list", "/a\n");
    symlink("../../elsewhere/list", lists.join("v2/three.txt")).unwrap();
    becomes(&proxy, &["/inline", "/a", "/b", "/c"]);
    quiet();
    replace(&elsewhere, "list", "/d\n");
    becomes(&proxy, &["/inline", "/b", "/c", "/d"]);
}
