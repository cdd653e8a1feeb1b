//! What tools do with files: the language server, files of rules, policies laid out, explanations
//! of how rules are compiled.

use crate::measure::growth;
use crate::rules::many;
use crate::{SizedRule, exclusive, report};
use celero::diagnostics::Style;
use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Engine, Env, ErrorPolicy, Tier};
use celero_lsp::Environment;
use celero_policy::Policy;
use celero_tooling::envs::Envs;
use celero_tooling::language::Language;
use celero_tooling::rules;
use celero_tooling::rules::check::check_rules;
use celero_tooling::rules::file::RulesFile;
use serde_json::{Value as Json, json};
use std::hint::black_box;
use std::io::Cursor;

fn envs() -> Envs<RequestContext<'static>> {
    Envs::new(Env::new(), FilterLanguage::http())
}

/// Files of rules.
const RULES: &[SizedRule] = &[
    ("rules", |n| many(n, "", |k| format!("r{k}: request.path == '/{k}'\n"))),
    ("equal rules", |n| "r: request.path == '/'\n".repeat(n)),
    ("guards", |n| many(n, "", |k| format!("r{k} [tag deny]: request.path.startsWith('/{k}')\n"))),
    ("rules with a head", |n| many(n, "", |k| format!("r{k} [priority {k}, tag a]: request.path == '/{k}'\n"))),
    ("filter rules", |n| many(n, "", |k| format!("r{k} [language filter]: http.host eq \"h{k}\"\n"))),
    ("wrong rules", |n| many(n, "", |k| format!("r{k}: request.pth == {k}\n"))),
    ("wrong lines", |n| "what\n".repeat(n)),
    ("a rule of many lines", |n| format!("r: true\n{}", "  || request.path == 'a'\n".repeat(n))),
    ("a long line", |n| format!("r: true{}", " || request.path == 'a'".repeat(n))),
    ("comments", |n| format!("{}r: true\n", "# a\n".repeat(n))),
    ("blank lines", |n| format!("r: true\n{}", "\n".repeat(n))),
    ("tags", |n| format!("r [{}]: true\n", many(n, ", ", |k| format!("tag t{k}")))),
];

/// A policy with one rule, which begins so.
const RULE: &str = "request:\n  - name: r\n";

/// Policies.
const POLICIES: &[SizedRule] = &[
    ("rules", |n| {
        format!(
            "request:\n{}",
            many(n, "", |k| format!("  - {{name: r{k}, when: request.path == '/{k}', deny: 403}}\n"))
        )
    }),
    ("wrong rules", |n| {
        format!("request:\n{}", many(n, "", |k| format!("  - {{nam: r{k}, when: request.pth == {k}, deny: 4}}\n")))
    }),
    ("rules on one line", |n| {
        format!(
            "request: [{}]\n",
            many(n, ", ", |k| format!("{{name: r{k}, when: \"request.path == '/{k}' && x\", deny: 403}}"))
        )
    }),
    ("a folded condition", |n| {
        format!("{RULE}    when: >\n      true\n{}    deny: 403\n", "      || request.pth == 'a'\n".repeat(n))
    }),
    ("a condition of many lines", |n| {
        format!("{RULE}    when: |\n      true\n{}    deny: 403\n", "      || request.path == 'a'\n".repeat(n))
    }),
    ("a quoted condition", |n| {
        format!("{RULE}    when: \"true{}\"\n    deny: 403\n", " || request.pth == \\\"a\\\"".repeat(n))
    }),
    ("blanks", |n| format!("{RULE}    when: \"true || x{}|| x == \\\"a\\\"\"\n    deny: 403\n", " ".repeat(n))),
    ("a template", |n| format!("{RULE}    when: true\n    setHeaders: {{x: \"{}\"}}\n", "${request.pth}\\t".repeat(n))),
    ("headers", |n| format!("{RULE}    when: true\n    setHeaders: {{{}}}\n", many(n, ", ", |k| format!("x-{k}: a")))),
    ("comments", |n| format!("{}request: []\n", "# a\n".repeat(n))),
    ("depth", |n| format!("{}1{}", "[".repeat(n), "]".repeat(n))),
];

#[test]
fn files_of_rules_cost_what_their_size_says() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    let (engine, envs) = (Engine::builder().tier(Tier::Interpret).build(), envs());
    let format = |language: Language, text: &str| envs.format(&engine, language, text);
    for (name, make) in RULES {
        let work = |n: usize| {
            let (text, engine, envs, format) = (make(n), &engine, &envs, &format);
            move || {
                let Ok(file) = RulesFile::parse("f".to_owned(), text.clone(), Language::cel()) else { return };
                let checked = check_rules(engine, envs, &file, ErrorPolicy::NoMatch);
                black_box((file.render(&checked.found, Style::Plain), file.diagnostics_json(&checked.found)));
                black_box(rules::layout::format(format, &file));
            }
        };
        problems.extend(growth(&format!("a file of {name}"), 1 << 11, work));
    }
    for (name, make) in POLICIES {
        let work = |n: usize| {
            let text = make(n);
            move || drop(black_box(Policy::format("policy.yaml", &text).map_err(|error| error.to_string()).is_ok()))
        };
        problems.extend(growth(&format!("the layout of a policy with {name}"), 1 << 12, work));
    }
    report(&problems);
}

