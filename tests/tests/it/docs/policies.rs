//! Blocks of `yaml`: a policy without mistakes and warnings, or cases (`# cases`), which must hold
//! for the policy before them.

use super::pages;
use celero_book::markdown::Block;
use celero_policy::Policy;
use std::path::Path;

/// Pages whose examples have tests of their own, in the crates that they describe.
const ELSEWHERE: [(&str, &str); 5] = [
    ("docs/cel-policy.md", "runtime/tools/cli/tests/it/book.rs"),
    ("docs/policy.md", "runtime/adapters/policy/tests/policy/reference.rs"),
    ("docs/policy-reference.md", "runtime/adapters/policy/tests/policy/reference.rs"),
    ("docs/proxy.md", "runtime/adapters/proxy/tests/proxy/docs.rs"),
    ("docs/proxy-reference.md", "runtime/adapters/proxy/tests/proxy/docs.rs"),
];

/// Whether a block is the configuration of a proxy, which the proxy's tests read.
fn is_proxy(block: &Block<'_>) -> bool {
    block.body.lines().any(|line| line == "listeners:")
}

#[test]
fn policies_of_all_pages_are_right() {
    let (mut policies, mut cases) = (0, 0);
    let folder = std::env::temp_dir().join(format!("celero-pages-{}", std::process::id()));
    for page in pages().iter().filter(|page| !ELSEWHERE.iter().any(|(name, _)| page.name == *name)) {
        let _ = std::fs::remove_dir_all(&folder);
        fixtures(&folder);
        let mut policy: Option<Policy> = None;
        for block in page.run("yaml").filter(|block| !is_proxy(block)) {
            let place = format!("{}:{}", page.name, block.line);
            if block.body.starts_with("# cases") {
                let policy = policy.as_ref().unwrap_or_else(|| panic!("{place}: no policy before these cases"));
                let report = policy.test(&place, block.body).unwrap_or_else(|error| panic!("{place}: {error}"));
                assert!(report.passed(), "{place}\n{}", report.render(false));
                cases += report.cases().count();
            } else {
                let file = folder.join(block.attribute("file").unwrap_or("policy.yaml"));
                std::fs::write(&file, block.body).unwrap();
                let read = Policy::load(&file).unwrap_or_else(|error| panic!("{place}:\n{error}"));
                assert_eq!(read.warnings().count(), 0, "{place}:\n{}", read.render_warnings(false));
                policy = Some(read);
                policies += 1;
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(policies >= 20 && cases >= 50, "{policies} policies, {cases} cases");
}

/// The files that policies of the pages name.
fn fixtures(folder: &Path) {
    std::fs::create_dir_all(folder.join("keys")).unwrap();
    let keys = r#"{"keys": [{"kty": "oct", "alg": "HS256", "k": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"}]}"#;
    std::fs::write(folder.join("keys/issuer.json"), keys).unwrap();
    std::fs::write(folder.join("users"), "# nobody yet\n").unwrap();
}
