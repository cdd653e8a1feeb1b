//! The rule set that the command was given: how each rule is found, what is wrong with it, and what it costs.

use super::input::{Language, request_env};
use super::rule::engine;
use super::{Refusal, shown};
use crate::files::{Files, RuleText};
use crate::limits;
use celero::http::RequestContext;
use celero::{Engine, ErrorPolicy, IndexEntry, Rule, RuleExplanation, Tier};
use celero_tooling::diagnostic_json::diagnostic_json;
use serde_json::{Value as Json, json};

/// Answers with the rules. Their numbers are positions in the set.
///
/// # Errors
/// There are no rules, too many, or their files can't be read.
pub(super) fn answer(files: &Files) -> Result<Json, Refusal> {
    let Some((paths, read)) = &files.rules else {
        return Err(Refusal::not_found("no rules were given: celero serve site.rules"));
    };
    let rules = read(paths).map_err(Refusal::not_found)?;
    if rules.len() > limits::RULES {
        let message =
            format!("the page shows at most {} rules, not {}: celero explain has no limit", limits::RULES, rules.len());
        return Err(Refusal::bad(message));
    }
    Ok(explained(&engine(Tier::Auto), &rules))
}

fn explained(engine: &Engine, rules: &[RuleText]) -> Json {
    let texts: Vec<Json> = rules.iter().map(text).collect();
    let env = request_env(Language::Cel);
    let builder = engine.rules::<RequestContext<'static>, ()>(env).on_error(ErrorPolicy::NoMatch);
    let builder = rules.iter().fold(builder, |builder, rule| {
        let added = Rule::new(&rule.name, &rule.source, ()).priority(rule.priority);
        let added = rule.tags.iter().fold(added, |added, tag| added.tag(tag));
        match rule.is_filter {
            false => builder.with_rule(added),
            true => builder.with_rule_in(request_env(Language::Filter), added),
        }
    });
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
