//! Rules made to hurt, on a small stack: each compiles or gets diagnostics, in little time, in both
//! tiers; what compiles evaluates; what would run forever ends in `out_of_budget`.
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

use celero::settings::SourceLimits;
use celero::{Bindings, Engine, Env, ErrorKind, Limits, Program, Scratch, Tier, Type, Value};
use celero_tests::rule_shapes::SHAPES;
use celero_tests::shared::say;
use celero_timing::{cpu_time, cpu_time_of, least_times};
use std::time::Duration;

mod budget;
mod text;

/// Runs on a thread with little stack.
fn small_stack<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 * 1024).spawn(f).unwrap().join().unwrap()
}

const TIERS: [Tier; 2] = [Tier::Interpret, Tier::Native];

fn env() -> Env<Bindings<'static>> {
    let env = Env::dynamic().variable("a", Type::Bool).variable("i", Type::Int).variable("s", Type::String);
    env.variable("m", Type::map(Type::String, Type::Dyn)).variable("d", Type::Dyn)
}

fn bindings(env: &Env<Bindings<'static>>) -> Bindings<'static> {
    let mut bindings = Bindings::new(env);
    bindings.set("a", Value::Bool(true)).unwrap();
    bindings.set("i", Value::Int(1)).unwrap();
    bindings.set("s", Value::String("x")).unwrap();
    bindings
}

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).build()
}

/// An engine whose source may be long, so that the other bounds have to hold.
fn roomy(tier: Tier) -> Engine {
    let source = SourceLimits { max_source_bytes: 4 << 20, ..SourceLimits::default() };
    Engine::builder().tier(tier).limits(Limits { source, ..Limits::default() }).build()
}

/// One row of the table of times.
struct Row {
    name: String,
    bytes: usize,
    tier: Tier,
    accepted: bool,
    time: Duration,
}

/// Compiles, and evaluates what compiles.
fn try_out(engine: &Engine, tier: Tier, name: &str, source: &str) -> Row {
    let env = env();
    let start = cpu_time();
    let result = engine.compile(&env, source);
    let time = cpu_time() - start;
    match &result {
        Ok(program) => drop(program.eval(&bindings(&env), &mut Scratch::new()).map(drop)),
        Err(error) => {
            assert!(!error.diagnostics().is_empty(), "{name}: no diagnostics");
            // Names are quoted whole; nothing else grows with the source.
            let text = error.to_string().len();
            assert!(text < 100_000 + 2 * source.len(), "{name}: {text} bytes of diagnostics");
        }
    }
    Row { name: name.to_owned(), bytes: source.len(), tier, accepted: result.is_ok(), time }
}

fn print_slowest(title: &str, mut rows: Vec<Row>) {
    rows.sort_by_key(|row| std::cmp::Reverse(row.time));
    say(&format!("{title}: {} compilations, the slowest accepted and rejected:", rows.len()));
    for accepted in [true, false] {
        for row in rows.iter().filter(|row| row.accepted == accepted).take(6) {
            let verdict = if accepted { "accepted" } else { "rejected" };
            let name: String = row.name.chars().take(50).collect();
            say(&format!("  {:>9.2?} {verdict} {:?} {} ({} bytes)", row.time, row.tier, name, row.bytes));
        }
    }
}

#[test]
fn shapes_of_every_size_end() {
    let rows = small_stack(|| {
        let mut rows = Vec::new();
        for tier in TIERS {
            let (plain, roomy) = (engine(tier), roomy(tier));
            for (name, make) in SHAPES {
                for n in [0, 1, 3, 4, 30, 120, 249, 250, 251, 1000] {
                    rows.push(try_out(&plain, tier, &format!("{name} x {n}"), &make(n)));
                }
                for n in [10_000, 100_000] {
                    rows.push(try_out(&plain, tier, &format!("{name} x {n}"), &make(n)));
                    rows.push(try_out(&roomy, tier, &format!("{name} x {n} of 4 MiB"), &make(n)));
                }
            }
        }
        rows
    });
    assert!(rows.iter().filter(|row| row.accepted).count() > 200, "hardly any shape is a rule");
    print_slowest("shapes", rows);
}

/// The deepest trees that are accepted evaluate on a small stack, to the same in both tiers.
#[test]
fn the_deepest_nesting_evaluates() {
    small_stack(|| {
        let env = env();
        let engines = TIERS.map(engine);
        for (name, make) in SHAPES {
            let Some(n) = (1..=260).rev().find(|n| engines.iter().all(|e| e.compile(&env, &make(*n)).is_ok())) else {
                continue;
            };
            let outcomes = engines.each_ref().map(|engine| {
                let program = engine.compile(&env, &make(n)).unwrap();
                let mut scratch = Scratch::new();
                let bindings = bindings(&env);
                let outcome = program.eval(&bindings, &mut scratch);
                format!("{outcome:?}")
            });
            let [interpreted, native] = &outcomes;
            assert_eq!(interpreted, native, "{name} x {n}");
        }
    });
}

/// Time for `n` and for twice as many: what compiles takes time about linear in its size.
#[test]
fn compiling_is_about_linear() {
    const LINEAR: &[&str] = &[
        "and of different",
        "or of calls",
        "or and",
        "wide list of variables",
        "wide map",
        "wide in",
        "conditionals",
        "nested or",
        "or and in turn",
        "conditionals as condition",
        "conditionals in both",
        "sum of text",
        "sum",
        "macros",
        "macros all",
        "binds",
        "optional or",
    ];
    small_stack(|| {
        let env = env();
        let mut steep: Vec<String> = Vec::new();
        for tier in TIERS {
            let engine = engine(tier);
            for (name, make) in SHAPES.iter().filter(|(name, _)| LINEAR.contains(name)) {
                let accepted = |n: &usize| engine.compile(&env, &make(*n)).is_ok();
                let Some(most) = [4000, 2000, 240, 120, 60, 16].into_iter().find(accepted) else {
                    panic!("{name}: nothing compiles")
                };
                let time = |n: usize| {
                    let source = make(n);
                    cpu_time_of(|| engine.compile(&env, &source).unwrap())
                };
                // Linear is 4, quadratic 16, cubic 64; what takes hardly any time says nothing.
                // Loops in loops come near quadratic in native code, which has at most 16 of them.
                // Tests that run beside this one share its memory bandwidth, which slows the
                // largest rule down most: what is allowed is well below cubic.
                let most_allowed = if name.starts_with("macros") { 40.0 } else { 10.0 };
                let fit = |[quarter, _, whole]: [f64; 3]| whole <= 0.01 || whole / quarter <= most_allowed;
                let times = least_times([most / 4, most / 2, most], 3..=12, time, fit);
                let seconds = times.map(|time| time.as_secs_f64());
                let [quarter, half, whole] = seconds;
                say(&format!(
                    "  {tier:?} {name} x {most}: {times:.2?}, ratios {:.1} {:.1}",
                    half / quarter,
                    whole / half
                ));
                if !fit(seconds) {
                    steep.push(format!("{tier:?} {name}: {times:.2?} for a quarter, half, all of {most}"));
                }
            }
        }
        assert!(steep.is_empty(), "{steep:#?}");
    });
}
