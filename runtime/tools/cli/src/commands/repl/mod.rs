//! `celero repl`: evaluates expressions line by line, with completed names and a history. Reads
//! commands from standard input too.

mod commands;
mod completion;

use crate::REJECTED;
use crate::input::arguments::InputArgs;
use crate::language::Language;
use crate::output::Output;
use commands::{Next, Session};
use completion::Names;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

/// Evaluate expressions line by line.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  celero repl
  celero repl --request request.http
  celero repl --bindings bindings.json
  celero repl --language filter
  printf ':type 1 + 1\\n1 + 1\\n' | celero repl

:help lists the commands. The tab key completes names. The history is kept in $XDG_STATE_HOME/celero/history or
~/.local/state/celero/history. If standard input is not a terminal, its lines are evaluated, and the exit code is 1 if one of them
fails.")]
pub(crate) struct Args {
    #[command(flatten)]
    given: InputArgs,
    /// The language of the expressions. `:language` changes it.
    #[arg(long, value_parser = crate::language::parser(), default_value = "cel", value_name = "LANGUAGE")]
    language: Language,
}

/// The largest number of lines in the history.
const HISTORY: usize = 1000;

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<u8, String> {
    let mut session = Session::new(args.given.read()?, args.given.source, args.language);
    if !std::io::stdin().is_terminal() {
        return piped(&mut session, output);
    }
    interactive(&mut session, output).map_err(|error| format!("the terminal can't be read: {error}"))?;
    Ok(0)
}

/// Evaluates the lines of standard input.
fn piped(session: &mut Session, output: &mut Output) -> Result<u8, String> {
    let mut code = 0;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| format!("standard input: {error}"))?;
        match session.line(&line, output) {
            Next::Quit => break,
            Next::Failed => code = REJECTED,
            Next::Done => {}
        }
        if !output.flush() {
            break;
        }
    }
    Ok(code)
}

fn interactive(session: &mut Session, output: &mut Output) -> rustyline::Result<()> {
    let config = Config::builder().completion_type(CompletionType::List).max_history_size(HISTORY)?.build();
    let mut editor: Editor<Names, FileHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Names::new(session.names())));
    let history = history_file();
    if let Some(path) = &history {
        // There is no history the first time.
        let _ = editor.load_history(path);
    }
    output.line("celero: an expression, or :help");
    loop {
        output.flush();
        let line = match editor.readline("> ") {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error),
        };
        if !line.trim().is_empty() {
            editor.add_history_entry(&line)?;
        }
        if matches!(session.line(&line, output), Next::Quit) {
            break;
        }
        editor.set_helper(Some(Names::new(session.names())));
    }
    if let Some(path) = &history {
        let saved = path.parent().map_or(Ok(()), std::fs::create_dir_all).is_ok() && editor.save_history(path).is_ok();
        if !saved {
            output.complain(&format!("warning: the history can't be written to {}", path.display()));
        }
    }
    Ok(())
}

/// Returns the file of the history, where the XDG base directory specification has state.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    Some(state.or_else(home)?.join("celero/history"))
}
