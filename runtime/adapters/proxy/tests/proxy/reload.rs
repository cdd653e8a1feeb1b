//! Files that change while the proxy runs.

use crate::client::{Client, get};
use crate::running::{Running, config, eventually};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn policy(version: usize) -> String {
    format!("response:\n  - {{ name: v, setHeaders: {{ x-version: \"{version}\", x-same: \"{version}\" }} }}\n")
}

fn version(proxy: &Running) -> String {
    get(proxy.address, "/").header("x-version")
}

#[test]
fn a_changed_file_is_read_again() {
    let proxy = Running::demo(&policy(1));
    assert_eq!(version(&proxy), "1");
    proxy.folder.write("policy.yaml", &policy(2));
    eventually(|| version(&proxy) == "2", || "version 2".into());
    proxy.reaches("celero_policy_reloads_total", 1.0);
    // Written in place, as editors do, too.
    std::fs::write(proxy.folder.0.join("policy.yaml"), policy(33)).unwrap();
    eventually(|| version(&proxy) == "33", || "version 33".into());
}

#[test]
fn a_bad_file_changes_nothing() {
    let proxy = Running::demo(&policy(1));
    proxy.folder.write("policy.yaml", "response:\n  - { name: v, when: response.cod == 200, deny: true }\n");
    proxy.reaches("celero_policy_reload_failures_total", 1.0);
    assert_eq!(version(&proxy), "1");
    let error = proxy.handle.reload().unwrap_err().to_string();
    assert!(error.contains("policy.yaml:2:") && error.contains("response.code"), "{error}");
    proxy.folder.write("policy.yaml", &policy(2));
    eventually(|| version(&proxy) == "2", || "version 2".into());
}

#[test]
fn routes_change_with_the_configuration() {
    let proxy = Running::demo(&policy(1));
    assert_eq!(get(proxy.address, "/x").status, 200);
    let rest = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ path: /y, upstream: demo }]\n";
    proxy.folder.write("proxy.yaml", &config(rest));
    eventually(|| get(proxy.address, "/x").status == 404, || "no route for /x".into());
    assert_eq!(get(proxy.address, "/y").status, 200);
    proxy.folder.write("proxy.yaml", "listeners: what\n");
    proxy.reaches("celero_policy_reload_failures_total", 1.0);
    assert_eq!(get(proxy.address, "/y").status, 200);
}

/// No request fails, and each sees one generation, while the policy changes under it.
#[test]
fn no_request_fails_during_reloads() {
    let proxy = Running::demo(&policy(0));
    let (over, served) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut client = Client::connect(proxy.address);
                while !over.load(Ordering::SeqCst) {
                    let reply = client.request("GET /", &[], b"").reply();
                    assert_eq!(reply.status, 200);
                    assert!(!reply.header("x-version").is_empty());
                    assert_eq!(reply.header("x-version"), reply.header("x-same"));
                    served.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for round in 1..=30 {
            let before = served.load(Ordering::SeqCst);
            if round % 5 == 0 {
                proxy.folder.write("policy.yaml", "response: [{ deny: treu }]\n");
                proxy.handle.reload().unwrap_err();
            }
            proxy.folder.write("policy.yaml", &policy(round));
            proxy.handle.reload().unwrap();
            eventually(|| served.load(Ordering::SeqCst) > before + 3, || "requests to be served".into());
        }
        over.store(true, Ordering::SeqCst);
    });
    assert_eq!(version(&proxy), "30");
}

const RULES: &str = "request:\n  - { name: a, setHeaders: { x-a: b } }\n  - { name: last, when: 'request.path == \"/secret\"', deny: true }\n";

fn slowly(more: &str, policy: &str) -> Running {
    let rest = format!("upstreams: [{{ name: demo, demo: true }}]\nroutes: [{{ upstream: demo }}]\n{more}");
    Running::with(&rest, policy)
}

#[test]
fn a_file_that_is_being_written_is_not_loaded() {
    let (first, rest) = RULES.split_at(RULES.find("  - { name: last").unwrap());
    let proxy = slowly("reload: { settle: 200ms }\n", RULES);
    // The folder must be watched before the writer begins.
    proxy.folder.write("policy.yaml", RULES);
    proxy.reaches("celero_policy_reloads_total", 1.0);
    let reloads = 1.0;
    let mut file = std::fs::File::create(proxy.folder.0.join("policy.yaml")).unwrap();
    file.write_all(first.as_bytes()).unwrap();
    // Much longer than `settle`: the file is still open for writing.
    for _ in 0..10 {
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(get(proxy.address, "/secret").status, 403);
    }
    assert_eq!(proxy.metric("celero_policy_reloads_total"), reloads);
    file.write_all(rest.as_bytes()).unwrap();
    drop(file);
    eventually(|| proxy.metric("celero_policy_reloads_total") > reloads, || "a reload".into());
    assert_eq!(get(proxy.address, "/secret").status, 403);
}

