//! Instructions of a short run against the recorded baseline: a stage that needs more fails with a
//! table of stage, partition and worst rules. Runs where `CELERO_LAB=1` is set; `BLESS=1` as well
//! writes the baseline anew. `planted.rs`: a slowdown that is there is found; `bisect.rs`: so is
//! its commit.

#![expect(clippy::unwrap_used, reason = "tests")]

mod bisect;
mod planted;

use celero_lab::results::record::Run;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The exit code of a comparison of runs that can't be compared.
const INCOMPARABLE: i32 = 3;

fn lab(arguments: &[&str]) -> Output {
    lab_with(arguments, &[])
}

fn lab_with(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_celero-lab"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).envs(variables.iter().copied()).output().unwrap()
}

/// Whether instructions can be counted here and are to be; else says what is left out.
fn counts_instructions(what: &str) -> bool {
    if !set("CELERO_LAB") {
        say(&format!("left out: {what} (set CELERO_LAB=1)"));
        return false;
    }
    let valgrind = celero_lab::run::callgrind_version().is_some();
    if !valgrind {
        say(&format!("left out: {what} (valgrind on x86-64 is not there)"));
    }
    valgrind
}

fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "1")
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn baseline() -> Vec<Run> {
    Run::read_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("baseline.jsonl")).unwrap()
}

/// `.ci/run` builds without increments, and figures of incremental builds are not compared with those of others.
fn assert_not_incremental() {
    for run in baseline() {
        let features = &run.info.build.features;
        assert!(
            !features.iter().any(|feature| feature == "incremental"),
            "the baseline is that of an incremental build: write it anew with the command in docs/lab.md"
        );
    }
}

#[test]
fn the_baseline_is_that_of_a_build_as_continuous_integration_has_it() {
    if set("CELERO_LAB") && set("BLESS") {
        say("left out: the build of the baseline (it is being written anew)");
        return;
    }
    assert_not_incremental();
}

#[test]
fn runs_that_can_not_be_compared_have_an_exit_code_of_their_own() {
    let mut runs = baseline();
    let files = ["one.jsonl", "other.jsonl"].map(scratch);
    for (file, profile) in files.iter().zip(["one", "other"]) {
        runs[0].info.build.profile = profile.to_owned();
        runs[0].write(&mut std::fs::File::create(file).unwrap()).unwrap();
    }
    let [one, other] = files.each_ref().map(|file| file.to_str().unwrap());
    let compared = lab(&["compare", one, other]);
    assert_eq!(compared.status.code(), Some(INCOMPARABLE));
    let why = "not compared: the runs have different values of profile: `one` and `other`\n";
    assert_eq!(String::from_utf8_lossy(&compared.stdout), why);
    assert_eq!(lab(&["compare", one, one]).status.code(), Some(0));
    assert_eq!(lab(&["compare", one, other, "--force"]).status.code(), Some(0));
}

/// A short run on the rules in `sample`, but for how often and where to.
const SHORT_RUN: &[&str] = &[
    "run",
    "sample/cel.rules",
    "sample/filter.rules",
    "--traffic",
    "sample/requests.jsonl",
    "--short",
    "--sample",
    "4",
    "--instructions-only",
];

#[test]
fn instructions_are_those_of_the_baseline() {
    if !counts_instructions("instructions against the baseline") {
        return;
    }
    let new = scratch("lab.jsonl");
    let new = new.to_str().unwrap();
    let out = if set("BLESS") { "baseline.jsonl" } else { new };
    let measured = lab(&[SHORT_RUN, &["--counted", "3", "--out", out]].concat());
    assert!(measured.status.success(), "{}", String::from_utf8_lossy(&measured.stderr));
    if set("BLESS") {
        assert_not_incremental();
        return;
    }
    let compared = lab(&["compare", "baseline.jsonl", new, "--counter", "instructions", "--fail-above", "0.03"]);
    let table = String::from_utf8_lossy(&compared.stdout);
    if compared.status.code() == Some(INCOMPARABLE) {
        say(&format!(
            "left out: instructions against the baseline ({}); docs/lab.md says how to write one for this machine",
            table.trim_end()
        ));
        return;
    }
    say(table.trim_end());
    assert!(
        compared.status.success(),
        "instructions are above the baseline; if that is meant, write it anew with the command in docs/lab.md"
    );
}
