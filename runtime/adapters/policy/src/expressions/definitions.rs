//! The definitions of a policy: functions, variables, and constants from environment variables.
//!
//! A definition may use others in any order, but never itself. It may read variables that only some
//! phases have; then it exists in these phases only.

use crate::expressions::declared_names::broken_prefix;
use crate::expressions::definition_graph::{DefinitionGraph, function_name};
use crate::expressions::mentions::qualified_name;
use crate::expressions::name_tree::NameTree;
use crate::file::document::{Document, read_descriptors};
use crate::host::environment::HostEnvironment;
use crate::lists::section;
use crate::problems::Problems;
use crate::yaml::SourceText;
use crate::yaml::reach::Use;
use celero::diagnostics::Span;
use celero::filter::{HttpField, HttpFieldValue, http_fields};
use celero::host::EnvError;
use celero::lists::Lists;
use celero::messages::Descriptors;
use celero::settings::SourceLimits;
use celero::{Context, Diagnostic, Env};
use std::collections::{BTreeMap, HashSet};

/// Of how many wrong definitions the errors are reported, and of how many that use wrong ones. Of
/// other wrong ones only the names are.
const MAX_EXPLAINED: usize = 100;

/// The definitions of a policy.
#[derive(Debug)]
pub(crate) struct Definitions {
    constants: Vec<(String, String)>,
    defined: Vec<Definition>,
    graph: DefinitionGraph,
    /// The names of definitions whose body is not text, which was reported.
    without_body: Vec<String>,
    /// The named lists, if there are any.
    pub(crate) lists: Option<Lists>,
    /// The types of messages that expressions may name, if there are any.
    pub(crate) messages: Option<Descriptors>,
    /// What the host declares.
    host: HostEnvironment,
}

#[derive(Debug)]
pub(crate) struct Definition {
    /// The declaration of a function, or the name of a variable.
    declaration: SourceText,
    kind: DefinitionKind,
    body: SourceText,
}

/// What a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefinitionKind {
    Function,
    /// `variables.NAME`.
    Variable,
    /// A field that Cloudflare documents for its filter language.
    Field,
}

impl DefinitionKind {
    /// Each kind, and the section of its definitions.
    const SECTIONS: [(&str, Self); 3] =
        [("functions", Self::Function), ("variables", Self::Variable), ("fields", Self::Field)];

    /// Returns the name that expressions use for the definition with this key.
    pub(crate) fn name(self, declaration: &str) -> String {
        match self {
            Self::Function => function_name(declaration).to_owned(),
            Self::Variable => format!("variables.{declaration}"),
            Self::Field => declaration.to_owned(),
        }
    }
}

/// A phase as definitions see it.
pub(crate) trait DefinitionScope {
    /// Whether the definition of this number is valid in the phase.
    fn has(&self, number: usize) -> bool;

    /// Returns of each of these names, which are valid in the phase, the type in CEL if the filter language can't take
    /// it for the field of that name.
    fn types_of_fields_without_value(&self, names: &[&str]) -> Vec<Option<String>>;

    /// Returns why a definition is not valid in the phase.
    fn why_not(&mut self, definition: &Definition) -> Option<EnvError>;
}

