//! Tells profilers the names of compiled functions.
//!
//! `perf` of Linux reads two kinds of files: one that names ranges of addresses ([`perf_map`]), and
//! one that has the code too ([`jitdump`]). A process has one file of each kind, for all compilers.
//! A failure to write is reported by [`Profiler::failure`] and is not an error of the compilation.

mod file;
mod jitdump;
#[expect(unsafe_code, reason = "maps a page of the file, as perf asks for")]
mod marker;
mod perf_map;

use crate::code::Code;
use crate::settings::Profiling;
use jitdump::Dump;
use perf_map::PerfMap;
use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Writes the names of compiled functions for profilers.
#[derive(Debug)]
pub struct Profiler {
    kind: Profiling,
    failure: OnceLock<String>,
}

/// The files of this process.
static FILES: Mutex<Files> = Mutex::new(Files { perf_map: None, dump: None });

struct Files {
    perf_map: Option<PerfMap>,
    dump: Option<Dump>,
}

impl Profiler {
    /// Returns a profiler that writes files of this kind. Writes nothing yet.
    #[must_use]
    pub fn new(kind: Profiling) -> Self {
        Self { kind, failure: OnceLock::new() }
    }

    /// Writes the functions of a compilation; `name` returns the name of a function by its index.
    pub fn record(&self, code: &Code, name: impl Fn(usize) -> String) {
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        let mut record = || -> io::Result<()> {
            for (number, function) in code.installed().enumerate() {
                let name = printable(&name(number));
                match self.kind {
                    Profiling::PerfMap => of_this_process(&mut files.perf_map, PerfMap::new)?.record(function, &name),
                    Profiling::JitDump => of_this_process(&mut files.dump, Dump::new)?.record(function, &name),
                }?;
            }
            match self.kind {
                Profiling::PerfMap => files.perf_map.as_mut().map_or(Ok(()), PerfMap::flush),
                Profiling::JitDump => files.dump.as_mut().map_or(Ok(()), Dump::flush),
            }
        };
        if let Err(error) = record() {
            let what = match self.kind {
                Profiling::PerfMap => "the map for perf",
                Profiling::JitDump => "the dump for perf",
            };
            // The first failure says most.
            let _ = self.failure.set(format!("{what} cannot be written: {error}"));
        }
    }

    /// The first failure to write, if there was one.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }
}

/// A file of one process.
trait OfProcess {
    fn process(&self) -> u32;
}

/// The file of this process; a forked process starts its own.
fn of_this_process<F: OfProcess>(file: &mut Option<F>, new: impl FnOnce(u32) -> io::Result<F>) -> io::Result<&mut F> {
    let process = std::process::id();
    if file.as_ref().is_some_and(|file| file.process() != process) {
        *file = None;
    }
    match file {
        Some(file) => Ok(file),
        None => Ok(file.insert(new(process)?)),
    }
}

/// Maximum number of characters of a name.
const MAX_NAME: usize = 120;

/// A name on one line.
fn printable(name: &str) -> String {
    let blank = |c: char| if c.is_whitespace() || c.is_control() { ' ' } else { c };
    let mut short: String = name.chars().take(MAX_NAME).map(blank).collect();
    if short.len() < name.len() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn names_are_one_line() {
        assert_eq!(printable("celero::rule::a\n7f00 10 evil\0\tb"), "celero::rule::a 7f00 10 evil  b");
        assert_eq!(printable(&"ä".repeat(200)), "ä".repeat(120) + "...");
    }
}
