//! Every link of the pages leads to a file of the repository and, with `#`, to a heading in it.
//! Addresses in the net are not visited.

use super::{pages, root};
use celero_book::markdown::{anchors, links};
use celero_book::{Page, complete};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for page in pages() {
        let folder = root().join(&page.name).parent().unwrap().to_owned();
        for link in links(&page.text) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            checked += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = if file.is_empty() { root().join(&page.name) } else { folder.join(file) };
            if !path.exists() {
                wrong.push(format!("{}: no file {file}", page.name));
            } else if !anchor.is_empty()
                && !anchors(&std::fs::read_to_string(&path).unwrap()).iter().any(|a| a == anchor)
            {
                wrong.push(format!("{}: no heading `{anchor}` in {file}", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 50, "{checked}");
}

/// In the book, every link of a page leads to a page of the book or to a file under `docs/`, which mdBook copies.
#[test]
fn every_link_works_in_the_book() {
    let pages = pages().into_iter().filter(|page| page.name.starts_with("docs/"));
    let mut pages: Vec<Page> = pages.map(|page| Page { file: page.name, text: page.text }).collect();
    let added = complete(&root(), &mut pages).unwrap();
    assert!(added.len() > 10, "{}", added.len());
    pages.extend(added);
    let book: BTreeMap<String, &Page> = pages.iter().map(|page| (page.path(), page)).collect();
    assert_eq!(book.len(), pages.len(), "two pages have one path");
    let mut wrong = Vec::new();
    for (path, page) in &book {
        for link in links(&page.text) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let mut target = Path::new(path).parent().unwrap().to_owned();
            for part in Path::new(file).components() {
                match part {
                    std::path::Component::ParentDir => assert!(target.pop(), "{path}: {link} leaves the book"),
                    part => target.push(part),
                }
            }
            let target = if file.is_empty() { path.clone() } else { target.to_str().unwrap().to_owned() };
            let is_right = match book.get(&target) {
                Some(page) => anchor.is_empty() || anchors(&page.text).iter().any(|known| known == anchor),
                None => !target.ends_with(".md") && root().join("docs").join(&target).is_file(),
            };
            if !is_right {
                wrong.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
