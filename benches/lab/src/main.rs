//! The command `celero-lab`, also started by `celero lab`.
//!
//! Exit codes: 0 success, 1 a comparison found a regression, 2 the command line is invalid or a file can't be read, 3 the runs can't be compared.

use celero_lab::compare::{ALL, LARGE, Verdict, cells, incomparable, table};
use celero_lab::record::Run;
use celero_lab::run::{Settings, counting_process, plan, run};
use celero_lab::{report, store, table as improvements};
use clap::{Args, Parser, Subcommand};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Counts the allocations of the stages.
#[global_allocator]
static ALLOCATOR: celero_benches::CountingAllocator = celero_benches::CountingAllocator;

/// A comparison found a regression.
const WORSE: u8 = 1;
/// The command line is invalid, or a file can't be read.
const USAGE: u8 = 2;
/// The runs are of different builds or machines.
const INCOMPARABLE: u8 = 3;

/// Measure celero stage by stage, keep the figures, compare them and show them over time.
#[derive(Parser)]
#[command(version, name = "celero-lab")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(RunArgs),
    Compare(CompareArgs),
    Store(StoreArgs),
    Report(ReportArgs),
    Table(TableArgs),
    #[command(hide = true)]
    Count {
        task: PathBuf,
        log: PathBuf,
    },
}

/// What is measured.
#[derive(Args)]
struct InputArgs {
    /// Rules: `.cel`, `.filter`, `.rules`, or corpora, `.jsonl` with a member `expr` on each line
    #[arg(required = true)]
    rules: Vec<PathBuf>,
    /// Requests: JSON Lines, or HTTP/1.1 texts separated by `###`
    #[arg(long, num_args = 1..)]
    traffic: Vec<PathBuf>,
    /// Measure few rules with few recordings: about a minute
    #[arg(long)]
    short: bool,
    /// The largest number of rules of a partition
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// The largest number of requests
    #[arg(long, value_name = "N")]
    requests: Option<usize>,
    /// Equal seeds choose the same rules and requests
    #[arg(long)]
    seed: Option<u64>,
}

impl InputArgs {
    fn settings(&self) -> Settings {
        let mut settings = if self.short { Settings::SHORT } else { Settings::LONG };
        let sample = &mut settings.sample;
        sample.rules = self.sample.unwrap_or(sample.rules);
        sample.requests = self.requests.unwrap_or(sample.requests);
        sample.seed = self.seed.unwrap_or(sample.seed);
        settings
    }
}

/// Prints how many times fewer instructions native code takes than the interpreter, and celero's search than memmem
#[derive(Args)]
struct TableArgs {
    #[command(flatten)]
    input: InputArgs,
}

/// Measures rules on traffic, and writes a record for each counter, stage and partition.
#[derive(Args)]
struct RunArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Rounds that are recorded, of times
    #[arg(long, value_name = "N")]
    recordings: Option<usize>,
    /// Rounds that are recorded under callgrind, if there are no hardware counters
    #[arg(long, value_name = "N")]
    counted: Option<usize>,
    /// Rounds before them
    #[arg(long, value_name = "N")]
    warm_ups: Option<usize>,
    /// Leave out times and memory
    #[arg(long)]
    instructions_only: bool,
    /// The commit of the record, instead of that of the sources
    #[arg(long)]
    commit: Option<String>,
    /// Where to write; standard output if it is left out
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Says for each stage and partition whether the second run differs from the first. Exit code 1 if instructions got worse, 3 if the runs are
/// of different builds or machines.
#[derive(Args)]
struct CompareArgs {
    /// A file of records or, with --db, the start of a commit
    first: String,
    /// The same
    second: String,
    /// The database that holds the commits
    #[arg(long)]
    db: Option<PathBuf>,
    /// Compare this counter only
    #[arg(long)]
    counter: Option<String>,
    /// Exit with 1 only if a stage as a whole got worse by this share, such as 0.03, or a partition by a fifth
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    fail_above: f64,
    /// Show what did not change, too
    #[arg(long)]
    all: bool,
    /// Compare runs of different builds
    #[arg(long)]
    force: bool,
}

