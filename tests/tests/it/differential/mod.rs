//! The interpreter, native code, and native code without passes agree on random typed programs,
//! value for value and error for error, places included.
//!
//! Each line of the table of what the programs consist of
//! ([`Coverage`](celero_tests::generate::Coverage)) is met by at least [`LEAST`] cases.
//!
//! `CELERO_DIFFERENTIAL_CASES` sets how many pairs of a program and a set of inputs are compared,
//! `CELERO_SEED` the seed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

use call::{Call, Inputs, call, referred, variables_of_call};
use celero::settings::Explanation;
use celero::values::Arena;
use celero::{Bindings, Context, Engine, Env, Limits, Program, Scratch, Tier};
use celero_tests::differential::{Arm, Ended, Report, compare_more};
use celero_tests::generate::{Case, Coverage, Generator, Group, Owned, declare};
use std::thread;

mod call;

const CASES: u64 = 400_000;
const THREADS: u64 = 2;

/// Fewest cases that each line of the table must have in a run of [`CASES`].
const LEAST: u64 = 1_000;

/// A tier, with and without its passes.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    tier: Tier,
    optimize: bool,
    /// Whether rules that differ in constants only share code.
    share_code: bool,
    /// Whether some programs are compiled after the same with other places, so that their code is a
    /// copy if they are small.
    copy: bool,
}

const WAYS: [Way; 4] = [
    Way { name: "interpreter", tier: Tier::Interpret, optimize: true, share_code: false, copy: false },
    Way { name: "native", tier: Tier::Native, optimize: true, share_code: false, copy: true },
    Way { name: "shared native code", tier: Tier::Native, optimize: true, share_code: true, copy: false },
    Way { name: "native without passes", tier: Tier::Native, optimize: false, share_code: false, copy: false },
];

impl Way {
    fn engine(self, steps: Option<u32>) -> Engine {
        let limits = Limits::default();
        let limits = Limits { steps: steps.unwrap_or(limits.steps), ..limits };
        let engine = Engine::builder().tier(self.tier).optimize(self.optimize).share_code(self.share_code);
        engine.limits(limits).build()
    }

    fn compile<C: Context>(self, engine: &Engine, env: &Env<C>, source: &str) -> Result<Program<C::Static>, String> {
        if self.copy && source.len().is_multiple_of(4) {
            // They may be too long with the blanks, or not compile at all.
            let _ = [" ", "  "].map(|blanks| engine.compile(env, &format!("{blanks}{source}")));
        }
        engine.compile(env, source).map_err(|error| error.to_string())
    }
}

/// Runs programs over variables that are declared at run time.
struct Dynamic {
    way: Way,
    engine: Engine,
}

impl Dynamic {
    fn new(way: Way) -> Self {
        Self { way, engine: way.engine(None) }
    }
}

impl Arm for Dynamic {
    fn name(&self) -> &str {
        self.way.name
    }

    fn run(&mut self, case: &Case) -> Result<Vec<Ended>, String> {
        let env = case.env();
        let engine = case.steps.map_or_else(|| self.engine.clone(), |steps| self.way.engine(Some(steps)));
        let program = self.way.compile(&engine, &env, &case.source)?;
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

    fn stages(&mut self, case: &Case) -> Option<Explanation> {
        self.engine.explain(&case.env(), &case.source).ok()
    }
}

fn ended<C: Context>(program: &Program<C::Static>, context: &C, scratch: &mut Scratch) -> Result<Ended, String> {
    let shown = Arena::new(1 << 24);
    match program.eval(context, scratch) {
        Ok(value) => Owned::of(&value, &shown).map(Ended::Value).map_err(|kind| kind.to_string()),
        Err(error) => Ok(Ended::failed(&error)),
    }
}

/// Runs programs over [`Call`].
struct Typed {
    way: Way,
    engine: Engine,
    env: Env<Call<'static>>,
}

impl Typed {
    fn new(way: Way, unchecked: bool) -> Self {
        Self { way, engine: way.engine(None), env: declare(Env::new()).unchecked(unchecked) }
    }
}

impl Arm for Typed {
    fn name(&self) -> &str {
        self.way.name
    }

