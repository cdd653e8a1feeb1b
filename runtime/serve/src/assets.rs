//! The files of the page. They are part of the program.

/// Returns the type and the content of a file of the page.
pub(crate) fn of(path: &str) -> Option<(&'static str, &'static str)> {
    Some(match path {
        "/" => ("text/html; charset=utf-8", include_str!("page/index.html")),
        "/page.css" => ("text/css; charset=utf-8", include_str!("page/page.css")),
        "/page.js" => ("text/javascript; charset=utf-8", include_str!("page/page.js")),
        "/icon.svg" => ("image/svg+xml", include_str!("page/icon.svg")),
        _ => return None,
    })
}
