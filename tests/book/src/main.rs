//! The preprocessor of the book, which `docs/book.toml` names. mdBook writes its context and the
//! book to standard input as JSON, and reads the book from standard output.

use celero_book::{Page, complete};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `supports RENDERER` asks whether the book is to be prepared for a renderer: for every one.
    if std::env::args().nth(1).is_some_and(|command| command == "supports") {
        return Ok(());
    }
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let (_context, mut book): (Value, Value) = serde_json::from_str(&input)?;
    // The context has the book's folder as mdBook's caller names it; this program runs in that folder.
    prepare(&repository(), &mut book)?;
    std::io::stdout().write_all(book.to_string().as_bytes())?;
    Ok(())
}

/// The repository that this program is built from.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Turns the links in the chapters of a book, and adds the chapters that they lead to.
fn prepare(root: &Path, book: &mut Value) -> Result<(), String> {
    // mdBook 0.4 calls them sections.
    let key = if book.get("items").is_some() { "items" } else { "sections" };
    let items = book.get_mut(key).ok_or("the book has no chapters")?;
    let mut pages = Vec::new();
    for_each_chapter(items, &mut |path, text| {
        pages.push(Page { file: format!("docs/{path}"), text: text.clone() });
    });
    let added = complete(root, &mut pages)?;
    let mut turned = pages.into_iter();
    for_each_chapter(items, &mut |_, text| {
        if let Some(page) = turned.next() {
            *text = page.text;
        }
    });
    if let Some(items) = items.as_array_mut() {
        items.push(json!({"PartTitle": "Files of the repository"}));
        items.extend(added.iter().map(|page| {
            let chapter = json!({
                "name": page.file, "content": page.text, "number": null, "sub_items": [], "path": page.path(),
                "source_path": null, "parent_names": [],
            });
            json!({ "Chapter": chapter })
        }));
    }
    Ok(())
}

/// Calls `visit` with the path and the text of every chapter that has a file.
fn for_each_chapter(items: &mut Value, visit: &mut impl FnMut(&str, &mut String)) {
    for item in items.as_array_mut().into_iter().flatten() {
        let Some(chapter) = item.get_mut("Chapter") else { continue };
        if let Some(path) = chapter.get("path").and_then(Value::as_str).map(str::to_owned)
            && let Some(Value::String(text)) = chapter.get_mut("content")
        {
            visit(&path, text);
        }
        if let Some(inner) = chapter.get_mut("sub_items") {
            for_each_chapter(inner, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chapters_are_added_to_the_book() {
        let chapter = |path: &str, text: &str, inner: Value| json!({"Chapter": {"path": path, "content": text, "sub_items": inner}});
        let inner = json!([chapter("deep/b.md", "[m](../../ARCHITECTURE.md)", json!([]))]);
        for key in ["items", "sections"] {
            let mut book =
                json!({key: [{"PartTitle": "x"}, chapter("a.md", "[m](../SECURITY.md)", inner.clone()), "Separator"]});
            prepare(&repository(), &mut book).unwrap();
            let items = book[key].as_array().unwrap();
            assert_eq!(items[1]["Chapter"]["content"], "[m](repository/SECURITY.md)");
            assert_eq!(items[1]["Chapter"]["sub_items"][0]["Chapter"]["content"], "[m](../repository/ARCHITECTURE.md)");
            assert_eq!(items[3]["PartTitle"], "Files of the repository");
            let added: Vec<&str> = items[4..].iter().map(|item| item["Chapter"]["path"].as_str().unwrap()).collect();
            assert!(added.starts_with(&["repository/SECURITY.md", "repository/ARCHITECTURE.md"]), "{added:?}");
        }
    }
}
