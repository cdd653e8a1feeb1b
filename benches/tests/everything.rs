//! The matrix of `compare --everything`: the answers of its cells, and that it is complete.

#![expect(clippy::unwrap_used, reason = "a test")]

use celero::settings::Library;
use celero_benches::everything::{Host, KINDS, agreed, builtins, cells};
use celero_frontend::macro_forms;
use celero_frontend::stdlib::{Builtin, TABLE};
use regex::Regex;
use std::collections::BTreeSet;

/// Overloads without a cell, and why.
const LEFT_OUT: &[(Builtin, &str)] = &[
    (Builtin::OptionalSelectMessage, "`compare --messages` measures messages"),
    (Builtin::Fail, "its answer is an error"),
    (Builtin::Uuid, "its answer is another one each time"),
    (Builtin::Random, "its answer is another one each time"),
];

#[test]
fn native_code_the_interpreter_and_rust_agree() {
    let cells = cells();
    let mut wrong = Vec::new();
    for host in Host::all().unwrap() {
        let asked: Vec<_> = cells.iter().filter(|cell| host.has(cell)).collect();
        for kind in host.kinds {
            assert!(asked.iter().any(|cell| cell.kind == *kind), "{}: no cell of `{kind}`", host.name);
        }
        wrong.extend(asked.into_iter().filter_map(|cell| agreed(&host, cell).err()));
    }
    assert!(wrong.is_empty(), "{} cells:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_overload_has_a_cell() {
    let called: BTreeSet<Builtin> =
        cells().iter().flat_map(|cell| builtins(&cell.source).unwrap_or_default()).collect();
    let left_out: BTreeSet<Builtin> = LEFT_OUT.iter().map(|(builtin, _)| *builtin).collect();
    let missing: Vec<_> = Builtin::ALL.iter().filter(|b| !called.contains(b) && !left_out.contains(b)).collect();
    assert!(missing.is_empty(), "no cell in benches/src/everything/functions.rs calls {missing:?}");
    assert!(called.is_disjoint(&left_out), "has a cell: {:?}", called.intersection(&left_out));
    assert_eq!(TABLE.rows().len(), Builtin::ALL.len());
    assert!(Library::ALL.iter().all(|library| TABLE.rows().iter().any(|row| row.library == *library)
        || [Library::Comprehensions, Library::Bindings].contains(library)));
}

#[test]
fn each_macro_has_a_cell() {
    let sources: Vec<String> = cells().into_iter().map(|cell| cell.source).collect();
    // `compare --messages` measures messages.
    for form in macro_forms().filter(|form| !["getExt", "hasExt"].contains(&form.name)) {
        let dot = if form.method { "." } else { "" };
        let variables = r"\w+, ".repeat(form.variables);
        let call = Regex::new(&format!(r"{}\b{}\({variables}", regex::escape(dot), form.name)).unwrap();
        let more = Regex::new(&format!(r"{}\w+, ", call.as_str())).unwrap();
        let is_there = |source: &String| call.is_match(source) && (form.variables != 1 || !more.is_match(source));
        assert!(sources.iter().any(is_there), "no cell has `{}`", form.usage);
    }
}

/// Types of the table of `FieldType` that it names in words, or by a name that is not the type's.
const IN_WORDS: &[(&str, &[&str])] = &[
    (
        "`i8` to `i64`, `isize`; `NonZero` of `i8` to `i64`",
        &["i8", "i16", "i32", "i64", "isize", "NonZero<i8>", "NonZero<i16>", "NonZero<i32>", "NonZero<i64>"],
    ),
    (
        "`u8` to `u64`, `usize`; `NonZero` of `u8` to `u64`",
        &["u8", "u16", "u32", "u64", "usize", "NonZero<u8>", "NonZero<u16>", "NonZero<u32>", "NonZero<u64>"],
    ),
    (
        "a struct that derives [`Context`](derive@crate::Context)",
        &["Upstream", "Vec<Upstream>", "Option<&'static Upstream>"],
    ),
    ("an enum or a newtype that derives [`FieldType`](derive@crate::FieldType)", &["Level", "Port"]),
    (
        "`HashSet<T>`, `BTreeSet<T>` of text, integers or `bool`",
        &["HashSet<i64>", "HashSet<String>", "BTreeSet<i64>", "BTreeSet<String>"],
    ),
    (
        "`HashMap<K, T>`, `BTreeMap<K, T>` with keys of text, integers or `bool`",
        &["HashMap<i64, i64>", "HashMap<String, String>", "BTreeMap<i64, i64>", "BTreeMap<String, String>"],
    ),
    ("`http::Uri`, `http::HeaderValue`", &["http::Uri", "http::HeaderValue"]),
    ("[`Value`]", &["Value<'static>"]),
];

/// The Rust types of the tables in the documentation of `FieldType`; `T` and `K` stand for a type, `N` for a length.
fn documented() -> Vec<String> {
    let source = include_str!("../../runtime/src/context/field_type.rs");
    let rows = source.lines().take_while(|line| !line.starts_with("pub unsafe trait"));
    let cells =
        rows.filter_map(|line| line.strip_prefix("/// |")).map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let code = Regex::new("`([^`]+)`").unwrap();
    let mut types = Vec::new();
    for row in cells.filter(|row| !row.iter().any(|cell| cell.starts_with("---"))) {
        // The second table has the feature of a crate first.
        let rust = if row.len() > 3 { row.get(1) } else { row.first() }.copied().unwrap_or_default();
        match IN_WORDS.iter().find(|(words, _)| *words == rust) {
            Some((_, named)) => types.extend(named.iter().map(ToString::to_string)),
            None => types.extend(code.captures_iter(rust).map(|found| found.get(1).unwrap().as_str().to_owned())),
        }
    }
    types
}

/// The text of a type without spaces, lifetimes and paths.
fn plain(rust: &str) -> String {
    Regex::new(r"\s|'\w+|\w+::|crate::").unwrap().replace_all(rust, "").replace("<>", "").replace("<,", "<")
}

#[test]
fn each_type_of_a_field_has_a_kind() {
    let measured = KINDS.iter().filter(|kind| kind.class != "nothing");
    let kinds: Vec<String> = measured.map(|kind| plain(kind.rust)).collect();
    let documented = documented();
    assert!(documented.len() > 60, "the table of `FieldType` has another form: {documented:?}");
    let (element, length) = (Regex::new(r"\b[TK]\b").unwrap(), Regex::new(r"\bN\b").unwrap());
    for rust in documented {
        let pattern = regex::escape(&plain(&rust));
        let pattern = length.replace_all(&element.replace_all(&pattern, "i64"), r"\d+").into_owned();
        let pattern = Regex::new(&format!("^{pattern}(<.+>)?$")).unwrap();
        assert!(
            kinds.iter().any(|kind| pattern.is_match(kind)),
            "no kind in benches/src/everything/fields.rs is a `{rust}`"
        );
    }
}
