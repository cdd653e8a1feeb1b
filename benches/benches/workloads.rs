//! Each workload on each engine, under divan.
#![expect(clippy::expect_used, reason = "a benchmark whose preparation fails has nothing to measure")]
#![expect(clippy::panic, reason = "a wrong answer must not be timed")]

use celero_benches::{ENGINES, NAMES, Workload, runner};
use divan::{Bencher, black_box};

#[global_allocator]
static ALLOCATOR: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

fn pairs() -> Vec<String> {
    NAMES.iter().flat_map(|name| ENGINES.iter().map(move |engine| format!("{name}/{engine}"))).collect()
}

#[divan::bench(args = pairs(), sample_size = 1024)]
fn workload(bencher: Bencher<'_, '_>, pair: &str) {
    let (name, engine) = pair.split_once('/').expect("workload/engine");
    let workload = Workload::new(name).expect("a workload");
    let run = runner(engine, &workload).expect("an engine");
    let input = workload.input();
    let answer = run(&input);
    if answer != workload.expected {
        panic!("{pair} answers {answer}, right is {}", workload.expected);
    }
    bencher.bench_local(|| run(black_box(&input)));
}
