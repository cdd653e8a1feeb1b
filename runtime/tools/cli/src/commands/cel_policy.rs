//! `celero check` and `celero test` for policies in the CEL Policy format.

use crate::commands::policy_report::{Report, placed, rejected, rejection};
use crate::input::source::{Source, read_text};
use crate::output::Output;
use crate::output::costs::Costs;
use crate::{DISAGREE, REJECTED};
use celero::messages::Descriptors;
use celero::settings::{Limits, SourceLimits};
use celero::{Bindings, CompileError, Diagnostic, Engine, Env, Program, Tier};
use celero_cel_policy::{CelPolicy, Environment, TestReport, Tests};
use celero_policy::PolicyError;
use celero_tooling::values;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// Files with the environment of a policy, if they are in its folder.
const ENVIRONMENTS: [&str; 2] = ["config.yaml", "env.yaml"];

/// The file with the tests of a policy, if it is in its folder.
const TESTS: &str = "tests.yaml";

/// What a policy is compiled with.
pub(crate) struct Given<'g> {
    /// The environment file that is named.
    pub(crate) environment: Option<&'g Path>,
    pub(crate) descriptors: Option<&'g Path>,
    /// Functions defined in CEL.
    pub(crate) define: &'g [String],
    /// The most operations of the policy by its static cost.
    pub(crate) max_operations: Option<u64>,
}

/// What expressions may mention, and the limits of the file that says so.
struct Declared {
    env: Env<Bindings<'static>>,
    limits: SourceLimits,
}

/// Why there is no environment.
enum Failure {
    /// A file can't be read, or an argument is wrong.
    Usage(String),
    /// A file has errors.
    File(PolicyError),
}

fn declared(folder: &Path, given: &Given<'_>) -> Result<Declared, Failure> {
    let mut env = Env::dynamic();
    if let Some(path) = given.descriptors {
        let bytes = std::fs::read(path).map_err(|why| Failure::Usage(format!("{}: {why}", path.display())))?;
        let types = Descriptors::from_bytes(&bytes)
            .map_err(|why| Failure::Usage(format!("--descriptors: {}: {why}", path.display())))?;
        env = env.messages(&types);
    }
    for text in given.define {
        let wrong = |why: String| Failure::Usage(format!("--define: {why}"));
        let (declaration, body) = values::notation::definition(text).map_err(wrong)?;
        env = env.define(&declaration, &body);
        if let Some(problem) = env.problems().first() {
            return Err(wrong(problem.to_string()));
        }
    }
    let beside = || ENVIRONMENTS.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    let mut limits = SourceLimits::default();
    if let Some(path) = given.environment.map(PathBuf::from).or_else(beside) {
        let text = read_text(&path).map_err(Failure::Usage)?;
        let file = Environment::parse(&path.display().to_string(), &text).map_err(Failure::File)?;
        // The file stands beside the policy, and may be of the same stranger: it raises no limit.
        let asked = file.limits(limits);
        limits = SourceLimits {
            max_source_bytes: asked.max_source_bytes.min(limits.max_source_bytes),
            max_depth: asked.max_depth.min(limits.max_depth),
            max_nodes: asked.max_nodes.min(limits.max_nodes),
            max_diagnostics: asked.max_diagnostics.min(limits.max_diagnostics),
        };
        env = file.bindings_for_tools(env).map_err(Failure::File)?;
    }
    Ok(Declared { env, limits })
}

fn compile(declared: &Declared, text: &str, tier: Tier) -> Result<Program<Bindings<'static>>, Box<CompileError>> {
    CelPolicy::compile(&engine(declared, tier, None), &declared.env, text)
}

fn engine(declared: &Declared, tier: Tier, operations: Option<u64>) -> Engine {
    let limits = Limits { source: declared.limits, operations, ..Limits::default() };
    Engine::builder().tier(tier).limits(limits).build()
}

/// Checks a policy.
///
/// # Errors
/// The environment file that can't be read.
pub(crate) fn check(source: &Source, given: &Given<'_>, deny_warnings: bool, color: bool) -> Result<Report, String> {
    let refused = |complaint, json| {
        let (summary, hints, costs) = (String::new(), Vec::new(), Costs::default());
        Report { ok: false, summary, complaint, hints, json, costs }
    };
    let declared = match declared(source.base(), given) {
        Ok(declared) => declared,
        Err(Failure::Usage(why)) => return Err(why),
        Err(Failure::File(error)) => return Ok(refused(error.render(color), rejection(&error))),
    };
    let engine = engine(&declared, Tier::Interpret, given.max_operations);
    let env = declared.env.clone().language(CelPolicy);
    let checked = engine.check(&env, &source.text);
    Ok(match checked.and_then(|checked| engine.compile_checked(&env, &checked).map(|program| (checked, program))) {
        Ok((checked, program)) => {
            let (summary, warnings) = (program.type_name(), program.warnings());
            let ok = !deny_warnings || warnings.is_empty();
            let json = json!({ "ok": ok, "type": summary, "diagnostics": named(&source.name, warnings) });
            let complaint = program.render_warnings(&source.name, color);
            Report { ok, summary, complaint, hints: Vec::new(), json, costs: Costs::of_expression(&checked) }
        }
        Err(error) => {
            let json = json!({ "ok": false, "diagnostics": named(&source.name, error.diagnostics()) });
            refused(error.render(&source.name, color), json)
        }
    })
}

