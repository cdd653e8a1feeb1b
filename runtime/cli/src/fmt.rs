//! `celero fmt`: formats expressions.

use crate::REJECTED;
use crate::failure::Failure;
use crate::input::{expression, read_raw};
use crate::output::Output;
use celero::{Engine, Tier};
use std::path::{Path, PathBuf};

/// Format rules: spaces, parentheses, quotes, line breaks.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero fmt rule.cel other.cel               # rewrites the files
  celero fmt --check rule.cel                 # writes nothing; exit code 1 if anything would change
  celero fmt - < rule.cel                     # to standard output
  celero fmt --expr 'a&&(b)'

The meaning of a rule never changes. Comments before the expression are kept. A comment inside or after the expression would be
lost, so such a file is not changed, and the exit code is 1.")]
pub(crate) struct Args {
    /// Files with one expression each. `-` reads standard input and writes standard output.
    #[arg(value_name = "RULE", required_unless_present = "expr")]
    files: Vec<PathBuf>,
    /// The expression, instead of files.
    #[arg(long, value_name = "EXPR", conflicts_with = "files", allow_hyphen_values = true)]
    expr: Option<String>,
    /// Write nothing; print the names of unformatted files and exit with 1 if there are any.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    if let Some(expr) = &args.expr {
        let source = expression(expr)?;
        let done = format(&engine, "--expr", &source, output).map(|text| {
            let same = text.trim_end() == source;
            show(args.check, "--expr", same, &text, output)
        });
        return Ok(code(done == Some(true)));
    }
    let mut fine = true;
    for path in &args.files {
        let name = path.display().to_string();
        let source = read_raw(path)?;
        let Some(text) = format(&engine, &name, &source, output) else {
            fine = false;
            continue;
        };
        let same = text == source;
        if args.check || path == Path::new("-") {
            fine &= show(args.check, &name, same, &text, output);
        } else if !same {
            std::fs::write(path, text).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(code(fine))
}

fn code(fine: bool) -> u8 {
    if fine { 0 } else { REJECTED }
}

fn format(engine: &Engine, name: &str, source: &str, output: &mut Output) -> Option<String> {
    match engine.format(source) {
        Ok(text) => Some(text),
        Err(error) => {
            output.complain(&Failure::from(&error).render_as(name, source, output.color()));
            None
        }
    }
}

/// Prints the formatted text, or with `check` whether it differs. Returns whether the exit code may be 0.
fn show(check: bool, name: &str, same: bool, text: &str, output: &mut Output) -> bool {
    if !check {
        output.print(text);
    } else if !same {
        output.line(&format!("{name}: not formatted"));
    }
    !check || same
}
