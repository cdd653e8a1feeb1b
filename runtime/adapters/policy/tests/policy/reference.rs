//! The pages about policies: the examples of `policy.md`, `policy-reference.md` and `limits.md`
//! compile, their cases hold, and the references have every key.

use crate::support::Folder;
use celero_policy::{Outline, Phase, Policy};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;

/// Some pages of `docs/`, one after the other.
fn text_of(names: &[&str]) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs");
    names.iter().map(|name| std::fs::read_to_string(docs.join(name)).unwrap() + "\n").collect()
}

/// The pages that describe every key.
fn references() -> String {
    text_of(&["policy-reference.md", "limits.md"])
}

#[test]
fn its_examples_are_right() {
    let folder = Folder::new("reference");
    std::fs::create_dir_all(folder.path("keys")).unwrap();
    let jwks = r#"{"keys": [{"kty": "oct", "alg": "HS256", "k": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#;
    folder.write("keys/issuer.json", jwks);
    let pem = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys/rsa.pub.pem");
    folder.write("keys/partner.pem", std::fs::read(pem).unwrap());
    folder.write("users", "# nobody yet\n");
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/orders.binpb");
    folder.write("orders.binpb", std::fs::read(orders).unwrap());
    folder.write("common.yaml", "functions:\n  'isPublic(path: string)': path == '/'\n");
    let page = text_of(&["policy.md", "policy-reference.md", "limits.md"]);
    let mut policy: Option<Policy> = None;
    let (mut policies, mut cases) = (0, 0);
    for block in page.split("\n```yaml").skip(1) {
        let (fence, block) = block.split_once('\n').unwrap();
        let (text, _) = block.split_once("```").unwrap();
        let file = fence.strip_prefix(" file=").unwrap_or("policy.yaml");
        if text.starts_with("# cases") {
            let report = policy.as_ref().unwrap().test("cases", text).unwrap();
            assert!(report.passed(), "{}\n{text}", report.render(false));
            cases += report.cases().count();
        } else {
            // The tests run with an environment of Cargo's.
            let text = text.replace("REGION", "CARGO_PKG_NAME");
            let read = Policy::load(folder.write(file, &text)).unwrap();
            assert_eq!(read.warnings().count(), 0, "{}", read.render_warnings(false));
            policy = Some(read);
            policies += 1;
        }
    }
    assert!(policies >= 20 && cases >= 60, "{policies} {cases}");
}

/// The names of all keys in a schema.
fn keys(schema: &Json, found: &mut BTreeSet<String>) {
    match schema {
        Json::Object(members) => {
            if let Some(Json::Object(properties)) = members.get("properties") {
                found.extend(properties.keys().cloned());
            }
            members.values().for_each(|value| keys(value, found));
        }
        Json::Array(elements) => elements.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_is_in_it() {
    let page = references();
    let mut found = BTreeSet::new();
    keys(&Policy::json_schema(), &mut found);
    assert!(found.len() > 50, "{found:?}");
    let missing: Vec<_> = found
        .iter()
        .filter(|key| !page.contains(&format!("`{key}`")) && !page.contains(&format!("`{key}: ")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The names in code marks of a line. `.port` after `source.address` is `source.port`.
fn names(line: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in line.split('`').skip(1).step_by(2) {
        let parent = names.last().and_then(|name| Some(name.rsplit_once('.')?.0.to_owned()));
        names.push(match parent.filter(|_| name.starts_with('.')) {
            Some(parent) => parent + name,
            None => name.to_owned(),
        });
    }
    names
}

#[test]
fn every_attribute_is_in_it_and_no_other() {
    let page = references();
    let outline = Outline::of("policy.yaml", "{request: []}", Path::new(".")).unwrap();
    let in_page: BTreeSet<String> = page.lines().flat_map(names).collect();
    let mut declared = BTreeSet::new();
    for phase in Phase::ALL {
        declared.extend(outline.declarations(Some(phase)).variables().iter().map(|variable| variable.name.to_string()));
    }
    assert!(declared.len() > 30, "{declared:?}");
    let missing: Vec<_> = declared.difference(&in_page).collect();
    assert!(missing.is_empty(), "not in the page: {missing:?}");

    let (_, table) = page.split_once("\n## Attributes\n").unwrap();
    let (table, _) = table.split_once("\n### ").unwrap();
    let in_table: BTreeSet<String> =
        table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).flat_map(names).collect();
    assert!(in_table.len() > 20, "{in_table:?}");
    // What a policy defines itself.
    let defined = ["variables", "env", "lists"];
    let unknown: Vec<_> =
        in_table.iter().filter(|name| !defined.contains(&name.as_str()) && !declared.contains(*name)).collect();
    assert!(unknown.is_empty(), "no attributes: {unknown:?}");
}