/// Returns what a client sends that opens a document, asks everything about it, and changes it once.
fn session(uri: &str, text: &str) -> Vec<u8> {
    let mut input = Vec::new();
    let mut send = |message: Json| {
        let text = message.to_string();
        input.extend_from_slice(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    };
    let document = json!({ "uri": uri });
    send(json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } }));
    let opened = json!({ "uri": uri, "languageId": "", "version": 1, "text": text });
    send(json!({ "method": "textDocument/didOpen", "params": { "textDocument": opened } }));
    let lines = text.lines().count();
    let [start, middle, end] =
        [0, lines / 2, lines.saturating_sub(1)].map(|line| json!({ "line": line, "character": 14 }));
    for position in [&middle, &end] {
        for method in ["hover", "completion", "signatureHelp", "definition"] {
            let params = json!({ "textDocument": document, "position": position });
            send(json!({ "id": 2, "method": format!("textDocument/{method}"), "params": params }));
        }
    }
    for method in ["documentSymbol", "formatting", "semanticTokens/full", "codeAction"] {
        let options = json!({ "tabSize": 2, "insertSpaces": true });
        let (range, context) = (json!({ "start": start, "end": end }), json!({ "diagnostics": [] }));
        let params = json!({ "textDocument": document, "options": options, "range": range, "context": context });
        send(json!({ "id": 3, "method": format!("textDocument/{method}"), "params": params }));
    }
    let change = json!({ "range": { "start": middle, "end": middle }, "text": " " });
    let params = json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [change] });
    send(json!({ "method": "textDocument/didChange", "params": params }));
    send(json!({ "id": 4, "method": "shutdown" }));
    send(json!({ "method": "exit" }));
    input
}

#[test]
fn documents_cost_the_language_server_what_their_size_says() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    let environment = Environment::new(envs(), ErrorPolicy::NoMatch);
    let rules = RULES.iter().map(|rule| ("file:///a.rules", rule));
    let policies = POLICIES.iter().map(|policy| ("file:///nowhere/a.yaml", policy));
    for (uri, (name, make)) in rules.chain(policies) {
        let work = |n: usize| {
            let (input, environment) = (session(uri, &make(n)), &environment);
            move || drop(black_box(celero_lsp::run(environment, Cursor::new(input.clone()), std::io::sink())))
        };
        problems.extend(growth(&format!("document {uri} of {name}"), 1 << 11, work));
    }
    report(&problems);
}

/// Changes of a document, each with the line and the character at which it inserts a text or removes characters.
type SizedChanges = (&'static str, fn(usize) -> Vec<Json>);

fn change(line: usize, character: usize, removed: usize, text: &str) -> Json {
    let [start, end] =
        [character, character + removed].map(|character| json!({ "line": line, "character": character }));
    json!({ "range": { "start": start, "end": end }, "text": text })
}

const CHANGES: &[SizedChanges] = &[
    ("at one place", |n| (0..n).map(|_| change(0, 0, 0, "x")).collect()),
    ("down the lines", |n| (0..n).map(|k| change(k, 1, 0, "x")).collect()),
    ("up the lines", |n| (0..n).rev().map(|k| change(k, 1, 0, "x")).collect()),
    ("along a line", |n| (0..n).map(|k| change(0, 2 * k, 1, "xy")).collect()),
    ("back along a line", |n| (0..n).rev().map(|k| change(0, 2 * k, 1, "xy")).collect()),
    ("that remove lines", |n| {
        (0..n).map(|_| json!({ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 0 } }, "text": "" })).collect()
    }),
    ("of the whole", |n| (0..n).map(|k| json!({ "text": format!("{k}") })).collect()),
];

/// A notification has any number of changes.
#[test]
fn changes_of_documents_cost_what_their_number_says() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    let environment = Environment::new(envs(), ErrorPolicy::NoMatch);
    for (name, changes) in CHANGES {
        let work = |n: usize| {
            let mut input = Vec::new();
            let mut send = |message: Json| {
                let text = message.to_string();
                input.extend_from_slice(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
            };
            // A text that nothing checks.
            let uri = "file:///nowhere/a.txt";
            let text = format!("{}\n{}", "é".repeat(2 * n), "some text\n".repeat(n));
            let opened = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
            send(json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } }));
            send(json!({ "method": "textDocument/didOpen", "params": { "textDocument": opened } }));
            let params = json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": changes(n) });
            send(json!({ "method": "textDocument/didChange", "params": params }));
            send(json!({ "id": 2, "method": "shutdown" }));
            send(json!({ "method": "exit" }));
            let environment = &environment;
            move || drop(black_box(celero_lsp::run(environment, Cursor::new(input.clone()), std::io::sink())))
        };
        problems.extend(growth(&format!("changes of a document {name}"), 1 << 13, work));
    }
    report(&problems);
}

