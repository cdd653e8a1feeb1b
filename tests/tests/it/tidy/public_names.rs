//! The root of the crate `celero`: its names are few and written out, and its page names every module.

use super::root;

/// The library's root file: its documentation, and its code.
fn library() -> (String, String) {
    let text = std::fs::read_to_string(root().join("runtime/src/lib.rs")).unwrap();
    let (head, code): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("//!"));
    (head.join("\n"), code.join("\n"))
}

#[test]
fn the_root_has_no_globs() {
    let (_, code) = library();
    assert!(code.contains("pub use {"), "the names of the root were not found");
    let globs: Vec<&str> = code.lines().filter(|line| line.contains("::*")).collect();
    assert!(globs.is_empty(), "name what the root has: {globs:?}");
}

/// Code of derives may use `derive_support`, and nobody else.
#[test]
fn the_page_names_every_module() {
    let (head, code) = library();
    let modules = code.lines().filter_map(|line| line.strip_prefix("pub mod ")?.split([' ', ';']).next());
    let modules: Vec<&str> = modules.chain(["layout"]).filter(|name| *name != "derive_support").collect();
    assert!(modules.len() >= 10, "{modules:?}");
    let rows: Vec<&str> = head.lines().filter(|line| line.starts_with("//! | [`")).collect();
    let is_named = |name: &str| rows.iter().any(|row| row.starts_with(&format!("//! | [`{name}`] |")));
    let missing: Vec<_> = modules.into_iter().filter(|name| !is_named(name)).collect();
    assert!(missing.is_empty(), "the table of modules in runtime/src/lib.rs lacks {missing:?}");
}
