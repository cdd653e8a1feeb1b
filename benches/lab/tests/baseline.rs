//! Instructions of a short run against the recorded baseline: a stage that needs more fails with a table of stage, partition and worst
//! rules. Runs where `CELERO_LAB=1` is set; `BLESS=1` as well writes the baseline anew.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

fn lab(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_celero-lab"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().unwrap()
}

fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "1")
}

#[test]
fn instructions_are_those_of_the_baseline() {
    if !set("CELERO_LAB") {
        say("left out: instructions against the baseline (set CELERO_LAB=1)");
        return;
    }
    if celero_lab::run::callgrind_version().is_none() {
        say("left out: instructions against the baseline (valgrind on x86-64 is not there)");
        return;
    }
    let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab.jsonl");
    let new = new.to_str().unwrap();
    let out = if set("BLESS") { "baseline.jsonl" } else { new };
    let measured = lab(&[
        "run",
        "sample/cel.rules",
        "sample/filter.rules",
        "--traffic",
        "sample/requests.jsonl",
        "--short",
        "--sample",
        "4",
        "--counted",
        "3",
        "--instructions-only",
        "--out",
        out,
    ]);
    assert!(measured.status.success(), "{}", String::from_utf8_lossy(&measured.stderr));
    if set("BLESS") {
        return;
    }
    let compared = lab(&["compare", "baseline.jsonl", new, "--counter", "instructions", "--fail-above", "0.03"]);
    let table = String::from_utf8_lossy(&compared.stdout);
    say(table.trim_end());
    assert!(
        compared.status.success(),
        "instructions are above the baseline; if that is meant, write it anew: CARGO_INCREMENTAL=0 CELERO_LAB=1 BLESS=1 cargo test --workspace --test baseline"
    );
}
