//! `celero check`: types, names and literals of a rule, without evaluating it.

use crate::REJECTED;
use crate::failure::{Failure, diagnostics_json, render};
use crate::input::{Given, World, expression, read_text};
use crate::output::Output;
use celero::{CompileError, Context, Diagnostic, Engine, Env, Tier, Type};
use serde_json::json;
use std::path::PathBuf;

/// Check a rule: its names, its types, its literals.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero check rule.cel
  celero check --expr 'user.age >= 18 && \"admin\" in user.roles' \\
      --vars 'user.age: int, user.roles: list(string)'
  celero check --deny-warnings rule.cel               # for CI
  celero check rule.cel --bindings bindings.json      # names from a file of values, as dyn
  celero check --expr 'request.pth == \"/\"' --request request.http

A rule that is fine answers with its type. One that isn't is shown with carets, and the exit code is 1.
Warnings (a pattern that is none, a condition that is constant, a header that can't exist) are shown and change nothing,
unless --deny-warnings is given.
With --json: {\"ok\": true, \"type\": \"bool\", \"diagnostics\": []}.")]
pub(crate) struct Args {
    /// A file that holds one expression.
    #[arg(value_name = "RULE", required_unless_present = "expr")]
    file: Option<PathBuf>,
    /// The expression itself.
    #[arg(long, value_name = "EXPR", conflicts_with = "file", allow_hyphen_values = true)]
    expr: Option<String>,
    /// A rule with warnings is not fine.
    #[arg(long)]
    deny_warnings: bool,
    /// Answer as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: Given,
}

type Checked = Result<(Type, Vec<Diagnostic>), CompileError>;

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let source = match (&args.expr, &args.file) {
        (Some(expr), _) => expression(expr)?,
        (None, Some(path)) => read_text(path)?,
        (None, None) => return Err("a file or --expr is needed".into()),
    };
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let checked = match args.given.world()? {
        World::Named(named) => check(&engine, &named.env()?, &source),
        World::Request(request) => check(&engine, &request.env()?, &source),
    };
    let fine = checked.as_ref().is_ok_and(|(_, warnings)| !args.deny_warnings || warnings.is_empty());
    let code = if fine { 0 } else { REJECTED };
    if args.json {
        let answer = match &checked {
            Ok((ty, warnings)) => {
                json!({ "ok": fine, "type": ty.to_string(), "diagnostics": diagnostics_json(warnings) })
            }
            Err(error) => json!({ "ok": false, "diagnostics": diagnostics_json(error.diagnostics()) }),
        };
        output.line(&answer.to_string());
        return Ok(code);
    }
    match &checked {
        Ok((ty, warnings)) => {
            if !warnings.is_empty() {
                output.complain(&render(&source, warnings, output.color()));
            }
            if fine {
                output.line(&format!("ok: {ty}"));
            }
        }
        Err(error) => output.complain(&Failure::from(error).render(&source, output.color())),
    }
    Ok(code)
}

fn check<C: Context>(engine: &Engine, env: &Env<C>, source: &str) -> Checked {
    let program = engine.compile(env, source)?;
    Ok((program.result_type().clone(), program.warnings().to_vec()))
}
