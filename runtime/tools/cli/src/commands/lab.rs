//! `celero lab`: starts the program `celero-lab`, which is built apart because it needs a database
//! and the tools of the benchmarks.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;

/// Measure celero itself, stage by stage, and compare versions: starts the program `celero-lab`
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// What `celero-lab` is given; `celero lab --help` shows it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Runs `celero-lab` and returns its exit code.
///
/// # Errors
/// There is no such program beside this one or on the PATH: how to build it.
pub(crate) fn run(args: &Args) -> Result<u8, String> {
    let name = format!("celero-lab{EXE_SUFFIX}");
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(&name)));
    let program = beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(&name));
    match Command::new(&program).args(&args.arguments).status() {
        // A process that was ended by a signal has no code.
        Ok(status) => Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(
            "the program `celero-lab` is neither beside `celero` nor on the PATH; in a checkout of celero, build it with \
             `cargo build --release -p celero-lab`"
                .to_owned(),
        ),
        Err(error) => Err(format!("{}: {error}", program.display())),
    }
}
