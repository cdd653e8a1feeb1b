//! `celero translate --jsonl`: the expression of each line of JSON in another language. The lines
//! are those of `celero eval --jsonl`.

use crate::commands::eval::jsonl::evaluate_line;
use crate::commands::translate::translation::{Goal, Written, compared, is_false_for_failure, written};
use crate::envs::Envs;
use crate::evaluate::agree_on_value;
use crate::input::arguments::{Declarations, NamedInput};
use crate::input::contexts::{Command, Contexts, NamedContexts};
use crate::input::filter_args::FilterDeclarations;
use crate::input::filter_values::{FilterLists, bytes, filter_type};
use crate::input::source::Source;
use crate::language::{Language, counterpart};
use crate::output::Output;
use crate::output::failure::{Failure, style};
use crate::output::units::counted;
use crate::{DISAGREE, REJECTED};
use celero::filter::FilterType;
use celero::{Bindings, CompileError, Type};
use celero_tooling::values;
use serde_json::{Map, Value as Json, json};

/// Lines of JSON, and the language to translate them to.
pub(crate) struct TranslateLines<'a> {
    pub(crate) source: &'a Source,
    /// The language of lines that name none.
    pub(crate) from: Language,
    pub(crate) to: Goal,
}

/// Why a line stays as it is.
enum Stays {
    /// A part of its expression has no equal.
    NoEqual(String, CompileError),
    /// Something else.
    Invalid(String),
}

impl From<String> for Stays {
    fn from(why: String) -> Self {
        Self::Invalid(why)
    }
}

impl Command for TranslateLines<'_> {
    fn run(self, contexts: &impl Contexts, output: &mut Output) -> Result<u8, String> {
        let (mut code, mut translated, mut kept) = (0, 0usize, Vec::new());
        for (number, text) in (1usize..).zip(self.source.text.lines()) {
            if text.trim().is_empty() {
                continue;
            }
            let name = format!("{}:{number}", self.source.name);
            let members: Map<String, Json> =
                serde_json::from_str(text).map_err(|error| format!("{name}: not an object of JSON: {error}"))?;
            let language = match members.get("language").and_then(Json::as_str) {
                Some(word) => Language::named(word).map_err(|why| format!("{name}: {why}"))?,
                None => self.from,
            };
            if language == self.to.language {
                output.line(text);
                continue;
            }
            let expr = members.get("expr").and_then(Json::as_str);
            let expr = expr.ok_or_else(|| format!("{name}: expected the member `expr`, a text"))?.to_owned();
            let line = Line { members, expr, to: self.to };
            match line.translated(contexts) {
                Ok((after, warnings, text_after)) => {
                    translated = translated.saturating_add(1);
                    let after = after.to_string();
                    output.line(&after);
                    if !warnings.is_empty() {
                        output.complain(&celero::diagnostics::render(
                            &line.expr,
                            &name,
                            &warnings,
                            style(output.color()),
                        ));
                    }
                    code = code.max(if line.members.contains_key("bindings") {
                        line.compared(&name, text, &after, output)
                    } else {
                        compared(contexts, self.to.language, &name, &line.expr, &text_after, output)
                    });
                }
                Err(why) => {
                    let mut members = line.members;
                    members.insert("language".to_owned(), json!(language.name()));
                    output.line(&Json::Object(members).to_string());
                    output.complain(&match why {
                        Stays::NoEqual(expr, error) => Failure::from(&error).render(&name, &expr, output.color()),
                        Stays::Invalid(why) => format!("error: {name}: {why}"),
                    });
                    kept.push(number.to_string());
                }
            }
        }
        let many = counted(translated.saturating_add(kept.len()), "line");
        let done = format!("{translated} of {many} translated");
        if kept.is_empty() {
            output.complain(&done);
            return Ok(code);
        }
        output.complain(&format!("{done}; these stay in their language: {}", kept.join(", ")));
        Ok(REJECTED)
    }
}

/// A line that is to be translated.
struct Line {
    members: Map<String, Json>,
    expr: String,
    to: Goal,
}

impl Line {
    fn to_cel(&self) -> bool {
        self.to.language == Language::cel()
    }

    /// Returns the line in the other language, the warnings about it, and its expression. A line
    /// without `vars` is about what the command line declares, or about requests.
    fn translated(&self, contexts: &impl Contexts) -> Result<(Json, Vec<celero::Diagnostic>, String), Stays> {
        let no_equal = |error| Stays::NoEqual(self.expr.clone(), error);
        let mut members = self.members.clone();
        let (text, warnings): Written = if self.members.contains_key("vars") {
            let types = self.types()?;
            let envs = if self.to_cel() { self.envs_of_filter(&types)? } else { self.envs_of_cel(&types)? };
            let written = written(&envs, self.to, &self.expr).map_err(no_equal)?;
            members.insert("vars".to_owned(), Json::Object(self.notations(&types, &envs)));
            if let Some(Json::Object(bindings)) = members.get_mut("bindings") {
                for (name, value) in bindings {
                    self.convert(value).map_err(|why| format!("value of `{name}`: {why}"))?;
                }
            }
            written
        } else {
            written(contexts.envs(), self.to, &self.expr).map_err(no_equal)?
        };
        let text = text.trim_end().to_owned();
        members.insert("expr".to_owned(), json!(text));
        members.insert("language".to_owned(), json!(self.to.language.name()));
        // Each of these is of one language.
        for name in ["lists", "nilNotEqual", "container", "define", "check"] {
            members.remove(name);
        }
        Ok((Json::Object(members), warnings, text))
    }

