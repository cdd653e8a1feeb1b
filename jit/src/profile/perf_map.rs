//! `/tmp/perf-PID.map`: a line for each function, with its address, its size, both in hexadecimal, and its name. Other
//! compilers of the process may write to the same file: lines are appended whole.

use super::OfProcess;
use super::file::{Existing, own};
use crate::code_memory::InstalledFunction;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};

pub(super) struct PerfMap {
    process: u32,
    file: File,
    lines: String,
}

impl PerfMap {
    pub(super) fn new(process: u32) -> io::Result<Self> {
        Ok(Self { process, file: own(&format!("/tmp/perf-{process}.map"), Existing::Append)?, lines: String::new() })
    }

    pub(super) fn record(
        &mut self,
        InstalledFunction { address, code }: InstalledFunction<'_>,
        name: &str,
    ) -> io::Result<()> {
        writeln!(self.lines, "{address:x} {:x} {name}", code.len()).map_err(io::Error::other)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        let lines = std::mem::take(&mut self.lines);
        self.file.write_all(lines.as_bytes())
    }
}

impl OfProcess for PerfMap {
    fn process(&self) -> u32 {
        self.process
    }
}
