//! `celero bench`: measures a set of rules with requests.

use crate::cost::{Cost, number};
use crate::input::{InputArgs, read_raw};
use crate::output::Output;
use crate::rule_sets::{ErrorPolicyArg, SetCommand, builder, rejected, with_contexts};
use crate::rules_file::RulesFile;
use celero::{Context, Engine, Env, ErrorPolicy};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

/// Measure a set of rules with requests.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero bench site.rules --requests traffic.jsonl
  celero bench site.rules --requests traffic.http --on-error match --json

RULES is a file of rules; `celero check --help` describes the format. Times are those of one thread, in the fastest of several rounds
over all requests: for all matches, and for the first match only. The rate counts every rule of the set once per request, whether
the index skipped it or not.
With --json: {\"rules\": 2, \"indexed\": 2, \"build_ms\": 3.1, \"rules_per_second\": 1e9, \"cost\": {..}}.")]
pub(crate) struct Args {
    /// A file of rules.
    #[arg(value_name = "RULES")]
    file: PathBuf,
    /// What a rule with a failed evaluation counts as.
    #[arg(long, value_enum, default_value_t = ErrorPolicyArg(ErrorPolicy::NoMatch))]
    on_error: ErrorPolicyArg,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: InputArgs,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    if args.given.request.is_none() && args.given.bindings.is_none() {
        return Err("--requests or --bindings is required".to_owned());
    }
    let file = RulesFile::parse(args.file.display().to_string(), read_raw(&args.file)?)?;
    with_contexts(&args.given, output, Bench { file: &file, args })
}

struct Bench<'a> {
    file: &'a RulesFile,
    args: &'a Args,
}

impl SetCommand for Bench<'_> {
    fn run<E: Context, C: Context<Static = E::Static>>(
        self,
        env: &Env<E>,
        contexts: &[C],
        output: &mut Output,
    ) -> Result<u8, String> {
        let Self { file, args } = self;
        let engine = Engine::new();
        let builder = builder(&engine, env, file, args.on_error);
        let began = Instant::now();
        let set = match builder.build() {
            Ok(set) => set,
            Err(error) => return Ok(rejected(file, &error, args.json, output)),
        };
        let build_ms = began.elapsed().as_secs_f64() * 1e3;
        let cost = Cost::measure(&engine, env, &set, contexts)?;
        let rate = number(set.len()) * 1e9 / cost.all;
        let (rules, found, native) = (set.len(), set.indexed_rules(), set.native_rules());
        let bytes = set.index_size().saturating_add(set.code_size());
        if args.json {
            let answer = json!({
                "rules": rules,
                "indexed": found,
                "native": native,
                "build_ms": build_ms,
                "bytes": bytes,
                "rules_per_second": rate,
                "cost": cost.json(),
            });
            output.line(&answer.to_string());
        } else {
            output.line(&format!("set       {rules} rules, {found} found by the index, {native} native"));
            output.line(&format!("build     {build_ms:.1} ms, {bytes} bytes of index and code"));
            output.line(&format!("rate      {:.1} million rules per second", rate / 1e6));
            output.print(&cost.to_string());
        }
        Ok(0)
    }
}
