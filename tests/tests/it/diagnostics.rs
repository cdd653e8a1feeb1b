//! `docs/diagnostics.md`: every code with an example, written from the tables of codes. `BLESS=1`
//! writes the file anew; else it must be up to date.
#![expect(clippy::panic, clippy::unwrap_used, reason = "tests")]

use celero::diagnostics::{Severity, Stage, diagnostic_codes, render};
use celero::filter::{FILTER_CODES, FilterLanguage, FilterOptions, FilterType, Scheme, check_filter, http_scheme};
use celero::http::RequestContext;
use celero::lists::{Kind, Lists};
use celero::settings::{Library, SourceLimits, TextPiece, Validator};
use celero::{CompileError, Context, Engine, Env, Limits, Tier, Type};
use celero_book::contents::{with_contents, wrapped};
use celero_frontend::CodeInfo;
use std::fmt::Write;
use std::path::Path;

const EXAMPLES: &[(&str, &str)] = &[
    ("source-too-long", "request.path.startsWith(\"/a\") || request.path.startsWith(\"/b\")"),
    ("too-deep", "((((request.path))))"),
    ("too-many-nodes", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]"),
    ("empty-expression", "// nothing yet"),
    ("unexpected-token", "request.path == * 2"),
    ("unexpected-end", "request.path =="),
    ("unclosed-bracket", "request.method in [\"GET\", \"HEAD\""),
    ("unmatched-bracket", "request.path == \"/\")"),
    ("mismatched-bracket", "request.method in [\"GET\", \"HEAD\")"),
    ("invalid-character", "request.path == \u{201c}/admin\u{201d}"),
    ("misspelt-operator", "request.method = \"GET\" and request.path == \"/\""),
    ("block-comment", "request.path == /* the root */ \"/\""),
    ("unterminated-string", "request.path == \"/admin"),
    ("invalid-escape", "request.path.matches(\"\\d+\")"),
    ("invalid-number", "size(request.path) > 10ms"),
    ("number-out-of-range", "size(request.path) < 10000000000000000000"),
    ("invalid-quoted-name", "request.headers.`x:team` == \"ops\""),
    ("reserved-word", "if == 1"),
    ("mixed-signs", "!-size(request.path) == 1"),
    ("nested-conditional", "true ? false ? 1 : 2 : 3"),
    ("trailing-comma", "size(request.path,) > 1"),
    ("macro-argument", "has(request.headers[\"a\"])"),
    ("macro-variable", "[1, 2].all(x.y, x.y > 0)"),
    ("duplicate-variable", "[1, 2].all(x, x, x > 0)"),
    ("undeclared-name", "request.pth == \"/\""),
    ("undeclared-function", "startWith(request.path, \"/\")"),
    ("undeclared-type", "Rule{name: \"a\"}"),
    ("library-off", "request.path.charAt(0) == \"/\""),
    ("call-form", "startsWith(request.path, \"/\")"),
    ("no-matching-overload", "request.path > 3"),
    ("no-fields", "request.path.length == 3"),
    ("field-value", "google.protobuf.Duration{seconds: \"1\"} < duration(\"1m\")"),
    ("not-bool", "request.path && true"),
    ("branch-types", "request.path == \"/\" ? 1 : \"none\""),
    ("not-iterable", "request.path.exists(c, c == \"a\")"),
    ("not-optional", "[?request.path]"),
    ("not-map", "{\"a\": 1}.transformMapEntry(k, v, v)"),
    ("result-type", "size(path)"),
    ("declaration", "f(path: strng) -> bool"),
    (
        "type-too-complex",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    ),
    ("unknown-list", "source.address in lists.offices"),
    ("list-use", "size(lists.office) > 100"),
    ("unused-binding", "cel.bind(p, request.path, request.method == \"GET\")"),
    ("environment", "request.path == \"/\""),
    ("too-many-cases", "request.path.matches(r\"(?i)^/\\pL+/\\pN+/\\pL\")"),
    ("too-costly", "request.headers.exists(name, request.path.contains(name))"),
    ("native-code", "request.path == \"/a/path/that/needs/room\""),
    ("no-text", "request.headers"),
    ("literal-never-valid", "request.path.matches(\"^/user/([0-9]+$\")"),
    ("never-equal", "type(request.path) == int"),
    ("constant-condition", "request.path == \"/\" || true"),
    ("invalid-header-name", "request.headers[\"X Team\"] == \"ops\""),
    ("header-name-case", "request.headers[\"X-Team\"] == \"ops\""),
    ("guard-passed-by-absence", "request.headers[\"x-team\"] != \"ops\""),
    ("guard-passed-by-repeating", "request.headers[\"x-role\"] == \"guest\""),
    ("no-equal", "http.host eq \"\\xff\""),
    ("false-for-failure", "request.headers[\"user-agent\"] == \"curl/8\""),
    ("other-meaning", "http.request.uri.path matches \"^/.{3}$\""),
    ("filter-field-missing", "cf.threat_score gt 50"),
    ("never-that-case", "lower(http.host) eq \"Example.com\""),
    ("doubled-backslash", "http.request.uri.path matches \"(?i)\\\\.php$\""),
    ("never-that-value", "request.path == \"admin\" || request.method == \"get\""),
    ("mixed-literal", "request.path in [\"/\", 1]"),
    ("nested-too-deep", "[\"a\", \"b\"].exists(a, request.headers.exists(name, name == a))"),
    ("unknown-field", "upstreams.filter(u, u.heathy).size() > 0"),
    ("network-as-text", "request.headers[\"x-real-ip\"] in [\"10.0.0.0/8\"]"),
    ("network-host-bits", "cidr(\"10.0.0.1/8\").containsIP(source.address)"),
    ("wildcard-as-text", "request.path in [\"/\", \"/api/*\"]"),
    ("alternatives-as-text", "request.method == \"GET,HEAD\""),
    ("covered-item", "ip.src in {10.0.0.0/8 10.1.0.0/16}"),
    ("never-matches", "\"/a\".startsWith(\"/b\") && request.method == \"GET\""),
    ("duplicate-rule", "request.path == '/admin'"),
    ("shadowed-rule", "request.path == \"/admin\" && request.method == \"POST\""),
    ("comment-inside", "request.path == // the root\n  \"/\""),
];

