//! Every function of the filter language on values of growing size, and trees of rules in JSON.

use crate::measure::growth;
use crate::{exclusive, report};
use celero::filter::{
    Filter, FilterFunction, FilterHost, FilterOptions, FilterType, FilterValue, LiteralRule, Scheme, StandardFunction,
    read_filter_json, standard_functions,
};
use serde_json::{Value as Json, json};
use std::hint::black_box;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// What values repeat.
const PIECES: &[&str] = &[
    "a",
    "%41",
    "%25",
    "%u0041",
    "+",
    "a=b&",
    "&",
    "a.",
    ".",
    "[",
    "{\"a\":",
    "\"a\":1,",
    "1",
    "\\",
    "é",
    "${1}",
    "$",
    " ",
    "QUJD",
    "=",
    "*",
    "-0123456789",
];

/// Values of fields: the first two are texts.
struct Host(Vec<FilterValue>);

impl FilterHost for Host {
    fn field(&self, index: u32) -> Option<&FilterValue> {
        self.0.get(index as usize)
    }
}

const FIELDS: &[(&str, FilterType)] =
    &[("b", FilterType::Bytes), ("c", FilterType::Bytes), ("i", FilterType::Int), ("a", FilterType::Ip)];

/// The field of this type at a position of a call: texts differ.
fn argument(function: &FilterFunction, position: usize) -> Option<String> {
    let parameter = function.parameter(position)?;
    let is_literal = parameter.kind == celero::filter::ArgumentKind::Literal;
    Some(match (function.standard?, position) {
        (StandardFunction::RegexReplace, 1) => "\"(a|b)*c|a.*b|(.)\"".to_owned(),
        (StandardFunction::WildcardReplace, 1) => "\"*a*b*\"".to_owned(),
        _ => match &parameter.rule {
            LiteralRule::Between(least, _) => least.to_string(),
            LiteralRule::Flags(flags) => format!("{flags:?}"),
            _ if parameter.takes(&FilterType::Bytes, None) && is_literal => "\"a\"".to_owned(),
            _ if parameter.takes(&FilterType::array(FilterType::Bytes), None)
                && function.standard != Some(StandardFunction::Concat) =>
            {
                "t".to_owned()
            }
            _ if parameter.takes(&FilterType::Bytes, Some(&FilterType::Bytes)) => {
                if position == 0 { "b" } else { "c" }.to_owned()
            }
            _ if parameter.takes(&FilterType::Ip, None) => "a".to_owned(),
            _ => if is_literal { "1" } else { "i" }.to_owned(),
        },
    })
}

#[test]
fn functions_of_the_filter_language_cost_what_their_values_say() {
    let _guard = exclusive();
    let mut scheme = Scheme::new();
    for (name, ty) in FIELDS {
        scheme.add_field(name, ty.clone()).unwrap();
    }
    scheme.add_field("t", FilterType::array(FilterType::Bytes)).unwrap();
    let functions: Vec<FilterFunction> = standard_functions();
    let (scheme, mut problems, mut called) = (Arc::new(scheme), Vec::new(), 0);
    for function in &functions {
        let least = function.required.len();
        for count in [least, least + function.optional.len() + usize::from(function.repeated.is_some())] {
            let arguments: Option<Vec<String>> = (0..count).map(|at| argument(function, at)).collect();
            let arguments = arguments.unwrap_or_default();
            let source = format!("{}({})", function.name, arguments.join(", "));
            let Ok(filter) = Filter::compile_value(&source, &scheme, &FilterOptions::default()) else {
                crate::say(&format!("  not called: {source}"));
                continue;
            };
            if !source.contains('b') && !source.contains('t') {
                continue;
            }
            called += 1;
            // What is made of two arguments that grow may grow as their product.
            let is_array = arguments.contains(&"t".to_owned());
            let mut measure = |piece: &str, other: &str, most: usize| {
                let work = |n: usize| {
                    let text = |piece: &str, n: usize| FilterValue::from(&*piece.repeat(n));
                    let elements = if is_array { n } else { 0 };
                    let array = (0..elements).map(|k| format!("{piece}{k}").into_bytes()).collect::<FilterValue>();
                    let (ip, c) = (FilterValue::Ip(Ipv4Addr::LOCALHOST.into()), if is_array { 4 } else { n });
                    let host = Host(vec![text(piece, n), text(other, c), FilterValue::Int(n as i64), ip, array]);
                    let filter = &filter;
                    move || drop(black_box(filter.eval(&host).is_ok()))
                };
                problems.extend(growth(&format!("{source} of {piece:?} and {other:?}"), most, work));
            };
            PIECES.iter().for_each(|piece| measure(piece, piece, 1 << 13));
            // Two long texts that have nothing in common.
            measure("a", "~", 1 << 17);
        }
    }
    assert!(called > 30, "{called}");
    report(&problems);
}

