//! Times every engine on every workload and prints the table; `--json` writes it for programs.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use celero_benches::{CountingAllocator, ENGINES, NAMES, Runner, Workload, allocations, interleaved, runner, scaling};
use clap::Parser;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Compare celero with handwritten Rust and with its peers.
#[derive(Parser)]
struct Arguments {
    /// Write the results to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only these workloads, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "W3,W9")]
    only: Vec<String>,
    /// Print the table as Markdown at the end.
    #[arg(long)]
    markdown: bool,
    /// Turns that each engine takes on each workload.
    #[arg(long, default_value_t = 101)]
    rounds: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    for name in &arguments.only {
        if !NAMES.contains(&name.as_str()) {
            println!("no workload `{name}`; there are {}", NAMES.join(", "));
            return ExitCode::from(2);
        }
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    print!("{:8}", "");
    ENGINES.iter().for_each(|e| print!("{e:>26}"));
    println!("{:>22}", format!("native x{threads} threads"));
    let mut workloads = Vec::new();
    let mut right = true;
    for name in NAMES.iter().filter(|n| arguments.only.is_empty() || arguments.only.iter().any(|o| o == *n)) {
        let Some(workload) = Workload::new(name) else { continue };
        match compare(&workload, arguments.rounds, threads) {
            Ok(value) => workloads.push(value),
            Err(message) => {
                println!("{name}: {message}");
                right = false;
            }
        }
    }
    println!("\nns for an evaluation (median), ratio to handwritten, allocations");
    if arguments.markdown {
        print_markdown(&workloads);
    }
    if let Some(path) = arguments.json {
        let machine = json!({
            "os": std::env::consts::OS, "arch": std::env::consts::ARCH, "threads": threads, "cpu": cpu(),
        });
        let report = json!({ "machine": machine, "workloads": workloads, "rulesets": [] });
        if let Err(error) = std::fs::write(&path, format!("{report:#}\n")) {
            println!("cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn compare(workload: &Workload, rounds: usize, threads: usize) -> Result<Value, String> {
    let input = workload.input();
    let mut engines = Vec::new();
    let mut runners: Vec<Runner> = Vec::new();
    for engine in ENGINES {
        let Some(runner) = runner(engine, workload) else { continue };
        let answer = runner(&input);
        if answer != workload.expected {
            return Err(format!("{engine} answers {answer}, right is {}", workload.expected));
        }
        engines.push(*engine);
        runners.push(runner);
    }
    let samples = interleaved(&runners, &input, rounds);
    let base = samples.first().map_or(f64::NAN, |s| s.ns);
    let mut members = Map::new();
    print!("{:8}", workload.name);
    for ((engine, runner), sample) in engines.iter().zip(&runners).zip(&samples) {
        let allocs = allocations(runner, &input);
        let ratio = sample.ns / base;
        members.insert(
            (*engine).to_owned(),
            json!({ "ns": round(sample.ns), "best_ns": round(sample.best), "ratio": round(ratio), "allocs": allocs }),
        );
        print!("{:>26}", format!("{:.1} ({ratio:.2}x, {allocs:.0})", sample.ns));
    }
    let mut result = json!({ "name": workload.name, "engines": members });
    if let Some(native) = engines.iter().position(|e| *e == "native").and_then(|i| runners.get(i)) {
        let (one, many, ratio) = scaling(native, &input, threads);
        print!("{:>22}", format!("{ratio:.2}x"));
        if let Some(result) = result.as_object_mut() {
            result.insert(
                "scaling".into(),
                json!({ "threads": threads, "one_per_s": one.round(), "all_per_s": many.round(), "ratio": round(ratio) }),
            );
        }
    }
    println!();
    Ok(result)
}

/// The medians as a table; what `README.md` shows.
fn print_markdown(workloads: &[Value]) {
    println!("\n| | {} |", ENGINES.join(" | "));
    println!("|---|{}", "---:|".repeat(ENGINES.len()));
    for workload in workloads {
        let (Some(name), Some(engines)) = (workload.get("name").and_then(Value::as_str), workload.get("engines"))
        else {
            continue;
        };
        let cell = |engine: &str| {
            let ns = engines.get(engine)?.get("ns")?.as_f64()?;
            Some(if ns < 100.0 { format!("{ns:.1}") } else { format!("{ns:.0}") })
        };
        let cells: Vec<String> = ENGINES.iter().map(|e| cell(e).unwrap_or_default()).collect();
        println!("| {name} {} | {} |", about(name), cells.join(" | "));
    }
}

/// What a workload is, in a few words.
fn about(name: &str) -> &'static str {
    match name {
        "W1" => "method ==",
        "W2" => "header's text",
        "W3" => "header ==",
        "W4" => "path prefix and method",
        "W5" => "header contains",
        "W6" => "path matches",
        "W7" => "address in two networks",
        "W8" => "header in a set of 100",
        "W8_miss" => "the same, not in it",
        "W9" => "twenty mixed rules",
        "W10" => "arithmetic",
        "W11" => "exists over 16 strings",
        "W12" => "member of a JSON body",
        _ => "",
    }
}

fn round(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|l| l.starts_with("model name"));
    line.and_then(|l| l.split_once(": ")).map_or_else(|| "unknown".into(), |(_, name)| name.trim().into())
}
