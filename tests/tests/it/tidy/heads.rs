//! What the heads of files and the pages for contributors say: each invariant names a test that
//! exists, each path leads somewhere, and lists of rooms are in the order of their dependencies.
//!
//! An invariant is a paragraph of a head: `Invariant:`, what always holds, `Test:`, and a path with
//! the name of a test function.

use super::imports::references;
use super::{root, source_folders, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The pages whose paths are checked.
const PAGES: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md"];

/// The most words of `ARCHITECTURE.md`, so that a newcomer reads all of it.
const MAX_WORDS: usize = 2_500;

/// The lines at the beginning of a file that document it, without their signs.
fn head(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim)
}

/// The paragraphs of a head that begin with `Invariant:`, each on one line.
fn invariants(text: &str) -> Vec<String> {
    let lines: Vec<&str> = head(text).collect();
    let paragraphs = lines.split(|line| line.is_empty()).map(|paragraph| paragraph.join(" "));
    paragraphs.filter(|paragraph| paragraph.starts_with("Invariant:")).collect()
}

/// Whether a file has a test function of this name.
fn has_test(text: &str, name: &str) -> bool {
    let declaration = format!("fn {name}(");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.iter().enumerate().any(|(at, line)| {
        let above = lines[..at].iter().rev().take_while(|above| above.starts_with("#[") || above.starts_with("//"));
        line.contains(&declaration) && above.clone().any(|above| above.starts_with("#[") && above.contains("test"))
    })
}

/// Says what is wrong with an invariant.
fn fault(invariant: &str, sources: &BTreeMap<String, String>) -> Option<String> {
    let form = "it must be `Invariant: <sentences>. Test: <path>.rs::<function>.`, with the test in backquotes";
    let Some((statement, test)) = invariant.split_once(" Test: ") else { return Some(form.to_owned()) };
    let test = test.strip_prefix('`').and_then(|test| test.strip_suffix("`.")).and_then(|test| test.split_once("::"));
    let (Some((path, function)), true) = (test, statement.ends_with('.')) else { return Some(form.to_owned()) };
    match sources.get(path) {
        None => Some(format!("there is no file {path}")),
        Some(text) if !has_test(text, function) => Some(format!("{path} has no test `{function}`")),
        Some(_) => None,
    }
}

#[test]
fn every_invariant_names_its_test() {
    let sources = sources();
    let (mut count, mut faults) = (0_usize, Vec::new());
    for (path, text) in sources.iter().filter(|(path, _)| !path.contains("/tidy/")) {
        let found = invariants(text);
        count += found.len();
        let said = text.lines().filter(|line| line.trim_start().starts_with("//") && line.contains("Invariant: "));
        if said.count() != found.len() {
            faults.push(format!("{path}: an invariant is a paragraph of the head of its file"));
        }
        faults.extend(found.iter().filter_map(|one| Some(format!("{path}: {}: {one}", fault(one, &sources)?))));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count >= 100, "{count} invariants");
}

#[test]
fn faulty_invariants_are_found() {
    let file = "#[test]\nfn is_one() {}\nfn helper() {}\n";
    let sources = BTreeMap::from([("a/b.rs".to_owned(), file.to_owned())]);
    let fault_of = |text: &str| {
        let found = invariants(&format!("//! A file.\n//!\n//! Invariant: {text}\n\nuse std;\n"));
        assert_eq!(found.len(), 1);
        fault(&found[0], &sources).unwrap_or_default()
    };
    assert_eq!(fault_of("one is\n//! one. Test:\n//! `a/b.rs::is_one`."), "");
    assert_eq!(fault_of("one is one. Test: `a/b.rs::is_two`."), "a/b.rs has no test `is_two`");
    assert_eq!(fault_of("one is one. Test: `a/b.rs::helper`."), "a/b.rs has no test `helper`");
    assert_eq!(fault_of("one is one. Test: `b.rs::is_one`."), "there is no file b.rs");
    for text in ["one is one.", "one is one Test: `a/b.rs::is_one`.", "one is one. Test: a/b.rs::is_one."] {
        assert!(fault_of(text).starts_with("it must be"), "{text}");
    }
}