    fn run(&mut self, case: &Case) -> Result<Vec<Ended>, String> {
        let engine = case.steps.map_or_else(|| self.engine.clone(), |steps| self.way.engine(Some(steps)));
        let program = self.way.compile(&engine, &self.env, &case.source)?;
        let mut scratch = Scratch::new();
        let run = |set: &Vec<Option<Owned>>| {
            let arena = Arena::new(1 << 24);
            let inputs = Inputs::new(case, set);
            let referred = referred(&inputs);
            ended(&program, &call(&inputs, &referred, &arena)?, &mut scratch)
        };
        case.bindings.iter().map(run).collect()
    }

    fn stages(&mut self, case: &Case) -> Option<Explanation> {
        self.engine.explain(&self.env, &case.source).ok()
    }
}

fn number(name: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(name) else { return default };
    let parsed = text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16));
    parsed.unwrap_or_else(|_| panic!("{name} is no number: {text}"))
}

/// One share of a run: cases over variables of their own and over [`Call`], each with and without static types.
fn run(seed: u64, pairs: u64) -> Report {
    let [mut a, mut b, mut c, mut d] = WAYS.map(Dynamic::new);
    let mut report = Report::default();
    let share = |percent: u64| pairs * percent / 100;
    compare_more(&mut report, Generator::new(seed), share(45), &mut [&mut a, &mut b, &mut c, &mut d]);
    compare_more(&mut report, Generator::new(seed ^ 1).unchecked(), share(8), &mut [&mut a, &mut b, &mut c, &mut d]);
    let [mut a, mut b, mut c, mut d] = WAYS.map(|way| Typed::new(way, true));
    let typed = Generator::over(seed ^ 2, variables_of_call());
    compare_more(&mut report, typed.clone().unchecked(), share(7), &mut [&mut a, &mut b, &mut c, &mut d]);
    let [mut a, mut b, mut c, mut d] = WAYS.map(|way| Typed::new(way, false));
    compare_more(&mut report, typed, share(40), &mut [&mut a, &mut b, &mut c, &mut d]);
    report
}

/// Runs another program than it is asked to: a fault that the comparison must find.
struct Planted {
    inner: Dynamic,
    fault: (&'static str, &'static str),
}

impl Arm for Planted {
    fn name(&self) -> &str {
        "planted"
    }

    fn run(&mut self, case: &Case) -> Result<Vec<Ended>, String> {
        let wrong = Case { source: case.source.replace(self.fault.0, self.fault.1), ..case.clone() };
        // Where the other program does not check, the fault is not there.
        self.inner.run(&wrong).or_else(|_| self.inner.run(case))
    }
}

#[test]
fn planted_faults_are_found() {
    let faults = [
        (" < ", " <= "),
        (" && ", " || "),
        (".startsWith(", ".endsWith("),
        (".exists(", ".all("),
        (".exists_one(", ".exists("),
        (" / 0 ", " % 0 "),
        ("math.greatest(", "math.least("),
        ("has(", "!has("),
    ];
    for fault in faults {
        let (mut right, mut planted) = (Dynamic::new(WAYS[0]), Planted { inner: Dynamic::new(WAYS[0]), fault });
        let mut report = Report::default();
        while report.failures.is_empty() && report.programs < 12_000 {
            let generator = Generator::new(report.programs);
            compare_more(&mut report, generator, 800, &mut [&mut right, &mut planted]);
        }
        let found = report.failures.first().unwrap_or_else(|| panic!("{fault:?} was not found"));
        assert!(found.contains("smallest: ") && found.contains("planted: "), "{found}");
    }
}

#[test]
fn the_tiers_agree() {
    let cases = number("CELERO_DIFFERENTIAL_CASES", CASES);
    let seed = number("CELERO_SEED", 1);
    let mut total = Report::default();
    let variables = variables_of_call();
    total.coverage.expect(Group::Variable, variables.iter().map(|v| v.name.clone().into()));
    let functions = declare(Env::dynamic()).declarations().functions().to_vec();
    total.coverage.expect(Group::Host, functions.iter().map(|f| f.name.to_string().into()));
    let definitions = declare(Env::dynamic()).declarations().definitions().to_vec();
    total.coverage.expect(Group::Defined, definitions.iter().map(|d| d.name().to_owned().into()));
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
    if cases >= CASES {
        let missing = coverage.missing(Coverage::GROUPS, LEAST);
        assert!(missing.is_empty(), "met by fewer than {LEAST} cases:\n{}", missing.join("\n"));
    }
}
