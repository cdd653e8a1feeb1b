//! Runs generated programs in several ways and reports where these disagree: the seed, the smallest
//! expression found that still disagrees, the inputs and what each way gave.
//!
//! Results agree when values are the same ([`Owned::same`]) or errors are of the same kind at the
//! same place. The budget is spent differently by optimised code, so a program that one way ends
//! for its budget is not compared on that input, only counted.

use crate::generate::{Case, Coverage, Generator, Group, Owned, minimise};
use celero::diagnostics::Span;
use celero::settings::Explanation;
use celero::{ErrorKind, EvalError, Type};
use celero_frontend::{Checked, Limits, check, parse};
use std::fmt;

/// How many expressions are tried to make one failing program small.
const TRIES: usize = 600;

/// Disagreements after which a run stops.
const ENOUGH: usize = 5;

/// One program in this many is examined stage by stage, which takes longer than running it; so is
/// every program that is written for a rare operation.
const LOOKED_AT: u64 = 8;

/// Programs between two updates of the generator's weights.
const TOLD: u64 = 32;

/// Cases of an error inside of a larger expression that are wanted, of each kind and each thing that becomes of it.
const INSIDE: u64 = 600;

/// How an evaluation ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// With this value.
    Value(Owned),
    /// With an error of this kind, at this place of the source.
    Error(ErrorKind, Span),
}

impl Ended {
    /// With this error.
    #[must_use]
    pub fn failed(error: &EvalError) -> Self {
        Self::Error(error.kind, Span::new(error.start, error.end))
    }

    /// The error's kind.
    #[must_use]
    pub fn error(&self) -> Option<ErrorKind> {
        match self {
            Self::Value(_) => None,
            Self::Error(kind, _) => Some(*kind),
        }
    }

    /// Whether it is the same value, or an error of the same kind at the same place.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(a), Self::Value(b)) => a.same(b),
            (Self::Error(kind, place), Self::Error(other, elsewhere)) => kind == other && place == elsewhere,
            _ => false,
        }
    }

    fn spent(&self) -> bool {
        self.error() == Some(ErrorKind::OutOfBudget)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Error(kind, place) => write!(f, "error {} at {}..{}", kind.name(), place.start, place.end),
        }
    }
}

/// One way to run a program that passes the checker.
pub trait Arm {
    /// What reports call it.
    fn name(&self) -> &str;

    /// The result for each set of a case's inputs, in order.
    ///
    /// # Errors
    /// Why the program could not be compiled: always a failure of the run.
    fn run(&mut self, case: &Case) -> Result<Vec<Ended>, String>;

    /// The stages of a program's way, if it has any to show.
    fn stages(&mut self, case: &Case) -> Option<Explanation> {
        let _ = case;
        None
    }
}

/// What a run found.
#[derive(Debug, Default)]
pub struct Report {
    /// Programs that were run.
    pub programs: u64,
    /// Programs that did not pass the checker: faults of the generator.
    pub refused: u64,
    /// Pairs of a program and a set of inputs that were compared.
    pub compared: u64,
    /// Pairs that were not, because a budget was spent.
    pub spent: u64,
    /// What the programs consisted of and how they ended.
    pub coverage: Coverage,
    /// The disagreements, ready to be read.
    pub failures: Vec<String>,
}

impl Report {
    /// Adds the findings of another run.
    pub fn merge(&mut self, other: Self) {
        self.programs += other.programs;
        self.refused += other.refused;
        self.compared += other.compared;
        self.spent += other.spent;
        self.coverage.merge(&other.coverage);
        self.failures.extend(other.failures);
    }
}

/// Compares the arms with the first of them on generated programs, until `pairs` pairs of program
/// and inputs are compared.
pub fn compare(generator: Generator, pairs: u64, arms: &mut [&mut dyn Arm]) -> Report {
    let mut report = Report::default();
    compare_more(&mut report, generator, pairs, arms);
    report
}

/// Compares `pairs` more pairs, as [`compare`] does. Prefers operations that the report has counted least.
pub fn compare_more(report: &mut Report, mut generator: Generator, pairs: u64, arms: &mut [&mut dyn Arm]) {
    let pairs = report.compared + report.spent + pairs;
    while report.compared + report.spent < pairs && report.failures.len() < ENOUGH {
        if report.programs.is_multiple_of(TOLD) {
            generator.prefer(&report.coverage);
        }
        let case = generator.case();
        let Some(checked) = checked(&case, Some(&mut report.coverage)) else {
            report.refused += 1;
            continue;
        };
        report.programs += 1;
        if case.rare || report.programs.is_multiple_of(LOOKED_AT) {
            let sets = case.bindings.len() as u64;
            // In turns, for they differ; the first has nothing to show.
            let arm = if report.programs.is_multiple_of(3) { 2 } else { 1 };
            if let Some(stages) = arms.get_mut(arm).and_then(|arm| arm.stages(&case)) {
                report.coverage.note_stages(&stages, &case.variables, sets);
            }
        }
        match outcomes(&case, arms) {
            Err(reason) => report.failures.push(format!("{case}{reason}")),
            Ok(results) if disagreement(&case, &results).is_some() => report.failures.push(describe(&case, arms)),
            Ok(results) => {
                count(&case, &results, report);
                enclose(&case, &checked, &results, arms, report);
            }
        }
    }
}

