//! The proxy's own log: one line per event on standard error.

use log::{Level, LevelFilter, Log, Metadata, Record};
use serde_json::json;
use std::io::Write;
use std::str::FromStr;

/// How a line of the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Time, level, text.
    #[default]
    Text,
    /// A JSON object with `time`, `level` and `message`.
    Json,
}

impl FromStr for LogFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("expected text or json"),
        }
    }
}

struct Stderr {
    format: LogFormat,
}

static TEXT: Stderr = Stderr { format: LogFormat::Text };
static JSON: Stderr = Stderr { format: LogFormat::Json };

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
        let line = match self.format {
            LogFormat::Text => format!("{now:.3} {level:<5} {}\n", record.args()),
            LogFormat::Json => {
                let (time, level) = (format!("{now:.3}"), level.as_str().to_ascii_lowercase());
                format!("{}\n", json!({ "time": time, "level": level, "message": record.args().to_string() }))
            }
        };
        // If standard error is closed, there is no place to report it.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }

    fn flush(&self) {}
}

/// Returns whether a record is for operators. What Pingora says of requests is in the words of its
/// own code, and the proxy says it itself; of Pingora's, only failures of the server as a whole are
/// shown, such as a lack of file descriptors. `--log debug` shows all.
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
pub fn start(level: LevelFilter, format: LogFormat) {
    let logger = match format {
        LogFormat::Text => &TEXT,
        LogFormat::Json => &JSON,
    };
    if log::set_logger(logger).is_ok() {
        log::set_max_level(level);
    }
}
