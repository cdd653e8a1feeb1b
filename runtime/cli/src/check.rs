//! `celero check`: checks a rule, a file of rules or a policy without evaluating it.

use crate::REJECTED;
use crate::failure::{Failure, diagnostics_json, render};
use crate::input::{Input, InputArgs, expression, read_raw};
use crate::output::Output;
use crate::policy::{self, is_policy};
use crate::rule_sets::{ErrorPolicyArg, SetCommand, builder, rejected, with_contexts};
use crate::rules_file::{RulesFile, is_rules};
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

A file of rules has one rule per line, `name: expression`. A line that starts with white space continues the rule above; a line that
starts with `#` is a comment. The rules read a request, unless --vars or --bindings declare variables:
  # who may come in
  admin: request.path.startsWith(\"/admin\")
    && request.headers[\"x-team\"] == \"ops\"
  health: request.path == \"/health\"
  late [priority 10, tag api]: request.path.startsWith(\"/api\")
Rules with smaller priorities come first; the default is 0. There are warnings about rules that never match, that repeat an earlier
rule, or that are never the first match. Rules with the tag `deny` are guards: there are warnings where a client passes them by sending a
header twice or, unless --on-error says that a failed rule matches, by leaving out what they read.

For a valid rule the command prints its type. For an invalid one it prints the errors, each with the marked source, and exits with 1.
Warnings (an invalid pattern, a constant condition, an impossible header name) change the exit code only with --deny-warnings.
With --json: {\"ok\": true, \"type\": \"bool\", \"diagnostics\": []}; for a file of rules {\"ok\": true, \"rules\": 2, \"diagnostics\": []},
each diagnostic with \"rule\", \"name\", and spans in bytes of the file.")]
pub(crate) struct Args {
    /// A file with one expression, a file of rules, or a policy (`.yaml`).
    #[arg(value_name = "RULE", required_unless_present = "expr")]
    file: Option<PathBuf>,
    /// The expression, instead of a file.
    #[arg(long, value_name = "EXPR", conflicts_with = "file", allow_hyphen_values = true)]
    expr: Option<String>,
    /// Exit with 1 if there are warnings.
    #[arg(long)]
    deny_warnings: bool,
    /// What a rule of a file with a failed evaluation counts as.
    #[arg(long, value_enum, default_value_t = ErrorPolicyArg(ErrorPolicy::NoMatch))]
    on_error: ErrorPolicyArg,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: InputArgs,
}

/// The tag of rules that keep requests back.
const DENY: &str = "deny";

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
        (None, None) => return Err("a file or --expr is required".into()),
    };
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let checked = match args.given.input()? {
        Input::Named(named) => check(&engine, &named.env()?, &source),
        Input::Request(request) => check(&engine, &request.env()?, &source),
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

impl SetCommand for CheckSet<'_> {
    fn run<E: Context, C: Context<Static = E::Static>>(
        self,
        env: &Env<E>,
        _: &[C],
        output: &mut Output,
    ) -> Result<u8, String> {
        let Self { file, args } = self;
        let engine = Engine::builder().tier(Tier::Interpret).build();
        let builder = builder(&engine, env, file, args.on_error).index(Indexing::Off);
        let set = match builder.build() {
            Ok(set) => set,
            Err(error) => return Ok(rejected(file, &error, args.json, output)),
        };
        let mut warnings = set.warnings().to_vec();
        let fails_open = args.on_error.0 == ErrorPolicy::NoMatch;
        for (number, rule) in file.rules.iter().enumerate().filter(|(_, rule)| rule.tags.iter().any(|tag| tag == DENY))
        {
            if let Ok(checked) = engine.check(env, &rule.source) {
                warnings.extend(checked.guard_warnings(env, fails_open).into_iter().map(|warning| (number, warning)));
            }
        }
        warnings.sort_by_key(|(rule, warning)| (*rule, warning.span.start));
        let fine = !args.deny_warnings || warnings.is_empty();
        if args.json {
            let diagnostics = file.diagnostics_json(&warnings);
            output.line(&json!({ "ok": fine, "rules": set.len(), "diagnostics": diagnostics }).to_string());
        } else {
            file.complain(&warnings, output);
            if fine {
                output.line(&format!("ok: {} rules", set.len()));
            }
        }
        Ok(if fine { 0 } else { REJECTED })
    }
}
