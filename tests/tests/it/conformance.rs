//! The official conformance suite in both tiers. `CEL_CONFORMANCE` names its directory (default: the shared test data),
//! `CEL_CONFORMANCE_REPORT` a file to write the report to, as JSON. Relative paths start at the root of the repository.

use celero_tests::conformance::suite::{Lists, Suite};
use celero_tests::shared;
use std::path::{Path, PathBuf};

fn path(variable: &str) -> Option<PathBuf> {
    let given = std::env::var_os(variable)?;
    Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(given))
}

#[test]
fn conformance() {
    let dir = path("CEL_CONFORMANCE");
    let Some(dir) = dir.or_else(|| shared::find("conformance", "the conformance suite")) else { return };
    let suite = Suite::read(&dir).unwrap_or_else(|error| panic!("CEL_CONFORMANCE: {error}"));
    let lists = Lists::load().unwrap_or_else(|error| panic!("{error}"));
    let report = suite.run(&lists);
    shared::say(&report.table());
    for line in suite.unused(&lists) {
        shared::say(&line);
    }
    if let Some(path) = path("CEL_CONFORMANCE_REPORT") {
        std::fs::write(path, serde_json::to_string_pretty(&report).unwrap()).unwrap();
    }
    let surprises = report.surprises(&lists.known_failures);
    assert!(surprises.is_empty(), "{} to look at:\n{}", surprises.len(), surprises.join("\n"));
}
