//! `celero lists show`.

use super::file::{kind, valid};
use crate::output::Output;
use crate::{REJECTED, USAGE};
use celero_lists::{Entry, Kind};
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// Show the entries that contain a value. Exits with 1 if none does.
#[derive(clap::Args)]
pub(super) struct Args {
    /// What the entries are: addresses, texts, textsIgnoringCase, hosts or integers.
    #[arg(long, value_parser = kind)]
    kind: Kind,
    #[arg(required = true, value_name = "FILE")]
    file: PathBuf,
    /// An address, a text, a host or an integer.
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let Args { kind, file, value, json } = args;
    let Some(entries) = valid(*kind, file, output)? else { return Ok(USAGE) };
    let example = match kind {
        Kind::Addresses => Some("0.0.0.0/0"),
        Kind::Integers => Some("0"),
        _ => None,
    };
    let any = example.and_then(|text| Entry::parse(*kind, text).ok());
    if any.is_some_and(|entry| entry.contains(*kind, value).is_none()) {
        return Err(format!("{value:?} is no value for lists of {kind}"));
    }
    let found: Vec<_> = entries.with_lines().filter(|(entry, _)| entry.contains(*kind, value) == Some(true)).collect();
    if *json {
        let found: Vec<Json> =
            found.iter().map(|(entry, line)| json!({ "entry": entry.to_string(), "line": line })).collect();
        output.line(&json!({ "value": value, "contained": !found.is_empty(), "entries": found }).to_string());
    } else {
        for (entry, line) in &found {
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            output.line(&format!("{}{line}: {entry}", file.display()));
        }
        if found.is_empty() {
            output.line(&format!("no entry of {} contains {value}", file.display()));
        }
    }
    Ok(if found.is_empty() { REJECTED } else { 0 })
}
