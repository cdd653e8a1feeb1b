//! What a run is given: rules and requests.

mod requests;
mod rules;

pub use requests::{Request, requests};
pub use rules::{SourceRule, rules};

use serde::{Deserialize, Serialize};

/// A language of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// The Common Expression Language.
    Cel,
    /// Cloudflare's filter language.
    Filter,
}

impl Language {
    /// The name, as in partitions.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cel => "cel",
            Self::Filter => "filter",
        }
    }
}

/// Reads a file as text.
///
/// # Errors
/// The name and what is wrong with it.
fn text(path: &std::path::Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
