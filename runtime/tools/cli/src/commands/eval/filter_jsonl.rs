//! A line of `celero eval --jsonl` whose expression is in Cloudflare's filter language: the line
//! declares the fields with their types, gives their values, and the contents of lists. Fields are
//! variables of an environment, so that both tiers evaluate.

use crate::envs::Envs;
use crate::evaluate::{Engines, Evaluated, RenderedValue, answers};
use crate::input::contexts::Contexts;
use crate::input::filter_values::{FilterLists, filter_type, filter_value, variable_value};
use crate::input::host::INPUT_MEMORY;
use crate::language::Language;
use crate::output::failure::Failure;
use celero::filter::{Filter, FilterHost, FilterLanguage, FilterOptions, FilterType, FilterValue, Scheme};
use celero::lists::{Limits, Lists};
use celero::values::Arena;
use celero::{Bindings, Env, Type};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

#[derive(Deserialize)]
struct FilterRequest {
    #[serde(default)]
    language: Option<String>,
    expr: String,
    #[serde(default)]
    vars: Map<String, Json>,
    #[serde(default)]
    bindings: Map<String, Json>,
    #[serde(default)]
    lists: Map<String, Json>,
    #[serde(default, rename = "nilNotEqual")]
    nil_not_equal: bool,
}

/// A line.
struct Line {
    expr: String,
    /// Name, type and value.
    fields: Vec<(String, FilterType, Option<FilterValue>)>,
    lists: FilterLists,
    nil_not_equal: bool,
}

/// Evaluates a line in the tiers of `engines`.
pub(crate) fn evaluate_line(engines: &Engines, line: &[u8]) -> Evaluated {
    let failed = |failure| Evaluated::Agreed(Err(failure));
    let line = match read(line) {
        Ok(line) => line,
        Err(why) => return failed(Failure::invalid(why)),
    };
    let filter = match line.scheme() {
        Ok(scheme) => Filter::compile(&line.expr, &Arc::new(scheme), &FilterOptions::default()),
        Err(why) => return failed(Failure::invalid(why)),
    };
    let filter = match filter {
        Ok(filter) => filter,
        Err(error) => return failed(Failure::from(&error)),
    };
    match LineContexts::new(&line) {
        Some(contexts) => {
            let answer = answers(engines, &contexts, &line.expr).pop();
            answer.unwrap_or_else(|| failed(Failure::invalid("no result")))
        }
        // A field has a name that no variable can have, such as `1a`, or lists of two types have
        // one name: the interpreter needs no environment.
        None => Evaluated::Agreed(filter.test(&line).map_err(Failure::from).map(|value| {
            let json = json!({ "bool": value });
            RenderedValue { json, text: value.to_string() }
        })),
    }
}

fn read(line: &[u8]) -> Result<Line, String> {
    let request: FilterRequest =
        serde_json::from_slice(line).map_err(|error| format!("not a valid request: {error}"))?;
    let expected = Language::filter().name();
    if let Some(language) = request.language.filter(|language| language != expected) {
        return Err(format!("language `{language}`: expected `{expected}`"));
    }
    let mut fields = Vec::new();
    let mut bindings = request.bindings;
    for (name, notation) in request.vars {
        let ty = filter_type(&notation).map_err(|why| format!("type of `{name}`: {why}"))?;
        let given = bindings.remove(&name);
        let value = given.map(|json| filter_value(&json, &ty)).transpose();
        let value = value.map_err(|why| format!("value of `{name}`: {why}"))?;
        fields.push((name, ty, value));
    }
    if let Some((name, _)) = bindings.iter().next() {
        return Err(format!("`{name}` has a value, but is not declared in `vars`"));
    }
    let lists = FilterLists::read(&Json::Object(request.lists))?;
    Ok(Line { expr: request.expr, fields, lists, nil_not_equal: request.nil_not_equal })
}

impl Line {
    fn scheme(&self) -> Result<Scheme, String> {
        let mut scheme = Scheme::new();
        scheme.set_nil_not_equal(self.nil_not_equal);
        for (name, ty, _) in &self.fields {
            scheme.add_field(name, ty.clone()).map_err(|error| error.to_string())?;
        }
        for (name, ty) in self.lists.names() {
            scheme.add_list(name, ty.clone()).map_err(|error| error.to_string())?;
        }
        Ok(scheme)
    }
}

impl FilterHost for Line {
    fn field(&self, index: u32) -> Option<&FilterValue> {
        self.fields.get(index as usize)?.2.as_ref()
    }

    fn list_contains(&self, name: &str, value: &FilterValue) -> bool {
        self.lists.contains(name, value)
    }
}

/// The fields of a line as variables.
struct LineContexts<'l> {
    line: &'l Line,
    envs: Envs<Bindings<'static>>,
}

impl<'l> LineContexts<'l> {
    /// Declares the fields and lists; `None` if one of them can't be a variable, or a named list.
    fn new(line: &'l Line) -> Option<Self> {
        let declare = |env: Env<Bindings<'static>>, (name, ty, _): &(String, FilterType, Option<FilterValue>)| {
            env.variable(name, Type::from(ty))
        };
        let env = line.fields.iter().fold(Env::dynamic(), declare);
        let lists = Lists::new(Limits::default());
        line.lists.add_to(&lists).ok()?;
        let env = env.lists(&lists);
        let envs = Envs::new(env, FilterLanguage::new().nil_not_equal(line.nil_not_equal));
        envs.of(Language::filter()).problems().is_empty().then_some(Self { line, envs })
    }
}

impl Contexts for LineContexts<'_> {
    type Static = Bindings<'static>;
    type Of<'a> = Bindings<'a>;

    fn env(&self) -> &Env<Self::Static> {
        self.envs.of(Language::filter())
    }

    fn envs(&self) -> &Envs<Self::Static> {
        &self.envs
    }

    fn given(&self) -> bool {
        true
    }

    fn with<R>(&self, run: impl FnOnce(&[Bindings<'_>]) -> R) -> Result<R, String> {
        let arena = Arena::new(INPUT_MEMORY);
        let mut bindings = Bindings::new(self.env());
        for (name, _, value) in &self.line.fields {
            let Some(value) = value else { continue };
            let value = variable_value(value, &arena).map_err(|kind| format!("value of `{name}`: {kind}"))?;
            bindings.set(name, value).map_err(|why| why.to_string())?;
        }
        Ok(run(&[bindings]))
    }

    fn label(&self, _: usize) -> String {
        "the bindings".to_owned()
    }
}
