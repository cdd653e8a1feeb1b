//! What may be completed in a rule: variables, functions and words, with types and documentation.

use super::Refusal;
use super::input::{self, Input, Language};
use super::rule::Question;
use celero::filter::{Accepts, FilterFunction, FilterParameter, ResultType, http_scheme};
use celero::language::{Declarations, TABLE};
use celero_tooling::macros::macro_names;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Words of CEL that are neither names nor functions.
const CEL_WORDS: &[&str] = &["true", "false", "null", "in"];

/// Words of the filter language.
const FILTER_WORDS: &[&str] = &[
    "and", "or", "xor", "not", "eq", "ne", "lt", "le", "gt", "ge", "contains", "matches", "wildcard", "strict", "in",
    "any", "all", "true", "false",
];

/// Answers a question.
///
/// # Errors
/// None at present: an input that is not understood declares nothing.
pub(super) fn answer(question: &Question) -> Result<Json, Refusal> {
    let declared = match Input::read(&question.input) {
        Ok(Input::Variables(variables)) => {
            input::variables_env(&variables, question.language).ok().map(|env| variables_of(env.declarations()))
        }
        _ => None,
    };
    Ok(match question.language {
        Language::Cel => json!({
            "variables": declared.unwrap_or_else(|| variables_of(input::request_env(Language::Cel).declarations())),
            "functions": cel_functions(),
            "words": CEL_WORDS.iter().copied().chain(macro_names()).collect::<Vec<_>>(),
        }),
        Language::Filter => {
            let scheme = http_scheme();
            let field = |name: &str, ty: String| json!({ "name": name, "type": ty });
            let fields: Vec<Json> = scheme.fields().iter().map(|f| field(&f.name, f.ty.to_string())).collect();
            json!({
                "variables": declared.unwrap_or_else(|| json!(fields)),
                "functions": scheme.functions().iter().map(filter_function).collect::<Vec<_>>(),
                "words": FILTER_WORDS,
            })
        }
    })
}

fn variables_of(declarations: &Declarations) -> Json {
    let variables = declarations.variables().iter();
    variables.map(|variable| json!({ "name": &*variable.name, "type": variable.ty.to_string() })).collect()
}

/// Returns the functions of the table by name, with a signature for each overload. Operators are left out.
fn cel_functions() -> Json {
    let mut by_name: BTreeMap<&str, (Vec<String>, &str)> = BTreeMap::new();
    for row in TABLE.rows() {
        if !row.name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let (signatures, _) = by_name.entry(row.name).or_insert((Vec::new(), row.doc));
        for signature in TABLE.signatures_of(row.library, row.name) {
            let params: Vec<String> = signature.params.iter().map(ToString::to_string).collect();
            let text = match params.split_first() {
                Some((receiver, rest)) if signature.receiver => {
                    format!("{receiver}.{}({}) -> {}", row.name, rest.join(", "), signature.result)
                }
                _ => format!("{}({}) -> {}", row.name, params.join(", "), signature.result),
            };
            if !signatures.contains(&text) {
                signatures.push(text);
            }
        }
    }
    let function = |(name, (signatures, doc)): (&str, (Vec<String>, &str))| json!({ "name": name, "signatures": signatures, "doc": doc });
    by_name.into_iter().map(function).collect()
}

fn filter_function(function: &FilterFunction) -> Json {
    let parameter = |parameter: &FilterParameter| {
        let types = parameter.accepts.iter().map(|accepts| match accepts {
            Accepts::Type(ty) => ty.to_string(),
            Accepts::AnyArray => "Array".to_owned(),
            Accepts::SameAsFirst => "the same".to_owned(),
        });
        types.collect::<Vec<_>>().join(" or ")
    };
    let mut params: Vec<String> = function.required.iter().map(parameter).collect();
    params.extend(function.optional.iter().map(|optional| format!("{}?", parameter(optional))));
    params.extend(function.repeated.iter().map(|repeated| format!("{}..", parameter(repeated))));
    let result = match &function.result {
        ResultType::Type(ty) => format!(" -> {ty}"),
        ResultType::SameAsFirst => " -> the same".to_owned(),
    };
    json!({ "name": &*function.name, "signatures": [format!("{}({}){result}", function.name, params.join(", "))], "doc": "" })
}