/// Tests a policy with files of tests; without any, with the one in its folder.
///
/// # Errors
/// A file that can't be read.
pub(crate) fn test(
    policy: &Path,
    text: &str,
    files: &[PathBuf],
    given: &Given<'_>,
    json: bool,
    output: &mut Output,
) -> Result<u8, String> {
    let folder = policy.parent().unwrap_or(Path::new("."));
    let beside = folder.join(TESTS);
    let files = if files.is_empty() { std::slice::from_ref(&beside) } else { files };
    let mut tests = Vec::new();
    for path in files {
        match Tests::parse(&path.display().to_string(), &read_text(path)?) {
            Ok(found) => tests.push(found),
            Err(error) => return Ok(rejected(&error, json, output)),
        }
    }
    if let Some((path, _)) = files.iter().zip(&tests).find(|(_, tests)| tests.is_empty()) {
        return Err(format!("{}: the file has no tests", path.display()));
    }
    let declared = match declared(folder, given) {
        Ok(declared) => declared,
        Err(Failure::Usage(why)) => return Err(why),
        Err(Failure::File(error)) => return Ok(rejected(&error, json, output)),
    };
    let programs = compile(&declared, text, Tier::Auto)
        .and_then(|native| Ok((native, compile(&declared, text, Tier::Interpret)?)));
    let name = policy.display().to_string();
    let (native, interpreted) = match programs {
        Ok(programs) => programs,
        Err(error) if tests.iter().all(Tests::expect_errors) => {
            let count: usize = tests.iter().map(Tests::len).sum();
            if json {
                output.line(&json!({ "ok": true, "diagnostics": named(&name, error.diagnostics()) }).to_string());
            } else {
                output.complain(&error.render(&name, output.color()));
                let verdict = format!("{}: the policy is refused, as {count} tests expect", output.paint().good("ok"));
                output.line(&verdict);
            }
            return Ok(0);
        }
        Err(error) => {
            if json {
                output.line(&json!({ "ok": false, "diagnostics": named(&name, error.diagnostics()) }).to_string());
            } else {
                output.complain(&error.render(&name, output.color()));
            }
            return Ok(REJECTED);
        }
    };
    let reports: Vec<TestReport> = tests.iter().map(|tests| tests.run(&declared.env, &native)).collect();
    let again: Vec<TestReport> = tests.iter().map(|tests| tests.run(&declared.env, &interpreted)).collect();
    // Failures say what the results are.
    let said = |report: &TestReport| (report.cases().map(|(_, ok)| ok).collect(), report.failures().render(false));
    let said = |reports: &[TestReport]| -> Vec<(Vec<bool>, String)> { reports.iter().map(said).collect() };
    if said(&reports) != said(&again) {
        output.complain("the interpreter and native code disagree: a defect of celero");
        return Ok(DISAGREE);
    }
    Ok(reported(&reports, json, output))
}

fn reported(reports: &[TestReport], json: bool, output: &mut Output) -> u8 {
    let fine = reports.iter().all(TestReport::passed);
    let cases: Vec<(&str, bool)> = reports.iter().flat_map(TestReport::cases).collect();
    if json {
        let cases: Vec<Json> = cases.iter().map(|(name, ok)| json!({ "name": name, "ok": ok })).collect();
        let found: Vec<Json> = reports.iter().flat_map(|report| placed(report.failures().diagnostics())).collect();
        output.line(&json!({ "ok": fine, "cases": cases, "diagnostics": found }).to_string());
    } else {
        for report in reports.iter().filter(|report| !report.passed()) {
            output.complain(&report.failures().render(output.color()));
        }
        let failed = cases.iter().filter(|(_, passed)| !passed).count();
        let (paint, count) = (output.paint(), cases.len());
        let verdict = match failed {
            0 => format!("{}: {count} of {count} cases", paint.good("ok")),
            failed => format!("{}: {failed} of {count} cases", paint.bad("failed")),
        };
        output.line(&verdict);
    }
    if fine { 0 } else { REJECTED }
}

/// Diagnostics of a file, as JSON.
fn named(file: &str, found: &[Diagnostic]) -> Vec<Json> {
    placed(found.iter().map(|found| (file, found.clone())))
}
