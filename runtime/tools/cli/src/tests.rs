//! A language of one page that a program adds goes the whole way: commands, files, policies, sets
//! in both tiers, the language server.

use crate::commands::{check, explain, fmt};
use crate::envs::Envs;
use crate::language::{Language, meant, of_first_line};
use crate::output::{Color, Output};
use crate::rules::file::RulesFile;
use crate::{Cli, Command, REJECTED};
use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::language::AnyLanguage;
use celero::sets::Indexing;
use celero::{Engine, Env, ErrorPolicy, Scratch, Tier};
use celero_policy::{Exchange, Outcome, Policy};
use celero_tooling::rules::sets::builder;
use celero_tooling::rules::source::{Format, RuleText};
use clap::Parser;
use http::Request;
use plain::Plain;
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::LazyLock;

#[expect(clippy::arithmetic_side_effects, clippy::string_slice, reason = "tests")]
#[path = "../../../../frontend/tests/it/plain.rs"]
mod plain;

static PLAIN: LazyLock<Language> = LazyLock::new(|| Language::register(AnyLanguage::new(Plain)).unwrap());

const ADMIN: &str = r#"request.path is "/admin" and request.method has "POS""#;

fn envs() -> Envs<RequestContext<'static>> {
    LazyLock::force(&PLAIN);
    Envs::new(Env::new(), FilterLanguage::http())
}

fn request(method: &str, path: &str) -> Request<()> {
    Request::builder().method(method).uri(path).header("host", "localhost").body(()).unwrap()
}

#[test]
fn a_name_is_one_language() {
    let plain = *PLAIN;
    assert_eq!((plain.name(), plain.title(), Language::named("plain")), ("plain", "plain", Ok(plain)));
    assert_eq!(Language::register(AnyLanguage::new(Plain)), Err("there is a language `plain` already".to_owned()));
    assert_eq!(Language::named("lua").unwrap_err(), "there is no language `lua`: expected `cel`, `filter` or `plain`");
    assert_eq!(of_first_line("# language: plain\n"), Ok(Some(plain)));
    assert_eq!(meant(ADMIN), Some(plain));
}

/// Runs a command and returns its exit code.
fn code(arguments: &[&str]) -> u8 {
    LazyLock::force(&PLAIN);
    let mut output = Output::new(Color::Never);
    match Cli::try_parse_from([&["celero"], arguments].concat()).unwrap().command {
        Command::Check(args) => check::run(&args, &mut output),
        Command::Explain(args) => explain::run(&args, &mut output),
        Command::Fmt(args) => fmt::run(&args, &mut output),
        _ => panic!("this test runs other commands"),
    }
    .unwrap()
}

