//! The command `celero-lab`, also started by `celero lab`.
//!
//! Exit codes: 0 success, 1 a comparison found a regression, 2 the command line is invalid or a
//! file can't be read, 3 the runs can't be compared.

use celero_lab::planted::{self, Planted};
use celero_lab::results::bisect::{self, Search};
use celero_lab::results::compare::{ALL, LARGE, Verdict, cells, incomparable, table};
use celero_lab::results::record::Run;
use celero_lab::results::{report, store, table as improvements};
use celero_lab::run::{Settings, counting_process, plan, run};
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
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
    Bisect(BisectArgs),
    #[command(hide = true)]
    BisectStep {
        file: PathBuf,
    },
    #[command(hide = true)]
    Count {
        task: PathBuf,
        log: PathBuf,
    },
}

/// What is measured.
#[derive(Args)]
struct InputArgs {
    /// Rules: `.cel`, `.filter`, `.rules`, or corpora, `.jsonl` with a member `expr` on each line;
    /// policies, `.yaml`, with their cases behind them
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
    /// The commit of the record, instead of that of the sources
    #[arg(long)]
    commit: Option<String>,
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

/// Prints how many times fewer instructions native code takes than the interpreter, and celero's search than memmem.
#[derive(Args)]
struct TableArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Print the tables of these records, and measure nothing
    #[arg(long, conflicts_with_all = ["rules", "out"])]
    from: Option<PathBuf>,
    /// Where to write the records, from which the tables can be printed again
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Finds the commit from which on a stage needs more. Each commit is built and measured in a working tree of its own.
#[derive(Args)]
struct BisectArgs {
    /// A commit in which the stage was fast
    #[arg(long, value_name = "COMMIT")]
    good: String,
    /// A later one in which it is slow
    #[arg(long, value_name = "COMMIT", default_value = "HEAD")]
    bad: String,
    /// The stage
    #[arg(long)]
    stage: String,
    /// The partition
    #[arg(long, default_value = ALL)]
    partition: String,
    /// The counter
    #[arg(long, default_value = "instructions")]
    counter: String,
    /// A command for `sh` that measures the working tree that it runs in, and writes the records to
    /// `$OUT`, instead of a build and a run of the lab
    #[arg(long, value_name = "COMMAND", conflicts_with = "run")]
    measure: Option<String>,
    /// What `celero lab run` is given: rules, traffic, options
    #[arg(last = true, required_unless_present = "measure")]
    run: Vec<OsString>,
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
    /// Measure sets of these numbers of generated rules, too: 1,100,10000
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Leave out times and memory
    #[arg(long)]
    instructions_only: bool,
    /// Where to write; standard output if it is left out
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Says for each stage and partition whether the second run differs from the first. Exit code 1 if
/// instructions got worse, 3 if the runs are of different builds or machines.
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
    /// Write the picture of the last run that measured sets (--sizes), SVG, instead of the page:
    /// instructions over the number of rules
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    picture: Option<PathBuf>,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => measure(&args),
        Command::Compare(args) => compared(&args),
        Command::Store(StoreArgs { db, files }) => stored(&db, &files),
        Command::Report(args) => reported(&args),
        Command::Table(args) => tables(&args),
        Command::Bisect(args) => bisected(&args),
        Command::BisectStep { file } => bisect::step(&file, &say),
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
    let mut plan = plan(&args.input.rules, &args.input.traffic, settings.sample)?;
    plan.sizes.clone_from(&args.sizes);
    if let Ok(text) = std::env::var(planted::VARIABLE) {
        plan.planted = Some(Planted::parse(&text)?);
    }
    let run = run(&plan, settings, args.input.commit.clone(), &say)?;
    match &args.out {
        Some(path) => write_run(&run, path)?,
        None => run.write(&mut std::io::stdout().lock()).map_err(|error| error.to_string())?,
    }
    let measured: usize = run.partitions.iter().map(|partition| partition.rules.len()).sum();
    let partitions = run.partitions.len();
    say(&format!("{measured} rules in {partitions} partitions, {} measurements", run.measurements.len()));
    Ok(0)
}

fn write_run(run: &Run, path: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).map_err(failed)?);
    run.write(&mut file).and_then(|()| file.flush()).map_err(failed)
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
    let (path, text) = match &args.picture {
        Some(path) => {
            let picture = runs.iter().max_by_key(|run| run.info.time).and_then(report::sizes);
            (path, picture.ok_or("the last run has no instructions of sets to draw: celero lab run --sizes")?)
        }
        None => (&args.out, report::page(runs)),
    };
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    say(&format!("{} is written", path.display()));
    Ok(0)
}

fn tables(args: &TableArgs) -> Result<u8, String> {
    let run = match &args.from {
        Some(path) => last(&path.display().to_string())?,
        None => {
            let mut settings = args.input.settings();
            settings.instructions_only = true;
            let mut plan = plan(&args.input.rules, &args.input.traffic, settings.sample)?;
            plan.searchers = true;
            run(&plan, settings, args.input.commit.clone(), &say)?
        }
    };
    if run.measurements.is_empty() {
        return Err("instructions can't be counted here".to_owned());
    }
    print(&improvements::tables(&run)?);
    if let Some(path) = &args.out {
        write_run(&run, path)?;
    }
    Ok(0)
}

fn bisected(args: &BisectArgs) -> Result<u8, String> {
    let search = Search {
        stage: args.stage.clone(),
        partition: args.partition.clone(),
        counter: args.counter.clone(),
        measure: args.measure.clone().unwrap_or_else(|| build_and_run(&args.run)),
    };
    let program = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let found = bisect::bisect(Path::new("."), [&args.good, &args.bad], &search, &program, &say)?;
    print(&format!("{} {}\n", found.commit, found.subject));
    Ok(0)
}

/// A command for `sh` that builds the lab of a working tree and runs it. Files keep their meaning there.
fn build_and_run(arguments: &[OsString]) -> String {
    let quoted = arguments.iter().map(|argument| {
        let path = Path::new(argument);
        let whole =
            if path.exists() { path.canonicalize().unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() };
        format!(" '{}'", whole.display().to_string().replace('\'', "'\\''"))
    });
    let arguments: String = quoted.collect();
    format!("cargo run --release --quiet -p celero-lab -- run{arguments} --instructions-only --out \"$OUT\"")
}
