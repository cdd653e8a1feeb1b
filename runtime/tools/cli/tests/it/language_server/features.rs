//! What the server answers about a place or a document.

use super::client::{Client, edited, language, uri};
use crate::support::{celero, file};
use serde_json::{Value as Json, json};

#[test]
fn declarations_are_those_of_the_command_line() {
    let mut client =
        Client::new(&["--vars", "user.age: int, tags: list(string)", "--define", "adult(a: int) = a > 17"]);
    assert!(client.open(&uri("a.cel"), "cel", "adult(user.age)").is_empty());
    assert_eq!(client.open(&uri("a.cel"), "cel", "request.path")[0]["code"], "undeclared-name");
    assert_eq!(client.labels("a.cel", "user.|"), ["age"]);
    assert!(client.hover("a.cel", "ad|ult(1)").contains("adult(a: int) -> bool"));
}

#[test]
fn hover_tells_types_documentation_and_values() {
    let mut client = Client::new(&[]);
    for (name, marked, wanted) in [
        ("a.cel", "\"\u{1f600}\" == request.pa|th", "request.path: string"),
        ("a.cel", "has(request.bo|dy)", "May be absent"),
        ("a.cel", "request.pa|th == '/'", "Its value begins with `/`, and has no `?`"),
        ("a.cel", "request.vers|ion == ", "Its value is one of `HTTP/1.0`"),
        ("a.cel", "request.path.starts|With(\"a\")", "string.startsWith(string) -> bool"),
        ("a.cel", "request.path.starts|With(\"a\")", "Whether text starts with text."),
        ("a.cel", "[1].map(x, x|)", "x: int"),
        ("a.cel", "1 +| 2 == 3", "Value: `3`"),
        ("a.cel", "[1, 2].exi|sts(x, x > 1)", "range.exists(x, predicate)"),
        ("a.cel", "request.path == '/' &|& request.host == 'a'", "Static cost: 3 to 5 operations"),
        (
            "a.cel",
            "request.headers.ex|ists(h, h == 'a')",
            "Static cost: 2 to 2 + 2n operations (n: elements of the largest list or map)",
        ),
        ("a.filter", "ssl o|r http.host eq \"a\"", "Static cost: 2 to 4 operations"),
        (
            "a.rules",
            "a [language filter]: http.host con|tains \"b\"\n",
            "Static cost: 2 operations; the time of 1 grows with the length of a text",
        ),
        ("p.yaml", "request:\n- when: request.host =|= 'a'\n  deny: 403\n", "Static cost: 2 operations"),
        // With an error elsewhere.
        ("a.cel", "requ|est.path == ", "request.path: string"),
        ("a.cel", "request.headers.exists(h, h| == ", "h: string"),
        ("a.filter", "ht|tp.host eq \"a\"", "http.host: Bytes"),
        ("a.filter", "low|er(http.host) eq \"a\"", "lower(Bytes) -> Bytes"),
        ("a.rules", "# c\na:\n  request.path == \"\u{1f600}\" && request.ho|st == \"b\"\n", "request.host: string"),
        ("a.rules", "a [language filter]: http.ho|st eq \"b\"\n", "http.host: Bytes"),
        ("p.yaml", "request:\n- when: \"'\\u00e9' == request.ho|st\"\n  deny: 403\n", "request.host: string"),
        ("p.yaml", "request:\n- redirect: https://${request.ho|st}/\n", "request.host: string"),
        ("p.yaml", "request:\n- de|ny: 403\n", "Ends the phase with an answer."),
        ("p.yaml", "request:\n- language: filter\n  when: http.ho|st eq \"a\"\n  deny: 403\n", "http.host: Bytes"),
        ("p.yaml", "response:\n- when: |\n    true &&\n    response.co@de == 200\n  deny: 403\n", "response.code: int"),
        ("p.yaml", "functions:\n  'f(a: int) -> int': a| + 1\nlog: []\n", "a: int"),
        ("a.cel", "request.path == | \"a\" || true", "nothing"),
        ("x.yaml", "services:\n  we|b: 1\n", "nothing"),
    ] {
        // `|` begins a block, so one text marks the cursor in another way.
        let marked = match marked.contains('@') {
            true => marked.replacen('|', "\u{1}", 1).replace('@', "|").replace('\u{1}', ">-"),
            false => marked.to_owned(),
        };
        let found = client.hover(name, &marked);
        assert!(found.contains(wanted), "{marked}: {found}");
    }
}

