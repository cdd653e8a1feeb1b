//! `celero eval`: evaluates an expression.

use crate::evaluate::{Engines, Evaluated, TierChoice, TierResult, answer};
use crate::failure::Failure;
use crate::input::{Input, InputArgs, expression};
use crate::output::Output;
use crate::{DISAGREE, REJECTED, jsonl};

/// Evaluate an expression.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero eval '[1, 2, 3].map(x, x * 2)'
  celero eval 'user.name == \"ada\"' --bindings bindings.json
  celero eval 'request.headers[\"x-team\"]' --request request.http --source 192.0.2.7:4711
  celero eval '9007199254740993 == 9007199254740992.0' --tier both
  celero eval 'twice(21)' --define 'twice(n: int) -> int = n * 2'
  echo '1 + 1' | celero eval -

For programs, --json prints {\"value\": ..} or {\"error\": {\"kind\": .., \"message\": .., \"span\": [from, to]}}.
--jsonl reads one JSON object per line and prints one result per line, in order:
  {\"expr\": \"x + 1\", \"vars\": {\"x\": \"int\"}, \"bindings\": {\"x\": 41}}
  optional members: \"vars\", \"bindings\", \"container\": NAME, \"check\": false,
    \"define\": [\"f(x: int) -> int = x + 1\"]
Values carry their types: {\"int\": \"1\"} {\"uint\": \"1\"} {\"double\": 1.5} {\"string\": \"..\"} {\"bytes\": \"<base64>\"}
  {\"bool\": true} {\"null\": null} {\"list\": [..]} {\"map\": [[key, value], ..]} {\"timestamp\": \"2009-02-13T23:31:30Z\"}
  {\"duration\": \"1.5s\"} {\"type\": \"int\"} {\"optional\": value or null} {\"ip\": \"::1\"} {\"cidr\": \"10.0.0.0/8\"}
Input may also be plain JSON: whole numbers are int, other numbers double, objects maps.
--tier both evaluates in both tiers; if the results differ, it prints {\"disagree\": {\"native\": .., \"interpret\": ..}} and exits 3.")]
pub(crate) struct Args {
    /// The expression.
    #[arg(required_unless_present = "jsonl", allow_hyphen_values = true)]
    expr: Option<String>,
    /// Read expressions from standard input, one JSON object per line, and print one result per line.
    #[arg(long, conflicts_with_all = ["expr", "bindings", "vars", "request", "container", "define", "no_check"])]
    jsonl: bool,
    /// The tier that evaluates.
    #[arg(long, value_enum, default_value_t = TierChoice::Auto)]
    tier: TierChoice,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: InputArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let engines = Engines::new(args.tier);
    if args.jsonl {
        return jsonl::run(&engines, output);
    }
    let Some(expr) = &args.expr else { return Err("an expression is required".into()) };
    let source = expression(expr)?;
    let input = args.given.input()?;
    // An invalid declaration is an error of the command line, not of the expression.
    match &input {
        Input::Named(named) => drop(named.env()?),
        Input::Request(request) => drop(request.env()?),
    }
    let answer = answer(&engines, &input, &source);
    if args.json || matches!(answer, Evaluated::Disagreed { .. }) {
        output.line(&answer.json().to_string());
    } else if let Evaluated::Agreed(outcome) = &answer {
        print(outcome, &source, output);
    }
    Ok(match answer {
        Evaluated::Agreed(Ok(_)) => 0,
        Evaluated::Agreed(Err(_)) => REJECTED,
        Evaluated::Disagreed { .. } => DISAGREE,
    })
}

fn print(outcome: &TierResult, source: &str, output: &mut Output) {
    match outcome {
        Ok(shown) => output.line(&shown.text),
        Err(failure) => output.complain(&Failure::render(failure, source, output.color())),
    }
}
