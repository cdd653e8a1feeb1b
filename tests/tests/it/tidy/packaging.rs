//! What is published: every crate describes itself and has its licences; those of the dependencies are allowed.

use super::{packages, root};
use std::collections::{BTreeSet, HashMap};
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

/// The workspace and its dependencies on x86-64 with Linux; `None`, with a line that says so, without a network.
fn metadata() -> Option<serde_json::Value> {
    // What `cargo test` built is not all of the lock file: cargo downloads the rest.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    if message.contains("failed to download") || message.contains("Could not resolve host") {
        celero_tests::shared::say(
            "left out: what the dependencies say of themselves (cargo can't download all of them)",
        );
        return None;
    }
    assert!(output.status.success(), "{message}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn licences_of_dependencies_are_allowed() {
    let allowed = allowed();
    assert!(is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0", &allowed) && !is_allowed("MIT AND GPL-3.0", &allowed));
    let Some(metadata) = metadata() else { return };
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

/// The packages that are built for what is published: ids, by the edges that are not of tests.
fn built(metadata: &serde_json::Value) -> BTreeSet<&str> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let edges: HashMap<&str, &serde_json::Value> =
        nodes.iter().map(|node| (node["id"].as_str().unwrap(), &node["deps"])).collect();
    let members: BTreeSet<&str> =
        metadata["workspace_members"].as_array().unwrap().iter().filter_map(|id| id.as_str()).collect();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let published =
        packages.filter(|package| package["publish"].is_null()).filter_map(|package| package["id"].as_str());
    let mut waiting: Vec<&str> = published.filter(|id| members.contains(id)).collect();
    let mut found = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if found.insert(id) {
            let is_built = |edge: &&serde_json::Value| {
                edge["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"] != "dev")
            };
            let edges = edges.get(id).and_then(|edges| edges.as_array()).unwrap().iter();
            waiting.extend(edges.filter(is_built).filter_map(|edge| edge["pkg"].as_str()));
        }
    }
    found
}

/// The crates that run code on the machine that builds are those of `docs/dependencies.md`.
#[test]
fn what_runs_while_building_is_on_the_page() {
    let page = std::fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let section = page.split_once("## What runs while building").unwrap().1.split_once("\n## ").unwrap().0;
    let row = |begin: &str| -> BTreeSet<String> {
        let rows = section.lines().filter(|line| line.starts_with(begin));
        let names = rows.flat_map(|line| line.split('`').skip(1).step_by(2).map(str::to_owned));
        names.collect()
    };
    let Some(metadata) = metadata() else { return };
    let built = built(&metadata);
    let packages: Vec<_> = metadata["packages"].as_array().unwrap().iter().collect();
    let with = |kind: &str| -> BTreeSet<String> {
        let has = |package: &&&serde_json::Value| {
            let targets = package["targets"].as_array().unwrap();
            built.contains(package["id"].as_str().unwrap())
                && targets.iter().any(|target| target["kind"].as_array().unwrap().iter().any(|found| found == kind))
        };
        packages.iter().filter(has).map(|package| package["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(row("| build scripts"), with("custom-build"));
    assert_eq!(row("| macros"), with("proc-macro"));
}
