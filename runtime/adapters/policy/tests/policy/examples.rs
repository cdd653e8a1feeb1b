//! The examples at the root of the repository, and files of cases.

use crate::support::{Folder, policy};
use celero_policy::Policy;
use std::path::{Path, PathBuf};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples")
}

#[test]
fn the_example_does_what_its_cases_say() {
    let policy = Policy::load(examples().join("policy.yaml")).unwrap();
    assert_eq!(policy.warnings().count(), 0, "{}", policy.render_warnings(false));
    let cases = std::fs::read_to_string(examples().join("cases.yaml")).unwrap();
    let report = policy.test("cases.yaml", &cases).unwrap();
    assert!(report.passed(), "{}", report.render(false));
    assert_eq!((report.cases().count(), report.unmatched_rules()), (7, &[][..]));
}

#[test]
fn the_schema_beside_the_examples_is_the_one_of_this_version() {
    let path = examples().join("policy.schema.json");
    let written = format!("{:#}\n", Policy::json_schema());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
}

#[test]
fn what_comes_otherwise_is_shown_where_it_was_expected() {
    let policy = policy(
        "request:\n- name: a\n  when: request.path == '/a'\n  respond: {body: hello}\n- setHeaders: {x-a: '1'}\n  labels: {l: m}\n  logFields: {n: '${1 + 1}'}\n",
    );
    let cases = "- name: one\n  request: {uri: /a}\n  expect: {status: 403, rule: b, body: bye, log: {n: 1}}\n- name: two\n  expect: {status: 200, requestHeaders: {x-a: 2}, responseHeaders: {x-b: c}, labels: {l: null}, log: {n: 3}}\n- name: three\n  expect: {requestHeaders: {x-a: 1}, log: {n: 2, none: null}}\n";
    let report = policy.test("cases.yaml", cases).unwrap();
    assert!(!report.passed());
    assert_eq!(report.cases().collect::<Vec<_>>(), [("one", false), ("two", false), ("three", true)]);
    let told = report.render(false);
    for (place, what) in [
        ("3:20", "one: the status is 200, by the rule `a`"),
        ("3:31", "one: who answers is `a`"),
        ("3:40", "one: the body is \"hello\""),
        ("3:54", "one: the log's field `n` is not there"),
        ("5:47", "two: the request's header `x-a` is \"1\""),
        ("5:74", "two: the response's header `x-b` is not there"),
        ("5:90", "two: the label `l` is \"m\""),
        ("5:106", "two: the log's field `n` is 2"),
    ] {
        assert!(told.contains(what) && told.contains(&format!("cases.yaml:{place}\n")), "{place} {what}\n{told}");
    }
    assert_eq!(told.matches("error[").count(), 8, "{told}");
}

/// No client of HTTP/1 sends a body without one of the two (RFC 9112, section 6.2).
#[test]
fn a_body_has_a_length_unless_the_case_says_how_it_arrives() {
    let text =
        "request: [{name: length, when: \"default(request.headers['content-length'], 'none') == '3'\", deny: 400}]";
    let policy = policy(text);
    for (request, rule) in [
        ("{body: abc}", "length"),
        ("{body: abc, version: HTTP/1.0}", "length"),
        ("{method: POST}", "server"),
        ("{body: abcd}", "server"),
        ("{body: abc, version: HTTP/2}", "server"),
        ("{body: abc, headers: {Content-Length: []}}", "server"),
        ("{body: abc, headers: {transfer-encoding: chunked}}", "server"),
        ("{body: abcd, headers: {content-length: 3}}", "length"),
    ] {
        let cases = format!("- {{name: a, request: {request}, expect: {{rule: {rule}}}}}");
        let report = policy.test("cases.yaml", &cases).unwrap();
        assert!(report.passed(), "{request}: {}", report.render(false));
    }
}

#[test]
fn cases_are_given_what_they_need() {
    let folder = Folder::new("cases");
    folder.write("secret", "0123456789abcdef");
    let text = "jwt: {keys: [{secret: secret, algorithm: HS256}]}\nrequest:\n- when: jwt.sub == 'ada' && jwt.level > 2 && labels.l == 'm'\n  allow: true\n- deny: 401\nrequestBody: {limit: 3, rules: [{when: 'request.body == b\"abc\"', respond: {status: 201}}]}\n";
    let policy = Policy::load(folder.write("policy.yaml", text)).unwrap();
    let cases = "- name: ada\n  given: {jwt: {sub: ada, level: 3}}\n  labels: {l: m}\n  request: {method: POST, body: abc}\n  expect: {status: 201}\n- name: large\n  given: {jwt: {sub: ada, level: 3}}\n  labels: {l: m}\n  request: {body: abcd}\n  expect: {status: 413, rule: requestBody.limit}\n- name: nobody\n  expect: {status: 401}\n";
    let report = policy.test("cases.yaml", cases).unwrap();
    assert!(report.passed(), "{}", report.render(false));
    for (wrong, why) in [
        ("name: a", "not a mapping"),
        ("- name: a", "a case needs the key `expect`"),
        ("- name: a\n  request: {uri: 'a b'}\n  expect: {}", "not a request target"),
        ("- name: a\n  request: {source: here}\n  expect: {}", "not an address with a port"),
        (
            "- name: a\n  request: {source: 8.8.8.8}\n  expect: {}",
            "write the port behind the address: `\"8.8.8.8:4711\"`",
        ),
        ("- name: a\n  request: {uri: admin}\n  expect: {}", "a path starts with `/`"),
        ("- name: a\n  request: /admin\n  expect: {}", "the keys of a request are `method`, `uri`"),
        ("- name: a\n  expect: {status: \"403\"}", "remove the quotes"),
        ("- name: a\n  request: {body: {a: 1}}\n  expect: {}", "put the text in quotes"),
        ("- name: a\n  expect: {stats: 1}", "did you mean `status`?"),
    ] {
        let error = policy.test("cases.yaml", wrong).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn explanations_tell_what_runs() {
    let told = Policy::explain(&examples().join("policy.yaml")).unwrap();
    for part in [
        "== request: 5 rules, onError: closed\n",
        "2. admin: when request.path.startsWith(\"/admin\") && !variables.isInternal\n",
        "     deny: {\"",
        "1. request #1: always\n     removeHeaderSets: [\"internal\"]\n",
        "-- how the index finds them\n",
        "== requestBody: 0 rules\n",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    let folder = Folder::new("explain");
    let file = folder.write("policy.yaml", "requestBody:\n- when: size(request.body) > 10\n  deny: true\n");
    let told = Policy::explain(&file).unwrap();
    assert!(told.contains("== requestBody: 1 rule, onError: closed\n"), "{told}");
    assert!(told.contains("buffered, up to 65536 bytes; larger ones are answered with 413"), "{told}");
}
