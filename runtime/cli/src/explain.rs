//! `celero explain`: shows the stages of compilation of an expression, and its value.

use crate::evaluate::{Engines, Evaluated, TierChoice, answer};
use crate::failure::Failure;
use crate::input::{Input, InputArgs, expression, read_raw};
use crate::output::Output;
use crate::policy::{self, is_policy};
use crate::rule_sets::ErrorPolicyArg;
use crate::rules_file::RulesFile;
use crate::{DISAGREE, REJECTED, explain_set};
use celero::{Engine, ErrorPolicy};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Show how an expression is compiled: tree, types, graph before and after the passes, Cranelift IR, machine code. With
/// --request or --bindings it is also evaluated, in both tiers.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero explain 'size(\"abc\") > 2'
  celero explain 'user.age >= 18' --vars 'user.age: int'
  celero explain 'request.path.startsWith(\"/api/\")' --request request.http
  celero explain --rules site.rules
  celero explain --rules site.rules --requests traffic.jsonl
  celero explain policy.yaml

For a file of rules it shows how each rule is found: the keys of the index, and the condition that remains to be evaluated; or why
the rule is not indexed. With --requests it shows what the set costs for these requests, most expensive rules first.
With --json: {\"sections\": [{\"title\": \"tree\", \"text\": ..}, ..], \"result\": {\"value\": ..}}; for rules
{\"rules\": [{\"name\": .., \"ways\": [{\"keys\": [..], \"chance\": 0.1, \"rest\": [..], \"shape\": 0}], ..}], ..,
\"diagnostics\": [..], \"cost\": {..}}.")]
pub(crate) struct Args {
    /// The expression, or a policy (`.yaml`).
    #[arg(required_unless_present = "rules", allow_hyphen_values = true)]
    expr: Option<String>,
    /// A file of rules, instead of an expression; `celero check --help` describes the format.
    #[arg(long, value_name = "FILE", conflicts_with = "expr")]
    rules: Option<PathBuf>,
    /// What a rule with a failed evaluation counts as.
    #[arg(long, value_enum, default_value_t = ErrorPolicyArg(ErrorPolicy::NoMatch), requires = "rules")]
    on_error: ErrorPolicyArg,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: InputArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    if let Some(path) = &args.rules {
        let file = RulesFile::parse(path.display().to_string(), read_raw(path)?)?;
        return explain_set::run(&file, &args.given, args.on_error, args.json, output);
    }
    if let Some(path) = args.expr.as_deref().map(Path::new).filter(|path| is_policy(path) && path.is_file()) {
        return Ok(policy::explain(path, args.json, output));
    }
    let Some(expr) = &args.expr else { return Err("an expression or --rules is required".into()) };
    let source = expression(expr)?;
    let engine = Engine::new();
    let input = args.given.input()?;
    let explained = match &input {
        Input::Named(named) => engine.explain(&named.env()?, &source),
        Input::Request(request) => engine.explain(&request.env()?, &source),
    };
    let evaluated = args.given.request.is_some() || args.given.bindings.is_some();
    match explained {
        Ok(explanation) => {
            let result = evaluated.then(|| answer(&Engines::new(TierChoice::Both), &input, &source));
            if args.json {
                let sections = explanation.sections().map(|(title, text)| json!({ "title": title, "text": text }));
                let result = result.as_ref().map(Evaluated::json);
                output.line(&json!({ "sections": sections.collect::<Vec<_>>(), "result": result }).to_string());
            } else {
                output.print(&explanation.to_string());
                if let Some(result) = &result {
                    output.line("== result");
                    show(result, &source, output);
                }
            }
            Ok(match result {
                Some(Evaluated::Disagreed { .. }) => DISAGREE,
                Some(Evaluated::Agreed(Err(_))) => REJECTED,
                _ => 0,
            })
        }
        Err(error) => {
            let failure = Failure::from(&error);
            if args.json {
                output.line(&failure.json().to_string());
            } else {
                output.complain(&failure.render(&source, output.color()));
            }
            Ok(REJECTED)
        }
    }
}

fn show(result: &Evaluated, source: &str, output: &mut Output) {
    match result {
        Evaluated::Agreed(Ok(shown)) => output.line(&shown.text),
        Evaluated::Agreed(Err(failure)) => output.complain(&failure.render(source, output.color())),
        Evaluated::Disagreed { .. } => output.line(&result.json().to_string()),
    }
}
