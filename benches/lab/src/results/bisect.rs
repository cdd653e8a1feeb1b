//! Finds the commit from which on a stage needs more: `git bisect run` in a working tree of its
//! own, with a run of the lab for each commit.
//!
//! The good commit is measured first, then the bad one. A commit in between is bad if its ratio to
//! the good one is more than half of the way, on a logarithmic scale, to that of the bad one. So a
//! slow drift over many commits is not taken for the change.

use super::compare::{cells, floor, incomparable};
use super::record::Run;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The cell to compare: stage, partition and counter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Search {
    /// The stage.
    pub stage: String,
    /// The partition.
    pub partition: String,
    /// The counter.
    pub counter: String,
    /// A command for `sh` that measures the working tree that it runs in, and writes the records to `$OUT`.
    pub measure: String,
}

/// The input of one step of the bisection, read from a file.
#[derive(Serialize, Deserialize)]
struct Step {
    search: Search,
    /// The records of the good commit.
    good: PathBuf,
    /// The ratio from which on a commit is bad.
    threshold: f64,
}

/// The commit that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Culprit {
    /// The first bad commit.
    pub commit: String,
    /// Its first line.
    pub subject: String,
    /// The ratio of the bad commit to the good one.
    pub ratio: f64,
}

/// Exit codes of a step, for `git bisect run`.
const GOOD: u8 = 0;
const BAD: u8 = 1;
const SKIP: u8 = 125;

