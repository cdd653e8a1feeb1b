//! Random typed programs: source text with the variables it mentions and values for them; what they cover; and how a
//! failing one is made small.
//!
//! The same seed gives the same cases on every machine. A generated expression passes the checker
//! by construction; the few that don't are counted by those who use them.

mod calls;
mod coverage;
mod definitions;
mod expression;
pub mod filter;
pub mod gateway;
pub mod gateway_lists;
mod host;
mod idiom;
mod idiom_table;
mod literal;
pub mod messages;
mod minimise;
mod rng;
mod types;
mod value;

pub use calls::call_with_variables;
pub use coverage::{Coverage, Group};
pub use minimise::minimise;
pub use rng::Rng;
pub use value::Owned;

use celero::{Bindings, Env};
use celero_frontend::Type;
use celero_frontend::stdlib::Builtin;
use expression::Writer;
use std::fmt;
use std::sync::LazyLock;

/// How many sets of values a case has.
const SETS: usize = 10;

const NAMES: &[&str] = &["a", "b", "c", "d", "req.path", "req.headers", "req.size", "auth.claims"];

/// Declares all functions that programs call: those of the host, and those that are defined in CEL.
#[must_use]
pub fn declare<C>(env: Env<C>) -> Env<C> {
    definitions::define(host::functions(env))
}

/// A variable of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Its name, possibly qualified.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether a set of values may lack it.
    pub optional: bool,
}

/// A program and inputs for it.
#[derive(Clone, Debug)]
pub struct Case {
    /// What its random choices came from. Others depend on what was written before: a run with the same seed gives the
    /// same cases in the same order.
    pub seed: u64,
    /// The expression.
    pub source: String,
    /// What it may mention.
    pub variables: Vec<Declared>,
    /// Sets of values, each in the order of the variables; `None` is absence.
    pub bindings: Vec<Vec<Option<Owned>>>,
    /// Whether static types are turned off.
    pub unchecked: bool,
    /// The steps it may take, where these are so few that every way to run it spends them, if it gets there.
    pub steps: Option<u32>,
    /// Whether it was written for an operation that others rarely come to.
    pub rare: bool,
}

impl Case {
    /// An environment with its variables, the functions and its way of checking.
    #[must_use]
    pub fn env(&self) -> Env<Bindings<'static>> {
        static FUNCTIONS: LazyLock<Env<Bindings<'static>>> = LazyLock::new(|| declare(Env::dynamic()));
        let env = FUNCTIONS.clone().unchecked(self.unchecked);
        self.variables.iter().fold(env, |env, v| env.variable(&v.name, v.ty.clone()))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "case {:#x}: {}", self.seed, self.source)?;
        for variable in &self.variables {
            let mark = if variable.optional { "?" } else { "" };
            writeln!(f, "  {}{mark}: {}", variable.name, variable.ty)?;
        }
        Ok(())
    }
}

/// How often each thing of a table was written.
#[derive(Clone, Debug)]
struct Counts(Vec<u32>);

impl Counts {
    fn of(&self, index: usize) -> u32 {
        self.0.get(index).copied().unwrap_or(0)
    }

    fn add(&mut self, index: usize) {
        if let Some(count) = self.0.get_mut(index) {
            *count = count.saturating_add(1);
        }
    }

    /// The least used of `of` random ones.
    fn rarest(&self, rng: &mut Rng, of: usize) -> usize {
        let random = (0..of).map(|_| rng.below(self.0.len()));
        random.min_by_key(|index| self.of(*index)).unwrap_or(0)
    }
}

/// What was written so far: what is rare is preferred.
#[derive(Clone, Debug)]
struct Uses {
    /// Rows of the library's table.
    rows: Counts,
    idioms: Counts,
    wanted: Wanted,
}

/// What a run has met the least.
#[derive(Clone, Debug, Default)]
struct Wanted {
    rows: Vec<usize>,
    idioms: Vec<usize>,
    variables: Vec<String>,
}

/// Makes cases.
#[derive(Clone, Debug)]
pub struct Generator {
    seeds: Rng,
    variables: Option<Vec<Declared>>,
    unchecked: bool,
    uses: Uses,
}

