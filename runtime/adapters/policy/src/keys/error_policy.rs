//! What a rule of a phase counts as if its condition fails: the key `onError`.

use celero::ErrorPolicy;

/// What the rules of a phase count as if their conditions fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PhaseErrorPolicy {
    /// The default of a phase, fail closed: a guard matches, any other rule does not.
    #[default]
    Closed,
    /// The same for all rules of the phase. With [`ErrorPolicy::Stop`] the phase ends with an error answer.
    All(ErrorPolicy),
}

impl PhaseErrorPolicy {
    /// The values of the key `onError`.
    pub(crate) const NAMES: &[&str] =
        &[Self::Closed.name(), ErrorPolicy::NoMatch.name(), ErrorPolicy::Match.name(), ErrorPolicy::Stop.name()];

    /// Returns the policy's word in files.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::All(policy) => policy.name(),
        }
    }

    /// Returns the policy that has this word.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let uniform = ErrorPolicy::ALL.into_iter().map(Self::All);
        std::iter::once(Self::Closed).chain(uniform).find(|policy| policy.name() == name)
    }

    /// Returns whether a failure ends the phase.
    pub(crate) fn stops(self) -> bool {
        self == Self::All(ErrorPolicy::Stop)
    }
}
