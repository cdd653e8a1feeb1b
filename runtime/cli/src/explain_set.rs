//! `celero explain --rules`: shows how the index finds each rule of a set, and what the set costs for requests.

use crate::cost::Cost;
use crate::input::InputArgs;
use crate::output::Output;
use crate::rule_sets::{ErrorPolicyArg, SetCommand, builder, rejected, with_contexts};
use crate::rules_file::{Rule, RulesFile};
use celero::{Context, Engine, Env, IndexEntry, RuleExplanation, SetExplanation};
use serde_json::{Value as Json, json};

/// Explains the rules of a file.
pub(crate) fn run(
    file: &RulesFile,
    given: &InputArgs,
    policy: ErrorPolicyArg,
    json: bool,
    output: &mut Output,
) -> Result<u8, String> {
    with_contexts(given, output, Explain { file, policy, json })
}

struct Explain<'a> {
    file: &'a RulesFile,
    policy: ErrorPolicyArg,
    json: bool,
}

impl SetCommand for Explain<'_> {
    fn run<E: Context, C: Context<Static = E::Static>>(
        self,
        env: &Env<E>,
        contexts: &[C],
        output: &mut Output,
    ) -> Result<u8, String> {
        let Self { file, policy, json } = self;
        let engine = Engine::new();
        let builder = builder(&engine, env, file, policy);
        let explanation = match builder.explain() {
            Ok(explanation) => explanation,
            Err(error) => return Ok(rejected(file, &error, json, output)),
        };
        let mut cost = None;
        if !contexts.is_empty() {
            let set = match builder.build() {
                Ok(set) => set,
                Err(error) => return Ok(rejected(file, &error, json, output)),
            };
            cost = Some(Cost::measure(&engine, env, &set, contexts)?);
        }
        if json {
            output.line(&answer(file, &explanation, cost.as_ref()).to_string());
            return Ok(0);
        }
        output.print(&explanation.to_string());
        if let Some(cost) = &cost {
            output.print(&format!("\n== cost\n{cost}"));
        }
        file.complain(explanation.warnings(), output);
        Ok(0)
    }
}

fn answer(file: &RulesFile, explanation: &SetExplanation, cost: Option<&Cost>) -> Json {
    let entry = |entry: &IndexEntry| {
        let (keys, chance) = (entry.keys(), entry.chance());
        json!({ "keys": keys, "chance": chance, "rest": entry.residual(), "shape": entry.template() })
    };
    let rule = |(rule, of_file): (&RuleExplanation, &Rule)| {
        json!({
            "name": rule.name(),
            "priority": of_file.priority,
            "tags": of_file.tags,
            "chance": rule.chance(),
            "ways": rule.entries().iter().map(entry).collect::<Vec<_>>(),
            "every_time": rule.unindexed().map(|why| why.to_string()),
            "interpreted": rule.interpreted(),
        })
    };
    json!({
        "ok": true,
        "rules": explanation.rules().iter().zip(&file.rules).map(rule).collect::<Vec<_>>(),
        "expected": explanation.expected(),
        "slots": explanation.attributes(),
        "lookups": explanation.lookups(),
        "first_lookups": explanation.first_lookups(),
        "shapes": explanation.templates(),
        "index_bytes": explanation.index_size(),
        "code_bytes": explanation.code_size(),
        "diagnostics": file.diagnostics_json(explanation.warnings()),
        "cost": cost.map(Cost::json),
    })
}
