//! `celero translate` of lines of JSON and of policies.

use crate::support::{celero, celero_reading, file};
use serde_json::{Value as Json, json};

/// The lines that are printed for these.
fn lines(to: &str, input: &str) -> (i32, Vec<Json>, String) {
    let run = celero_reading(&["translate", "--to", to, "--jsonl", "-"], input.as_bytes());
    let lines =
        run.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    (run.code, lines.collect(), run.err)
}

#[test]
fn lines_about_requests_are_translated_both_ways() {
    let input = "{\"expr\": \"http.host eq \\\"a\\\"\", \"source\": \"docs\"}\n\n{\"expr\": \"cf.threat_score gt 1\"}\n{\"language\": \"cel\", \"expr\": \"request.path == '/'\"}\n";
    let (code, found, notes) = lines("cel", input);
    assert_eq!(code, 1);
    assert_eq!(
        found,
        [
            json!({"language": "cel", "expr": "default(request.host == \"a\", false)", "source": "docs"}),
            json!({"language": "filter", "expr": "cf.threat_score gt 1"}),
            json!({"language": "cel", "expr": "request.path == '/'"}),
        ]
    );
    for part in ["<stdin>:3:1:1", "no-equal", "1 of 2 lines translated; these stay in their language: 3"] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    let (code, found, notes) = lines("filter", "{\"expr\": \"request.headers['referer'] == 'a'\"}\n");
    assert_eq!((code, &found), (0, &vec![json!({"language": "filter", "expr": "http.referer eq \"a\""})]));
    assert!(notes.contains("warning[false-for-failure]"), "{notes}");
}

#[test]
fn lines_with_values_are_translated_with_them_and_compared() {
    let filter = json!({
        "language": "filter", "expr": "any(tags[*] eq \"b\") and port in {80 8000..8999} and src in {10.0.0.0/8} and host eq \"a\"",
        "vars": {"tags": {"Array": "Bytes"}, "port": "Int", "src": "Ip", "host": "Bytes"},
        "bindings": {"tags": ["a", "b"], "port": 8080, "src": "10.1.2.3", "host": {"bytes": "YQ=="}},
        "lists": {"bad": {"Int": ["1"]}}, "nilNotEqual": true,
    });
    let (code, found, notes) = lines("cel", &filter.to_string());
    assert_eq!(code, 0, "{notes}");
    let [cel] = &found[..] else { panic!("{found:?}") };
    assert_eq!(cel["vars"], json!({"tags": "list(string)", "port": "int", "src": "net.IP", "host": "string"}));
    assert_eq!(cel["bindings"]["host"], json!("a"));
    assert!(cel.get("lists").is_none() && cel.get("nilNotEqual").is_none());
    let (code, back, notes) = lines("filter", &cel.to_string());
    assert_eq!(code, 0, "{notes}");
    assert_eq!(back[0]["vars"], filter["vars"]);
    for line in [&filter, cel, &back[0]] {
        let run = celero_reading(&["eval", "--jsonl"], line.to_string().as_bytes());
        assert_eq!(run.json(), json!({"value": {"bool": true}}), "{line}");
    }
    // A field without a value is missing in both.
    let missing = json!({"expr": "not host eq \"a\"", "vars": {"host": "Bytes"}, "bindings": {}});
    let (code, found, notes) = lines("cel", &missing.to_string());
    assert_eq!((code, &found[0]["expr"]), (0, &json!("!default(host == \"a\", false)")), "{notes}");
    let bytes = json!({"expr": "host eq \"a\"", "vars": {"host": "Bytes"}, "bindings": {"host": {"bytes": "/w=="}}});
    let (code, found, notes) = lines("cel", &bytes.to_string());
    assert_eq!((code, &found[0]["language"]), (1, &json!("filter")));
    assert!(notes.contains("<stdin>:1: value of `host`: bytes that are not UTF-8"), "{notes}");
}

#[test]
fn lines_that_are_wrong_are_named() {
    for (input, why) in [
        ("{\"expr\": \"ssl\"}\nssl\n", "<stdin>:2: not an object of JSON"),
        ("{\"source\": \"ssl\"}", "<stdin>:1: expected the member `expr`"),
        ("{\"expr\": \"ssl\", \"language\": \"lua\"}", "<stdin>:1: there is no language `lua`"),
    ] {
        let (code, _, notes) = lines("cel", input);
        assert_eq!(code, 2);
        assert!(notes.contains(why), "{why}: {notes}");
    }
    let run = celero_reading(&["translate", "--to", "json", "--jsonl", "-"], b"{}");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("lines of JSON, which is translated to `cel` or `filter`"), "{}", run.err);
}

