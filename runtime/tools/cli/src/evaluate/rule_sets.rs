//! What the commands about sets of rules share: compiling the rules, and reporting why they don't compile.

use crate::REJECTED;
use crate::envs::Envs;
use crate::output::Output;
use crate::output::failure::style;
use crate::output::units::counted;
use crate::rules::file::RulesFile;
use celero::sets::RuleSetBuilder;
use celero::{Context, Diagnostic, Engine, ErrorPolicy, RuleSetError};
use celero_tooling::progress::Progress;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde_json::json;
use std::time::{Duration, Instant};

/// A value of `--on-error`: the name of an [`ErrorPolicy`] in kebab case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ErrorPolicyArg(pub(crate) ErrorPolicy);

impl ValueEnum for ErrorPolicyArg {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: [ErrorPolicyArg; 3] = {
            let [first, second, third] = ErrorPolicy::ALL;
            [ErrorPolicyArg(first), ErrorPolicyArg(second), ErrorPolicyArg(third)]
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            ErrorPolicy::NoMatch => "The rule does not match",
            ErrorPolicy::Match => "The rule matches",
            ErrorPolicy::Stop => "The evaluation ends with the error; no later rule is evaluated",
        };
        let mut name = String::new();
        for letter in self.0.name().chars() {
            if letter.is_ascii_uppercase() {
                name.push('-');
            }
            name.push(letter.to_ascii_lowercase());
        }
        Some(PossibleValue::new(name).help(help))
    }
}

/// Returns a builder with the rules of a file.
pub(crate) fn builder<'e, E: Context>(
    engine: &Engine,
    envs: &'e Envs<E>,
    file: &RulesFile,
    policy: ErrorPolicyArg,
) -> RuleSetBuilder<'e, E, ()> {
    celero_tooling::rules::sets::builder(engine, envs, file, policy.0)
}

/// The number of rules of which the time of all is estimated from the time of some.
const MANY_RULES: usize = 5000;
/// The number of rules from which the time is estimated.
const SAMPLE: usize = 250;

/// Shows that rules are compiled. The time of many rules is estimated from some of them.
pub(crate) fn compiling<C: Context>(
    engine: &Engine,
    envs: &Envs<C>,
    file: &RulesFile,
    on_error: ErrorPolicyArg,
) -> Progress {
    let rules = file.rules.len();
    let what = format!("compiling {}", counted(rules, "rule"));
    if rules < MANY_RULES {
        return Progress::new(&what);
    }
    let sample = file.sample(SAMPLE);
    let began = Instant::now();
    let _ = builder(engine, envs, &sample, on_error).build();
    let share = u32::try_from(rules.checked_div(sample.rules.len().max(1)).unwrap_or(1)).unwrap_or(u32::MAX);
    Progress::expecting(&what, began.elapsed().saturating_mul(share).max(Duration::from_millis(1)))
}

/// Prints why rules don't compile.
pub(crate) fn rejected(file: &RulesFile, error: &RuleSetError, json: bool, output: &mut Output) -> u8 {
    let found = failures(error);
    if json {
        output.line(&json!({ "ok": false, "diagnostics": file.diagnostics_json(&found) }).to_string());
    } else {
        complain(file, &found, output);
    }
    REJECTED
}

/// Prints diagnostics of rules as text, with the lines of the file.
pub(crate) fn complain(file: &RulesFile, found: &[(usize, Diagnostic)], output: &mut Output) {
    if !found.is_empty() {
        output.complain(&file.render(found, style(output.color())));
    }
}

/// Returns the diagnostics of the rules that don't compile, each with its rule.
fn failures(error: &RuleSetError) -> Vec<(usize, Diagnostic)> {
    error.diagnostics().map(|(rule, found)| (rule, found.clone())).collect()
}
