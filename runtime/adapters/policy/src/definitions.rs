//! The definitions of a policy: functions, variables, and constants from environment variables.
//!
//! A definition may use others in any order, but never itself. It may read variables that only some phases have; then it exists in
//! these phases only.

use crate::document::Document;
use crate::named_lists;
use crate::problems::Problems;
use crate::yaml::SourceText;
use celero::lists::Lists;
use celero::{Context, Env, EnvError};
use std::collections::HashSet;

/// The definitions of a policy.
#[derive(Debug)]
pub(crate) struct Definitions {
    constants: Vec<(String, String)>,
    defined: Vec<Definition>,
    /// The names of definitions whose body is not text, which was reported.
    without_body: Vec<String>,
    /// The named lists, if there are any.
    pub(crate) lists: Option<Lists>,
}

#[derive(Debug)]
struct Definition {
    /// The declaration of a function, or the name of a variable.
    declaration: SourceText,
    is_function: bool,
    body: SourceText,
}

/// The definitions that are not valid in a phase, each with the reason.
pub(crate) type Missing = Vec<(usize, EnvError)>;

impl Definitions {
    /// Reads the definitions of a document, and reports environment variables that are not set. The lists have no entries yet.
    pub(crate) fn read(document: &Document, problems: &mut Problems) -> Self {
        let mut constants = Vec::new();
        let names: Vec<SourceText> =
            document.all("env").flat_map(|section| section.node.elements()).filter_map(|node| node.text()).collect();
        for name in names {
            let Some(value) = std::env::var_os(&name.text) else {
                let message = format!("the environment has no variable `{}`", name.text);
                problems.add("policy-env", name.place, message);
                continue;
            };
            let constant = (format!("env.{}", name.text), string_literal(&value.to_string_lossy()));
            if !constants.contains(&constant) {
                constants.push(constant);
            }
        }
        let (mut defined, mut without_body) = (Vec::new(), Vec::new());
        for (section, is_function) in [("functions", true), ("variables", false)] {
            for entry in document.entries(section, problems) {
                let declaration = entry.key.clone();
                match entry.value.text() {
                    Some(body) => defined.push(Definition { declaration, is_function, body }),
                    None => without_body.push(name(&declaration.text, is_function)),
                }
            }
        }
        Self { constants, defined, without_body, lists: named_lists::declare(document, problems) }
    }

    /// Returns an environment with the definitions that are valid in it, and the others.
    pub(crate) fn env<C: Context>(&self) -> (Env<C>, Missing) {
        let mut env = Env::<C>::new();
        if let Some(lists) = &self.lists {
            env = env.lists(lists);
        }
        for (name, literal) in &self.constants {
            env = env.alias(name, literal);
        }
        let mut missing: Vec<usize> = (0..self.defined.len()).collect();
        loop {
            let mut failed = Vec::new();
            let before = missing.len();
            for index in missing {
                let Some(definition) = self.defined.get(index) else { continue };
                let next = definition.add_to(env.clone());
                match next.problems() {
                    [] => env = next,
                    [problem, ..] => failed.push((index, problem.clone())),
                }
            }
            if failed.len() == before {
                return (env, failed);
            }
            missing = failed.into_iter().map(|(index, _)| index).collect();
            if missing.is_empty() {
                return (env, Vec::new());
            }
        }
    }

    /// Returns the declaration and the body of each definition, and whether it is a function.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&SourceText, &SourceText, bool)> {
        self.defined.iter().map(|definition| (&definition.declaration, &definition.body, definition.is_function))
    }

    /// Returns the bodies of the variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &SourceText> {
        self.defined.iter().filter(|definition| !definition.is_function).map(|definition| &definition.body)
    }

    /// Reports the definitions that are not valid in any phase, each with the errors of the phase that has the fewest. Returns their names.
    pub(crate) fn report(&self, phases: [&Missing; 6], problems: &mut Problems) -> Vec<String> {
        let nowhere = |index: usize| {
            let errors = phases.iter().map(|missing| {
                // In the order of the definitions.
                let at = missing.binary_search_by_key(&index, |(i, _)| *i).ok()?;
                missing.get(at).map(|(_, error)| error)
            });
            let errors = errors.collect::<Option<Vec<&EnvError>>>()?;
            errors.into_iter().min_by_key(|error| error.diagnostics().len())
        };
        let failed: Vec<(&Definition, &EnvError)> = self
            .defined
            .iter()
            .enumerate()
            .filter_map(|(index, definition)| Some((definition, nowhere(index)?)))
            .collect();
        // A definition that uses an invalid one is invalid for that reason alone; only the root is reported.
        let names = failed.iter().map(|(definition, _)| definition.name()).chain(self.without_body.iter().cloned());
        let names: Vec<String> = names.collect();
        let invalid: HashSet<&str> = names.iter().map(String::as_str).collect();
        let follows = |error: &EnvError| {
            let mut found = error.diagnostics().iter();
            error.is_in_body()
                && found.all(|found| found.message.split('`').skip(1).step_by(2).any(|quoted| invalid.contains(quoted)))
        };
        let roots = failed.iter().filter(|(_, error)| !follows(error)).count();
        for (definition, error) in &failed {
            if roots == 0 && self.without_body.is_empty() || !follows(error) {
                definition.report(error, problems);
            }
        }
        names
    }
}

impl Definition {
    /// Returns the name that expressions use.
    fn name(&self) -> String {
        name(&self.declaration.text, self.is_function)
    }

    fn add_to<C: Context>(&self, env: Env<C>) -> Env<C> {
        if self.is_function {
            env.define(&self.declaration.text, &self.body.text)
        } else {
            env.alias(&self.name(), &self.body.text)
        }
    }

    fn report(&self, error: &EnvError, problems: &mut Problems) {
        if error.diagnostics().is_empty() {
            problems.add("policy-definition", self.declaration.place, error.to_string());
        }
        let text = if error.is_in_body() { &self.body } else { &self.declaration };
        for found in error.diagnostics() {
            let mut found = found.clone();
            // This advice holds for `Env` only: a policy may define names in any order.
            found.help.retain(|help| !help.contains("defined before"));
            problems.of_expression(text, 0, &found);
        }
    }
}

/// Returns the name that expressions use for the definition with this key.
pub(crate) fn name(declaration: &str, is_function: bool) -> String {
    if is_function {
        declaration.split('(').next().unwrap_or(declaration).trim().to_owned()
    } else {
        format!("variables.{declaration}")
    }
}

/// Returns a CEL string literal with this text.
fn string_literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => literal.extend(['\\', character]),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read_as_the_text() {
        let engine = celero::Engine::builder().tier(celero::Tier::Interpret).build();
        let env = celero::Env::dynamic();
        let hard = "\"'\\n\n\r\t\u{0}ä\u{1f600}";
        let program = engine.compile(&env, &string_literal(hard)).unwrap();
        let mut scratch = celero::Scratch::new();
        let bindings = celero::Bindings::new(&env);
        assert!(matches!(program.eval(&bindings, &mut scratch), Ok(celero::Value::String(text)) if text == hard));
    }
}
