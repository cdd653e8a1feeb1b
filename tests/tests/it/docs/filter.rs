//! The examples of `docs/filter-language.md` are what they say, and the page names every field,
//! function and code. `BLESS=1` writes the results anew.
//!
//! The values are those of the page's `json` block, the lists those of its `text` block with lists.
//! A block of `filter of=values` holds expressions that are values.

use super::root;
use celero_book::markdown::{Block, blocks};
use celero_frontend::filter::{FILTER_CODES, HttpField, HttpFieldValue, http_fields, http_scheme, standard_functions};
use celero_tests::filter::file_test;
use std::fmt::Write;

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

/// The tables of fields, from the table of the language.
fn field_tables() -> String {
    let mut with = "| field | type | has a value | example |\n|---|---|---|---|\n".to_owned();
    let mut without: Vec<(&str, Vec<String>)> = Vec::new();
    for HttpField { name, ty, value } in http_fields() {
        let (place, example) = match value {
            HttpFieldValue::Request(example) => ("in every phase", example),
            HttpFieldValue::RequestBody(example) => ("with the request's body", example),
            HttpFieldValue::Response(example) => ("with a response", example),
            HttpFieldValue::Tls(example) => ("over TLS", example),
            HttpFieldValue::Host(reason) => {
                match without.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, names)) => names.push(format!("`{name}`")),
                    None => without.push((reason, vec![format!("`{name}`")])),
                }
                continue;
            }
        };
        writeln!(with, "| `{name}` | `{ty}` | {place} | `{example}` |").unwrap();
    }
    let mut text = format!("### Fields with a value\n\n{with}| `true`, `false` | `Bool` | always | |\n");
    text += "\n### Fields without a value\n\n| because | fields |\n|---|---|\n";
    for (reason, names) in without {
        writeln!(text, "| {reason} | {} |", names.join(", ")).unwrap();
    }
    text + "\n"
}

#[test]
fn the_tables_of_fields_are_up_to_date() {
    let page = page();
    let (start, end) = (page.find("### Fields with a value").unwrap(), page.find("A host declares fields").unwrap());
    let (written, tables) = (page.get(start..end).unwrap(), field_tables());
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(root().join(PAGE), page.replacen(written, &tables, 1)).unwrap();
        return;
    }
    assert!(written == tables, "{PAGE}: run with BLESS=1 to write the tables of fields anew");
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
