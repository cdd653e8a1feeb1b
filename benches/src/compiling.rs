//! What compiling costs: time from text to a program, Cranelift's part of that time, and the memory
//! that a program keeps. An engine keeps the code of rules, of which others get copies without
//! Cranelift, so both are measured: rules that the code generator compiles, and rules that get
//! copies.

use crate::Workload;
use crate::measure::allocated;
use crate::workload::Extras;
use celero::http::RequestContext;
use celero::{Context, Engine, Env, Program, Tier};
use std::time::Instant;

/// Programs kept alive at once to measure the memory of one.
const KEPT: usize = 10_000;
/// Bytes of a page: machine code is kept in whole pages.
const PAGE: usize = 4096;

/// What compiling all rules of a workload costs.
#[derive(Clone, Copy, Debug)]
pub struct CompileCost {
    /// Median microseconds from texts to programs, for rules that Cranelift compiles.
    pub total: f64,
    /// The same for rules that get copies of code.
    pub again: f64,
    /// Median microseconds of `total` in Cranelift's code generator.
    pub codegen: f64,
    /// Median of the ratio of one compilation's time to Cranelift's part of it.
    pub ratio: f64,
    /// Bytes of machine code.
    pub code_bytes: usize,
    /// Mean bytes of heap that a program keeps. The [`CountingAllocator`](crate::CountingAllocator) must be installed.
    pub kept_heap: usize,
    /// Mean bytes of the pages that hold a program's code.
    pub kept_pages: usize,
}

/// Measures compiling a workload's rules: medians over `5 * rounds` compilations with a warm engine.
#[must_use]
pub fn compile_cost(workload: &Workload, rounds: usize) -> CompileCost {
    if workload.reads_extras() {
        cost_on::<Extras<'static>>(workload, rounds)
    } else {
        cost_on::<RequestContext<'static>>(workload, rounds)
    }
}

fn cost_on<S: Context<Static = S> + 'static>(workload: &Workload, rounds: usize) -> CompileCost {
    let engine = Engine::builder().tier(Tier::Native).build();
    let env = Env::<S>::new();
    let sources = workload.sources();
    let compile = |engine: &Engine, source: &str| engine.compile(&env, source).expect("a rule that compiles");
    let programs: Vec<Program<S>> = sources.iter().map(|source| compile(&engine, source)).collect();
    let code_bytes = programs.iter().map(Program::code_size).sum();

    let runs = rounds.saturating_mul(5).max(1);
    let compiled = Engine::builder().tier(Tier::Native).copy_code(false).build();
    let timed = |engine: &Engine| {
        let (before, start) = (engine.codegen_time(), Instant::now());
        let programs: Vec<_> = sources.iter().map(|source| compile(engine, source)).collect();
        let total = start.elapsed().as_secs_f64() * 1e6;
        let codegen = engine.codegen_time().saturating_sub(before).as_secs_f64() * 1e6;
        drop(programs);
        (total, codegen)
    };
    // Code is kept when it occurs for the second time.
    timed(&engine);
    let mut times: [Vec<f64>; 4] = Default::default();
    for _ in 0..runs {
        let (total, codegen) = timed(&compiled);
        let (again, _) = timed(&engine);
        for (times, time) in times.iter_mut().zip([total, again, codegen, total / codegen]) {
            times.push(time);
        }
    }
    let [total, again, codegen, ratio] = times.map(median);

    let before = allocated();
    let kept: Vec<_> = sources.iter().cycle().take(KEPT).map(|source| compile(&engine, source)).collect();
    let of_vec = kept.capacity().saturating_mul(size_of::<Program<S>>());
    let kept_heap = allocated().saturating_sub(before).saturating_sub(of_vec) / KEPT;
    let kept_pages = kept.iter().map(|program| program.code_size().next_multiple_of(PAGE)).sum::<usize>() / KEPT;
    CompileCost { total, again, codegen, ratio, code_bytes, kept_heap, kept_pages }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
