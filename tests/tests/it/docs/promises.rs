//! The tests that `docs/security.md` and `docs/reliability.md` name for their promises exist, and so do the packages of
//! the commands that run them.

use super::{root, walk};
use crate::tidy::packages;
use std::collections::BTreeSet;

/// The names of functions and modules in the sources.
fn names() -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in ["runtime", "tests", "jit", "benches"] {
        walk(&root().join(folder), "rs", &mut files);
    }
    let mut found = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | '<' | ';')).collect();
        let declared = words.windows(2).filter(|pair| matches!(pair.first(), Some(&("fn" | "mod"))));
        found.extend(declared.filter_map(|pair| pair.last()).map(|name| (*name).to_owned()));
    }
    found
}

/// The names in the column `test` of the tables of a page, perhaps below their modules: `overload::queues_are_bounded`.
fn named_tests(page: &str) -> Vec<String> {
    let is_path =
        |text: &&str| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | ':'));
    let (mut found, mut column) = (Vec::new(), None);
    for line in page.lines() {
        let Some(row) = line.strip_prefix('|') else {
            column = None;
            continue;
        };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        column = column.or_else(|| cells.iter().position(|cell| *cell == "test"));
        let Some(cell) = column.and_then(|column| cells.get(column)) else { continue };
        // What stands between backquotes has an odd number.
        found.extend(cell.split('`').skip(1).step_by(2).filter(is_path).map(str::to_owned));
    }
    found
}

#[test]
fn the_tests_of_promises_exist() {
    let names = names();
    for (page, least) in [("docs/security.md", 100), ("docs/reliability.md", 40)] {
        let named = named_tests(&std::fs::read_to_string(root().join(page)).unwrap());
        assert!(named.len() > least, "{page}: {}", named.len());
        let wrong: Vec<_> = named.iter().filter(|path| !path.split("::").all(|name| names.contains(name))).collect();
        assert!(wrong.is_empty(), "{page} names no tests: {wrong:?}");
    }
}

#[test]
fn the_packages_of_commands_exist() {
    let packages = packages();
    let names: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    for page in ["docs/reliability.md", "tests/README.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || matches!(c, '`' | ',' | ')')).collect();
        let options = words.windows(2).filter(|pair| matches!(pair.first(), Some(&("-p" | "--package"))));
        let named: Vec<&str> = options.filter_map(|pair| pair.last().copied()).collect();
        assert!(named.len() > 3, "{page}: {named:?}");
        let wrong: Vec<_> = named.iter().filter(|name| !names.contains(*name)).collect();
        assert!(wrong.is_empty(), "{page} names no packages: {wrong:?}");
    }
}