impl Generator {
    /// The cases of a seed, each with variables of its own.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let uses = Uses {
            rows: Counts(vec![0; Builtin::ALL.len()]),
            idioms: Counts(vec![0; idiom::count()]),
            wanted: Wanted::default(),
        };
        Self { seeds: Rng::new(seed), variables: None, unchecked: false, uses }
    }

    /// The cases of a seed, all with these variables.
    #[must_use]
    pub fn over(seed: u64, variables: Vec<Declared>) -> Self {
        Self { variables: Some(variables), ..Self::new(seed) }
    }

    /// Cases without static types: some of their operands are of types that would be refused.
    #[must_use]
    pub fn unchecked(self) -> Self {
        Self { unchecked: true, ..self }
    }

    /// Prefers what a run has met the least.
    pub fn prefer(&mut self, coverage: &Coverage) {
        let least = |counts: Vec<u64>, how_many: usize| {
            let mut order: Vec<usize> = (0..counts.len()).collect();
            order.sort_by_key(|index| counts.get(*index));
            order.truncate(how_many);
            order
        };
        let rows = Builtin::ALL.iter().map(|b| coverage.of(Group::Function, coverage::function(*b))).collect();
        self.uses.wanted.rows = least(rows, 24);
        let met = |index: usize| {
            let lines = idiom::lines(index).into_iter();
            let lines = lines.filter(|(group, name)| self.variables.is_some() || !idiom::in_place(*group, name));
            lines.map(|(group, name)| coverage.of(group, &name)).min().unwrap_or(u64::MAX)
        };
        self.uses.wanted.idioms = least((0..idiom::count()).map(met).collect(), 8);
        if let Some(variables) = &self.variables {
            let counts = variables.iter().map(|v| coverage.of(Group::Variable, &v.name)).collect();
            let names = least(counts, 5).into_iter().filter_map(|i| variables.get(i)).map(|v| v.name.clone());
            self.uses.wanted.variables = names.collect();
        }
    }

    /// The next case.
    pub fn case(&mut self) -> Case {
        let seed = self.seeds.bits();
        let mut rng = Rng::new(seed);
        let variables = self.variables.clone().unwrap_or_else(|| variables(&mut rng));
        let most = if rng.chance(10) { 30 } else { 10 };
        let budget = 2 + rng.below(most);
        let mut writer = Writer {
            rng: &mut rng,
            uses: &mut self.uses,
            variables: &variables,
            locals: Vec::new(),
            budget,
            careless: self.unchecked,
            idiom: idiom::write,
        };
        let (mut steps, mut rare) = (None, false);
        let source = match writer.rng.below(100) {
            0..2 => {
                steps = Some(idiom::FEW_STEPS);
                idiom::beyond(&mut writer)
            }
            2..37 => writer.any_call(),
            37..79 => {
                rare = true;
                writer.idiom()
            }
            79..86 => writer.condition(),
            86..90 => {
                let ty = types::rare(writer.rng);
                writer.expr(&ty)
            }
            _ => {
                let ty = types::any(writer.rng, 2);
                writer.expr(&ty)
            }
        };
        let bindings = (0..SETS).map(|_| variables.iter().map(|v| value_of(&mut rng, v)).collect()).collect();
        Case { seed, source, variables, bindings, unchecked: self.unchecked, steps, rare }
    }
}

fn variables(rng: &mut Rng) -> Vec<Declared> {
    let mut variables: Vec<Declared> = Vec::new();
    for _ in 0..1 + rng.below(5) {
        let name = *rng.pick(NAMES);
        if variables.iter().any(|v| v.name == name) {
            continue;
        }
        let ty = match name {
            "req.path" if rng.chance(70) => Type::String,
            "req.headers" if rng.chance(70) => Type::map(Type::String, Type::String),
            "req.size" if rng.chance(70) => Type::Int,
            "auth.claims" if rng.chance(70) => Type::map(Type::String, Type::Dyn),
            _ if rng.chance(20) => Type::Dyn,
            _ => types::any(rng, 2),
        };
        variables.push(Declared { name: name.to_owned(), ty, optional: rng.chance(15) });
    }
    variables
}

fn value_of(rng: &mut Rng, variable: &Declared) -> Option<Owned> {
    (!variable.optional || rng.chance(65)).then(|| Owned::random(rng, &variable.ty))
}

#[cfg(test)]
mod tests {
    use super::*;
    use celero_frontend::{Limits, check, parse};

    #[test]
    fn cases_are_the_same_for_the_same_seed() {
        let (mut a, mut b) = (Generator::new(7), Generator::new(7));
        for _ in 0..50 {
            let (a, b) = (a.case(), b.case());
            assert_eq!(a.to_string(), b.to_string());
            assert_eq!(format!("{:?}", a.bindings), format!("{:?}", b.bindings));
        }
        assert_ne!(Generator::new(7).case().source, Generator::new(8).case().source);
    }

    #[test]
    fn generated_sources_parse_and_check() {
        let mut generator = Generator::new(1);
        let limits = Limits::default();
        let mut coverage = Coverage::default();
        let mut refused = Vec::new();
        for _ in 0..8_000 {
            let case = generator.case();
            let ast = parse(&case.source, &limits).unwrap_or_else(|d| panic!("{case}\n{d:?}"));
            let env = case.env();
            match check(ast, env.declarations(), &limits) {
                Ok((checked, _)) => coverage.note(&checked, env.declarations(), 1),
                Err(diagnostics) => refused.push((case, diagnostics)),
            }
        }
        let shown: Vec<String> = refused
            .iter()
            .take(10)
            .map(|(case, d)| format!("{case}{}", d.first().map_or("", |d| &d.message)))
            .collect();
        assert!(refused.len() <= 160, "{} refused:\n{}", refused.len(), shown.join("\n"));
        let missing = coverage.missing(&[Group::Function, Group::Syntax, Group::Intermediate], 1);
        assert!(missing.is_empty(), "never met: {missing:?}\n{coverage}");
    }
}
