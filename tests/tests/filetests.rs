//! Runs `tests/filetests/**/*.cel` and `*.filter`, a test for each file; `BLESS=1` rewrites what is expected.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero_frontend::filter::FILTER_CODES;
use celero_frontend::{CHECKER_CODES, PARSER_CODES, Stage};
use celero_tests::filetest::{self, Arms};
use celero_tests::filter::file_test;
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "cel" || e == "filter") {
            found.push(path);
        }
    }
}

/// An expectation that does not hold must be noticed.
fn a_wrong_expectation_fails(arms: &Arms) -> Result<(), Failed> {
    let cases = [
        ("cel", "--- table\n1 + 1 => 3\n", "- 1 + 1 => 3", "+ 1 + 1 => 2"),
        ("filter", "fields:\n  a: Bool\n\n--- table\nnot a => false\n", "- not a => false", "+ not a => true"),
    ];
    for (extension, text, wrong, right) in cases {
        let path = std::env::temp_dir().join(format!("celero-filetest-{}.{extension}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let result = run(&path, arms, false);
        std::fs::remove_file(&path).unwrap();
        match result {
            Err(text) if text.contains(wrong) && text.contains(right) => {}
            other => return Err(format!("{other:?}").into()),
        }
    }
    Ok(())
}

fn run(path: &Path, arms: &Arms, bless: bool) -> Result<(), String> {
    if path.extension().is_some_and(|e| e == "filter") {
        file_test::run(path, bless)
    } else {
        filetest::run(path, arms, bless)
    }
}

/// What authors may be told is shown in some file; the bounds, which need long sources, aside.
fn every_code_is_shown(files: &[PathBuf]) -> Result<(), Failed> {
    let text: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let cel = PARSER_CODES.iter().chain(CHECKER_CODES).filter(|info| info.stage != Stage::Limit);
    // File tests declare no named lists for CEL: `frontend/tests/it/check/reports.rs` shows their codes.
    let cel = cel.filter(|info| !["unknown-list", "list-use"].contains(&info.code));
    let codes = cel.chain(FILTER_CODES);
    let missing: Vec<&str> =
        codes.map(|info| info.code).filter(|code| !text.contains(&format!("[{code}]: "))).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("no file shows {missing:?}").into()) }
}

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests");
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let arms = Arc::new(Arms::new());
    let mut found = Vec::new();
    files(&root, &mut found);
    assert!(found.len() > 40, "the file tests were not found");
    let all = found.clone();
    let mut trials: Vec<Trial> = found
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap().with_extension("").display().to_string();
            let arms = Arc::clone(&arms);
            Trial::test(name, move || run(&path, &arms, bless).map_err(Failed::from))
        })
        .collect();
    trials.push(Trial::test("a_wrong_expectation_fails", move || a_wrong_expectation_fails(&arms)));
    trials.push(Trial::test("every_code_is_shown", move || every_code_is_shown(&all)));
    libtest_mimic::run(&arguments, trials).exit();
}
