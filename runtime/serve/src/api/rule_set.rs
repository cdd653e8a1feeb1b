//! The rule set that the command was given: how each rule is found, what is wrong with it, and what it costs for a request.

use super::input::{self, Language, request_env};
use super::rule::engine;
use super::{Refusal, shown};
use crate::files::{Files, RuleText};
use crate::limits;
use celero::http::RequestContext;
use celero::{Engine, ErrorPolicy, IndexEntry, Rule, RuleExplanation, RuleSetBuilder, Scratch, Tier};
use celero_tooling::diagnostic_json::diagnostic_json;
use celero_tooling::measure::fastest_within;
use serde::Deserialize;
use serde_json::{Value as Json, json};

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
    Ok(explained(&engine(Tier::Auto), &read(files)?))
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
    let engine = engine(Tier::Auto);
    let set = builder(&engine, &rules).build().map_err(|_| Refusal::bad("the rules have errors"))?;
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
        let rule = rules.get(*number)?;
        let program = engine.compile(request_env(language(rule)), &rule.source).ok()?;
        Some(fastest_within(&[&context], limits::RULE_MEASURING, |context| program.test(*context).is_ok()))
    };
    let timed = evaluated.iter().take(limits::TIMED_RULES).map(|number| json!({ "rule": number, "ns": time(number) }));
    let timed: Vec<Json> = timed.collect();
    Ok(json!({ "matched": matched, "failed": failed, "evaluated": evaluated, "timed": timed, "ns": all }))
}

/// Reads the rules, in the order of their set.
fn read(files: &Files) -> Result<Vec<RuleText>, Refusal> {
    let Some((paths, read)) = &files.rules else {
        return Err(Refusal::not_found("no rules were given: celero serve site.rules"));
    };
    let mut rules = read(paths).map_err(Refusal::not_found)?;
    if rules.len() > limits::RULES {
        let (most, count) = (limits::RULES, rules.len());
        return Err(Refusal::bad(format!(
            "the page shows at most {most} rules, not {count}: celero explain has no limit"
        )));
    }
    rules.sort_by_key(|rule| rule.priority);
    Ok(rules)
}

fn language(rule: &RuleText) -> Language {
    if rule.is_filter { Language::Filter } else { Language::Cel }
}

fn builder(engine: &Engine, rules: &[RuleText]) -> RuleSetBuilder<'static, RequestContext<'static>, ()> {
    let builder = engine.rules(request_env(Language::Cel)).on_error(ErrorPolicy::NoMatch);
    rules.iter().fold(builder, |builder, rule| {
        let added = Rule::new(&rule.name, &rule.source, ()).priority(rule.priority);
        let added = rule.tags.iter().fold(added, |added, tag| added.tag(tag));
        match language(rule) {
            Language::Cel => builder.with_rule(added),
            Language::Filter => builder.with_rule_in(request_env(Language::Filter), added),
        }
    })
}

fn explained(engine: &Engine, rules: &[RuleText]) -> Json {
    let texts: Vec<Json> = rules.iter().map(text).collect();
    let builder = builder(engine, rules);
    let explanation = match builder.explain() {
        Ok(explanation) => explanation,
        Err(error) => {
            let diagnostics: Vec<Json> = error.diagnostics().map(|(rule, found)| of_rule(rule, found)).collect();
            return json!({ "ok": false, "texts": texts, "diagnostics": diagnostics });
        }
    };
    let entry = |entry: &IndexEntry| {
        let (keys, chance) = (entry.keys(), entry.chance());
        json!({ "keys": keys, "chance": chance, "residual": entry.residual(), "template": entry.template() })
    };
    let rule = |rule: &RuleExplanation| {
        json!({
            "name": rule.name(),
            "chance": rule.chance(),
            "entries": rule.entries().iter().map(entry).collect::<Vec<_>>(),
            "unindexed": rule.unindexed().map(|why| why.to_string()),
            "interpreted": rule.interpreted(),
        })
    };
    json!({
        "ok": true,
        "texts": texts,
        "summary": shown::stage(&explanation.summary()),
        "rules": explanation.rules().iter().map(rule).collect::<Vec<_>>(),
        "expected": explanation.expected(),
        "index_bytes": explanation.index_size(),
        "code_bytes": explanation.code_size(),
        "diagnostics": explanation.warnings().iter().map(|(rule, found)| of_rule(*rule, found)).collect::<Vec<_>>(),
    })
}

fn text(rule: &RuleText) -> Json {
    let language = if rule.is_filter { "filter" } else { "cel" };
    json!({ "name": rule.name, "text": rule.source, "language": language, "priority": rule.priority, "tags": rule.tags })
}

fn of_rule(rule: usize, diagnostic: &celero::Diagnostic) -> Json {
    let mut json = diagnostic_json(diagnostic);
    if let Some(members) = json.as_object_mut() {
        members.insert("rule".to_owned(), json!(rule));
    }
    json
}
