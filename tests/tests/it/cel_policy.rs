//! The published test suite of CEL Policy in both tiers. `CEL_POLICY` names its directory, which holds `testdata`
//! (default: the shared test data).
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use celero::messages::Descriptors;
use celero::settings::Tier;
use celero::{Bindings, Engine, Env, Program, Value};
use celero_cel_policy::{CelPolicy, Environment, Tests};
use celero_tests::shared;
use std::path::{Path, PathBuf};

/// Cases that fail, each with the reason.
const FAILURES: &[(&str, &str)] = &[];

/// The errors of the cases that do not compile: of each, the code, and where the file has it, the line and the column.
const ERRORS: &[(&str, &str, (usize, usize))] = &[
    ("aggregate_errors", "cel-policy-outputs", (24, 22)),
    ("aggregate_false_condition", "cel-policy-condition", (18, 19)),
    ("aggregate_heterogeneous_outputs", "cel-policy-outputs", (21, 16)),
    ("aggregate_list_errors", "cel-policy-outputs", (24, 22)),
    ("aggregate_nested_mixed_semantics", "cel-policy-nesting", (23, 15)),
    ("aggregate_subrule_heterogeneous_outputs", "cel-policy-outputs", (23, 22)),
    ("aggregate_unreachable_in_nested_first_match", "cel-policy-unreachable", (21, 13)),
    ("compose_conflicting_output", "cel-policy-outputs", (23, 14)),
    ("compose_conflicting_subrule", "cel-policy-outputs", (36, 14)),
    ("duplicate_variable", "cel-policy-variable", (20, 13)),
    ("import", "cel-policy-import", (19, 7)),
    ("incompatible_outputs", "cel-policy-outputs", (21, 16)),
    ("syntax", "unexpected-token", (19, 51)),
    ("undeclared_reference", "undeclared-name", (19, 19)),
    ("unreachable", "cel-policy-unreachable", (28, 7)),
    ("unreachable_under_unconditional_aggregate_subrule", "cel-policy-unreachable", (20, 9)),
];

fn testdata(used_for: &str) -> Option<PathBuf> {
    let given = std::env::var_os("CEL_POLICY");
    let root = given.map(|dir| Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(dir));
    Some(root.or_else(|| shared::find("cel-policy", used_for))?.join("testdata"))
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn name(dir: &Path) -> String {
    dir.file_name().unwrap().to_string_lossy().into_owned()
}

fn text(dir: &Path, file: &str) -> Option<String> {
    std::fs::read_to_string(dir.join(file)).ok()
}

/// What the hosts of the cases have: functions and messages.
fn host() -> Env<Bindings<'static>> {
    let messages = shared::find("conformance/descriptors.binpb", "policies with messages")
        .map(|path| Descriptors::from_bytes(&std::fs::read(path).unwrap()).unwrap());
    let env = Env::dynamic().messages(&messages.unwrap_or_else(Descriptors::well_known));
    let has = |value: &Value<'_>, word: &str| value.to_string().contains(word);
    env.pure_function("locationCode", |ip: &str| {
        match ip {
            "10.0.0.1" => "us",
            "10.0.0.2" => "de",
            _ => "ir",
        }
        .to_owned()
    })
    .pure_function("hasCreditCard", move |value: Value<'_>| has(&value, "cc"))
    .pure_function("hasEmailOrPhone", move |value: Value<'_>| has(&value, "email"))
}

fn environment(dir: &Path) -> Result<Env<Bindings<'static>>, String> {
    let Some(config) = text(dir, "config.yaml") else { return Ok(host()) };
    let environment = Environment::parse("config.yaml", &config).map_err(|error| error.to_string())?;
    environment.bindings(host()).map_err(|error| error.to_string())
}

fn compile(dir: &Path, tier: Tier) -> Result<Program<Bindings<'static>>, String> {
    let engine = Engine::builder().tier(tier).build();
    let policy = text(dir, "policy.yaml").ok_or("no policy.yaml")?;
    CelPolicy::compile(&engine, &environment(dir)?, &policy).map_err(|error| error.render("policy.yaml", false))
}

fn run(dir: &Path) -> Result<usize, String> {
    let tests = text(dir, "tests.yaml").ok_or("no tests.yaml")?;
    let tests = Tests::parse("tests.yaml", &tests).map_err(|error| error.to_string())?;
    let env = environment(dir)?;
    for tier in [Tier::Interpret, Tier::Native] {
        let program = compile(dir, tier)?;
        assert_eq!(program.is_native(), tier == Tier::Native);
        let report = tests.run(&env, &program);
        if !report.passed() {
            return Err(format!("{tier:?}\n{}", report.failures()));
        }
        assert_eq!(report.cases().count(), tests.len());
    }
    Ok(tests.len())
}

#[test]
fn published_policies_have_the_published_outputs() {
    let Some(dir) = testdata("the policies of CEL Policy") else { return };
    let (mut policies, mut tests, mut wrong) = (0, 0, Vec::new());
    for dir in folders(&dir).iter().filter(|dir| name(dir) != "compile_errors") {
        let known = FAILURES.iter().find(|(case, _)| *case == name(dir));
        policies += 1;
        match (run(dir), known) {
            (Ok(count), None) => tests += count,
            (Ok(_), Some((case, _))) => wrong.push(format!("{case} is listed as a failure, and passes")),
            (Err(_), Some(_)) => {}
            (Err(error), None) => wrong.push(format!("{}: {error}", name(dir))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(policies > 25 && tests > 60, "{policies} policies, {tests} tests");
    shared::say(&format!("{policies} published policies of CEL Policy, {tests} tests"));
}

#[test]
fn published_mistakes_are_refused() {
    let Some(dir) = testdata("the mistakes of CEL Policy") else { return };
    let mut wrong = Vec::new();
    let folders = folders(&dir.join("compile_errors"));
    for dir in &folders {
        let Some((_, code, (line, column))) = ERRORS.iter().find(|(case, ..)| *case == name(dir)) else {
            wrong.push(format!("{} is not listed", name(dir)));
            continue;
        };
        let place = format!("policy.yaml:{line}:{column}");
        match compile(dir, Tier::Interpret) {
            Ok(_) => wrong.push(format!("{} compiles", name(dir))),
            Err(error) if error.contains(&format!("[{code}]")) && error.contains(&place) => {}
            Err(error) => wrong.push(format!("{}: not {code} at {place}:\n{error}", name(dir))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(folders.len(), ERRORS.len());
}
