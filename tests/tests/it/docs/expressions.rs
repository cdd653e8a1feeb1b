//! Blocks of `cel`: each line is `expression => result`, as in `docs/language.md`, on the request
//! that the last `http` block before it shows. Every tier has to give the result. `BLESS=1` writes
//! the results anew.

use super::{Page, pages, root};
use celero_book::markdown::blocks;
use celero_tests::filetest::{self, Arms};
use std::fmt::Write as _;

/// A block's place in the page, and what the file tests make of it.
struct Table<'a> {
    body: &'a str,
    given: &'a str,
}

fn tables(page: &Page) -> Vec<Table<'_>> {
    let mut given = "GET / HTTP/1.1\nhost: shop.example\n";
    let mut found = Vec::new();
    for block in blocks(&page.text) {
        match block.language {
            "http" => given = block.body,
            "cel" if block.attribute("no-run").is_none() => found.push(Table { body: block.body, given }),
            _ => {}
        }
    }
    found
}

#[test]
fn examples_of_all_pages_are_right() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let mut wrong = String::new();
    let mut lines = 0;
    // The language page has definitions of its own: `language.rs` runs it.
    for page in pages().into_iter().filter(|page| page.name != "docs/language.md") {
        let tables = tables(&page);
        if tables.is_empty() {
            continue;
        }
        let mut text = "context: http\nsource: 192.0.2.7:4711\n".to_owned();
        for table in &tables {
            lines += table.body.lines().count();
            let _ = write!(text, "\n--- given\n{}\n--- table\n{}", table.given, table.body);
        }
        let file = std::env::temp_dir().join(format!("celero-{}-{}", std::process::id(), page.name.replace('/', "-")));
        std::fs::write(&file, &text).unwrap();
        let result = filetest::run(&file, &Arms::new(), bless);
        let actual = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        if let Err(error) = result {
            let _ = writeln!(wrong, "{}:\n{error}", page.name);
        }
        if bless {
            let mut blessed = page.text.clone();
            let results = actual.split("\n--- table\n").skip(1).map(|t| t.split("\n--- given\n").next().unwrap());
            for (table, result) in tables.iter().zip(results) {
                blessed = blessed.replacen(
                    &format!("```cel\n{}```", table.body),
                    &format!("```cel\n{}\n```", result.trim_end()),
                    1,
                );
            }
            std::fs::write(root().join(&page.name), blessed).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(lines >= 20, "{lines}");
}
