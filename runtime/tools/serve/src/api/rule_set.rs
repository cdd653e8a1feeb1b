//! The rule set that the command was given, or changed texts of it: how each rule is found, what is
//! wrong with it, and what it decides and costs for requests.

use super::input::{self, request_env};
use super::{Refusal, index, recorded, rule, shown};
use crate::files::{FileOfRules, Files, RuleTexts};
use crate::limits;
use celero::diagnostics::Severity;
use celero::http::RequestContext;
use celero::{Engine, ErrorPolicy, RuleSet, Scratch, Tier};
use celero_tooling::diagnostic_json::diagnostic_json;
use celero_tooling::language::{Language, REQUEST_ENVS};
use celero_tooling::measure::fastest_within;
use celero_tooling::rules::check::check_rules;
use celero_tooling::rules::file::{InvalidLine, Rule, RulesFile};
use celero_tooling::rules::sets::builder;
use celero_tooling::rules::source::Format;
use http::Request;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::net::SocketAddr;

/// A rule that fails does not match.
const ON_ERROR: ErrorPolicy = ErrorPolicy::NoMatch;

/// Changed texts of the files, in their order.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Changed {
    files: Vec<GivenFile>,
}

/// A text as if it were a file of this name. No file is read because of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GivenFile {
    name: String,
    text: String,
    /// The name of its language.
    #[serde(default)]
    language: Option<String>,
    /// Whether the text is one expression. Without it, name and text decide.
    #[serde(default)]
    expression: Option<bool>,
}

/// A request to try. Without `files` the rules are those of the files.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Question {
    files: Option<Vec<GivenFile>>,
    input: String,
    source: String,
    /// The rule whose reasons are wanted, besides those of the first that matches.
    rule: Option<usize>,
}

/// Recorded requests to try. Without `requests` they are those of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Recorded {
    files: Option<Vec<GivenFile>>,
    requests: Option<String>,
    source: String,
}

/// Answers with the rules. Their numbers are positions in the set.
///
/// # Errors
/// There are no rules, too many, or their files can't be read.
pub(super) fn answer(files: &Files, changed: Option<Vec<GivenFile>>) -> Result<Json, Refusal> {
    let texts = texts(files, changed)?;
    let shown: Vec<Json> = texts.iter().map(file).collect();
    let mut answer = match RuleTexts::new(&texts) {
        Ok(rules) => {
            admit(&rules.rules)?;
            explained(&rule::engine_of_set(Tier::Auto, rules.rules.rules.len()), &rules)
        }
        Err(wrong) => json!({ "ok": false, "texts": [], "diagnostics": [invalid_line(&texts, &wrong)] }),
    };
    if let Some(members) = answer.as_object_mut() {
        members.insert("files".to_owned(), json!(shown));
    }
    Ok(answer)
}

/// Answers the same about changed texts.
///
/// # Errors
/// As [`answer`]; also texts that are too long.
pub(super) fn check(files: &Files, changed: Changed) -> Result<Json, Refusal> {
    answer(files, Some(changed.files))
}

/// Answers which rules are evaluated for a request, which match or fail and why, and how long each takes.
///
/// # Errors
/// As [`answer`]; also rules that are not valid, and an input that is not a request.
pub(super) fn one(files: &Files, question: Question) -> Result<Json, Refusal> {
    let rules = read(files, question.files)?;
    let client = input::client(&question.source).map_err(Refusal::bad)?;
    let request = input::request(&question.input).map_err(Refusal::bad)?;
    let context = RequestContext::new(&request).with_body(request.body()).with_source(client);
    let engine = rule::engine_of_set(Tier::Auto, rules.rules.len());
    let set = built(&engine, &rules)?;
    let mut scratch = Scratch::new();
    let mut evaluated: Vec<usize> = set.candidates(&context, &mut scratch).to_vec();
    evaluated.extend(set.unindexed());
    evaluated.sort_unstable();
    evaluated.dedup();
    let matched = set.indices(&context, &mut scratch).map(<[usize]>::to_vec).unwrap_or_default();
    let message = |error| set.describe(error, &context).map(|report| report.message().to_owned());
    let failed = scratch.errors().iter().map(|error| json!({ "rule": error.rule, "message": message(error) }));
    let failed: Vec<Json> = failed.collect();
    let all = fastest_within(&[&context], limits::MEASURING, |context| set.indices(*context, &mut scratch).is_ok());
    let time = |number: &usize| {
        let rule = rules.rules.get(*number)?;
        let program = engine.compile(request_env(rule.language), &rule.source).ok()?;
        Some(fastest_within(&[&context], limits::RULE_MEASURING, |context| program.test(*context).is_ok()))
    };
    let timed = evaluated.iter().take(limits::TIMED_RULES).map(|number| json!({ "rule": number, "ns": time(number) }));
    let timed: Vec<Json> = timed.collect();
    let first = matched.first().copied();
    let mut asked: Vec<usize> = question.rule.into_iter().chain(first).collect();
    asked.dedup();
    let reasons = asked.into_iter().filter_map(|number| {
        let trace = set.trace(number, &context, &mut scratch)?.ok()?;
        let lines: Vec<String> = trace.render().lines().map(str::to_owned).collect();
        Some(json!({
            "rule": number, "decided": first == Some(number), "matched": matched.contains(&number), "lines": lines,
        }))
    });
    let reasons: Vec<Json> = reasons.collect();
    let curve = curve(&engine, &rules, &context);
    Ok(json!({
        "curve": curve,
        "first": first,
        "matched": matched,
        "failed": failed,
        "reasons": reasons,
        "evaluated": evaluated,
        "timed": timed,
        "ns": all,
    }))
}

