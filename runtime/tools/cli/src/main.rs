//! The `celero` command: checks, evaluates, explains, measures and formats rules, and tests
//! policies. `celero --help` is its manual.
//!
//! Exit codes: 0 success, 1 a rule was rejected or its evaluation failed, 2 the command line is
//! invalid or a file can't be read, 3 the tiers disagree.

mod commands;
mod evaluate;
mod input;
mod output;

use celero_tooling::{envs, language, requests, rules};
use clap::{CommandFactory, Parser, Subcommand};
use commands::{bench, check, eval, explain, fmt, lab, lists, lsp, manual, policy, repl, serve, translate};
use output::Output;
use std::process::ExitCode;

/// A rule was rejected, or its evaluation failed.
const REJECTED: u8 = 1;
/// The command line is invalid, or names a file that can't be read.
const USAGE: u8 = 2;
/// The tiers disagree.
const DISAGREE: u8 = 3;

/// Check, evaluate, explain, measure and format rules in CEL or Cloudflare's filter language.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Examples:
  celero eval -e '1 + 2 * 3'
  celero eval -e 'user.name.startsWith(\"a\")' --bindings bindings.json
  celero eval -e 'request.host == \"example.com\"' --request request.http
  celero check rules/*.cel site.rules policy.yaml
  celero check -e 'user.age > 18' --vars 'user.age: int, tags: list(string)'
  celero explain -e 'size(\"abc\") > 2'
  celero explain site.rules --requests traffic.jsonl
  celero test policy.yaml cases.yaml
  celero bench site.rules --requests traffic.jsonl
  celero fmt --check rules/*.cel
  celero translate --to cel rule.filter
  celero check --language filter -e 'http.host eq \"example.com\"'
  celero lists check --kind addresses blocked.txt
  celero repl --request request.http
  celero serve
  echo '{\"expr\": \"x + 1\", \"bindings\": {\"x\": 41}}' | celero eval --jsonl

In every command an argument is a file, `-` is standard input, and -e is a text. A file holds one expression (`.cel`; `.filter`
in Cloudflare's filter language), rules (`.rules`) or a policy (`.yaml`).
Exit code: 0 success, 1 rule rejected or evaluation failed, 2 invalid command line, 3 tiers disagree."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// When to use colours. `auto`: on a terminal.
    #[arg(long, global = true, value_enum, default_value_t = output::Color::Auto)]
    color: output::Color,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Args),
    Check(check::Args),
    Completions(manual::CompletionsArgs),
    Eval(eval::Args),
    Explain(explain::Args),
    Fmt(fmt::Args),
    Lab(lab::Args),
    Lists(lists::Args),
    Lsp(lsp::Args),
    Man(manual::ManArgs),
    Repl(repl::Args),
    Schema(policy::SchemaArgs),
    Serve(serve::Args),
    Test(policy::TestArgs),
    Translate(translate::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut output = Output::new(cli.color);
    let code = match cli.command {
        Command::Bench(args) => bench::run(&args, &mut output),
        Command::Check(args) => check::run(&args, &mut output),
        Command::Completions(args) => manual::completions(&args, Cli::command(), &mut output),
        Command::Eval(args) => eval::run(&args, &mut output),
        Command::Explain(args) => explain::run(&args, &mut output),
        Command::Fmt(args) => fmt::run(&args, &mut output),
        Command::Lab(args) => lab::run(&args),
        Command::Lists(args) => lists::run(&args, &mut output),
        Command::Lsp(args) => lsp::run(&args, &mut output),
        Command::Man(args) => manual::man(&args, Cli::command(), &mut output),
        Command::Repl(args) => repl::run(&args, &mut output),
        Command::Schema(args) => Ok(policy::schema(&args, &mut output)),
        Command::Serve(args) => serve::run(&args, &mut output),
        Command::Test(args) => policy::test(&args, &mut output),
        Command::Translate(args) => translate::run(&args, &mut output),
    };
    let code = code.unwrap_or_else(|usage| {
        output.complain(&format!("error: {usage}"));
        USAGE
    });
    output.finish();
    ExitCode::from(code)
}

#[cfg(test)]
mod tests;
