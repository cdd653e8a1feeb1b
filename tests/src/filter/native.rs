//! The tier that must agree with the interpreter: native code, over an environment with the fields
//! of the scheme as variables.
#![expect(clippy::panic, reason = "a rule without native code is a failure of the test")]

use super::functions::with_functions;
use super::{Outcome, Values};
use celero::filter::{Filter, FilterExpr, FilterLanguage, FilterType, FilterValue, Scheme};
use celero::values::{Arena, List, Map};
use celero::{Bindings, Engine, Env, ErrorKind, Program, Scratch, Tier, Type, Value};
use std::collections::BTreeMap;

/// Evaluates a rule for each host in native code. All hosts come in one call so that a rule is compiled once.
///
/// # Errors
/// Why the rule has no native code over an environment.
pub fn evaluate_other_tier(filter: &Filter, hosts: &[Values]) -> Result<Vec<Outcome>, &'static str> {
    let tree = filter.tree();
    let ty = tree.result_type();
    let is_condition =
        !matches!(tree.expr(tree.root()), FilterExpr::Field(_) | FilterExpr::Call { .. } | FilterExpr::Access { .. });
    let engine = Engine::builder().tier(Tier::Native).build();
    let lists = hosts.first().ok_or("no host")?;
    let env = environment(filter, lists).ok_or("a name that no variable can have, or a list that can't be named")?;
    let program = engine.compile(&env, tree.source()).unwrap_or_else(|error| panic!("{error}"));
    let outcome = |host: &Values| match evaluate(&program, &env, tree.scheme(), host, ty) {
        // For an engine a value of type `Bool` is a condition, which is false where the value is missing.
        Ok(Some(FilterValue::Bool(false))) if !is_condition && filter.eval(host) == Ok(None) => Ok(None),
        outcome => outcome,
    };
    Ok(hosts.iter().map(outcome).collect())
}

/// An environment with the fields that a rule reads; `None` if one has a name that no variable can have.
fn environment(filter: &Filter, host: &Values) -> Option<Env<Bindings<'static>>> {
    let (tree, scheme) = (filter.tree(), filter.tree().scheme());
    let mut env = Env::dynamic();
    for (index, field) in (0u32..).zip(scheme.fields()) {
        if field.constant.is_none() && tree.uses_field(index) {
            env = env.variable(&field.name, Type::from(&field.ty));
        }
    }
    env = with_functions(env, host).lists(&host.named_lists()?);
    if !env.problems().is_empty() {
        return None;
    }
    let mut language = FilterLanguage::new().nil_not_equal(scheme.nil_not_equal()).any_list(true);
    for field in scheme.fields() {
        if let Some(value) = field.constant {
            language = language.field(&field.name, if value { "true" } else { "false" });
        }
    }
    Some(env.filter_language(language))
}

fn evaluate(
    program: &Program<Bindings<'static>>,
    env: &Env<Bindings<'static>>,
    scheme: &Scheme,
    host: &Values,
    ty: &FilterType,
) -> Outcome {
    let arena = Arena::new(1 << 24);
    let mut bindings = Bindings::new(env);
    for (field, value) in scheme.fields().iter().zip(host.fields()) {
        // A value of another type is a missing one. Fields that the rule does not read are no variables.
        if let (None, Some(value)) = (field.constant, value)
            && value.is_of(&field.ty)
            && let Some(value) = engine_value(value, &arena)
        {
            let _ = bindings.set(&field.name, value);
        }
    }
    match program.eval(&bindings, &mut Scratch::new()) {
        Ok(value) => Ok(Some(filter_value(&value, ty, &arena).unwrap_or(FilterValue::Array(Vec::new())))),
        Err(error) if error.kind == ErrorKind::NoSuchKey => Ok(None),
        Err(error) => Err(error.kind),
    }
}

fn engine_value<'a>(value: &'a FilterValue, arena: &'a Arena) -> Option<Value<'a>> {
    Some(match value {
        FilterValue::Bool(value) => Value::Bool(*value),
        FilterValue::Int(value) => Value::Int(*value),
        FilterValue::Ip(value) => Value::Ip(*value),
        FilterValue::Bytes(bytes) => Value::Bytes(bytes),
        FilterValue::Array(values) => {
            let values: Vec<Value<'a>> =
                values.iter().map(|value| engine_value(value, arena)).collect::<Option<_>>()?;
            Value::List(List::Slice(arena.alloc_slice(&values).ok()?))
        }
        FilterValue::Map(values) => {
            // Keys are in the order of their bytes, which is that of their texts.
            let entry = |(key, value): (&'a Vec<u8>, &'a FilterValue)| {
                Some((Value::String(std::str::from_utf8(key).ok()?), engine_value(value, arena)?))
            };
            let entries: Vec<(Value<'a>, Value<'a>)> = values.iter().map(entry).collect::<Option<_>>()?;
            Value::Map(Map::Sorted(arena.alloc_slice(&entries).ok()?))
        }
    })
}

/// Returns the result of a program in the filter language as a value of this type.
pub fn filter_value(value: &Value<'_>, ty: &FilterType, arena: &Arena) -> Option<FilterValue> {
    Some(match (value, ty) {
        (Value::Bool(value), FilterType::Bool) => FilterValue::Bool(*value),
        (Value::Int(value), FilterType::Int) => FilterValue::Int(*value),
        (Value::Ip(value), FilterType::Ip) => FilterValue::Ip(*value),
        (Value::Bytes(bytes), FilterType::Bytes) => FilterValue::Bytes(bytes.to_vec()),
        (Value::List(list), FilterType::Array(element)) => {
            let value = |index| filter_value(&list.get(index, arena).ok()??, element, arena);
            FilterValue::Array((0..list.len()).map(value).collect::<Option<_>>()?)
        }
        (Value::Map(map), FilterType::Map(element)) => {
            let entries = map.entries(arena).ok()?;
            let entry = |(key, value): &(Value<'_>, Value<'_>)| match key {
                Value::String(key) => Some((key.as_bytes().to_vec(), filter_value(value, element, arena)?)),
                _ => None,
            };
            FilterValue::Map(entries.iter().map(entry).collect::<Option<BTreeMap<_, _>>>()?)
        }
        _ => return None,
    })
}