/// Answers which rules match for recorded requests.
///
/// # Errors
/// As [`one`]; also requests that can't be read.
pub(super) fn recorded(files: &Files, question: Recorded) -> Result<Json, Refusal> {
    let rules = read(files, question.files)?;
    let set = built(&rule::engine_of_set(Tier::Interpret, rules.rules.len()), &rules)?;
    let mut scratch = Scratch::new();
    let name = |number: usize| rules.rules.get(number).map(|rule| &rule.name);
    recorded::tried(
        files,
        question.requests.as_deref(),
        &question.source,
        |request: Request<Vec<u8>>, client: SocketAddr| {
            let context = RequestContext::new(&request).with_body(request.body()).with_source(client);
            let matched = set.indices(&context, &mut scratch).map(<[usize]>::to_vec).unwrap_or_default();
            let names: Vec<_> = matched.iter().take(limits::NAMED_RULES).map(|number| name(*number)).collect();
            let failed: Vec<_> =
                scratch.errors().iter().take(limits::NAMED_RULES).map(|error| name(error.rule)).collect();
            let first = matched.first().and_then(|number| name(*number));
            json!({ "first": first, "matched": names, "count": matched.len(), "failed": failed })
        },
    )
}

/// Returns the time of an evaluation of the first rules of the set, for some numbers of them:
/// `[{"rules": 10, "ns": 80.5}, ..]`. The sets together have at most twice as many rules as the
/// whole one.
fn curve(engine: &Engine, rules: &RulesFile, context: &RequestContext<'_>) -> Vec<Json> {
    let halves = std::iter::successors(Some(rules.rules.len()), |count| Some(count / 2).filter(|count| *count > 0));
    let mut sizes: Vec<usize> = halves.take(limits::CURVE_POINTS).collect();
    sizes.reverse();
    let mut scratch = Scratch::new();
    let point = |count: usize| {
        let mut some = rules.clone();
        some.rules.truncate(count);
        let set = builder(engine, &REQUEST_ENVS, &some, ON_ERROR).build().ok()?;
        let ns =
            fastest_within(&[context], limits::RULE_MEASURING, |context| set.indices(*context, &mut scratch).is_ok());
        Some(json!({ "rules": count, "ns": ns }))
    };
    sizes.into_iter().filter_map(point).collect()
}

/// Builds the set.
///
/// # Errors
/// A rule is not valid.
fn built(engine: &Engine, rules: &RulesFile) -> Result<RuleSet<RequestContext<'static>, ()>, Refusal> {
    builder(engine, &REQUEST_ENVS, rules, ON_ERROR).build().map_err(|_| Refusal::bad("the rules have errors"))
}

/// Returns the texts of the files, or the changed ones in their place.
fn texts(files: &Files, changed: Option<Vec<GivenFile>>) -> Result<Vec<FileOfRules>, Refusal> {
    let Some(changed) = changed else {
        let Some(rules) = &files.rules else {
            return Err(Refusal::not_found("no rules were given: celero serve site.rules"));
        };
        return rules.texts().map_err(Refusal::not_found);
    };
    super::admit_text(changed.iter().map(|file| file.text.len()).fold(0, usize::saturating_add))?;
    let given = |GivenFile { name, text, language, expression }: GivenFile| {
        let language = language.as_deref().map(Language::named).transpose()?;
        let format = expression.map(|expression| if expression { Format::Cel } else { Format::Rules });
        FileOfRules::new(name, text, format, language)
    };
    changed.into_iter().map(given).collect::<Result<_, String>>().map_err(Refusal::bad)
}

