//! `celero check`, `test`, `explain` and `schema` for policies (YAML files).

use crate::REJECTED;
use crate::commands::cel_policy;
use crate::commands::policy_report::{self, Report, rejected, rejection};
use crate::input::host::loader;
use crate::input::source::{Source, read_text};
use crate::output::costs::Costs;
use crate::output::hints::{lacks_list, says_what_is_meant};
use crate::output::units::counted;
use crate::output::{Output, hints};
use celero::Diagnostic;
use celero_policy::problems::Problems;
use celero_policy::{Loader, Phase, Policy, PolicyError, yaml};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// Test a policy with cases: requests with the expected results.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero test policy.yaml cases.yaml
  celero test policy.yaml              # in the CEL Policy format, with config.yaml and tests.yaml beside it

A file of cases is a list:
  - name: the admin pages are closed
    request: {method: GET, uri: /admin, headers: {host: example.com}, source: \"192.0.2.7:4711\"}
    expect: {status: 403, rule: admin}
  - name: the server gets the user of a token
    request: {uri: /, headers: {x-user: evil}}
    given: {jwt: {sub: ada}}                       # counts as verified, so a case needs no signatures
    response: {status: 200, headers: {server: x}}  # the server's response
    expect: {requestHeaders: {x-user: ada}, responseHeaders: {server: null}, labels: {}, log: {user: ada}}

A difference is shown at the expectation in the file, and the exit code is 1. Rules that no case matches are listed.
With --why each case has its rules under it: those that acted, and the one that was expected.
With --json: {\"ok\": true, \"cases\": [{\"name\": .., \"ok\": true}], \"unmatched\": [..], \"diagnostics\": [..]}.")]
pub(crate) struct TestArgs {
    /// The policy.
    #[arg(value_name = "POLICY.yaml")]
    policy: PathBuf,
    /// The cases. For a policy in the CEL Policy format, files of tests: by default `tests.yaml` in its folder.
    #[arg(value_name = "CASES.yaml")]
    cases: Vec<PathBuf>,
    /// What the host of the policy declares: functions, and variables for which cases give values. For a policy in
    /// the CEL Policy format its environment: by default `config.yaml` or `env.yaml` in its folder.
    #[arg(long, value_name = "HOST.yaml")]
    env: Option<PathBuf>,
    /// The types of messages that a policy in the CEL Policy format names: a `FileDescriptorSet`, as
    /// `protoc --include_imports --descriptor_set_out=FILE` writes it.
    #[arg(long, value_name = "FILE")]
    descriptors: Option<PathBuf>,
    /// Defines a function that the environment of a policy in the CEL Policy format declares:
    /// `plan(tenant: string) -> string = tenant == 'acme' ? 'pro' : 'free'`. May be repeated.
    #[arg(long, value_name = "NAME(PARAMETER: TYPE, ..) -> TYPE = BODY", allow_hyphen_values = true)]
    define: Vec<String>,
    /// Print why, under each case: what became of the rules that acted and of the one that was expected, with the
    /// values that their conditions read.
    #[arg(long)]
    why: bool,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// Print the JSON schema of policies, for editors.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero schema > policy.schema.json

An editor then checks a policy that begins with
  # yaml-language-server: $schema=policy.schema.json

`celero schema --of-env` prints the schema of a file for --env.")]
pub(crate) struct SchemaArgs {
    /// Print the JSON schema of files for --env, which say what a host declares.
    #[arg(long)]
    of_env: bool,
}

/// What the host of policies declares.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) loader: Loader,
    /// Whether `--env` says it.
    is_given: bool,
}

impl Host {
    /// Reads the file of `--env`.
    ///
    /// # Errors
    /// The file that can't be read, or its errors as text.
    pub(crate) fn read(env: Option<&Path>) -> Result<Self, String> {
        match env {
            Some(path) => loader(path).map(|loader| Self { loader, is_given: true }),
            None => Ok(Self::default()),
        }
    }

