//! Runs generated programs in several ways and reports where these disagree: the seed, the smallest expression found that
//! still disagrees, the inputs and what each way gave.
//!
//! Results agree when values are the same ([`Owned::same`]) or errors are of the same kind. The budget is spent differently
//! by optimised code, so a program that one way ends for its budget is not compared on that input, only counted.

use crate::generate::{Case, Coverage, Generator, Owned, minimise};
use celero::ErrorKind;
use celero_frontend::{Limits, check, parse};
use std::fmt;

/// How many expressions are tried to make one failing program small.
const TRIES: usize = 600;

/// Disagreements after which a run stops.
const ENOUGH: usize = 5;

/// How an evaluation ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// With this value.
    Value(Owned),
    /// With an error of this kind.
    Error(ErrorKind),
}

impl Ended {
    /// The error's kind.
    #[must_use]
    pub fn error(&self) -> Option<ErrorKind> {
        match self {
            Self::Value(_) => None,
            Self::Error(kind) => Some(*kind),
        }
    }

    fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(a), Self::Value(b)) => a.same(b),
            (Self::Error(a), Self::Error(b)) => a == b,
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
            Self::Error(kind) => write!(f, "error {}", kind.name()),
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

/// Compares the arms with the first of them on generated programs, until `pairs` pairs of program and inputs are compared.
pub fn compare(mut generator: Generator, pairs: u64, arms: &mut [&mut dyn Arm]) -> Report {
    let mut report = Report::default();
    while report.compared + report.spent < pairs && report.failures.len() < ENOUGH {
        let case = generator.case();
        if !note(&case, &mut report) {
            continue;
        }
        report.programs += 1;
        match disagreement(&case, arms, Some(&mut report)) {
            None => {}
            Some(_) => report.failures.push(describe(&case, arms)),
        }
    }
    report
}

/// Counts what a program consists of. Whether it passes the checker.
fn note(case: &Case, report: &mut Report) -> bool {
    let limits = Limits::default();
    let checked = parse(&case.source, &limits).ok().and_then(|ast| check(ast, &case.declarations(), &limits).ok());
    match checked {
        Some((checked, _)) => {
            report.coverage.note(&checked);
            true
        }
        None => {
            report.refused += 1;
            false
        }
    }
}

/// The first set of inputs on which an arm disagrees with the first one, and what all arms gave, as lines of text.
fn disagreement(case: &Case, arms: &mut [&mut dyn Arm], report: Option<&mut Report>) -> Option<String> {
    let mut results: Vec<(String, Vec<Ended>)> = Vec::new();
    for arm in arms {
        let name = arm.name().to_owned();
        match arm.run(case) {
            Ok(ended) if ended.len() == case.bindings.len() => results.push((name, ended)),
            Ok(ended) => return Some(format!("  {name} gives {} results\n", ended.len())),
            Err(reason) => return Some(format!("  {name} does not compile it: {reason}\n")),
        }
    }
    let (_, expected) = results.first()?;
    let spent = |set: usize| results.iter().any(|(_, ended)| ended.get(set).is_some_and(Ended::spent));
    if let Some(report) = report {
        for (set, ended) in expected.iter().enumerate() {
            report.coverage.note_result(ended.error());
            *(if spent(set) { &mut report.spent } else { &mut report.compared }) += 1;
        }
    }
    for (set, (expected, inputs)) in expected.iter().zip(&case.bindings).enumerate() {
        let agree = |(_, ended): &(String, Vec<Ended>)| ended.get(set).is_some_and(|got| expected.agrees(got));
        if spent(set) || results.iter().all(agree) {
            continue;
        }
        let mut text = String::new();
        for (variable, value) in case.variables.iter().zip(inputs) {
            let value = value.as_ref().map_or("absent".to_owned(), Owned::to_string);
            text.push_str(&format!("    {} = {value}\n", variable.name));
        }
        for (name, ended) in &results {
            text.push_str(&format!("  {name}: {}\n", ended.get(set).map_or(String::new(), Ended::to_string)));
        }
        return Some(text);
    }
    None
}

/// A failing case as the reader wants it: small.
fn describe(case: &Case, arms: &mut [&mut dyn Arm]) -> String {
    let limits = Limits::default();
    let declarations = case.declarations();
    let mut smaller = case.clone();
    smaller.source = minimise(&case.source, TRIES, |source| {
        let checks = parse(source, &limits).is_ok_and(|ast| check(ast, &declarations, &limits).is_ok());
        let candidate = Case { source: source.to_owned(), ..case.clone() };
        checks && repeats(&candidate, arms) && disagreement(&candidate, arms, None).is_some()
    });
    let found = disagreement(&smaller, arms, None).unwrap_or_default();
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
