//! A slowdown of 5 % that is planted in one pass is found there and nowhere else, and shown on the
//! page. The rest of the run is the same build measured twice, and silent. `tests/slow_fold.patch`
//! plants one in the source of that pass, for the measurement by hand in docs/lab.md.

use super::{SHORT_RUN, counts_instructions, lab, lab_with, say, scratch};
use std::path::Path;
use std::process::Command;

/// The pass.
const STAGE: &str = "fold";

#[test]
fn the_patch_that_slows_the_pass_down_applies() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut git = Command::new("git");
    let git = git.current_dir(root).args(["apply", "--check", "benches/lab/tests/slow_fold.patch"]);
    match git.output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(why) => say(&format!("left out: the patch for the pass `{STAGE}` (git: {why})")),
    }
}

#[test]
fn a_planted_slowdown_of_five_percent_is_found_in_its_stage_alone() {
    if !counts_instructions("a planted slowdown") {
        return;
    }
    let [before, after, page] = ["unplanted.jsonl", "planted.jsonl", "planted.html"].map(scratch);
    let [before, after, page] = [&before, &after, &page].map(|path| path.to_str().unwrap());
    let plant = format!("{STAGE}=0.05");
    for (out, variables) in [(before, vec![]), (after, vec![("CELERO_LAB_PLANT", &*plant)])] {
        let arguments = [SHORT_RUN, &["--counted", "1", "--commit", "one", "--out", out]].concat();
        let measured = lab_with(&arguments, &variables);
        assert!(measured.status.success(), "{}", String::from_utf8_lossy(&measured.stderr));
    }
    let compared = lab(&["compare", before, after]);
    let table = String::from_utf8_lossy(&compared.stdout);
    say(table.trim_end());
    assert_eq!(compared.status.code(), Some(1), "{table}");
    let judged: Vec<(&str, &str)> = table
        .lines()
        .filter(|line| line.starts_with("instructions "))
        .map(|line| (line.split_whitespace().nth(1).unwrap(), line.split_whitespace().next_back().unwrap()))
        .collect();
    assert!(!judged.is_empty() && judged.iter().all(|cell| *cell == (STAGE, "WORSE")), "{table}");
    assert!(lab(&["report", before, after, "--out", page]).status.success());
    let page = std::fs::read_to_string(page).unwrap();
    let marked: Vec<&str> =
        page.split("<figure id=\"").filter(|figure| figure.contains("class=\"change worse\"")).collect();
    assert!(marked.len() == 1 && marked[0].starts_with("instructions-fold\""), "charts with a ring: {}", marked.len());
}