/// A large policy takes a while to compile, in which its file is replaced. The replacement may also
/// come before the file is read or after its folder is watched; the tests of
/// `generation/file_stamps.rs` choose its time.
#[test]
fn a_change_while_the_proxy_starts_is_loaded() {
    let rules = |number: usize| {
        let rule = |n: usize| format!("  - {{ when: 'request.path.matches(\"^/{n}/[a-z]+$\")', deny: 403 }}\n");
        format!("request:\n{}{}", (0..400).map(rule).collect::<String>(), policy(number))
    };
    let demo = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";
    let begun = Instant::now();
    drop(Running::with(demo, &rules(1)));
    let took = begun.elapsed();
    let proxy = Running::with_listener("h2c: true", demo, &rules(1), |folder| {
        let (file, new, text) = (folder.0.join("policy.yaml"), folder.0.join("new"), rules(2));
        std::fs::write(&new, text).unwrap();
        std::thread::spawn(move || {
            std::thread::sleep(took / 3);
            std::fs::rename(new, file).unwrap();
        });
    });
    eventually(|| version(&proxy) == "2", || format!("the new policy; a start took {took:?}"));
}

/// `settle` of the proxies whose files are written in steps.
const SETTLE: Duration = Duration::from_secs(1);

/// A writer that changes a file more often than `settle`.
struct Steps {
    /// When the step before began.
    before: Instant,
}

impl Steps {
    /// Writes, and checks after `pause` what the proxy does. `None`: the system stopped the writer
    /// for so long that the file had stayed unchanged.
    fn step(&mut self, pause: Duration, write: impl FnOnce(), check: impl FnOnce()) -> Option<()> {
        let now = Instant::now();
        write();
        std::thread::sleep(pause);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check));
        if std::mem::replace(&mut self.before, now).elapsed() >= SETTLE {
            return None;
        }
        checked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Some(())
    }
}

/// Runs a test until the system lets it write in time.
fn written_in_steps(mut test: impl FnMut(&mut Steps) -> Option<()>) {
    let written = (0..10).any(|_| test(&mut Steps { before: Instant::now() }).is_some());
    assert!(written, "the writer was stopped each time");
}

#[test]
fn a_file_that_is_written_in_steps_is_loaded_when_it_stays_unchanged() {
    written_in_steps(|steps| {
        let proxy = slowly("reload: { settle: 1s }\n", &policy(1));
        for round in 0..6 {
            // Opened and closed each time.
            let number = 10 + round;
            let write = || std::fs::write(proxy.folder.0.join("policy.yaml"), policy(number)).unwrap();
            steps.step(Duration::from_millis(150), write, || assert_eq!(version(&proxy), "1"))?;
        }
        eventually(|| version(&proxy) == "15", || "the last version".into());
        proxy.reaches("celero_policy_reloads_total", 1.0);
        Some(())
    });
}

/// The system reports nothing of the folder to which a link leads: a new file there is not complete because it is new.
#[test]
fn a_file_behind_a_link_is_loaded_when_it_stays_unchanged() {
    written_in_steps(|steps| {
        let (first, rest) = RULES.split_at(RULES.find("  - { name: last").unwrap());
        let demo = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\nreload: { settle: 1s }\n";
        let proxy = Running::with_listener("h2c: true", demo, RULES, |folder| {
            std::fs::create_dir(folder.0.join("elsewhere")).unwrap();
            std::fs::rename(folder.0.join("policy.yaml"), folder.0.join("elsewhere/policy.yaml")).unwrap();
            symlink("elsewhere/policy.yaml", folder.0.join("policy.yaml")).unwrap();
        });
        let file = proxy.folder.0.join("elsewhere/policy.yaml");
        // Another inode than that of the file that is removed.
        std::fs::write(proxy.folder.0.join("elsewhere/new"), first).unwrap();
        std::fs::remove_file(&file).unwrap();
        std::fs::rename(proxy.folder.0.join("elsewhere/new"), &file).unwrap();
        let mut writer = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
        for _ in 0..15 {
            let write = || writer.write_all(b"# more\n").unwrap();
            // The access log is in a folder that is watched, so each request causes a look.
            let look = || assert_eq!(get(proxy.address, "/secret").status, 403);
            steps.step(Duration::from_millis(200), write, look)?;
        }
        let count = || assert_eq!(proxy.metric("celero_policy_reloads_total"), 0.0);
        steps.step(Duration::ZERO, || writer.write_all(b"# more\n").unwrap(), count)?;
        writer.write_all(rest.replace("/secret", "/other").as_bytes()).unwrap();
        drop(writer);
        eventually(|| get(proxy.address, "/other").status == 403, || "the new policy".into());
        Some(())
    });
}