impl Definitions {
    /// Reads the definitions of a document, and reports environment variables that are not set. The
    /// lists have no entries yet.
    pub(crate) fn read(document: &Document, host: &HostEnvironment, problems: &mut Problems) -> Self {
        let mut constants = Vec::new();
        let names: Vec<SourceText> =
            document.all("env").flat_map(|section| section.node.elements()).filter_map(|node| node.text()).collect();
        for name in names {
            if !problems.may_use(Use::Variable, name.text.as_ref(), None, &name) {
                continue;
            }
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
        let (mut defined, mut without_body) = (Vec::<Definition>::new(), Vec::new());
        for (section, kind) in DefinitionKind::SECTIONS {
            for entry in document.entries(section, problems) {
                let declaration = entry.key.clone();
                match entry.value.text() {
                    _ if kind == DefinitionKind::Field && !is_field_of_host(&declaration, host, problems) => {}
                    Some(body) => defined.push(Definition { declaration, kind, body }),
                    None => without_body.push(kind.name(&declaration.text)),
                }
            }
        }
        let texts =
            defined.iter().map(|one| (one.name(), one.kind == DefinitionKind::Function, one.body.text.as_str()));
        let graph = DefinitionGraph::new(texts);
        let lists = section::declare(document, host.lists(), problems);
        let messages = descriptors(document, problems);
        Self { constants, defined, graph, without_body, lists, messages, host: host.clone() }
    }

    /// Returns an environment with the definitions that are valid in it, and whether each is.
    pub(crate) fn env<C: Context>(&self) -> (Env<C>, Vec<bool>) {
        let mut env = self.host.env::<C>();
        if let Some(types) = &self.messages {
            env = env.messages(types);
        }
        if let Some(lists) = &self.lists {
            env = env.lists(lists);
        }
        for (name, literal) in &self.constants {
            env = env.alias(name, literal);
        }
        // What is wrong is reported once all phases are known; suggestions are made then.
        let limits = SourceLimits { max_diagnostics: 0, ..SourceLimits::default() };
        let valid = self.graph.declare(|number| {
            self.defined.get(number).is_some_and(|definition| definition.add_to(&mut env, &limits).is_ok())
        });
        (env, valid)
    }

    /// Returns the declaration, the body and the kind of each definition.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&SourceText, &SourceText, DefinitionKind)> {
        self.defined.iter().map(|definition| (&definition.declaration, &definition.body, definition.kind))
    }

    /// Returns the bodies of the variables and fields, with their numbers among the definitions.
    pub(crate) fn values(&self) -> impl Iterator<Item = (usize, &SourceText)> {
        let is_value = |definition: &Definition| definition.kind != DefinitionKind::Function;
        let values = self.defined.iter().enumerate().filter(move |(_, definition)| is_value(definition));
        values.map(|(number, definition)| (number, &definition.body))
    }

