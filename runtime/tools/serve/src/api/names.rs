//! What may be completed in a rule: variables, functions and words, with types and documentation.

use super::Refusal;
use super::input::{self, Input};
use super::rule::Question;
use celero::filter::{FilterFunction, http_scheme};
use celero::language::Declarations;
use celero_tooling::names::macro_names;
use celero_tooling::names::{callables, filter_doc};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Answers a question.
///
/// # Errors
/// None at present: an input that is not understood declares nothing.
pub(super) fn answer(question: &Question) -> Result<Json, Refusal> {
    let language = question.language;
    let declared = match Input::read(&question.input) {
        Ok(Input::Variables(variables)) => input::variables_env(&variables, language).ok(),
        _ => None,
    };
    let declared = declared.as_ref().map(|env| env.declarations());
    let env = input::request_env(language);
    let keywords = language.lexicon().keywords.iter().map(|(word, _)| *word);
    if env.filter_scheme().is_some() {
        let scheme = http_scheme();
        let field = |name: &str, ty: String| json!({ "name": name, "type": ty });
        let fields = || scheme.fields().iter().map(|f| field(&f.name, f.ty.to_string())).collect();
        return Ok(json!({
            "variables": declared.map_or_else(fields, variables),
            "functions": scheme.functions().iter().map(filter_function).collect::<Vec<_>>(),
            "words": keywords.chain(["true", "false"]).collect::<Vec<_>>(),
        }));
    }
    let declarations = declared.unwrap_or_else(|| env.declarations());
    let has_library = language.is_default();
    let macros = macro_names().into_iter().filter(|_| has_library);
    Ok(json!({
        "variables": variables(declarations),
        "functions": if has_library { cel_functions(declarations) } else { json!([]) },
        "words": keywords.chain(macros).collect::<Vec<_>>(),
    }))
}

fn variables(declarations: &Declarations) -> Json {
    let variables = declarations.variables().iter();
    variables.map(|variable| json!({ "name": &*variable.name, "type": variable.ty.to_string() })).collect()
}

/// Returns the functions by name, with a signature for each overload.
fn cel_functions(declarations: &Declarations) -> Json {
    let mut by_name: BTreeMap<&str, (Vec<String>, &str)> = BTreeMap::new();
    for callable in callables(declarations) {
        let (signatures, _) = by_name.entry(callable.name).or_insert((Vec::new(), callable.doc));
        let text = callable.text();
        if !signatures.contains(&text) {
            signatures.push(text);
        }
    }
    let function = |(name, (signatures, doc)): (&str, (Vec<String>, &str))| json!({ "name": name, "signatures": signatures, "doc": doc });
    by_name.into_iter().map(function).collect()
}

fn filter_function(function: &FilterFunction) -> Json {
    json!({ "name": &*function.name, "signatures": [function.to_string()], "doc": filter_doc(function) })
}
