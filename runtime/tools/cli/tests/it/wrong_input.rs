//! Wrong input to the command: each answer names the place and what to do.

use crate::support::{Run, celero_reading, command};
use std::path::{Path, PathBuf};

/// A folder with the files of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &[u8])]) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        for (name, content) in files {
            std::fs::write(path.join(name), content).unwrap();
        }
        Self(path)
    }

    fn run(&self, args: &[&str]) -> Run {
        Run::of(command(args).current_dir(&self.0), b"")
    }

    /// Tests that a run ends with this code, and says each of these parts.
    #[track_caller]
    fn says(&self, args: &[&str], code: i32, parts: &[&str]) {
        let run = self.run(args);
        let text = format!("{}{}", run.err, run.out);
        assert_eq!(run.code, code, "{args:?}: {text}");
        for part in parts {
            assert!(text.contains(part), "{args:?}: expected {part:?} in:\n{text}");
        }
    }
}

const POLICY: &[u8] = b"request:\n- name: admin\n  when: request.path == \"/admin\"\n  deny: 403\n";
const RULES: &[u8] = b"admin: request.path == \"/admin\"\nbots: request.path == \"/bots\"\n";
const CASES: &[u8] = b"- name: a\n  request: {uri: /admin}\n  expect: {status: 403}\n";
const REQUEST: &[u8] = b"GET / HTTP/1.1\nhost: a\n";

#[test]
fn what_is_not_text_is_told() {
    let files: &[(&str, &[u8])] = &[
        ("latin.rules", b"a: true\nb: request.path == \"/\xe4\"\n"),
        ("wide.rules", b"\xff\xfea\x00:\x00"),
        ("program.rules", b"\x7fELF\x00\x80\xff"),
    ];
    let folder = Folder::new("not-text", files);
    let byte = "latin.rules:2:22: the byte 0xe4 is not UTF-8: save the file as UTF-8";
    folder.says(&["check", "latin.rules"], 2, &[byte]);
    folder.says(&["check", "wide.rules"], 2, &["wide.rules: the file is UTF-16: save it as UTF-8"]);
    folder.says(&["check", "program.rules"], 2, &["program.rules: the file is not text"]);
    folder.says(&["check", "."], 2, &["`.` is a folder: name the files in it, such as ./*.rules"]);
}

#[test]
fn files_that_are_missing_come_with_a_similar_name() {
    let folder = Folder::new("missing", &[("traffic.jsonl", b"{\"uri\": \"/\"}\n"), ("values.json", b"{}")]);
    let similar = "no such file: `trafic.jsonl`; did you mean `traffic.jsonl`?";
    folder.says(&["eval", "-e", "1", "--requests", "trafic.jsonl"], 2, &[similar]);
    folder.says(&["eval", "-e", "1", "--bindings", "value.json"], 2, &["did you mean `values.json`?"]);
    for name in ["a.rules", "a.cel", "a.filter", "a.yaml"] {
        folder.says(&["check", name], 2, &[&format!("no such file: `{name}`\n")]);
    }
}

#[test]
fn files_of_another_format_are_recognised() {
    let files: &[(&str, &[u8])] = &[
        ("policy.rules", POLICY),
        ("rules.yaml", RULES),
        ("cases.yaml", CASES),
        ("proxy.yaml", b"listeners: []\nupstreams: []\npolicy: p.yaml\nroutes: []\n"),
        ("one.rules", b"request.path == \"/\"\n"),
        ("request.http", REQUEST),
    ];
    let folder = Folder::new("formats", files);
    folder.says(&["check", "policy.rules"], 2, &["holds a policy, by its content: rename it to end in .yaml"]);
    assert_eq!(folder.run(&["check", "policy.rules", "--format", "policy"]).code, 0);
    folder.says(&["check", "rules.yaml"], 1, &["a policy has no key `admin`", "`name: expression` ends in `.rules`"]);
    folder.says(&["check", "cases.yaml"], 1, &["`celero test POLICY.yaml cases.yaml` runs it"]);
    folder.says(&["check", "proxy.yaml"], 1, &["`celero-proxy --check --config proxy.yaml` checks it"]);
    folder.says(&["check", "one.rules"], 2, &["one.rules:1: expected `NAME: EXPRESSION`", "ends in .cel"]);
    folder.says(&["check", "request.http"], 2, &["give it with --requests request.http"]);
    // `fmt` takes no requests.
    let run = folder.run(&["fmt", "request.http"]);
    assert!(run.code == 2 && !run.err.contains("--requests") && run.err.contains("--format"), "{}", run.err);
}

