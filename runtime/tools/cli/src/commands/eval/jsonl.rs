//! `celero eval --jsonl`: reads an expression per line and prints a result per line, in order, each
//! before the next line is read. An invalid line gives an error result.
//!
//! Invariant: `eval --jsonl` is an interface for programs: the form of its answers does not change. Test:
//! `runtime/tools/cli/tests/it/jsonl.rs::jsonl_answers_in_order`.

use crate::DISAGREE;
use crate::commands::eval::filter_jsonl;
use crate::evaluate::{Engines, Evaluated, TierChoice, answers};
use crate::input::arguments::{Declarations, NamedInput};
use crate::input::contexts::NamedContexts;
use crate::input::filter_args::FilterDeclarations;
use crate::input::in_language::InLanguage;
use crate::input::message_files::MessageInput;
use crate::language::Language;
use crate::output::Output;
use crate::output::failure::Failure;
use celero::messages::type_of_message;
use celero_tooling::values;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::cell::OnceCell;
use std::io::{self, BufRead, Read};

/// The longest line, in bytes. A longer line is skipped and gives an error result.
const MAX_LINE: u64 = 64 << 20;

/// A line of input.
#[derive(Deserialize)]
#[serde(expecting = "an object with the member `expr`")]
struct JsonlRequest {
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

/// `messages` has the types that expressions may name.
pub(crate) fn run(
    engines: &Engines,
    tier: TierChoice,
    language: Language,
    messages: Option<MessageInput>,
    output: &mut Output,
) -> Result<u8, String> {
    let filter_engines = OnceCell::new();
    let lines = Lines { engines, tier, filter_engines, language, messages };
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
            lines.evaluate(&line)
        } else {
            skip_line(&mut input).map_err(|error| format!("standard input: {error}"))?;
            Evaluated::Agreed(Err(Failure::invalid(format!("the line is longer than {MAX_LINE} bytes"))))
        };
        if matches!(answer, Evaluated::Disagreed { .. }) {
            code = DISAGREE;
        }
        output.line(&answer.json().to_string());
        if !output.flush() {
            return Ok(code);
        }
    }
}

/// Evaluates a line whose expression is in a language.
pub(crate) fn evaluate_line(language: Language, line: &[u8]) -> Evaluated {
    let (engines, filter_engines) = (Engines::new(TierChoice::Auto), OnceCell::new());
    Lines { engines: &engines, tier: TierChoice::Auto, filter_engines, language, messages: None }.evaluate(line)
}

/// The part of a line that names the language.
#[derive(Deserialize)]
struct LineLanguage {
    language: String,
}

/// How lines are evaluated.
struct Lines<'e> {
    engines: &'e Engines,
    tier: TierChoice,
    /// For the filter language, whose tiers are compared unless one is chosen.
    filter_engines: OnceCell<Engines>,
    /// The language of lines that name none.
    language: Language,
    /// The types of messages.
    messages: Option<MessageInput>,
}

impl Lines<'_> {
    fn evaluate(&self, line: &[u8]) -> Evaluated {
        let invalid = |why| Evaluated::Agreed(Err(Failure::invalid(why)));
        let named = serde_json::from_slice::<LineLanguage>(line).ok().map(|line| Language::named(&line.language));
        let language = match named.transpose() {
            Ok(named) => named.unwrap_or(self.language),
            Err(why) => return invalid(why),
        };
        if [self.language, language].contains(&Language::filter()) {
            let engines = self.filter_engines.get_or_init(|| Engines::compared(self.tier));
            return filter_jsonl::evaluate_line(engines, line);
        }
        let answer = read(line, self.messages.as_ref()).and_then(|(expr, named)| {
            let contexts = NamedContexts::new(named)?;
            Ok(answers(self.engines, &InLanguage::new(&contexts, language), &expr).pop())
        });
        match answer {
            Ok(answer) => answer.unwrap_or_else(|| invalid("no result".to_owned())),
            Err(why) => invalid(why),
        }
    }
}

fn read(line: &[u8], messages: Option<&MessageInput>) -> Result<(String, NamedInput), String> {
    let question: JsonlRequest =
        serde_json::from_slice(line).map_err(|error| format!("not a valid request: {error}"))?;
    let mut declared = Vec::new();
    for (name, notation) in question.vars {
        let notation = notation.as_str().ok_or_else(|| format!("type of `{name}`: expected a string"))?;
        let message = messages.and_then(|messages| messages.types.message(notation));
        let ty = match message {
            Some(message) => type_of_message(message.name()),
            None => values::notation::parse(notation)?,
        };
        declared.push((name, ty));
    }
    let functions = question.define.iter().map(|text| values::notation::definition(text)).collect::<Result<_, _>>()?;
    let JsonlRequest { expr, bindings: values, container, check, .. } = question;
    let filter = FilterDeclarations::default();
    let messages = messages.cloned();
    let declarations = Declarations { container, unchecked: !check, functions, filter, host: None, messages };
    Ok((expr, NamedInput { types: declared, values, given: true, declarations }))
}

/// Skips the rest of a line.
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
