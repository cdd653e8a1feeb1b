//! `celero lists convert`.

use super::file::{kind, valid};
use crate::output::Output;
use crate::{REJECTED, USAGE};
use celero_lists::{Entries, Entry, Format, Kind};
use serde_json::json;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::SystemTime;

/// Print a file in another format, each entry as it is written canonically.
#[derive(clap::Args)]
pub(super) struct Args {
    /// What the entries are: addresses, texts, textsIgnoringCase, hosts or integers.
    #[arg(long, value_parser = kind)]
    kind: Kind,
    /// The format of the result.
    #[arg(long, value_enum)]
    to: To,
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Leave out entries that others make superfluous, and those that have expired.
    #[arg(long)]
    compact: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum To {
    /// One entry a line.
    Lines,
    /// Comma-separated values with the columns `entry` and, if any entry has it, `expires`.
    Csv,
    /// One JSON value a line.
    Jsonl,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let Some(entries) = valid(args.kind, &args.file, output)? else { return Ok(USAGE) };
    let kept: Vec<(&Entry, Option<SystemTime>)> =
        if args.compact { compact(&entries) } else { entries.with_expiries().collect() };
    let with_times = kept.iter().any(|(_, expires)| expires.is_some());
    if args.to == To::Lines {
        let wrong = kept.iter().find_map(|(entry, expires)| {
            let why = if expires.is_some() { "expires, which lines can't say" } else { unwritable(args.kind, entry)? };
            Some(format!("error: {:?} {why}; `--to csv` and `--to jsonl` can", entry.to_string()))
        });
        if let Some(wrong) = wrong {
            output.complain(&wrong);
            return Ok(REJECTED);
        }
    }
    if args.to == To::Csv {
        output.line(if with_times { "entry,expires" } else { "entry" });
    }
    for (entry, expires) in kept {
        let (entry, expires) = (entry.to_string(), expires.map(seconds));
        let line = match args.to {
            To::Lines => entry,
            To::Csv if with_times => {
                format!("{},{}", quoted(&entry), expires.map(|time| time.to_string()).unwrap_or_default())
            }
            To::Csv => quoted(&entry),
            To::Jsonl => match expires {
                Some(time) => json!({ "entry": entry, "expires": time }).to_string(),
                None => json!(entry).to_string(),
            },
        };
        output.line(&line);
    }
    Ok(0)
}

/// Returns the entries that are needed. An entry is not superfluous because of one that expires before it.
fn compact(entries: &Entries) -> Vec<(&Entry, Option<SystemTime>)> {
    let now = SystemTime::now();
    let all: Vec<(&Entry, Option<SystemTime>)> = entries.with_expiries().collect();
    let lasts = |longer: Option<SystemTime>, shorter: Option<SystemTime>| match (longer, shorter) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(longer), Some(shorter)) => longer >= shorter,
    };
    let superfluous: HashSet<usize> = entries
        .covered()
        .iter()
        .filter(|covered| {
            let time = |index: usize| all.get(index).and_then(|(_, expires)| *expires);
            lasts(time(covered.by), time(covered.index))
        })
        .map(|covered| covered.index)
        .collect();
    let needed = |(index, (_, expires)): &(usize, &(&Entry, Option<SystemTime>))| {
        !superfluous.contains(index) && expires.is_none_or(|time| time > now)
    };
    all.iter().enumerate().filter(needed).map(|(_, entry)| *entry).collect()
}

/// Returns why a line can't hold an entry: it would be read as another one.
fn unwritable(kind: Kind, entry: &Entry) -> Option<&'static str> {
    let text = entry.to_string();
    let read = Entries::parse(kind, Format::Lines, &text);
    let same = read.is_ok_and(|read| read.len() == 1 && read.iter().all(|read| read == entry));
    (!same).then_some("is read as something else in a line")
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Returns a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
