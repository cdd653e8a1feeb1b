//! `celero explain`: what becomes of an expression, stage by stage, and what it gives.

use crate::failure::Failure;
use crate::input::{Given, World, expression};
use crate::outcome::{Answer, Engines, TierChoice, answer};
use crate::output::Output;
use crate::{DISAGREE, REJECTED};
use celero::Engine;

use serde_json::json;

/// Show what becomes of an expression: tree, types, graph before and after the passes, Cranelift IR, machine code. With
/// --request or --bindings it is evaluated as well, in both tiers.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero explain 'size(\"abc\") > 2'
  celero explain 'user.age >= 18' --vars 'user.age: int'
  celero explain 'request.path.startsWith(\"/api/\")' --request request.http

With --json: {\"sections\": [{\"title\": \"tree\", \"text\": ..}, ..], \"result\": {\"value\": ..}}.")]
pub(crate) struct Args {
    /// The expression.
    #[arg(allow_hyphen_values = true)]
    expr: String,
    /// Answer as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: Given,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let source = expression(&args.expr)?;
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
