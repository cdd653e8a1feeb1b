//! What tools do with files: the language server, files of rules, policies laid out, explanations of how rules are compiled.

use crate::SizedRule;
use crate::measure::growth;
use crate::rules::many;
use crate::{exclusive, report};
use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Engine, Env, ErrorPolicy, Style, Tier};
use celero_lsp::Environment;
use celero_policy::Policy;
use celero_tooling::check::check_rules;
use celero_tooling::envs::Envs;
use celero_tooling::language::Language;
use celero_tooling::rules_file::RulesFile;
use celero_tooling::rules_layout;
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
                black_box(rules_layout::format(format, &file));
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

/// Returns what a client sends that opens a document, asks everything about it, and changes it once. Of several changes each finds the lines of the
/// document again.
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
