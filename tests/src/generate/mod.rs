//! Random typed programs: source text with the variables it mentions and values for them; what they cover; and how a
//! failing one is made small.
//!
//! The same seed gives the same cases on every machine. A generated expression passes the checker by construction; the few
//! that don't are counted by those who use them.

mod coverage;
mod expression;
mod literal;
mod minimise;
mod rng;
mod types;
mod value;

pub use coverage::Coverage;
pub use minimise::minimise;
pub use rng::Rng;
pub use value::Owned;

use celero_frontend::stdlib::Builtin;
use celero_frontend::{Declarations, Type, Variable};
use expression::Writer;
use std::fmt;

/// How many sets of values a case has.
const SETS: usize = 8;

const NAMES: &[&str] = &["a", "b", "c", "d", "req.path", "req.headers", "req.size", "auth.claims"];

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
    /// The seed that [`Generator::of_case`] makes this case from.
    pub seed: u64,
    /// The expression.
    pub source: String,
    /// What it may mention.
    pub variables: Vec<Declared>,
    /// Sets of values, each in the order of the variables; `None` is absence.
    pub bindings: Vec<Vec<Option<Owned>>>,
}

impl Case {
    /// What the checker needs to know.
    #[must_use]
    pub fn declarations(&self) -> Declarations {
        let mut declarations = Declarations::new();
        for variable in &self.variables {
            declarations.add_variable(Variable {
                name: variable.name.as_str().into(),
                ty: variable.ty.clone(),
                optional: variable.optional,
            });
        }
        declarations
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

/// How often each row of the library's table was written.
#[derive(Clone, Debug)]
struct Uses(Vec<u32>);

impl Uses {
    fn of(&self, builtin: Builtin) -> u32 {
        self.0.get(builtin as usize).copied().unwrap_or(0)
    }

    fn add(&mut self, builtin: Builtin) {
        if let Some(count) = self.0.get_mut(builtin as usize) {
            *count = count.saturating_add(1);
        }
    }
}

/// Makes cases.
#[derive(Clone, Debug)]
pub struct Generator {
    seeds: Rng,
    variables: Option<Vec<Declared>>,
}

impl Generator {
    /// The cases of a seed, each with variables of its own.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seeds: Rng::new(seed), variables: None }
    }

    /// The cases of a seed, all with these variables.
    #[must_use]
    pub fn over(seed: u64, variables: Vec<Declared>) -> Self {
        Self { seeds: Rng::new(seed), variables: Some(variables) }
    }

    /// The next case.
    pub fn case(&mut self) -> Case {
        let seed = self.seeds.bits();
        self.of_case(seed)
    }

    /// The case of a seed that a case was reported with.
    #[must_use]
    pub fn of_case(&self, seed: u64) -> Case {
        let mut rng = Rng::new(seed);
        let mut uses = Uses(vec![0; Builtin::ALL.len()]);
        let variables = self.variables.clone().unwrap_or_else(|| variables(&mut rng));
        let most = if rng.chance(10) { 30 } else { 10 };
        let budget = 2 + rng.below(most);
        let mut writer = Writer { rng: &mut rng, uses: &mut uses, variables: &variables, locals: Vec::new(), budget };
        let source = match writer.rng.below(100) {
            0..40 => writer.any_call(),
            40..65 => writer.condition(),
            _ => {
                let ty = types::any(writer.rng, 2);
                writer.expr(&ty)
            }
        };
        let bindings = (0..SETS).map(|_| variables.iter().map(|v| value_of(&mut rng, v)).collect()).collect();
        Case { seed, source, variables, bindings }
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
            match check(ast, &case.declarations(), &limits) {
                Ok((checked, _)) => coverage.note(&checked),
                Err(diagnostics) => refused.push((case, diagnostics)),
            }
        }
        let shown: Vec<String> = refused
            .iter()
            .take(10)
            .map(|(case, d)| format!("{case}{}", d.first().map_or("", |d| &d.message)))
            .collect();
        assert!(refused.len() <= 160, "{} refused:\n{}", refused.len(), shown.join("\n"));
        let missing = coverage.missing(1);
        assert!(missing.is_empty(), "never met: {missing:?}\n{coverage}");
    }
}
