//! `celero lists diff`.

use crate::input::list_file::{EntryArgs, valid};
use crate::output::Output;
use crate::{REJECTED, USAGE};
use celero_lists::{Entries, Entry, Scalar};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// Compare two files: the entries that only one has, that expire at another time, or that carry
/// other values. Exits with 1 if there are any.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    of: EntryArgs,
    #[arg(value_name = "OLD")]
    old: PathBuf,
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let (old, new) = (valid(&args.of, &args.old, output)?, valid(&args.of, &args.new, output)?);
    let (Some(old), Some(new)) = (old, new) else { return Ok(USAGE) };
    let (old, new) = (by_entry(&old), by_entry(&new));
    let removed: Vec<&Entry> = old.keys().filter(|entry| !new.contains_key(*entry)).copied().collect();
    let inserted: Vec<&Entry> = new.keys().filter(|entry| !old.contains_key(*entry)).copied().collect();
    let both: Vec<(&Entry, &Said, &Said)> =
        new.iter().filter_map(|(entry, after)| Some((*entry, old.get(entry)?, after))).collect();
    let expires: Vec<&Entry> =
        both.iter().filter(|(_, before, after)| before.expires != after.expires).map(|(entry, ..)| *entry).collect();
    let values: Vec<&Entry> =
        both.iter().filter(|(_, before, after)| before.value != after.value).map(|(entry, ..)| *entry).collect();
    let same = removed.is_empty() && inserted.is_empty() && expires.is_empty() && values.is_empty();
    if args.json {
        let texts = |entries: &[&Entry]| -> Json { entries.iter().map(ToString::to_string).collect() };
        let all = json!({
            "same": same,
            "removed": texts(&removed),
            "inserted": texts(&inserted),
            "expiresChanged": texts(&expires),
            "valuesChanged": texts(&values),
        });
        output.line(&all.to_string());
    } else {
        let paint = output.paint();
        for entry in &removed {
            output.line(&paint.bad(&format!("- {entry}")));
        }
        for entry in &inserted {
            output.line(&paint.good(&format!("+ {entry}")));
        }
        for entry in &expires {
            output.line(&format!("~ {entry} expires at another time"));
        }
        for entry in &values {
            output.line(&format!("~ {entry} carries another value"));
        }
        let (removed, inserted) = (removed.len(), inserted.len());
        output.line(
            &paint.faint(&format!(
                "{removed} removed, {inserted} inserted, {} in both",
                old.len().saturating_sub(removed)
            )),
        );
    }
    Ok(if same { 0 } else { REJECTED })
}

/// What a file says of an entry.
struct Said {
    expires: Option<SystemTime>,
    value: Arc<[Option<Scalar>]>,
}

/// Of equal entries the last one counts.
fn by_entry(entries: &Entries) -> BTreeMap<&Entry, Said> {
    let read = entries.with_expiries().zip(entries.values());
    read.map(|((entry, expires), value)| (entry, Said { expires, value })).collect()
}
