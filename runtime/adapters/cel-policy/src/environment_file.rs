//! Reads environment files: from YAML to declarations that are not resolved yet.

use crate::codes;
use crate::extensions::{self, MACROS, OPERATORS};
use crate::keys::{Reader, is_qualified, listed};
use crate::types::{self, WrittenType};
use celero::language::TABLE;
use celero::settings::{Library, SourceLimits, Validator};
use celero_policy::problems::{FileSpan, Problems};
use celero_policy::yaml::{self, Node, SourceText};

/// The keys of a file.
const KEYS: &[&str] = &[
    "name",
    "description",
    "container",
    "imports",
    "stdlib",
    "extensions",
    "context_variable",
    "variables",
    "functions",
    "validators",
    "features",
    "limits",
];

/// An environment file as written.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnvironmentFile {
    pub(crate) name: Option<String>,
    pub(crate) container: Option<SourceText>,
    pub(crate) imports: Vec<SourceText>,
    /// Macros and functions that expressions may not use.
    pub(crate) excluded: Vec<String>,
    pub(crate) libraries: Vec<Library>,
    /// The type of the message whose fields are variables.
    pub(crate) context: Option<SourceText>,
    pub(crate) variables: Vec<(SourceText, WrittenType)>,
    pub(crate) functions: Vec<Overload>,
    pub(crate) validators: Vec<Validator>,
    /// The limits of the file.
    pub(crate) limits: Vec<(String, u32)>,
}

/// An overload of a function.
#[derive(Clone, Debug)]
pub(crate) struct Overload {
    pub(crate) name: SourceText,
    pub(crate) place: FileSpan,
    /// What it is called on.
    pub(crate) target: Option<WrittenType>,
    pub(crate) args: Vec<WrittenType>,
    pub(crate) result: WrittenType,
}

/// Reads a file. Problems are reported; what has one is left out.
pub(crate) fn read(file: usize, problems: &mut Problems) -> EnvironmentFile {
    let mut found = EnvironmentFile::default();
    let Some(root) = yaml::read(file, problems) else {
        if problems.count() == 0 {
            problems.add(codes::FORM, FileSpan::new(file, 0, 0), "the file is empty".to_owned());
        }
        return found;
    };
    let mut reader = Reader { problems };
    if reader.mapping(&root, "an environment", KEYS) {
        found.read(&root, &mut reader);
    }
    found
}

impl EnvironmentFile {
    fn read(&mut self, root: &Node, reader: &mut Reader<'_>) {
        self.name = reader.text_of(root, "name").map(|name| name.text);
        reader.text_of(root, "description");
        self.container = reader.text_of(root, "container");
        for import in root.get("imports").map_or(&[][..], |node| reader.list(node, "`imports`")) {
            if !reader.mapping(import, "an import", &["name"]) {
                continue;
            }
            let Some(name) = reader.required(import, "name", "an import") else { continue };
            if is_qualified(&name.text) {
                self.imports.push(name);
            } else {
                let message = format!("invalid qualified name: {}", name.text);
                reader.problems.add(codes::IMPORT, name.place, message);
            }
        }
        if let Some(stdlib) = root.get("stdlib") {
            self.standard_library(stdlib, reader);
        }
        for extension in root.get("extensions").map_or(&[][..], |node| reader.list(node, "`extensions`")) {
            self.extension(extension, reader);
        }
        if let Some(context) = root.get("context_variable")
            && reader.mapping(context, "`context_variable`", &["type_name"])
        {
            self.context = reader.required(context, "type_name", "`context_variable`");
            if let Some(variables) = root.get("variables").filter(|_| self.context.is_some()) {
                let message = "either context variable or variables may be set, but not both";
                reader.error(variables.place, message);
            }
        }
        for variable in root.get("variables").map_or(&[][..], |node| reader.list(node, "`variables`")) {
            let known = ["name", "description", "type", "type_name", "params", "is_type_param"];
            if reader.mapping(variable, "a variable", &known) {
                let name = reader.required(variable, "name", "a variable");
                let ty = types::read(reader, variable, "a variable");
                self.variables.extend(name.zip(ty));
            }
        }
        for function in root.get("functions").map_or(&[][..], |node| reader.list(node, "`functions`")) {
            self.function(function, reader);
        }
        for validator in root.get("validators").map_or(&[][..], |node| reader.list(node, "`validators`")) {
            self.validators.extend(validator_of(validator, reader));
        }
        features(root, reader);
        for limit in root.get("limits").map_or(&[][..], |node| reader.list(node, "`limits`")) {
            self.limit(limit, reader);
        }
    }