/// Examples of the codes of the filter language, over the documented fields of HTTP and a list `office` of addresses.
const FILTER_EXAMPLES: &[(&str, &str)] = &[
    ("filter-address", "ip.src eq 10.0.0.0/8"),
    ("filter-bytes", "http.host eq 41"),
    ("filter-escape", "http.host eq \"a\\n\""),
    ("filter-expected", "(ssl or http.host eq \"a\""),
    ("filter-identifier", "ssl and"),
    ("filter-index", "http.request.headers[r\"accept\"][0] eq \"a\""),
    ("filter-list-name", "ip.src in $Office"),
    ("filter-number", "tcp.dstport eq 09"),
    ("filter-operator", "http.host = \"a\""),
    ("filter-pattern", "http.request.uri.path matches r\"^/(a\""),
    ("filter-range", "tcp.dstport in {443..80}"),
    ("filter-trailing", "ssl == true"),
    ("filter-unterminated", "http.host eq \"a"),
    ("filter-wildcard", "http.host wildcard \"**.example\""),
    ("filter-argument-count", "lower() eq \"a\""),
    ("filter-argument-kind", "lower(\"A\") eq \"a\""),
    ("filter-argument-type", "lower(ip.src) eq \"a\""),
    ("filter-argument-value", "cidr(ip.src, 33, 64) eq 10.0.0.0"),
    ("filter-index-access", "http.host[0] eq \"a\""),
    ("filter-map-each", "starts_with(http.host, http.request.headers[\"accept\"][*])"),
    ("filter-once", "regex_replace(http.host, \"a\", \"\") eq \"\" or regex_replace(http.host, \"b\", \"\") eq \"\""),
    ("filter-operation", "tcp.dstport contains \"8\""),
    ("filter-type", "http.request.headers[\"accept\"][*] eq \"a\""),
    ("filter-unknown-identifier", "http.hst eq \"a\""),
    ("filter-unknown-list", "ip.src in $offices"),
    ("filter-duplicate", "tcp.dstport in {80 443 80}"),
    ("filter-empty-set", "tcp.dstport in {}"),
    ("filter-glued", "notssl"),
    ("filter-hyphen", "tcp.dstport in {8000-8999}"),
    ("filter-ip-order", "ip.src lt 10.0.0.0"),
    ("filter-lenient-address", "ip.src in {10/8}"),
    ("filter-octal", "tcp.dstport eq 0120"),
    ("filter-source-too-long", "http.host eq \"www.example.com\" and http.request.uri.path eq \"/\""),
    ("filter-too-deep", "(not not (ssl))"),
    ("filter-too-many-nodes", "tcp.dstport in {1 2 3 4 5 6 7 8 9 10 11}"),
];

