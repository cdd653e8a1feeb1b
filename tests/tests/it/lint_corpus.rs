//! No rule that others wrote, and that means what it says, is warned of as constant (needs the shared data).
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "tests")]

use celero::diagnostics::Span;
use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Engine, Env, Tier};
use celero_policy::Policy;
use celero_tests::shared::{find, say};
use serde_json::Value as Json;
use std::path::Path;

/// The warnings that a rule does not mean what it says.
const CONSTANT: &[&str] = &[
    "filter-hyphen",
    "never-that-value",
    "never-that-case",
    "constant-condition",
    "network-as-text",
    "network-host-bits",
    "wildcard-as-text",
    "alternatives-as-text",
];

/// Returns the number of the rules of a file that an environment accepts, and the warnings about them.
fn warnings(file: &str, env: &Env<RequestContext<'static>>) -> Option<(usize, Vec<String>)> {
    let text = std::fs::read_to_string(find(file, "warnings about real rules")?).unwrap();
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let (mut accepted, mut found) = (0_usize, Vec::new());
    for line in text.lines() {
        let json: Json = serde_json::from_str(line).unwrap();
        let source = json["expr"].as_str().unwrap();
        let Ok(rule) = engine.check(env, source) else { continue };
        accepted += 1;
        let wrong = rule.warnings().iter().filter(|warning| CONSTANT.contains(&warning.code));
        let part = |span: Span| source.get(span.start as usize..span.end as usize).unwrap_or_default();
        found.extend(wrong.map(|warning| format!("{}: {}", part(warning.span), warning.message)));
    }
    Some((accepted, found))
}

#[test]
fn real_rules_are_not_constant() {
    let env = Env::<RequestContext<'_>>::new();
    let filter = env.clone().filter_language(FilterLanguage::http());
    for (file, env, least) in
        [("corpora/cel_expressions.jsonl", &env, 20), ("corpora/filter_expressions.jsonl", &filter, 100)]
    {
        let Some((accepted, found)) = warnings(file, env) else { continue };
        say(&format!("{file}: {accepted} rules checked, {} warnings", found.len()));
        for warning in &found {
            say(&format!("  {warning}"));
        }
        assert!(accepted >= least, "{accepted}");
        // Some are of Envoy, whose `source.address` has the port. Some compare a path with a text that has a
        // query, a fragment or a raw `"`, which no canonical path has.
        let is_right = |found: &String| {
            ["`?`", "`#`", "character in another encoding than the canonical one"]
                .iter()
                .any(|what| found.ends_with(&format!("`http.request.uri.path` has no {what}")))
                || found.starts_with("source.address ") && found.contains(":80'")
        };
        let others: Vec<_> = found.iter().filter(|found| !is_right(found)).collect();
        assert!(others.is_empty(), "{others:#?}");
    }
}

/// As rules of a policy, whose requests are canonical, they are warned of no more than that paths have neither `//` nor
/// encoded slashes, and then for texts that have one.
#[test]
fn real_rules_are_not_constant_in_policies() {
    for (file, language) in [("corpora/cel_expressions.jsonl", "cel"), ("corpora/filter_expressions.jsonl", "filter")] {
        let Some(path) = find(file, "warnings about real rules in policies") else { continue };
        let text = std::fs::read_to_string(path).unwrap();
        let (mut accepted, mut others) = (0_usize, Vec::new());
        for line in text.lines() {
            let json: Json = serde_json::from_str(line).unwrap();
            let source = json["expr"].as_str().unwrap();
            let quoted = serde_json::to_string(source).unwrap();
            let policy = format!("request: [{{name: a, language: {language}, when: {quoted}, deny: 403}}]\n");
            let Ok(policy) = Policy::check("policy.yaml", &policy, Path::new(".")) else { continue };
            accepted += 1;
            let found = policy.warnings().filter(|(_, found)| CONSTANT.contains(&found.code));
            let is_right = |message: &str| {
                let has = |what: &str| message.ends_with(&format!("has no {what}"));
                has("`//`") && source.contains("//")
                    || has("`%2F`") && ["%2f", "%5c"].iter().any(|part| source.to_ascii_lowercase().contains(part))
                    || ["`?`", "`#`", "character in another encoding than the canonical one"].into_iter().any(has)
                    || source.contains(":80'")
            };
            others.extend(found.filter(|(_, found)| !is_right(&found.message)).map(|(_, found)| found.message));
        }
        say(&format!("{file}: {accepted} policies checked"));
        assert!(accepted >= 20, "{accepted}");
        assert!(others.is_empty(), "{others:#?}");
    }
}
