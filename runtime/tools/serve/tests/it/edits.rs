//! The API's answers about texts that are changed in memory, and about recorded requests.

use crate::support::{folder, get, post, serve};
use celero_serve::{Files, RuleFiles, limits};
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

const POLICY: &str = "# who\nrequest:\n- name: admin\n  when: request.path.startsWith('/admin')\n  deny: 403\n- when: request.method == 'TRACE'\n  deny: 405\nresponse:\n- name: hide\n  removeHeaders: [server]\n";
const CASES: &str = "- name: closed\n  request: {uri: /admin}\n  expect: {status: 403, rule: admin}\n";
const RECORDED: &str = "GET /admin HTTP/1.1\nHost: a\n\n###\nGET /user HTTP/1.1\nHost: a\n";

/// Writes files of these names and contents, and returns the paths.
fn written<const N: usize>(name: &str, files: [(&str, &str); N]) -> [std::path::PathBuf; N] {
    let folder = folder(name);
    files.map(|(name, text)| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    })
}

fn set(paths: Vec<std::path::PathBuf>) -> Option<RuleFiles> {
    Some(RuleFiles { paths, format: None, language: None })
}

#[test]
fn rules_of_a_policy_have_places_and_reasons() {
    let [policy] = written("edits-places", [("policy.yaml", POLICY)]);
    let to = serve(Files { policy: Some(policy), ..Files::default() });
    let whole = get(to, "/api/policy").json();
    let rules = whole["rules"].as_array().unwrap();
    let place = |rule: &Json, span: &str| {
        let at = |end: usize| usize::try_from(rule[span][end].as_u64().unwrap()).unwrap();
        POLICY[at(0)..at(1)].to_owned()
    };
    let shown: Vec<(&str, &str)> =
        rules.iter().map(|rule| (rule["phase"].as_str().unwrap(), rule["name"].as_str().unwrap())).collect();
    assert_eq!(shown, [("request", "admin"), ("request", "request #2"), ("response", "hide")]);
    assert_eq!(place(&rules[0], "name_span"), "admin");
    assert!(place(&rules[1], "span").starts_with("when: request.method"), "{}", place(&rules[1], "span"));

    let tried = post(to, "/api/policy", &json!({ "input": "curl http://a/admin/x" })).json();
    let reasons = json!([{
        "phase": "request", "name": "admin", "decided": true,
        "lines": ["`admin` matches and ends the phase: request.path.startsWith('/admin') is true: request.path is \"/admin/x\""],
    }]);
    assert_eq!(tried["reasons"], reasons);
    let tried = post(to, "/api/policy", &json!({ "input": "curl http://a/x", "rule": "request #2" })).json();
    let line = tried["reasons"][0]["lines"][0].as_str().unwrap();
    assert!(line.contains("`request #2` does not match") && line.contains("request.method is \"GET\""), "{line}");
    assert_eq!((&tried["answer"], tried["reasons"].as_array().unwrap().len()), (&Json::Null, 1));
}

