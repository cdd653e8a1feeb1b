//! Fields and types that functions read (`with = function`): the values and types that rules see.
#![expect(clippy::arithmetic_side_effects, reason = "tests")]

use crate::field_types::{results, types};
use celero::{Context, FieldType, Value};
use std::collections::HashMap;

/// No field type.
struct Version(u16, u16);

fn number(version: &Version) -> i64 {
    i64::from(version.0) * 100 + i64::from(version.1)
}

mod functions {
    use super::Version;
    use std::borrow::Cow;

    pub(super) fn text(version: &Version) -> Cow<'_, str> {
        if version.1 == 0 { "stable".into() } else { format!("{}.{}", version.0, version.1).into() }
    }

    pub(super) fn minor(version: &Version) -> Option<&u16> {
        Some(&version.1).filter(|minor| **minor != 0)
    }

    pub(super) fn fallible(version: &Version) -> Result<bool, String> {
        if version.0 > 9 { Err("no such version".to_owned()) } else { Ok(version.0 == 1) }
    }
}

fn major(version: &Version) -> Value<'_> {
    Value::Uint(version.0.into())
}

/// A type that a function reads wherever it stands.
#[derive(FieldType)]
#[context(with = Semantic::number)]
struct Semantic(Version);

impl Semantic {
    fn number(&self) -> i64 {
        number(&self.0)
    }
}

mod semantic {
    #[expect(clippy::ptr_arg, reason = "`with` gives the function the field as it is")]
    pub(super) fn length(text: &String) -> usize {
        text.len()
    }
}

#[derive(FieldType)]
#[context(with = Pair::shown)]
struct Pair(u8, &'static str);

impl Pair {
    fn shown(&self) -> Option<&'static str> {
        (self.0 > 0).then_some(self.1)
    }
}

#[derive(Context)]
struct WithFunctions {
    #[context(with = number)]
    number: Version,
    #[context(with = functions::text, name = "deep.text")]
    text: Version,
    #[context(with = "functions::minor")]
    minor: Version,
    #[context(with = major)]
    major: Version,
    #[context(with = functions::fallible)]
    first: Version,
    #[context(with = semantic::length)]
    length: String,
    pair: Pair,
    pairs: Vec<Pair>,
}

#[test]
fn functions_make_any_type_a_field() {
    let version = |minor| Version(2, minor);
    let context = WithFunctions {
        number: version(7),
        text: version(7),
        minor: version(7),
        major: version(7),
        first: version(7),
        length: "four".to_owned(),
        pair: Pair(1, "x"),
        pairs: vec![Pair(1, "y"), Pair(0, "z")],
    };
    assert_eq!(
        types::<WithFunctions>(),
        "number: int, deep.text: string, minor?: uint, major: dyn, first: bool, length: uint, pair?: string, pairs: list(string)"
    );
    results(
        &context,
        &[
            ("number", "Int(207)"),
            ("deep.text + pair + pairs[0]", r#"String("2.7xy")"#),
            ("pairs[1]", "no_such_key"),
            ("minor + length", "Uint(11)"),
            ("major == 2u && !first", "Bool(true)"),
        ],
    );
    let old = Version(10, 0);
    let context = WithFunctions { text: version(0), minor: version(0), first: old, pair: Pair(0, "x"), ..context };
    results(
        &context,
        &[
            ("deep.text", r#"String("stable")"#),
            ("minor", "no_such_key"),
            ("pair", "no_such_key"),
            ("first", "host"),
            ("first || number == 207", "Bool(true)"),
        ],
    );
}

#[test]
fn a_type_read_by_a_function_is_an_element() {
    #[derive(Context)]
    struct Versions {
        all: Vec<Semantic>,
        named: HashMap<String, Semantic>,
    }
    let context =
        Versions { all: vec![Semantic(Version(1, 2))], named: [("a".to_owned(), Semantic(Version(3, 4)))].into() };
    results(&context, &[("all[0] + named.a", "Int(406)")]);
}

/// Functions with the names that generated code could have for its own values.
mod names {
    use super::Version;

    pub(super) fn count(version: &Version) -> i64 {
        number(version)
    }

    pub(super) use count as arena;
    pub(super) use count as index;
    pub(super) use count as variables;

    fn number(version: &Version) -> i64 {
        super::number(version)
    }
}

use names::{arena, count, index, variables};

#[derive(Context)]
struct NamesOfGeneratedCode {
    #[context(with = count)]
    a: Version,
    #[context(with = index)]
    b: Version,
    #[context(with = arena)]
    c: Version,
    #[context(with = variables)]
    d: Version,
}

#[test]
fn functions_may_have_any_name() {
    let version = |minor| Version(1, minor);
    let context = NamesOfGeneratedCode { a: version(1), b: version(2), c: version(3), d: version(4) };
    results(&context, &[("a == 101 && b == 102 && c == 103 && d == 104", "Bool(true)")]);
}