    /// Returns a hint if a policy uses names that nobody declares: its host may declare them.
    pub(crate) fn hints(&self, error: &PolicyError) -> Vec<String> {
        let is_undeclared = |found: &Diagnostic| {
            matches!(found.code, "undeclared-name" | "undeclared-function")
                && !found.message.contains("exists in the phase")
                && !says_what_is_meant(found)
        };
        let is_of_host = !self.is_given && error.diagnostics().any(|(_, found)| is_undeclared(&found));
        let hint = "if the host of the policy declares the name: --env HOST.yaml";
        let is_of_list = error.diagnostics().any(|(_, found)| lacks_list(&found));
        let list = "a policy declares its lists under `lists`: `lists: {NAME: {kind: addresses, files: [..]}}`";
        let hints = [(is_of_host, hint), (is_of_list, list)];
        hints.into_iter().filter(|(is_right, _)| *is_right).map(|(_, hint)| hint.to_owned()).collect()
    }
}

/// Checks a policy.
pub(crate) fn check(source: &Source, host: &Host, deny_warnings: bool, color: bool) -> Report {
    let policy = match host.loader.check(&source.name, &source.text, source.base()) {
        Ok(policy) => policy,
        Err(error) => {
            let (summary, complaint, hints) = (String::new(), error.render(color), host.hints(&error));
            return Report { ok: false, summary, complaint, hints, json: rejection(&error), costs: Costs::default() };
        }
    };
    let warned = policy.warnings().next().is_some();
    let ok = !deny_warnings || !warned;
    let count = |phase: Phase| policy.rules().filter(|rule| rule.phase == phase).count();
    let rules = policy.rules().count();
    // Few policies have rules about connections.
    let shown = Phase::ALL.into_iter().filter(|phase| *phase != Phase::Connection || count(*phase) > 0);
    let phases: Vec<String> = shown.map(|phase| format!("{} {}", phase.name(), count(phase))).collect();
    let mut summary = format!("{} ({})", counted(rules, "rule"), phases.join(", "));
    for note in policy.buffering_notes() {
        summary.push('\n');
        summary.push_str(&note);
    }
    let complaint = if warned { policy.render_warnings(color) } else { String::new() };
    let mut hints = Vec::new();
    if rules == 0 {
        hints.push(format!("`{}` has no rules: every request is admitted", source.name));
    }
    Report {
        ok,
        summary,
        complaint,
        hints,
        json: json!({ "ok": ok, "rules": rules, "diagnostics": policy_report::placed(policy.warnings()) }),
        costs: Costs::of_policy(policy.expression_costs()),
    }
}

pub(crate) fn explain(source: &Source, host: &Host, json: bool, output: &mut Output) -> u8 {
    match host.loader.explain_text(&source.name, &source.text, source.base()) {
        Err(error) => {
            let code = rejected(&error, json, output);
            if !json {
                output.hints(&host.hints(&error));
            }
            return code;
        }
        Ok(text) if json => output.line(&json!({ "sections": [{ "title": "policy", "text": text }] }).to_string()),
        Ok(text) => output.print(&text),
    }
    0
}

