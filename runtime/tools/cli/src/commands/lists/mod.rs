//! `celero lists`: checks, asks, compares, converts and measures files of named lists.

mod bench;
mod check;
mod convert;
mod diff;
mod show;

use crate::output::Output;

/// Check, ask, compare, convert and measure files of named lists.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero lists check --kind addresses blocked.txt bots.csv
  celero lists show --kind addresses blocked.txt 192.0.2.7
  celero lists diff --kind hosts old.txt new.txt
  celero lists convert --kind addresses --to jsonl blocked.csv
  celero lists check --kind 'addresses:{country: string, asn: int}' geo.csv
  celero lists show --kind 'addresses:{country: string}' --path country=country.iso_code GeoLite2-Country.mmdb 192.0.2.7
  celero lists bench --kind addresses blocked.txt

A file has one entry a line, with comments after `#`; `.csv` has a column `entry`, `.jsonl` (or `.ndjson`) one text, number or object with `entry`
a line. Both may have `expires`, in seconds since 1970, and values, which `--kind` declares. `.mmdb` is a MaxMind database, of whose records `--path`
says where the values are. `-` is standard input, as lines.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Bench(bench::Args),
    Check(check::Args),
    Convert(convert::Args),
    Diff(diff::Args),
    Show(show::Args),
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    match &args.command {
        Command::Bench(args) => bench::run(args, output),
        Command::Check(args) => check::run(args, output),
        Command::Convert(args) => convert::run(args, output),
        Command::Diff(args) => diff::run(args, output),
        Command::Show(args) => show::run(args, output),
    }
}
