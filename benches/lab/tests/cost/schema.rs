//! Files with a schema, policies and configurations: every place of the schema with long text, many
//! elements, many keys and deep nesting.

use crate::measure::growth;
use crate::{exclusive, report};
use celero_policy::Policy;
use celero_proxy::config::Config;
use serde_json::{Map, Value as Json, json};
use std::collections::HashSet;
use std::hint::black_box;
use std::path::Path;

/// A name, and a value of a size.
type SizedValue = (&'static str, fn(usize) -> Json);

/// What stands at a place instead of what belongs there.
const VALUES: &[SizedValue] = &[
    ("a long text", |n| json!("a".repeat(n))),
    ("a chain", |n| json!("true".to_owned() + &" || true".repeat(n))),
    ("templates", |n| json!("${request.path}".repeat(n))),
    ("many texts", |n| (0..n).map(|k| json!(format!("/k{k}"))).collect()),
    ("equal texts", |n| (0..n).map(|_| json!("a")).collect()),
    ("many keys", |n| Json::Object((0..n).map(|k| (format!("k{k}"), json!("a"))).collect())),
    ("deep lists", |n| (0..n.min(2000)).fold(json!(1), |inner, _| json!([inner]))),
    ("deep keys", |n| (0..n.min(2000)).fold(json!(1), |inner, _| json!({ "a": inner }))),
];

/// A small value that the schema admits.
fn sample(schema: &Json) -> Json {
    if let Some(first) = schema.get("anyOf").and_then(|any| any.get(0)) {
        return sample(first);
    }
    if let Some(value) = schema.get("const").or_else(|| schema.get("enum").and_then(|words| words.get(0))) {
        return value.clone();
    }
    let ty = schema.get("type").map_or(&Json::Null, |ty| if ty.is_array() { &ty[0] } else { ty });
    match ty.as_str() {
        Some("object") => {
            let properties = schema.get("properties").and_then(Json::as_object);
            let required =
                schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
            let members = required.filter_map(|key| Some((key.to_owned(), sample(properties?.get(key)?))));
            Json::Object(members.collect())
        }
        Some("array") => json!([sample(&schema["items"])]),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some(_) if schema.get("pattern").is_some() => json!("1s"),
        _ => json!("'a'"),
    }
}

/// Replaces the value at a place.
type Put<'a> = &'a dyn Fn(Json) -> Json;

/// Calls `visit` with each place of the schema: its path, its schema, and the function that makes a
/// document with a value there.
fn places(schema: &Json, path: &str, put: Put<'_>, visit: &mut dyn FnMut(&str, &Json, Put<'_>)) {
    visit(path, schema, put);
    for any in schema.get("anyOf").and_then(Json::as_array).into_iter().flatten() {
        if any.get("properties").or(any.get("items")).or(any.get("additionalProperties")).is_some() {
            places(any, path, put, visit);
        }
    }
    for (key, inner) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
        let around = |value: Json| {
            let mut members = sample(schema).as_object().cloned().unwrap_or_default();
            members.insert(key.clone(), value);
            put(Json::Object(members))
        };
        places(inner, &format!("{path}.{key}"), &around, visit);
    }
    if let Some(inner) = schema.get("items") {
        places(inner, &format!("{path}[]"), &|value| put(json!([value])), visit);
    }
    if let Some(inner) = schema.get("additionalProperties").filter(|inner| inner.is_object()) {
        places(inner, &format!("{path}.*"), &|value| put(json!({ "k": value })), visit);
    }
}

/// Measures what reading costs with each value at each place of a schema, and with many elements of
/// the kind that belongs there.
fn places_cost_what_their_size_says<W: FnMut()>(
    format: &str,
    schema: &Json,
    fewest: usize,
    read: impl Fn(String) -> W,
) {
    let _guard = exclusive();
    let (mut problems, mut count) = (Vec::new(), 0);
    let mut seen = HashSet::new();
    places(schema, "", &|value| value, &mut |path, schema, put| {
        // Some objects, such as rules, have the same keys in several places.
        let key = path.rsplit('.').next().unwrap_or(path);
        if !seen.insert((key.to_owned(), schema.to_string())) {
            return;
        }
        count += 1;
        let mut measure = |name: &str, make: &dyn Fn(usize) -> Json| {
            let work = |n: usize| read(put(make(n)).to_string());
            problems.extend(growth(&format!("{format} {path}: {name}"), 1 << 9, work));
        };
        for (name, make) in VALUES {
            measure(name, make);
        }
        match (schema.get("items"), schema.get("additionalProperties")) {
            (Some(items), _) => measure("many of its kind", &|n| Json::Array(vec![sample(items); n])),
            (_, Some(values)) if values.is_object() => measure("many of its kind", &|n| {
                Json::Object((0..n).map(|k| (format!("k{k}"), sample(values))).collect::<Map<_, _>>())
            }),
            _ => {}
        }
    });
    assert!(count > fewest, "{count}");
    report(&problems);
}

#[test]
fn policies_cost_what_their_size_says() {
    places_cost_what_their_size_says("policy", &Policy::json_schema(), 100, |text| {
        move || match Policy::parse("policy.yaml", &text, Path::new("/nowhere")) {
            Ok(policy) => drop(black_box(policy.render_warnings(false))),
            Err(error) => drop(black_box(error.to_string())),
        }
    });
}

#[test]
fn configurations_of_the_proxy_cost_what_their_size_says() {
    let file = std::env::temp_dir().join(format!("celero-cost-{}.yaml", std::process::id()));
    places_cost_what_their_size_says("configuration", &Config::json_schema(), 100, |text| {
        std::fs::write(&file, text).unwrap();
        || drop(black_box(Config::load(&file).map_err(|error| error.to_string()).is_ok()))
    });
    std::fs::remove_file(file).unwrap();
}
