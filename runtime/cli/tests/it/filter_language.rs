//! Cloudflare's filter language in every command.

use crate::support::{celero, celero_reading, file};
use serde_json::json;

const FILTER: [&str; 2] = ["--language", "filter"];

fn request() -> String {
    file(
        "filter.http",
        "GET /api/x.php?y=1 HTTP/1.1\nHost: shop.example.com\nUser-Agent: curl/8\nX-Team: ops\nX-Team: web\n\n",
    )
}

#[test]
fn rules_are_checked() {
    let fine =
        file("fine.filter", "# language: filter\n# Only the shop.\nhttp.host eq \"shop.example.com\"\n  and ssl\n");
    let run = celero(&["check", &fine]);
    assert_eq!((run.code, &*run.out, &*run.err), (0, "ok: bool\n", ""));
    assert_eq!(celero(&["check", "--language", "filter", "-e", "concat(http.host, \"/\")"]).out, "ok: bytes\n");

    let wrong = file("wrong.filter", "# Only the shop.\nhttp.hst eq \"a\" and\n  tcp.dstport eq \"a\"\n");
    let run = celero(&["check", &wrong]);
    assert_eq!((run.code, &*run.out), (1, ""));
    for part in [&*format!("{wrong}:2:1"), "did you mean `http.host`?", "2 | http.hst", "wrong.filter:3:"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    let json = celero(&["check", &wrong, "--json"]).json();
    assert_eq!(json["diagnostics"][0]["span"], json!([17, 25]));

    let other = file("header.txt", "# language: filter\nip.src eq 2001:db8::1");
    assert_eq!(celero(&["check", &other]).out, "ok: bool\n");
    let cel = file("cel.filter", "# language: cel\nrequest.path == '/'");
    assert_eq!(celero(&["check", &cel]).out, "ok: bool\n");
    let unknown = file("unknown.filter", "# language: wire\nssl");
    let run = celero(&["check", &unknown]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("unknown.filter:1: there is no language `wire`"), "{}", run.err);
}

#[test]
fn a_rule_given_as_cel_has_a_hint() {
    let rule = "http.host eq \"a\" and ip.src in $office";
    for command in ["check", "eval", "explain"] {
        let run = celero(&[command, "-e", rule]);
        assert_eq!(run.code, 1);
        assert!(run.err.contains("--language filter"), "{command}: {}", run.err);
    }
}

#[test]
fn fields_without_a_value_are_warned_of() {
    let rule = ["-e", "cf.threat_score gt 10 or cf.threat_score lt 2 or true"];
    let run = celero(&[&["check"][..], &FILTER, &rule].concat());
    assert_eq!(run.code, 0);
    let warning =
        "warning[filter-field-missing]: `cf.threat_score` has no value here, so no comparison with it is true";
    assert_eq!(run.err.matches(warning).count(), 1, "{}", run.err);
    assert!(run.err.contains("FilterLanguage::field(\"cf.threat_score\""), "{}", run.err);
    assert_eq!(celero(&[&["check", "--deny-warnings"][..], &FILTER, &rule].concat()).code, 1);

    let field = ["--field", "cf.threat_score = size(request.path)"];
    let run = celero(&[&["check"][..], &FILTER, &rule, &field].concat());
    assert_eq!((run.code, &*run.out, &*run.err), (0, "ok: bool\n", ""));
    let wrong = celero(&[&["check"][..], &FILTER, &rule, &["--field", "cf.threat_score = nope"]].concat());
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("field `cf.threat_score`"), "{}", wrong.err);
}

