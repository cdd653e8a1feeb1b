//! Instructions, counted by valgrind's callgrind, in a process that runs under it.
//!
//! The process asks valgrind by client requests (valgrind manual, 3.1 "The Client Request
//! mechanism") to collect costs while a stage runs, and afterwards for its status, which valgrind
//! writes to its log: the line `events-1:` is the number of instructions of the first thread, on
//! which stages run. Code that was generated at run time is counted as all other code is, because
//! nothing depends on names of functions. Dumps of costs (`CALLGRIND_DUMP_STATS`) can't be used:
//! valgrind 3.19 crashes when it writes the costs of generated code.

use super::{Counter, Quantity};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Requests, from `valgrind.h` and `callgrind.h`.
#[derive(Clone, Copy)]
enum RequestCode {
    MonitorCommand = 0x1202,
    ToggleCollect = 0x4354_0002,
    StartInstrumentation = 0x4354_0004,
}

/// Counts instructions under callgrind.
#[derive(Debug)]
pub struct Callgrind {
    /// Valgrind's log, and how much of it was read.
    log: PathBuf,
    read: u64,
    /// Instructions counted before the stage.
    before: f64,
}

impl Callgrind {
    /// The options of valgrind for a process that counts: nothing is instrumented before [`start`](Self::start).
    #[must_use]
    pub fn options(log: &Path) -> Vec<String> {
        vec![
            "--tool=callgrind".to_owned(),
            "--instr-atstart=no".to_owned(),
            "--collect-atstart=no".to_owned(),
            "--callgrind-out-file=/dev/null".to_owned(),
            format!("--log-file={}", log.display()),
        ]
    }

    /// Begins to instrument: the process is several tens of times as slow from here on. `log` is
    /// the path in [`options`](Self::options).
    #[must_use]
    pub fn start(log: &Path) -> Self {
        request(RequestCode::StartInstrumentation, 0);
        let read = std::fs::metadata(log).map_or(0, |file| file.len());
        Self { log: log.to_owned(), read, before: 0.0 }
    }

    /// The text that valgrind has added to its log.
    fn added(&mut self) -> Option<String> {
        let mut file = File::open(&self.log).ok()?;
        file.seek(SeekFrom::Start(self.read)).ok()?;
        let mut bytes = Vec::new();
        self.read += file.read_to_end(&mut bytes).ok()? as u64;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Counter for Callgrind {
    fn quantities(&self) -> &'static [Quantity] {
        &[Quantity { name: "instructions", unit: "instructions", source: "callgrind" }]
    }

    fn begin(&mut self) {
        request(RequestCode::ToggleCollect, 0);
    }

    fn end(&mut self, values: &mut Vec<f64>) {
        request(RequestCode::ToggleCollect, 0);
        let command = c"status internal";
        request(RequestCode::MonitorCommand, command.as_ptr().addr());
        let total = self.added().as_deref().and_then(last_total).unwrap_or(f64::NAN);
        values.push(total - self.before);
        self.before = total;
    }
}

/// Returns the instructions of the first thread, from what the command `status internal` of
/// callgrind wrote: the last line `events-1:`. `None` if there is none, or not one number in it.
#[must_use]
pub fn last_total(text: &str) -> Option<f64> {
    text.lines().rev().find_map(|line| line.strip_prefix("events-1:"))?.trim().parse().ok()
}

/// Makes a client request. Without valgrind the instructions have no effect.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn request(code: RequestCode, argument: usize) {
    let arguments: [usize; 6] = [code as usize, argument, 0, 0, 0, 0];
    // SAFETY: the rotations of `rdi` add up to 128 bits and the exchange is one of `rbx` with
    // itself, so the processor changes nothing but flags. Valgrind recognises them, reads the six
    // words at `rax`, which live until the end of this function, and sets `rdx`.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            inout("rdx") 0_usize => _,
            in("rax") &raw const arguments,
            options(nostack),
        );
    }
}

/// Instructions are counted on x86-64 only.
#[cfg(not(target_arch = "x86_64"))]
fn request(_: RequestCode, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read() {
        let status = "events: Ir\npart: 0\nthreads: 2\ncurrent-tid: 1\nevents-1: 7787\nframes-1: 1\n\
                      function-1-0: main\ncalls-1-0: 0\nevents-1-0: 7917\nevents-2: 12\n";
        assert_eq!(last_total(status), Some(7787.0));
        assert_eq!(last_total("part: 0\n"), None);
        assert_eq!(last_total("events-1: 1 2\n"), None, "two events");
    }

    #[test]
    fn requests_do_nothing_outside_of_valgrind() {
        for code in [RequestCode::ToggleCollect, RequestCode::StartInstrumentation] {
            request(code, 0);
        }
    }
}
