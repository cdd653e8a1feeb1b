//! What a new user tries: rules in the wrong place, swapped arguments, typing errors. Each input
//! has an answer that helps.

use crate::support::{Run, celero, celero_reading, command, file};
use serde_json::json;
use std::path::Path;

/// A run in the folder of the files of these tests, so that paths in messages are short.
fn there(args: &[&str]) -> Run {
    Run::of(command(args).current_dir(env!("CARGO_TARGET_TMPDIR")), b"")
}

/// The name of a file in that folder.
fn named(name: &str, content: &str) -> String {
    file(name, content).rsplit('/').next().unwrap().to_owned()
}

fn content(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)).unwrap()
}

#[test]
fn an_argument_is_a_file_and_e_is_a_text() {
    let rule = named("one.cel", "1 + 1 == 2\n");
    assert_eq!(there(&["eval", &rule]).out, "true\n");
    assert_eq!(there(&["check", &rule]).out, "ok: bool\n");
    assert!(there(&["explain", &rule]).out.contains("bool"));
    assert_eq!(there(&["eval", "-e", "1 + 1"]).out, "2\n");
    for command in ["eval", "check", "explain", "fmt", "bench"] {
        let run = there(&[command, "request.path == '/x'"]);
        assert_eq!(run.code, 2, "{command}");
        let hint = format!(r"to give a text use -e: celero {command} -e 'request.path == '\''/x'\'''");
        assert!(run.err.contains("no such file") && run.err.contains(&hint), "{}", run.err);
        let run = there(&[command]);
        assert!(run.code == 2 && run.err.contains("no rules are given"), "{}", run.err);
    }
    let run = there(&["check", &rule.replace("one", "onne")]);
    assert!(run.err.contains(&format!("did you mean `{rule}`?")), "{}", run.err);
    assert!(there(&["bench", "traffic.jsonl"]).err.contains("--requests traffic.jsonl"));
}

#[test]
fn a_file_given_as_a_text_is_told() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("newcomer");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("r.cel"), "1 == 1").unwrap();
    for name in ["eval", "check", "explain"] {
        let run = Run::of(command(&[name, "-e", "r.cel"]).current_dir(&folder), b"");
        let hint = format!("hint: there is a file `r.cel`; without -e it is read: celero {name} r.cel");
        assert!(run.code == 1 && run.err.contains(&hint), "{}", run.err);
    }
}

#[test]
fn diagnostics_name_the_file_and_its_lines() {
    let rule = named("lines.cel", "\n// why\nrequest.pth == '/'\n");
    let run = there(&["check", &rule]);
    assert!(run.code == 1 && run.err.contains(&format!(" --> {rule}:3:9\n")), "{}", run.err);
    assert!(there(&["check", "-e", "nope"]).err.contains(" --> -e:1:1\n"));
    assert!(celero_reading(&["check", "-"], b"nope").err.contains(" --> <stdin>:1:1\n"));
}

#[test]
fn rules_read_a_request_unless_variables_are_declared() {
    let rule = named("path.cel", "request.path == '/a'");
    assert_eq!(there(&["check", &rule]).out, "ok: bool\n");
    assert_eq!(there(&["explain", &rule]).code, 0);
    let run = there(&["eval", &rule]);
    assert!(run.code == 2 && run.err.contains("reads `request.path`: give a request with --request"), "{}", run.err);
    let run = there(&["check", "-e", "user.age > 1"]);
    assert!(run.err.contains("hint: rules read a request") && run.err.contains("--vars"), "{}", run.err);
    let run = there(&["check", &rule, "--vars", "a: int"]);
    assert!(run.err.contains("hint: with --vars or --bindings there is no request"), "{}", run.err);
}

#[test]
fn a_list_that_nobody_declares_is_no_variable() {
    let run = there(&["check", "-e", "source.address in internal"]);
    assert!(run.err.contains("hint: lists are declared with --list NAME:KIND=FILE"), "{}", run.err);
    assert!(!run.err.contains("--vars"), "{}", run.err);
    let policy = named("lists.yaml", "request:\n- when: source.address in internal\n  deny: 403\n");
    let run = there(&["check", &policy]);
    assert!(run.err.contains("hint: a policy declares its lists under `lists`"), "{}", run.err);
    assert!(!run.err.contains("--env"), "{}", run.err);
}