type Tree = (&'static str, fn(usize) -> Json);

/// An object of these values, which are moved: `json!` copies them, all in them at each level.
fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

/// Trees of rules that repeat something.
const TREES: &[Tree] = &[
    ("not", |n| {
        let comparison = json!({"lhs": "b", "op": "Equal", "rhs": "a"});
        (0..n.min(2000)).fold(comparison, |arg, _| object([("op", json!("Not")), ("arg", arg)]))
    }),
    ("and", |n| json!({"op": "And", "items": vec![json!({"lhs": "b", "op": "Equal", "rhs": "a"}); n]})),
    ("nested or", |n| {
        let comparison = || json!({"lhs": "b", "op": "Equal", "rhs": "a"});
        (0..n.min(2000)).fold(comparison(), |inner, _| {
            object([("op", json!("Or")), ("items", Json::Array(vec![comparison(), inner]))])
        })
    }),
    (
        "a set of texts",
        |n| json!({"lhs": "b", "op": "OneOf", "rhs": (0..n).map(|k| format!("h{k}")).collect::<Vec<_>>()}),
    ),
    (
        "a set of numbers",
        |n| json!({"lhs": "i", "op": "OneOf", "rhs": (0..n).map(|k| json!({"start": k, "end": 2 * k})).collect::<Vec<_>>()}),
    ),
    ("wrong items", |n| json!({"op": "And", "items": vec![json!({"lhs": "x", "op": "What"}); n]})),
    (
        "unknown fields",
        |n| json!({"op": "And", "items": (0..n).map(|k| json!({"lhs": format!("x{k}"), "op": "IsTrue"})).collect::<Vec<_>>()}),
    ),
    ("calls", |n| {
        let call = |inner| {
            let arg = object([("kind", json!("IndexExpr")), ("value", inner)]);
            object([("name", json!("lower")), ("args", Json::Array(vec![arg]))])
        };
        // Four levels of JSON each: dropping deeper ones exceeds the stack of a test.
        let lhs = (0..n.min(500)).fold(json!("b"), |inner, _| call(inner));
        object([("lhs", lhs), ("op", json!("Equal")), ("rhs", json!("a"))])
    }),
    ("a long text", |n| json!({"lhs": "b", "op": "Equal", "rhs": "\"".repeat(n)})),
    ("bytes", |n| json!({"lhs": "b", "op": "Equal", "rhs": vec![255; n]})),
    ("a pattern", |n| json!({"lhs": "b", "op": "Matches", "rhs": "(a|b)*\\\"".repeat(n)})),
    ("other keys", |n| Json::Object((0..n).map(|k| (format!("k{k}"), json!(k))).collect())),
    ("lists", |n| (0..n.min(2000)).fold(json!([]), |inner, _| Json::Array(vec![inner]))),
];

#[test]
fn trees_of_rules_cost_what_their_size_says() {
    let _guard = exclusive();
    let mut scheme = Scheme::new();
    for (name, ty) in FIELDS {
        scheme.add_field(name, ty.clone()).unwrap();
    }
    let (scheme, mut problems) = (Arc::new(scheme), Vec::new());
    for (name, make) in TREES {
        let work = |n: usize| {
            let (json, scheme) = (make(n), &scheme);
            move || match read_filter_json(&json, scheme, &FilterOptions::default()) {
                Ok(tree) => drop(black_box(celero::filter::filter_json(&tree))),
                Err(errors) => drop(black_box(errors.iter().map(ToString::to_string).collect::<String>())),
            }
        };
        problems.extend(growth(&format!("a tree in JSON of {name}"), 1 << 14, work));
    }
    report(&problems);
}
