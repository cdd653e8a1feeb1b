//! `celero lists convert`.

use crate::input::list_file::{EntryArgs, members, valid};
use crate::output::Output;
use crate::{REJECTED, USAGE};
use celero_lists::{Entries, Entry, Format, Kind, Scalar, ValueType};
use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::SystemTime;

/// Print a file in another format, each entry as it is written canonically.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    of: EntryArgs,
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
    /// Comma-separated values with the columns `entry`, those of the values and, if any entry has it, `expires`.
    Csv,
    /// One JSON value a line.
    Jsonl,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let Some(entries) = valid(&args.of, &args.file, output)? else { return Ok(USAGE) };
    let values = entries.values();
    let read = entries.with_expiries().zip(&values);
    let all: Vec<Item<'_>> = read.map(|((entry, expires), value)| Item { entry, expires, value }).collect();
    let kept = if args.compact { compact(&entries, &all) } else { all };
    if let Some(wrong) = kept.iter().find_map(|item| unwritable(args, item)) {
        output.complain(&format!("error: {wrong}"));
        return Ok(REJECTED);
    }
    let with_times = kept.iter().any(|item| item.expires.is_some());
    let fields = args.of.ty.values().map(ValueType::fields).unwrap_or_default();
    if args.to == To::Csv {
        let names = fields.iter().map(|field| &**field.name());
        let columns: Vec<&str> = ["entry"].into_iter().chain(names).chain(with_times.then_some("expires")).collect();
        output.line(&columns.join(","));
    }
    for Item { entry, expires, value } in kept {
        let (entry, expires) = (entry.to_string(), expires.map(seconds));
        let line = match args.to {
            To::Lines => entry,
            To::Csv => {
                let time = || expires.map(|time| time.to_string()).unwrap_or_default();
                let cells = value.iter().map(|cell| cell.as_ref().map(ToString::to_string).unwrap_or_default());
                let cells = [entry].into_iter().chain(cells).chain(with_times.then(time));
                cells.map(|cell| quoted(&cell)).collect::<Vec<_>>().join(",")
            }
            To::Jsonl if expires.is_none() && fields.is_empty() => json!(entry).to_string(),
            To::Jsonl => {
                let mut object = members(&args.of.ty, value);
                object.insert("entry".to_owned(), json!(entry));
                if let Some(time) = expires {
                    object.insert("expires".to_owned(), json!(time));
                }
                Json::Object(object).to_string()
            }
        };
        output.line(&line);
    }
    Ok(0)
}

/// An entry with what the file says of it.
#[derive(Clone, Copy)]
struct Item<'e> {
    entry: &'e Entry,
    expires: Option<SystemTime>,
    value: &'e [Option<Scalar>],
}

/// Returns the entries that are needed. An entry is not superfluous because of one that expires before it.
fn compact<'e>(entries: &Entries, all: &[Item<'e>]) -> Vec<Item<'e>> {
    let now = SystemTime::now();
    let lasts = |longer: Option<SystemTime>, shorter: Option<SystemTime>| match (longer, shorter) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(longer), Some(shorter)) => longer >= shorter,
    };
    let superfluous: HashSet<usize> = entries
        .covered()
        .iter()
        .filter(|covered| {
            let time = |index: usize| all.get(index).and_then(|item| item.expires);
            lasts(time(covered.by), time(covered.index))
        })
        .map(|covered| covered.index)
        .collect();
    let needed =
        |(index, item): &(usize, &Item<'e>)| !superfluous.contains(index) && item.expires.is_none_or(|time| time > now);
    all.iter().enumerate().filter(needed).map(|(_, item)| *item).collect()
}

/// Returns why the format can't hold an entry: it would be read as another one, or without its value.
fn unwritable(args: &Args, item: &Item<'_>) -> Option<String> {
    let empty = |cell: &Option<Scalar>| matches!(cell, Some(Scalar::Text(text)) if text.is_empty());
    let (why, others) = match args.to {
        To::Jsonl => return None,
        To::Csv if item.value.iter().any(empty) => {
            ("carries an empty text, which CSV reads as one that is left out", "`--to jsonl`")
        }
        To::Csv => return None,
        To::Lines if !item.value.is_empty() => {
            ("carries a value, which lines can't say", "`--to csv` and `--to jsonl`")
        }
        To::Lines if item.expires.is_some() => ("expires, which lines can't say", "`--to csv` and `--to jsonl`"),
        To::Lines if is_read_alike(args.of.ty.kind(), item.entry) => return None,
        To::Lines => ("is read as something else in a line", "`--to csv` and `--to jsonl`"),
    };
    Some(format!("{:?} {why}; {others} can", item.entry.to_string()))
}

/// Returns whether a line that holds an entry is read as that entry.
fn is_read_alike(kind: Kind, entry: &Entry) -> bool {
    let read = Entries::parse(kind, Format::Lines, &entry.to_string());
    read.is_ok_and(|read| read.len() == 1 && read.iter().all(|read| read == entry))
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Returns a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
