//! Settings of a limit that are words in a file.

/// What happens to a request whose key or cost cannot be computed: the key `onError` of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LimitErrorPolicy {
    /// It is answered as if it were above the limit.
    #[default]
    Closed,
    /// All such requests share one key.
    Shared,
    /// It passes.
    Pass,
}

impl LimitErrorPolicy {
    pub(crate) const NAMES: &[&str] = &["closed", "shared", "pass"];

    pub(crate) fn named(name: &str) -> Option<Self> {
        value_named(name, Self::NAMES, [Self::Closed, Self::Shared, Self::Pass])
    }
}

/// Which responses tell the client about the limit: the key `headers` of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TellsClient {
    /// The answers to requests above the limit.
    #[default]
    Limited,
    Always,
    Never,
}

impl TellsClient {
    pub(crate) const NAMES: &[&str] = &["limited", "always", "never"];

    pub(crate) fn named(name: &str) -> Option<Self> {
        value_named(name, Self::NAMES, [Self::Limited, Self::Always, Self::Never])
    }
}

/// Returns the value at the place that a name has among the names.
fn value_named<T, const N: usize>(name: &str, names: &[&str], values: [T; N]) -> Option<T> {
    values.into_iter().zip(names).find(|(_, known)| **known == name).map(|(value, _)| value)
}
