//! `celero check`, `test`, `explain` and `schema` for policies (YAML files).

use crate::REJECTED;
use crate::failure::diagnostic_json;
use crate::input::read_raw;
use crate::output::Output;
use celero::Diagnostic;
use celero_policy::{Phase, Policy, PolicyError};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// Test a policy with cases: requests with the expected results.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero test policy.yaml cases.yaml

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
With --json: {\"ok\": true, \"cases\": [{\"name\": .., \"ok\": true}], \"unmatched\": [..], \"diagnostics\": [..]}.")]
pub(crate) struct TestArgs {
    /// The policy.
    #[arg(value_name = "POLICY.yaml")]
    policy: PathBuf,
    /// The cases.
    #[arg(value_name = "CASES.yaml", required = true)]
    cases: Vec<PathBuf>,
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
  # yaml-language-server: $schema=policy.schema.json")]
pub(crate) struct SchemaArgs {}

/// Returns whether a file is a policy, by its extension.
pub(crate) fn is_policy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Returns an error for a file that can't be read: that is an error of the command line, not of the policy.
fn readable(path: &Path) -> Result<(), String> {
    std::fs::File::open(path).map(drop).map_err(|error| format!("{}: {error}", path.display()))
}

pub(crate) fn check(path: &Path, deny_warnings: bool, json: bool, output: &mut Output) -> Result<u8, String> {
    readable(path)?;
    let policy = match Policy::load(path) {
        Ok(policy) => policy,
        Err(error) => return Ok(rejected(&error, json, output)),
    };
    let fine = !deny_warnings || policy.warnings().next().is_none();
    let count = |phase: Phase| policy.rules().filter(|rule| rule.phase == phase).count();
    if json {
        let rules = policy.rules().count();
        output.line(&json!({ "ok": fine, "rules": rules, "diagnostics": placed(policy.warnings()) }).to_string());
    } else {
        if policy.warnings().next().is_some() {
            output.complain(&policy.render_warnings(output.color()));
        }
        if fine {
            let phases = Phase::ALL.map(|phase| format!("{} {}", phase.name(), count(phase)));
            output.line(&format!("ok: {} rules ({})", policy.rules().count(), phases.join(", ")));
        }
        for note in policy.buffering_notes() {
            output.line(&note);
        }
    }
    Ok(if fine { 0 } else { REJECTED })
}

pub(crate) fn explain(path: &Path, json: bool, output: &mut Output) -> u8 {
    match Policy::explain(path) {
        Err(error) => return rejected(&error, json, output),
        Ok(text) if json => output.line(&json!({ "sections": [{ "title": "policy", "text": text }] }).to_string()),
        Ok(text) => output.print(&text),
    }
    0
}

pub(crate) fn test(args: &TestArgs, output: &mut Output) -> Result<u8, String> {
    readable(&args.policy)?;
    let policy = match Policy::load(&args.policy) {
        Ok(policy) => policy,
        Err(error) => return Ok(rejected(&error, args.json, output)),
    };
    let (mut cases, mut found, mut unmatched) = (Vec::new(), Vec::new(), Vec::new());
    let mut fine = true;
    for path in &args.cases {
        let report = match policy.test(&path.display().to_string(), &read_raw(path)?) {
            Ok(report) => report,
            Err(error) => return Ok(rejected(&error, args.json, output)),
        };
        fine &= report.passed();
        cases.extend(report.cases().map(|(name, passed)| (name.to_owned(), passed)));
        unmatched = report.unmatched_rules().to_vec();
        if args.json {
            found.extend(report.diagnostics().map(|(file, diagnostic)| one(file, diagnostic)));
        } else if !report.passed() {
            output.complain(&report.render(output.color()));
        }
    }
    if args.json {
        let cases: Vec<Json> = cases.iter().map(|(name, passed)| json!({ "name": name, "ok": passed })).collect();
        output.line(&json!({ "ok": fine, "cases": cases, "unmatched": unmatched, "diagnostics": found }).to_string());
    } else {
        let passed = cases.iter().filter(|(_, passed)| *passed).count();
        let verdict = if fine { "ok" } else { "failed" };
        output.line(&format!("{verdict}: {passed} of {} cases", cases.len()));
        for rule in &unmatched {
            output.line(&format!("no case matches {rule}"));
        }
    }
    Ok(if fine { 0 } else { REJECTED })
}

pub(crate) fn schema(output: &mut Output) -> u8 {
    output.line(&format!("{:#}", Policy::json_schema()));
    0
}

fn rejected(error: &PolicyError, json: bool, output: &mut Output) -> u8 {
    if json {
        output.line(&json!({ "ok": false, "diagnostics": placed(error.diagnostics()) }).to_string());
    } else {
        output.complain(&error.render(output.color()));
    }
    REJECTED
}

fn placed<'d>(found: impl Iterator<Item = (&'d str, &'d Diagnostic)>) -> Json {
    found.map(|(file, diagnostic)| one(file, diagnostic)).collect()
}

fn one(file: &str, diagnostic: &Diagnostic) -> Json {
    let mut json = diagnostic_json(diagnostic);
    if let Some(members) = json.as_object_mut() {
        members.insert("file".to_owned(), json!(file));
    }
    json
}
