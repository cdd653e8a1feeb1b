//! Prepares the pages of `docs/` for mdBook, and reads Markdown for the tests of the pages.
//!
//! The pages link to files outside `docs/`, such as `ARCHITECTURE.md` and the examples. mdBook
//! copies only `docs/`, so these links would lead nowhere. [`complete`] adds the linked files to
//! the book as pages, and turns the links to them.

pub mod console;
pub mod contents;
pub mod markdown;

use markdown::link_spans;
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// The folder in the book of the pages that are added.
const ADDED: &str = "repository";

/// A page of the book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its file, from the root of the repository: `docs/tutorial.md`.
    pub file: String,
    /// Its text.
    pub text: String,
}

impl Page {
    /// Returns the path of the page in the book: `tutorial.md`.
    #[must_use]
    pub fn path(&self) -> String {
        path_in_book(&self.file)
    }
}

/// Turns the links of `pages` to files outside `docs/`, and returns the pages that they lead to, in
/// the order of the links. Pages that are added are treated alike, so every link in the book leads
/// to a page of it.
///
/// # Errors
/// The first link that leads to no file of the repository.
pub fn complete(root: &Path, pages: &mut [Page]) -> Result<Vec<Page>, String> {
    let mut added: Vec<Page> = Vec::new();
    let mut known = BTreeSet::new();
    for page in pages {
        let found = turn(root, page, &mut known)?;
        added.extend(found);
    }
    let mut next = 0;
    while let Some(page) = added.get_mut(next) {
        let is_prose = is_markdown(&page.file);
        let found = if is_prose { turn(root, page, &mut known)? } else { Vec::new() };
        added.extend(found);
        next = next.saturating_add(1);
    }
    Ok(added)
}

/// Turns the links of a page to files outside `docs/`. Returns the files among them that are not in
/// `known` yet, as pages.
fn turn(root: &Path, page: &mut Page, known: &mut BTreeSet<String>) -> Result<Vec<Page>, String> {
    let mut added = Vec::new();
    let here = page.path();
    // From the last to the first, so that the places of the others stay.
    for span in link_spans(&page.text).into_iter().rev() {
        let link = page.text.get(span.clone()).unwrap_or_default();
        let (file, anchor) = link.find('#').map_or((link, ""), |at| link.split_at(at));
        if file.is_empty() || file.contains("://") {
            continue;
        }
        let target = resolved(&page.file, file);
        if page.file.starts_with("docs/") && target.starts_with("docs/") {
            continue;
        }
        let link = format!("{}{anchor}", relative(&here, &path_in_book(&target)));
        if !target.starts_with("docs/") && known.insert(target.clone()) {
            let text = std::fs::read_to_string(root.join(&target))
                .map_err(|error| format!("{}: the link to {file} leads nowhere: {error}", page.file))?;
            added.push(Page { text: shown(&target, text), file: target });
        }
        page.text.replace_range(span, &link);
    }
    added.reverse();
    Ok(added)
}

fn is_markdown(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "md")
}

/// The text of a page for a file: Markdown as it is, other files as a block of code.
fn shown(file: &str, text: String) -> String {
    if is_markdown(file) {
        return text;
    }
    let language = match Path::new(file).extension().and_then(|extension| extension.to_str()) {
        // mdBook offers to run other Rust.
        Some("rs") => "rust,ignore",
        Some(other) => other,
        None => "text",
    };
    format!("# `{file}`\n\n````{language}\n{text}````\n")
}

/// The path in the book of a file of the repository. mdBook would rename pages with the name README.
fn path_in_book(file: &str) -> String {
    if let Some(path) = file.strip_prefix("docs/") {
        return path.to_owned();
    }
    match file.strip_suffix("README.md") {
        Some("") => format!("{ADDED}.md"),
        Some(folder) => format!("{ADDED}/{}.md", folder.trim_end_matches('/')),
        None if is_markdown(file) => format!("{ADDED}/{file}"),
        None => format!("{ADDED}/{file}.md"),
    }
}

/// The file that a link in `from` leads to, from the root of the repository.
fn resolved(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let folder = Path::new(from).parent().unwrap_or(Path::new(""));
    for part in folder.components().chain(Path::new(link).components()) {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(part) => parts.extend(part.to_str()),
            _ => {}
        }
    }
    parts.join("/")
}

/// The link from a page of the book to another one.
fn relative(from: &str, to: &str) -> String {
    let levels = from.matches('/').count();
    format!("{}{to}", "../".repeat(levels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_book_lead_into_it() {
        let root = std::env::temp_dir().join(format!("celero-book-{}", std::process::id()));
        std::fs::create_dir_all(root.join("x")).unwrap();
        std::fs::write(root.join("MAP.md"), "# Map\n[a](docs/a.md#b) [x](x/README.md) [net](https://example.com)\n")
            .unwrap();
        std::fs::write(root.join("x/README.md"), "[map](../MAP.md) [code](m.rs) `[no](link.md)`\n").unwrap();
        std::fs::write(root.join("x/m.rs"), "fn main() {} // [no](link.md)\n").unwrap();
        let page = |file: &str, text: &str| Page { file: file.to_owned(), text: text.to_owned() };
        let mut pages = [
            page("docs/a.md", "[map](../MAP.md#map) [`b`](deep/b.md)\n```sh\n[no](../none)\n```\n[map](../MAP.md)\n"),
            page("docs/deep/b.md", "[a](../a.md) [code](../../x/m.rs)"),
        ];
        let added = complete(&root, &mut pages).unwrap();
        assert_eq!(
            pages[0].text,
            "[map](repository/MAP.md#map) [`b`](deep/b.md)\n```sh\n[no](../none)\n```\n[map](repository/MAP.md)\n"
        );
        assert_eq!(pages[1].text, "[a](../a.md) [code](../repository/x/m.rs.md)");
        let paths: Vec<String> = added.iter().map(Page::path).collect();
        assert_eq!(paths, ["repository/MAP.md", "repository/x/m.rs.md", "repository/x.md"]);
        assert_eq!(added[0].text, "# Map\n[a](../a.md#b) [x](../repository/x.md) [net](https://example.com)\n");
        assert_eq!(added[1].text, "# `x/m.rs`\n\n````rust,ignore\nfn main() {} // [no](link.md)\n````\n");
        assert_eq!(added[2].text, "[map](../repository/MAP.md) [code](../repository/x/m.rs.md) `[no](link.md)`\n");
        let error = complete(&root, &mut [page("docs/c.md", "[none](../none.md)")]).unwrap_err();
        assert!(error.starts_with("docs/c.md: the link to ../none.md leads nowhere"), "{error}");
        std::fs::remove_dir_all(root).unwrap();
    }
}
