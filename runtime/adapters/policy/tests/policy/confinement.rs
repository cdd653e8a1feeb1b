//! What a text may use of the machine that nobody trusts with it, and how long its cases may take.

use crate::support::{Folder, exchange, head};
use celero_policy::{Outcome, Outline, Policy, Reach};
use std::cell::Cell;

/// A variable that is set wherever the tests run.
const SET: &str = "CARGO_MANIFEST_DIR";

fn written(folder: &Folder) -> String {
    folder.write("more.yaml", "response: [{name: hide, removeHeaders: [server]}]\n");
    folder.write("users", format!("ada:{}\n", bcrypt::hash("right", 4).unwrap()));
    folder.write("blocked.txt", "192.0.2.0/24\n");
    format!(
        "include: [more.yaml]\nenv: [{SET}]\nbasicAuth: {{users: users}}\nlists: {{blocked: {{kind: addresses, files: [blocked.txt]}}}}\nrequest:\n- {{name: block, when: 'source.address in lists.blocked', deny: 403}}\n"
    )
}

#[test]
fn a_confined_policy_uses_what_the_other_one_uses() {
    let folder = Folder::new("confinement");
    let (text, base) = (written(&folder), folder.path(""));
    let policy = Policy::parse("policy.yaml", &text, &base).unwrap();
    let confined = Policy::loader().within(policy.reach().clone());
    let changed = text.replace("403", "404");
    let again = confined.parse("policy.yaml", &changed, &base).unwrap();
    assert_eq!(again.reach(), policy.reach());

    folder.write("other", "variables: {secret: '1'}\n");
    let including = "include: [other]\nrequest: [{deny: 403}]\n";
    assert_eq!(Outline::of("policy.yaml", including, &base).unwrap().definitions.len(), 1);
    let outline = Outline::with_loader("policy.yaml", including, &base, &confined).unwrap();
    assert!(outline.definitions.is_empty(), "{:?}", outline.definitions);
    for (text, what) in [
        (including.to_owned(), "the file `other`"),
        ("levels: [other]\nrequest: [{deny: 403}]\n".to_owned(), "the file `other`"),
        ("basicAuth: {users: other}\nrequest: [{deny: 403}]\n".to_owned(), "the file `other`"),
        ("jwt: {keys: [{jwks: other}]}\nrequest: [{deny: 403}]\n".to_owned(), "the file `other`"),
        ("jwt: {keys: [{secret: other, algorithm: HS256}]}\nrequest: [{deny: 403}]\n".to_owned(), "the file `other`"),
        ("lists: {a: {kind: texts, files: ['*.txt']}}\nrequest: [{deny: 403}]\n".to_owned(), "the file `*.txt`"),
        ("env: [PATH]\nrequest: [{deny: 403}]\n".to_owned(), "the environment variable `PATH`"),
        // What is used for one purpose is not for another, whose messages could tell of it.
        ("include: [users]\nrequest: [{deny: 403}]\n".to_owned(), "the file `users`"),
        ("lists: {a: {kind: texts, files: [users]}}\nrequest: [{deny: 403}]\n".to_owned(), "the file `users`"),
        // Another path to an allowed file is another name.
        ("include: [./more.yaml]\nrequest: [{deny: 403}]\n".to_owned(), "the file `./more.yaml`"),
    ] {
        let error = confined.parse("policy.yaml", &text, &base).unwrap_err().to_string();
        assert!(error.contains("error[policy-reach]") && error.contains(what), "{text}{error}");
    }
    let error = confined.explain_text("policy.yaml", "include: [other]\n", &base).unwrap_err();
    assert!(error.to_string().contains("policy-reach"), "{error}");
    let nothing = Policy::loader().within(Reach::default());
    let error = nothing.parse("policy.yaml", &text, &base).unwrap_err();
    assert_eq!(error.diagnostics().filter(|(_, found)| found.code == "policy-reach").count(), 4, "{error}");
    assert_eq!(*error.reach(), Reach::default(), "what was refused was not used");
}

/// A file of a level must be in its folder, whatever links say. Of the first level it need not.
#[test]
fn a_file_of_a_level_is_not_in_reach_as_another_file() {
    let folder = Folder::new("confined-level");
    std::fs::create_dir_all(folder.path("tenant")).unwrap();
    folder.write("tenant/policy.yaml", "request: [{name: low, deny: 403}]\n");
    let (text, base) =
        ("levels: [tenant/policy.yaml]\nrequest: [{name: high, when: 'false', deny: 404}]\n", folder.path(""));
    let policy = Policy::parse("policy.yaml", text, &base).unwrap();
    let confined = Policy::loader().within(policy.reach().clone());
    assert!(confined.parse("policy.yaml", text, &base).is_ok());
    let changed = "include: [tenant/policy.yaml]\nrequest: [{deny: 404}]\n";
    let error = confined.parse("policy.yaml", changed, &base).unwrap_err().to_string();
    assert!(error.contains("error[policy-reach]"), "{error}");
}

