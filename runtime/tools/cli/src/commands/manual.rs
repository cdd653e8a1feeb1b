//! `celero completions` and `celero man`: what shells and the manual's reader need to know of the
//! command, made from its definition.

use crate::output::Output;
use clap::Command;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print the completions of a shell.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero completions bash > ~/.local/share/bash-completion/completions/celero
  celero completions zsh > ~/.zfunc/_celero          # a folder in $fpath
  celero completions fish > ~/.config/fish/completions/celero.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, or write those of all commands.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero man | man -l -
  celero man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write the pages of the command and of its subcommands to this folder.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub(crate) fn completions(args: &CompletionsArgs, mut command: Command, output: &mut Output) -> Result<u8, String> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "celero", &mut text);
    output.print(&String::from_utf8_lossy(&text));
    Ok(0)
}

pub(crate) fn man(args: &ManArgs, command: Command, output: &mut Output) -> Result<u8, String> {
    let command = command.name("celero");
    if let Some(folder) = &args.out {
        let failed = |error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(failed)?;
        clap_mangen::generate_to(command, folder).map_err(failed)?;
        return Ok(0);
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text).map_err(|error| error.to_string())?;
    output.print(&String::from_utf8_lossy(&text));
    Ok(0)
}
