//! Values, errors and diagnostics in answers, each of bounded length.

use crate::limits;
use celero::Value;
use celero::diagnostics::Report;
use serde_json::{Value as Json, json};

/// Returns the text of a value.
pub(super) fn value(value: &Value<'_>) -> String {
    text_within(value, limits::VALUE_TEXT)
}

/// Returns the text of a value, cut after some bytes.
pub(super) fn text_within(value: &Value<'_>, most: usize) -> String {
    let text = value.source_text(most.min(limits::VALUE_TEXT));
    text.unwrap_or_else(|kind| format!("a value that can't be shown: {kind}"))
}

/// Returns why an evaluation failed.
pub(super) fn failure(report: &Report) -> Json {
    let span = report.span();
    json!({
        "kind": report.kind().name(),
        "message": report.message(),
        "span": [span.start, span.end],
        "help": report.help(),
    })
}

/// Returns a text, cut after [`limits::STAGE_TEXT`] bytes at the end of a line.
pub(super) fn stage(text: &str) -> String {
    if text.len() <= limits::STAGE_TEXT {
        return text.to_owned();
    }
    let within = text.get(..text.floor_char_boundary(limits::STAGE_TEXT)).unwrap_or_default();
    let (lines, _) = within.rsplit_once('\n').unwrap_or((within, ""));
    format!("{lines}\n.. cut: {} bytes in all\n", text.len())
}