#[test]
fn expressions_of_a_confined_policy_have_few_steps() {
    let list = format!("[{}]", (0..40).map(|n| n.to_string()).collect::<Vec<_>>().join(", "));
    let when = format!("{list}.all(a, {list}.all(b, {list}.all(c, a + b + c >= 0)))");
    let text = format!("request: [{{name: slow, when: '{when}', deny: 403}}]\n");
    for (loader, failed) in [(Policy::loader(), 0), (Policy::loader().within(Reach::default()), 1)] {
        let policy = loader.check("policy.yaml", &text, ".".as_ref()).unwrap();
        let _ = policy.request(&mut head("GET /", &[]), &mut exchange());
        assert_eq!(policy.rules().map(|rule| rule.failed).sum::<u64>(), failed);
    }
}

#[test]
fn a_case_leaves_a_bounded_number_of_requests_open() {
    let policy = crate::support::policy("request:\n- {name: a, when: 'request.path == \"/a\"', deny: 403}\n");
    let cases = |times: u32| {
        format!(
            "- {{name: open, before: [{{times: {times}, open: true, request: {{uri: /}}}}], request: {{uri: /a}}, expect: {{status: 403}}}}\n"
        )
    };
    assert!(policy.test("cases.yaml", &cases(100)).is_ok());
    let error = policy.test("cases.yaml", &cases(100_000)).unwrap_err().to_string();
    assert!(error.contains("a case leaves at most 10000 requests open, this one 100000"), "{error}");
}

#[test]
fn cases_end_when_nobody_waits_for_them() {
    let policy = crate::support::policy("request:\n- {name: a, when: 'request.path == \"/a\"', deny: 403}\n");
    let cases =
        "- {name: many, before: [{times: 100000, request: {uri: /}}], request: {uri: /a}, expect: {status: 403}}\n";
    let left = Cell::new(5_u32);
    let wanted = || {
        left.set(left.get().saturating_sub(1));
        left.get() > 0
    };
    let error = policy.test_while("cases.yaml", cases, &wanted).unwrap_err().to_string();
    assert!(error.contains("error[case-time]: many: the cases take too long"), "{error}");
    let evaluated = policy.rules().map(|rule| rule.evaluated).max();
    assert_eq!(evaluated, Some(4));
}

#[test]
fn a_tool_learns_why_rules_decided() {
    let text = "request:\n- {name: api, when: 'request.path.startsWith(\"/api\")', deny: 403}\n- {when: 'request.method == \"POST\"', deny: 405}\nresponse:\n- {name: api, when: 'response.code == 200', labels: {a: b}}\n";
    let policy = crate::support::policy(text);
    let mut exchange = exchange();
    exchange.watch_rules(None);
    assert!(matches!(policy.request(&mut head("GET /api/a", &[]), &mut exchange).outcome, Outcome::Respond(_)));
    let seen: Vec<_> = exchange.rule_reasons().collect();
    let [reasons] = &*seen else { panic!("{seen:?}") };
    assert!(reasons.decided && &*reasons.name == "api" && reasons.phase.name() == "request");
    assert_eq!(
        reasons.lines,
        ["`api` matches and ends the phase: request.path.startsWith(\"/api\") is true: request.path is \"/api/a\""]
    );

    let mut exchange = crate::support::exchange();
    exchange.watch_rules(Some("api"));
    let Outcome::Respond(answer) = policy.request(&mut head("POST /b", &[]), &mut exchange).outcome else {
        panic!("the request is not denied");
    };
    let decided: Vec<(String, bool)> =
        exchange.rule_reasons().map(|reasons| (reasons.name.to_string(), reasons.decided)).collect();
    assert_eq!(decided, [("api".to_owned(), false), ("request #2".to_owned(), true)]);
    let outline = Outline::of("policy.yaml", text, ".".as_ref()).unwrap();
    let names: Vec<&str> = outline.rules.iter().map(|rule| &*rule.shown_name).collect();
    assert_eq!(names, ["api", "request #2", "api"], "as rules are called: {}", answer.rule);
}
