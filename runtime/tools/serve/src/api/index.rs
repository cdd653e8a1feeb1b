//! What the index of a set does with a rule.

use celero::sets::{IndexEntry, Indexing, RuleExplanation};
use celero::{Context, Engine, Env, Rule};
use serde_json::{Value as Json, json};

/// Returns how a set finds a rule: the keys of each entry, what is evaluated behind them, and how
/// often that is expected.
pub(super) fn of_rule(rule: &RuleExplanation) -> Json {
    let entry = |entry: &IndexEntry| {
        let (keys, chance) = (entry.keys(), entry.chance());
        json!({ "keys": keys, "chance": chance, "residual": entry.residual(), "template": entry.template() })
    };
    json!({
        "name": rule.name(),
        "chance": rule.chance(),
        "entries": rule.entries().iter().map(entry).collect::<Vec<_>>(),
        "unindexed": rule.unindexed().map(|why| why.to_string()),
        "interpreted": rule.interpreted(),
    })
}

/// Returns how a large set would find a rule, where a lookup pays; null for an expression that is no condition.
pub(super) fn of_text<C: Context<Static = C>>(engine: &Engine, env: &Env<C>, rule: &str) -> Json {
    let explanation =
        engine.rules(env).index(Indexing::Always).with_rules([Rule::new("rule", rule, ())]).explain().ok();
    json!(explanation.and_then(|explanation| explanation.rules().first().map(of_rule)))
}