/// Each path that a path with alternatives in braces stands for: `a/{b,c}.rs`.
fn alternatives(path: &str) -> Vec<String> {
    let braces = path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (inside, after))) = braces else { return vec![path.to_owned()] };
    inside.split(',').flat_map(|part| alternatives(&format!("{before}{part}{after}"))).collect()
}

/// A text without its blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The paths in a text: what stands in backquotes, has a slash, and ends with `.rs` or a slash.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let named = quoted.map(|quoted| quoted.split("::").next().unwrap_or_default());
    named.filter(|path| {
        let is_path = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-{},".contains(c));
        let is_file = path.ends_with(".rs") && path.contains('/');
        is_path && !path.starts_with('/') && (is_file || path.ends_with('/'))
    })
}

/// Whether a path leads somewhere from a folder or one of those around it, up to the root.
fn exists(path: &str, folder: &Path) -> bool {
    alternatives(path).iter().all(|path| folder.ancestors().any(|folder| root().join(folder).join(path).exists()))
}

#[test]
fn paths_lead_somewhere() {
    let (mut count, mut wrong) = (0_usize, Vec::new());
    let mut check = |file: &str, text: &str| {
        for path in paths(text) {
            count += 1;
            if !exists(path, Path::new(file).parent().unwrap()) {
                wrong.push(format!("{file} names {path}"));
            }
        }
    };
    for (file, text) in sources() {
        check(&file, &prose(&head(&text).collect::<Vec<_>>().join(" ")));
    }
    for page in PAGES {
        check(page, &prose(&std::fs::read_to_string(root().join(page)).unwrap()));
    }
    assert!(wrong.is_empty(), "there are no such files:\n{}", wrong.join("\n"));
    assert!(count >= 300, "{count} paths");
    assert!(!exists("runtime/no/such.rs", Path::new("runtime/src")));
    assert_eq!(alternatives("a/{b,c/d}.rs"), ["a/b.rs", "a/c/d.rs"]);
}

/// The folders in the table below `# Rooms` of a head, in its order.
fn rooms(text: &str) -> Vec<&str> {
    let rows = head(text).skip_while(|line| *line != "# Rooms").filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
        .map(|folder| folder.trim_end_matches('/'))
        .collect()
}

#[test]
fn rooms_are_listed_in_the_order_of_their_dependencies() {
    let sources = sources();
    let (mut lists, mut faults) = (0_usize, Vec::new());
    for (name, src) in source_folders() {
        let rooms = sources.get(&format!("{src}lib.rs")).map_or_else(Vec::new, |text| rooms(text));
        if rooms.is_empty() {
            continue;
        }
        lists += 1;
        let listed: BTreeSet<&str> = rooms.iter().copied().collect();
        let folders: BTreeSet<&str> = sources
            .keys()
            .filter_map(|path| path.strip_prefix(&src)?.split_once('/'))
            .map(|(folder, _)| folder)
            .collect();
        assert_eq!(listed, folders, "the rooms of {name} are the folders of {src}");
        let place = |module: &[String]| rooms.iter().position(|room| module.first().is_some_and(|first| first == room));
        for reference in references(&src, &sources) {
            if let (Some(from), Some(to)) = (place(&reference.from), place(&reference.to))
                && from < to
            {
                let (from, to) = (rooms[from], rooms[to]);
                faults.push(format!("{name}: {from} is above {to}: {}:{}", reference.file, reference.line));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(lists >= 2, "{lists} lists");
}

#[test]
fn the_map_is_short() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let words = text.split_whitespace().count();
    assert!(words <= MAX_WORDS, "ARCHITECTURE.md has {words} words; the most is {MAX_WORDS}");
    assert!(!text.contains("**Invariant"), "an invariant stands in the head of the file that keeps it");
}

/// The interpreter judges native code, so it must not use what makes it.
#[test]
fn the_interpreter_shares_only_the_library() {
    let is_interpreter =
        |path: &str| path.starts_with("runtime/src/interpret/") || path == "runtime/src/filter/interpret.rs";
    let files: Vec<_> = sources().into_iter().filter(|(path, _)| is_interpreter(path)).collect();
    assert!(files.len() > 5, "{} files", files.len());
    for (path, text) in files {
        for used in ["celero_ir", "celero_jit", "crate::lower", "crate::native", "super::lower"] {
            assert!(!text.contains(used), "{path} uses {used}");
        }
    }
}