#[test]
fn policies_are_translated_and_stay_policies() {
    let policy = file(
        "translated.yaml",
        "# Ours.\nrequest:\n  - name: env\n    when: request.path == \"/.env\"  # secrets\n    deny: 404\n  - name: long\n    when: size(request.path) > 100\n    deny: 414\n",
    );
    let run = celero(&["translate", "--to", "filter", &policy]);
    assert_eq!(run.code, 1);
    let expected = "# Ours.\nrequest:\n  - language: filter\n    name: env\n    when: http.request.uri.path eq \"/.env\"  # secrets\n    deny: 404\n  - name: long\n    when: size(request.path) > 100\n    deny: 414\n";
    assert_eq!(run.out, expected);
    for part in ["translated.yaml:7:11", "1 of 2 rules translated; these stay in their language: long"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    let written = file("filter-policy.yaml", &run.out);
    assert_eq!(celero(&["check", &written]).code, 0);
    let back = celero(&["translate", "--to", "cel", &written]);
    assert_eq!((back.code, &*back.err), (0, "1 of 1 rule translated\n"));
    assert!(
        back.out.contains("  - language: cel\n    name: env\n    when: request.path == \"/.env\"  # secrets\n"),
        "{}",
        back.out
    );
    let run = celero(&["translate", "--to", "cel", &policy]);
    assert!(run.code == 2 && run.err.contains("another language than `cel`"), "{}", run.err);
    let run = celero(&["translate", "--to", "filter", &policy, "--vars", "a: int"]);
    assert!(run.code == 2 && run.err.contains("try the translation with `celero test`"), "{}", run.err);
    let wrong = file("wrong-policy.yaml", "request:\n  - when: request.pth == 1\n    deny: 404\n");
    assert!(celero(&["translate", "--to", "filter", &wrong]).err.contains("did you mean"));
}

/// The pairs of the page about Wirefilter are what the command writes.
#[test]
fn the_page_about_wirefilter_agrees() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/migration/wirefilter.md");
    let page = std::fs::read_to_string(page).unwrap();
    let office = file("office.txt", "10.0.0.0/8\n");
    let (mut rows, mut near) = (0, 0);
    for row in page.lines().filter_map(|line| line.strip_prefix("| `")) {
        let (filter, rest) = row.split_once("` | `").unwrap_or_else(|| panic!("{row}"));
        let (cel, note) = rest.split_once('`').unwrap_or_else(|| panic!("{row}"));
        let list = format!("office:addresses={office}");
        let run = celero(&["translate", "--to", "cel", "--near", "--list", &list, "-e", &filter.replace("\\|", "|")]);
        let written = run.out.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        assert_eq!((run.code, written), (0, cel.replace("\\|", "|")), "{row}\n{}", run.err);
        assert_eq!(run.err.contains("other-meaning"), note.contains("with a warning"), "{row}\n{}", run.err);
        rows += 1;
        near += usize::from(note.contains("with a warning"));
    }
    assert!(rows > 15 && near > 0, "{rows} rows, {near} near");
}

#[test]
fn the_nearest_form_is_written_with_a_warning() {
    let rule = r#"http.request.uri.path matches "^/.{3}$""#;
    let run = celero(&["translate", "--to", "cel", "-e", rule]);
    assert!(run.code == 1 && run.err.contains("hint: --near writes the nearest form"), "{}", run.err);
    let run = celero(&["translate", "--to", "cel", "--near", "-e", rule]);
    assert_eq!((run.code, &*run.out), (0, "request.path.matches(\"^/.{3}$\")\n"));
    assert!(run.err.contains("warning[other-meaning]") && run.err.contains("values that are not ASCII"), "{}", run.err);
    let run = celero(&["translate", "--to", "filter", "--near", "-e", "request.path == '/'"]);
    assert!(run.code == 2 && run.err.contains("--near is for --to cel"), "{}", run.err);
    let policy = file(
        "near.yaml",
        "request:\n  - name: three\n    language: filter\n    when: http.request.uri.path matches \"^/.{3}$\"\n    deny: 404\n",
    );
    let run = celero(&["translate", "--to", "cel", &policy]);
    assert_eq!(run.code, 1, "{}", run.err);
    let run = celero(&["translate", "--to", "cel", "--near", &policy]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("request.path.matches(") && run.err.contains("near.yaml:4:11"), "{}{}", run.out, run.err);
    let lines = celero_reading(
        &["translate", "--to", "cel", "--near", "--jsonl", "-"],
        b"{\"expr\": \"len(http.user_agent) gt 3\"}\n",
    );
    assert!(lines.code == 0 && lines.err.contains("other-meaning"), "{}", lines.err);
}

#[test]
fn rules_are_written_as_trees_of_cel() {
    let rule = ["-e", "request.headers.exists(h, h == 'a')"];
    let run = celero(&[&["translate", "--to", "checked-expr"], &rule[..]].concat());
    assert_eq!((run.code, &*run.err), (0, ""));
    let json = run.json();
    let loops = &json["expr"]["comprehensionExpr"];
    assert_eq!((&loops["iterVar"], &loops["iterRange"]["identExpr"]["name"]), (&json!("h"), &json!("request.headers")));
    let path = file("tree.binpb", "");
    let run = celero(&[&["translate", "--to", "parsed-expr", "--binary", &path], &rule[..]].concat());
    assert_eq!((run.code, &*run.out, &*run.err), (0, "", ""));
    let limits = celero::Limits::default().source;
    let tree =
        celero::trees::Tree::from_bytes(celero::trees::TreeKind::Parsed, &std::fs::read(&path).unwrap(), &limits);
    assert!(tree.unwrap().to_json().contains(r#""field":"headers""#));
    for wrong in [&["--to", "cel", "--binary", "x", "-e", "ssl"][..], &["--to", "checked-expr", "--jsonl", "-e", "{}"]]
    {
        assert_eq!(celero(&[&["translate"], wrong].concat()).code, 2, "{wrong:?}");
    }
    assert_eq!(celero(&["translate", "--to", "parsed-expr", "-e", "1 +"]).code, 1);
}
