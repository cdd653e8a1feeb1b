//! `celero-proxy --config proxy.yaml`.

use celero_proxy::config::Config;
use celero_proxy::logger::LogFormat;
use celero_proxy::{Proxy, UnixShutdownSignalWatch, logger};
use clap::Parser;
use std::io::Write;
use std::path::PathBuf;
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
    let done = if arguments.check { check(&arguments) } else { run(&arguments) };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever collects the log as JSON gets the reason in it.
            if arguments.log_format == LogFormat::Json && arguments.log >= log::Level::Error && !arguments.check {
                log::error!("{error}");
            } else {
                let _ = writeln!(std::io::stderr(), "{error}");
            }
            ExitCode::FAILURE
        }
    }
}

fn check(arguments: &Arguments) -> Result<(), celero_proxy::Error> {
    let summary = Config::summary(&arguments.config)?;
    // Whoever closes the output has read enough.
    let _ = std::io::stdout().write_all(summary.as_bytes());
    Ok(())
}

fn run(arguments: &Arguments) -> Result<(), celero_proxy::Error> {
    let mut proxy = Proxy::bind(&arguments.config)?;
    proxy.replace_on_signal();
    for address in proxy.addresses() {
        log::info!("listening on {address}");
    }
    if let Some(address) = proxy.metrics() {
        log::info!("metrics on http://{address}/metrics");
        log::info!("page for operators on http://{address}/");
    }
    proxy.run(Box::new(UnixShutdownSignalWatch));
    Ok(())
}

fn level(text: &str) -> Result<log::LevelFilter, String> {
    text.parse().map_err(|_| "expected off, error, warn, info, debug, trace".to_owned())
}
