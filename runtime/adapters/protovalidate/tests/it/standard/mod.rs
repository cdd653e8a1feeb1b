//! Every standard rule, with messages that it accepts and refuses. The rules are those of `rules.rs`; with
//! `CELERO_VALIDATE_PROTO`, the path of a whole `buf/validate/validate.proto`, those of that file too, and then the
//! table is compared with it.
#![expect(clippy::arithmetic_side_effects, clippy::print_stderr, clippy::unwrap_used, clippy::panic, reason = "tests")]

mod numbers;
mod other_types;
mod rules;
mod texts;

pub(crate) use rules::proto;

use crate::support::{Set, found};
use celero::{Engine, Tier};
use celero_protovalidate::Validator;
use rules::{kinds, message_of};
use std::collections::BTreeSet;

/// Where the file with the rules is imported from.
pub(crate) const PATH: &str = "buf/validate/validate.proto";

/// Values for a field with rules.
pub(crate) struct Case {
    /// The field of `FieldRules`.
    kind: &'static str,
    /// The type of the field.
    ty: String,
    /// The rules of the kind, in the text format.
    rules: String,
    /// Values of the message with the field `v`, in the text format.
    valid: Vec<String>,
    /// Values with the identifiers of what they violate, without the kind.
    invalid: Vec<(String, &'static str)>,
}

/// A case of a field with a value that is written `v: VALUE`.
fn case(kind: &'static str, ty: &str, rules: &str, valid: &[&str], invalid: &[(&str, &'static str)]) -> Case {
    let value = |value: &&str| format!("v: {value}");
    Case {
        kind,
        ty: ty.to_owned(),
        rules: rules.to_owned(),
        valid: valid.iter().map(value).collect(),
        invalid: invalid.iter().map(|(text, id)| (value(text), *id)).collect(),
    }
}

fn cases() -> Vec<Case> {
    [numbers::cases(), texts::cases(), other_types::cases()].into_iter().flatten().collect()
}

