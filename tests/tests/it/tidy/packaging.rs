//! What is published: every crate describes itself and has its licences; those of the dependencies are allowed.

use super::{packages, root};
use std::path::Path;
use std::process::Command;

#[test]
fn published_crates_describe_themselves() {
    let mut published = 0;
    // `publish = false` is an empty list of registries.
    for package in packages().iter().filter(|package| package["publish"].is_null()) {
        let name = package["name"].as_str().unwrap();
        for key in ["description", "documentation", "license", "readme", "rust_version"] {
            assert!(package[key].is_string(), "{name} has no `{key}`");
        }
        for key in ["categories", "keywords"] {
            assert!(!package[key].as_array().unwrap().is_empty(), "{name} has no `{key}`");
        }
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(folder.join(file).is_file(), "{name} has no {file}");
        }
        published += 1;
    }
    assert!(published >= 12, "{published}");
}

fn deny_toml() -> String {
    std::fs::read_to_string(root().join("deny.toml")).unwrap()
}

/// The licences that `deny.toml` allows for all crates.
fn allowed() -> Vec<String> {
    let text = deny_toml();
    let list = text.split_once("allow = [").unwrap().1.split_once(']').unwrap().0;
    list.split(',').map(|item| item.trim().trim_matches('"').to_owned()).filter(|item| !item.is_empty()).collect()
}

/// Whether an SPDX expression can be satisfied by allowed licences. Old crates write `/` for `OR`.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let plain = expression.replace('/', " OR ");
    let satisfied = |part: &str| allowed.iter().any(|one| one == part.trim_matches(['(', ')', ' ']));
    plain.split(" AND ").all(|all| all.split(" OR ").any(satisfied))
}

#[test]
fn licences_of_dependencies_are_allowed() {
    let allowed = allowed();
    assert!(is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0", &allowed) && !is_allowed("MIT AND GPL-3.0", &allowed));
    // What `cargo test` built is not all of the lock file: cargo downloads the rest, and without a
    // network this test cannot judge it.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    if message.contains("failed to download") || message.contains("Could not resolve host") {
        celero_tests::shared::say("left out: the licences of the dependencies (cargo can't download all of them)");
        return;
    }
    assert!(output.status.success(), "{message}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 200, "{}", packages.len());
    let deny_toml = deny_toml();
    let is_exception = |package: &serde_json::Value| deny_toml.contains(&format!("crate = {}\n", package["name"]));
    let is_fine = |package: &serde_json::Value| {
        package["license"].as_str().is_some_and(|expression| is_allowed(expression, &allowed)) || is_exception(package)
    };
    let refused = packages.iter().filter(|package| !is_fine(package));
    let refused: Vec<_> = refused.map(|package| format!("{}: {}", package["name"], package["license"])).collect();
    assert!(refused.is_empty(), "deny.toml does not allow the licences of {refused:#?}");
}