#[test]
fn a_changed_policy_is_checked_and_tried_and_the_file_stays() {
    let [policy, cases, requests] =
        written("edits-policy", [("policy.yaml", POLICY), ("cases.yaml", CASES), ("recorded.http", RECORDED)]);
    let files = Files {
        policy: Some(policy.clone()),
        cases: vec![cases],
        requests: Some(requests.clone()),
        ..Files::default()
    };
    let to = serve(files);
    let changed = POLICY.replace("403", "401").replace("/admin", "/user");
    let checked = post(to, "/api/policy/check", &json!({ "text": changed })).json();
    assert_eq!((&checked["ok"], &checked["text"]), (&json!(true), &json!(changed)));
    assert_eq!(checked["cases"][0]["cases"], json!([{ "name": "closed", "passed": false }]));
    assert_eq!(checked["cases"][0]["source"], CASES);
    let input = "curl http://a/user";
    let tried = post(to, "/api/policy", &json!({ "text": changed, "input": input })).json();
    assert_eq!(tried["answer"]["status"], 401, "{tried}");
    assert_eq!(post(to, "/api/policy", &json!({ "input": input })).json()["answer"], Json::Null);

    // What is wrong has its place, and the rules are still listed.
    let wrong = POLICY.replace("request.method ==", "request.methd ==");
    let checked = post(to, "/api/policy/check", &json!({ "text": wrong })).json();
    assert_eq!((&checked["ok"], checked["rules"].as_array().unwrap().len()), (&json!(false), 3));
    let at = checked["diagnostics"][0]["span"][0].as_u64().unwrap();
    assert_eq!(usize::try_from(at).unwrap(), wrong.find("methd").unwrap(), "{checked}");
    assert_eq!(post(to, "/api/policy", &json!({ "text": wrong, "input": input })).status, 400);

    // Recorded requests: of the file, and others.
    let decided = |question: &Json| {
        let answer = post(to, "/api/policy/requests", question).json();
        let decisions = answer["decisions"].as_array().unwrap().clone();
        let status = |one: &Json| (one["request"].clone(), one["decision"]["answer"]["status"].clone());
        (decisions.iter().map(status).collect::<Vec<_>>(), answer)
    };
    let (before, answer) = decided(&json!({}));
    assert_eq!(before, [(json!("GET a/admin"), json!(403)), (json!("GET a/user"), Json::Null)]);
    assert_eq!((&answer["text"], &answer["left"]), (&json!(RECORDED), &json!(0)));
    let (after, _) = decided(&json!({ "text": changed, "time": 1_000 }));
    assert_eq!(after, [(json!("GET a/admin"), Json::Null), (json!("GET a/user"), json!(401))]);
    let (others, _) = decided(
        &json!({ "requests": "{\"uri\": \"/admin\", \"headers\": {\"host\": \"b\"}, \"source\": \"192.0.2.9:1\"}" }),
    );
    assert_eq!(others, [(json!("GET b/admin"), json!(403))]);
    let refused = post(to, "/api/policy/requests", &json!({ "requests": "GET\n" }));
    assert!(refused.status == 400 && refused.body.contains("recorded.http:1: expected"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), POLICY);
    assert_eq!(get(to, "/api/start").json()["requests"], json!(requests.display().to_string()));
}

