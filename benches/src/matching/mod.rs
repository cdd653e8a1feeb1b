//! The matchers of `celero-matching` against the usual crates for the same question, and Hyperscan:
//! sets of networks, literals and patterns.
//!
//! Each workload has values, which are asked one after the other. All engines must find the same
//! keys for each of them before they are timed.

mod hyperscan;
mod literals;
mod networks;
mod patterns;

pub(crate) use networks::{Network, generate as generate_networks};

use crate::measure::{allocated, interleaved};
use serde_json::{Map, Value, json};
use std::hint::black_box;
use std::time::Instant;

/// Adds the ids of the keys that match a value.
type Find<V> = Box<dyn Fn(&V, &mut Vec<u32>)>;

/// An engine that is ready to be asked.
struct Contender<V> {
    name: &'static str,
    find: Find<V>,
    /// Bytes of heap that it keeps.
    bytes: usize,
    build_us: f64,
}

impl<V> Contender<V> {
    /// Builds an engine three times, or once if that takes longer than a second; the fastest time counts.
    fn new<E: 'static>(
        name: &'static str,
        build: impl Fn() -> E,
        find: impl Fn(&E, &V, &mut Vec<u32>) + 'static,
    ) -> Self {
        Self::of_size(name, build, find, |_| 0)
    }

    /// The same, with the bytes of an engine that this process's allocator does not count.
    fn of_size<E: 'static>(
        name: &'static str,
        build: impl Fn() -> E,
        find: impl Fn(&E, &V, &mut Vec<u32>) + 'static,
        more_bytes: impl Fn(&E) -> usize,
    ) -> Self {
        const SLOW_US: f64 = 1e6;
        let once = || {
            let (before, start) = (allocated(), Instant::now());
            let engine = build();
            (engine, start.elapsed().as_secs_f64() * 1e6, allocated().wrapping_sub(before))
        };
        let (mut engine, mut build_us, mut bytes) = once();
        for _ in 0..2 {
            if build_us < SLOW_US {
                drop(engine);
                let us;
                (engine, us, bytes) = once();
                build_us = build_us.min(us);
            }
        }
        let bytes = bytes.wrapping_add(more_bytes(&engine));
        Self { name, find: Box::new(move |value, found| find(&engine, value, found)), bytes, build_us }
    }
}

/// A question about each of several values.
struct Workload<V> {
    name: String,
    values: Vec<V>,
    /// The first is celero's.
    contenders: Vec<Contender<V>>,
}

/// Measures all workloads, or only some. `say` gets a line for each.
///
/// # Errors
/// A message that names the workload and the engine that finds other keys than celero.
pub fn compare_matching(rounds: usize, only: &[String], say: &mut dyn FnMut(&str)) -> Result<Vec<Value>, String> {
    let mut rows = Vec::new();
    let wanted = |name: &str| only.is_empty() || only.iter().any(|wanted| wanted == name);
    match hyperscan::version() {
        Some(version) => say(&format!("hyperscan {version}")),
        None => say("hyperscan: left out, the C library is not installed; nor the patterns that it decides"),
    }
    say("ns for a value (ratio to celero), bytes of heap, microseconds to build");
    for name in networks::NAMES.iter().filter(|name| wanted(name)) {
        rows.push(measure(&networks::workload(name), rounds, say)?);
    }
    let texts = literals::Texts::new();
    say(&texts.from);
    for name in literals::NAMES.iter().filter(|name| wanted(name)) {
        rows.push(measure(&literals::workload(name, &texts), rounds, say)?);
    }
    let Some(corpus) = patterns::Corpus::new() else {
        say("patterns: left out, there are no shared corpora");
        return Ok(rows);
    };
    for name in patterns::NAMES.iter().filter(|name| wanted(name)) {
        if let Some(workload) = patterns::workload(name, &corpus) {
            rows.push(measure(&workload, rounds, say)?);
        }
    }
    Ok(rows)
}

fn measure<V>(workload: &Workload<V>, rounds: usize, say: &mut dyn FnMut(&str)) -> Result<Value, String> {
    let Workload { name, values, contenders } = workload;
    let found = |contender: &Contender<V>, value| {
        let mut found = Vec::new();
        (contender.find)(value, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    };
    let mut matches = 0_usize;
    for value in values {
        let answers: Vec<Vec<u32>> = contenders.iter().map(|contender| found(contender, value)).collect();
        if let Some(other) = answers.iter().position(|answer| Some(answer) != answers.first()) {
            let engine = contenders.get(other).map_or("", |contender| contender.name);
            let [own, other] = [0, other].map(|n| answers.get(n).cloned().unwrap_or_default());
            return Err(format!("{name}: {engine} finds other keys than celero: {other:?}, not {own:?}"));
        }
        matches = matches.saturating_add(answers.first().map_or(0, Vec::len));
    }
    let runner = |contender| {
        move |values: &Vec<V>| {
            let contender: &Contender<V> = contender;
            let (mut found, mut count) = (Vec::with_capacity(64), 0_u64);
            for value in values {
                found.clear();
                (contender.find)(black_box(value), &mut found);
                count = count.saturating_add(found.len() as u64);
            }
            count
        }
    };
    let mut runners: Vec<_> = contenders.iter().map(runner).collect();
    let timed = interleaved(&mut runners, values, rounds);
    let each = values.len() as f64;
    let celero = timed.first().map_or(f64::NAN, |timing| timing.ns);
    let (mut engines, mut line) = (Map::new(), format!("{name:24}"));
    for (contender, timing) in contenders.iter().zip(&timed) {
        let (ns, ratio) = (timing.ns / each, timing.ns / celero);
        line.push_str(&format!(
            "  {} {ns:.1} ({ratio:.2}) {} B {:.0} us",
            contender.name, contender.bytes, contender.build_us
        ));
        let round = |x: f64| (x * 100.0).round() / 100.0;
        engines.insert(
            contender.name.into(),
            json!({ "ns": round(ns), "best_ns": round(timing.best / each), "ratio": round(ratio),
                "bytes": contender.bytes, "build_us": contender.build_us.round() }),
        );
    }
    say(&line);
    Ok(json!({ "name": name, "values": values.len(), "matches": matches, "engines": engines }))
}
