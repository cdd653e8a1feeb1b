//! Compares what random rules evaluate to in two ways, and checks what holds of every rule.

use crate::filter::{Outcome, round_trip, show};
use crate::generate::filter::{Case, Generator, minimise};
use celero::filter::{
    AccessStep, Comparison, Connective, Filter, FilterExpr, FilterLiteral, FilterTree, FilterValue, SetItems,
};
use std::collections::BTreeMap;
use std::fmt;

/// How many rules are tried to make one failing rule small.
const TRIES: usize = 400;

/// Failures after which a run stops.
const ENOUGH: usize = 3;

/// A way to evaluate a rule for each host of a case, or why it cannot evaluate this rule.
pub type Way<'w> = &'w dyn Fn(&Case, &Filter) -> Result<Vec<Outcome>, &'static str>;

/// What was seen.
#[derive(Debug, Default)]
pub struct Report {
    /// Rules that were accepted.
    pub rules: u64,
    /// Rules that were not.
    pub refused: Vec<String>,
    /// Pairs of a rule and a host for which both ways gave a result.
    pub compared: u64,
    /// Pairs that the second way did not evaluate, by the reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Pairs that spent their budget in one of the ways, which are not compared.
    pub spent: u64,
    /// Pairs by result: false, true, nil, another value.
    pub results: [u64; 4],
    /// Pairs by what the rule consists of.
    pub coverage: Coverage,
    /// What does not hold.
    pub failures: Vec<String>,
}

/// Compares two ways on the cases of a generator, until there are so many pairs of a rule and a host.
#[must_use]
pub fn compare(generator: Generator, pairs: u64, first: Way<'_>, second: Way<'_>) -> Report {
    let mut report = Report::default();
    let mut seen = 0;
    for case in generator {
        if seen >= pairs || report.failures.len() >= ENOUGH || report.refused.len() >= ENOUGH {
            break;
        }
        seen += case.hosts.len() as u64;
        let filter = match case.compile() {
            Ok(filter) => filter,
            Err(error) => {
                report.refused.push(format!("{case:?}\n{error}"));
                continue;
            }
        };
        report.rules += 1;
        report.coverage.note(filter.tree(), case.hosts.len() as u64);
        if let Err(why) = round_trip(filter.tree(), case.is_value) {
            report.failures.push(format!("{case:?}\n{why}"));
            continue;
        }
        let results = first(&case, &filter).unwrap_or_default();
        for result in &results {
            note(&mut report, &filter, result);
        }
        let other = match second(&case, &filter) {
            Ok(other) => other,
            Err(reason) => {
                *report.left_out.entry(reason).or_default() += case.hosts.len() as u64;
                continue;
            }
        };
        if disagreement(&case, &results, &other).is_some() {
            report.failures.push(describe(&case, first, second));
        } else {
            let spent = results.iter().zip(&other).filter(|(a, b)| a.is_err() || b.is_err()).count() as u64;
            report.spent += spent;
            report.compared += results.len() as u64 - spent;
        }
    }
    report
}

fn note(report: &mut Report, filter: &Filter, result: &Outcome) {
    let [no, yes, nil, other] = &mut report.results;
    match result {
        Ok(None) => *nil += 1,
        Ok(Some(FilterValue::Bool(true))) => *yes += 1,
        Ok(Some(FilterValue::Bool(false))) => *no += 1,
        Ok(Some(_)) | Err(_) => *other += 1,
    }
    if let Ok(Some(value)) = result
        && !value.is_of(filter.tree().result_type())
    {
        let ty = filter.tree().result_type();
        report.failures.push(format!("{}: {} is not of type {ty}", filter.tree().source(), show(Some(value))));
    }
}

/// The first host for which two ways disagree, as text. Budgets are spent differently, so errors are not compared.
fn disagreement(case: &Case, first: &[Outcome], second: &[Outcome]) -> Option<String> {
    let text = |outcome: &Outcome| match outcome {
        Ok(value) => show(value.as_ref()),
        Err(kind) => format!("error: {}", kind.name()),
    };
    if first.len() != second.len() {
        return Some(format!("  {} results and {}\n", first.len(), second.len()));
    }
    let pairs = first.iter().zip(second).zip(&case.hosts);
    let mut wrong = pairs.filter(|((a, b), _)| matches!((a, b), (Ok(a), Ok(b)) if a != b));
    wrong.next().map(|((a, b), host)| format!("{host:?}  first: {}\n  second: {}\n", text(a), text(b)))
}

