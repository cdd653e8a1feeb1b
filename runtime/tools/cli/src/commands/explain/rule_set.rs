//! `celero explain` of a file of rules: how the index finds the rules of a set, and what the set costs for requests.

use crate::evaluate::cost::Cost;
use crate::evaluate::rule_sets::{ErrorPolicyArg, builder, compiling, complain, rejected};
use crate::input::contexts::{Command, Contexts};
use crate::output::{Output, Paint};
use crate::rules::file::{Rule, RulesFile};
use celero::Engine;
use celero::diagnostics::similar;
use celero::sets::{IndexEntry, RuleExplanation, SetExplanation};
use serde_json::{Value as Json, json};

/// The largest number of rules that are shown without being asked for: those that are expected to
/// be evaluated most often.
const MAX_SHOWN: usize = 10;

/// Explains the rules of a file.
pub(crate) struct ExplainSet<'a> {
    pub(crate) file: &'a RulesFile,
    pub(crate) policy: ErrorPolicyArg,
    pub(crate) json: bool,
    /// Show all rules.
    pub(crate) all: bool,
    /// Show the rules of these names only.
    pub(crate) names: &'a [String],
}

impl Command for ExplainSet<'_> {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let Self { file, policy, json, .. } = self;
        let (engine, envs) = (Engine::new(), contexts.envs());
        let builder = builder(&engine, envs, file, policy);
        let progress = compiling(&engine, envs, file, policy);
        let explained = builder.explain();
        drop(progress);
        let explanation = match explained {
            Ok(explanation) => explanation,
            Err(error) => return Ok(rejected(file, &error, json, output)),
        };
        let shown = self.chosen(&explanation)?;
        let mut cost = None;
        if contexts.given() {
            let set = match builder.build() {
                Ok(set) => set,
                Err(error) => return Ok(rejected(file, &error, json, output)),
            };
            cost = Some(contexts.with(|contexts| Cost::measure(&engine, envs, (file, &set), contexts))??);
        }
        if json {
            output.line(&answer(file, &explanation, cost.as_ref()).to_string());
            return Ok(0);
        }
        let paint = output.paint();
        for line in explanation.summary().lines() {
            let (word, text) = line.split_once(' ').unwrap_or((line, ""));
            output.line(&format!("{} {text}", paint.strong(word)));
        }
        for number in &shown {
            let text = explanation.rule_text(*number).unwrap_or_default();
            let (head, body) = text.split_once('\n').unwrap_or((&text, ""));
            output.print(&format!("\n{}\n{}", paint.name(head), colored(body, paint)));
        }
        let more = explanation.rules().len().saturating_sub(shown.len());
        if more > 0 && self.names.is_empty() {
            output.line(&paint.faint(&format!("\nand {more} more rules: --rule NAME shows one, --all shows all")));
        }
        if let Some(cost) = &cost {
            output.print(&format!("\n{}\n{}", paint.title("== cost"), cost.text(paint)));
        }
        complain(file, explanation.warnings(), output);
        Ok(0)
    }
}

impl ExplainSet<'_> {
    /// Returns the numbers of the rules to show, in order.
    ///
    /// # Errors
    /// A name that no rule has.
    fn chosen(&self, explanation: &SetExplanation) -> Result<Vec<usize>, String> {
        let rules = explanation.rules();
        let mut numbers: Vec<usize> = (0..rules.len()).collect();
        for name in self.names {
            if !rules.iter().any(|rule| rule.name() == name) {
                let known = similar(name, rules.iter().map(RuleExplanation::name));
                let hint = known.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
                return Err(format!("{} has no rule `{name}`{hint}", self.file.path));
            }
        }
        if !self.names.is_empty() {
            numbers.retain(|number| rules.get(*number).is_some_and(|rule| self.names.iter().any(|n| n == rule.name())));
        } else if !self.all {
            let chance = |number: &usize| rules.get(*number).map_or(0.0, RuleExplanation::chance);
            numbers.sort_by(|a, b| chance(b).total_cmp(&chance(a)));
            numbers.truncate(MAX_SHOWN);
            numbers.sort_unstable();
        }
        Ok(numbers)
    }
}

/// Returns the lines about a rule with colours: words faint, keys as source.
fn colored(body: &str, paint: Paint) -> String {
    let line = |line: &str| {
        let text = line.trim_start();
        let indent = line.get(..line.len().saturating_sub(text.len())).unwrap_or_default();
        let word = ["found if ", "or if ", "left: ", "every time: ", "interpreted: "]
            .iter()
            .find_map(|w| text.strip_prefix(w).map(|rest| (w, rest)));
        match word {
            Some((word, rest)) => format!("{indent}{}{}\n", paint.faint(word), paint.source(rest)),
            None => format!("{}\n", paint.source(line)),
        }
    };
    body.lines().map(line).collect()
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
