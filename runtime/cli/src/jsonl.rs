//! `celero eval --jsonl`: a question a line in, an answer a line out, in order, each as soon as it is known. No line ends the
//! program: one that makes no sense is answered with an error.

use crate::DISAGREE;
use crate::failure::Failure;
use crate::input::{Named, World};
use crate::outcome::{Answer, Engines, answer};
use crate::output::Output;
use crate::types;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::io::{self, BufRead, Read};

/// Longest line in bytes; what is longer is answered with an error and skipped.
const MAX_LINE: u64 = 64 << 20;

/// A question.
#[derive(Deserialize)]
struct Question {
    expr: String,
    #[serde(default)]
    vars: Map<String, Json>,
    #[serde(default)]
    bindings: Map<String, Json>,
    #[serde(default)]
    container: String,
    #[serde(default)]
    define: Vec<String>,
    #[serde(default = "yes")]
    check: bool,
}

fn yes() -> bool {
    true
}

pub(crate) fn run(engines: &Engines, output: &mut Output) -> Result<u8, String> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    let mut code = 0;
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        if read.map_err(|error| format!("standard input: {error}"))? == 0 {
            return Ok(code);
        }
        let whole = line.last() == Some(&b'\n') || u64::try_from(line.len()).is_ok_and(|n| n < MAX_LINE);
        let answer = if whole {
            ask(engines, &line)
        } else {
            skip_line(&mut input).map_err(|error| format!("standard input: {error}"))?;
            Answer::Agreed(Err(Failure::invalid(format!("the line is longer than {MAX_LINE} bytes"))))
        };
        if matches!(answer, Answer::Disagreed { .. }) {
            code = DISAGREE;
        }
        output.line(&answer.json().to_string());
        if !output.flush() {
            return Ok(code);
        }
    }
}

fn ask(engines: &Engines, line: &[u8]) -> Answer {
    match read(line) {
        Ok((expr, named)) => answer(engines, &World::Named(named), &expr),
        Err(why) => Answer::Agreed(Err(Failure::invalid(why))),
    }
}

fn read(line: &[u8]) -> Result<(String, Named), String> {
    let question: Question = serde_json::from_slice(line).map_err(|error| format!("not a question: {error}"))?;
    let mut declared = Vec::new();
    for (name, notation) in question.vars {
        let notation = notation.as_str().ok_or_else(|| format!("type of `{name}`: expected a string"))?;
        declared.push((name, types::parse(notation)?));
    }
    let definitions = question.define.iter().map(|text| types::definition(text)).collect::<Result<_, _>>()?;
    let Question { expr, bindings: values, container, check, .. } = question;
    Ok((expr, Named { types: declared, values, container, unchecked: !check, definitions }))
}

/// Reads to the end of the line and keeps nothing.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (used, done) = match buffer.iter().position(|b| *b == b'\n') {
            Some(end) => (end.saturating_add(1), true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}
