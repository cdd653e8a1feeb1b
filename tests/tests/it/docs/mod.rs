//! The pages of the book and the README are right: every block of code runs, and every link leads somewhere.
//!
//! | block | what is checked, and where |
//! |---|---|
//! | `cel` | each line `expression => result`, in every tier: `expressions.rs` |
//! | `filter` | each line `rule => value`, in the filter language: `filter.rs` |
//! | `yaml` | a policy, in `file=` if the fence says so; one that opens with `# cases` are cases of the policy before it: `policies.rs` |
//! | `yaml file=` of a proxy's configuration | `runtime/adapters/proxy/tests/proxy/docs.rs` |
//! | `console` | each command, and what it prints: `runtime/tools/cli/tests/it/book.rs` |
//! | `rust` | a documentation test: `tests/src/lib.rs` |
//!
//! A block that cannot run says why in its fence: `no-run="builds for minutes"`. `text`, `http`,
//! `json` and `toml` hold data.
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

mod architecture;
mod domains;
mod expressions;
mod filter;
mod language;
mod links;
mod policies;
mod security;

use celero_book::markdown::{Block, blocks};
use std::path::{Path, PathBuf};

/// A page: its path from the root of the repository, and its text.
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Page {
    /// The blocks that are to be run.
    fn run(&self, language: &str) -> impl Iterator<Item = Block<'_>> {
        blocks(&self.text)
            .into_iter()
            .filter(move |block| block.language == language && block.attribute("no-run").is_none())
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Finds the files with this extension in a folder and those below it.
fn walk(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, extension, found);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

/// All pages of `docs/`, and those at the root.
pub(crate) fn pages() -> Vec<Page> {
    let root = root();
    let mut paths = Vec::new();
    walk(&root.join("docs"), "md", &mut paths);
    paths.extend(
        ["README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root.join(name)),
    );
    paths.sort();
    let page = |path: PathBuf| Page {
        name: path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(),
        text: std::fs::read_to_string(&path).unwrap(),
    };
    paths.into_iter().map(page).collect()
}

#[test]
fn every_block_is_run_or_says_why_not() {
    let tests = std::fs::read_to_string(root().join("tests/src/lib.rs")).unwrap();
    let mut wrong = Vec::new();
    for page in pages() {
        for block in blocks(&page.text) {
            let right = match block.language {
                "cel" | "yaml" | "console" | "http" | "json" | "text" | "toml" => true,
                "filter" => page.name == filter::PAGE,
                "rust" => {
                    tests.contains(&format!("include_str!(\"../../{}\")", page.name)) || page.name == "CONTRIBUTING.md"
                }
                _ => block.attribute("no-run").is_some(),
            };
            if !right {
                wrong.push(format!(
                    "{}:{}: `{}` is neither run nor marked with a reason",
                    page.name, block.line, block.language
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_book_has_all_pages() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let chapters: Vec<String> =
        celero_book::markdown::links(&summary).into_iter().map(|link| format!("docs/{link}")).collect();
    let pages: Vec<String> =
        pages().into_iter().map(|p| p.name).filter(|n| n.starts_with("docs/") && n != "docs/SUMMARY.md").collect();
    let missing: Vec<_> = pages.iter().filter(|page| !chapters.contains(page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
    let twice: Vec<_> =
        chapters.iter().enumerate().filter(|(i, c)| chapters.iter().take(*i).any(|d| d == *c)).collect();
    assert!(twice.is_empty(), "docs/SUMMARY.md has {twice:?} twice");
}

/// A row that no head stands above is shown as text.
#[test]
fn rows_are_in_tables() {
    let mut wrong = Vec::new();
    for page in pages() {
        let prose = celero_book::markdown::prose(&page.text);
        let lines: Vec<&str> = prose.lines().collect();
        for (i, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with('|')) {
            let begins = i == 0 || lines.get(i - 1).is_none_or(|before| !before.starts_with('|'));
            if begins && lines.get(i + 1).is_none_or(|next| !next.starts_with("|--")) {
                wrong.push(format!("{}: {line}", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
