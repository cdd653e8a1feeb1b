//! What a host declares as a YAML file, so that policies are checked and tested without the host's program.
//!
//! Invariant: a file that a loader has written declares what the loader declares, but not the names of enums and the
//! ranges of integers. Test:
//! `runtime/adapters/policy/tests/policy/host_declarations.rs::a_written_file_declares_the_same`.

use crate::file::error::PolicyError;
use crate::host::environment::{HostEnvironment, report_collisions};
use crate::keys::environment::ENVIRONMENT;
use crate::lists::section;
use crate::policy::loader::{Loader, own_variables};
use crate::problems::{FileSpan, Problems};
use crate::yaml::{Node, read};
use celero::host::ExtensionFields;
use celero::language::HostFunction;
use celero::{Env, Type};
use serde_json::Value as Json;
use std::fmt::Write;

/// The code of errors in such a file, besides those of its form.
const CODE: &str = "policy-host";

impl Loader {
    /// Returns a loader for policies of the host whose declarations a YAML file has:
    ///
    /// ```
    /// use celero_policy::Loader;
    ///
    /// let declared = "
    /// variables:
    ///   tenant.name: string
    ///   tenant.region: {type: string, optional: true}
    /// functions:
    /// - 'plan(tenant: string) -> string'
    /// ";
    /// let loader = Loader::of_declarations("host.yaml", declared)?;
    /// let text = "request: [{name: free, when: plan(tenant.name) == 'free', deny: 402}]";
    /// assert!(loader.check("policy.yaml", text, ".".as_ref()).is_ok());
    /// # Ok::<(), celero_policy::PolicyError>(())
    /// ```
    ///
    /// For tools: functions have no code, so calls of them fail, lists have the entries that the file gives them, and
    /// only [cases](crate::Policy::test) give variables values. Messages call the file `name`.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with every error in the text.
    pub fn of_declarations(name: &str, text: &str) -> Result<Self, PolicyError> {
        let mut problems = Problems::default();
        let file = problems.file(name.to_owned(), text);
        let root = read(file, &mut problems);
        if let Some(root) = &root {
            ENVIRONMENT.check(root, &mut problems);
        }
        let (mut variables, mut names) = (Vec::new(), Vec::new());
        for entry in root.as_ref().and_then(|root| root.get("variables")).map_or(&[][..], Node::entries) {
            let node = entry.value.get("type").unwrap_or(&entry.value);
            let (name, written) = (&entry.key.text, node.text());
            let Some(written) = written else { continue };
            let ty: Type = match written.text.parse() {
                Ok(ty) => ty,
                Err(error) => {
                    problems.add(CODE, written.place, format!("the type of `{name}`: {error}"));
                    continue;
                }
            };
            for problem in Env::dynamic().variable(name, ty.clone()).problems() {
                problems.add(CODE, entry.key.place, problem.to_string());
            }
            let optional = entry.value.text_of("optional").is_some_and(|optional| optional.text == "true");
            variables.push((name.clone(), ty, optional));
            names.push((&**name, entry.key.place));
        }
        report_collisions(names.into_iter(), own_variables(), &mut problems);
        let mut functions = Env::dynamic();
        for node in root.as_ref().and_then(|root| root.get("functions")).map_or(&[][..], Node::elements) {
            let Some(declaration) = node.text() else { continue };
            let before = functions.problems().len();
            functions = functions.declare_function(&declaration.text);
            for problem in functions.problems().get(before..).unwrap_or_default() {
                problems.add(CODE, declaration.place, problem.to_string());
            }
        }
        let mut host = HostEnvironment::default().with_functions(|_| functions);
        if !variables.is_empty() {
            host = host.with_variables(ExtensionFields::declared(variables));
        }
        if let Some(section) = root.as_ref().and_then(|root| root.get("lists")) {
            host = host.with_lists(section::of_declarations(section, &mut problems));
        }
        if root.is_none() && !problems.has_errors() {
            problems.add(CODE, FileSpan::new(file, 0, 0), "the file is empty".to_owned());
        }
        if problems.has_errors() { Err(PolicyError::new(problems)) } else { Ok(Self::of_host(host)) }
    }

    /// Returns the functions, variables and lists, without entries, as a YAML file for
    /// [`of_declarations`](Self::of_declarations), `celero check --env FILE` and editors. An enum is a `string` in it,
    /// so a misspelled name is found by [`for_cases`](Self::for_cases), and not with the file.
    #[must_use]
    pub fn declarations(&self) -> String {
        let mut text = String::new();
        let variables = self.host().variables().map(ExtensionFields::variables).into_iter().flatten();
        for (number, (name, ty, optional)) in variables.enumerate() {
            if number == 0 {
                text.push_str("variables:\n");
            }
            let _ = match optional {
                true => writeln!(text, "  {name}: {{type: \"{ty}\", optional: true}}"),
                false => writeln!(text, "  {name}: {ty}"),
            };
        }
        for (number, function) in self.host().functions().declarations().functions().iter().enumerate() {
            if number == 0 {
                text.push_str("functions:\n");
            }
            let _ = writeln!(text, "- \"{}\"", declaration(function));
        }
        let lists = self.host().lists().map(|lists| lists.load().infos().collect::<Vec<_>>());
        for (number, list) in lists.iter().flatten().enumerate() {
            if number == 0 {
                text.push_str("lists:\n");
            }
            let values = list.values.as_ref().map(|values| format!(", values: {values}")).unwrap_or_default();
            let _ = writeln!(text, "  {}: {{kind: {}{values}}}", list.name, list.kind);
        }
        text
    }

    /// Returns the format of such a file as a JSON schema (draft 7), for editors.
    #[must_use]
    pub fn declarations_schema() -> Json {
        ENVIRONMENT.json_schema("celero declarations of a host")
    }
}

/// Returns a function as it is declared. Parameters of closures have no names.
fn declaration(function: &HostFunction) -> String {
    let signature = &function.signature;
    let receiver = signature.params.first().filter(|_| signature.receiver);
    let params = signature.params.iter().skip(usize::from(receiver.is_some()));
    let params: Vec<String> = (1..).zip(params).map(|(number, ty)| format!("p{number}: {ty}")).collect();
    let receiver = receiver.map_or_else(String::new, |ty| format!("{ty}."));
    format!("{receiver}{}({}) -> {}", function.name, params.join(", "), signature.result)
}
