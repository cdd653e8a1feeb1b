//! `--env`: what the host of policies declares.

use crate::support::{celero, celero_reading, file};

const HOST: &str = "variables: {tenant.seats: int}\nfunctions: ['plan(tenant: string) -> string']\n";
const POLICY: &str = "request: [{name: seats, when: tenant.seats > 5, deny: 402}]\n";
const CASES: &str = "- {name: many, variables: {tenant.seats: 9}, expect: {status: 402}}\n";

#[test]
fn policies_are_checked_and_tested_with_what_their_host_declares() {
    let [host, policy, cases] = [("host.yaml", HOST), ("of-host.yaml", POLICY), ("of-host-cases.yaml", CASES)]
        .map(|(name, text)| file(name, text));
    let run = celero(&["check", "--env", &host, &policy]);
    assert_eq!((run.code, &*run.err), (0, ""), "{}", run.out);
    let run = celero(&["test", "--env", &host, &policy, &cases]);
    assert_eq!((run.code, &*run.out, &*run.err), (0, "ok: 1 of 1 cases\n", ""));
    let run = celero(&["check", &policy]);
    assert!(run.code == 1 && run.err.contains("undeclared reference to `tenant`"), "{}", run.err);
    let hint = "if the host of the policy declares the name: --env HOST.yaml";
    assert!(run.err.contains(hint), "{}", run.err);
    let run = celero(&["test", &policy, &cases]);
    assert!(run.code == 1 && run.err.contains(hint), "{}", run.err);
    let misspelt = file("of-host-misspelt.yaml", &POLICY.replace("seats >", "seat >"));
    let run = celero(&["check", "--env", &host, &misspelt]);
    assert!(run.code == 1 && !run.err.contains(hint), "{}", run.err);
    let calling = file("of-host-calling.yaml", "request: [{name: plan, when: plan('a') == 'free', deny: 402}]\n");
    let run = celero(&["test", "--env", &host, &calling, &cases]);
    assert!(run.code == 1 && run.err.contains("many: `plan` calls `plan`, which is only declared"), "{}", run.err);

    let plain = file("of-host-plain.yaml", "request: [{name: a, deny: 402}]\n");
    let run = celero(&["test", &plain, &cases]);
    assert!(run.code == 1 && run.err.contains("celero test --env FILE"), "{}", run.err);
    let bad = file("bad-host.yaml", "variables: {tenant.seats: number}\n");
    let run = celero(&["check", "--env", &bad, &policy]);
    assert!(run.code == 2 && run.err.contains("the type of `tenant.seats`: there is no type `number`"), "{}", run.err);
    let run = celero(&["check", "--env", "/nowhere.yaml", &policy]);
    assert!(run.code == 2 && run.err.contains("/nowhere.yaml"), "{}", run.err);
    let schema = celero(&["schema", "--of-env"]).json();
    assert!(schema["properties"]["variables"].is_object() && schema["properties"]["functions"].is_object());
}

/// Every command that takes policies takes what their host declares.
#[test]
fn other_commands_know_what_the_host_declares() {
    let host = file("host-of-others.yaml", HOST);
    let policy = file(
        "of-host-others.yaml",
        "request: [{name: seats, language: filter, when: http.request.uri.path eq \"/\", deny: 402}, {name: b, when: tenant.seats > 5, deny: 403}]\n",
    );
    let [requests, values] = [("of-host.http", "GET / HTTP/1.1\nhost: a\n"), ("of-host.json", "{\"tenant.seats\": 9}")]
        .map(|(name, text)| file(name, text));
    let run = celero(&["explain", "--env", &host, &policy]);
    assert!(run.code == 0 && run.out.contains("seats"), "{}", run.err);
    let hint = "if the host of the policy declares the name: --env HOST.yaml";
    let run = celero(&["explain", &policy]);
    assert!(run.code == 1 && run.err.contains(hint), "{}", run.err);
    let run = celero(&["translate", "--to", "cel", "--env", &host, &policy]);
    assert!(run.code == 0 && run.out.contains("request.path == \"/\""), "{}", run.err);
    let run = celero(&["bench", "--time", "5", "--env", &host, "--requests", &requests, &policy]);
    assert!(run.code == 0, "{}", run.err);
    let run = celero(&["bench", "--time", "5", "--requests", &requests, &policy]);
    assert!(run.code == 1 && run.err.contains(hint), "{}", run.err);
    let run = celero(&["serve", "--env", &host]);
    assert!(run.code == 2 && run.err.contains("--env is for a policy"), "{}", run.err);

    // Other rules read the variables beside those of a request.
    let rule = "tenant.seats > 5 && request.path == '/'";
    let run = celero(&["eval", "--env", &host, "--bindings", &values, "--requests", &requests, "-e", rule]);
    assert_eq!((run.code, &*run.out), (0, "true\n"), "{}", run.err);
    let run = celero(&["eval", "--env", &host, "--bindings", &values, "-e", "tenant.seats + 1"]);
    assert_eq!((run.code, &*run.out), (0, "10\n"), "{}", run.err);
    let run = celero(&["eval", "--env", &host, "--requests", &requests, "-e", rule]);
    assert!(run.code == 1 && run.err.contains("`tenant.seats`"), "{}", run.err);
    let run = celero(&["check", "--env", &host, "-e", "tenant.seats == 'x'"]);
    assert!(run.code == 1 && run.err.contains("no overload of `==` fits `int == string`"), "{}", run.err);
    let run = celero(&["eval", "--env", &host, "--requests", &requests, "-e", "plan('a') == 'free'"]);
    assert!(run.code == 1 && run.err.contains("it is only declared here, and has no code"), "{}", run.err);
    let run = celero_reading(&["repl", "--env", &host, "--bindings", &values], b"tenant.seats * 2\n");
    assert_eq!((run.code, &*run.out), (0, "18\n"), "{}", run.err);
    for (values, why) in [
        ("{\"tenant.seat\": 9}", "declares no variable `tenant.seat`; did you mean `tenant.seats`?"),
        ("{\"tenant.seats\": \"many\"}", "tenant.seats"),
    ] {
        let values = file("of-host-wrong.json", values);
        let run = celero(&["eval", "--env", &host, "--bindings", &values, "-e", "true"]);
        assert!(run.code == 2 && run.err.contains(why), "{}", run.err);
    }
    let run = celero(&["eval", "--bindings", &values, "--requests", &requests, "-e", "true"]);
    assert!(run.code == 2 && run.err.contains("--bindings gives no values beside --requests"), "{}", run.err);
}

#[test]
fn names_that_collide_are_at_their_place() {
    let host = file("colliding-host.yaml", "variables:\n  tenant.seats: int\n  request.path: string\n");
    let policy = file("of-colliding-host.yaml", POLICY);
    let run = celero(&["check", "--env", &host, &policy]);
    assert!(run.code == 2 && run.err.contains("colliding-host.yaml:3:3"), "{}", run.err);
    assert!(run.err.contains("`request.path` collides with `request.path`, which policies have"), "{}", run.err);
}