/// What is reported of an example in the filter language, in strict mode, with bounds as small as it needs.
fn reported_of_filter(code: &str, source: &str) -> Vec<celero::Diagnostic> {
    let mut scheme = Scheme::new();
    for field in http_scheme().fields().iter().filter(|field| field.constant.is_none()) {
        scheme.add_field(&field.name, field.ty.clone()).unwrap();
    }
    scheme.add_list("office", FilterType::Ip).unwrap();
    let mut options = FilterOptions { strict: true, bound_calls: true, ..FilterOptions::default() };
    match code {
        "filter-source-too-long" => options.limits.max_source_bytes = 50,
        "filter-too-deep" => options.max_nesting = 3,
        "filter-too-many-nodes" => options.limits.max_nodes = 10,
        _ => {}
    }
    check_filter(source, &scheme.into(), &options).map_or_else(|errors| errors, |(_, warnings)| warnings)
}

/// A host with a list of structs.
#[derive(Context)]
struct Pool {
    upstreams: Vec<Upstream>,
}

#[derive(Context)]
struct Upstream {
    name: String,
    healthy: bool,
}

/// What is reported of an example, with bounds as small as it needs.
fn reported(code: &str, source: &str) -> Vec<celero::Diagnostic> {
    let mut limits = Limits::default();
    match code {
        "source-too-long" => limits.source = SourceLimits { max_source_bytes: 50, ..limits.source },
        "too-deep" => limits.source = SourceLimits { max_depth: 3, ..limits.source },
        "too-many-nodes" => limits.source = SourceLimits { max_nodes: 10, ..limits.source },
        "too-many-cases" => limits.case_steps = 2_000,
        "too-costly" => limits.operations = Some(200),
        "native-code" => limits.constants = 8,
        _ => {}
    }
    let tier = if code == "native-code" { Tier::Native } else { Tier::Interpret };
    let engine = Engine::builder().limits(limits).tier(tier).build();
    let errors = |error: CompileError| error.diagnostics().to_vec();
    match code {
        "never-matches" | "duplicate-rule" | "shadowed-rule" => {
            let env = Env::<RequestContext<'_>>::new();
            let rules = engine.rules(&env).rule("admin", "request.path == \"/admin\"", ()).rule("example", source, ());
            rules.build().map_or_else(
                |_| Vec::new(),
                |set| {
                    set.warnings().iter().filter(|(rule, _)| *rule == 1).map(|(_, warning)| warning.clone()).collect()
                },
            )
        }
        "guard-passed-by-absence" | "guard-passed-by-repeating" => {
            let env = Env::<RequestContext<'_>>::new();
            let rule = engine.check(&env, source).unwrap_or_else(|error| panic!("{error}"));
            rule.guard_warnings(&env, code == "guard-passed-by-absence")
        }
        "no-equal" => {
            let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
            engine.to_cel(&env, source).map_or_else(errors, |_| Vec::new())
        }
        "false-for-failure" => {
            let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
            engine.to_filter(&env, source).map_or_else(errors, |translated| translated.warnings().to_vec())
        }
        "other-meaning" => {
            let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
            engine.to_cel_near(&env, source).map_or_else(errors, |translated| translated.warnings().to_vec())
        }
        "filter-field-missing" | "never-that-case" | "covered-item" | "doubled-backslash" => {
            let env = Env::<RequestContext<'_>>::new().filter_language(FilterLanguage::http());
            engine.compile(&env, source).map_or_else(errors, |program| program.warnings().to_vec())
        }
        "unknown-field" => {
            engine.check(&Env::<Pool>::new(), source).map_or_else(errors, |rule| rule.warnings().to_vec())
        }
        "mixed-literal" | "nested-too-deep" => {
            let env = Env::<RequestContext<'_>>::new().validator(Validator::HomogeneousLiterals);
            engine.check(&env.validator(Validator::ComprehensionNesting(1)), source).map_or_else(errors, |_| Vec::new())
        }
        "comment-inside" => engine.format(source).map_or_else(errors, |_| Vec::new()),
        "no-text" => {
            let env = Env::<RequestContext<'_>>::new();
            let rule = engine.check(&env, source).unwrap_or_else(|error| panic!("{error}"));
            engine.text(&env, &[TextPiece::Result(&rule)]).map_or_else(errors, |_| Vec::new())
        }
        "result-type" => defined("short(path: string) -> bool", source),
        "declaration" => defined(source, "path == '/'"),
        "unknown-list" | "list-use" => {
            let lists = Lists::new(celero::lists::Limits::default());
            lists.declare("office", Kind::Addresses).unwrap();
            let env = Env::<RequestContext<'_>>::new().lists(&lists);
            engine.compile(&env, source).map_or_else(errors, |program| program.warnings().to_vec())
        }
        "environment" => {
            let env = Env::dynamic().variable("request.in", Type::String);
            engine.compile(&env, source).map_or_else(errors, |program| program.warnings().to_vec())
        }
        _ => {
            let env = Env::<RequestContext<'_>>::new().library(Library::Strings, code != "library-off");
            let env = env.messages(&celero::messages::Descriptors::well_known());
            engine.compile(&env, source).map_or_else(errors, |program| program.warnings().to_vec())
        }
    }
}