    fn standard_library(&mut self, node: &Node, reader: &mut Reader<'_>) {
        let known = [
            "disabled",
            "disable_macros",
            "include_macros",
            "exclude_macros",
            "include_functions",
            "exclude_functions",
        ];
        if !reader.mapping(node, "`stdlib`", &known) {
            return;
        }
        if let Some(disabled) = node.get("disabled").filter(|node| flag(node, reader)) {
            unsupported(reader, disabled.place, "`disabled`: the operators and functions of the standard library stay");
        }
        if node.get("disable_macros").is_some_and(|node| flag(node, reader)) {
            self.excluded.extend(MACROS.iter().map(|name| (*name).to_owned()));
        }
        let pairs = [("include_macros", "exclude_macros"), ("include_functions", "exclude_functions")];
        for (include, exclude) in pairs {
            if let (Some(_), Some(second)) = (node.get(include), node.get(exclude)) {
                reader.error(second.place, format!("`{include}` and `{exclude}` exclude each other"));
            }
        }
        let macros = |key: &str, reader: &mut Reader<'_>| {
            let list = node.get(key)?;
            let names = reader.list(list, &format!("`{key}`")).iter().filter_map(|node| {
                let name = reader.text(node, "the name of a macro")?;
                if !MACROS.contains(&&*name.text) {
                    let message = format!("`{}` is no macro of the standard library", name.text);
                    reader.error_with(name.place, message, &format!("they are {}", listed(MACROS)));
                }
                Some(name.text)
            });
            Some(names.collect::<Vec<String>>())
        };
        if let Some(included) = macros("include_macros", reader).filter(|names| !names.is_empty()) {
            let excluded = MACROS.iter().filter(|name| !included.iter().any(|included| included == *name));
            self.excluded.extend(excluded.map(|name| (*name).to_owned()));
        }
        self.excluded.extend(macros("exclude_macros", reader).unwrap_or_default());
        let standard = standard_functions();
        if let Some(included) =
            functions(node, "include_functions", &standard, reader).filter(|names| !names.is_empty())
        {
            let excluded = standard.iter().filter(|name| !included.iter().any(|included| included == *name));
            self.excluded.extend(excluded.map(|name| (*name).to_owned()));
        }
        self.excluded.extend(functions(node, "exclude_functions", &standard, reader).unwrap_or_default());
    }

    fn extension(&mut self, node: &Node, reader: &mut Reader<'_>) {
        if !reader.mapping(node, "an extension", &["name", "version"]) {
            return;
        }
        let Some(name) = reader.required(node, "name", "an extension") else { return };
        let version = node.get("version");
        let number = match version.and_then(Node::scalar) {
            None | Some("") => Some(0),
            Some("latest") => Some(u32::MAX),
            Some(text) => text.parse().ok(),
        };
        let Some(number) = number else {
            return reader.error(version.map_or(node.place, |node| node.place), "a version is a number or `latest`");
        };
        match extensions::libraries(&name.text, number) {
            Ok(libraries) => self.libraries.extend(libraries),
            Err(Some(newest)) => {
                let place = version.map_or(node.place, |node| node.place);
                let message = format!("`{}` has version {newest} at most, not {number}", name.text);
                reader.problems.add(codes::ENVIRONMENT, place, message);
            }
            Err(None) => {
                let problem = reader.problems.add(
                    codes::ENVIRONMENT,
                    name.place,
                    format!("unrecognized extension: `{}`", name.text),
                );
                if !problem.suggest(&name.text, &extensions::names()) {
                    problem.help(format!("extensions are {}", listed(&extensions::names())));
                }
            }
        }
    }

    fn function(&mut self, node: &Node, reader: &mut Reader<'_>) {
        if !reader.mapping(node, "a function", &["name", "description", "overloads"]) {
            return;
        }
        let Some(name) = reader.required(node, "name", "a function") else { return };
        let overloads = node.get("overloads").map_or(&[][..], |node| reader.list(node, "`overloads`"));
        if overloads.is_empty() {
            reader.error(node.place, format!("function `{}` has no overloads", name.text));
        }
        for overload in overloads {
            if !reader.mapping(overload, "an overload", &["id", "examples", "target", "args", "return"]) {
                continue;
            }
            reader.required(overload, "id", "an overload");
            let target = match overload.get("target") {
                Some(target) => types::read_plain(reader, target).map(Some),
                None => Some(None),
            };
            let args = overload.get("args").map_or(&[][..], |node| reader.list(node, "`args`"));
            let args: Option<Vec<WrittenType>> = args.iter().map(|arg| types::read_plain(reader, arg)).collect();
            let Some(result) = overload.get("return") else {
                reader.error(overload.place, "an overload has no `return`");
                continue;
            };
            let result = types::read_plain(reader, result);
            if let (Some(target), Some(args), Some(result)) = (target, args, result) {
                self.functions.push(Overload { name: name.clone(), place: overload.place, target, args, result });
            }
        }
    }

    fn limit(&mut self, node: &Node, reader: &mut Reader<'_>) {
        if !reader.mapping(node, "a limit", &["name", "value"]) {
            return;
        }
        let Some(name) = reader.required(node, "name", "a limit") else { return };
        let Some(value) = node.get("value").and_then(Node::scalar).and_then(|text| text.parse().ok()) else {
            let place = node.get("value").map_or(node.place, |value| value.place);
            return reader.error(place, "the `value` of a limit is a whole number");
        };
        if extensions::set_limit(&mut SourceLimits::default(), &name.text, value) {
            self.limits.push((name.text, value));
        } else {
            unsupported(reader, name.place, &format!("the limit `{}`", name.text));
        }
    }
}

