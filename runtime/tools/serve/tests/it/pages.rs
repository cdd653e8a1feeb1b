//! The API's answers about a policy and a rule set.

use crate::support::{folder, get, post, serve};
use celero_serve::{Files, RuleFiles, limits};
use serde_json::json;

const POLICY: &str = "request:\n- name: admin\n  when: request.path.startsWith('/admin')\n  deny: 403\n- name: mark\n  setHeaders: {x-proxy: celero}\nresponse:\n- name: hide\n  removeHeaders: [server]\n";

const CASES: &str = "- name: closed\n  request: {uri: /admin}\n  expect: {status: 403, rule: admin}\n- name: wrong\n  request: {uri: /}\n  expect: {status: 500}\n";

#[test]
fn a_policy_says_which_rule_decided() {
    let folder = folder("policy");
    let (policy, cases) = (folder.join("policy.yaml"), folder.join("cases.yaml"));
    std::fs::write(&policy, POLICY).unwrap();
    std::fs::write(&cases, CASES).unwrap();
    let to = serve(Files { policy: Some(policy.clone()), cases: vec![cases], ..Files::default() });
    let whole = get(to, "/api/policy").json();
    let cases = &whole["cases"][0]["cases"];
    assert_eq!(*cases, json!([{ "name": "closed", "passed": true }, { "name": "wrong", "passed": false }]));
    assert_eq!((&whole["rules"][0]["name"], &whole["rules"][0]["matched"]), (&json!("admin"), &json!(1)));
    assert!(whole["text"] == POLICY && whole["explanation"].as_str().unwrap().contains("admin"));

    let ask = |input: &str| post(to, "/api/policy", &json!({ "input": input })).json();
    let denied = ask("GET //x/../admin HTTP/1.1\nHost: a\n");
    assert_eq!((&denied["answer"]["status"], &denied["answer"]["rule"]), (&json!(403), &json!("admin")));
    assert_eq!(denied["phases"][0]["answered_by"], "admin");
    assert_eq!(ask("GET / HTTP/1.1\nHost: a\nHost: b\n")["refusal"], "host-duplicate");
    let passed = ask("curl http://a/");
    assert_eq!(passed["answer"], json!(null));
    assert_eq!(passed["phases"][0]["edits"], json!([{ "edit": "set", "name": "x-proxy", "value": "celero" }]));
    assert_eq!(passed["phases"][1]["edits"], json!([{ "edit": "remove", "name": "server" }]));
    assert_eq!(post(to, "/api/policy", &json!({ "input": "{}" })).status, 400);

    // The page shows what an editor saved.
    std::fs::write(&policy, "request:\n- deny: 5xx\n").unwrap();
    assert_eq!(get(to, "/api/policy").json()["diagnostics"][0]["severity"], "error");
    assert_eq!(post(to, "/api/policy", &json!({ "input": "curl http://a/" })).status, 400);
}

#[test]
fn a_rule_set_says_how_each_rule_is_found() {
    let path = folder("rules").join("site.rules");
    let text = "api: request.path.startsWith('/api/')\nslow: size(request.headers) > 3\nhidden: request.path.startsWith('/api/v1') && request.path.startsWith('/api/')\nfilter [language filter]: http.host eq \"a\"\n";
    // Lookups pay for many rules only.
    let more: String = (0..60).map(|number| format!("api{number}: request.path.startsWith('/v{number}/')\n")).collect();
    let text = text.to_owned() + &more;
    std::fs::write(&path, &text).unwrap();
    let to = serve(Files {
        rules: Some(RuleFiles { paths: vec![path.clone()], format: None, language: None }),
        ..Files::default()
    });
    let found = get(to, "/api/rules").json();
    assert_eq!(found["ok"], true, "{found}");
    assert!(found["rules"][0]["entries"][0]["keys"][0].as_str().unwrap().contains("/api/"), "{found}");
    assert!(found["rules"][1]["unindexed"].is_string());
    assert!(found["diagnostics"].as_array().unwrap().iter().any(|one| one["rule"] == 2), "{found}");
    assert_eq!(found["texts"][3]["language"], "filter");
    let asked = post(to, "/api/rules", &json!({ "input": "curl http://a/api/v1" })).json();
    let numbers =
        |name: &str| asked[name].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(numbers("matched"), [0, 2, 3], "{asked}");
    assert!(numbers("evaluated").contains(&1) && !numbers("evaluated").contains(&40), "{asked}");
    let sizes: Vec<u64> =
        asked["curve"].as_array().unwrap().iter().map(|point| point["rules"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [2, 4, 8, 16, 32, 64]);
    assert!(asked["curve"][0]["ns"].as_f64().unwrap() > 0.0, "{asked}");
    assert!(asked["timed"][0]["ns"].as_f64().unwrap() > 0.0 && asked["ns"].as_f64().unwrap() > 0.0);
    assert_eq!(post(to, "/api/rules", &json!({ "input": "" })).status, 400);
    std::fs::write(&path, "api: request.pth\n").unwrap();
    let found = get(to, "/api/rules").json();
    assert_eq!((&found["ok"], &found["diagnostics"][0]["rule"]), (&json!(false), &json!(0)));

    // One error leaves the warnings about the other rules, those about guards too.
    let text = "wrong: request.pth\nopen [tag deny]: request.headers[\"x-admin\"] == \"1\"\nroot: request.path == \"/\"\nagain: request.path == \"/\"\n";
    std::fs::write(&path, text).unwrap();
    let found = get(to, "/api/rules").json();
    let kinds: Vec<(&str, u64)> = found["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["severity"].as_str().unwrap(), one["rule"].as_u64().unwrap()))
        .collect();
    assert_eq!(kinds[..2], [("error", 0), ("warning", 1)], "{found}");
    assert!(kinds.contains(&("warning", 3)), "{found}");

    let longest = usize::try_from(limits::FILE_BYTES).unwrap();
    std::fs::write(&path, "#".repeat(longest + 1)).unwrap();
    let found = get(to, "/api/rules");
    assert!(found.status == 404 && found.body.contains("longer than"), "{found:?}");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(get(to, "/api/rules").status, 404);
}

#[test]
fn a_report_of_the_lab_is_shown_without_scripts_in_an_origin_of_its_own() {
    let report = folder("lab").join("lab.html");
    std::fs::write(
        &report,
        "<!doctype html><style>p { color: red }</style><p>figures<script>fetch('/api/start')</script>",
    )
    .unwrap();
    let to = serve(Files { lab: Some(report.clone()), ..Files::default() });
    let page = get(to, "/lab");
    assert!(page.status == 200 && page.body.contains("figures"), "{page:?}");
    let head = page.head.to_ascii_lowercase();
    assert!(head.contains("default-src 'none'; style-src 'unsafe-inline'; sandbox;"), "{head}");
    assert!(
        !head.contains("script-src") && !head.contains("allow-") && head.contains("frame-ancestors 'none'"),
        "{head}"
    );
    assert_eq!(head.matches("content-security-policy").count(), 1, "{head}");
    assert_eq!(get(to, "/api/start").json()["lab"], json!(report.display().to_string()));
    std::fs::write(&report, vec![b'x'; usize::try_from(limits::FILE_BYTES).unwrap() + 1]).unwrap();
    assert_eq!(get(to, "/lab").status, 404, "a report that has grown too long");
    let without = serve(Files::default());
    assert_eq!((get(without, "/lab").status, &get(without, "/api/start").json()["lab"]), (404, &json!(null)));
}
