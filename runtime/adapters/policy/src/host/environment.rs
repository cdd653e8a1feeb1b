//! What a host declares for the expressions of policies: functions, lists, and variables beside those of the phases.

use crate::problems::{FileSpan, Problems};
use celero::host::{Extension, ExtensionFields, Field};
use celero::lists::Lists;
use celero::{Bindings, Context, Env};
use std::collections::{HashMap, HashSet};

/// The code of errors about what the host declares.
const CODE: &str = "policy-host";

/// The first parts of names that policies define themselves.
const DEFINED: [&str; 3] = ["env", "lists", "variables"];

/// What a host declares. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct HostEnvironment {
    /// An environment with the functions.
    functions: Env<Bindings<'static>>,
    /// What rules read of the extension of an exchange.
    variables: Option<ExtensionFields>,
    /// The lists that it keeps.
    lists: Option<Lists>,
    /// The most operations of an expression by its static cost.
    max_operations: Option<u64>,
}

impl Default for HostEnvironment {
    fn default() -> Self {
        Self { functions: Env::dynamic(), variables: None, lists: None, max_operations: None }
    }
}

impl HostEnvironment {
    /// Returns it with other functions: `declare` adds to an environment with those so far.
    pub(crate) fn with_functions(
        mut self,
        declare: impl FnOnce(Env<Bindings<'static>>) -> Env<Bindings<'static>>,
    ) -> Self {
        self.functions = declare(self.functions);
        self
    }

    /// Returns it with these variables, in place of others.
    pub(crate) fn with_variables(self, variables: ExtensionFields) -> Self {
        Self { variables: Some(variables), ..self }
    }

    /// Returns it with these lists, in place of others.
    pub(crate) fn with_lists(self, lists: Lists) -> Self {
        Self { lists: Some(lists), ..self }
    }

    /// Returns it with this bound on the operations of an expression.
    pub(crate) fn with_max_operations(self, most: u64) -> Self {
        Self { max_operations: Some(most), ..self }
    }

    /// Returns the most operations of an expression.
    pub(crate) fn max_operations(&self) -> Option<u64> {
        self.max_operations
    }

    /// Returns it with variables whose values are given by their names.
    pub(crate) fn by_name(self) -> Self {
        let variables = self.variables.as_ref().map(|variables| variables.by_name(|optional| optional));
        Self { variables, ..self }
    }

    /// Returns it as it is when rules run: any variable that is given by its name may be absent.
    pub(crate) fn for_run(self) -> Self {
        let declared = self.variables.as_ref().filter(|variables| Extension::default().has(variables));
        match declared.map(|variables| variables.by_name(|_| true)) {
            Some(variables) => self.with_variables(variables),
            None => self,
        }
    }

    /// Returns the functions.
    pub(crate) fn functions(&self) -> &Env<Bindings<'static>> {
        &self.functions
    }

    /// Returns the variables, if the host has any.
    pub(crate) fn variables(&self) -> Option<&ExtensionFields> {
        self.variables.as_ref()
    }

    /// Returns the lists, if the host keeps any.
    pub(crate) fn lists(&self) -> Option<&Lists> {
        self.lists.as_ref()
    }

    /// Returns the environment of a phase: its own variables, those of the host if it has a place
    /// for them, and the functions.
    pub(crate) fn env<C: Context>(&self) -> Env<C> {
        let env = Env::<C>::new();
        let env = match &self.variables {
            Some(variables) if Env::<C>::is_extensible() => env.extend(variables),
            _ => env,
        };
        env.functions_of(&self.functions)
    }

    /// Reports what can't be declared: functions, and variables with the names of policies' own. `own`
    /// are the variables of the phases. The host is a program, so there is no place to name.
    pub(crate) fn report(&self, own: impl IntoIterator<Item = Field>, problems: &mut Problems) {
        let place = FileSpan::new(0, 0, 0);
        for problem in self.functions.problems() {
            problems.add(CODE, place, format!("the host's declarations: {problem}"));
        }
        let names = self.variables.iter().flat_map(ExtensionFields::variables).map(|(name, ..)| (name, place));
        report_collisions(names, own, problems);
    }
}

/// Reports variables of a host with the names of policies' own, and those with names of each other.
pub(crate) fn report_collisions<'n>(
    variables: impl Iterator<Item = (&'n str, FileSpan)>,
    own: impl IntoIterator<Item = Field>,
    problems: &mut Problems,
) {
    let own: Vec<Field> = own.into_iter().collect();
    let (mut of_policies, mut earlier) = (Names::default(), Names::default());
    own.iter().map(|field| &*field.name).chain(DEFINED).for_each(|name| of_policies.add(name));
    for (name, place) in variables {
        if let Some(other) = of_policies.colliding(name) {
            let message = format!("the host's variable `{name}` collides with `{other}`, which policies have");
            problems.add(CODE, place, message).help("give it another name, or a prefix");
        } else if let Some(other) = earlier.colliding(name) {
            let message = format!("the host's variable `{name}` collides with its variable `{other}`");
            problems.add(CODE, place, message).help("give it another name, or a prefix");
        }
        earlier.add(name);
    }
}

/// Qualified names, of which none may be another one or below it.
#[derive(Default)]
struct Names<'n> {
    /// Each name, by itself.
    names: HashSet<&'n str>,
    /// A name, by what stands before each of its dots.
    by_prefix: HashMap<&'n str, &'n str>,
}

impl<'n> Names<'n> {
    fn add(&mut self, name: &'n str) {
        self.names.insert(name);
        for prefix in prefixes(name) {
            self.by_prefix.entry(prefix).or_insert(name);
        }
    }

    /// Returns a name that this one is, is below, or is above.
    fn colliding(&self, name: &str) -> Option<&'n str> {
        let above = || prefixes(name).find_map(|prefix| self.names.get(prefix));
        self.names.get(name).or_else(|| self.by_prefix.get(name)).or_else(above).copied()
    }
}

/// Returns what stands before each dot of a name.
fn prefixes(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').filter_map(|(dot, _)| name.get(..dot))
}
