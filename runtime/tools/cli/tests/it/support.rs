//! Runs the command.

use serde_json::Value as Json;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The result of a run.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    /// Runs a command with this standard input.
    pub(crate) fn of(command: &mut Command, input: &[u8]) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {:?} {:?}", self.out, self.err))
    }
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_celero"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn celero_reading(args: &[&str], input: &[u8]) -> Run {
    Run::of(&mut command(args), input)
}

pub(crate) fn celero(args: &[&str]) -> Run {
    celero_reading(args, b"")
}

pub(crate) fn file(name: &str, content: &str) -> String {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = dir.join(format!("{}-{name}", std::process::id()));
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Answers to lines of `eval --jsonl`.
pub(crate) fn answers(args: &[&str], lines: &str) -> (i32, Vec<Json>) {
    let all: Vec<_> = ["eval", "--jsonl"].iter().chain(args).copied().collect();
    let run = celero_reading(&all, lines.as_bytes());
    assert_eq!(run.err, "");
    (run.code, run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}
