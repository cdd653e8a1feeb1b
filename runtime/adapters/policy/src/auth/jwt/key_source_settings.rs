//! The settings of keys at a URL.

use std::time::Duration;

/// The settings of a source, as the policy has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeySourceSettings {
    pub(crate) url: String,
    /// The time between two fetches.
    pub(crate) refresh: Duration,
    /// How long keys count after they were fetched.
    pub(crate) max_stale: Duration,
    /// The least time between two fetches, if one fails or a token names an unknown key.
    pub(crate) cooldown: Duration,
    /// The longest time of a fetch.
    pub(crate) timeout: Duration,
}
