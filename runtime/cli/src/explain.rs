//! `celero explain`: what becomes of an expression, stage by stage, and what it gives.

use crate::failure::Failure;
use crate::input::{Given, World, expression, read_raw};
use crate::outcome::{Answer, Engines, TierChoice, answer};
use crate::output::Output;
use crate::policy::{self, is_policy};
use crate::rules_file::RulesFile;
use crate::sets::ErrorPolicyArg;
use crate::{DISAGREE, REJECTED, explain_set};
use celero::{Engine, ErrorPolicy};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Show what becomes of an expression: tree, types, graph before and after the passes, Cranelift IR, machine code. With
/// --request or --bindings it is evaluated as well, in both tiers.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero explain 'size(\"abc\") > 2'
  celero explain 'user.age >= 18' --vars 'user.age: int'
  celero explain 'request.path.startsWith(\"/api/\")' --request request.http
  celero explain --rules site.rules
  celero explain --rules site.rules --requests traffic.jsonl
  celero explain policy.yaml

Of a file of rules it shows how each is found: by which keys of the set's index and what is left to be evaluated then, or why it is
evaluated every time. With --requests it shows what the set costs for these, hottest rules first.
With --json: {\"sections\": [{\"title\": \"tree\", \"text\": ..}, ..], \"result\": {\"value\": ..}}; of rules
{\"rules\": [{\"name\": .., \"ways\": [{\"keys\": [..], \"chance\": 0.1, \"rest\": [..], \"shape\": 0}], ..}], ..,
\"diagnostics\": [..], \"cost\": {..}}.")]
pub(crate) struct Args {
    /// The expression, or the file of a policy (`.yaml`).
    #[arg(required_unless_present = "rules", allow_hyphen_values = true)]
    expr: Option<String>,
    /// A file of rules, as `celero check --help` describes it, in place of an expression.
    #[arg(long, value_name = "FILE", conflicts_with = "expr")]
    rules: Option<PathBuf>,
    /// What a rule of a set that fails counts as.
    #[arg(long, value_enum, default_value_t = ErrorPolicyArg(ErrorPolicy::NoMatch), requires = "rules")]
    on_error: ErrorPolicyArg,
    /// Answer as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: Given,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    if let Some(path) = &args.rules {
        let file = RulesFile::parse(path.display().to_string(), read_raw(path)?)?;
        return explain_set::run(&file, &args.given, args.on_error, args.json, output);
    }
    if let Some(path) = args.expr.as_deref().map(Path::new).filter(|path| is_policy(path) && path.is_file()) {
        return Ok(policy::explain(path, args.json, output));
    }
    let Some(expr) = &args.expr else { return Err("an expression or --rules is needed".into()) };
    let source = expression(expr)?;
    let engine = Engine::new();
    let world = args.given.world()?;
    let explained = match &world {
        World::Named(named) => engine.explain(&named.env()?, &source),
        World::Request(request) => engine.explain(&request.env()?, &source),
    };
    let evaluated = args.given.request.is_some() || args.given.bindings.is_some();
    match explained {
        Ok(explanation) => {
            let result = evaluated.then(|| answer(&Engines::new(TierChoice::Both), &world, &source));
            if args.json {
                let sections = explanation.sections().map(|(title, text)| json!({ "title": title, "text": text }));
                let result = result.as_ref().map(Answer::json);
                output.line(&json!({ "sections": sections.collect::<Vec<_>>(), "result": result }).to_string());
            } else {
                output.print(&explanation.to_string());
                if let Some(result) = &result {
                    output.line("== result");
                    show(result, &source, output);
                }
            }
            Ok(match result {
                Some(Answer::Disagreed { .. }) => DISAGREE,
                Some(Answer::Agreed(Err(_))) => REJECTED,
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

fn show(result: &Answer, source: &str, output: &mut Output) {
    match result {
        Answer::Agreed(Ok(shown)) => output.line(&shown.text),
        Answer::Agreed(Err(failure)) => output.complain(&failure.render(source, output.color())),
        Answer::Disagreed { .. } => output.line(&result.json().to_string()),
    }
}
