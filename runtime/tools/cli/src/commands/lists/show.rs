//! `celero lists show`.

use crate::input::list_file::{EntryArgs, members, valid};
use crate::output::Output;
use crate::{REJECTED, USAGE};
use celero_lists::{Entry, Kind};
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// Show the entries that contain a value. Exits with 1 if none does.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    of: EntryArgs,
    #[arg(required = true, value_name = "FILE")]
    file: PathBuf,
    /// An address, a text, a host or an integer, as a list of this kind is asked for.
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let Args { of, file, value, json } = args;
    let (ty, kind) = (&of.ty, of.ty.kind());
    let Some(entries) = valid(of, file, output)? else { return Ok(USAGE) };
    let example = match kind {
        Kind::Addresses => Some("0.0.0.0/0"),
        Kind::Integers => Some("0"),
        _ => None,
    };
    let any = example.and_then(|text| Entry::parse(kind, text).ok());
    if any.is_some_and(|entry| entry.contains(kind, value).is_none()) {
        return Err(format!("{value:?} is no value for lists of {kind}"));
    }
    let values = entries.values();
    let found: Vec<_> = entries
        .with_lines()
        .zip(&values)
        .filter(|((entry, _), _)| entry.contains(kind, value) == Some(true))
        .map(|((entry, line), carried)| (entry, line, Json::Object(members(ty, carried))))
        .collect();
    if *json {
        let found = found.iter().map(|(entry, line, carried)| {
            let mut shown = json!({ "entry": entry.to_string(), "line": line });
            if let (Json::Object(members), Some(_)) = (&mut shown, ty.values()) {
                members.insert("values".to_owned(), carried.clone());
            }
            shown
        });
        let found: Vec<Json> = found.collect();
        output.line(&json!({ "value": value, "contained": !found.is_empty(), "entries": found }).to_string());
    } else {
        for (entry, line, carried) in &found {
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            let carried = ty.values().map(|_| format!("  {carried}")).unwrap_or_default();
            output.line(&format!("{}{line}: {entry}{carried}", file.display()));
        }
        if found.is_empty() {
            output.line(&format!("no entry of {} contains {value}", file.display()));
        }
    }
    Ok(if found.is_empty() { REJECTED } else { 0 })
}