/// Finds the first commit between `good` and `bad` of the repository in which a stage needs more.
/// `program` is this program, `say` tells people how far it is.
///
/// # Errors
/// A commit that git does not know, one of both that can't be measured, no difference between them,
/// or no commit that is left to blame because those in question can't be measured.
pub fn bisect(
    repository: &Path,
    [good, bad]: [&str; 2],
    search: &Search,
    program: &Path,
    say: &dyn Fn(&str),
) -> Result<Culprit, String> {
    let commit = |name: &str| git(repository, ["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]);
    let known = |name: &str| commit(name).map_err(|_| format!("`{name}` is no commit of {}", repository.display()));
    let (good, bad) = (known(good)?, known(bad)?);
    let tree = WorkingTree::new(repository, &bad)?;
    let after = tree.measure(search, "bad.jsonl")?;
    git(&tree.path, ["checkout", "--quiet", "--detach", &good])?;
    let before = tree.measure(search, "good.jsonl")?;
    let ratio = ratio(&before, &after, search)?;
    let Search { stage, partition, counter, .. } = search;
    if ratio < 1.0 + floor(counter) {
        return Err(format!(
            "{counter} of {stage} in {partition}: the ratio of the bad commit to the good one is {ratio:.4}: nothing to find"
        ));
    }
    say(&format!("{counter} of {stage} in {partition}: {ratio:.4} times those of the good commit"));
    let step = Step { search: search.clone(), good: tree.folder.join("good.jsonl"), threshold: ratio.sqrt() };
    let file = tree.folder.join("step.json");
    let text = serde_json::to_string(&step).map_err(|error| error.to_string())?;
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    git(&tree.path, ["bisect", "start", &bad, &good])?;
    // Steps say what they find on standard error; git's own words are not shown.
    let run = Command::new("git")
        .arg("-C")
        .arg(&tree.path)
        .args(["bisect", "run"])
        .args([program.as_os_str(), OsStr::new("bisect-step"), file.as_os_str()])
        .stdout(Stdio::null())
        .status()
        .map_err(|error| format!("git: {error}"))?;
    if !run.success() {
        return Err("git found no first bad commit: the commits in question can't be measured".to_owned());
    }
    let found = git(&tree.path, ["log", "-1", "--format=%H %s", "refs/bisect/bad"])?;
    let (commit, subject) = found.split_once(' ').unwrap_or((&found, ""));
    Ok(Culprit { commit: commit.to_owned(), subject: subject.to_owned(), ratio })
}

/// What a step does, in the working tree that git has prepared: measures and compares. Returns the
/// exit code for `git bisect run`.
///
/// # Errors
/// The file of the step can't be read.
pub fn step(file: &Path, say: &dyn Fn(&str)) -> Result<u8, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = std::fs::read(file).map_err(|error| failed(&error))?;
    let Step { search, good, threshold } = serde_json::from_slice(&text).map_err(|error| failed(&error))?;
    let commit = git(Path::new("."), ["log", "-1", "--format=%h %s"])?;
    let new = good.with_file_name("new.jsonl");
    let measured = measure(Path::new("."), &search.measure, &new)
        .and_then(|new| ratio(&last(&good)?, &new, &search).map(|ratio| (ratio, ratio >= threshold)));
    Ok(match measured {
        Ok((ratio, bad)) => {
            say(&format!("{ratio:.4} {} {commit}", if bad { "bad " } else { "good" }));
            if bad { BAD } else { GOOD }
        }
        Err(why) => {
            say(&format!("left out: {commit}: {why}"));
            SKIP
        }
    })
}

/// The ratio of the cell that is looked for.
fn ratio(before: &Run, after: &Run, search: &Search) -> Result<f64, String> {
    if let Some(why) = incomparable(before, after) {
        return Err(why);
    }
    let Search { stage, partition, counter, .. } = search;
    let found = cells(before, after)
        .into_iter()
        .find(|cell| cell.stage == *stage && cell.partition == *partition && cell.counter == *counter);
    found
        .map(|cell| cell.estimate.ratio)
        .ok_or_else(|| format!("no rule of both runs has {counter} of the stage {stage} in the partition {partition}"))
}

/// The last run of a file.
fn last(file: &Path) -> Result<Run, String> {
    Run::read_file(file)?.pop().ok_or_else(|| format!("{}: the file has no record", file.display()))
}

/// Runs the command of a search in a working tree.
fn measure(tree: &Path, command: &str, out: &Path) -> Result<Run, String> {
    // What an earlier commit wrote must not be taken for this one's.
    let _ = std::fs::remove_file(out);
    let status = Command::new("sh")
        .args(["-c", command])
        .current_dir(tree)
        .env("OUT", out)
        .stdin(Stdio::null())
        // Standard output is the result of the bisection alone.
        .stdout(std::io::stderr())
        .status()
        .map_err(|error| format!("sh: {error}"))?;
    if status.success() { last(out) } else { Err(format!("the command that measures failed ({status})")) }
}

/// Runs git and returns what it printed, without the last line break.
fn git<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Result<String, String> {
    let mut command = Command::new("git");
    let output = command.arg("-C").arg(folder).args(arguments).stderr(Stdio::piped()).output();
    let output = output.map_err(|error| format!("git: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// A working tree of its own, beside the files of the bisection. Both are removed when it is dropped.
struct WorkingTree<'r> {
    repository: &'r Path,
    folder: PathBuf,
    path: PathBuf,
}

impl<'r> WorkingTree<'r> {
    fn new(repository: &'r Path, commit: &str) -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("celero-lab-bisect-{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let tree = Self { repository, path: folder.join("tree"), folder };
        let add = ["worktree", "add", "--quiet", "--detach"].map(OsStr::new);
        git(repository, add.into_iter().chain([tree.path.as_os_str(), OsStr::new(commit)]))?;
        Ok(tree)
    }

    fn measure(&self, search: &Search, file: &str) -> Result<Run, String> {
        measure(&self.path, &search.measure, &self.folder.join(file))
    }
}

impl Drop for WorkingTree<'_> {
    fn drop(&mut self) {
        let remove = ["worktree", "remove", "--force"].map(OsStr::new);
        let _ = git(self.repository, remove.into_iter().chain([self.path.as_os_str()]));
        let _ = std::fs::remove_dir_all(&self.folder);
        let _ = git(self.repository, ["worktree", "prune"]);
    }
}