/// The checked program, if it passes the checker; counts what it consists of.
fn checked(case: &Case, coverage: Option<&mut Coverage>) -> Option<Checked> {
    let (limits, env) = (Limits::default(), case.env());
    let ast = parse(&case.source, &limits).ok()?;
    let (checked, _) = check(ast, env.declarations(), &limits).ok()?;
    if let Some(coverage) = coverage {
        coverage.note(&checked, env.declarations(), case.bindings.len() as u64);
    }
    Some(checked)
}

/// What each arm gave, in the order of the arms.
type Outcomes = Vec<(String, Vec<Ended>)>;

/// What each arm gives; why one has no results.
fn outcomes(case: &Case, arms: &mut [&mut dyn Arm]) -> Result<Outcomes, String> {
    let run = |arm: &mut &mut dyn Arm| {
        let name = arm.name().to_owned();
        match arm.run(case) {
            Ok(ended) if ended.len() == case.bindings.len() => Ok((name, ended)),
            Ok(ended) => Err(format!("  {name} gives {} results\n", ended.len())),
            Err(reason) => Err(format!("  {name} does not compile it: {reason}\n")),
        }
    };
    arms.iter_mut().map(run).collect()
}

/// Whether a set of inputs can't be compared: a way to run it spent its budget, and another may not have.
fn spent(case: &Case, results: &Outcomes, set: usize) -> bool {
    case.steps.is_none() && results.iter().any(|(_, ended)| ended.get(set).is_some_and(Ended::spent))
}

fn count(case: &Case, results: &Outcomes, report: &mut Report) {
    for (set, ended) in results.first().map_or(&[][..], |(_, ended)| ended).iter().enumerate() {
        if spent(case, results, set) {
            report.spent += 1;
        } else {
            report.compared += 1;
            report.coverage.note_result(match ended {
                Ended::Value(value) => Ok(value),
                Ended::Error(kind, _) => Err(*kind),
            });
        }
    }
}

/// The first set of inputs on which an arm disagrees with the first one, and what all arms gave, as lines of text.
fn disagreement(case: &Case, results: &Outcomes) -> Option<String> {
    let (_, expected) = results.first()?;
    for (set, (expected, inputs)) in expected.iter().zip(&case.bindings).enumerate() {
        let agree = |(_, ended): &(String, Vec<Ended>)| ended.get(set).is_some_and(|got| expected.agrees(got));
        if spent(case, results, set) || results.iter().all(agree) {
            continue;
        }
        let mut text = String::new();
        for (variable, value) in case.variables.iter().zip(inputs) {
            let value = value.as_ref().map_or("absent".to_owned(), Owned::to_string);
            text.push_str(&format!("    {} = {value}\n", variable.name));
        }
        for (name, ended) in results {
            text.push_str(&format!("  {name}: {}\n", ended.get(set).map_or(String::new(), Ended::to_string)));
        }
        return Some(text);
    }
    None
}

/// What a condition is put into, to see what becomes of its errors.
#[derive(Clone, Copy)]
enum Around {
    Or,
    And,
    Default,
    Coalesce,
}

impl Around {
    /// An expression that is true if an error of the condition does not matter.
    fn source(self, condition: &str) -> String {
        match self {
            Self::Or => format!("({condition}) || host.yes()"),
            Self::And => format!("!(({condition}) && !host.yes())"),
            Self::Default => format!("default({condition}, host.yes())"),
            Self::Coalesce => format!("coalesce({condition}, host.yes())"),
        }
    }

    /// What becomes of an error there.
    fn what_becomes_of(self, kind: ErrorKind) -> Group {
        match self {
            _ if kind.is_final() => Group::Passed,
            Self::Or | Self::And => Group::Absorbed,
            Self::Default if kind != ErrorKind::NoSuchKey => Group::Passed,
            Self::Default | Self::Coalesce => Group::Caught,
        }
    }
}

