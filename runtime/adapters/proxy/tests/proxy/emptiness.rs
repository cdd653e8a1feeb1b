//! Files that are cut to nothing while the proxy runs, and included files of the configuration.

use crate::client::get;
use crate::running::{Running, config, eventually};

const LISTS: &str = "lists: {blocked: {kind: texts, files: [blocked.txt]}}\n";
const RULES: &str = "request:\n- {when: request.path in lists.blocked || request.path == '/denied', deny: 403}\n";

/// What a full disk or a shell's `>` leaves.
const EMPTY: [&str; 9] = [
    "",
    "# nothing\n",
    "---\n",
    "{}\n",
    "null\n",
    "request:\n",
    "request: []\n",
    "request: {rules: []}\n",
    "variables:\n",
];

#[test]
fn a_file_that_is_cut_to_nothing_changes_nothing() {
    let proxy = Running::demo(&RULES.replace("request.path in lists.blocked || ", ""));
    let file = |name: &str| proxy.folder.0.join(name);
    let refused = || proxy.metric("celero_refused_empty_total");
    let denied = |path: &str| get(proxy.address, path).status == 403;
    std::fs::write(file("blocked.txt"), "/listed\n").unwrap();
    std::fs::write(file("policy.yaml"), format!("{LISTS}{RULES}")).unwrap();
    proxy.handle.reload().unwrap();
    assert!(denied("/listed") && denied("/denied") && !denied("/"));
    for text in EMPTY {
        let before = refused();
        proxy.folder.write("policy.yaml", text);
        let error = proxy.handle.reload().unwrap_err().to_string();
        assert!(error.contains("empty: allowed"), "{text:?}: {error}");
        assert!(refused() > before && denied("/listed") && denied("/denied"), "{text:?}");
    }
    // A file that was cut in its middle has lost its last phase.
    proxy.folder.write("policy.yaml", &format!("{LISTS}{RULES}response: [{{setHeaders: {{x-a: b}}}}]\n"));
    proxy.handle.reload().unwrap();
    let before = refused();
    proxy.folder.write("policy.yaml", &format!("{LISTS}{RULES}"));
    let error = proxy.handle.reload().unwrap_err().to_string();
    assert!(error.contains("the phase `response` of the policy has no rules") && refused() > before, "{error}");
    proxy.folder.write("policy.yaml", &format!("empty: allowed\n{LISTS}{RULES}"));
    proxy.handle.reload().unwrap();
    // The file is watched as well, and the list is read alone.
    proxy.folder.write("policy.yaml", &format!("{LISTS}{RULES}"));
    proxy.handle.reload().unwrap();
    for text in ["", "\n", "# nothing\n"] {
        let before = refused();
        proxy.folder.write("blocked.txt", text);
        eventually(|| refused() > before, || format!("{text:?} to be refused"));
        assert!(denied("/listed"), "{text:?}");
    }
    let meant = LISTS.replace("kind: texts", "kind: texts, empty: allowed");
    proxy.folder.write("policy.yaml", &format!("{meant}{RULES}"));
    eventually(|| !denied("/listed"), || "an empty list that is allowed".into());
    proxy.folder.write("policy.yaml", "empty: allowed\n");
    eventually(|| !denied("/denied"), || "an empty policy that is allowed".into());
    // A restart knows nothing of before.
    proxy.folder.write("policy.yaml", &format!("{LISTS}{RULES}"));
    assert!(
        celero_proxy::Proxy::bind(&file("proxy.yaml")).is_err_and(|error| error.to_string().contains("blocked.txt"))
    );
    proxy.folder.write("policy.yaml", "empty: allowed\n");
    let before = proxy.metric("celero_policy_reload_failures_total");
    for text in ["", "# nothing\n", "{}\n", "null\n", "routes:\n", "upstreams: []\n"] {
        proxy.folder.write("proxy.yaml", text);
        proxy.handle.reload().unwrap_err();
        assert_eq!(get(proxy.address, "/").status, 200, "{text:?}");
    }
    assert!(proxy.metric("celero_policy_reload_failures_total") > before);
}

#[test]
fn an_included_file_is_neither_empty_nor_quoted() {
    let rest = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ path: /, upstream: demo }]\n";
    let proxy = Running::demo("empty: allowed\n");
    proxy.folder.write("more.yaml", "routes: [{ path: /more, upstream: demo }]\n");
    proxy.folder.write("proxy.yaml", &config(&format!("include: [more.yaml]\n{rest}")));
    proxy.handle.reload().unwrap();
    for (text, why) in [
        ("", "is empty"),
        ("# hunter2\n", "is empty"),
        ("routes:\n", "is empty"),
        ("routes: []\n", "is empty"),
        ("{}\n", "is empty"),
        ("hunter2", "no file of a configuration"),
        ("hunter2: a", "no file of a configuration"),
        ("[hunter2", "no file of a configuration"),
        ("- hunter2", "no file of a configuration"),
        ("threads: hunter2", "no file of a configuration"),
        ("admin: {password: hunter2}", "no file of a configuration"),
    ] {
        proxy.folder.write("more.yaml", text);
        let error = proxy.handle.reload().unwrap_err().to_string();
        assert!(error.contains(why) && !error.contains("hunter2"), "{text:?}: {error}");
        assert_eq!(get(proxy.address, "/more").status, 200, "{text:?}");
    }
}
