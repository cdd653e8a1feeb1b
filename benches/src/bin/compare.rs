//! Times every engine on every workload and prints the results; `--json` writes them as a record.
//! METHODOLOGY.md says how.
#![expect(clippy::print_stdout, reason = "a command")]

use celero_benches::asking::compare_asking;
use celero_benches::everything::compare_everything;
use celero_benches::filter::{FILTER_ENGINES, FILTER_NAMES, FilterRunner, filter_input, filter_runners};
use celero_benches::limits::compare_limits;
use celero_benches::lists::{self, compare_lists};
use celero_benches::lookups::{self, Contender, Hit, LENGTHS, Misses, NEEDLES};
use celero_benches::messages::compare_messages;
use celero_benches::rulesets::{Options, PARTS, compare_rule_sets, curve};
use celero_benches::{
    CountingAllocator, ENGINES, Input, NAMES, Runner, Workload, allocations, bars, build_line, build_record,
    compare_matching, compile_cost, interleaved, markdown, runner, scaling,
};
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
    /// Only these workloads, or with `--everything` fields, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "W3,W9")]
    only: Vec<String>,
    /// Time only searches for text in text.
    #[arg(long)]
    search: bool,
    /// Time compiling the rules instead of evaluating them.
    #[arg(long)]
    compile: bool,
    /// Measure only sets of networks, literals and patterns, without rules, against the usual
    /// crates, and Hyperscan if it is installed.
    #[arg(long)]
    matching: bool,
    /// Measure only rules in this language: `filter` is Cloudflare's, with the workloads F1 to F8.
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<Language>,
    /// Measure only what asking a set costs where no rule matches.
    #[arg(long)]
    asking: bool,
    /// Measure only every kind of field with every operation, and every function; `--only` chooses fields.
    #[arg(long)]
    everything: bool,
    /// Measure only rules on a message of protocol buffers, against decoding it with prost.
    #[arg(long)]
    messages: bool,
    /// Measure only limits by key.
    #[arg(long)]
    limits: bool,
    /// Measure only named lists: lookups against the usual crates, and readers while a list changes.
    #[arg(long)]
    lists: bool,
    /// With --lists: compare the answers of all engines for this many random addresses first.
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    answers: usize,
    /// With --lists: the numbers of networks, separated by commas.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 100_000, 1_000_000], value_name = "N")]
    sizes: Vec<usize>,
    /// Measure only sets of 1 to 100,000 rules, hard cases and real sets.
    #[arg(long)]
    rulesets: bool,
    /// With --rulesets: the largest number of rules in a set.
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    most: usize,
    /// With --rulesets: only these parts, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "sizes,growth,changes,pathologies,crs,crawlers")]
    parts: Vec<String>,
    /// With --rulesets or --from: draw the chart of the results to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print the results as Markdown tables at the end.
    #[arg(long)]
    markdown: bool,
    /// Measure nothing; print the Markdown tables of a record that --json wrote.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "only", "search"])]
    from: Option<PathBuf>,
    /// Number of rounds; in each, every engine runs about 200 µs on the workload.
    #[arg(long, default_value_t = 101)]
    rounds: usize,
}