    /// Reports the definitions that are not valid in any phase, each with the errors of the phase
    /// that has the fewest. Returns their names.
    pub(crate) fn report(
        &self,
        phases: &mut [&mut dyn DefinitionScope],
        problems: &mut Problems,
    ) -> NameTree<'static, String> {
        let failed: Vec<bool> =
            (0..self.defined.len()).map(|number| phases.iter().all(|phase| !phase.has(number))).collect();
        let all_failed = || self.defined.iter().enumerate().filter(|(number, _)| failed.get(*number) == Some(&true));
        let names = all_failed().map(|(_, definition)| definition.name()).chain(self.without_body.iter().cloned());
        let names: NameTree<'static, String> = names.collect();
        let before = problems.count();
        let mut in_cycle = HashSet::new();
        for cycle in self.graph.cycles(&failed) {
            self.report_cycle(&cycle, problems);
            in_cycle.extend(cycle);
        }
        let (mut roots, mut followers) = (0_usize, 0_usize);
        for (number, definition) in all_failed().filter(|(number, _)| !in_cycle.contains(number)) {
            // A definition that uses an invalid one is invalid for that reason alone, or has errors of its own too.
            let is_follower = self.graph.uses_any(number, &failed);
            let count = if is_follower { &mut followers } else { &mut roots };
            *count = count.saturating_add(1);
            if *count <= MAX_EXPLAINED {
                let errors = phases.iter_mut().filter_map(|phase| phase.why_not(definition));
                if let Some(error) = errors.min_by_key(|error| error.diagnostics().len()) {
                    definition.report(&error, &names, problems);
                }
            } else if !is_follower {
                definition.report_name(problems);
            }
        }
        self.report_types_of_fields(phases, problems);
        // Functions of one name that use each other: each seems to be wrong for the sake of another one.
        if problems.count() == before {
            all_failed().take(MAX_EXPLAINED).for_each(|(_, definition)| definition.report_name(problems));
        }
        names
    }

    /// Reports fields whose expressions are of types that are not theirs.
    fn report_types_of_fields(&self, phases: &[&mut dyn DefinitionScope], problems: &mut Problems) {
        let fields = || self.defined.iter().enumerate().filter(|(_, one)| one.kind == DefinitionKind::Field);
        if fields().next().is_none() {
            return;
        }
        let mut wrong = BTreeMap::new();
        for phase in phases {
            let valid: Vec<(usize, &Definition)> = fields().filter(|(number, _)| phase.has(*number)).collect();
            let names: Vec<&str> = valid.iter().map(|(_, field)| &*field.declaration.text).collect();
            for ((number, field), ty) in valid.iter().zip(phase.types_of_fields_without_value(&names)) {
                if let Some(ty) = ty {
                    wrong.entry(*number).or_insert((*field, ty));
                }
            }
        }
        for (field, ty) in wrong.into_values() {
            let name = &field.declaration.text;
            let wanted = http_fields().find(|known| *known.name == *name).map_or("", |known| known.ty);
            let message = format!("the field `{name}` is of the type `{wanted}`, and this is `{ty}`");
            let problem = problems.add("policy-definition", field.body.place, message);
            match wanted {
                "Bytes" => drop(problem.help("convert it: `string(..)`")),
                "Int" => drop(problem.help("convert it: `int(..)`")),
                "Bool" => drop(problem.help("write a condition, such as `.. == 1`")),
                _ => {}
            }
        }
    }

    /// Reports definitions each of which uses the next one, and the last one the first.
    fn report_cycle(&self, cycle: &[usize], problems: &mut Problems) {
        /// Most definitions of a cycle that the message names.
        const MAX_NAMED: usize = 8;
        let mut members = cycle.iter().filter_map(|number| self.defined.get(*number));
        let Some(first) = members.next() else { return };
        let mut message = format!("`{}` uses itself", first.name());
        for member in members.by_ref().take(MAX_NAMED) {
            message += &format!(", through `{}`", member.name());
        }
        let more = members.count();
        if more > 0 {
            message += &format!(" and {more} more");
        }
        let problem = problems.add("policy-definition", first.body.place, message);
        problem.help("a definition may use others in any order, but never itself".to_owned());
    }
}

impl Definition {
    /// Returns the name that expressions use.
    fn name(&self) -> String {
        self.kind.name(&self.declaration.text)
    }

    pub(crate) fn add_to<C: Context>(&self, env: &mut Env<C>, limits: &SourceLimits) -> Result<(), EnvError> {
        if self.kind == DefinitionKind::Function {
            env.try_define(&self.declaration.text, &self.body.text, limits)
        } else {
            env.try_alias(&self.name(), &self.body.text, limits)
        }
    }

    /// Reports that the definition is wrong.
    fn report_name(&self, problems: &mut Problems) {
        let message = format!("the definition of `{}` is not valid", self.name());
        let problem = problems.add("policy-definition", self.declaration.place, message);
        problem.help("a definition may use others in any order, but never itself".to_owned());
    }

    /// Reports an error, except for names that are those of `broken` definitions, whose errors are reported.
    fn report(&self, error: &EnvError, broken: &NameTree<'static, String>, problems: &mut Problems) {
        if error.diagnostics().is_empty() {
            problems.add("policy-definition", self.declaration.place, error.to_string());
        }
        let text = if error.is_in_body() { &self.body } else { &self.declaration };
        for found in error.diagnostics() {
            if error.is_in_body() && is_broken(found, &text.text, broken, &self.name()) {
                continue;
            }
            let mut found = fully_named(found, &text.text);
            // This advice holds for `Env` only: a policy may define names in any order.
            found.help.retain(|help| !help.contains("defined before"));
            problems.of_expression(text, 0, &found);
        }
    }
}

