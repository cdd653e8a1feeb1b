//! `celero lists diff`.

use super::file::{kind, valid};
use crate::output::Output;
use crate::{REJECTED, USAGE};
use celero_lists::{Entry, Kind};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

/// Compare two files: the entries that only one has, or that expire at another time. Exits with 1 if there are any.
#[derive(clap::Args)]
pub(super) struct Args {
    /// What the entries are: addresses, texts, textsIgnoringCase, hosts or integers.
    #[arg(long, value_parser = kind)]
    kind: Kind,
    #[arg(value_name = "OLD")]
    old: PathBuf,
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let (old, new) = (valid(args.kind, &args.old, output)?, valid(args.kind, &args.new, output)?);
    let (Some(old), Some(new)) = (old, new) else { return Ok(USAGE) };
    let old: BTreeMap<&Entry, Option<SystemTime>> = old.with_expiries().collect();
    let new: BTreeMap<&Entry, Option<SystemTime>> = new.with_expiries().collect();
    let removed: Vec<&Entry> = old.keys().filter(|entry| !new.contains_key(*entry)).copied().collect();
    let inserted: Vec<&Entry> = new.keys().filter(|entry| !old.contains_key(*entry)).copied().collect();
    let moved = |(entry, time): &(&&Entry, &Option<SystemTime>)| old.get(**entry).is_some_and(|before| before != *time);
    let expires: Vec<&Entry> = new.iter().filter(moved).map(|(entry, _)| *entry).collect();
    let same = removed.is_empty() && inserted.is_empty() && expires.is_empty();
    if args.json {
        let texts = |entries: &[&Entry]| -> Json { entries.iter().map(ToString::to_string).collect() };
        let all = json!({
            "same": same,
            "removed": texts(&removed),
            "inserted": texts(&inserted),
            "expiresChanged": texts(&expires),
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
