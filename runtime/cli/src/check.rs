//! `celero check`: types, names and literals of a rule, or of those of a file, without evaluating them.

use crate::REJECTED;
use crate::failure::{Failure, diagnostics_json, render};
use crate::input::{Given, World, expression, read_raw};
use crate::output::Output;
use crate::policy::{self, is_policy};
use crate::rules_file::{RulesFile, is_rules};
use crate::sets::{ErrorPolicyArg, Task, builder, rejected, with_contexts};
use celero::{CompileError, Context, Diagnostic, Engine, Env, ErrorPolicy, Indexing, Tier, Type};
use serde_json::json;
use std::path::PathBuf;

/// Check a rule, a file of rules, or a policy: names, types, literals.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero check rule.cel
  celero check site.rules                             # a file of rules
  celero check policy.yaml                            # a policy
  celero check --expr 'user.age >= 18 && \"admin\" in user.roles' \\
      --vars 'user.age: int, user.roles: list(string)'
  celero check --deny-warnings rule.cel               # for CI
  celero check rule.cel --bindings bindings.json      # names from a file of values, as dyn
  celero check --expr 'request.pth == \"/\"' --request request.http

A file of rules has one a line, `name: expression`; lines that start with white space continue the rule above, and those that
start with `#` are comments. Such rules see a request, unless --vars or --bindings name variables:
  # who may come in
  admin: request.path.startsWith(\"/admin\")
    && request.headers[\"x-team\"] == \"ops\"
  health: request.path == \"/health\"
  late [priority 10, tag api]: request.path.startsWith(\"/api\")
Rules of smaller priorities come first, and have 0 if nothing is said. Rules that never match, repeat an earlier one, or are never the first to match, are warned of.

A rule that is fine answers with its type. One that isn't is shown with carets, and the exit code is 1.
Warnings (a pattern that is none, a condition that is constant, a header that can't exist) are shown and change nothing,
unless --deny-warnings is given.
With --json: {\"ok\": true, \"type\": \"bool\", \"diagnostics\": []}; of a file of rules {\"ok\": true, \"rules\": 2, \"diagnostics\": []},
each with \"rule\" and \"name\", and places in the file.")]
pub(crate) struct Args {
    /// A file that holds one expression, a file of rules, or a policy (`.yaml`).
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
        (None, Some(path)) if is_policy(path) => {
            return policy::check(path, args.deny_warnings, args.json, output);
        }
        (None, Some(path)) => {
            let text = read_raw(path)?;
            if is_rules(&text) {
                let file = RulesFile::parse(path.display().to_string(), text)?;
                return with_contexts(&args.given, output, CheckSet { file: &file, args });
            }
            text.trim().to_owned()
        }
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

struct CheckSet<'a> {
    file: &'a RulesFile,
    args: &'a Args,
}

impl Task for CheckSet<'_> {
    fn run<E: Context, C: Context<Static = E::Static>>(
        self,
        env: &Env<E>,
        _: &[C],
        output: &mut Output,
    ) -> Result<u8, String> {
        let Self { file, args } = self;
        let engine = Engine::builder().tier(Tier::Interpret).build();
        let builder = builder(&engine, env, file, ErrorPolicyArg(ErrorPolicy::NoMatch)).index(Indexing::Off);
        let set = match builder.build() {
            Ok(set) => set,
            Err(error) => return Ok(rejected(file, &error, args.json, output)),
        };
        let warnings = set.warnings();
        let fine = !args.deny_warnings || warnings.is_empty();
        if args.json {
            let diagnostics = file.diagnostics_json(warnings);
            output.line(&json!({ "ok": fine, "rules": set.len(), "diagnostics": diagnostics }).to_string());
        } else {
            file.complain(warnings, output);
            if fine {
                output.line(&format!("ok: {} rules", set.len()));
            }
        }
        Ok(if fine { 0 } else { REJECTED })
    }
}
