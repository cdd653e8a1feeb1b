//! The files of the page. They are part of the program.
//!
//! Invariant: the page inserts text as text nodes, never as markup. Test:
//! `runtime/tools/serve/tests/it/browser.rs::markup_in_rules_and_requests_is_text`.

/// A file: its path, its type and its content.
type Asset = (&'static str, &'static str, &'static str);

/// A module of the script. `page.js` imports the others.
macro_rules! script {
    ($name:literal) => {
        (concat!("/", $name, ".js"), "text/javascript; charset=utf-8", include_str!(concat!("page/", $name, ".js")))
    };
}

const FILES: &[Asset] = &[
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/page.css", "text/css; charset=utf-8", include_str!("page/page.css")),
    ("/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
    script!("answer"),
    script!("calls"),
    script!("completion"),
    script!("decisions"),
    script!("editors"),
    script!("elements"),
    script!("index_entries"),
    script!("linking"),
    script!("marks"),
    script!("page"),
    script!("places"),
    script!("playground"),
    script!("policy"),
    script!("rule_set"),
    script!("share"),
    script!("source_tokens"),
    script!("state"),
    script!("tokens"),
    script!("views"),
    script!("workbench"),
];

/// Returns the type and the content of a file of the page.
pub(crate) fn of(path: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(known, ..)| *known == path).map(|(_, content_type, content)| (*content_type, *content))
}
