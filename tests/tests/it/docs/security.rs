//! The tests that `docs/security.md` names for its promises exist.

use super::{root, walk};
use std::collections::BTreeSet;

/// The names of functions and modules in the sources.
fn names() -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in ["runtime", "tests"] {
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

/// A test is named in the column `test` of a table, perhaps below its modules: `overload::queues_are_bounded`.
#[test]
fn the_tests_of_promises_exist() {
    let page = std::fs::read_to_string(root().join("docs/security.md")).unwrap();
    let names = names();
    let is_path =
        |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | ':'));
    let (mut wrong, mut checked, mut column) = (Vec::new(), 0_u32, None);
    for line in page.lines() {
        let Some(row) = line.strip_prefix('|') else {
            column = None;
            continue;
        };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        column = column.or_else(|| cells.iter().position(|cell| *cell == "test"));
        let Some(cell) = column.and_then(|column| cells.get(column)) else { continue };
        // What stands between backquotes has an odd number.
        for named in cell.split('`').skip(1).step_by(2).filter(|named| is_path(named)) {
            checked += 1;
            if !named.split("::").all(|name| names.contains(name)) {
                wrong.push(named.to_owned());
            }
        }
    }
    assert!(wrong.is_empty(), "docs/security.md names no tests: {wrong:?}");
    assert!(checked > 100, "{checked}");
}
