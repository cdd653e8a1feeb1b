//! Does something again whenever files change.

use crate::output::Output;
use crate::output::units::counted;
use celero_policy::Loader;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The time between two looks at the files.
const EVERY: Duration = Duration::from_millis(150);

/// What shows that a file changed: time and length, or that it can't be read.
type Stamp = Option<(SystemTime, u64)>;

/// Runs now, and after each change of one of the files or of a file that a policy among them
/// includes, also one with errors. `loader` returns what loads policies now. Returns when the
/// reader of standard output has ended.
///
/// # Errors
/// None; the result is that of a command.
pub(crate) fn each_change(
    files: &[PathBuf],
    output: &mut Output,
    loader: impl Fn() -> Loader,
    mut run: impl FnMut(&mut Output),
) -> Result<u8, String> {
    loop {
        // Taken before the run, so a change during it is seen.
        let watched = with_includes(files, &loader());
        let before = stamps(&watched);
        run(output);
        output.line(&output.paint().faint(&format!("watching {}", counted(watched.len(), "file"))));
        if !output.flush() {
            return Ok(0);
        }
        while stamps(&watched) == before {
            std::thread::sleep(EVERY);
        }
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |file: &PathBuf| {
        let known = std::fs::metadata(file).ok()?;
        Some((known.modified().ok()?, known.len()))
    };
    files.iter().map(stamp).collect()
}

/// Returns the files, and those that policies among them include.
fn with_includes(files: &[PathBuf], loader: &Loader) -> Vec<PathBuf> {
    let mut all = files.to_vec();
    let is_policy =
        |file: &&PathBuf| file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    for file in files.iter().filter(is_policy) {
        let mut add = |read: &[PathBuf]| {
            for read in read {
                if !all.contains(read) {
                    all.push(read.clone());
                }
            }
        };
        match loader.load(Path::new(file)) {
            Ok(policy) => add(policy.files()),
            Err(error) => add(error.files()),
        }
    }
    all
}