/// Reads a validator.
fn validator_of(node: &Node, reader: &mut Reader<'_>) -> Option<Validator> {
    if !reader.mapping(node, "a validator", &["name", "config"]) {
        return None;
    }
    let name = reader.required(node, "name", "a validator")?;
    let Some(takes_limit) = Validator::named(&name.text, Some(0)) else {
        unsupported(reader, name.place, &format!("the validator `{}`", name.text));
        return None;
    };
    let without = Validator::named(&name.text, None);
    let Some(config) = node.get("config") else {
        if without.is_none() {
            reader.error(name.place, format!("`{}` has no `limit` in its `config`", takes_limit.name()));
        }
        return without;
    };
    if without.is_some() {
        reader.mapping(config, "the `config` of this validator", &[]);
        return without;
    }
    if !reader.mapping(config, "`config`", &["limit"]) {
        return None;
    }
    let limit = config.get("limit").and_then(Node::scalar).and_then(|text| text.parse().ok());
    let Some(limit) = limit else {
        let place = config.get("limit").map_or(config.place, |limit| limit.place);
        reader.error(place, "the `limit` of a validator is a whole number");
        return None;
    };
    Validator::named(&name.text, Some(limit))
}

/// Reads features: celero has what they ask for, or it is an error.
fn features(root: &Node, reader: &mut Reader<'_>) {
    for feature in root.get("features").map_or(&[][..], |node| reader.list(node, "`features`")) {
        if !reader.mapping(feature, "a feature", &["name", "enabled"]) {
            continue;
        }
        let Some(name) = reader.required(feature, "name", "a feature") else { continue };
        let enabled = feature.get("enabled").is_some_and(|node| flag(node, reader));
        match extensions::has_feature(&name.text, enabled) {
            Some(true) => {}
            Some(false) => unsupported(reader, name.place, &format!("the feature `{}` with {enabled}", name.text)),
            None => unsupported(reader, name.place, &format!("the feature `{}`", name.text)),
        }
    }
}

fn unsupported(reader: &mut Reader<'_>, place: FileSpan, what: &str) {
    reader.problems.add(codes::ENVIRONMENT, place, format!("not supported: {what}"));
}

/// The value of `true` or `false`.
fn flag(node: &Node, reader: &mut Reader<'_>) -> bool {
    if !matches!(node.plain(), Some("true" | "false")) {
        reader.error(node.place, "write `true` or `false`");
    }
    node.plain() == Some("true")
}

/// The functions and operators of the standard library that can be taken away.
fn standard_functions() -> Vec<&'static str> {
    let rows = TABLE.rows().iter().filter(|row| row.library == Library::Standard);
    let mut names: Vec<&str> = rows.map(|row| row.name).chain(OPERATORS.iter().copied()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Reads names of functions; `None` if the key is not there.
fn functions(node: &Node, key: &str, standard: &[&str], reader: &mut Reader<'_>) -> Option<Vec<String>> {
    let list = node.get(key)?;
    let mut names = Vec::new();
    for function in reader.list(list, &format!("`{key}`")) {
        if !reader.mapping(function, "a function", &["name", "overloads"]) {
            continue;
        }
        if let Some(overloads) = function.get("overloads").filter(|node| !node.elements().is_empty()) {
            unsupported(reader, overloads.place, "overloads of a function here: name the function alone");
        }
        let Some(name) = reader.required(function, "name", "a function") else { continue };
        if !standard.contains(&&*name.text) {
            let message = format!("`{}` is no function of the standard library", name.text);
            let problem = reader.problems.add(codes::ENVIRONMENT, name.place, message);
            problem.suggest(&name.text, standard);
        }
        names.push(name.text);
    }
    Some(names)
}