/// Adds runs to a SQLite database, which is made if it does not exist. A run that it has is left as it is.
#[derive(Args)]
struct StoreArgs {
    /// The database
    db: PathBuf,
    /// Files of records
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Writes a page with charts of runs over time.
#[derive(Args)]
struct ReportArgs {
    /// Files of records
    files: Vec<PathBuf>,
    /// A database
    #[arg(long)]
    db: Option<PathBuf>,
    /// The page
    #[arg(long, default_value = "lab.html")]
    out: PathBuf,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => measure(&args),
        Command::Compare(args) => compared(&args),
        Command::Store(StoreArgs { db, files }) => stored(&db, &files),
        Command::Report(args) => reported(&args),
        Command::Table(args) => tables(&args),
        Command::Count { task, log } => counting_process(&task, &log, &mut std::io::stdout().lock()).map(|()| 0),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            say(&format!("error: {why}"));
            ExitCode::from(USAGE)
        }
    }
}

/// Says something to people.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints a result.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn measure(args: &RunArgs) -> Result<u8, String> {
    let mut settings = args.input.settings();
    settings.instructions_only = args.instructions_only;
    settings.timed.recordings = args.recordings.unwrap_or(settings.timed.recordings).max(1);
    settings.counted.recordings = args.counted.unwrap_or(settings.counted.recordings).max(1);
    settings.timed.warm_ups = args.warm_ups.unwrap_or(settings.timed.warm_ups);
    let plan = plan(&args.input.rules, &args.input.traffic, settings.sample)?;
    let run = run(&plan, settings, args.commit.clone(), &say)?;
    match &args.out {
        Some(path) => {
            let failed = |error: std::io::Error| format!("{}: {error}", path.display());
            let mut file = std::io::BufWriter::new(std::fs::File::create(path).map_err(failed)?);
            run.write(&mut file).and_then(|()| file.flush()).map_err(failed)?;
        }
        None => run.write(&mut std::io::stdout().lock()).map_err(|error| error.to_string())?,
    }
    let rules = plan.rules().count();
    say(&format!("{rules} rules in {} partitions, {} measurements", run.partitions.len(), run.measurements.len()));
    Ok(0)
}

/// The last run of a file.
fn last(path: &str) -> Result<Run, String> {
    Run::read_file(Path::new(path))?.pop().ok_or_else(|| format!("{path}: the file has no record"))
}

fn compared(args: &CompareArgs) -> Result<u8, String> {
    let find = |name: &String| match &args.db {
        Some(db) => store::Store::open(db)?.find(name),
        None => last(name),
    };
    let (first, second) = (find(&args.first)?, find(&args.second)?);
    if let Some(why) = incomparable(&first, &second).filter(|_| !args.force) {
        print(&format!("not compared: {why}\n"));
        return Ok(INCOMPARABLE);
    }
    let mut cells = cells(&first, &second);
    cells.retain(|cell| args.counter.as_ref().is_none_or(|counter| *counter == cell.counter));
    print(&table(&cells, &second, args.all));
    let fails = |partition: &str, ratio: f64| {
        args.fail_above <= 0.0 || ratio >= LARGE || (partition == ALL && ratio >= 1.0 + args.fail_above)
    };
    let worse = cells.iter().any(|cell| {
        let worse = cell.counter == "instructions" && cell.verdict == Verdict::Worse;
        worse && fails(&cell.partition, cell.estimate.ratio)
    });
    Ok(if worse { WORSE } else { 0 })
}

fn stored(db: &Path, files: &[PathBuf]) -> Result<u8, String> {
    let mut store = store::Store::open_or_create(db)?;
    for file in files {
        for run in Run::read_file(file)? {
            let new = store.add(&run)?;
            say(&format!("{}: {}", run.info.commit, if new { "stored" } else { "was stored before" }));
        }
    }
    Ok(0)
}

fn reported(args: &ReportArgs) -> Result<u8, String> {
    let mut runs = match &args.db {
        Some(db) => store::Store::open(db)?.runs()?,
        None => Vec::new(),
    };
    for file in &args.files {
        runs.extend(Run::read_file(file)?);
    }
    if runs.is_empty() {
        return Err("no run to report: give files of records, or --db".to_owned());
    }
    std::fs::write(&args.out, report::page(runs)).map_err(|error| format!("{}: {error}", args.out.display()))?;
    say(&format!("{} is written", args.out.display()));
    Ok(0)
}

fn tables(args: &TableArgs) -> Result<u8, String> {
    let mut settings = args.input.settings();
    settings.instructions_only = true;
    let mut plan = plan(&args.input.rules, &args.input.traffic, settings.sample)?;
    plan.searchers = true;
    let run = run(&plan, settings, None, &say)?;
    if run.measurements.is_empty() {
        return Err("instructions can't be counted here".to_owned());
    }
    print(&improvements::tables(&plan, &run));
    Ok(0)
}
