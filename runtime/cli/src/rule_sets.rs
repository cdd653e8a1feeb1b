//! What the commands about sets of rules share: reading and compiling the rules, and reading their input.

use crate::REJECTED;
use crate::input::{INPUT_MEMORY, InputArgs, SetInput};
use crate::output::Output;
use crate::request_file::RecordedRequests;
use crate::rules_file::RulesFile;
use celero::http::RequestContext;
use celero::{Arena, Context, Diagnostic, Engine, Env, ErrorPolicy, Rule, RuleSetBuilder, RuleSetError};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde_json::json;

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

/// A command about a set of rules, for any type of context.
pub(crate) trait SetCommand {
    /// Runs the command and returns the exit code.
    ///
    /// # Errors
    /// Returns a message about an error of the command line.
    fn run<E: Context, C: Context<Static = E::Static>>(
        self,
        env: &Env<E>,
        contexts: &[C],
        output: &mut Output,
    ) -> Result<u8, String>;
}

/// Reads the input of rules, and runs a command.
///
/// # Errors
/// Files that can't be read, and those of the command.
pub(crate) fn with_contexts(given: &InputArgs, output: &mut Output, command: impl SetCommand) -> Result<u8, String> {
    match given.set_input()? {
        SetInput::Named(named) => {
            let env = named.env()?;
            let arena = Arena::new(INPUT_MEMORY);
            let bindings = if given.bindings.is_some() { vec![named.bindings(&env, &arena)?] } else { Vec::new() };
            command.run(&env, &bindings, output)
        }
        SetInput::Requests { recorded: RecordedRequests { requests, left_out }, peer, env } => {
            if let Some(first) = left_out.first() {
                let count = left_out.len();
                output.complain(&format!(
                    "warning: requests that are not valid HTTP are left out: {count}, such as {first}"
                ));
            }
            let context = |message| RequestContext::new(message).with_source(peer);
            let contexts: Vec<_> = requests.iter().map(|m| context(m).with_body(m.body())).collect();
            command.run(&*env, &contexts, output)
        }
    }
}

/// Returns a builder with the rules of a file.
pub(crate) fn builder<'e, E: Context>(
    engine: &Engine,
    env: &'e Env<E>,
    file: &RulesFile,
    policy: ErrorPolicyArg,
) -> RuleSetBuilder<'e, E, ()> {
    let rules = engine.rules(env).on_error(policy.0);
    file.rules.iter().fold(rules, |rules, rule| {
        let added = Rule::new(&rule.name, &rule.source, ()).priority(rule.priority);
        rules.with_rule(rule.tags.iter().fold(added, |added, tag| added.tag(tag)))
    })
}

/// Prints why rules don't compile.
pub(crate) fn rejected(file: &RulesFile, error: &RuleSetError, json: bool, output: &mut Output) -> u8 {
    let found = failures(error);
    if json {
        output.line(&json!({ "ok": false, "diagnostics": file.diagnostics_json(&found) }).to_string());
    } else {
        file.complain(&found, output);
    }
    REJECTED
}

/// Returns the diagnostics of the rules that don't compile, each with its rule.
fn failures(error: &RuleSetError) -> Vec<(usize, Diagnostic)> {
    error.diagnostics().map(|(rule, found)| (rule, found.clone())).collect()
}