/// What is wrong with a function defined in CEL.
fn defined(declaration: &str, body: &str) -> Vec<celero::Diagnostic> {
    let env = Env::dynamic().define(declaration, body);
    env.problems().iter().flat_map(|problem| problem.diagnostics().to_vec()).collect()
}

const HEAD: &str = "\
# Diagnostics

What celero says about rules, by code. Codes are stable: programs may rely on them
(`Diagnostic::code`, `celero check --json`). An error keeps a rule from being compiled, a warning
doesn't; `celero check --deny-warnings` refuses both.

This page is written by a test from the tables in the source, and the examples are what is really
printed. Those about limits are shown with limits much smaller than the defaults; those about sets
of rules come after a rule `admin: request.path == \"/admin\"`.
";

const FILTER_HEAD: &str = "
## The filter language

Codes of [the filter language](filter-language.md). Most warnings are those of strict mode.
";

/// Writes the section of a code: its summary and what is reported of its example.
fn describe(
    text: &mut String,
    info: &CodeInfo,
    examples: &[(&str, &str)],
    reported: fn(&str, &str) -> Vec<celero::Diagnostic>,
) {
    let Some((_, source)) = examples.iter().find(|(code, _)| *code == info.code) else {
        panic!("`{}` has no example", info.code);
    };
    let mut found = reported(info.code, source);
    found.retain(|d| d.code == info.code);
    let [first, ..] = &*found else { panic!("the example of `{}` does not report it", info.code) };
    let is_warning = first.severity == Severity::Warning;
    assert_eq!(is_warning, info.summary.contains("(a warning"), "{}", info.code);
    assert!(is_warning || first.stage == info.stage, "{}", info.code);
    let shown = render(source, "rule", std::slice::from_ref(first), celero::diagnostics::Style::Plain);
    let mut summary = info.summary.to_owned();
    summary.get_mut(..1).unwrap().make_ascii_uppercase();
    let summary = wrapped(format!("{summary}.").split(' '), "");
    write!(text, "\n### {}\n\n{summary}\n```text\n{shown}```\n", info.code).unwrap();
}

#[test]
fn the_catalogue_is_complete_and_up_to_date() {
    let mut text = HEAD.to_owned();
    for (stage, title) in
        [(Stage::Parse, "Syntax"), (Stage::Check, "Names, types and meaning"), (Stage::Limit, "Limits")]
    {
        writeln!(text, "\n## {title}").unwrap();
        for info in diagnostic_codes().filter(|info| info.stage == stage) {
            describe(&mut text, info, EXAMPLES, reported);
        }
    }
    text.push_str(FILTER_HEAD);
    for info in FILTER_CODES {
        describe(&mut text, info, FILTER_EXAMPLES, reported_of_filter);
    }
    for (code, _) in EXAMPLES {
        assert!(diagnostic_codes().any(|info| info.code == *code), "there is no `{code}`");
    }
    let text = with_contents(&text);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/diagnostics.md");
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, &text).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(recorded == text, "docs/diagnostics.md is out of date: run this test with BLESS=1");
}
