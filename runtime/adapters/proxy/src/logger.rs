//! The proxy's own log: one line per event on standard error.

use log::{LevelFilter, Log, Metadata, Record};
use std::io::Write;

struct Stderr;

impl Log for Stderr {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        // Libraries log below `warn` only with `--log debug` or `--log trace`.
        let (target, level) = (record.target(), record.level());
        let pingora = target.starts_with("pingora") && log::max_level() >= LevelFilter::Debug;
        if level > LevelFilter::Warn && !pingora && !target.starts_with("celero") {
            return;
        }
        let now = jiff::Timestamp::now();
        let line = format!("{now:.3} {level:<5} {}\n", record.args());
        // If standard error is closed, there is no place to report it.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }

    fn flush(&self) {}
}

/// Installs the logger for records up to `level`.
pub fn start(level: LevelFilter) {
    if log::set_logger(&Stderr).is_ok() {
        log::set_max_level(level);
    }
}
