//! The proxy's own log: one line an event on standard error.

use log::{LevelFilter, Log, Metadata, Record};
use std::io::Write;

struct Stderr;

impl Log for Stderr {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        // The notes of libraries are of use to those who look into Pingora only.
        let (target, level) = (record.target(), record.level());
        let pingora = target.starts_with("pingora") && log::max_level() >= LevelFilter::Debug;
        if level > LevelFilter::Warn && !pingora && !target.starts_with("celero") {
            return;
        }
        let now = jiff::Timestamp::now();
        let line = format!("{now:.3} {level:<5} {}\n", record.args());
        // Nobody is left to be told that standard error is closed.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }

    fn flush(&self) {}
}

/// Starts it.
pub fn start(level: LevelFilter) {
    if log::set_logger(&Stderr).is_ok() {
        log::set_max_level(level);
    }
}
