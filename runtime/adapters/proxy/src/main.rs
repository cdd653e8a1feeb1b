//! `celero-proxy --config proxy.yaml`.

use celero_proxy::config::Config;
use celero_proxy::logger::LogFormat;
use celero_proxy::{Proxy, ShutdownSignals, logger};
use clap::Parser;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A reverse proxy with celero policies.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The configuration file (YAML).
    #[arg(long, short, value_name = "FILE")]
    config: PathBuf,
    /// Check the configuration, the policy and all files they name, print what is configured, and exit.
    #[arg(long)]
    check: bool,
    /// Print what the configuration would do with requests that `record` has written, and exit.
    #[arg(long, value_name = "RECORD", conflicts_with = "check")]
    replay: Option<PathBuf>,
    /// With --replay: also print the requests that this other configuration decides otherwise. The
    /// exit status is 3 if there are any.
    #[arg(long, value_name = "FILE", requires = "replay")]
    against: Option<PathBuf>,
    /// Log level on standard error: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "info", value_parser = level)]
    log: log::LevelFilter,
    /// Format of the log: text, or json (an object per line with time, level and message).
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    logger::start(arguments.log, arguments.log_format);
    let done = match &arguments.replay {
        Some(record) => replay(&arguments, record),
        None if arguments.check => check(&arguments),
        None => run(&arguments),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // Whoever collects the log as JSON gets the reason in it.
            if arguments.log_format == LogFormat::Json
                && arguments.log >= log::Level::Error
                && !arguments.check
                && arguments.replay.is_none()
            {
                log::error!("{error}");
            } else {
                let _ = writeln!(std::io::stderr(), "{error}");
            }
            ExitCode::FAILURE
        }
    }
}

/// The exit status if configurations do something else.
const DIFFERENT: u8 = 3;

fn replay(arguments: &Arguments, record: &Path) -> Result<ExitCode, celero_proxy::Error> {
    let report = celero_proxy::replay::replay(record, &arguments.config, arguments.against.as_deref())?;
    let _ = std::io::stdout().write_all(report.to_string().as_bytes());
    Ok(if report.differences() > 0 { ExitCode::from(DIFFERENT) } else { ExitCode::SUCCESS })
}

fn check(arguments: &Arguments) -> Result<ExitCode, celero_proxy::Error> {
    let summary = Config::summary(&arguments.config)?;
    // Whoever closes the output has read enough.
    let _ = std::io::stdout().write_all(summary.as_bytes());
    Ok(ExitCode::SUCCESS)
}

fn run(arguments: &Arguments) -> Result<ExitCode, celero_proxy::Error> {
    let mut proxy = Proxy::bind(&arguments.config)?;
    proxy.replace_on_signal()?;
    let signals = ShutdownSignals::new()?;
    for address in proxy.addresses() {
        log::info!("listening on {address}");
    }
    if let Some(address) = proxy.metrics() {
        log::info!("metrics on http://{address}/metrics");
        log::info!("page for operators on http://{address}/");
    }
    if let Some(why) = celero_policy::native_failure() {
        log::warn!("rules are interpreted, with the same results: {why}");
    }
    proxy.run(Box::new(signals));
    Ok(ExitCode::SUCCESS)
}

fn level(text: &str) -> Result<log::LevelFilter, String> {
    text.parse().map_err(|_| "expected off, error, warn, info, debug, trace".to_owned())
}
