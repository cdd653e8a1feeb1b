//! `celero lists bench`.

use super::check::counted_entries;
use crate::USAGE;
use crate::input::list_file::{EntryArgs, valid};
use crate::output::Output;
use crate::output::units::{bytes, grouped, number};
use celero_lists::{Entries, Entry, Kind, Limits, ListId, Lists, Snapshot};
use serde_json::json;
use std::hint::black_box;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How many values are looked up in turn.
const VALUES: usize = 65_536;
/// How many rounds are measured.
const ROUNDS: usize = 31;

/// Measure lookups of values that the list contains and of random ones.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    of: EntryArgs,
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Milliseconds for each of the two measurements.
    #[arg(long, value_name = "MS", default_value_t = 300)]
    time: u64,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// A value to look up.
enum Value {
    Address(IpAddr),
    Integer(i64),
    Text(Vec<u8>),
}

/// What was measured of one kind of values.
struct Measured {
    /// Nanoseconds of a lookup: the median of the rounds, and the range of nine of ten.
    median: f64,
    low: f64,
    high: f64,
    /// The share of the values that the list contains.
    contained: f64,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let Some(entries) = valid(&args.of, &args.file, output)? else { return Ok(USAGE) };
    if entries.is_empty() {
        return Err(format!("{} has no entries", args.file.display()));
    }
    let mut random = fastrand::Rng::with_seed(1);
    let [present, others] = values(args.of.ty.kind(), &entries, &mut random);
    let lists = Lists::new(Limits::default());
    let list = lists.declare("list", &args.of.ty).map_err(|error| error.to_string())?;
    let began = Instant::now();
    lists.change().replace("list", entries).commit().map_err(|error| error.to_string())?;
    let built = began.elapsed();
    let snapshot = lists.load();
    let Some(info) = snapshot.infos().next() else { return Err("no list".to_owned()) };
    let time = Duration::from_millis(args.time);
    let [present, others] = [present, others].map(|values| measure(&snapshot, list, &values, time));
    let per_entry = number(info.bytes) / number(info.entries.max(1));
    if args.json {
        let json = |measured: &Measured| {
            json!({
                "nanoseconds": measured.median,
                "low": measured.low,
                "high": measured.high,
                "contained": measured.contained,
            })
        };
        let all = json!({
            "file": args.file.display().to_string(),
            "kind": args.of.ty.kind().name(),
            "entries": info.entries,
            "bytes": info.bytes,
            "buildMilliseconds": built.as_secs_f64() * 1e3,
            "present": json(&present),
            "random": json(&others),
        });
        output.line(&all.to_string());
        return Ok(0);
    }
    let paint = output.paint();
    let line = |name: &str, measured: &Measured| {
        let range = paint.faint(&format!("{}..{}", grouped(measured.low), grouped(measured.high)));
        let median = paint.strong(&format!("{} ns", grouped(measured.median)));
        format!("{name:<8} {median} a lookup  {range}  {:.1} % contained", measured.contained * 100.0)
    };
    output.line(&format!(
        "{} of {}, {}, {per_entry:.1} bytes each, built in {built:.1?}",
        counted_entries(info.entries),
        args.of.ty,
        bytes(info.bytes)
    ));
    output.line(&line("present", &present));
    output.line(&line("random", &others));
    Ok(0)
}

/// Returns values that entries contain, and random ones of the same kind.
fn values(kind: Kind, entries: &Entries, random: &mut fastrand::Rng) -> [Vec<Value>; 2] {
    let all: Vec<&Entry> = entries.iter().collect();
    let mut pick = || all.get(random.usize(..all.len().max(1))).map(ToString::to_string).unwrap_or_default();
    let picked: Vec<String> = (0..VALUES).map(|_| pick()).collect();
    let present = picked.iter().filter_map(|entry| within(kind, entry, random)).collect();
    let others = picked.iter().filter_map(|entry| other(kind, entry, random)).collect();
    [present, others]
}

/// Returns a random value of an entry.
fn within(kind: Kind, entry: &str, random: &mut fastrand::Rng) -> Option<Value> {
    Some(match kind {
        Kind::Addresses => {
            let (address, prefix) = entry.split_once('/').unwrap_or((entry, "128"));
            let prefix: u32 = prefix.parse().ok()?;
            Value::Address(match address.parse().ok()? {
                IpAddr::V4(address) => {
                    IpAddr::V4((address.to_bits() | random.u32(..) & u32::MAX.checked_shr(prefix).unwrap_or(0)).into())
                }
                IpAddr::V6(address) => IpAddr::V6(
                    (address.to_bits() | random.u128(..) & u128::MAX.checked_shr(prefix).unwrap_or(0)).into(),
                ),
            })
        }
        Kind::Integers => {
            let (least, greatest) = entry.split_once("..").unwrap_or((entry, entry));
            let (least, greatest): (i64, i64) = (least.parse().ok()?, greatest.parse().ok()?);
            Value::Integer(random.i64(least..=greatest))
        }
        Kind::Hosts => Value::Text(entry.replacen('*', "www", 1).into_bytes()),
        // Escaped ones are not found.
        Kind::Wildcards => Value::Text(entry.replace('*', "x").into_bytes()),
        // Of a pattern no text is known that it matches: its own, as of a text.
        _ => Value::Text(entry.as_bytes().to_vec()),
    })
}

/// Returns a random value like those of an entry.
fn other(kind: Kind, entry: &str, random: &mut fastrand::Rng) -> Option<Value> {
    Some(match kind {
        Kind::Addresses if entry.contains(':') => Value::Address(IpAddr::V6(random.u128(..).into())),
        Kind::Addresses => Value::Address(IpAddr::V4(random.u32(..).into())),
        Kind::Integers => Value::Integer(random.i64(..)),
        _ => {
            // As long, with other letters.
            let other = |byte: u8| if byte.is_ascii_alphanumeric() { random.lowercase() as u8 } else { byte };
            let text = if kind == Kind::Hosts { entry.trim_start_matches("*.") } else { entry };
            Value::Text(text.bytes().map(other).collect())
        }
    })
}

fn measure(snapshot: &Snapshot, list: ListId, values: &[Value], time: Duration) -> Measured {
    let pass = || values.iter().filter(|value| black_box(contains(snapshot, list, black_box(value)))).count();
    let count = number(values.len().max(1));
    let contained = number(pass()) / count;
    let (mut rounds, round) =
        (Vec::with_capacity(ROUNDS), time.checked_div(u32::try_from(ROUNDS).unwrap_or(1)).unwrap_or(time));
    for _ in 0..ROUNDS {
        let (began, mut passes) = (Instant::now(), 0.0);
        while passes == 0.0 || began.elapsed() < round {
            black_box(pass());
            passes += 1.0;
        }
        rounds.push(began.elapsed().as_secs_f64() * 1e9 / (passes * count));
    }
    rounds.sort_by(f64::total_cmp);
    let at = |index: usize| rounds.get(index).copied().unwrap_or(f64::NAN);
    Measured { median: at(ROUNDS / 2), low: at(1), high: at(ROUNDS - 2), contained }
}

fn contains(snapshot: &Snapshot, list: ListId, value: &Value) -> bool {
    match value {
        Value::Address(address) => snapshot.contains_address(list, *address),
        Value::Integer(number) => snapshot.contains_integer(list, *number),
        Value::Text(text) => snapshot.contains_text(list, text),
    }
}
