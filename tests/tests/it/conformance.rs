//! The official conformance suite in both tiers. `CEL_CONFORMANCE` names its directory (default: the shared test data),
//! `CEL_CONFORMANCE_REPORT` a file to write the report to, as JSON.

use celero::Tier;
use celero_tests::conformance::case::read_suite;
use celero_tests::conformance::report::{Report, read_list};
use celero_tests::conformance::run::Runner;
use celero_tests::conformance::verdict::{Status, judge_instead};
use celero_tests::shared;
use std::path::PathBuf;

#[test]
fn conformance() {
    let dir = std::env::var_os("CEL_CONFORMANCE").map(PathBuf::from);
    let Some(dir) = dir.or_else(|| shared::find("conformance", "the conformance suite")) else { return };
    let cases = read_suite(&dir).unwrap_or_else(|error| panic!("{error}"));
    assert!(!cases.is_empty(), "{} holds no cases", dir.display());
    let skipped = read_list(include_str!("../../conformance-skipped-files.txt")).unwrap();
    let instead = read_list(include_str!("../../conformance-other-errors.txt")).unwrap();
    let known = read_list(include_str!("../../conformance-known-failures.txt")).unwrap();
    for path in instead.keys() {
        assert!(cases.iter().any(|c| c.path() == *path), "conformance-other-errors.txt: there is no case {path}");
    }

    let mut report = Report::default();
    for (name, tier) in [("native", Tier::Native), ("interpret", Tier::Interpret)] {
        let runner = Runner::new(tier);
        for case in &cases {
            let verdict = match case.skip.as_ref().or_else(|| skipped.get(&case.file)) {
                Some(reason) => (Status::Skipped, reason.clone()),
                None => judge_instead(case, &runner.run(case), instead.get(&case.path()).map(String::as_str)),
            };
            report.add(case, name, verdict);
        }
    }
    shared::say(&report.table());
    if let Some(path) = std::env::var_os("CEL_CONFORMANCE_REPORT") {
        std::fs::write(path, serde_json::to_string_pretty(&report).unwrap()).unwrap();
    }
    let surprises = report.surprises(&known);
    assert!(surprises.is_empty(), "{} to look at:\n{}", surprises.len(), surprises.join("\n"));
}