#[test]
fn requests_have_lines_and_forms() {
    let folder = Folder::new("requests", &[]);
    for (content, answer) in [
        ("GET /a\n", "q:1: expected `METHOD TARGET VERSION`, as in `GET / HTTP/1.1`, found `GET /a`"),
        ("GET / HTTP/1.1\n\n###\nGET / HTTP/1.1\nHost x\n", "q:5: expected a header, `NAME: VALUE`, found `Host x`"),
        ("GET a HTTP/1.1\n", "q:1: target `a`: a path starts with `/`"),
        ("[{\"uri\": \"/\"}]", "q: requests in JSON are objects, one on each line"),
        ("{\n  \"uri\": \"/\"\n}", "a request in JSON is one line"),
        (
            "{\"uri\": \"/\", \"source\": \"1.2.3.4\"}",
            "q:1: `source`: expected an address and a port, as in `1.2.3.4:4711`",
        ),
    ] {
        std::fs::write(folder.0.join("q"), content).unwrap();
        folder.says(&["eval", "-e", "request.path", "--request", "q"], 2, &[answer]);
    }
    let source = ["eval", "-e", "source.address", "--request", "q", "--source", "1.2.3.4"];
    folder.says(&source, 2, &["expected an address and a port, as in `1.2.3.4:4711`"]);
}

#[test]
fn options_without_effect_are_refused() {
    let files: &[(&str, &[u8])] = &[("p.yaml", POLICY), ("s.rules", RULES), ("q.http", REQUEST)];
    let folder = Folder::new("options", files);
    let only = "takes --rule with a file of rules only";
    folder.says(&["explain", "p.yaml", "--rule", "admin"], 2, &[only, "this is a policy"]);
    folder.says(&["explain", "-e", "1", "--rule", "admin"], 2, &[only, "this is an expression"]);
    folder.says(&["explain", "s.rules", "--show", "code"], 2, &["takes --show with an expression only"]);
    folder.says(&["explain", "p.yaml", "--requests", "q.http"], 2, &["takes --requests, --bindings or --vars with"]);
    folder.says(&["eval", "-e", "1", "-e", "2"], 2, &["takes one file or one text, not 2"]);
    folder.says(&["bench", "s.rules"], 2, &["the rules read requests or values: give --requests FILE"]);
}

#[test]
fn empty_files_are_told() {
    let files: &[(&str, &[u8])] = &[("p.yaml", POLICY), ("empty.yaml", b""), ("meant.yaml", b"empty: allowed\n")];
    let folder = Folder::new("empty", files);
    folder.says(&["check", "empty.yaml"], 1, &["error[policy-empty]: empty.yaml is empty", "write `empty: allowed`"]);
    folder.says(
        &["check", "meant.yaml"],
        0,
        &["ok: 0 rules", "hint: `meant.yaml` has no rules: every request is admitted"],
    );
    folder.says(&["test", "p.yaml", "empty.yaml"], 2, &["empty.yaml: the file has no cases"]);
}

#[test]
fn rules_of_one_name_are_told() {
    let folder = Folder::new("names-twice", &[("s.rules", b"a: request.path == \"/a\"\na: request.path == \"/b\"\n")]);
    folder.says(&["check", "s.rules"], 0, &["ok: 2 rules", "hint: s.rules: two rules are called `a`"]);
}

#[test]
fn values_that_are_missing_or_not_json_are_told() {
    let folder = Folder::new("values", &[("half.json", b"{\"age\": 12"), ("list.json", b"[1]")]);
    let hint = "hint: --bindings FILE.json gives variables their values: {\"age\": ..}";
    folder.says(&["eval", "-e", "age > 18", "--vars", "age: int"], 1, &["variable `age` has no value", hint]);
    folder.says(&["eval", "-e", "age", "--bindings", "half.json"], 2, &["half.json: not JSON: EOF"]);
    folder.says(&["eval", "-e", "age", "--bindings", "list.json"], 2, &["an object of names and values, as in {"]);
    let run = celero_reading(&["eval", "--jsonl"], b"[]\n");
    assert!(run.out.contains("expected an object with the member `expr`"), "{}", run.out);
}

#[test]
fn names_that_lack_a_part_are_completed() {
    let folder = Folder::new("names", &[]);
    for (rule, answer) in [
        ("path == '/a'", "did you mean `request.path`?"),
        ("headers['host'] == 'a'", "did you mean `request.headers`?"),
        ("http.request.path == '/a'", "did you mean `request.path`?"),
        ("source.address in '10.0.0.0/8'", "write `cidr('10.0.0.0/8').containsIP(source.address)`"),
        ("request.path contains '/a'", "write `request.path.contains('/a')`"),
        ("not(request.path == '/a')", "did you mean `!`?"),
    ] {
        folder.says(&["check", "-e", rule], 1, &[answer]);
    }
}