#[test]
fn completion_knows_the_place() {
    let mut client = Client::new(&[]);
    for (name, marked, wanted, unwanted) in [
        ("a.cel", "\"\u{1f600}\" == request.p|", "path", "startsWith"),
        ("a.cel", "request.path.st|", "startsWith", "path"),
        ("a.cel", "request.headers[\"a\"].|", "startsWith", "optMap"),
        ("a.cel", "request.headers.exists(name, na|", "name", "optMap"),
        ("a.cel", "request.headers.exists(name, name.|", "startsWith", "exists"),
        ("a.cel", "[[1]].map(x, x.|", "exists", "startsWith"),
        ("a.cel", "si|", "size", "startsWith"),
        ("a.cel", "math.|", "greatest", "size"),
        ("a.cel", "request.path == \"/\" && |", "request.host", "startsWith"),
        ("a.filter", "http.request.u|", "uri.path", "lower"),
        ("a.filter", "lo|", "lower", "size"),
        ("a.filter", "# c\nssl and no|", "not", "size"),
        ("a.rules", "a: true\nb:\n  request.|\nc: tr", "path", "startsWith"),
        ("a.rules", "a [language filter]: http.|", "host", "path"),
        ("p.yaml", "request:\n- name: a\n  w|", "when", "requestBody"),
        ("p.yaml", "log: []\nre|", "requestBody", "when"),
        ("p.yaml", "request:\n- when: request.|\n  deny: 403\n", "path", "startsWith"),
        ("p.yaml", "variables: {internal: \"true\"}\nrequest:\n- when: variables.|\n  deny: 403\n", "internal", "path"),
        ("p.yaml", "response:\n- when: response.|\n  deny: 403\n", "code", "path"),
        ("p.yaml", "request:\n- redirect: https://${request.|\n", "host", "when"),
        ("p.yaml", "defaults:\n  onError: |\nrequest: []\n", "closed", "when"),
        ("p.yaml", "request:\n- language: filter\n  when: http.|\n  deny: 403\n", "host", "path"),
        ("p.yaml", "functions:\n  'f(some: int) -> int': so|\nlog: []\n", "some", "when"),
    ] {
        let labels = client.labels(name, marked);
        assert!(labels.iter().any(|label| label == wanted), "{marked}: {labels:?}");
        assert!(!labels.iter().any(|label| label == unwanted), "{marked}: {labels:?}");
    }
    for (name, marked) in [("a.cel", "\"request.|"), ("a.cel", "true // request.|"), ("a.rules", "# a: request.|")] {
        assert!(client.labels(name, marked).is_empty(), "{marked}");
    }
}

#[test]
fn signatures_mark_the_argument() {
    let mut client = Client::new(&[]);
    for (name, marked, label, parameter) in [
        ("a.cel", "request.path.substring(1, |", "string.substring(int, int) -> string", 1),
        ("a.cel", "size(|", "size(string) -> int", 0),
        ("a.cel", "[1].exists(x, |", "range.exists(x, predicate)", 1),
        ("a.filter", "ends_with(http.host, |", "ends_with(Bytes, Bytes) -> Bool", 1),
    ] {
        let help = client.at("signatureHelp", name, marked);
        assert_eq!(help["activeParameter"], parameter, "{marked}: {help}");
        let labels: Vec<&str> =
            help["signatures"].as_array().unwrap().iter().map(|s| s["label"].as_str().unwrap()).collect();
        assert!(labels.contains(&label), "{marked}: {labels:?}");
    }
    assert_eq!(client.at("signatureHelp", "a.cel", "request.path|"), Json::Null);
}

#[test]
fn formatting_is_that_of_fmt() {
    let mut client = Client::new(&[]);
    for (name, text) in [
        ("a.cel", "// \u{1f600}\n(request.path==\"\u{1f600}\")&&true"),
        ("a.filter", "# language: filter\n# é\n(ssl)&&http.host==\"a\"\n"),
        ("a.rules", "# \u{1f600}\na:request.path==\"/\"\n\nb [tag x]:\n  # stays\n  true\nc:   true\n"),
        ("a.yaml", "# \u{1f600}\nrequest:\n- when:   \"request.path=='/é'\"   # c\n  deny: 403\n"),
        ("b.cel", "request.path == \"/\"\n"),
    ] {
        let path = file(&format!("lsp-fmt-{name}"), text);
        celero(&["fmt", &path]);
        let wanted = std::fs::read_to_string(&path).unwrap();
        assert_eq!(client.format(name, text), wanted, "{name}");
        assert_eq!(client.format(name, &wanted), wanted, "{name}");
        assert_eq!(wanted == text, name == "b.cel", "{name}");
    }
    let uri = uri("wrong.cel");
    client.open(&uri, "cel", "a == (");
    let answer = client.request(
        "textDocument/formatting",
        json!({ "textDocument": { "uri": uri }, "options": { "tabSize": 2, "insertSpaces": true } }),
    );
    assert_eq!(answer["error"]["code"], -32803);
}

