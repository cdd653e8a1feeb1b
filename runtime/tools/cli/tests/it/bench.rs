//! `celero bench`. Times are never compared with constants: only what is printed, and which answers agree.

use crate::support::{Run, celero, file};
use serde_json::{Value as Json, json};

const RULES: &str = "\
a: request.host == \"2.example\" && size(request.path) > 2
b: size(request.path) > 8
absent: request.headers[\"x-a\"] == \"1\"
";

const REQUESTS: &str =
    "{\"uri\": \"/abc\", \"headers\": {\"host\": \"2.example\"}}\n{\"uri\": \"a b\"}\n{\"uri\": \"/something/long\"}\n";

fn bench(args: &[&str]) -> Run {
    celero(&[&["bench", "--time", "5"], args].concat())
}

fn positive(value: &Json) -> bool {
    value.as_f64().is_some_and(|value| value > 0.0)
}

#[test]
fn sets_are_measured_with_requests() {
    let (rules, requests) = (file("bench.rules", RULES), file("bench.jsonl", REQUESTS));
    let run = bench(&[&rules, "--requests", &requests, "--by-rule"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains(&format!("left out: 1, such as {requests}:2: uri `a b`")), "{}", run.err);
    // The numbers of a debug build are not those of a release build: it says so.
    assert_eq!(run.err.contains("this is a debug build of celero"), cfg!(debug_assertions), "{}", run.err);
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines[0].starts_with(&format!("{rules}  3 rules, ")), "{}", run.out);
    // The first number is the time of a request and its spread.
    assert!(lines[1].contains(" ns a request, ") && lines[1].ends_with(" in nine of ten rounds"), "{}", run.out);
    for part in [
        " ns for the most expensive: GET ",
        " requests a second on one core, ",
        "all matches ",
        "first match ",
        "all, interpreted ",
        "native code and interpreter give the same answers",
        "most expensive rules, each measured standalone",
        "medians per request, over 2 requests of ",
        "; requests a second are medians too\n",
        "█",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    assert!(!run.out.contains("rules per second") && !run.out.contains('\x1b'), "{}", run.out);

    let json = bench(&[&rules, "--requests", &requests, "--on-error", "match", "--json"]).json();
    let source = &json["sources"][0];
    assert_eq!([&json["requests"], &source["rules"], &json["tiers_agree"]], [&json!(2), &json!(3), &json!(true)]);
    for measured in source["measured"].as_array().unwrap() {
        let ns = &measured["ns"];
        assert!([&ns["p5"], &ns["median"], &ns["p95"]].into_iter().all(positive), "{measured}");
        assert!(positive(&measured["requests_per_second"]["all_cores"]), "{measured}");
        assert_eq!(measured["ns_by_request"].as_array().unwrap().len(), 2);
    }
    assert_eq!(source["measured"][0]["allocations"], 0.0, "native code of these rules does not allocate");
    let run = bench(&[&rules]);
    assert!(run.code == 2 && run.err.contains("give --requests FILE"), "{}", run.err);
}

#[test]
fn expressions_are_measured_in_both_tiers() {
    let run = bench(&["-e", "'abc'.contains('b') && size('abc') > 2"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let json = bench(&["-e", "[n, 2].exists(x, x == n)", "--bindings", &file("b.json", "{\"n\": 3}"), "--json"]).json();
    let names = json["sources"][0]["measured"].as_array().unwrap().iter().map(|measured| measured["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), [json!("native"), json!("interpreted")]);
    let run = bench(&["-e", "request.path == '/'"]);
    assert!(run.code == 2 && run.err.contains("read `request.path`"), "{}", run.err);
    assert_eq!(bench(&["-e", "nope"]).code, 1);
}

#[test]
fn policies_are_measured() {
    let policy = file("bench.yaml", "request:\n- when: request.path == \"/abc\"\n  deny: 403\n");
    let requests = file("policy.jsonl", REQUESTS);
    let run = bench(&[&policy, "--requests", &requests]);
    assert!(run.code == 0 && run.out.contains("phase request"), "{} {}", run.out, run.err);
}

#[test]
fn two_files_are_compared_and_their_answers_checked() {
    let (one, requests) = (file("one.rules", RULES), file("compare.jsonl", REQUESTS));
    let same = file("same.rules", &RULES.replace("size(request.path) > 8", "size(request.path) >= 9"));
    let other = file("other.rules", &RULES.replace("> 8", "> 80"));
    let svg = file("chart.svg", "");
    let run = bench(&["--compare", &one, &same, "--requests", &requests, "--svg", &svg]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains(&format!("time than {one}\nboth give the same answers\n")), "{}", run.out);
    let chart = std::fs::read_to_string(&svg).unwrap();
    assert!(
        chart.starts_with("<svg ") && chart.ends_with("</svg>\n") && chart.matches("<rect").count() == 7,
        "{chart}"
    );

    let run = bench(&["--compare", &one, &other, "--requests", &requests]);
    assert_eq!(run.code, 1, "{}", run.err);
    let told = "the answers to 1 of 2 requests differ:\n  GET /something/long: b; now no match\n";
    assert!(run.out.contains(told), "{}", run.out);
    let json = bench(&[&one, &other, "--requests", &requests, "--json"]);
    assert_eq!((json.code, &json.json()["answers_agree"]), (0, &json!(false)));
    assert_eq!(bench(&["--compare", &one]).code, 2);
}