/// Returns whether a diagnostic of an expression is about a name that another definition, which is broken, should have.
fn is_broken(found: &Diagnostic, source: &str, broken: &NameTree<'static, String>, defining: &str) -> bool {
    if !matches!(found.code, "undeclared-name" | "undeclared-function") {
        return false;
    }
    let (path, _) = qualified_name(source, found.span);
    broken_prefix(path, broken).is_some_and(|name| name != defining)
}

/// Returns a diagnostic about an undeclared variable of the policy, or of the environment, with its whole name.
pub(crate) fn fully_named(found: &Diagnostic, source: &str) -> Diagnostic {
    let mut found = found.clone();
    let (path, start) = qualified_name(source, found.span);
    let Some((section @ ("variables" | "env"), rest)) = path.split_once('.') else { return found };
    let name = rest.split('.').next().unwrap_or_default();
    if name.is_empty() || found.code != "undeclared-name" {
        return found;
    }
    found.message = format!("undeclared reference to `{section}.{name}`");
    let end = start.saturating_add(section.len()).saturating_add(1).saturating_add(name.len());
    let [start, end] = [start, end].map(|at| u32::try_from(at).unwrap_or(found.span.end));
    found.span = Span::new(start, end.max(found.span.end));
    if section == "env" {
        found.help.retain(|help| help.starts_with("did you mean"));
        found.help.push(format!("list it: `env: [{name}]`"));
    }
    found
}

/// Reads the descriptors of `grpc`.
fn descriptors(document: &Document, problems: &mut Problems) -> Option<Descriptors> {
    let section = document.one("grpc", problems)?;
    let file = section.node.text_of("descriptors")?;
    let bytes = read_descriptors(&section.base.join(&file.text), &file, problems)?;
    match Descriptors::from_bytes(&bytes) {
        Ok(types) => Some(types),
        Err(error) => {
            let problem = problems.add("policy-grpc", file.place, format!("`{}`: {error}", file.text));
            problem.help("such a file is made with `protoc --include_imports --descriptor_set_out=FILE`");
            None
        }
    }
}

/// Returns whether this is a field that the filter language leaves to the host, and that the host gives no value.
/// Reports another name.
fn is_field_of_host(name: &SourceText, host: &HostEnvironment, problems: &mut Problems) -> bool {
    // A name that no expression can have is no variable's either.
    let of_host = |field: &HttpField| matches!(field.value, HttpFieldValue::Host(_)) && is_name(field.name);
    let collides = |other: &str| {
        let is_below = |name: &str, other: &str| name.strip_prefix(other).is_some_and(|rest| rest.starts_with('.'));
        other == name.text || is_below(&name.text, other) || is_below(other, &name.text)
    };
    let of_variable = host.variables().and_then(|variables| variables.variables().find(|(other, ..)| collides(other)));
    let message = match (http_fields().find(|field| *field.name == name.text), of_variable) {
        (Some(field), None) if of_host(&field) => return true,
        (Some(_), Some((other, ..))) => format!("the host gives values: it has a variable `{other}`"),
        (Some(field), None) if is_name(field.name) => format!("the field `{}` has a value already", name.text),
        (Some(_), None) => format!("no expression can give `{}` a value: a part of it is no name", name.text),
        (None, _) => format!("Cloudflare's filter language has no field `{}`", name.text),
    };
    let names: Vec<&str> = http_fields().filter(of_host).map(|field| field.name).collect();
    let problem = problems.add("policy-definition", name.place, message);
    if !names.contains(&&*name.text) {
        problem.suggest(&name.text, &names);
    }
    false
}

/// Returns whether no part of a name begins with a digit.
fn is_name(name: &str) -> bool {
    !name.split('.').any(|part| part.starts_with(|c: char| c.is_ascii_digit()))
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
