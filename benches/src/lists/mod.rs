//! Named lists, through the native code of a rule and through `celero-lists`, against the usual
//! crates for the same question. Answers are compared before anything is timed.

mod deltas;
mod networks;
mod texts;

use crate::measure::{allocated, interleaved};
use celero::lists::{Entries, Kind, Limits, ListId, Lists};
use celero::{Context, Engine, Env, Program};
use serde_json::{Map, Value, json};
use std::hint::black_box;
use std::net::IpAddr;
use std::time::Instant;

/// The data of rules.
#[derive(Context)]
struct Data<'a> {
    peer: IpAddr,
    text: &'a str,
}

/// Says whether a value is in the list.
type Ask<V> = Box<dyn Fn(&V) -> bool>;

/// An engine that is ready to be asked.
struct Contender<V> {
    name: &'static str,
    ask: Ask<V>,
    /// Bytes of heap that it keeps.
    bytes: usize,
    build_us: f64,
    /// Whether it answers the question, or is there to be compared with.
    answers: bool,
}

impl<V> Contender<V> {
    /// Builds an engine, and counts what it keeps.
    fn new<E: 'static>(name: &'static str, build: impl FnOnce() -> E, ask: impl Fn(&E, &V) -> bool + 'static) -> Self {
        let (before, start) = (allocated(), Instant::now());
        let engine = build();
        let (build_us, bytes) = (start.elapsed().as_secs_f64() * 1e6, allocated().wrapping_sub(before));
        Self { name, ask: Box::new(move |value| ask(&engine, value)), bytes, build_us, answers: true }
    }

    /// The same engine, asked in another way: it keeps nothing more.
    fn again(name: &'static str, like: &Self, ask: impl Fn(&V) -> bool + 'static) -> Self {
        Self { name, ask: Box::new(ask), bytes: like.bytes, build_us: like.build_us, answers: true }
    }
}

/// Values that are asked one after the other.
struct Values<V> {
    name: &'static str,
    values: Vec<V>,
    /// Whether the processor can't look up a value before the answer for the last one is known, as
    /// in a program that asks once in a while.
    in_turn: bool,
}

/// How many of the values are in the list.
fn count<V>(ask: &Ask<V>, values: &Values<V>) -> u64 {
    // Zero, which the compiler doesn't know.
    let depends = black_box(0);
    let (mut at, mut found) = (0_usize, 0_u64);
    while let Some(value) = values.values.get(at) {
        let answer = u64::from(ask(black_box(value)));
        found = found.wrapping_add(answer);
        let waits = if values.in_turn { answer as usize & depends } else { 0 };
        at = at.wrapping_add(1).wrapping_add(waits);
    }
    found
}

/// A list with these entries, which is called `list`.
fn list_of(kind: Kind, entries: Entries) -> (Lists, ListId) {
    let lists = Lists::new(Limits::default());
    let id = lists.declare("list", kind).expect("a list");
    lists.change().replace("list", entries).commit().expect("entries within the limits");
    (lists, id)
}

/// A rule that reads lists, compiled to native code.
fn rule(lists: &Lists, source: &str) -> Program<Data<'static>> {
    let env = Env::<Data<'_>>::new().lists(lists);
    let program = Engine::new().compile(&env, source).expect("a rule that compiles");
    assert!(program.is_native(), "the rule is native code");
    program
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rounds of each measurement.
    pub rounds: usize,
    /// For how many random addresses the answers of each list of networks are compared.
    pub answers: usize,
    /// Numbers of entries of the lists of networks.
    pub sizes: Vec<usize>,
}

/// Measures lists of networks, of texts and of hosts, and readers while a list changes. `say` gets a line for each.
///
/// # Errors
/// A message that names the list and the engine whose answer differs from celero's.
pub fn compare_lists(options: &Options, say: &mut dyn FnMut(&str)) -> Result<Value, String> {
    let mut rows = Vec::new();
    say("ns for a value (ratio to celero's native code), bytes of heap for an entry");
    for &size in &options.sizes {
        rows.extend(networks::measure(size, options, say)?);
    }
    rows.extend(networks::measure_countries(options, say)?);
    rows.extend(texts::measure(options, say)?);
    let deltas = deltas::measure(options.sizes.iter().copied().max().unwrap_or(1_000_000), say);
    Ok(json!({ "lookups": rows, "deltas": deltas }))
}

/// Times contenders on each group of values. The first contender is the one that the others are compared with.
fn time<V>(
    name: &str,
    entries: usize,
    contenders: &[Contender<V>],
    groups: &[Values<V>],
    rounds: usize,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Value>, String> {
    let mut rows = Vec::new();
    for group in groups {
        let (name, values) = (format!("{name} {}", group.name), &group.values);
        let runner = |contender| {
            move |group: &Values<V>| {
                let contender: &Contender<V> = contender;
                count(&contender.ask, group)
            }
        };
        let mut runners: Vec<_> = contenders.iter().map(runner).collect();
        let counts: Vec<u64> = runners.iter().map(|run| run(group)).collect();
        let first = counts.first().copied().unwrap_or_default();
        let wrong = |(other, count): &(&Contender<V>, &u64)| other.answers && **count != first;
        if let Some((other, count)) = contenders.iter().zip(&counts).find(wrong) {
            return Err(format!("{name}: {} finds {count} of the values, celero {first}", other.name));
        }
        let (mut line, mut engines) = (format!("{name:36} {first:>7} of {} contained", values.len()), Map::new());
        let timed = interleaved(&mut runners, group, rounds);
        let own = timed.first().map_or(f64::NAN, |timing| timing.ns);
        for (contender, timing) in contenders.iter().zip(&timed) {
            let (each, per_entry) = (values.len() as f64, contender.bytes as f64 / entries as f64);
            let (ns, ratio) = (timing.ns / each, timing.ns / own);
            line.push_str(&format!("  {} {ns:.1} ({ratio:.2}) {per_entry:.1} B", contender.name));
            let round = |x: f64| (x * 100.0).round() / 100.0;
            engines.insert(
                contender.name.into(),
                json!({ "ns": round(ns), "best_ns": round(timing.best / each), "ratio": round(ratio),
                    "bytes": contender.bytes, "bytes_per_entry": round(per_entry), "build_us": contender.build_us.round() }),
            );
        }
        say(&line);
        rows.push(
            json!({ "name": name, "entries": entries, "values": values.len(), "contained": first, "engines": engines }),
        );
    }
    Ok(rows)
}