#[test]
fn rules_are_evaluated_with_requests() {
    let request = request();
    for (rule, text) in [
        ("http.host wildcard \"*.EXAMPLE.com\" and http.request.uri.path.extension eq \"php\"", "true\n"),
        ("ip.src in {192.0.2.0/24} and any(http.request.headers[\"x-team\"][*] eq \"web\")", "true\n"),
        ("http.referer ne \"a\"", "false\n"),
        ("concat(http.host, \"/\", http.user_agent)", "b\"shop.example.com/curl/8\"\n"),
    ] {
        for tier in ["auto", "interpret", "both"] {
            let args = ["eval", "-e", rule, "--request", &request, "--source", "192.0.2.7:4711", "--tier", tier];
            let run = celero(&[&args[..], &FILTER].concat());
            assert_eq!((run.code, &*run.out, &*run.err), (0, text, ""), "{rule} {tier}");
        }
    }
    let nil = ["eval", "-e", "http.referer ne \"a\"", "--request", &request, "--nil-not-equal"];
    assert_eq!(celero(&[&nil[..], &FILTER].concat()).out, "true\n");
    let missing = celero(&["eval", "--language", "filter", "-e", "lower(http.referer)", "--request", &request]);
    assert_eq!(missing.code, 1);
    assert!(missing.err.contains("the value is missing"), "{}", missing.err);
    let lists = file("request-lists.json", r#"{"local": {"Ip": ["127.0.0.0/8"]}}"#);
    let listed = ["eval", "-e", "ip.src in $local", "--request", &request, "--lists", &lists, "--tier", "both"];
    assert_eq!(celero(&[&listed[..], &FILTER].concat()).out, "true\n");
    let run = celero(&["eval", "--language", "filter", "-e", "http.host eq \"a\""]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("give a request with --request FILE"), "{}", run.err);
}

#[test]
fn variables_are_fields() {
    let bindings =
        file("filter.json", r#"{"port": 8443, "tags": ["a", "b"], "ip.src": "192.0.2.7", "raw": {"bytes": "/w=="}}"#);
    let lists = file("lists.json", r#"{"bad": {"Ip": ["192.0.2.0/29"]}, "ports": {"Int": ["8000..9000"]}}"#);
    let given = ["--bindings", &bindings, "--vars", "ip.src: net.IP, absent: int", "--lists", &lists];
    for (rule, text) in [
        ("port in {8000..9000} and any(tags[*] eq \"b\")", "true\n"),
        ("ip.src in $bad and port in $ports and raw eq \"\\xff\"", "true\n"),
        ("absent eq 1 or not ip.src eq 192.0.2.7", "false\n"),
    ] {
        let run = celero(&[&["eval", "-e", rule, "--tier", "both"][..], &FILTER, &given].concat());
        assert_eq!((run.code, &*run.out, &*run.err), (0, text, ""), "{rule}");
    }
    let run = celero(&[&["check", "-e", "prt eq 1"][..], &FILTER, &given].concat());
    assert!(run.code == 1 && run.err.contains("did you mean `port`?"), "{}", run.err);
    let wrong = file("no-lists.json", r#"{"bad": {"Ip": ["x"]}}"#);
    let run = celero(&["check", "-e", "true", "--lists", &wrong]);
    assert!(run.code == 2 && run.err.contains("list `bad`: "), "{}", run.err);
}

/// Rules in both languages. A tab indents a line.
const MIXED: &str = "\
a: request.path.startsWith('/api')
b [language filter, tag x]: http.host contains \"example\"
\tand any(http.request.headers[\"x-team\"][*] eq \"web\")
c [language filter]: http.user_agent eq \"none\"
";

#[test]
fn sets_have_rules_in_both_languages() {
    let request = request();
    let mixed = file("mixed.rules", MIXED);
    let turned =
        MIXED.replace("a:", "a [language cel]:").replace("language filter, ", "").replace(" [language filter]", "");
    let turned = file("turned.rules", &format!("# language: filter\n{turned}"));
    for path in [&mixed, &turned] {
        let run = celero(&["check", path]);
        assert_eq!((run.code, &*run.out, &*run.err), (0, "ok: 3 rules\n", ""), "{path}");
        let run = celero(&["eval", path, "--requests", &request]);
        assert_eq!(run.out, "GET shop.example.com/api/x.php?y=1: a, b\n", "{}", run.err);
        let run = celero(&["explain", path, "--requests", &request, "--json"]);
        assert_eq!(run.json()["rules"].as_array().unwrap().len(), 3);
        let run = celero(&["bench", path, "--requests", &request, "--time", "5", "--by-rule", "--json"]);
        assert_eq!(run.code, 0, "{}", run.err);
    }
    let plain = file("plain.rules", "a: ssl\nb: http.host eq \"shop.example.com\"\n");
    let run = celero(&["eval", &plain, "--language", "filter", "--requests", &request]);
    assert_eq!(run.out, "GET shop.example.com/api/x.php?y=1: b\n", "{}", run.err);

    let wrong =
        file("mixed-wrong.rules", "a: request.pth == '/'\nb [language filter]:\n  http.hst eq \"a\"\nc: true\n");
    let run = celero(&["check", &wrong]);
    assert_eq!(run.code, 1);
    for part in ["mixed-wrong.rules:1:12", "mixed-wrong.rules:3:3", "`http.host`"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
}

#[test]
fn rules_are_explained_and_measured() {
    let request = request();
    let path = file("explain.filter", "http.host eq \"shop.example.com\"");
    let json = celero(&["explain", &path, "--request", &request, "--json"]).json();
    assert_eq!(json["summary"]["type"], "bool");
    assert_eq!(json["summary"]["native"], true);
    assert_eq!(json["results"], json!([{ "value": { "bool": true } }]));
    let tree = celero(&["explain", &path, "--show", "tree"]).out;
    assert!(tree.contains("http.host"), "{tree}");
    let run = celero(&["bench", &path, "--request", &request, "--time", "5"]);
    assert!(run.code == 0 && run.out.contains("interpreted"), "{} {}", run.out, run.err);
}

#[test]
fn rules_are_formatted() {
    let path = file("fmt.filter", "# Who.\n(ssl)&&http.host==\"a\"||ip.src in $bad");
    assert_eq!(celero(&["fmt", "--check", &path]).code, 1);
    let run = celero(&["fmt", &path]);
    assert_eq!((run.code, &*run.err), (0, ""));
    let formatted = "# Who.\n(ssl and http.host eq \"a\") or ip.src in $bad\n";
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written == formatted || written == formatted.replace(['(', ')'], ""), "{written}");
    assert_eq!(celero(&["fmt", "--check", &path]).code, 0);
    assert_eq!(celero_reading(&["fmt", "--language", "filter", "-"], b"tags[0]==\"a\"").code, 1);
    let typed = ["fmt", "--language", "filter", "--vars", "tags: list(string)", "-e", "tags[0]==\"a\""];
    assert_eq!(celero(&typed).out, "tags[0] eq \"a\"\n");
    let mixed = file("fmt-mixed.rules", "a: 1==1\nb [language filter]:\n\tssl&&ssl\n");
    assert_eq!(celero(&["fmt", &mixed]).code, 0);
    let written = std::fs::read_to_string(&mixed).unwrap();
    assert_eq!(written, "a: 1 == 1\nb [language filter]: ssl and ssl\n");
}

#[test]
fn rules_are_translated() {
    let request = request();
    let rule = "http.host contains \"e\" and not http.referer eq \"a\"";
    let run = celero(&["translate", "--to", "cel", "-e", rule, "--requests", &request]);
    let text =
        "default(request.host.contains(\"e\"), false) && !default(request.headers[\"referer\"] == \"a\", false)\n";
    assert_eq!((run.code, &*run.out, &*run.err), (0, text, ""));
    let run = celero(&["translate", "--to", "cel", "-e", "http.host eq \"\\xff\" and ip.src lt 10.0.0.1"]);
    assert_eq!((run.code, &*run.out), (1, ""));
    for part in ["error[no-equal]: CEL has no equal of bytes that are not UTF-8", "an order of addresses"] {
        assert!(run.err.contains(part), "{}", run.err);
    }
}