#[test]
fn a_pattern_that_is_too_large_is_called_that() {
    let folder = Folder::new("patterns", &[]);
    let args = ["eval", "-e", r#""a".matches("\\pL{1000}")"#, "--tier", "both"];
    folder.says(&args, 1, &["the pattern \"\\\\pL{1000}\" is too large", "a pattern has at most 16 KiB"]);
}

#[test]
fn a_session_says_what_a_command_needs() {
    let run = celero_reading(&["repl"], b":type\n");
    assert!(run.err.contains("`:type` needs an expression, as in `:type 1 + 1`"), "{}", run.err);
}

#[test]
fn filter_rules_in_other_words_are_explained() {
    let folder = Folder::new("filter-words", &[]);
    for (rule, help) in [
        (
            r#"http.request.headers.x-team eq "a""#,
            r#"a header is `http.request.headers["x-team"][0]`, or `[*]` for all its lines"#,
        ),
        (r#"if http.host eq "a""#, "a rule is a condition, without `if`"),
        (r#"http.cookie["sid"] eq "a""#, r#"a cookie is `http.request.cookies["sid"][0]`"#),
        (r#"http.host["a"] eq "b""#, "a text has no parts: remove the brackets"),
        (r#"http.host.startsWith("a")"#, "functions stand before their values: `starts_with(http.host, ..)`"),
    ] {
        folder.says(&["check", "--language", "filter", "-e", rule], 1, &[help]);
    }
}

#[test]
fn policies_and_cases_of_another_form_are_explained() {
    let policy = |text: &str| format!("request:\n{text}\n").into_bytes();
    let of_policies: &[(&str, &[&str])] = &[
        ("  - {name: a, deny: 403 Forbidden}", &["p.yaml:2:21", "write `403`"]),
        ("  - {name: a, deny: yes}", &["p.yaml:2:21", "write `true`"]),
        ("  a: {when: 'true', deny: 403}", &["p.yaml:2:3", "the rules of a phase are a list: `- name: a`"]),
        (
            "  - {name: a, setHeaders: [x-a: b]}",
            &["p.yaml:2:27", "it has names and values, without `- `: `{name: value}`"],
        ),
        ("  - {name: a, setHeaders: x-a}", &["p.yaml:2:27", "it has names and values: `{name: value}`"]),
    ];
    for (text, parts) in of_policies {
        let folder = Folder::new("policy-forms", &[("p.yaml", &policy(text))]);
        folder.says(&["check", "p.yaml"], 1, parts);
    }
    // One mistake is one error, and no option of the command helps where a phase is wrong.
    let folder = Folder::new("one-error", &[("limit.yaml", &policy("  - {name: a, limit: 100}"))]);
    let run = folder.run(&["check", "limit.yaml"]);
    assert!(run.code == 1 && run.err.matches("error[").count() == 1, "{}", run.err);
    let folder = Folder::new("phase", &[("p.yaml", &policy("  - {name: a, when: response.code == 200, deny: 403}"))]);
    let run = folder.run(&["check", "p.yaml"]);
    assert!(run.code == 1 && !run.err.contains("--env"), "{}", run.err);
    let of_cases: &[(&str, &[&str])] = &[
        ("- {name: a, request: {uri: /}, expect: 403}", &["c.yaml:1:40", "write `{status: 403}`"]),
        ("- {name: a, request: GET /a, expect: {status: 403}}", &["c.yaml:1:22", "write `{method: GET, uri: /a}`"]),
        ("- {name: a, request: {path: /}, expect: {status: 403}}", &["c.yaml:1:23", "did you mean `uri`?"]),
        (
            "- {name: a, request: {uri: /, headers: [host: a]}, expect: {status: 403}}",
            &["it has names and values, without"],
        ),
    ];
    for (text, parts) in of_cases {
        let folder = Folder::new("case-forms", &[("p.yaml", POLICY), ("c.yaml", text.as_bytes())]);
        folder.says(&["test", "p.yaml", "c.yaml"], 1, parts);
    }
}

#[test]
fn options_of_another_form_are_explained() {
    let folder = Folder::new("option-forms", &[("policy.yaml", POLICY)]);
    for (name, meant) in [("integer", "int"), ("boolean", "bool"), ("strng", "string"), ("ip", "net.IP")] {
        let vars = format!("a: {name}");
        folder.says(&["check", "--vars", &vars, "-e", "a == a"], 2, &[&format!("did you mean `{meant}`?")]);
    }
    folder.says(&["serve", "--listen", "8080"], 2, &["expected an address and a port, as in `127.0.0.1:8080`"]);
    folder.says(
        &["translate", "--to", "cel", "policy.yaml"],
        2,
        &["no rule of policy.yaml has a condition in another language"],
    );
}
