//! The languages of rules.

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
