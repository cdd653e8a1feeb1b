//! What can go wrong, and what to do with it: `cargo run -p celero-examples --bin error_handling`.

use celero::http::RequestContext;
use celero::{Engine, Env, ErrorKind, ErrorPolicy, Limits, Scratch};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::new();
    let env = Env::<RequestContext>::new();

    // 1. A rule that does not compile: all mistakes at once, each with its place. Show the text to the author.
    let error = engine.compile(&env, r#"request.pth == "/a" && request.method > 3"#).expect_err("it has mistakes");
    println!("{error}");
    let codes: Vec<&str> = error.diagnostics().iter().map(|diagnostic| diagnostic.code).collect();
    println!("codes for programs: {codes:?}\n");
    assert_eq!(codes, ["undeclared-name", "no-matching-overload"]);

    // 2. A rule that is valid, but probably not meant.
    let rule = engine.compile(&env, r#"request.path.startsWith("/a") || true"#)?;
    for warning in rule.warnings() {
        println!("warning: {}", warning.message);
    }
    assert_eq!(rule.warnings().len(), 1);

    // 3. An evaluation that fails: a missing header is an error. Decide for each rule what that means.
    let rule = engine.compile(&env, r#"request.headers["x-team"] == "ops""#)?;
    let request = http::Request::get("/").body(())?;
    let context = RequestContext::new(&request);
    let error = rule.test(&context).expect_err("there is no such header");
    println!("\nevaluating: {error}");
    assert_eq!(error.kind, ErrorKind::NoSuchKey);
    // For whoever reads it: what it failed on, under the rule, as compile errors are shown. It
    // evaluates the rule once more.
    let report = rule.describe(&error, &context);
    println!("{}", report.render("team.cel", false));
    assert_eq!(report.message(), r#"no header "x-team""#);
    let admitted = rule.test(&context).unwrap_or(false); // a rule that allows: an error is no
    assert!(!admitted);

    // 4. In a set, the policy for errors decides. Rules that deny count an error as a match.
    let rules = engine
        .rules(&env)
        .rule("outsiders", r#"request.headers["x-team"] != "ops""#, 403)
        .on_error(ErrorPolicy::Match)
        .build()?;
    let mut scratch = Scratch::new();
    let found = rules.first(&context, &mut scratch)?.map(|rule| (rule.name, *rule.action));
    println!("with ErrorPolicy::Match: {found:?}");
    assert_eq!(found, Some(("outsiders", 403)));
    // The errors that did not end the evaluation, each on one line with the name of its rule.
    // `log_line` leaves out text of the request.
    let lines: Vec<String> = scratch
        .errors()
        .iter()
        .filter_map(|error| rules.describe(error, &context))
        .map(|report| report.log_line())
        .collect();
    println!("{}", lines.join("\n"));
    assert!(lines[0].starts_with(r#"rule "outsiders": no header "x-team""#));

    // 5. Rules of strangers: bounds for everything. A spent budget is an error that no rule can hide.
    let limits = Limits { steps: 1_000, ..Limits::default() };
    let strict = Engine::builder().limits(limits).build();
    let greedy = strict.compile(&env, "lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))")?;
    let error = greedy.test(&context).expect_err("it takes a million steps");
    println!("\nwith 1,000 steps: {error}");
    assert_eq!(error.kind, ErrorKind::OutOfBudget);
    Ok(())
}