/// A failing case as the reader wants it: small.
fn describe(case: &Case, first: Way<'_>, second: Way<'_>) -> String {
    let with = |source: &str| Case { source: source.to_owned(), ..case.clone() };
    let found = |case: &Case| {
        let filter = case.compile().ok()?;
        disagreement(case, &first(case, &filter).ok()?, &second(case, &filter).ok()?)
    };
    let read = |source: &str| with(source).compile().ok().map(|filter| filter.tree().clone());
    let small = with(&minimise(&case.source, TRIES, read, |source| found(&with(source)).is_some()));
    format!("{case:?}\n  smallest: {}\n{}", small.source, found(&small).unwrap_or_default())
}

/// How many pairs of a rule and a host each thing was met in.
#[derive(Clone, Debug, Default)]
pub struct Coverage(BTreeMap<String, u64>);

impl Coverage {
    fn note(&mut self, tree: &FilterTree, pairs: u64) {
        let mut met: Vec<String> = tree.nodes().iter().flat_map(|node| things(tree, &node.expr)).collect();
        met.sort_unstable();
        met.dedup();
        for thing in met {
            *self.0.entry(thing).or_default() += pairs;
        }
    }

    /// How many pairs a thing was met in.
    #[must_use]
    pub fn of(&self, thing: &str) -> u64 {
        self.0.get(thing).copied().unwrap_or(0)
    }

    /// The things that were met, the rarest first.
    #[must_use]
    pub fn rarest(&self) -> Vec<(&str, u64)> {
        let mut things: Vec<(&str, u64)> = self.0.iter().map(|(thing, count)| (&**thing, *count)).collect();
        things.sort_by_key(|(thing, count)| (*count, *thing));
        things
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (thing, count) in self.rarest() {
            writeln!(f, "  {count:>8} {thing}")?;
        }
        Ok(())
    }
}

/// What an expression is, as lines of the table.
fn things(tree: &FilterTree, expr: &FilterExpr) -> Vec<String> {
    let many = |id| if tree.node(id).each || tree.node(id).ty.is_bool_array() { "many" } else { "one" };
    match expr {
        FilterExpr::Field(index) => {
            tree.field(*index).map(|field| format!("field of type {}", field.ty)).into_iter().collect()
        }
        FilterExpr::Literal(FilterLiteral::Bytes(bytes)) => vec![format!("argument {:?}", bytes.form)],
        FilterExpr::Literal(literal) => vec![format!("argument of type {}", literal.filter_type())],
        FilterExpr::Call { function, args } => {
            let args = tree.children(*args);
            let mapped = args.first().is_some_and(|first| tree.node(*first).each);
            let name = tree.function(*function).map_or("", |function| &function.name);
            let mut things = vec![format!("{name}{}", if mapped { " of many" } else { "" })];
            let is_condition = |id| {
                !matches!(
                    tree.expr(id),
                    FilterExpr::Field(_) | FilterExpr::Literal(_) | FilterExpr::Call { .. } | FilterExpr::Access { .. }
                )
            };
            if args.iter().any(|id| is_condition(*id)) {
                things.push("argument that is a condition".to_owned());
            }
            things
        }
        FilterExpr::Access { steps, .. } => steps
            .iter()
            .map(|step| match step {
                AccessStep::Index(_) => "[index]",
                AccessStep::Key(_) => "[key]",
                AccessStep::Each => "[*]",
            })
            .map(str::to_owned)
            .collect(),
        FilterExpr::Test(value) => vec![format!("test of {}", many(*value))],
        FilterExpr::Compare { value, comparison } => {
            let operator = match comparison {
                Comparison::Order(op, _) => format!("{op:?}"),
                Comparison::BitwiseAnd(_) => "&".to_owned(),
                Comparison::Contains(_) => "contains".to_owned(),
                Comparison::Matches(_) => "matches".to_owned(),
                Comparison::Wildcard(_) => "wildcard".to_owned(),
                Comparison::StrictWildcard(_) => "strict wildcard".to_owned(),
                Comparison::OneOf(SetItems::Ints(items)) if items.is_empty() => "in an empty set".to_owned(),
                Comparison::OneOf(_) => "in a set".to_owned(),
                Comparison::InList(_) => "in a list".to_owned(),
            };
            vec![format!("{} {operator} of {}", tree.node(*value).ty, many(*value))]
        }
        FilterExpr::Not(operand) => vec![format!("not of {}", many(*operand))],
        FilterExpr::Logic { op, operands } => {
            let name = match op {
                Connective::Or => "or",
                Connective::Xor => "xor",
                Connective::And => "and",
            };
            let first = tree.children(*operands).first();
            first.map(|first| format!("{name} of {}", many(*first))).into_iter().collect()
        }
        FilterExpr::Quantifier { all, operand } => {
            let name = if *all { "all" } else { "any" };
            let of = match tree.expr(*operand) {
                FilterExpr::Field(_) | FilterExpr::Call { .. } | FilterExpr::Access { .. } => "a value",
                _ => "a condition",
            };
            vec![format!("{name} of {of}")]
        }
    }
}