/// Runs a condition that ended with errors inside of larger expressions, where what becomes of
/// these there was rarely met.
fn enclose(case: &Case, checked: &Checked, results: &Outcomes, arms: &mut [&mut dyn Arm], report: &mut Report) {
    if !matches!(checked.result_type(), Type::Bool | Type::Dyn) {
        return;
    }
    let ended = results.first().map_or(&[][..], |(_, ended)| ended);
    let logic = if report.programs.is_multiple_of(2) { Around::Or } else { Around::And };
    for around in [logic, Around::Default, Around::Coalesce] {
        let rare = |kind| report.coverage.of(around.what_becomes_of(kind), kind.name()) < INSIDE;
        if ended.iter().filter_map(Ended::error).any(rare) {
            enclose_in(around, case, ended, arms, report);
        }
    }
}

fn enclose_in(around: Around, case: &Case, ended: &[Ended], arms: &mut [&mut dyn Arm], report: &mut Report) {
    let case = Case { source: around.source(&case.source), ..case.clone() };
    let outer = match outcomes(&case, arms) {
        Err(reason) => return report.failures.push(format!("{case}{reason}")),
        Ok(outer) if disagreement(&case, &outer).is_some() => return report.failures.push(describe(&case, arms)),
        Ok(outer) => outer,
    };
    for (set, kind) in ended.iter().enumerate().filter_map(|(set, ended)| Some((set, ended.error()?))) {
        let what = around.what_becomes_of(kind);
        let expected = |ended: &Ended| match what {
            Group::Passed => ended.error() == Some(kind),
            _ => matches!(ended, Ended::Value(Owned::Bool(true))),
        };
        if outer.iter().all(|(_, ended)| ended.get(set).is_some_and(expected)) {
            report.coverage.note_error(what, kind);
        } else if !spent(&case, &outer, set) {
            let expected = if what == Group::Passed { "the error" } else { "true" };
            report.failures.push(format!("{case}  is not {expected}, where the condition is {kind}\n"));
        }
    }
}

/// A failing case as the reader wants it: small.
fn describe(case: &Case, arms: &mut [&mut dyn Arm]) -> String {
    let mut smaller = case.clone();
    smaller.source = minimise(&case.source, TRIES, |source| {
        let candidate = Case { source: source.to_owned(), ..case.clone() };
        let fails = |results: Outcomes| disagreement(&candidate, &results).is_some();
        checked(&candidate, None).is_some() && repeats(&candidate, arms) && outcomes(&candidate, arms).is_ok_and(fails)
    });
    let found = outcomes(&smaller, arms).ok().and_then(|results| disagreement(&smaller, &results)).unwrap_or_default();
    format!("{case}  smallest: {}\n{found}", smaller.source)
}

/// Whether the first arm gives the same results again: a random value that was laid bare is no disagreement.
fn repeats(case: &Case, arms: &mut [&mut dyn Arm]) -> bool {
    let Some(arm) = arms.first_mut() else { return false };
    match (arm.run(case), arm.run(case)) {
        (Ok(once), Ok(again)) => once.iter().zip(&again).all(|(a, b)| a.agrees(b)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives the source's length, but for sources with the text `wrong` one more.
    struct Length {
        wrong: Option<&'static str>,
    }

    impl Arm for Length {
        fn name(&self) -> &str {
            if self.wrong.is_some() { "planted" } else { "right" }
        }

        fn run(&mut self, case: &Case) -> Result<Vec<Ended>, String> {
            let off = i64::from(self.wrong.is_some_and(|wrong| case.source.contains(wrong)));
            Ok(case.bindings.iter().map(|_| Ended::Value(Owned::Int(off))).collect())
        }
    }

    #[test]
    fn arms_that_agree_are_compared_to_the_end() {
        let report = compare(Generator::new(5), 1_000, &mut [&mut Length { wrong: None }, &mut Length { wrong: None }]);
        assert!(report.failures.is_empty());
        assert!(report.compared >= 1_000 && report.refused < 20, "{report:?}");
    }

    #[test]
    fn a_planted_fault_is_found_and_made_small() {
        let report = compare(
            Generator::new(5),
            20_000,
            &mut [&mut Length { wrong: None }, &mut Length { wrong: Some("size(") }],
        );
        let small = report.failures.iter().any(|failure| {
            let smallest = failure.lines().find_map(|line| line.trim().strip_prefix("smallest: "));
            smallest.is_some_and(|s| s.len() <= 12 && s.contains("size("))
        });
        assert!(small, "{:#?}", report.failures);
        assert!(report.failures.iter().all(|f| f.contains("planted: 1") && f.contains("right: 0")));
    }
}
