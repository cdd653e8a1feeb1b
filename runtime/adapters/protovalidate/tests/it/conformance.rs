//! The conformance cases of protovalidate: what `protovalidate-conformance --dump --proto` writes, as
//! `corpora/protovalidate.binpb` of the shared test data. Without it they are left out, with one line.
#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "tests")]

use crate::support::violation;
use celero_protobuf::{Payload, Records};
use celero_protovalidate::Validator;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Whether a case has the time when it was written in its message: it ends otherwise later.
fn is_timed(name: &str) -> bool {
    name.contains("/timestamp/") && (name.contains("_now") || name.contains("within"))
}

fn dump() -> Option<Vec<u8>> {
    let folder = std::env::var_os("CELERO_SHARED").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared"));
    let path = folder.join("corpora/protovalidate.binpb");
    let found = std::fs::read(&path).ok();
    if found.is_none() {
        eprintln!("left out: conformance of protovalidate ({} is not there; set CELERO_SHARED)", path.display());
    }
    found
}

fn parts(message: &[u8], number: u32) -> impl Iterator<Item = &[u8]> {
    Records::new(message).map(Result::unwrap).filter_map(move |record| match record.payload {
        Payload::Bytes(bytes) if record.number == number => Some(bytes),
        _ => None,
    })
}

fn part(message: &[u8], number: u32) -> &[u8] {
    parts(message, number).last().unwrap_or_default()
}

fn text(message: &[u8], number: u32) -> String {
    String::from_utf8(part(message, number).to_vec()).unwrap()
}

fn flag(message: &[u8], number: u32) -> bool {
    let records = Records::new(message).map(Result::unwrap).filter(|record| record.number == number);
    records.last().is_some_and(|record| record.payload == Payload::Varint(1))
}

/// The result of a case, as text that can be compared.
#[derive(Debug, PartialEq)]
enum Ended {
    Valid,
    Violations(BTreeSet<String>),
    CompileError,
    RuntimeError,
}

/// A path in the wire format, as text. Those that the cases write have one name with all parts.
fn names(path: &[u8]) -> String {
    let subscript = |element: &[u8]| {
        let found = Records::new(element).map(Result::unwrap).find(|record| record.number >= 6);
        match found.map(|record| (record.number, record.payload)) {
            Some((7, Payload::Varint(key))) => format!("[{}]", key != 0),
            Some((8, Payload::Varint(key))) => format!("[{}]", key.cast_signed()),
            Some((6 | 9, Payload::Varint(key))) => format!("[{key}]"),
            Some((10, Payload::Bytes(key))) => format!("[{:?}]", String::from_utf8(key.to_vec()).unwrap()),
            _ => String::new(),
        }
    };
    parts(path, 1).map(|element| text(element, 2) + &subscript(element)).collect::<Vec<_>>().join(".")
}

fn wanted(result: &[u8]) -> Ended {
    let Some(last) = Records::new(result).map(Result::unwrap).last() else { return Ended::Valid };
    match last.number {
        1 => Ended::Valid,
        2 => Ended::Violations(
            parts(part(result, 2), 1)
                .map(|violation| {
                    let for_key = flag(violation, 4);
                    let (field, rule) = (names(part(violation, 5)), names(part(violation, 6)));
                    format!("{} field={field} rule={rule} key={for_key}", text(violation, 2))
                })
                .collect(),
        ),
        3 => Ended::CompileError,
        _ => Ended::RuntimeError,
    }
}

fn ended(validator: Option<&Validator>, message: &[u8]) -> (Ended, String) {
    let Some(validator) = validator else { return (Ended::CompileError, String::new()) };
    match validator.validate(message) {
        Err(error) => (Ended::RuntimeError, error.to_string()),
        Ok(found) if found.is_empty() => (Ended::Valid, String::new()),
        Ok(found) => (Ended::Violations(found.iter().map(violation).collect()), String::new()),
    }
}

#[test]
fn the_conformance_cases_end_as_they_are_to() {
    let Some(dump) = dump() else { return };
    let (mut passed, mut timed, mut wrong) = (0, 0, Vec::new());
    for suite in parts(&dump, 3) {
        let (suite_name, set) = (text(suite, 1), part(suite, 5));
        let mut validators: HashMap<String, Result<Validator, String>> = HashMap::new();
        for case in parts(suite, 4) {
            let name = format!("{suite_name}/{}", text(case, 1));
            if is_timed(&name) {
                timed += 1;
                continue;
            }
            let input = part(case, 5);
            let url = text(input, 1);
            let ty = url.rsplit('/').next().unwrap_or_default().to_owned();
            let validator = validators
                .entry(ty.clone())
                .or_insert_with(|| Validator::new(set, &ty).map_err(|error| error.to_string()));
            let (own, why) = ended(validator.as_ref().ok(), part(input, 2));
            let wanted = wanted(part(case, 3));
            // The cases take one error for the other.
            let is_error = |ended: &Ended| matches!(ended, Ended::CompileError | Ended::RuntimeError);
            if own == wanted || is_error(&own) && is_error(&wanted) {
                passed += 1;
            } else {
                let why = validator.as_ref().err().unwrap_or(&why);
                wrong.push(format!("{name}\n  {own:?}, wanted {wanted:?} {why}"));
            }
        }
    }
    eprintln!("{passed} cases of protovalidate end as they are to; {timed} depend on the time and are left out");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(passed > 2_000 && timed < 40, "{passed} {timed}");
}
