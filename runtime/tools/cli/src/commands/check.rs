//! `celero check`: checks rules without evaluating them: expressions, files of rules, policies.

use crate::REJECTED;
use crate::commands::policy::Host;
use crate::commands::policy_report::Report;
use crate::commands::{cel_policy, policy, watch};
use crate::evaluate::rule_sets::ErrorPolicyArg;
use crate::input::arguments::InputArgs;
use crate::input::contexts::{Command, Contexts};
use crate::input::source::{Format, Source, SourceArgs};
use crate::output::costs::Costs;
use crate::output::failure::{Failure, style};
use crate::output::units::counted;
use crate::output::{Output, hints};
use crate::rules::file::RulesFile;
use celero::diagnostics::Severity;
use celero::{Diagnostic, Engine, ErrorPolicy, Limits, Tier};
use celero_tooling::diagnostic_json::diagnostics_json;
use celero_tooling::rules::check::{CheckedRules, check_rules};
use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Check rules: names, types, literals. Expressions, files of rules and policies.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero check rule.cel
  celero check rules/*.cel site.rules policy.yaml     # many files
  celero check --watch site.rules                     # again on every change, until interrupted
  celero check -e 'request.path == \"/\"'
  celero check -e 'user.age >= 18 && \"admin\" in user.roles' \\
      --vars 'user.age: int, user.roles: list(string)'
  celero check --deny-warnings rule.cel               # for CI
  celero check --cost site.rules                      # with the static cost of each rule
  celero check --max-operations 1000 site.rules       # refuse what may take longer
  celero check rule.filter                            # in Cloudflare's filter language, by the name
  celero check --language filter -e 'ip.src in {192.0.2.0/24} and not ssl'
  celero check rule.cel --bindings bindings.json      # names from a file of values, as dyn

Rules read a request (`request.path`, `source.address`), unless --vars or --bindings declare variables.
A file of rules has one rule per line, `name: expression`. A line that starts with white space continues the rule above; a line that
starts with `#` is a comment:
  # who may come in
  admin: request.path.startsWith(\"/admin\")
    && request.headers[\"x-team\"] == \"ops\"
  health: request.path == \"/health\"
  late [priority 10, tag api]: request.path.startsWith(\"/api\")
  old [language filter]: http.request.version eq \"HTTP/1.0\"
Rules with smaller priorities come first; the default is 0. There are warnings about rules that never match, that repeat an earlier
rule, or that are never the first match. Rules with the tag `deny` are guards: there are warnings where a client passes them by sending a
header twice or, unless --on-error says that a failed rule matches, by leaving out what they read.

For a valid rule the command prints its type. For an invalid one it prints the errors, each with the marked source, and exits with 1.
With --cost it prints how many operations an evaluation of each expression takes at least and at most, with n for the elements of the
largest list or map that a loop goes through, and where most of them are. --max-operations refuses an expression that takes more where
lists and maps have 100 elements; `maxOperations` in a policy can set a lower limit.
Warnings (an invalid pattern, a constant condition, an impossible header name) change the exit code only with --deny-warnings.
With --json: {\"ok\": true, \"file\": .., \"type\": \"bool\", \"diagnostics\": []}; for a file of rules \"rules\": 2 instead of \"type\", each
diagnostic with \"rule\", \"name\", and spans in bytes of the file; \"costs\" has the static cost of each expression; for several files {\"ok\": true, \"files\": [..]}.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Exit with 1 if there are warnings.
    #[arg(long)]
    deny_warnings: bool,
    /// Print the static cost of each expression: how many operations an evaluation takes.
    #[arg(long)]
    cost: bool,
    /// Refuse expressions that take more operations than this by their static cost, with 100 elements in each list
    /// and map.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    max_operations: Option<u64>,
    /// Check again whenever one of the files changes, until the command is interrupted.
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// What a rule of a file with a failed evaluation counts as.
    #[arg(long, value_enum, default_value_t = ErrorPolicyArg(ErrorPolicy::NoMatch))]
    on_error: ErrorPolicyArg,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: InputArgs,
}

/// The result of the check of a file or a text.
struct Checked {
    /// Whether there is no error and, if they are denied, no warning.
    ok: bool,
    /// What is known of valid rules, for people: their type, or their number.
    summary: String,
    /// Diagnostics as text, and hints.
    complaint: String,
    hints: Vec<String>,
    json: Json,
    /// Of valid rules.
    costs: Costs,
}

impl Args {
    /// The engine that checks expressions.
    fn engine(&self) -> Engine {
        let limits = Limits { operations: self.max_operations, ..Limits::default() };
        Engine::builder().tier(Tier::Interpret).limits(limits).build()
    }

    /// Whether costs are shown.
    fn shows_costs(&self) -> bool {
        self.cost || self.json
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    if !args.watch {
        return once(args, output);
    }
    let given = [&args.given.bindings, &args.given.requests, &args.given.env].into_iter().flatten();
    let files: Vec<PathBuf> = args.source.files.iter().chain(given).cloned().collect();
    if args.source.files.is_empty() || files.iter().any(|file| file == Path::new("-")) {
        return Err("--watch needs files, not texts or standard input".to_owned());
    }
    // An error in the file of `--env` is reported by the check.
    let loader = || Host::read(args.given.env.as_deref()).unwrap_or_default().loader;
    watch::each_change(&files, output, loader, |output| {
        if let Err(why) = once(args, output) {
            output.complain(&format!("error: {why}"));
        }
    })
}

fn once(args: &Args, output: &mut Output) -> Result<u8, String> {
    let sources = args.source.read("check")?;
    let mut host = Host::read(args.given.env.as_deref())?;
    if let Some(most) = args.max_operations {
        host.loader = host.loader.max_operations(most);
    }
    let input = args.given.read()?.for_rules(&sources);
    input.run(CheckAll { args, sources, host }, output)
}

struct CheckAll<'a> {
    args: &'a Args,
    sources: Vec<Source>,
    host: Host,
}

impl Command for CheckAll<'_> {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let Self { args, sources, host } = self;
        let several = sources.len() > 1;
        let (mut ok, mut answers, mut hints) = (true, Vec::new(), Vec::new());
        for source in sources {
            let name = source.name.clone();
            let mut checked = match source.format {
                Format::Cel => expression(args, contexts, &source, output.color()),
                Format::Rules => {
                    rules(args, contexts, RulesFile::parse(source.name, source.text, source.language)?, output.color())
                }
                Format::Policy if celero_cel_policy::is_policy(&source.text) => {
                    let given = cel_policy::Given {
                        environment: None,
                        descriptors: args.given.messages.descriptors.as_deref(),
                        define: &args.given.define,
                        max_operations: args.max_operations,
                    };
                    of_policy(cel_policy::check(&source, &given, args.deny_warnings, output.color())?)
                }
                Format::Policy if !args.given.filter.field.is_empty() => {
                    return Err(format!(
                        "{name}: --field is for rules outside of policies, which have the key `fields`"
                    ));
                }
                Format::Policy => of_policy(policy::check(&source, &host, args.deny_warnings, output.color())),
            };
            ok &= checked.ok;
            if let Some(members) = checked.json.as_object_mut() {
                members.insert("file".to_owned(), json!(name));
                if !checked.costs.json.is_empty() {
                    members.insert("costs".to_owned(), json!(checked.costs.json));
                }
            }
            answers.push(checked.json);
            hints.extend(checked.hints);
            if args.json {
                continue;
            }
            if !checked.complaint.is_empty() {
                output.complain(&checked.complaint);
            }
            let paint = output.paint();
            let prefix = if several { format!("{}: ", paint.name(&name)) } else { String::new() };
            if checked.ok {
                output.line(&format!("{prefix}{}: {}", paint.good("ok"), checked.summary));
                for line in checked.costs.lines.iter().filter(|_| args.cost) {
                    output.line(&format!("  {line}"));
                }
            } else if several {
                output.line(&format!("{prefix}{}", paint.bad("failed")));
            }
        }
        if args.json {
            let answer = match &mut answers[..] {
                [answer] => answer.take(),
                answers => json!({ "ok": ok, "files": answers }),
            };
            output.line(&answer.to_string());
        } else {
            hints.dedup();
            output.hints(&hints);
        }
        Ok(if ok { 0 } else { REJECTED })
    }
}

fn of_policy(report: Report) -> Checked {
    let Report { ok, summary, complaint, hints, json, costs } = report;
    Checked { ok, summary, complaint, hints, json, costs }
}

fn expression(args: &Args, contexts: &impl Contexts, source: &Source, color: bool) -> Checked {
    let (engine, env) = (args.engine(), contexts.envs().of(source.language));
    let checked = engine.check(env, &source.text);
    match checked.and_then(|checked| engine.compile_checked(env, &checked).map(|program| (checked, program))) {
        Ok((checked, program)) => {
            let (ty, warnings) = (program.type_name(), program.warnings());
            let ok = !args.deny_warnings || warnings.is_empty();
            let complaint = celero::diagnostics::render(&source.text, &source.name, warnings, style(color));
            let json = json!({ "ok": ok, "type": ty, "diagnostics": diagnostics_json(warnings) });
            Checked { ok, summary: ty, complaint, hints: Vec::new(), json, costs: Costs::of_expression(&checked) }
        }
        Err(error) => {
            let failure = Failure::from(&error);
            let complaint = failure.render(&source.name, &source.text, color);
            let mut hints = hints::about(source.argument(), args.given.declares(), "check", &failure.diagnostics);
            hints.extend(source.language_hint(|name| contexts.env().declarations().variable(name).is_some()));
            let json = json!({ "ok": false, "diagnostics": diagnostics_json(&failure.diagnostics) });
            Checked { ok: false, summary: String::new(), complaint, hints, json, costs: Costs::default() }
        }
    }
}

fn rules(args: &Args, contexts: &impl Contexts, file: RulesFile, color: bool) -> Checked {
    let engine = args.engine();
    let CheckedRules { found, valid: set } = check_rules(&engine, contexts.envs(), &file, args.on_error.0);
    let failed = found.iter().any(|(_, found)| found.severity == Severity::Error);
    let ok = !failed && (!args.deny_warnings || found.is_empty());
    let diagnostics: Vec<Diagnostic> = found.iter().map(|(_, found)| found.clone()).collect();
    let mut json = json!({ "ok": ok, "diagnostics": file.diagnostics_json(&found) });
    if let Some(members) = json.as_object_mut().filter(|_| !failed) {
        members.insert("rules".to_owned(), json!(set));
    }
    let mut hints = hints::about(None, args.given.declares(), "check", &diagnostics);
    hints.extend(same_name(&file));
    let costs = match !failed && args.shows_costs() {
        true => Costs::of_rules(&file, |rule| engine.check(contexts.envs().of(rule.language), &rule.source).ok()),
        false => Costs::default(),
    };
    Checked { ok, summary: counted(set, "rule"), complaint: file.render(&found, style(color)), hints, json, costs }
}

/// Returns a hint if two rules have one name: results and statistics name rules.
fn same_name(file: &RulesFile) -> Option<String> {
    let mut seen = HashSet::new();
    let twice = file.rules.iter().find(|rule| !seen.insert(&*rule.name))?;
    Some(format!("{}: two rules are called `{}`: give each its own name", file.path, twice.name))
}
