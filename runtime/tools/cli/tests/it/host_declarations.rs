//! `--env`: what the host of policies declares.

use crate::support::{celero, file};

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
    let run = celero(&["check", "--env", &host, "-e", "1 == 1"]);
    assert!(run.code == 2 && run.err.contains("--env is for policies"), "{}", run.err);
    let schema = celero(&["schema", "--of-env"]).json();
    assert!(schema["properties"]["variables"].is_object() && schema["properties"]["functions"].is_object());
}