#[test]
fn definitions_are_found_in_files_and_includes() {
    let included = file("lsp-included.yaml", "# \u{1f600}\nvariables:\n  shared: request.path == \"/\"\n");
    let mut client = Client::new(&[]);
    let head = format!(
        "include: [{included}]\nvariables:\n  own: request.path == \"\u{1f600}\"\nfunctions:\n  'twice(a: int) -> int': a * 2\n  'string.loud() -> string': this.upperAscii()\n"
    );
    let mut target = |expression: &str| {
        let answer = client.at("definition", "p.yaml", &format!("{head}request:\n- when: {expression}\n  deny: 403\n"));
        (answer["uri"].as_str().unwrap_or_default().to_owned(), answer["range"]["start"].clone())
    };
    assert_eq!(target("variables.o|wn"), (uri("p.yaml"), json!({ "line": 2, "character": 2 })));
    assert_eq!(target("vari|ables.own"), (uri("p.yaml"), json!({ "line": 2, "character": 2 })));
    assert_eq!(
        target("true && '\u{1f600}' == 'a' && tw|ice(1) == 2"),
        (uri("p.yaml"), json!({ "line": 4, "character": 2 }))
    );
    assert_eq!(target("request.path.lo|ud() == 'a'"), (uri("p.yaml"), json!({ "line": 5, "character": 2 })));
    assert_eq!(target("variables.sha|red"), (format!("file://{included}"), json!({ "line": 2, "character": 2 })));
    assert_eq!(target("request.pa|th == 'a'").0, "");
    let answer = client.at("definition", "a.cel", "\"\u{1f600}\" == \"\" && [1].exists(x, x| > 1)");
    assert_eq!(answer["range"]["start"], json!({ "line": 0, "character": 25 }));
}

#[test]
fn symbols_are_rules_by_name() {
    let mut client = Client::new(&[]);
    let mut names = |name: &str, text: &str| -> Vec<String> {
        let uri = uri(name);
        client.open(&uri, language(name), text);
        let symbols = client.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
        let shown = |symbol: &Json| {
            format!("{}@{}", symbol["name"].as_str().unwrap(), symbol["selectionRange"]["start"]["line"])
        };
        let symbols = symbols.as_array().unwrap();
        let children = |symbol: &Json| symbol["children"].as_array().cloned().unwrap_or_default();
        symbols.iter().flat_map(|s| std::iter::once(s.clone()).chain(children(s))).map(|s| shown(&s)).collect()
    };
    assert_eq!(names("a.rules", "b [priority 9]: true\n\na:\n  true\n"), ["b@0", "a@2"]);
    let policy =
        "variables: {x: 'true'}\nrequest:\n- name: one\n  deny: true\n- deny: 404\nlog:\n- logFields: {a: b}\n";
    assert_eq!(names("p.yaml", policy), ["variables.x@0", "request@2", "one@2", "rule 2@4", "log@6", "rule 1@6"]);
    assert!(names("a.cel", "true").is_empty());
}

#[test]
fn suggestions_become_edits() {
    let mut client = Client::new(&[]);
    for (name, text, wanted) in [
        ("a.cel", "\"\u{1f600}\" == request.pth && true", "\"\u{1f600}\" == request.path && true"),
        ("a.cel", "request.path.startWith(\"a\")", "request.path.startsWith(\"a\")"),
        ("a.filter", "http.hots eq \"\u{1f600}\"", "http.host eq \"\u{1f600}\""),
        ("a.rules", "a: true\nb: \"\u{1f600}\" == request.hots\n", "a: true\nb: \"\u{1f600}\" == request.host\n"),
        ("p.yaml", "request:\n- denny: true\n", "request:\n- deny: true\n"),
        (
            "p.yaml",
            "request:\n- when: \"'\u{1f600}' == request.pth\"\n  deny: true\n",
            "request:\n- when: \"'\u{1f600}' == request.path\"\n  deny: true\n",
        ),
    ] {
        let uri = uri(name);
        let found = client.open(&uri, language(name), text);
        let actions = client.request(
            "textDocument/codeAction",
            json!({ "textDocument": { "uri": uri }, "range": found[0]["range"], "context": { "diagnostics": [] } }),
        );
        assert_eq!(actions[0]["kind"], "quickfix", "{text}: {actions}");
        assert_eq!(edited(text, &actions[0]["edit"]["changes"][&uri]), wanted);
    }
}

#[test]
fn words_have_colours() {
    let mut client = Client::new(&[]);
    let uri = uri("a.rules");
    client.open(&uri, "celero-rules", "a: \"\u{1f600}\" in [size(x)]\nb [language filter]: not ssl\n");
    let tokens = client.request("textDocument/semanticTokens/full", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(
        tokens["data"],
        json!([0, 3, 4, 3, 0, 0, 5, 2, 0, 0, 0, 4, 4, 1, 0, 0, 5, 1, 2, 0, 1, 21, 3, 0, 0, 0, 4, 3, 2, 0])
    );
}