/// The words of a text, such as the names of rules.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[test]
fn every_rule_has_cases() {
    let cases = cases();
    let mut missing = Vec::new();
    for kind in kinds() {
        let of_kind: Vec<&Case> = cases.iter().filter(|case| case.kind == kind.name).collect();
        for rule in &kind.rules {
            let with_rule = || of_kind.iter().filter(|case| words(&case.rules).any(|word| word == rule.name));
            if with_rule().all(|case| case.valid.is_empty()) {
                missing.push(format!("{}.{}: nothing valid", kind.name, rule.name));
            }
            // An example refuses nothing.
            for (id, _) in rule.ids.iter().filter(|_| rule.name != "example") {
                let is_refused = |case: &&Case| case.invalid.iter().any(|(_, found)| found == id);
                if !with_rule().any(is_refused) {
                    missing.push(format!("{}.{id}: nothing invalid", kind.name));
                }
            }
            if rule.ids.is_empty() && with_rule().all(|case| case.invalid.is_empty()) {
                missing.push(format!("{}.{}: nothing invalid", kind.name, rule.name));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// What a case expects: the violation of a rule of the field, or what it writes.
fn expected(case: &Case, id: &str) -> String {
    if id.contains(' ') {
        return id.to_owned();
    }
    let kind = kinds().into_iter().find(|kind| kind.name == case.kind).unwrap();
    let rule = kind.rules.iter().find(|rule| rule.ids.iter().any(|(known, _)| known == id));
    let rule = rule.unwrap_or_else(|| panic!("{} has no rule {id}", case.kind)).name;
    format!("{0}.{id} field=v rule={0}.{rule} key=false", case.kind)
}

fn set_of_cases(folder: &str, validate: &str, cases: &[Case]) -> Set {
    let mut file = format!("syntax = \"proto3\";\npackage cases;\nimport \"{PATH}\";\n");
    for name in ["any", "duration", "field_mask", "timestamp", "wrappers"] {
        file.push_str(&format!("import \"google/protobuf/{name}.proto\";\n"));
    }
    file.push_str("enum E { ZERO = 0; ONE = 1; TWO = 2; }\n");
    for (number, Case { kind, ty, rules, .. }) in cases.iter().enumerate() {
        let option = format!("(buf.validate.field) = {{ {kind}: {{ {rules} }} }}");
        file.push_str(&format!("message C{number} {{ {ty} v = 1 [{option}]; }}\n"));
    }
    Set::of(folder, &[(PATH, validate), ("cases.proto", &file)])
}

fn run(folder: &str, validate: &str) {
    let cases = cases();
    let set = set_of_cases(folder, validate, &cases);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (number, case) in cases.iter().enumerate() {
        let name = format!("cases.C{number}");
        for tier in [Tier::Native, Tier::Interpret] {
            let engine = Engine::builder().tier(tier).build();
            let validator = Validator::with_engine(&engine, &set.bytes, &name);
            let validator = validator.unwrap_or_else(|error| panic!("{} {{ {} }}: {error}", case.kind, case.rules));
            let valid = case.valid.iter().map(|text| (text, Vec::new()));
            let invalid = case.invalid.iter().map(|(text, id)| (text, vec![expected(case, id)]));
            for (text, expected) in valid.chain(invalid) {
                let found = found(&validator, &set.message(&name, text));
                count += 1;
                if found != expected {
                    wrong.push(format!("{} {{ {} }} {text}: {found:?}, not {expected:?}", case.kind, case.rules));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 1_000, "{count}");
}

#[test]
fn every_rule_accepts_and_refuses_what_it_is_for() {
    run("standard", &proto());
}

/// The whole file, if it is there.
pub(crate) fn whole_file() -> Option<String> {
    let path = std::env::var_os("CELERO_VALIDATE_PROTO");
    if path.is_none() {
        eprintln!("left out: the whole validate.proto (CELERO_VALIDATE_PROTO does not name it)");
    }
    path.map(|path| std::fs::read_to_string(path).unwrap())
}

#[test]
fn the_whole_file_accepts_and_refuses_the_same() {
    if let Some(whole) = whole_file() {
        run("standard-whole", &whole);
    }
}

/// The fields of the messages with rules, and the identifiers of the rules in them.
fn facts(set: &Set) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut facts = BTreeSet::new();
    let all = set.pool.get_message_by_name("buf.validate.FieldRules").unwrap();
    for field in all.fields() {
        facts.insert(format!("{} {} {:?}", field.name(), field.number(), field.kind()));
    }
    for kind in kinds() {
        let message = set.pool.get_message_by_name(&format!("buf.validate.{}", message_of(kind.name))).unwrap();
        for field in message.fields() {
            let kind_of = (field.kind(), field.cardinality() == protox::prost_reflect::Cardinality::Repeated);
            facts.insert(format!("{} {} {} {kind_of:?}", message.name(), field.name(), field.number()));
        }
    }
    // Identifiers stand in the options, which the pool does not read.
    let text = String::from_utf8_lossy(&set.bytes);
    let is_id = |word: &&str| kinds().iter().any(|kind| word.starts_with(&format!("{}.", kind.name)));
    let ids = text.split(|c: char| !c.is_ascii_alphanumeric() && !"._".contains(c)).filter(is_id);
    (facts, ids.map(str::to_owned).collect())
}

#[test]
fn the_table_is_that_of_the_whole_file() {
    let Some(whole) = whole_file() else { return };
    let import = format!("syntax = \"proto3\";\nimport \"{PATH}\";\n");
    let [own, whole] = [("table", proto()), ("table-whole", whole)]
        .map(|(folder, validate)| facts(&Set::of(folder, &[(PATH, &validate), ("all.proto", &import)])));
    let differ = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        one.symmetric_difference(other).cloned().collect::<Vec<_>>().join("\n")
    };
    assert_eq!(differ(&own.0, &whole.0), "");
    assert_eq!(differ(&own.1, &whole.1), "");
}