    /// The variables with their types in CEL: byte strings of the filter language are text there.
    fn types(&self) -> Result<Vec<(String, Type)>, String> {
        let mut types = Vec::new();
        for (name, notation) in self.members.get("vars").and_then(Json::as_object).into_iter().flatten() {
            let ty = if self.to_cel() {
                filter_type(notation).map(|ty| text_type(&ty))
            } else {
                notation.as_str().ok_or_else(|| "expected a string".to_owned()).and_then(values::notation::parse)
            };
            types.push((name.clone(), ty.map_err(|why| format!("type of `{name}`: {why}"))?));
        }
        Ok(types)
    }

    fn envs_of_filter(&self, types: &[(String, Type)]) -> Result<Envs<Bindings<'static>>, String> {
        let lists = FilterLists::read(self.members.get("lists").unwrap_or(&json!({})))?;
        let nil_not_equal = self.members.get("nilNotEqual").and_then(Json::as_bool).unwrap_or(false);
        self.envs(
            types,
            Declarations {
                filter: FilterDeclarations { lists, nil_not_equal, ..Default::default() },
                ..Default::default()
            },
        )
    }

    fn envs_of_cel(&self, types: &[(String, Type)]) -> Result<Envs<Bindings<'static>>, String> {
        let container = self.members.get("container").and_then(Json::as_str).unwrap_or_default().to_owned();
        let define = self.members.get("define").and_then(Json::as_array).into_iter().flatten();
        let functions = define.filter_map(Json::as_str).map(values::notation::definition).collect::<Result<_, _>>()?;
        let unchecked = self.members.get("check").and_then(Json::as_bool) == Some(false);
        self.envs(types, Declarations { container, functions, unchecked, ..Default::default() })
    }

    fn envs(&self, types: &[(String, Type)], declarations: Declarations) -> Result<Envs<Bindings<'static>>, String> {
        let named = NamedInput { types: types.to_vec(), declarations, ..NamedInput::default() };
        NamedContexts::new(named).map(|contexts| contexts.envs().clone())
    }

    /// The types of the variables in the notation of the other language. Those that it does not have are not read.
    fn notations(&self, types: &[(String, Type)], envs: &Envs<Bindings<'static>>) -> Map<String, Json> {
        let scheme = envs.of(Language::filter()).filter_scheme();
        let in_filter = |name: &str| {
            let field = scheme?.fields().iter().find(|field| *field.name == *name)?;
            serde_json::from_str(&field.ty.to_json()).ok()
        };
        let notation = |(name, ty): &(String, Type)| {
            Some((name.clone(), if self.to_cel() { json!(ty.to_string()) } else { in_filter(name)? }))
        };
        types.iter().filter_map(notation).collect()
    }

    /// Changes a value to the form of the other language.
    fn convert(&self, value: &mut Json) -> Result<(), String> {
        match (value, self.to.language) {
            (Json::Array(values), _) => values.iter_mut().try_for_each(|value| self.convert(value)),
            (value @ Json::Object(_), to) => {
                if to == Language::cel()
                    && let Some(bytes) = bytes(value)
                {
                    *value =
                        json!(String::from_utf8(bytes).map_err(|_| "bytes that are not UTF-8 are no text in CEL")?);
                    return Ok(());
                }
                if to == Language::filter()
                    && let Some(address) = value.get("ip").cloned()
                {
                    *value = address;
                    return Ok(());
                }
                let Json::Object(values) = value else { return Ok(()) };
                values.values_mut().try_for_each(|value| self.convert(value))
            }
            _ => Ok(()),
        }
    }

    /// Evaluates both lines and returns the exit code.
    fn compared(&self, name: &str, before: &str, after: &str, output: &mut Output) -> u8 {
        let before = evaluate_line(counterpart(self.to.language), before.as_bytes());
        let after = evaluate_line(self.to.language, after.as_bytes());
        if agree_on_value(&before, &after) || is_false_for_failure(self.to.language, &before, &after) {
            return 0;
        }
        let (before, after) = (before.json(), after.json());
        output.complain(&format!("{name}: different answers: {before} before, {after} after"));
        DISAGREE
    }
}

/// The type in CEL of a field of the filter language whose byte strings are text.
fn text_type(ty: &FilterType) -> Type {
    match ty {
        FilterType::Bytes => Type::String,
        FilterType::Array(element) => Type::list(text_type(element)),
        FilterType::Map(element) => Type::map(Type::String, text_type(element)),
        other => Type::from(other),
    }
}
