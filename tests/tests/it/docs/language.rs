//! The examples of `docs/language.md` are what they say, in every tier. `BLESS=1` writes the results anew.

use celero_book::markdown::blocks;
use celero_frontend::stdlib::TABLE;
use celero_tests::filetest::{self, Arms};
use std::path::Path;

#[test]
fn examples_of_the_language_page_are_right() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/language.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let blocks = blocks(&page);
    let request = blocks.iter().find(|block| block.language == "http").unwrap().body;
    let definitions =
        blocks.iter().find(|block| block.language == "text" && block.body.contains("-> bool     =")).unwrap().body;
    let definitions: String = definitions.lines().map(|line| format!("define: {line}\n")).collect();
    let mut text = format!("context: http\nsource: 192.0.2.7:4711\n{definitions}\n--- given\n{request}");
    let examples: Vec<&str> = blocks.iter().filter(|block| block.language == "cel").map(|block| block.body).collect();
    for body in &examples {
        text += "\n--- table\n";
        text += body;
    }
    assert!(text.matches(" =>").count() > 100);

    // The machinery of the file tests runs it, as a file.
    let file = std::env::temp_dir().join(format!("celero-language-{}.cel", std::process::id()));
    std::fs::write(&file, &text).unwrap();
    let result = filetest::run(&file, &Arms::new(), bless);
    let actual = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    result.unwrap_or_else(|wrong| panic!("docs/language.md:\n{wrong}"));

    if bless {
        let mut page = page.clone();
        let tables = actual.split("\n--- table\n").skip(1);
        for (body, table) in examples.iter().zip(tables) {
            page = page.replacen(&format!("```cel\n{body}```"), &format!("```cel\n{}\n```", table.trim_end()), 1);
        }
        std::fs::write(&path, page).unwrap();
    }
}

#[test]
fn every_function_has_an_example() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/language.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let examples: String =
        blocks(&page).into_iter().filter(|block| block.language == "cel").map(|block| block.body).collect();
    let mut missing: Vec<&str> = TABLE
        .rows()
        .iter()
        .map(|row| row.name)
        .filter(|name| name.starts_with(char::is_alphabetic))
        .filter(|name| !examples.contains(&format!("{name}(")))
        .collect();
    missing.dedup();
    assert!(missing.is_empty(), "no example of {missing:?}");
}