#[test]
fn names_of_policies_are_told() {
    for (rule, name) in [
        ("request.startTime > timestamp(0)", "request.startTime"),
        (r#"jwt.sub == "a""#, "jwt"),
        ("response.code == 200", "response"),
        (r#"labels.team == "a""#, "labels"),
    ] {
        let help = format!("  = help: `{name}` exists in policies only\n");
        for run in [
            there(&["check", "-e", rule]),
            there(&["check", &named("names.rules", &format!("a: {rule}\n"))]),
            there(&["eval", "-e", rule]),
        ] {
            assert!(run.err.contains(&help), "{rule}: {}", run.err);
            assert!(!run.err.contains("hint:") && run.err.matches("= help").count() == 1, "{rule}: {}", run.err);
        }
    }
    for rule in ["request.pth == '/'", "user.age > 1"] {
        assert!(!there(&["check", "-e", rule]).err.contains("in policies"), "{rule}");
    }
    let run = there(&["check", "--vars", "a: int", "-e", "request.path == '/'"]);
    assert!(!run.err.contains("in policies"), "{}", run.err);
    let run = there(&["check", "--vars", "label: string", "-e", "labels == 'a'"]);
    assert!(run.err.contains("did you mean `label`?") && !run.err.contains("in policies"), "{}", run.err);
}

#[test]
fn a_variable_of_the_environment_is_to_be_listed() {
    let run = there(&["check", &named("env.yaml", "request:\n- when: env.TOKEN == 'a'\n  deny: 403\n")]);
    assert!(run.err.contains("= help: list it: `env: [TOKEN]`") && !run.err.contains("hint:"), "{}", run.err);
}

#[test]
fn only_a_rule_of_the_filter_language_is_taken_for_one() {
    let hint = "this is a rule in Cloudflare's filter language";
    for (rule, is_other) in [
        (r#"http.host eq "a""#, true),
        ("ip.src in $office", true),
        (r#"request.path contains "a""#, false),
        (r#"!request.path == "/""#, false),
        ("len(request.path) > 3", false),
        ("source.address in $office", false),
    ] {
        let run = there(&["check", "-e", rule]);
        assert_eq!(run.err.contains(hint), is_other, "{rule}: {}", run.err);
    }
    let run = there(&["check", "--vars", "http.host: string", "-e", r#"http.host eq "a""#]);
    assert!(!run.err.contains(hint), "{}", run.err);
}

#[test]
fn every_format_is_checked_formatted_and_explained() {
    let policy = "request:\n- name: a\n  when: request.path=='/a'\n  deny: true\n";
    let laid_policy = "request:\n- name: a\n  when: request.path == \"/a\"\n  deny: true\n";
    let rules = "# c\na [tag x]:request.path=='/a'\nb: request.host\n  == 'b'\n";
    let laid_rules = "# c\na [tag x]: request.path == \"/a\"\nb: request.host == \"b\"\n";
    for (name, text, formatted, summary) in [
        ("f.cel", "request.path=='/a'", "request.path == \"/a\"\n", "bool"),
        ("f.rules", rules, laid_rules, "2 rules"),
        ("f.yaml", policy, laid_policy, "1 rule ("),
    ] {
        let path = named(name, text);
        let run = there(&["check", &path]);
        assert!(run.code == 0 && run.out.starts_with(&format!("ok: {summary}")), "{name}: {} {}", run.out, run.err);
        assert_eq!(there(&["explain", &path]).code, 0, "{name}");
        assert_eq!(there(&["fmt", "--check", &path]).out, format!("{path}: not formatted\n"));
        assert_eq!(there(&["fmt", &path]).code, 0, "{name}");
        assert_eq!(content(&path), formatted);
        assert_eq!(there(&["fmt", "--check", &path]).code, 0, "{name}");
        // The same from standard input, told by its content.
        assert_eq!(celero_reading(&["fmt", "-"], text.as_bytes()).out, formatted, "{name}");
        assert_eq!(celero_reading(&["check", "-"], text.as_bytes()).code, 0, "{name}");
        assert_eq!(celero_reading(&["explain", "-"], text.as_bytes()).code, 0, "{name}");
    }
    let path = named("kept.rules", "a: 1==1\n# here\n  && true\nb:2==2\n");
    let run = there(&["fmt", &path]);
    assert!(run.code == 1 && run.err.contains(&format!("{path}:1:4")), "{}", run.err);
    assert_eq!(content(&path), "a: 1==1\n# here\n  && true\nb: 2 == 2\n");
}

#[test]
fn many_files_are_checked() {
    let (good, bad) = (named("good.cel", "1 == 1"), named("bad.rules", "a: 1 +\nb: 'x'.matches('(')\n"));
    let run = there(&["check", &good, &bad]);
    assert_eq!((run.code, run.out), (1, format!("{good}: ok: bool\n{bad}: failed\n")));
    // An error does not hide the warnings about other rules.
    assert!(run.err.contains(&format!("{bad}:1:7")) && run.err.contains("literal-never-valid"), "{}", run.err);
    let json = there(&["check", &good, &bad, "--json"]).json();
    assert_eq!((&json["ok"], &json["files"][0]["ok"]), (&json!(false), &json!(true)));
    let found = json["files"][1]["diagnostics"].as_array().unwrap().iter().map(|found| found["severity"].clone());
    assert_eq!(found.collect::<Vec<_>>(), [json!("error"), json!("warning")]);
}

#[test]
fn a_byte_order_mark_is_not_part_of_a_rule() {
    for (name, text) in [("bom.cel", "1 == 1"), ("bom.rules", "a: 1 == 2"), ("bom.yaml", "request:\n- deny: true\n")] {
        let run = there(&["check", &named(name, &format!("\u{feff}{text}"))]);
        assert_eq!(run.code, 0, "{name}: {}", run.err);
    }
    let bindings = file("bom.json", "\u{feff}{\"n\": 3}");
    assert_eq!(celero(&["eval", "-e", "n", "--bindings", &bindings]).out, "3\n");
}

#[test]
fn swapped_arguments_are_told() {
    let policy = named("p.yaml", "request:\n- deny: 404\n");
    let cases = named("c.yaml", "- name: a\n  expect: {status: 404}\n");
    assert_eq!(there(&["test", &policy, &cases]).out, "ok: 1 of 1 cases\n");
    let run = there(&["test", &cases, &policy]);
    let told = format!("the arguments are swapped: `{cases}` is a list of cases");
    let right = format!("celero test {policy} {cases}");
    assert!(run.code == 2 && run.err.contains(&told) && run.err.contains(&right), "{}", run.err);
}

#[test]
fn every_command_reads_several_requests() {
    let lines = "{\"uri\": \"/a\", \"headers\": {\"host\": \"x\"}}\n{\"uri\": \"/b\", \"source\": \"192.0.2.9:1\"}\n";
    let (requests, rule) = (named("two.jsonl", lines), "request.path == '/a'");
    assert_eq!(there(&["eval", "-e", rule, "--requests", &requests]).out, "GET x/a: true\nGET /b: false\n");
    let run = there(&["eval", "-e", "source.address", "--request", &requests, "--json"]);
    assert_eq!(run.out, "{\"value\":{\"string\":\"127.0.0.1\"}}\n{\"value\":{\"string\":\"192.0.2.9\"}}\n");
    let run = there(&["explain", "-e", rule, "--requests", &requests]);
    assert!(run.out.contains("== result of GET x/a\ntrue\n\n== result of GET /b\nfalse\n"), "{}", run.out);
    assert_eq!(there(&["check", "-e", rule, "--requests", &requests]).code, 0);
    let rules = named("two.rules", "a: request.path == '/a'\nb: request.headers['host'] == 'x'\n");
    let run = there(&["eval", &rules, "--requests", &requests]);
    assert_eq!(run.out, "GET x/a: a, b\nGET /b: no match; b failed: no header \"host\"\n", "{}", run.err);
}

#[test]
fn unknown_members_of_requests_are_refused() {
    let requests = named("typo.jsonl", "{\"uri\": \"/\"}\n{\"uri\": \"/\", \"header\": {\"host\": \"a\"}}\n");
    for command in ["eval", "bench", "explain", "check"] {
        let run = there(&[command, "-e", "true", "--requests", &requests]);
        let want = format!("{requests}:2:14: a request has no member `header`; did you mean `headers`?");
        assert!(run.code == 2 && run.err.contains(&want), "{}", run.err);
    }
}

#[test]
fn a_long_file_of_rules_is_summarised() {
    let rule = |n| format!("r{n}: request.host == \"h{n}\" && size(request.path) > {n}\n");
    let path = named("long.rules", &(0..50).map(rule).collect::<String>());
    let run = there(&["explain", &path]);
    assert!(run.out.starts_with("rules    50: 50 found by the index"), "{}", run.out);
    assert!(run.out.lines().count() < 60 && run.out.contains("and 40 more rules: --rule NAME"), "{}", run.out);
    let one = there(&["explain", &path, "--rule", "r33"]);
    assert!(one.out.contains("rule 33 `r33`") && !one.out.contains("`r3`"), "{}", one.out);
    assert!(there(&["explain", &path, "--rule", "r3333"]).err.contains("has no rule `r3333`"));
    assert_eq!(there(&["explain", &path, "--all"]).out.matches("\nrule ").count(), 50);
}
