//! File tests: rules with what is expected of them beside them, as text that is written by hand and checked by eye.
//!
//! A file `tests/filetests/<theme>/<name>.cel` opens with settings, then has sections, each opened by a line `--- `:
//!
//! ```text
//! # Comments, before the first section and in tables.
//! container: a.b            names are resolved inside it first
//! unchecked: true           static types are off
//! without: strings, math    libraries that are turned off
//! define: f(x: int) = x + 1 a function defined in CEL, after the variables; may be repeated
//! context: http             the variables are those of a request, else they are the declared ones
//! source: 192.0.2.7:4711    the peer of the request
//! variables:
//!   x: int
//!   tags: list(string)
//!
//! --- given                 the data of the evaluations that follow: JSON, or a request
//! {"x": 1}
//!
//! --- rule                  an expression; the sections that follow are about it
//! x / 0 == 1
//! --- eval                  its value, or `error: KIND at PLACE`; `--- eval {"x": 2}` has data of its own
//! error: divide_by_zero at `x / 0`
//! --- type                  its static type
//! bool
//! --- diagnostics           errors or warnings, as people see them
//! --- graph                 the IR before the passes
//! --- optimized             the IR after the passes
//! --- clif                  what the code generator gets
//!
//! --- define f(x) = y       what is wrong with a definition, or `ok`; the sections that follow do not have it
//!
//! --- table                 many expressions, each with its value, error or `rejected: CODES`
//! 1 + 1 => 2
//! ```
//!
//! Data is JSON: whole numbers are ints (or what the variable is declared as), and where JSON has
//! no such type, an object with one member: `{"uint": 1}`, `{"double": "NaN"}`,
//! `{"bytes": "a\\xff"}`, `{"timestamp": ".."}`, `{"duration": ".."}`, `{"optional": 1}`,
//! `{"none": true}`, `{"map": [[1, "a"]]}`. In a request `\xff` stands for a byte.
//!
//! Files `*.filter` test the filter language: [`crate::filter::file_test`].
//!
//! Each evaluation runs in the interpreter, in native code and in native code without passes, by
//! `eval` and by `test`; all have to give what is expected. With `BLESS=1` the expectations are
//! rewritten, unless the tiers disagree.

mod arms;
mod data;
mod format;
mod request;
mod show;

pub use arms::Arms;

pub(crate) use arms::DISAGREE;

use arms::Host;
use format::Settings;
pub(crate) use format::{File, Section};
pub(crate) use request::unescape;
use std::fmt::Write;
use std::path::Path;

/// Runs a file, and with `bless` writes its expectations anew.
///
/// # Errors
/// All that is not as expected, as text.
pub fn run(path: &Path, arms: &Arms, bless: bool) -> Result<(), String> {
    run_sections(path, bless, |file| {
        let mut host = Host::new(&Settings::of(file)?)?;
        let mut rule: Option<String> = None;
        Ok(move |section: &Section| expected_of(section, &mut host, &mut rule, arms))
    })
}

/// Runs the sections of a file in order. `prepare` reads its settings and gives what says of each
/// section what its body should be; `None` for those that are input.
pub(crate) fn run_sections<F>(
    path: &Path,
    bless: bool,
    prepare: impl FnOnce(&File) -> Result<F, String>,
) -> Result<(), String>
where
    F: FnMut(&Section) -> Result<Option<String>, String>,
{
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut file = File::parse(&text);
    let mut expected = prepare(&file)?;
    let mut wrong = String::new();
    for section in &mut file.sections {
        let Some(actual) = expected(section)? else { continue };
        if actual.contains(DISAGREE) {
            let _ = writeln!(wrong, "line {}: the tiers disagree:\n{actual}", section.line);
        } else if actual != section.body && !bless {
            let _ = writeln!(wrong, "line {}: {}:\n{}", section.line, section.title(), difference(section, &actual));
        }
        section.body = actual;
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    if bless && file.to_string() != text {
        std::fs::write(path, file.to_string()).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// What a section's body should be; `None` for those that are input.
fn expected_of(
    section: &Section,
    host: &mut Host,
    rule: &mut Option<String>,
    arms: &Arms,
) -> Result<Option<String>, String> {
    let place = |why: String| format!("line {}: {why}", section.line);
    let about = || rule.as_deref().ok_or_else(|| format!("line {}: no rule comes before this", section.line));
    let actual = match section.kind.as_str() {
        "given" => {
            host.give(&section.body).map_err(place)?;
            return Ok(None);
        }
        "rule" => {
            *rule = Some(section.body.clone());
            return Ok(None);
        }
        "eval" => host.eval(arms, about()?, &section.argument).map_err(place)?,
        "define" => host.define(&section.argument).map_err(place)?,
        "table" => table(&section.body, |source| host.eval(arms, source, &section.argument)).map_err(place)?,
        stage @ ("type" | "diagnostics" | "graph" | "optimized" | "clif") => {
            host.stage(arms, about()?, stage).map_err(place)?
        }
        other => return Err(place(format!("there is no section `{other}`"))),
    };
    Ok(Some(actual))
}

/// The lines `SOURCE => OUTCOME` of a table, with the outcomes as they are.
pub(crate) fn table(body: &str, outcome: impl Fn(&str) -> Result<String, String>) -> Result<String, String> {
    let mut lines = Vec::new();
    for line in body.lines() {
        if line.is_empty() || line.starts_with('#') {
            lines.push(line.to_owned());
            continue;
        }
        let source = line.rsplit_once(" => ").map_or(line, |(source, _)| source).trim_end();
        lines.push(format!("{source} => {}", outcome(source)?));
    }
    Ok(lines.join("\n"))
}

/// The lines that are not in both texts.
fn difference(section: &Section, actual: &str) -> String {
    let mut text = String::new();
    let (expected, actual): (Vec<_>, Vec<_>) = (section.body.lines().collect(), actual.lines().collect());
    for line in expected.iter().filter(|line| !actual.contains(line)) {
        let _ = writeln!(text, "  - {line}");
    }
    for line in actual.iter().filter(|line| !expected.contains(line)) {
        let _ = writeln!(text, "  + {line}");
    }
    if text.is_empty() { "  the same lines, in another order\n".into() } else { text }
}