pub(crate) fn test(args: &TestArgs, output: &mut Output) -> Result<u8, String> {
    let read = |path: &Path| if path.exists() { read_text(path) } else { Err(hints::missing_file(path)) };
    let name = |path: &Path| path.display().to_string();
    let text = read(&args.policy)?;
    if celero_cel_policy::is_policy(&text) {
        let (environment, descriptors) = (args.env.as_deref(), args.descriptors.as_deref());
        if args.why {
            return Err(format!("{}: --why is not for policies in the CEL Policy format", args.policy.display()));
        }
        let given = cel_policy::Given { environment, descriptors, define: &args.define, max_operations: None };
        return cel_policy::test(&args.policy, &text, &args.cases, &given, args.json, output);
    }
    if args.descriptors.is_some() || !args.define.is_empty() {
        let path = args.policy.display();
        return Err(format!("{path}: --descriptors and --define are for policies in the CEL Policy format"));
    }
    if args.cases.is_empty() {
        let path = args.policy.display();
        return Err(format!("no cases are given: celero test {path} cases.yaml"));
    }
    let cases = args.cases.iter().map(|path| Ok((path, read(path)?))).collect::<Result<Vec<_>, String>>()?;
    if let [(path, first), ..] = &cases[..]
        && is_list(&text)
        && !is_list(first)
    {
        let [policy, cases] = [path, &args.policy].map(|path| path.display());
        return Err(format!(
            "the arguments are swapped: `{cases}` is a list of cases, and the policy comes first: celero test {policy} {cases}"
        ));
    }
    let base = args.policy.parent().unwrap_or(Path::new("."));
    let host = Host::read(args.env.as_deref())?;
    let policy = match host.loader.parse(&name(&args.policy), &text, base) {
        Ok(policy) => policy,
        Err(error) => {
            let code = rejected(&error, args.json, output);
            if !args.json {
                output.hints(&host.hints(&error));
            }
            return Ok(code);
        }
    };
    let (mut results, mut found, mut unmatched) = (Vec::new(), Vec::new(), Vec::new());
    let mut fine = true;
    for (path, text) in &cases {
        let tested = if args.why { Policy::test_with_reasons } else { Policy::test };
        let report = match tested(&policy, &name(path), text) {
            Ok(report) => report,
            Err(error) => return Ok(rejected(&error, args.json, output)),
        };
        if report.cases().next().is_none() {
            return Err(format!("{}: the file has no cases", path.display()));
        }
        fine &= report.passed();
        let reasons = report.reasons().map(<[String]>::to_vec).chain(std::iter::repeat(Vec::new()));
        results.extend(report.cases().zip(reasons).map(|((name, passed), why)| (name.to_owned(), passed, why)));
        unmatched = report.unmatched_rules().to_vec();
        if args.json {
            found.extend(report.diagnostics().map(|(file, diagnostic)| policy_report::one(file, &diagnostic)));
        } else if !report.passed() {
            output.complain(&report.render(output.color()));
        }
    }
    if args.json {
        let case = |(name, passed, why): &(String, bool, Vec<String>)| {
            let mut case = json!({ "name": name, "ok": passed });
            if let Some(members) = case.as_object_mut().filter(|_| args.why) {
                members.insert("why".to_owned(), json!(why));
            }
            case
        };
        let cases: Vec<Json> = results.iter().map(case).collect();
        output.line(&json!({ "ok": fine, "cases": cases, "unmatched": unmatched, "diagnostics": found }).to_string());
    } else {
        let failed = results.iter().filter(|(_, passed, _)| !passed).count();
        let paint = output.paint();
        for (name, passed, why) in results.iter().filter(|_| args.why) {
            let verdict = if *passed { paint.good("ok") } else { paint.bad("failed") };
            output.line(&format!("{verdict}: {name}"));
            why.iter().for_each(|line| output.line(&format!("  {line}")));
        }
        let verdict = match failed {
            0 => format!("{}: {} of {} cases", paint.good("ok"), results.len(), results.len()),
            failed => format!("{}: {failed} of {} cases", paint.bad("failed"), results.len()),
        };
        output.line(&verdict);
        for rule in &unmatched {
            output.line(&format!("no case matches {}", paint.name(rule)));
        }
    }
    Ok(if fine { 0 } else { REJECTED })
}

/// Returns whether a YAML text is a list.
fn is_list(text: &str) -> bool {
    let mut problems = Problems::default();
    let file = problems.file(String::new(), text);
    yaml::read(file, &mut problems).is_some_and(|root| root.is_list())
}

pub(crate) fn schema(args: &SchemaArgs, output: &mut Output) -> u8 {
    let schema = if args.of_env { Loader::declarations_schema() } else { Policy::json_schema() };
    output.line(&format!("{schema:#}"));
    0
}
