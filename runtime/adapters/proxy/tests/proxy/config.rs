//! What a newcomer gets wrong, and what the proxy says.

use crate::running::{Folder, config};
use celero_proxy::config::Config;

const REST: &str = "upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n";

/// The message about a configuration and a policy.
fn message(proxy: &str, policy: &str) -> String {
    let folder = Folder::new();
    folder.write("policy.yaml", policy);
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
    folder.write("policy.yaml", "");
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
