//! The pages are right: every block of code runs, and every link leads somewhere. Long pages have contents
//! (`contents.rs`), and no line of prose is too wide (`width.rs`).
//!
//! | block | what is checked, and where |
//! |---|---|
//! | `cel` | each line `expression => result`, in every tier: `expressions.rs` |
//! | `filter` | each line `rule => value`, in the filter language: `filter.rs` |
//! | `yaml` | a policy, in `file=` if the fence says so; one that opens with `# cases` are cases of the policy before it: `policies.rs` |
//! | `yaml file=` of a proxy's configuration | `runtime/adapters/proxy/tests/proxy/docs.rs` |
//! | `console` | each command, and what it prints: `runtime/tools/cli/tests/it/book.rs` |
//! | the options of a command in the prose | `runtime/tools/cli/tests/it/book.rs` |
//! | `rust` | a documentation test: `tests/src/lib.rs`, for the README of a crate its `src/lib.rs` |
//! | `text` after `rust` | what the program prints: `printed.rs` |
//!
//! | `text file=` | a file for the commands of its page |
//! | `text of=` | `definitions`, `lists` of the examples of its page; a `message`: `runtime/adapters/proxy/tests/proxy/docs.rs` |
//!
//! A block that cannot run says why in its fence: `no-run="builds for minutes"`. `http`, `json` and
//! `toml` hold data.
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

mod architecture;
mod contents;
mod domains;
mod expressions;
mod filter;
mod language;
mod links;
mod policies;
mod printed;
mod promises;
mod width;

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

/// Finds the files with this extension in a folder and those below it. Skips what is built and fetched.
fn walk(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "node_modules"].contains(&&*name) {
                walk(&path, extension, found);
            }
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

/// All pages of the repository: those of the book, those at the root, and those of folders, which describe one part.
fn all_pages() -> Vec<Page> {
    let root = root();
    let mut paths = Vec::new();
    walk(&root, "md", &mut paths);
    paths.sort();
    let page = |path: PathBuf| Page {
        name: path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(),
        text: std::fs::read_to_string(&path).unwrap(),
    };
    paths.into_iter().map(page).collect()
}

/// All pages of `docs/`, and those at the root.
pub(crate) fn pages() -> Vec<Page> {
    all_pages().into_iter().filter(|page| page.name.starts_with("docs/") || !page.name.contains('/')).collect()
}

/// Whether the fence of a block of text says what it is.
fn is_explained(block: &Block<'_>) -> bool {
    ["file", "of", "no-run"].iter().any(|name| block.attribute(name).is_some())
}

#[test]
fn every_block_is_run_or_says_why_not() {
    let tests = std::fs::read_to_string(root().join("tests/src/lib.rs")).unwrap();
    let is_doc_test = |page: &str| match page.strip_suffix("/README.md") {
        Some(folder) => std::fs::read_to_string(root().join(folder).join("src/lib.rs"))
            .is_ok_and(|library| library.contains("include_str!(\"../README.md\")")),
        None => tests.contains(&format!("include_str!(\"../../{page}\")")),
    };
    let mut wrong = Vec::new();
    for page in all_pages() {
        let blocks = blocks(&page.text);
        for (i, block) in blocks.iter().enumerate() {
            let before = i.checked_sub(1).and_then(|before| blocks.get(before));
            let right = match block.language {
                "cel" | "yaml" | "console" | "http" | "json" | "toml" => true,
                // `printed.rs` runs the program before it.
                "text" => {
                    page.name == "docs/diagnostics.md"
                        || is_explained(block)
                        || before.is_some_and(|b| b.language == "rust")
                }
                "filter" => page.name == filter::PAGE,
                "rust" => is_doc_test(&page.name),
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