#[test]
fn commands_take_it_by_its_name() {
    assert_eq!(code(&["check", "--language", "plain", "-e", ADMIN]), 0);
    assert_eq!(code(&["check", "--language", "cel", "-e", ADMIN]), REJECTED);
    assert_eq!(code(&["check", "--language", "plain", "-e", r#"request.pth is "/""#]), REJECTED);
    assert_eq!(code(&["explain", "--language", "plain", "-e", ADMIN]), 0);
    assert_eq!(code(&["fmt", "--language", "plain", "-e", ADMIN]), 0);
    assert!(Cli::try_parse_from(["celero", "check", "--language", "lua", "-e", "1"]).is_err());
}

#[test]
fn a_file_is_in_it_by_its_name_or_its_first_line() {
    let plain = *PLAIN;
    for (path, text, format) in [
        ("admin.plain", ADMIN.to_owned(), Format::Cel),
        ("-", format!("# language: plain\n{ADMIN}"), Format::Cel),
        ("admin.rules", format!("# language: plain\nadmin: {ADMIN}"), Format::Rules),
    ] {
        let read = RuleText::of(Path::new(path), text, None, None).unwrap();
        assert_eq!((read.language, read.format), (plain, format), "{path}");
        assert!(format == Format::Rules || read.text.trim() == ADMIN, "{path}");
    }
}

#[test]
fn a_set_mixes_it_with_other_languages_in_both_tiers() {
    let envs = envs();
    let text = format!(
        "admin [language plain]: {ADMIN}\nhosts [language filter]: http.host eq \"other\"\nroot: request.path == \"/\"\n"
    );
    let file = RulesFile::parse("mixed.rules".to_owned(), text, Language::cel()).map_err(String::from).unwrap();
    assert_eq!(file.rules.iter().map(|rule| rule.language.name()).collect::<Vec<_>>(), ["plain", "filter", "cel"]);
    for (tier, indexing) in
        [(Tier::Interpret, Indexing::Off), (Tier::Native, Indexing::Off), (Tier::Native, Indexing::Always)]
    {
        let engine = Engine::builder().tier(tier).build();
        let set = builder(&engine, &envs, &file, ErrorPolicy::NoMatch).index(indexing).build().unwrap();
        let mut scratch = Scratch::new();
        for (method, path, expected) in [("POST", "/admin", &[0][..]), ("GET", "/admin", &[]), ("GET", "/", &[2])] {
            let request = request(method, path);
            let found = set.indices(&RequestContext::new(&request), &mut scratch).unwrap();
            assert_eq!(found, expected, "{tier:?} {indexing:?} {method} {path}");
        }
        let request = request("POST", "/admin");
        assert_eq!(set.test(0, &RequestContext::new(&request), &mut scratch), Some(Ok(true)), "{tier:?}");
    }
    let rule = Engine::builder().tier(Tier::Native).build().compile(envs.of(*PLAIN), ADMIN).unwrap();
    assert!(rule.is_native() && rule.to_source() == ADMIN);
}

const POLICY: &str = r#"
defaults: {language: plain}
request:
  - name: admin
    when: request.path is "/admin" and request.method is "POST"
    deny: 404
  - name: tag
    setHeaders: {x-get: "get: ${request.method is \"GET\"}"}
  - language: cel
    when: request.path.startsWith("/b")
    deny: 403
"#;

#[test]
fn policies_have_rules_in_it() {
    LazyLock::force(&PLAIN);
    let policy = Policy::parse("policy.yaml", POLICY, Path::new(".")).unwrap_or_else(|error| panic!("{error}"));
    for (method, path, status) in [("POST", "/admin", 404), ("GET", "/admin", 0), ("GET", "/bin", 403)] {
        let (mut head, ()) = request(method, path).into_parts();
        let mut exchange = Exchange::new(None, None);
        let found = match policy.request(&mut head, &mut exchange).outcome {
            Outcome::Respond(answer) => answer.status.as_u16(),
            Outcome::Continue => {
                exchange.edits().apply_to_request(&mut head);
                assert_eq!(head.headers["x-get"], "get: true");
                0
            }
        };
        assert_eq!(found, status, "{method} {path}");
    }
    let wrong = POLICY.replace("request.path is", "request.pth is");
    let error = Policy::parse("policy.yaml", &wrong, Path::new(".")).unwrap_err().to_string();
    assert!(error.contains("policy.yaml:5:11") && error.contains("there is no text `request.pth`"), "{error}");
    let error =
        Policy::parse("policy.yaml", &POLICY.replace(": plain", ": lua"), Path::new(".")).unwrap_err().to_string();
    assert!(error.contains("`plain`"), "{error}");
    let spaced = POLICY.replace(" and ", "   and  ");
    assert_eq!(Policy::format("policy.yaml", &spaced).unwrap(), POLICY);
    let translated = Policy::translate("policy.yaml", POLICY, Path::new("."), Language::filter()).unwrap();
    assert_eq!(translated.kept(), ["admin", "tag"]);
    assert!(translated.render(false).contains("rules in `plain` are not translated"));
    let plain = Language::named("plain").unwrap();
    let error = Policy::translate("policy.yaml", POLICY, Path::new("."), plain).unwrap_err().to_string();
    assert!(error.contains("not to `plain`"), "{error}");
}

/// A client of a language server in this process.
struct Client {
    input: UnixStream,
    output: BufReader<UnixStream>,
}

impl Client {
    fn send(&mut self, message: &Json) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }

    /// Reads messages up to one that has this member. Returns that member.
    fn read(&mut self, pointer: &str) -> Json {
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            let length: usize = line.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
            self.output.read_line(&mut line).unwrap();
            let mut text = vec![0; length];
            self.output.read_exact(&mut text).unwrap();
            let message: Json = serde_json::from_slice(&text).unwrap();
            if let Some(found) = message.pointer(pointer) {
                return found.clone();
            }
        }
    }

    fn ask(&mut self, method: &str, params: &Json) -> Json {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        self.read("/result")
    }

    /// Opens a text at a name and returns its diagnostics.
    fn open(&mut self, name: &str, text: &str) -> Json {
        let document = json!({ "uri": format!("file:///{name}"), "languageId": "plain", "version": 1, "text": text });
        let params = json!({ "textDocument": document });
        self.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params }));
        self.read("/params/diagnostics")
    }

    fn at(&mut self, method: &str, name: &str, line: usize, character: usize) -> Json {
        let position = json!({ "line": line, "character": character });
        let document = json!({ "uri": format!("file:///{name}") });
        self.ask(&format!("textDocument/{method}"), &json!({ "textDocument": document, "position": position }))
    }
}

#[test]
fn the_language_server_knows_it() {
    let envs = envs();
    let (near, far) = UnixStream::pair().unwrap();
    let (input, output) = (BufReader::new(far.try_clone().unwrap()), far);
    std::thread::scope(|threads| {
        let server = threads.spawn(move || {
            celero_lsp::run(&celero_lsp::Environment::new(envs, ErrorPolicy::NoMatch), input, output).unwrap()
        });
        let mut client = Client { output: BufReader::new(near.try_clone().unwrap()), input: near };
        client.ask("initialize", &json!({ "capabilities": {} }));
        client.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
        assert_eq!(client.open("a.plain", ADMIN), json!([]));
        let hover = client.at("hover", "a.plain", 0, 10).to_string();
        assert!(hover.contains("request.path: string"), "{hover}");
        let found = client.open("b.plain", r#"request.pth is "/""#).to_string();
        assert!(found.contains("there is no text `request.pth`"), "{found}");
        client.open("c.plain", "request.pa");
        let labels = client.at("completion", "c.plain", 0, 10).to_string();
        assert!(labels.contains("\"path\"") && !labels.contains("startsWith"), "{labels}");
        assert_eq!(client.open("policy.yaml", POLICY.trim_start()), json!([]));
        let hover = client.at("hover", "policy.yaml", 3, 22).to_string();
        assert!(hover.contains("request.path: string"), "{hover}");
        client.ask("shutdown", &Json::Null);
        client.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        assert_eq!(server.join().unwrap(), 0);
    });
}
