//! Files of rules: `celero check`, `celero explain --rules` and `celero bench`.

use crate::support::{celero, file};
use serde_json::{Value as Json, json};

const RULES: &str = "\
# who may come in
admin: request.path.startsWith(\"/admin\")
  && request.headers[\"x-team\"] == \"ops\"

health: request.path == \"/health\"
";

#[test]
fn check_warns_of_guards_that_a_client_passes() {
    let text = "a [tag deny]: request.headers[\"x-a\"] != \"1\"\nb: request.headers[\"x-a\"] != \"2\"\nc [tag deny]: request.headers[\"x-c\"] == \"3\"\n";
    let path = file("guards.rules", text);
    let codes = |more: &[&str]| {
        let json = celero(&[&["check", &path, "--json"], more].concat()).json();
        let found = json["diagnostics"].as_array().unwrap().iter().map(|of| format!("{} {}", of["name"], of["code"]));
        found.map(|found| found.replace('"', "")).collect::<Vec<_>>()
    };
    let (absence, repeating) = ("c guard-passed-by-absence", "c guard-passed-by-repeating");
    let mut found = codes(&[]);
    found.sort_unstable();
    assert_eq!(found, ["a guard-passed-by-absence", absence, repeating]);
    for policy in ["match", "stop"] {
        assert_eq!(codes(&["--on-error", policy]), [repeating]);
    }
    assert_eq!(celero(&["check", &path, "--deny-warnings"]).code, 1);
}

#[test]
fn check_takes_files_of_rules() {
    let run = celero(&["check", &file("fine.rules", RULES)]);
    assert_eq!((run.code, &*run.out, &*run.err), (0, "ok: 2 rules\n", ""));

    let late = format!("{RULES}late: request.path == \"/health\" &&\n  # only these\n  request.method == \"GET\"\n");
    let path = file("late.rules", &late);
    let run = celero(&["check", &path]);
    assert_eq!((run.code, &*run.out), (0, "ok: 3 rules\n"));
    assert!(run.err.contains("warning[shadowed-rule]: never the first match: rule 1 (`health`)"), "{}", run.err);
    assert!(run.err.contains(&format!(" --> {path}:6:7\n")), "{}", run.err);
    assert_eq!(celero(&["check", &path, "--deny-warnings"]).code, 1);
    let json = celero(&["check", &path, "--json"]).json();
    assert_eq!((&json["ok"], &json["rules"]), (&json!(true), &json!(3)));
    let [warning] = &json["diagnostics"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!(
        (&warning["rule"], &warning["name"], &warning["code"]),
        (&json!(2), &json!("late"), &json!("shadowed-rule"))
    );
    let start = usize::try_from(warning["span"][0].as_u64().unwrap()).unwrap();
    assert!(late.get(start..).unwrap().starts_with("request.path == \"/health\" &&"), "{json}");

    let path = file("wrong.rules", "a: request.pth == '/'\nb:\n  1 +\nc: size(user)\n");
    let run = celero(&["check", &path]);
    assert_eq!((run.code, &*run.out), (1, ""));
    for part in [&format!("{path}:1:12"), "`request.path`", "unexpected-end", "3 |   1 +", "undeclared-name"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    let json = celero(&["check", &path, "--json"]).json();
    let names: Vec<&Json> = json["diagnostics"].as_array().unwrap().iter().map(|found| &found["name"]).collect();
    assert_eq!((&json["ok"], names), (&json!(false), vec![&json!("a"), &json!("b"), &json!("c")]));
    // Variables take the place of the request.
    assert_eq!(celero(&["check", &file("vars.rules", "a: n > 1\n"), "--vars", "n: int"]).code, 0);

    // By priority; what has another tag is not shadowed.
    let path = file("tags.rules", "a [priority 1]: 1 < n\nb [tag x]: 1 < n\nc [tag x]: 1 < n\nd [tag y]: 1 < n\n");
    let json = celero(&["check", &path, "--vars", "n: int", "--json"]).json();
    let found: Vec<_> = json["diagnostics"].as_array().unwrap().iter().map(|of| [&of["name"], &of["rule"]]).collect();
    assert_eq!(found, [[&json!("c"), &json!(1)], [&json!("a"), &json!(3)]], "{json}");
    let start = usize::try_from(json["diagnostics"][1]["span"][0].as_u64().unwrap()).unwrap();
    assert_eq!(start, "a [priority 1]: ".len());
    let json = celero(&["explain", &path, "--vars", "n: int", "--json"]).json();
    let rule = &json["rules"][3];
    assert_eq!([&rule["name"], &rule["priority"], &json["rules"][0]["tags"]], [&json!("a"), &json!(1), &json!(["x"])]);

    let run = celero(&["check", &file("wrong3.rules", "a [priority x]: true\n")]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains(":1: `x` is not an integer from"), "{}", run.err);
    let run = celero(&["check", &file("broken.rules", "a: true\nb == c\n")]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains(":2: expected `NAME: EXPRESSION`"), "{}", run.err);
}

/// Many rules by host, of which few match, and one that is evaluated every time.
fn many_rules() -> String {
    let hosts = (0..40).map(|n| format!("h{n}: request.host == \"{n}.example\" && size(request.path) > {n}\n"));
    format!("{}long: size(request.path) > 8\n", hosts.collect::<String>())
}

const REQUESTS: &str = "\
GET /abc HTTP/1.1
host: 2.example

###
GET /something/long HTTP/1.1
host: 3.example

### of no rule
GET / HTTP/1.1
host: x
";

#[test]
fn explain_takes_files_of_rules() {
    let rules = file("many.rules", &many_rules());
    let run = celero(&["explain", &rules, "--all"]);
    assert_eq!((run.code, &*run.err), (0, ""));
    for part in [
        "rules    41: 40 found by the index, 1 evaluated every time\n",
        "  found if request.host is \"7.example\"\n    left: size(request.path) > 7   (template 0, of 40 rules)\n",
        "rule 40 `long`, expected always\n  every time: none of its conditions is a test that an index supports\n",
    ] {
        assert!(run.out.contains(part), "{part} {}", run.out);
    }
    assert!(!run.out.contains("== cost"));

    let requests = file("requests.http", REQUESTS);
    let run = celero(&["explain", &rules, "--requests", &requests]);
    let cost = run.out.split("== cost\n").nth(1).unwrap();
    assert!(cost.contains("rules     1.67 evaluated per request, of which 1.00 match and 0.00 fail\n"), "{cost}");

    let json = celero(&["explain", &rules, "--requests", &requests, "--json"]).json();
    assert_eq!(json["rules"][7]["ways"][0]["keys"], json!(["request.host is \"7.example\""]));
    assert_eq!(json["rules"][40]["every_time"], "none of its conditions is a test that an index supports");
    assert_eq!(json["cost"]["requests"], 3);
    let hottest = json["cost"]["hottest"].as_array().unwrap();
    let counts = |rule: u64| {
        let of = hottest.iter().find(|cost| cost["rule"] == rule).unwrap();
        [&of["looked_at"], &of["matched"], &of["failed"]].map(|count| count.as_u64().unwrap())
    };
    assert_eq!((hottest.len(), counts(2), counts(3), counts(40)), (3, [1, 1, 0], [1, 1, 0], [3, 1, 0]));
    let shares: Vec<f64> = hottest.iter().map(|cost| cost["share"].as_f64().unwrap()).collect();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6 && shares.is_sorted_by(|a, b| a >= b), "{shares:?}");

    let wrong = celero(&["explain", &file("wrong2.rules", "a: request.pth == '/'\n")]);
    assert!(wrong.code == 1 && wrong.err.contains("undeclared-name"), "{}", wrong.err);
    assert_eq!(celero(&["explain", "-e", "1", &rules]).code, 2);
}