/// Rules whose compilation is explained.
const EXPLAINED: &[SizedRule] = &[
    ("comparisons", |n| many(n, " || ", |k| format!("request.path == '/{k}'"))),
    ("equal comparisons", |n| many(n, " || ", |_| "request.path == '/'".to_owned())),
    ("sums", |n| format!("1{} > 0", " + source.port".repeat(n))),
    ("calls", |n| many(n, " && ", |k| format!("request.path.contains('{k}')"))),
    ("patterns", |n| many(n, " && ", |k| format!("request.path.matches('^/{k}[a-z]')"))),
    ("a list", |n| format!("request.path in [{}]", many(n, ", ", |k| format!("'/{k}'")))),
    ("conditionals", |n| format!("{}true", "source.port > 1 ? false : ".repeat(n))),
    ("what is wrong", |n| many(n, " || ", |k| format!("request.pth == {k}"))),
];

/// Rules that lints say something about.
const LINTED: &[SizedRule] = &[
    ("constants", |n| many(n, " || ", |k| format!("{k} == {k}"))),
    ("doubled operands", |n| many(n, " || ", |k| format!("request.path == '/{}'", k / 2))),
    ("different cases", |n| many(n, " || ", |k| format!("request.host == 'A{k}'"))),
    ("header names", |n| many(n, " || ", |k| format!("request.headers['X-{k}'] == 'a'"))),
    ("unguarded headers", |n| many(n, " || ", |k| format!("request.headers['x-{k}'] == 'a'"))),
    ("guards", |n| many(n, " || ", |k| format!("('x-{k}' in request.headers && request.headers['x-{k}'] == 'a')"))),
    ("guards of guards", |n| format!("{}true{}", "('x' in request.headers && ".repeat(n), ")".repeat(n))),
    ("patterns", |n| many(n, " || ", |k| format!("request.path.matches('/a{k}.b')"))),
    ("letter cases", |n| many(n, " || ", |k| format!("request.path.matches('(?i)a{k}')"))),
    ("addresses", |n| many(n, " || ", |k| format!("request.host == '10.0.0.{k}'"))),
    ("times", |n| many(n, " || ", |k| format!("request.path == '2024-01-01T00:00:{k}Z'"))),
    ("conditionals", |n| many(n, " || ", |k| format!("(source.port == {k} ? true : false)"))),
    ("negations", |n| format!("{}(source.port == 1){}", "!(".repeat(n), ")".repeat(n))),
];

/// The same in the filter language.
const LINTED_FILTERS: &[SizedRule] = &[
    ("constants", |n| many(n, " or ", |_| "http.host eq http.host".to_owned())),
    ("covered values", |n| format!("http.host in {{{}}}", many(n, " ", |k| format!("\"h{}\"", k / 2)))),
    ("covered networks", |n| format!("ip.src in {{{}}}", many(n, " ", |k| format!("10.0.0.0/{}", 8 + k % 25)))),
    ("covered numbers", |n| format!("tcp.dstport in {{{}}}", many(n, " ", |k| format!("{}..{}", k, 2 * k + 1)))),
    ("different cases", |n| many(n, " or ", |k| format!("http.host eq \"A{k}\""))),
    ("header names", |n| many(n, " or ", |k| format!("any(http.request.headers[\"X-{k}\"][*] eq \"a\")"))),
    ("patterns", |n| many(n, " or ", |k| format!("http.host matches \"a{k}.b\""))),
    ("values of one field", |n| many(n, " and ", |k| format!("http.host ne \"h{k}\""))),
];

#[test]
fn lints_cost_what_the_size_of_rules_says() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    let (engine, envs) = (Engine::builder().tier(Tier::Interpret).build(), envs());
    for (language, rules) in [(Language::cel(), LINTED), (Language::filter(), LINTED_FILTERS)] {
        for (name, make) in rules {
            let work = |n: usize| {
                let (source, engine, env) = (make(n), &engine, envs.of(language));
                move || match engine.check(env, &source) {
                    Ok(rule) => {
                        drop(black_box((rule.guard_warnings(env, true).len(), rule.guard_warnings(env, false))))
                    }
                    Err(error) => drop(black_box(error.to_string())),
                }
            };
            problems.extend(growth(&format!("lints of {name}, {language:?}"), 1 << 10, work));
        }
    }
    report(&problems);
}

#[test]
fn explanations_cost_what_the_size_of_rules_says() {
    let _guard = exclusive();
    let mut problems = Vec::new();
    let (engine, envs) = (Engine::new(), envs());
    for (name, make) in EXPLAINED {
        let work = |n: usize| {
            let (source, engine, env) = (make(n), &engine, envs.of(Language::cel()));
            move || drop(black_box(engine.explain(env, &source).map(|explained| explained.to_string()).is_ok()))
        };
        problems.extend(growth(&format!("explanation of {name}"), 1 << 11, work));
    }
    report(&problems);
}
