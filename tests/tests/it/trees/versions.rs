//! `docs/migration/cel-go.md`: which functions the versions of cel-go's libraries have, and which of them celero has.
//! The table is written from cel-go's own declarations; `BLESS=1` writes it anew.
#![expect(clippy::string_slice, reason = "tests")]

use super::cel_go::{OF_A_MACRO, OTHER_OVERLOADS};
use crate::go_program::GoProgram;
use celero::{Engine, Type};
use celero_frontend::stdlib::TABLE;
use celero_tests::generate::messages::environment;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// Calls of the macros of cel-go's libraries; `m` is a message.
const MACROS: [(&str, &str); 15] = [
    ("bind", "cel.bind(a, 1, a) == 1"),
    ("optMap", "optional.of(1).optMap(a, a).hasValue()"),
    ("optFlatMap", "optional.of(1).optFlatMap(a, optional.of(a)).hasValue()"),
    ("sortBy", "[1].sortBy(a, -a) == [1]"),
    ("greatest", "math.greatest(1, 2) == 2"),
    ("least", "math.least(1, 2) == 1"),
    ("all", "[1].all(i, a, a > i)"),
    ("exists", "[1].exists(i, a, a > i)"),
    ("exists_one", "[1].exists_one(i, a, a > i)"),
    ("existsOne", "[1].existsOne(i, a, a > i)"),
    ("transformList", "[1].transformList(i, a, a) == [1]"),
    ("transformMap", "[1].transformMap(i, a, a) == {0: 1}"),
    ("transformMapEntry", "[1].transformMapEntry(i, a, {a: i}) == {1: 0}"),
    ("hasExt", "!proto.hasExt(m, test.two.more)"),
    ("getExt", "proto.getExt(m, test.two.more) == 0"),
];

/// What a version adds: functions that celero has, and those that it has not.
fn row(added: &BTreeMap<String, String>) -> (BTreeSet<String>, BTreeSet<String>) {
    let others: BTreeMap<&str, &str> = OTHER_OVERLOADS.into_iter().collect();
    let (mut here, mut missing) = (BTreeSet::new(), BTreeSet::new());
    for (id, name) in added {
        let own = TABLE.rows().iter().find(|row| [false, true].iter().any(|of| row.builtin.overload_id(*of) == id));
        if let Some(key) = id.strip_prefix("macro ") {
            let (_, call) = MACROS.iter().find(|(macro_name, _)| macro_name == name).unwrap_or_else(|| panic!("{key}"));
            let env = environment(&Type::message("test.two.All"));
            assert!(Engine::new().check(&env, call).is_ok(), "{call}");
            here.insert(name.clone());
        } else if let Some(own) = own {
            here.insert(own.name.trim_start_matches('@').to_owned());
        } else if others.get(&**id) != Some(&OF_A_MACRO) {
            missing.insert(name.clone());
        }
    }
    // A macro and the function that it calls have one name here.
    let of_macros: BTreeSet<String> = ["math.greatest", "math.least"].map(str::to_owned).into();
    if of_macros.iter().any(|name| here.contains(name)) {
        here.retain(|name| name != "greatest" && name != "least");
    }
    (here, missing)
}

fn shown(names: &BTreeSet<String>) -> String {
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "._".contains(c));
    let (names, operators): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| is_name(name));
    let mut words: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if !operators.is_empty() {
        words.push("operators".to_owned());
    }
    words.join(", ")
}

#[test]
fn the_table_of_versions_is_that_of_cel_go() {
    let Some(judge) = GoProgram::build_module("trees", "versions are not compared with cel-go's") else { return };
    let answers = judge.ask(&[json!({ "functions": true })]);
    let versions: BTreeMap<String, Vec<BTreeMap<String, String>>> =
        serde_json::from_value(answers[0]["versions"].clone()).unwrap();
    let mut table = "| library | version | functions and macros | not in celero |\n|---|---|---|---|\n".to_owned();
    for (library, versions) in &versions {
        for (version, added) in versions.iter().enumerate() {
            let (here, missing) = row(added);
            // Other versions have other costs only.
            if !here.is_empty() || !missing.is_empty() {
                writeln!(table, "| {library} | {version} | {} | {} |", shown(&here), shown(&missing)).unwrap();
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/migration/cel-go.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let start = page.find("| library | version |").expect("the page has the table");
    let end = start + page[start..].find("\n\n").expect("text follows the table") + 1;
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, format!("{}{table}{}", &page[..start], &page[end..])).unwrap();
    }
    assert!(page[start..end] == table || std::env::var_os("BLESS").is_some(), "run this test with BLESS=1:\n{table}");
}