/// Reads the rules, in the order of their set.
fn read(files: &Files, changed: Option<Vec<GivenFile>>) -> Result<RulesFile, Refusal> {
    let rules = RuleTexts::new(&texts(files, changed)?).map_err(|wrong| Refusal::bad(wrong.to_string()))?.rules;
    admit(&rules)?;
    Ok(rules)
}

/// Checks the number of rules.
fn admit(rules: &RulesFile) -> Result<(), Refusal> {
    let (most, count) = (limits::RULES, rules.rules.len());
    if count <= most {
        return Ok(());
    }
    Err(Refusal::bad(format!("the page shows at most {most} rules, not {count}: celero explain has no limit")))
}

fn explained(engine: &Engine, texts: &RuleTexts) -> Json {
    let rules = &texts.rules;
    let shown_texts: Vec<Json> = rules.rules.iter().zip(&texts.file_of).map(|(rule, file)| text(rule, *file)).collect();
    let checker = rule::engine_of_set(Tier::Interpret, rules.rules.len());
    let checked = check_rules(&checker, &REQUEST_ENVS, rules, ON_ERROR).found;
    let explanation = match builder(engine, &REQUEST_ENVS, rules, ON_ERROR).explain() {
        Ok(explanation) => explanation,
        Err(error) => {
            let errors = error.diagnostics().map(|(rule, found)| (rule, found.clone()));
            let warnings = checked.into_iter().filter(|(_, found)| found.severity == Severity::Warning);
            let found: Vec<_> = errors.chain(warnings).collect();
            let (diagnostics, more) = of_rules(texts, &found);
            return json!({ "ok": false, "texts": shown_texts, "diagnostics": diagnostics, "more_diagnostics": more });
        }
    };
    let (diagnostics, more) = of_rules(texts, &checked);
    json!({
        "ok": true,
        "texts": shown_texts,
        "summary": shown::stage(&explanation.summary()),
        "rules": explanation.rules().iter().map(index::of_rule).collect::<Vec<_>>(),
        "expected": explanation.expected(),
        "index_bytes": explanation.index_size(),
        "code_bytes": explanation.code_size(),
        "diagnostics": diagnostics,
        "more_diagnostics": more,
    })
}

fn file(file: &FileOfRules) -> Json {
    let expression = file.format != Format::Rules;
    json!({ "name": file.name, "text": file.text, "language": file.language.name(), "expression": expression })
}

fn text(rule: &Rule, file: usize) -> Json {
    let language = rule.language.name();
    json!({
        "name": rule.name,
        "text": rule.source,
        "language": language,
        "priority": rule.priority,
        "tags": rule.tags,
        "file": file,
        "span": [rule.head, rule.end],
    })
}

/// Returns diagnostics as JSON, with their files and their places there, and the number of those beyond the limit.
fn of_rules(texts: &RuleTexts, found: &[(usize, celero::Diagnostic)]) -> (Json, usize) {
    let shown = found.get(..limits::DIAGNOSTICS).unwrap_or(found);
    let one = |(rule, diagnostic): (usize, celero::Diagnostic)| {
        let mut json = diagnostic_json(&diagnostic);
        if let Some(members) = json.as_object_mut() {
            members.insert("rule".to_owned(), json!(rule));
            members.insert("file".to_owned(), json!(texts.file_of.get(rule)));
        }
        json
    };
    let placed = texts.rules.placed(shown).into_iter().map(one).collect();
    (placed, found.len().saturating_sub(shown.len()))
}

/// Returns the error about a line that is not a rule, at its place.
fn invalid_line(files: &[FileOfRules], wrong: &InvalidLine) -> Json {
    let file = files.iter().position(|file| file.name == wrong.path);
    let text = file.and_then(|file| files.get(file)).map_or("", |file| &file.text);
    let start: usize = text.split_inclusive('\n').take(wrong.line.saturating_sub(1)).map(str::len).sum();
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    json!({
        "severity": "error",
        "kind": "parse",
        "code": "rules-line",
        "message": wrong.message,
        "span": [start, start.saturating_add(line.len())],
        "labels": [],
        "help": [],
        "rule": null,
        "file": file,
    })
}
