//! The proxy's own log: one line per event on standard error.

use log::{Level, LevelFilter, Log, Metadata, Record};
use std::io::Write;

struct Stderr;

impl Log for Stderr {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        if !shown(record.target(), record.level()) {
            return;
        }
        let level = record.level();
        let now = jiff::Timestamp::now();
        let line = format!("{now:.3} {level:<5} {}\n", record.args());
        // If standard error is closed, there is no place to report it.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }

    fn flush(&self) {}
}

/// Returns whether a record is for operators. What Pingora says of requests is in the words of its own code, and the proxy says it
/// itself; of Pingora's, only failures of the server as a whole are shown, such as a lack of file descriptors. `--log debug` shows all.
fn shown(target: &str, level: Level) -> bool {
    let all = log::max_level() >= LevelFilter::Debug;
    match target {
        _ if target.starts_with("celero") => true,
        _ if target.starts_with("pingora") => {
            let server = target.starts_with("pingora_core::services") || target.starts_with("pingora_core::server");
            all || (server && level == Level::Error)
        }
        _ => level <= Level::Warn,
    }
}

/// Installs the logger for records up to `level`.
pub fn start(level: LevelFilter) {
    if log::set_logger(&Stderr).is_ok() {
        log::set_max_level(level);
    }
}
