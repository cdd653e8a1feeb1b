//! The API's answers about a rule.

use crate::support::{get, post, serve};
use celero_serve::{Files, limits};
use serde_json::{Value as Json, json};

const REQUEST: &str = "GET /api/users HTTP/1.1\nHost: a.example\nX-Team: ops\n";

fn answer(question: &Json) -> Json {
    let answer = post(serve(Files::default()), "/api/rule", question);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[test]
fn a_rule_has_a_verdict_its_parts_and_its_code() {
    let rule = r#"request.headers["x-team"] == "ops" && request.path.startsWith("/api/")"#;
    let found = answer(&json!({ "rule": rule, "input": REQUEST, "measure": true }));
    assert_eq!(found["result"]["value"]["text"], "true");
    assert_eq!(found["type"], "bool");
    assert_eq!(found["input"]["text"], "GET a.example/api/users");
    let parts = found["parts"].as_array().unwrap();
    let texts: Vec<&str> = parts
        .iter()
        .map(|part| {
            let at = |end: usize| usize::try_from(part["span"][end].as_u64().unwrap()).unwrap();
            &rule[at(0)..at(1)]
        })
        .collect();
    assert_eq!(texts[..3], [rule, r#"request.headers["x-team"] == "ops""#, r#"request.headers["x-team"]"#]);
    assert_eq!(parts[2]["results"], json!([{ "text": "\"ops\"" }]));
    let titles: Vec<&str> = found["stages"].as_array().unwrap().iter().map(|s| s["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["tree", "graph", "optimized graph", "cranelift ir"]);
    assert!(found["code"].as_array().unwrap().len() > 10 && found["cost"]["native"] == true);
    assert!(found["ranges"][0]["node"].is_string());
    let costs = found["static_cost"].as_array().unwrap();
    assert_eq!(costs.last().unwrap()["text"], "4 to 6 operations");
    assert_eq!(costs[0]["text"], "1 operation");
    assert!(!found["index"]["entries"].as_array().unwrap().is_empty(), "{}", found["index"]);
    for name in ["native", "interpreted", "check", "compile"] {
        assert!(found["measured"][name].as_f64().unwrap() > 0.0, "{name}");
    }
}

#[test]
fn each_form_of_input_is_read() {
    for (rule, input, text) in [
        ("request.method", "curl -d a=1 \\\n  http://a.example/b", "\"POST\""),
        ("request.path", "\n\nGET /b HTTP/1.1\n", "\"/b\""),
        ("user.age + 1", r#"{"user.age": 41}"#, "42"),
        ("1 + 1", "", "2"),
        ("source.address", REQUEST, "\"192.0.2.7\""),
    ] {
        assert_eq!(answer(&json!({ "rule": rule, "input": input }))["result"]["value"]["text"], text, "{rule}");
    }
    let number = answer(&json!({ "rule": "1 + 1" }));
    assert!(number["index"].is_null(), "no condition: {}", number["index"]);
    let filter = answer(&json!({ "rule": "http.host eq \"a.example\"", "language": "filter", "input": REQUEST }));
    assert_eq!(filter["result"]["value"]["text"], "true");
    assert_eq!(filter["static_cost"].as_array().unwrap().last().unwrap()["text"], "2 operations");
    let variables = json!({ "rule": "port in {80 443}", "language": "filter", "input": "{\"port\": 443}" });
    assert_eq!(answer(&variables)["result"]["value"]["text"], "true");
}

#[test]
fn what_is_wrong_has_its_place() {
    let found = answer(&json!({ "rule": "request.pth == 1 +", "input": REQUEST }));
    assert!(found["diagnostics"][0]["span"].is_array() && found["result"].is_null());
    let found = answer(&json!({ "rule": "request.path == \"/\"", "input": "GET / HTTP/1.1\nnonsense\n" }));
    assert_eq!(found["input"]["error"]["line"], 1);
    assert_eq!((&found["type"], &found["result"]), (&json!("bool"), &Json::Null));
    let found = answer(&json!({ "rule": "request.headers[\"x\"] == \"\"", "input": REQUEST }));
    assert_eq!(found["result"]["error"]["message"], "no header \"x\"");
    assert_eq!(found["result"]["error"]["span"], json!([0, 20]));
    let found = answer(&json!({ "rule": "n", "input": "{\"n\": {\"int\": \"x\"}}" }));
    assert!(found["input"]["error"]["message"].as_str().unwrap().contains("variable `n`"));
}

#[test]
fn long_values_are_cut() {
    let body = "b".repeat(100_000);
    let found = answer(&json!({ "rule": "request.body", "input": format!("POST / HTTP/1.1\n\n{body}") }));
    let text = found["result"]["value"]["text"].as_str().unwrap();
    assert!(text.ends_with('…') && text.len() < limits::VALUE_TEXT + 8, "{}", text.len());
    // Many parts with long values stay within one bound.
    let rule = vec!["size(request.body) > 1"; 200].join(" && ");
    let answer = post(
        serve(Files::default()),
        "/api/rule",
        &json!({ "rule": rule, "input": format!("POST / HTTP/1.1\n\n{body}") }),
    );
    let parts = answer.json()["parts"].to_string();
    assert!(parts.len() < 2 * limits::PART_TEXTS, "{}", parts.len());
}

#[test]
fn names_have_types_and_documentation() {
    let to = serve(Files::default());
    let names = post(to, "/api/names", &json!({ "language": "cel" })).json();
    let has = |names: &Json, kind: &str, name: &str| {
        names[kind].as_array().unwrap().iter().any(|one| one["name"] == name || one == name)
    };
    assert!(
        has(&names, "variables", "request.path")
            && has(&names, "functions", "startsWith")
            && has(&names, "words", "exists")
    );
    let function = names["functions"].as_array().unwrap().iter().find(|one| one["name"] == "startsWith").unwrap();
    assert_eq!(function["signatures"], json!(["string.startsWith(string) -> bool"]));
    let names = post(to, "/api/names", &json!({ "language": "filter" })).json();
    assert!(has(&names, "variables", "http.host"));
    let function = names["functions"].as_array().unwrap().iter().find(|one| one["name"] == "lower").unwrap();
    assert_eq!(function["signatures"], json!(["lower(Bytes) -> Bytes"]));
    assert_eq!(function["doc"], "The value with small ASCII letters.");
    let names = post(to, "/api/names", &json!({ "input": "{\"user.age\": 1}" })).json();
    assert_eq!(names["variables"], json!([{ "name": "user.age", "type": "dyn" }]));
    assert!(get(to, "/api/start").json()["version"].is_string());
}