#[test]
fn a_file_without_its_end_marker_is_refused() {
    let proxy = slowly("reload: { settle: 100ms, endMarker: true }\n...\n", &format!("{RULES}...\n"));
    let file = proxy.folder.0.join("policy.yaml");
    // A writer that ended too early.
    let (first, _) = RULES.split_at(RULES.find("  - { name: last").unwrap());
    std::fs::write(&file, first).unwrap();
    eventually(|| proxy.metric("celero_policy_reload_failures_total") >= 1.0, || "a failure".into());
    assert_eq!(get(proxy.address, "/secret").status, 403);
    let error = proxy.handle.reload().unwrap_err().to_string();
    assert!(error.contains("policy.yaml does not end with the line `...`"), "{error}");
    // Neither does a part of the configuration, in which the key is missing.
    let whole = std::fs::read_to_string(proxy.folder.0.join("proxy.yaml")).unwrap();
    std::fs::write(&file, format!("{RULES}...\n")).unwrap();
    proxy.folder.write("proxy.yaml", whole.split("reload:").next().unwrap());
    let error = proxy.handle.reload().unwrap_err().to_string();
    assert!(error.contains("proxy.yaml does not end with the line `...`"), "{error}");
    proxy.folder.write("proxy.yaml", &whole);
    proxy.handle.reload().unwrap();
    std::fs::write(&file, format!("{}...\n", RULES.replace("/secret", "/other"))).unwrap();
    eventually(|| get(proxy.address, "/secret").status == 200, || "the new policy".into());
}

/// Only the configuration, the policy and what it includes need the marker: the file of an answer
/// may be another document.
#[test]
fn files_of_answers_need_no_end_marker() {
    let rest = "upstreams: [{ name: demo, demo: true }]\n\
                routes: [{ path: /api.yaml, answer: { status: 200, file: api.yaml } }, { upstream: demo }]\n\
                reload: { endMarker: true }\n...\n";
    let proxy = Running::with_listener("h2c: true", rest, &format!("{RULES}...\n"), |folder| {
        folder.write("api.yaml", "openapi: 3.1.0\n");
    });
    proxy.handle.reload().unwrap();
    assert_eq!(get(proxy.address, "/api.yaml").text(), "openapi: 3.1.0\n");
}

#[test]
fn entries_of_lists_expire() {
    let soon = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 4;
    let list = format!("entry,expires\n/once,{soon}\n/always,\n");
    let policy = "lists: { closed: { kind: texts, files: [closed.csv] } }\n\
                  request: [{ name: closed, when: request.path in lists.closed, deny: 403 }]\n";
    let rest = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";
    let proxy = Running::with_listener("h2c: true", rest, policy, |folder| drop(folder.write("closed.csv", &list)));
    assert_eq!(get(proxy.address, "/once").status, 403);
    eventually(|| get(proxy.address, "/once").status == 200, || "the end of an entry".into());
    assert_eq!(get(proxy.address, "/always").status, 403);
}

/// A tenant writes definitions that double over a file of its level: the policy that runs keeps
/// answering, in the memory that it had.
#[test]
fn a_level_that_exceeds_its_share_changes_nothing() {
    let level = |rules: &str| format!("variables: {{ mine: 'true' }}\nresponse:\n{rules}");
    let rule = |version: usize| format!("  - {{ when: variables.mine, setHeaders: {{ x-version: \"{version}\" }} }}\n");
    let main = "levels: [team.yaml]\nresponse: [{ allow: true }]\n";
    let demo = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";
    let proxy = Running::with_listener("h2c: true", demo, main, |folder| {
        folder.write("team.yaml", &level(&rule(1)));
    });
    assert_eq!(version(&proxy), "1");
    let doubled = |count: usize| -> String {
        (1..count).map(|n| format!("  v{n}: variables.v{0} + variables.v{0}\n", n - 1)).collect()
    };
    // Each definition is twice as large as the one before; each fits, and all rules together do not.
    let too_large =
        format!("variables:\n  v0: '1'\n{}response:\n{}", doubled(220), rule(2).replace("mine", "v219 == 1"));
    let used = |n: usize| format!("  - {{ when: variables.v14 == {n}, setHeaders: {{ x-version: \"3\" }} }}\n");
    let used: String = (0..60).map(used).collect();
    let too_many = format!("variables:\n  v0: '1'\n{}response:\n{used}", doubled(15));
    let memory = || proxy.metric("process_resident_memory_bytes");
    let before = memory();
    for (text, why) in [(too_large, "has more than 65536 nodes"), (too_many, "of level 2 that use definitions")] {
        assert!(text.len() < 9_500, "{}", text.len());
        let failures = proxy.metric("celero_policy_reload_failures_total");
        proxy.folder.write("team.yaml", &text);
        eventually(|| proxy.metric("celero_policy_reload_failures_total") > failures, || format!("a failure: {why}"));
        let error = proxy.handle.reload().unwrap_err().to_string();
        assert!(error.contains("team.yaml:") && error.contains(why), "{error}");
        assert_eq!(version(&proxy), "1");
    }
    // Other tests run in this process.
    let grown = memory() - before;
    assert!(grown < 1e9, "{grown} bytes more");
    proxy.folder.write("team.yaml", &level(&rule(4)));
    eventually(|| version(&proxy) == "4", || "version 4".into());
}