#[test]
fn a_changed_rule_set_is_checked_and_tried() {
    let text = "admin: request.path.startsWith('/admin')\nroot [priority -1]: request.path == '/'\n";
    let [rules, requests] = written("edits-rules", [("site.rules", text), ("recorded.http", RECORDED)]);
    let to = serve(Files { rules: set(vec![rules.clone()]), requests: Some(requests), ..Files::default() });
    let whole = get(to, "/api/rules").json();
    assert_eq!(whole["files"][0]["text"], text);
    // In the order of the set.
    assert_eq!((&whole["texts"][0]["name"], &whole["texts"][0]["span"]), (&json!("root"), &json!([41, 81])), "{whole}");
    let tried = post(to, "/api/rules", &json!({ "input": "curl http://a/admin", "rule": 0 })).json();
    assert_eq!((&tried["first"], &tried["matched"]), (&json!(1), &json!([1])));
    let reasons = json!([
        { "rule": 0, "decided": false, "matched": false, "lines": ["request.path == '/' is false: request.path is \"/admin\""] },
        { "rule": 1, "decided": true, "matched": true, "lines": ["request.path.startsWith('/admin') is true: request.path is \"/admin\""] },
    ]);
    assert_eq!(tried["reasons"], reasons);

    let files = |text: &str| json!([{ "name": "site.rules", "text": text, "language": "cel", "expression": false }]);
    let changed = text.replace("/admin", "/user");
    let tried = post(to, "/api/rules", &json!({ "files": files(&changed), "input": "curl http://a/user" })).json();
    assert_eq!(tried["first"], 1, "{tried}");
    let firsts = |question: &Json| {
        let answer = post(to, "/api/rules/requests", question).json();
        answer["decisions"].as_array().unwrap().iter().map(|one| one["decision"]["first"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(firsts(&json!({})), [json!("admin"), Json::Null]);
    assert_eq!(firsts(&json!({ "files": files(&changed) })), [Json::Null, json!("admin")]);

    // Places are those in the file.
    let wrong = format!("# é\n{text}more: request.pth == '/'\n");
    let checked = post(to, "/api/rules/check", &json!({ "files": files(&wrong) })).json();
    let found = &checked["diagnostics"][0];
    assert_eq!((&checked["ok"], &found["file"]), (&json!(false), &json!(0)));
    let at = usize::try_from(found["span"][0].as_u64().unwrap()).unwrap();
    assert!(wrong[at..].starts_with("pth") || wrong[at..].starts_with("request.pth"), "{checked}");
    let checked = post(to, "/api/rules/check", &json!({ "files": files("a: true\nno rule\n") })).json();
    assert_eq!(checked["diagnostics"][0]["span"], json!([8, 15]), "{checked}");
    assert_eq!(std::fs::read_to_string(&rules).unwrap(), text);

    // Several files are one set, and without files of its own a server takes those of a link.
    let two = json!([{ "name": "a.cel", "text": "request.path == '/a'" }, { "name": "b.filter", "text": "# b\nssl" }]);
    let to = serve(Files::default());
    let checked = post(to, "/api/rules/check", &json!({ "files": two })).json();
    assert_eq!((&checked["ok"], &checked["texts"][1]["name"]), (&json!(true), &json!("b")), "{checked}");
    assert_eq!(checked["files"][1]["text"], "# b\nssl");
    assert_eq!(post(to, "/api/rules", &json!({ "input": "curl http://a/" })).status, 404);
}

#[test]
fn a_changed_text_reaches_no_other_files() {
    let secret = "secret: in a file\n";
    let [policy, other, _] = written(
        "edits-reach",
        [
            ("policy.yaml", "include: [more.yaml]\nrequest: [{name: a, deny: 403}]\n"),
            ("other.yaml", secret),
            ("more.yaml", "log: [{logFields: {a: b}}]\n"),
        ],
    );
    let to = serve(Files { policy: Some(policy), ..Files::default() });
    let check = |to, text: &str| {
        let answer = post(to, "/api/policy/check", &json!({ "text": text }));
        assert!(answer.status == 200 && !answer.body.contains("in a file"), "{answer:?}");
        answer.json()
    };
    assert_eq!(check(to, "include: [more.yaml]\nrequest: [{name: a, deny: 404}]\n")["ok"], true);
    let elsewhere = serve(Files::default());
    for path in ["other.yaml", "/etc/passwd", &other.display().to_string(), "../edits-reach/more.yaml"] {
        for key in [
            "include: [PATH]",
            "levels: [PATH]",
            "lists: {l: {kind: texts, files: [PATH]}}",
            "basicAuth: {users: PATH}",
            "jwt: {keys: [{jwks: PATH}]}",
        ] {
            let text = format!("{}\nrequest: [{{name: a, deny: 404}}]\n", key.replace("PATH", path));
            for to in [to, elsewhere] {
                let codes = check(to, &text)["diagnostics"].to_string();
                assert!(codes.contains("policy-reach"), "{text}{codes}");
            }
        }
    }
    let environment = check(to, "env: [PATH]\nrequest: [{name: a, deny: 404, when: env.PATH == ''}]\n");
    assert_eq!(environment["diagnostics"][0]["code"], "policy-reach", "{environment}");
    // Nor do the names of the texts of a rule set.
    let files = json!([{ "name": "/etc/passwd", "text": "a: true\n" }]);
    let checked = post(elsewhere, "/api/rules/check", &json!({ "files": files }));
    assert!(checked.status == 200 && !checked.body.contains("root:"), "{checked:?}");
}

#[test]
fn changed_texts_of_any_size_end() {
    let to = serve(Files::default());
    let long = "#".repeat(limits::TEXT_BYTES + 1);
    for (path, question) in [
        ("/api/policy/check", json!({ "text": long })),
        ("/api/policy", json!({ "text": long, "input": "curl a" })),
        ("/api/rules/check", json!({ "files": [{ "name": "a", "text": long }] })),
    ] {
        let answer = post(to, path, &question);
        assert!(answer.status == 400 && answer.body.contains("the page tries at most"), "{path}: {answer:?}");
    }
    let many = "x: true\n".repeat(limits::RULES + 1);
    let answer = post(to, "/api/rules/check", &json!({ "files": [{ "name": "a.rules", "text": many }] }));
    assert!(answer.status == 400 && answer.body.contains("at most 2000 rules"), "{answer:?}");
    // Errors beyond a number are counted only.
    let wrong: String = (0..5_000).map(|number| format!("key{number}: 1\n")).collect();
    let found = post(to, "/api/policy/check", &json!({ "text": format!("request: [{{deny: 403}}]\n{wrong}") })).json();
    assert_eq!(found["diagnostics"].as_array().unwrap().len(), limits::DIAGNOSTICS);
    assert!(found["more_diagnostics"].as_u64().unwrap() > 4_000, "{}", found["more_diagnostics"]);
    for text in [
        "{".repeat(100_000),
        "[".repeat(100_000),
        "- ".repeat(100_000),
        "a: &a [x]\n".to_owned() + &"b: [*a, *a]\n".repeat(100),
        "\u{0}".repeat(100),
        "request:\n- when: '".to_owned() + &"(".repeat(10_000) + "'\n  deny: 403\n",
        String::new(),
    ] {
        let answer = post(to, "/api/policy/check", &json!({ "text": text }));
        assert_eq!((answer.status, &answer.json()["ok"]), (200, &json!(false)), "{answer:?}");
    }
    // Each rule of a large set has a share of the steps, so that the set ends.
    let list = format!("[{}]", vec!["1"; 100].join(","));
    let costly = (0..6).fold("true".to_owned(), |body, level| format!("{list}.all(x{level}, {body})"));
    let set: String = (0..200).map(|number| format!("r{number}: {costly}\n")).collect();
    let set = json!([{ "name": "a.rules", "text": set }]);
    let tried = post(to, "/api/rules", &json!({ "files": set, "input": "curl http://a/" }));
    assert!(tried.status == 200 || tried.status == 503, "{tried:?}");
    if tried.status == 200 {
        assert_eq!(tried.json()["failed"].as_array().unwrap().len(), 200);
    }
    // Of many recorded requests some are tried.
    let many = "{\"uri\": \"/\"}\n".repeat(limits::RECORDED * 2);
    let small = json!([{ "name": "a.rules", "text": "a: true\n" }]);
    let answer = post(to, "/api/rules/requests", &json!({ "files": small, "requests": many })).json();
    assert_eq!(answer["decisions"].as_array().unwrap().len(), limits::RECORDED);
    assert_eq!(answer["left"], limits::RECORDED);
}

#[test]
fn cases_of_a_link_end() {
    let to = serve(Files::default());
    let text = "request:\n- {name: a, when: 'request.path == \"/a\"', deny: 403}\n";
    let cases = |times: usize, count: usize| {
        let before = format!("{{times: {times}, request: {{uri: /b}}}}, ").repeat(count);
        format!("- {{name: c, before: [{before}], request: {{uri: /a}}, expect: {{status: 403}}}}\n")
    };
    let check = |cases: &str| {
        let cases = json!([{ "name": "cases.yaml", "text": cases }]);
        post(to, "/api/policy/check", &json!({ "text": text, "cases": cases }))
    };
    assert_eq!(check(&cases(1, 1)).json()["cases"][0]["cases"][0]["passed"], true);
    let start = Instant::now();
    let answer = check(&cases(100_000, 2_000));
    assert!(start.elapsed() < limits::CASES_TIME + Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(answer.status == 503 || answer.body.contains("the cases take too long"), "{answer:?}");
}
