//! What a run is given: rules and requests.

mod requests;
mod rules;

pub use requests::{Request, requests};
pub use rules::{SourceRule, rules};

/// Returns what is wrong with a line of JSON Lines: `LINE:COLUMN: message`.
fn json_error(line: usize, error: &serde_json::Error) -> String {
    let message = error.to_string();
    // The error's own line is always 1.
    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
    format!("{line}:{}: {message}", error.column())
}
