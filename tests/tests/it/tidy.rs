//! The house rules that a compiler does not check: who depends on whom, where `unsafe` stands, how long files are.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// For each crate of the workspace the others it may know. Tests and benches may know all.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("celero-ir", &[]),
    ("celero-frontend", &[]),
    ("celero-jit", &["celero-ir"]),
    ("celero-derive", &[]),
    ("celero-matching", &[]),
    ("celero", &["celero-derive", "celero-frontend", "celero-ir", "celero-jit", "celero-matching"]),
    ("celero-policy", &["celero"]),
    ("celero-cli", &["celero", "celero-policy"]),
    ("celero-tower", &["celero-policy"]),
    ("celero-pingora", &["celero-policy"]),
    ("celero-proxy", &["celero-pingora", "celero-policy"]),
];

#[test]
fn dependencies_point_one_way() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata");
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() >= 8, "the workspace is not complete");
    for (name, allowed) in MAY_KNOW {
        let package = packages.iter().find(|p| p["name"] == *name).unwrap_or_else(|| panic!("no crate {name}"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let (known, kind) = (dependency["name"].as_str().unwrap(), &dependency["kind"]);
            if known.starts_with("celero") && kind.is_null() {
                assert!(allowed.contains(&known), "{name} must not depend on {known}");
            }
        }
    }
}

/// Every Rust file of the workspace, by its path from the root.
fn sources() -> BTreeMap<String, String> {
    fn walk(dir: &Path, root: &Path, found: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                walk(&path, root, found);
            } else if name.ends_with(".rs") {
                let key = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                found.insert(key, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&root(), &root(), &mut found);
    assert!(found.len() > 50, "the sources were not found");
    found
}

fn is_product(path: &str) -> bool {
    !path.starts_with("tests/") && !path.starts_with("benches/") && !path.contains("/tests/")
}

/// Where `unsafe` may stand. The derive writes it into its user's code; the files of `context` and `http` promise
/// layouts with `unsafe impl` alone.
const UNSAFE: &[&str] = &[
    "runtime/src/accessors/",
    "runtime/matching/src/ascii.rs",
    "runtime/matching/src/json_simd.rs",
    "runtime/matching/src/search/mod.rs",
    "runtime/matching/src/search/scan.rs",
    "runtime/matching/src/search/tests.rs",
    "runtime/matching/src/search/vector.rs",
    "runtime/src/native/",
    "jit/src/code_memory.rs",
    "jit/src/entry.rs",
    "jit/src/profile/marker.rs",
    "runtime/derive/src/",
];
const UNSAFE_IMPL: &[&str] = &["runtime/src/bindings.rs", "runtime/src/context/", "runtime/src/http"];

fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.starts_with("//") && !line.starts_with("* ")
}

#[test]
fn unsafe_stands_where_the_design_says() {
    for (path, text) in sources().iter().filter(|(path, _)| is_product(path)) {
        for (i, line) in text.lines().enumerate().filter(|(_, line)| is_code(line)) {
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            if !words.clone().any(|w| w == "unsafe") || UNSAFE.iter().any(|p| path.starts_with(p)) {
                continue;
            }
            let declares =
                line.contains("unsafe impl") || line.contains("unsafe trait") || line.contains("unsafe extern");
            let allowed = declares && UNSAFE_IMPL.iter().any(|p| path.starts_with(p));
            assert!(allowed, "{path}:{}: `unsafe` has no place here: {line}", i + 1);
        }
    }
}

/// Tables may be long.
const TABLES: &[&str] = &["frontend/src/stdlib/table.rs", "ir/src/helper.rs"];

#[test]
fn files_answer_one_question() {
    let sources = sources();
    let mut lengths: Vec<usize> = Vec::new();
    for (path, text) in &sources {
        let lines = text.lines().count();
        lengths.push(lines);
        assert!(lines <= 800 || TABLES.contains(&path.as_str()), "{path} has {lines} lines; the most is 800");
        let first = text.lines().next().unwrap_or_default();
        let placed = path.contains("/ui/") || path.contains("compile_fail");
        assert!(first.starts_with("//!") || placed, "{path} does not open with what it is for");
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= 250, "the median file has {median} lines; it should stay under 250");
}

#[test]
fn nothing_is_ignored_or_left_to_do() {
    for (path, text) in sources().iter().filter(|(path, _)| !path.ends_with("tidy.rs")) {
        for marker in ["#[ignore", "todo!(", "unimplemented!(", "FIXME", "XXX"] {
            assert!(!text.contains(marker), "{path} has {marker}");
        }
    }
}