/// A language with workloads of its own.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Language {
    /// Cloudflare's filter language.
    Filter,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(record) = &arguments.from {
        return show(record, arguments.svg.as_ref());
    }
    println!("{}\n", build_line());
    let (rounds, only) = (arguments.rounds, &*arguments.only);
    let say = &mut |line: &str| println!("{line}");
    let part = if arguments.language.is_some() {
        ("filter", compare_filters(rounds, only).map(Value::from))
    } else if arguments.asking {
        ("asking", compare_asking(rounds, &mut |line: String| println!("{line}")).map(Value::from))
    } else if arguments.messages {
        ("messages", compare_messages(rounds, &mut |line: String| println!("{line}")).map(Value::from))
    } else if arguments.everything {
        ("everything", compare_everything(rounds, only, &mut |line: String| println!("{line}")).map(Value::from))
    } else if arguments.matching {
        ("matching", compare_matching(rounds, only, say).map(Value::from))
    } else if let Some(name) = only.iter().find(|name| !NAMES.contains(&name.as_str()) && *name != W13) {
        println!("no workload `{name}`; there are {}, {W13}", NAMES.join(", "));
        return ExitCode::from(2);
    } else if arguments.limits {
        let print = |rows: &Vec<Value>| rows.iter().for_each(|row| println!("{row}"));
        ("limits", compare_limits(rounds).inspect(print).map(Value::from))
    } else if arguments.lists {
        let (answers, sizes) = (arguments.answers, arguments.sizes.clone());
        ("lists", compare_lists(&lists::Options { rounds, answers, sizes }, say))
    } else if arguments.rulesets {
        return rule_sets(&arguments);
    } else if arguments.compile {
        ("compile", Ok(compare_compiling(&arguments).into()))
    } else {
        return workloads(&arguments);
    };
    match part {
        (name, Ok(rows)) => write_report(arguments.json.as_ref(), json!({ name: rows })),
        (_, Err(message)) => {
            println!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Measures the workloads, header sets and searches, or those of them that the arguments name.
fn workloads(arguments: &Arguments) -> ExitCode {
    let only_lookups = arguments.search || (arguments.only.iter().any(|o| o == W13) && arguments.only.len() == 1);
    let input = Workload::new("W1").map(|workload| workload.input());
    let (mut w13, mut searches) = (Ok(Vec::new()), Ok(Vec::new()));
    if let Some(input) = &input {
        if !arguments.search && (arguments.only.is_empty() || arguments.only.iter().any(|o| o == W13)) {
            w13 = compare_header_sets(input, arguments.rounds);
        }
        if arguments.search {
            searches = compare_searches(input, arguments.rounds);
        }
    }
    let lookups = match (w13, searches) {
        (Ok(w13), Ok(searches)) => json!({ "W13": w13, "search": searches }),
        (Err(message), _) | (_, Err(message)) => {
            println!("{message}");
            return ExitCode::FAILURE;
        }
    };
    if only_lookups {
        return write_report(arguments.json.as_ref(), json!({ "lookups": lookups }));
    }
    let threads = threads();
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
    let report = json!({ "workloads": workloads, "rulesets": [], "lookups": lookups });
    if arguments.markdown {
        println!("\n{}", markdown(&report));
    }
    let written = write_report(arguments.json.as_ref(), report);
    if right { written } else { ExitCode::FAILURE }
}

/// Prints the tables of a record, and draws its chart.
fn show(record: &PathBuf, svg: Option<&PathBuf>) -> ExitCode {
    let text = std::fs::read_to_string(record).map_err(|error| error.to_string());
    match text.and_then(|text| serde_json::from_str::<Value>(&text).map_err(|error| error.to_string())) {
        Ok(report) => {
            if let Some(build) = report.get("build") {
                println!("build: {build}\n");
            }
            print!("{}", markdown(&report));
            let rows = |member: &str| report.get(member).and_then(Value::as_array).filter(|rows| !rows.is_empty());
            let chart = rows("workloads").map(|rows| bars(rows)).or_else(|| rows("rulesets").map(|rows| curve(rows)));
            if let (Some(path), Some(chart)) = (svg, chart)
                && let Err(error) = std::fs::write(path, chart)
            {
                println!("cannot write {}: {error}", path.display());
                return ExitCode::FAILURE;
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("cannot read {}: {error}", record.display());
            ExitCode::FAILURE
        }
    }
}

/// Measures sets of rules against the same rules one by one, by hand and with a peer.
fn rule_sets(arguments: &Arguments) -> ExitCode {
    if let Some(part) = arguments.parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
        println!("no part `{part}`; there are {}", PARTS.join(", "));
        return ExitCode::from(2);
    }
    let options = Options { most: arguments.most, parts: arguments.parts.clone() };
    let mut report = match compare_rule_sets(&options, &mut |line| println!("{line}")) {
        Ok(report) => report,
        Err(message) => {
            println!("{message}");
            return ExitCode::FAILURE;
        }
    };
    if let (Some(path), Some(rows)) = (&arguments.svg, report.get("rulesets").and_then(Value::as_array))
        && let Err(error) = std::fs::write(path, curve(rows))
    {
        println!("cannot write {}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    if let Some(report) = report.as_object_mut() {
        report.insert("workloads".into(), json!([]));
    }
    write_report(arguments.json.as_ref(), report)
}

/// The name of the header sets for `--only`.
const W13: &str = "W13";

/// Writes the figures as a record, with the command, the build and the machine.
fn write_report(path: Option<&PathBuf>, mut report: Value) -> ExitCode {
    let Some(path) = path else { return ExitCode::SUCCESS };
    if let Some(members) = report.as_object_mut() {
        let command: Vec<String> = std::env::args().skip(1).collect();
        members.insert("command".into(), format!("compare {}", command.join(" ")).into());
        members.insert("build".into(), build_record());
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        members.insert("machine".into(), json!({ "os": os, "arch": arch, "threads": threads(), "cpu": cpu() }));
    }
    match std::fs::write(path, format!("{report:#}\n")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cannot write {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}

/// Measures what compiling each workload's rules costs, in time and memory.
fn compare_compiling(arguments: &Arguments) -> Vec<Value> {
    let columns = ["compile us", "again us", "cranelift us", "ratio", "code bytes", "kept heap", "kept pages"];
    print!("{:8}", "");
    columns.iter().for_each(|column| print!("{column:>14}"));
    println!("\n");
    let mut rows = Vec::new();
    for name in NAMES.iter().filter(|n| arguments.only.is_empty() || arguments.only.iter().any(|o| o == *n)) {
        let Some(workload) = Workload::new(name) else { continue };
        let cost = compile_cost(&workload, arguments.rounds);
        println!(
            "{name:8}{:>14.1}{:>14.1}{:>14.1}{:>14.2}{:>14}{:>14}{:>14}",
            cost.total, cost.again, cost.codegen, cost.ratio, cost.code_bytes, cost.kept_heap, cost.kept_pages
        );
        rows.push(json!({ "name": name, "us": round(cost.total), "again_us": round(cost.again), "cranelift_us": round(cost.codegen),
            "ratio": round(cost.ratio), "code_bytes": cost.code_bytes, "kept_heap": cost.kept_heap, "kept_pages": cost.kept_pages }));
    }
    println!(
        "\nmedians for all rules of a workload, from text to a program: `compile` with Cranelift, of which `cranelift` is its part, `again` \
         with copies of code; kept: bytes for a rule"
    );
    rows
}

/// Times contenders, in their order.
///
/// # Errors
/// A message if they return different answers.
fn time(contenders: Vec<Contender>, input: &Input, rounds: usize) -> Result<Vec<(&'static str, f64)>, String> {
    let answers: Vec<u64> = contenders.iter().map(|(_, run)| run()).collect();
    if answers.windows(2).any(|two| matches!(two, [a, b] if a != b)) {
        let names: Vec<&str> = contenders.iter().map(|(name, _)| *name).collect();
        return Err(format!("{names:?} answer {answers:?}"));
    }
    let (names, mut runners): (Vec<&str>, Vec<Runner>) = contenders
        .into_iter()
        .map(|(name, run)| {
            let run: Runner = Box::new(move |_| run());
            (name, run)
        })
        .unzip();
    let samples = interleaved(&mut runners, input, rounds);
    Ok(names.into_iter().zip(samples.iter().map(|s| s.ns)).collect())
}

/// Times the workloads of the filter language, or only some of them. Every engine must find the same number of rules.
fn compare_filters(rounds: usize, only: &[String]) -> Result<Vec<Value>, String> {
    if let Some(unknown) = only.iter().find(|name| !FILTER_NAMES.contains(&name.as_str())) {
        return Err(format!("no workload `{unknown}` of the filter language; there are {}", FILTER_NAMES.join(", ")));
    }
    let input = filter_input();
    println!("{:4}{:>40}", "", "ns for an evaluation (ratio to handwritten)");
    print!("{:4}", "");
    FILTER_ENGINES.iter().for_each(|engine| print!("{engine:>28}"));
    println!();
    let mut measured = Vec::new();
    for name in FILTER_NAMES.iter().filter(|n| only.is_empty() || only.iter().any(|o| o == *n)) {
        let runners = filter_runners(name)?;
        let (engines, mut runners): (Vec<&str>, Vec<FilterRunner>) =
            FILTER_ENGINES.iter().zip(runners).filter_map(|(engine, runner)| Some((*engine, runner?))).unzip();
        let found: Vec<u64> = runners.iter().map(|runner| runner(&input)).collect();
        if found.iter().any(|count| Some(count) != found.first()) {
            return Err(format!("{name}: the engines disagree: {engines:?} say {found:?}"));
        }
        let times = interleaved(&mut runners, &input, rounds);
        let by_hand = engines.iter().zip(&times).find(|(engine, _)| **engine == "handwritten");
        let by_hand = by_hand.map_or(f64::NAN, |(_, time)| time.ns);
        print!("{name:4}");
        for engine in FILTER_ENGINES {
            match engines.iter().zip(&times).find(|(measured, _)| *measured == engine) {
                Some((_, time)) => print!("{:>28}", format!("{:.1} ({:.2})", time.ns, time.ns / by_hand)),
                None => print!("{:>28}", "cannot say it"),
            }
        }
        println!("   {} of the rules hold", found.first().copied().unwrap_or(0));
        let engines: Vec<Value> = engines
            .iter()
            .zip(&times)
            .zip(&runners)
            .map(|((engine, time), runner)| {
                json!({ "engine": engine, "ns": round(time.ns), "ratio": round(time.ns / by_hand), "allocations": round(allocations(runner, &input)) })
            })
            .collect();
        measured.push(json!({ "workload": name, "engines": engines }));
    }
    Ok(measured)
}

/// W13: nanoseconds to find the internal names among thirty headers.
fn compare_header_sets(input: &Input, rounds: usize) -> Result<Vec<Value>, String> {
    let mut rows = Vec::new();
    for misses in [Misses::Random, Misses::Real] {
        for rate in [100, 50, 20, 10, 5, 1] {
            let times = time(lookups::w13(&lookups::headers(rate, misses)), input, rounds)?;
            let name = format!("W13 {rate}% internal, others {misses:?}").to_lowercase();
            print!("{name:32}");
            times.iter().for_each(|(way, ns)| print!("{:>22}", format!("{way} {ns:.0}")));
            println!();
            let times: Map<String, Value> = times.iter().map(|(way, ns)| ((*way).into(), round(*ns).into())).collect();
            rows.push(json!({ "rate": rate, "misses": format!("{misses:?}").to_lowercase(), "ns": times }));
        }
    }
    Ok(rows)
}

/// Searches: nanoseconds, and the ratio to the fastest peer.
fn compare_searches(input: &Input, rounds: usize) -> Result<Vec<Value>, String> {
    let mut rows = Vec::new();
    for hit in [Hit::Miss, Hit::End, Hit::Early] {
        for (needle, length) in NEEDLES.iter().flat_map(|n| LENGTHS.iter().map(move |l| (*n, *l))) {
            let Some(text) = lookups::haystack(needle, length, hit) else { continue };
            let times = time(lookups::search(needle, &text), input, rounds)?;
            let own = times.first().map_or(f64::NAN, |(_, ns)| *ns);
            let best = times.iter().skip(1).map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min);
            print!("{:5} {needle:30} in {length:3}", format!("{hit:?}").to_lowercase());
            times.iter().for_each(|(way, ns)| print!("{:>18}", format!("{way} {ns:.1}")));
            println!("{:>8.2}", own / best);
            let times: Map<String, Value> = times.iter().map(|(way, ns)| ((*way).into(), round(*ns).into())).collect();
            rows.push(json!({ "hit": format!("{hit:?}").to_lowercase(), "needle": needle, "length": length,
                "ns": times, "ratio": round(own / best) }));
        }
    }
    Ok(rows)
}

/// Times all engines on a workload.
///
/// # Errors
/// A message if an engine returns a wrong answer.
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
    let samples = interleaved(&mut runners, &input, rounds);
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

fn round(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|l| l.starts_with("model name"));
    line.and_then(|l| l.split_once(": ")).map_or_else(|| "unknown".into(), |(_, name)| name.trim().into())
}
