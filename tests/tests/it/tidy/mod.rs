//! Rules of the repository that a compiler does not check: which crates and modules depend on
//! which, where `unsafe` stands, how long files are, what their heads say.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

mod cycles;
mod heads;
mod imports;
mod languages;
mod packaging;
mod prose;
mod public_names;
mod tokens;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// For each crate of the workspace the others it may know. Tests and benches may know all.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("celero-book", &[]),
    ("celero-timing", &[]),
    ("celero-ir", &[]),
    ("celero-frontend", &[]),
    ("celero-jit", &["celero-ir"]),
    ("celero-derive", &[]),
    ("celero-matching", &[]),
    ("celero-canonical", &[]),
    ("celero-limits", &[]),
    ("celero-protobuf", &[]),
    ("celero-lists", &["celero-matching"]),
    (
        "celero",
        &[
            "celero-canonical",
            "celero-derive",
            "celero-frontend",
            "celero-ir",
            "celero-jit",
            "celero-lists",
            "celero-matching",
            "celero-protobuf",
        ],
    ),
    ("celero-policy", &["celero", "celero-canonical", "celero-limits", "celero-lists"]),
    ("celero-cel-policy", &["celero", "celero-policy"]),
    ("celero-protovalidate", &["celero", "celero-protobuf"]),
    ("celero-tooling", &["celero", "celero-policy"]),
    ("celero-lsp", &["celero", "celero-policy", "celero-tooling"]),
    ("celero-serve", &["celero", "celero-policy", "celero-tooling"]),
    (
        "celero-cli",
        &[
            "celero",
            "celero-cel-policy",
            "celero-lists",
            "celero-lsp",
            "celero-policy",
            "celero-serve",
            "celero-tooling",
        ],
    ),
    ("celero-tower", &["celero-policy"]),
    ("celero-pingora", &["celero-policy"]),
    ("celero-proxy", &["celero-lists", "celero-pingora", "celero-policy"]),
];

/// The packages of the workspace, as cargo describes them.
pub(crate) fn packages() -> Vec<serde_json::Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Name and source folder of each package, as a path from the root with a slash at the end.
fn source_folders() -> Vec<(String, String)> {
    let folder = |package: &serde_json::Value| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap().strip_prefix(root().canonicalize().unwrap()).unwrap();
        (package["name"].as_str().unwrap().to_owned(), format!("{}/src/", folder.display()))
    };
    packages().iter().map(folder).collect()
}

#[test]
fn dependencies_point_one_way() {
    let packages = packages();
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
    "runtime/limits/src/prefetch.rs",
    "runtime/matching/src/ascii.rs",
    "runtime/matching/src/json_simd.rs",
    "runtime/matching/src/literals/few/x86.rs",
    "runtime/matching/src/literals/vector.rs",
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
const UNSAFE_IMPL: &[&str] = &["runtime/src/env/bindings.rs", "runtime/src/context/", "runtime/src/http/"];

fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.starts_with("//") && !line.starts_with("* ")
}

#[test]
fn unsafe_stands_where_the_design_says() {
    for (path, text) in sources().iter().filter(|(path, _)| is_product(path)) {
        for (i, line) in text.lines().enumerate().filter(|(_, line)| is_code(line)) {
            // `'unsafe-inline'` is a word of content security policies.
            let words = line.split(|c: char| !c.is_alphanumeric() && !"_-".contains(c));
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

/// Tables may be long and wide.
const TABLES: &[&str] = &["frontend/src/stdlib/table.rs", "ir/src/helper.rs"];

/// Most lines of a file, and of the median file.
const MAX_LINES: usize = 500;
const MAX_LINES_OF_MEDIAN: usize = 200;

#[test]
fn files_hold_one_idea() {
    let sources = sources();
    let mut lengths: Vec<usize> = Vec::new();
    for (path, text) in &sources {
        let lines = text.lines().count();
        lengths.push(lines);
        let may_be_long = TABLES.contains(&path.as_str());
        assert!(lines <= MAX_LINES || may_be_long, "{path} has {lines} lines; the most is {MAX_LINES}");
        let first = text.lines().next().unwrap_or_default();
        let is_expected_output = path.contains("compile_fail");
        assert!(first.starts_with("//!") || is_expected_output, "{path} does not open with what it holds");
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= MAX_LINES_OF_MEDIAN, "the median file has {median} lines; the most is {MAX_LINES_OF_MEDIAN}");
}

#[test]
fn nothing_is_ignored_or_left_to_do() {
    for (path, text) in sources().iter().filter(|(path, _)| !path.contains("/tidy/")) {
        for marker in ["#[ignore", "todo!(", "unimplemented!(", "FIXME", "XXX"] {
            assert!(!text.contains(marker), "{path} has {marker}");
        }
    }
}
