//! Runs the comparison: all proxies are loaded in every round, so what disturbs the machine
//! disturbs all of them; medians over the rounds are reported.

use crate::Failure;
use crate::check::check;
use crate::jobs::{JOBS, Job};
use crate::load::{LoadResult, LoadScript};
use crate::process::Process;
use crate::report;
use crate::requests;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct Options {
    /// Only these jobs, separated by commas.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Rounds: how often each proxy is loaded. One more warms up.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of load for each proxy and round.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Connections of the client.
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Threads of the proxy.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Write the measurements to this file as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Draw a chart of each job into this folder.
    #[arg(long)]
    charts: Option<PathBuf>,
}

/// One proxy in one round.
struct RoundResult {
    load: LoadResult,
    cpu_us: f64,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn measure(job: &'static Job, options: &Options) -> Result<Value, Failure> {
    let upstream = Process::start(&["upstream"])?;
    let coprocessor = Process::start(&["coprocessor"])?;
    let (behind, beside) = (upstream.address.to_string(), coprocessor.address.to_string());
    let threads = options.threads.to_string();
    let mut proxies = Vec::new();
    for engine in job.engines {
        let arguments =
            ["proxy", job.name, engine, "--upstream", &behind, "--coprocessor", &beside, "--threads", &threads];
        let proxy = Process::start(&arguments)?;
        check(job, engine, &proxy.get(requests::TARGET, &requests::headers(job))?)?;
        proxies.push(proxy);
    }
    let script = LoadScript::of(job)?;
    let mut results: Vec<Vec<RoundResult>> = job.engines.iter().map(|_| Vec::new()).collect();
    // The first round warms up.
    for round in 0..=options.rounds {
        let mut order: Vec<_> = proxies.iter().zip(&mut results).collect();
        // Every second round runs backwards: what one load leaves behind must not always disturb the same proxy.
        if round % 2 == 1 {
            order.reverse();
        }
        for (proxy, results) in order {
            let spent = || Ok::<_, Failure>(proxy.cpu()?.saturating_add(coprocessor.cpu()?));
            let before = spent()?;
            let load = script.load(proxy.address, options.seconds, options.connections)?;
            let spent = spent()?.saturating_sub(before);
            if round > 0 {
                results.push(RoundResult { load, cpu_us: spent.as_secs_f64() * 1e6 / load.requests as f64 });
            }
        }
    }
    let reference = results.get(1).map_or(&[][..], Vec::as_slice);
    let row = |engine: &str, results: &[RoundResult]| {
        let hundredths = |value: f64| (value * 100.0).round() / 100.0;
        let of = |value: fn(&RoundResult) -> f64| hundredths(median(results.iter().map(value).collect()));
        let ratios = results.iter().zip(reference).map(|(result, reference)| result.cpu_us / reference.cpu_us);
        json!({
            "engine": engine,
            "cpu_us": of(|result| result.cpu_us),
            "ratio": hundredths(median(ratios.collect())),
            "per_second": of(|result| result.load.per_second),
            "p50_us": of(|result| result.load.p50_us),
            "p95_us": of(|result| result.load.p95_us),
            "p99_us": of(|result| result.load.p99_us),
        })
    };
    let rows: Vec<Value> = job.engines.iter().zip(&results).map(|(engine, results)| row(engine, results)).collect();
    Ok(json!({ "job": job.name, "engines": rows }))
}

fn machine() -> Value {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, model)| model);
    json!({ "cpu": model, "cores": std::thread::available_parallelism().map_or(0, usize::from) })
}

/// Measures the jobs, prints their tables, and writes record and charts where asked.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    for name in &options.only {
        if Job::named(name).is_none() {
            let names: Vec<&str> = JOBS.iter().map(|job| job.name).collect();
            return Err(format!("no job {name}; there are {}", names.join(", ")).into());
        }
    }
    let wanted = JOBS.iter().filter(|job| options.only.is_empty() || options.only.iter().any(|name| name == job.name));
    let mut jobs = Vec::new();
    for job in wanted {
        eprintln!("{} ...", job.name);
        let result = measure(job, options)?;
        println!("{}", report::table(&result));
        jobs.push(result);
    }
    let command: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('/')).collect();
    let record = json!({
        "command": format!("e2e {}", command.join(" ")),
        "machine": machine(),
        "threads": options.threads,
        "connections": options.connections,
        "jobs": jobs,
    });
    if let Some(file) = &options.json {
        std::fs::write(file, format!("{record:#}\n"))?;
    }
    if let Some(place) = &options.charts {
        report::draw(&record, place)?;
    }
    Ok(())
}
