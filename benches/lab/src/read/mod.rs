//! What a run is given: rules and requests.

mod requests;
mod rules;

pub use requests::{Request, requests};
pub use rules::{SourceRule, rules};

pub use crate::language::Language;

/// Reads a file as text.
///
/// # Errors
/// The name and what is wrong with it.
fn text(path: &std::path::Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
