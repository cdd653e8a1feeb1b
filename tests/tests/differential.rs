//! The interpreter, native code, and native code without passes agree on random typed programs, value for value and error
//! for error.
//!
//! `CELERO_DIFFERENTIAL_CASES` sets how many pairs of a program and a set of inputs are compared, `CELERO_SEED` the seed.

#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

use celero::{Arena, Bindings, Context, Engine, Env, Program, Scratch, Tier, Type, Value};
use celero_tests::differential::{Arm, Ended, Report, compare};
use celero_tests::generate::{Case, Declared, Generator, Owned};
use std::thread;

const CASES: u64 = 200_000;
const THREADS: u64 = 2;

/// Fewest times that each builtin and each kind of syntax must be met in a run of [`CASES`].
const LEAST: u64 = 20;

/// Runs programs over variables that are declared at run time.
struct Dynamic {
    name: &'static str,
    engine: Engine,
}

impl Arm for Dynamic {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&mut self, case: &Case) -> Result<Vec<Ended>, String> {
        let env = case.variables.iter().fold(Env::dynamic(), |env, v| env.variable(&v.name, v.ty.clone()));
        let program = self.engine.compile(&env, &case.source).map_err(|error| error.to_string())?;
        let mut scratch = Scratch::new();
        let mut results = Vec::with_capacity(case.bindings.len());
        for set in &case.bindings {
            let arena = Arena::new(1 << 24);
            let mut bindings = Bindings::new(&env);
            for (variable, value) in case.variables.iter().zip(set) {
                if let Some(value) = value {
                    let value = value.in_arena(&arena).map_err(|kind| kind.to_string())?;
                    bindings.set(&variable.name, value).map_err(|error| error.to_string())?;
                }
            }
            results.push(ended(&program, &bindings, &mut scratch)?);
        }
        Ok(results)
    }
}

fn ended<C: Context>(program: &Program<C::Static>, context: &C, scratch: &mut Scratch) -> Result<Ended, String> {
    let shown = Arena::new(1 << 24);
    match program.eval(context, scratch) {
        Ok(value) => Owned::of(&value, &shown).map(Ended::Value).map_err(|kind| kind.to_string()),
        Err(error) => Ok(Ended::Error(error.kind)),
    }
}

/// Data that native code reads in place.
#[derive(Context)]
struct Call<'a> {
    secure: bool,
    size: i64,
    port: u64,
    ratio: f64,
    method: &'a str,
    path: String,
    level: Option<i64>,
    host: Option<&'a str>,
    claim: Value<'a>,
}

/// Runs programs over [`Call`].
struct Typed {
    name: &'static str,
    engine: Engine,
}

fn variables_of_call() -> Vec<Declared> {
    let variable = |name: &str, ty, optional| Declared { name: name.into(), ty, optional };
    vec![
        variable("secure", Type::Bool, false),
        variable("size", Type::Int, false),
        variable("port", Type::Uint, false),
        variable("ratio", Type::Double, false),
        variable("method", Type::String, false),
        variable("path", Type::String, false),
        variable("level", Type::Int, true),
        variable("host", Type::String, true),
        variable("claim", Type::Dyn, false),
    ]
}

fn call<'a>(set: &'a [Option<Owned>], arena: &'a Arena) -> Result<Call<'a>, String> {
    use Owned::{Bool, Double, Int, String, Uint};
    let [
        Some(Bool(secure)),
        Some(Int(size)),
        Some(Uint(port)),
        Some(Double(ratio)),
        Some(String(method)),
        Some(String(path)),
        level,
        host,
        Some(claim),
    ] = set
    else {
        return Err(format!("not the fields of a call: {set:?}"));
    };
    Ok(Call {
        secure: *secure,
        size: *size,
        port: *port,
        ratio: *ratio,
        method,
        path: path.clone(),
        level: if let Some(Int(level)) = level { Some(*level) } else { None },
        host: if let Some(String(host)) = host { Some(host) } else { None },
        claim: claim.in_arena(arena).map_err(|kind| kind.to_string())?,
    })
}

impl Arm for Typed {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&mut self, case: &Case) -> Result<Vec<Ended>, String> {
        let env = Env::<Call<'_>>::new();
        let program = self.engine.compile(&env, &case.source).map_err(|error| error.to_string())?;
        let mut scratch = Scratch::new();
        let run = |set: &Vec<Option<Owned>>| {
            let arena = Arena::new(1 << 24);
            ended(&program, &call(set, &arena)?, &mut scratch)
        };
        case.bindings.iter().map(run).collect()
    }
}

fn number(name: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(name) else { return default };
    let parsed = text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16));
    parsed.unwrap_or_else(|_| panic!("{name} is no number: {text}"))
}

/// The ways to run programs: name and settings.
fn ways() -> [(&'static str, Engine); 3] {
    let engine = |tier, optimize| Engine::builder().tier(tier).optimize(optimize).build();
    [
        ("interpreter", engine(Tier::Interpret, true)),
        ("native", engine(Tier::Native, true)),
        ("native without passes", engine(Tier::Native, false)),
    ]
}

fn run_dynamic(seed: u64, pairs: u64) -> Report {
    let [mut a, mut b, mut c] = ways().map(|(name, engine)| Dynamic { name, engine });
    compare(Generator::new(seed), pairs, &mut [&mut a, &mut b, &mut c])
}

fn run_typed(seed: u64, pairs: u64) -> Report {
    let [mut a, mut b, mut c] = ways().map(|(name, engine)| Typed { name, engine });
    compare(Generator::over(seed, variables_of_call()), pairs, &mut [&mut a, &mut b, &mut c])
}

/// Runs on [`THREADS`] threads and fails on a disagreement.
fn agree(cases: u64, run: fn(u64, u64) -> Report) -> Report {
    let seed = number("CELERO_SEED", 1);
    let mut total = Report::default();
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|n| scope.spawn(move || run(seed.wrapping_add(n << 32), cases / THREADS))).collect();
        for thread in threads {
            total.merge(thread.join().unwrap());
        }
    });
    let Report { programs, refused, compared, spent, coverage, failures } = &total;
    println!("seed {seed}: {compared} cases of {programs} programs, {spent} spent their budget, {refused} refused");
    println!("{coverage}");
    assert!(failures.is_empty(), "{} disagreements, seed {seed}:\n{}", failures.len(), failures.join("\n"));
    assert!(*refused <= programs / 50, "the generator wrote {refused} programs that don't check, of {programs}");
    total
}

#[test]
fn the_tiers_agree() {
    let cases = number("CELERO_DIFFERENTIAL_CASES", CASES);
    let report = agree(cases, run_dynamic);
    if cases >= CASES {
        let missing = report.coverage.missing(LEAST);
        assert!(missing.is_empty(), "met fewer than {LEAST} times: {missing:?}");
        let errors = report.coverage.missing_errors();
        assert!(errors.is_empty(), "no program ended with {errors:?}");
    }
}

#[test]
fn the_tiers_agree_on_fields_read_in_place() {
    agree(number("CELERO_DIFFERENTIAL_CASES", CASES) / 4, run_typed);
}
