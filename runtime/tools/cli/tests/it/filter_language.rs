//! Cloudflare's filter language in every command.

use crate::support::{celero, celero_reading, file};
use serde_json::json;
use std::sync::LazyLock;

const FILTER: [&str; 2] = ["--language", "filter"];

fn request() -> String {
    // Written once: the tests run at the same time.
    static PATH: LazyLock<String> = LazyLock::new(|| file("filter.http", REQUEST));
    PATH.clone()
}

const REQUEST: &str =
    "GET /api/x.php?y=1 HTTP/1.1\nHost: shop.example.com\nUser-Agent: curl/8\nX-Team: ops\nX-Team: web\n\n";

#[test]
fn rules_are_checked() {
    let fine =
        file("fine.filter", "# language: filter\n# Only the shop.\nhttp.host eq \"shop.example.com\"\n  and ssl\n");
    let run = celero(&["check", &fine]);
    assert_eq!((run.code, &*run.out, &*run.err), (0, "ok: Bool\n", ""));
    for (rule, ty) in [("concat(http.host, \"/\")", "Bytes"), ("http.request.headers", "Map<Array<Bytes>>")] {
        assert_eq!(celero(&["check", "--language", "filter", "-e", rule]).out, format!("ok: {ty}\n"));
    }

    let wrong = file("wrong.filter", "# Only the shop.\nhttp.hst eq \"a\" and\n  tcp.dstport eq \"a\"\n");
    let run = celero(&["check", &wrong]);
    assert_eq!((run.code, &*run.out), (1, ""));
    for part in [&*format!("{wrong}:2:1"), "did you mean `http.host`?", "2 | http.hst", "wrong.filter:3:"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    let json = celero(&["check", &wrong, "--json"]).json();
    assert_eq!(json["diagnostics"][0]["span"], json!([17, 25]));

    let other = file("header.txt", "# language: filter\nip.src eq 2001:db8::1");
    assert_eq!(celero(&["check", &other]).out, "ok: Bool\n");
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
    let rule = ["-e", "cf.threat_score gt 10 or cf.threat_score lt 2 or ssl"];
    let run = celero(&[&["check"][..], &FILTER, &rule].concat());
    assert_eq!(run.code, 0);
    let warning =
        "warning[filter-field-missing]: `cf.threat_score` has no value here, so no comparison with it is true";
    assert_eq!(run.err.matches(warning).count(), 1, "{}", run.err);
    assert!(run.err.contains("FilterLanguage::field(\"cf.threat_score\""), "{}", run.err);
    assert_eq!(celero(&[&["check", "--deny-warnings"][..], &FILTER, &rule].concat()).code, 1);

    let field = ["--field", "cf.threat_score = size(request.path)"];
    let run = celero(&[&["check"][..], &FILTER, &rule, &field].concat());
    assert_eq!((run.code, &*run.out, &*run.err), (0, "ok: Bool\n", ""));
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

#[test]
fn entries_that_have_expired_are_left_out() {
    let entries = file("expiring.csv", "entry,expires\nold.example.com,1\nnew.example.com,4102444800\n");
    let list = format!("tenants:hosts={entries}");
    for (host, text) in [("old", "false\n"), ("new", "true\n")] {
        let rule = format!("'{host}.example.com' in lists.tenants");
        let run = celero(&["eval", "-e", &rule, "--list", &list]);
        assert_eq!((run.code, &*run.out, &*run.err), (0, text, ""), "{rule}");
    }
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

#[test]
fn files_of_rules_are_translated_both_ways() {
    let request = request();
    let text = "# Our rules.\n\nscripts [priority 3, tag php]:\n  request.path.endsWith('.php') &&\n  # but not all\n  request.method != 'PUT'\n# Many.\nlong: request.path.trim() == 'a' && size(request.path) > 3\nshop: request.host == 'shop.example.com'\n";
    let cel = file("translated.rules", text);
    let run = celero(&["translate", "--to", "filter", &cel, "--requests", &request]);
    let expected = "# language: filter\n# Our rules.\n\n# but not all\nscripts [priority 3, tag php]: ends_with(http.request.uri.path, \".php\") and http.request.method ne \"PUT\"\n# Many.\nlong [language cel]: request.path.trim() == 'a' && size(request.path) > 3\nshop: http.host eq \"shop.example.com\"\n";
    assert_eq!((run.code, &*run.out), (1, expected), "{}", run.err);
    for part in [
        "translated.rules:8:7",
        "no equal of the function `trim`",
        "the number of characters",
        "without `http.host` the rule in CEL fails",
        "2 of 3 rules translated; these stay in their language: long",
    ] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    // The file written has the same rules.
    let filter = file("back.rules", &run.out);
    let evaluated = celero(&["eval", &filter, "--requests", &request]);
    assert_eq!(evaluated.out, celero(&["eval", &cel, "--requests", &request]).out);
    let run = celero(&["translate", "--to", "cel", &filter, "--requests", &request]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with("# Our rules.\n\n# but not all\nscripts [priority 3, tag php]: request.path.endsWith"));
    assert!(run.err.contains("2 of 2 rules translated"), "{}", run.err);

    let run = celero(&["translate", "--to", "cel", &cel]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("are in the language `cel` already; --language filter says otherwise"), "{}", run.err);
    let run = celero(&["translate", "--to", "filter", "-e", "!(request.headers['referer'] == 'a')"]);
    assert_eq!((run.code, &*run.out), (0, "http.referer ne \"a\"\n"));
    assert!(run.err.contains("warning[false-for-failure]: without `http.referer`"), "{}", run.err);
}

#[test]
fn rules_are_translated_to_a_policy() {
    let rules = file(
        "for-policy.rules",
        "# language: filter\nlast [priority 9]: ssl\nscanners: http.user_agent contains \"nik: 'to'\" or\n  http.request.uri.path eq \"/.env\"\npath [language cel]: request.path == \"/x\\\"\"\n",
    );
    let run = celero(&["translate", "--to", "policy", &rules]);
    assert_eq!((run.code, &*run.err), (0, ""));
    let expected = "defaults:\n  language: filter\nrequest:\n  - name: \"scanners\"\n    when: |-\n      http.user_agent contains \"nik: 'to'\" or\n      http.request.uri.path eq \"/.env\"\n    deny: 403\n  - name: \"path\"\n    language: cel\n    when: |-\n      request.path == \"/x\\\"\"\n    deny: 403\n  - name: \"last\"\n    when: |-\n      ssl\n    deny: 403\n";
    assert!(run.out.ends_with(expected), "{}", run.out);
    let policy = file("for-policy.yaml", &run.out);
    let check = celero(&["check", &policy]);
    assert_eq!(check.code, 0, "{}", check.err);
    assert_eq!(celero(&["translate", "--to", "policy", "-e", "ssl"]).code, 2);
}

#[test]
fn trees_are_written_and_read() {
    let tree = "{\"op\":\"Not\",\"arg\":{\"lhs\":\"http.host\",\"op\":\"Equal\",\"rhs\":\"a\"}}\n";
    let run = celero(&["translate", "--to", "json", "-e", "not http.host==\"a\""]);
    assert_eq!((run.code, &*run.out, &*run.err), (0, tree, ""));
    let path = file("one-tree.json", tree);
    let filter = celero(&["translate", "--to", "filter", "--tree", &path]);
    assert_eq!((filter.code, &*filter.out), (0, "not http.host eq \"a\"\n"), "{}", filter.err);
    let cel = celero(&["translate", "--to", "cel", "--tree", "-e", tree]);
    assert_eq!((cel.code, &*cel.out), (0, "!default(request.host == \"a\", false)\n"), "{}", cel.err);
    let wrong = celero(&[
        "translate",
        "--to",
        "cel",
        "--tree",
        "-e",
        "{\"op\":\"Not\",\"arg\":{\"lhs\":\"hst\",\"op\":\"IsTrue\"}}",
    ]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.err.contains("error: -e: /arg/lhs: there is no field `hst`"), "{}", wrong.err);
    assert_eq!(celero(&["translate", "--to", "cel", "--tree", "-e", "{"]).code, 2);
}
