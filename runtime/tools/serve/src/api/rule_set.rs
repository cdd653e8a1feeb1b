//! The rule set that the command was given: how each rule is found, what is wrong with it, and what
//! it costs for a request.

use super::input::{self, request_env};
use super::{Refusal, index, rule, shown};
use crate::files::Files;
use crate::limits;
use celero::diagnostics::Severity;
use celero::http::RequestContext;
use celero::{Engine, ErrorPolicy, Scratch, Tier};
use celero_tooling::diagnostic_json::diagnostic_json;
use celero_tooling::language::REQUEST_ENVS;
use celero_tooling::measure::fastest_within;
use celero_tooling::rules::check::check_rules;
use celero_tooling::rules::file::{Rule, RulesFile};
use celero_tooling::rules::sets::builder;
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// A rule that fails does not match.
const ON_ERROR: ErrorPolicy = ErrorPolicy::NoMatch;

/// The body of a request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Question {
    input: String,
    source: String,
}

/// Answers with the rules. Their numbers are positions in the set.
///
/// # Errors
/// There are no rules, too many, or their files can't be read.
pub(super) fn answer(files: &Files) -> Result<Json, Refusal> {
    Ok(explained(&rule::engine(Tier::Auto), &read(files)?))
}

/// Answers which rules are evaluated for a request, which match or fail, and how long each takes.
///
/// # Errors
/// As [`answer`]; also rules that are not valid, and an input that is not a request.
pub(super) fn one(files: &Files, question: &Question) -> Result<Json, Refusal> {
    let rules = read(files)?;
    let client = input::client(&question.source).map_err(Refusal::bad)?;
    let request = input::request(&question.input).map_err(Refusal::bad)?;
    let context = RequestContext::new(&request).with_body(request.body()).with_source(client);
    let engine = rule::engine(Tier::Auto);
    let set =
        builder(&engine, &REQUEST_ENVS, &rules, ON_ERROR).build().map_err(|_| Refusal::bad("the rules have errors"))?;
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
    let curve = curve(&engine, &rules, &context);
    Ok(
        json!({ "curve": curve, "matched": matched, "failed": failed, "evaluated": evaluated, "timed": timed, "ns": all }),
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

/// Reads the rules, in the order of their set.
fn read(files: &Files) -> Result<RulesFile, Refusal> {
    let Some(rules) = &files.rules else {
        return Err(Refusal::not_found("no rules were given: celero serve site.rules"));
    };
    let rules = rules.read().map_err(Refusal::not_found)?;
    if rules.rules.len() > limits::RULES {
        let (most, count) = (limits::RULES, rules.rules.len());
        return Err(Refusal::bad(format!(
            "the page shows at most {most} rules, not {count}: celero explain has no limit"
        )));
    }
    Ok(rules)
}

fn explained(engine: &Engine, rules: &RulesFile) -> Json {
    let texts: Vec<Json> = rules.rules.iter().map(text).collect();
    let checked = check_rules(&rule::engine(Tier::Interpret), &REQUEST_ENVS, rules, ON_ERROR).found;
    let explanation = match builder(engine, &REQUEST_ENVS, rules, ON_ERROR).explain() {
        Ok(explanation) => explanation,
        Err(error) => {
            let errors = error.diagnostics().map(|(rule, found)| of_rule(rule, found));
            let warnings = checked.iter().filter(|(_, found)| found.severity == Severity::Warning);
            let warnings = warnings.map(|(rule, found)| of_rule(*rule, found));
            return json!({ "ok": false, "texts": texts, "diagnostics": errors.chain(warnings).collect::<Vec<_>>() });
        }
    };
    json!({
        "ok": true,
        "texts": texts,
        "summary": shown::stage(&explanation.summary()),
        "rules": explanation.rules().iter().map(index::of_rule).collect::<Vec<_>>(),
        "expected": explanation.expected(),
        "index_bytes": explanation.index_size(),
        "code_bytes": explanation.code_size(),
        "diagnostics": checked.iter().map(|(rule, found)| of_rule(*rule, found)).collect::<Vec<_>>(),
    })
}

fn text(rule: &Rule) -> Json {
    let language = rule.language.name();
    json!({ "name": rule.name, "text": rule.source, "language": language, "priority": rule.priority, "tags": rule.tags })
}

fn of_rule(rule: usize, diagnostic: &celero::Diagnostic) -> Json {
    let mut json = diagnostic_json(diagnostic);
    if let Some(members) = json.as_object_mut() {
        members.insert("rule".to_owned(), json!(rule));
    }
    json
}
