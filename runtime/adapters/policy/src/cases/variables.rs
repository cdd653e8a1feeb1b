//! The values of the host's variables in a case.

use crate::host::typed_json::to_value;
use crate::host::values::to_json;
use crate::problems::Problems;
use crate::yaml::Node;
use celero::host::{Extension, ExtensionFields, Host};
use celero::values::{Arena, EvalResult};
use celero::{ErrorKind, Type, Value};
use serde_json::Value as Json;
use std::sync::Arc;

/// The memory of one value, in bytes, when it is checked.
const MEMORY: usize = 1 << 20;

/// Values by the index of their variable, with the types that are declared.
#[derive(Debug)]
struct CaseValues(Vec<Option<(Json, Type)>>);

impl Host for CaseValues {
    fn field<'s>(&'s self, index: u32, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        let Some((json, ty)) = self.0.get(index as usize).and_then(Option::as_ref) else { return Ok(None) };
        // It was converted before, so only memory can be missing.
        to_value(json, ty, arena).map(Some).map_err(|_| ErrorKind::OutOfBudget)
    }
}

/// Returns what is not of its type in a value, whose name is `what`. Elements, keys and values are
/// compared too: native code relies on their types.
fn misfit<'a>(value: &Value<'a>, ty: &Type, what: &str, arena: &'a Arena) -> Option<String> {
    if !value.fits(ty) {
        return Some(format!("{what} is a `{}`", value.type_name()));
    }
    let unread = |_| Some(format!("{what} can't be read"));
    match (value, ty) {
        (value, Type::Wrapper(inner)) if !matches!(value, Value::Null) => misfit(value, inner, what, arena),
        (Value::Optional(Some(value)), Type::Optional(inner)) => misfit(value, inner, what, arena),
        (Value::List(list), Type::List(inner)) => (0..list.len()).find_map(|index| match list.get(index, arena) {
            Ok(element) => misfit(&element?, inner, &of_place(what, &format!("element {index}")), arena),
            Err(why) => unread(why),
        }),
        (Value::Map(map), Type::Map(types)) => match map.entries(arena) {
            Ok(entries) => entries.iter().find_map(|(key, value)| {
                let name = to_json(key).map_or_else(|| key.type_name().to_owned(), |key| key.to_string());
                let wrong_key = misfit(key, &types.0, &of_place(what, &format!("key {name}")), arena)
                    .map(|wrong| format!("{wrong}; keys that are not text are written `{{map: [[KEY, VALUE], ..]}}`"));
                wrong_key.or_else(|| misfit(value, &types.1, &of_place(what, &format!("value of {name}")), arena))
            }),
            Err(why) => unread(why),
        },
        _ => None,
    }
}

/// Returns the name of a part of a value.
fn of_place(what: &str, part: &str) -> String {
    if what == "this" { format!("the {part}") } else { format!("the {part} of {what}") }
}

/// Reads the key `variables` of a case. Variables without a value are absent.
pub(crate) fn read(node: &Node, declared: Option<&ExtensionFields>, problems: &mut Problems) -> Extension {
    let Some(given) = node.get("variables") else { return Extension::default() };
    // Fields of a type can't be given one by one, and are read from a value of that type.
    let Some(declared) = declared.filter(|declared| Extension::default().has(declared)) else {
        let message = "the policy has no variables of its host that a case could give values";
        let problem = problems.add("case-variables", given.place, message.to_owned());
        problem
            .help("name the file that declares them: celero test --env FILE")
            .help("in a program, load the policy with `Loader::for_cases`");
        return Extension::default();
    };
    let mut values: Vec<Option<(Json, Type)>> = declared.variables().map(|_| None).collect();
    for entry in given.entries() {
        let name = &*entry.key.text;
        let Some((index, (_, ty, _))) = declared.variables().enumerate().find(|(_, (known, ..))| *known == name) else {
            let known: Vec<&str> = declared.variables().map(|(name, ..)| name).collect();
            let problem = problems.add("case-variables", entry.key.place, format!("the host has no variable `{name}`"));
            let below = known.iter().find(|known| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')));
            match below.filter(|_| !entry.value.entries().is_empty()) {
                Some(below) => drop(problem.help(format!("write the whole name: `{below}: ..`"))),
                None => drop(problem.suggest(name, &known)),
            }
            continue;
        };
        // Text needs no quotes, also if it looks like a number.
        let json = match (ty, entry.value.text()) {
            (Type::String, Some(text)) => Json::String(text.text),
            _ => entry.value.json(),
        };
        let arena = Arena::new(MEMORY);
        let wrong = match to_value(&json, ty, &arena) {
            Ok(value) => misfit(&value, ty, "this", &arena)
                .or_else(|| declared.why_never(name, &value).map(|why| format!("it {why}"))),
            Err(why) => Some(why),
        };
        if let Some(why) = wrong {
            problems.add("case-variables", entry.value.place, format!("`{name}` is declared as `{ty}`: {why}"));
        } else if let Some(value) = values.get_mut(index) {
            *value = Some((json, ty.clone()));
        }
    }
    Extension::of_declared(declared, Arc::new(CaseValues(values)))
}
