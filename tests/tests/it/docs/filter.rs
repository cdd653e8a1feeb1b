//! The examples of `docs/filter-language.md` are what they say, and the page names every field, function and code. `BLESS=1` writes
//! the results anew.
//!
//! The values are those of the page's `json` block, the lists those of its `text` block with lists. A block of `filter of=values`
//! holds expressions that are values.

use super::root;
use celero_book::markdown::{Block, blocks};
use celero_frontend::filter::{FILTER_CODES, http_scheme, standard_functions};
use celero_tests::filter::file_test;

/// The page, from the root of the repository.
pub(super) const PAGE: &str = "docs/filter-language.md";

fn page() -> String {
    std::fs::read_to_string(root().join(PAGE)).unwrap()
}

fn examples(page: &str) -> Vec<Block<'_>> {
    blocks(page).into_iter().filter(|block| block.language == "filter").collect()
}

#[test]
fn examples_of_the_page_are_right() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let page = page();
    let all = blocks(&page);
    let given = all.iter().find(|block| block.language == "json").unwrap().body;
    let lists = all.iter().find(|block| block.attribute("of") == Some("lists")).unwrap().body;
    let lists: String = lists.lines().map(|line| format!("  {line}\n")).collect();
    let examples = examples(&page);
    let mut text = format!("scheme: http\nlists:\n{lists}\n--- given\n{given}");
    for block in &examples {
        text += if block.attribute("of") == Some("values") { "\n--- values\n" } else { "\n--- table\n" };
        text += block.body;
    }
    assert!(text.matches(" =>").count() > 80);
    let file = std::env::temp_dir().join(format!("celero-filter-page-{}.filter", std::process::id()));
    std::fs::write(&file, &text).unwrap();
    let result = file_test::run(&file, bless);
    let actual = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    result.unwrap_or_else(|wrong| panic!("{PAGE}:\n{wrong}"));
    if bless {
        let mut blessed = page.clone();
        let results = actual
            .split("\n--- ")
            .filter_map(|section| section.strip_prefix("table\n").or_else(|| section.strip_prefix("values\n")));
        for (block, result) in examples.iter().zip(results) {
            blessed = blessed.replacen(block.body, &format!("{}\n", result.trim_end()), 1);
        }
        std::fs::write(root().join(PAGE), blessed).unwrap();
    }
}

#[test]
fn the_page_names_every_function_field_and_code() {
    let page = page();
    let shown: String = examples(&page).iter().map(|block| block.body).collect();
    let functions = standard_functions().into_iter().map(|function| format!("{}(", function.name));
    let missing: Vec<String> = functions.filter(|call| !shown.contains(call.as_str())).collect();
    assert!(missing.is_empty(), "{PAGE} has no example of {missing:?}");
    let scheme = http_scheme();
    let fields = scheme.fields().iter().map(|field| format!("`{}`", field.name));
    let codes = FILTER_CODES.iter().map(|info| format!("`{}`", info.code));
    let missing: Vec<String> = fields.chain(codes).filter(|name| !page.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{PAGE} does not name {missing:?}");
}
