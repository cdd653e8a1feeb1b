//! What a rule of a phase counts as if its condition fails: the key `onError`.

use crate::rule::Rule;
use celero::ErrorPolicy;

/// What the rules of a phase count as if their conditions fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PhaseErrorPolicy {
    /// The default of a phase, fail closed: a guard ([`Rule::is_guard`]) matches, any other rule does not.
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

    /// Returns the policy of one rule in the set of its phase. The set must report a failure that ends the phase, in the order of
    /// the rules, so such a rule counts as a match there.
    pub(crate) fn of_rule<S>(self, rule: &Rule<S>) -> ErrorPolicy {
        match self {
            Self::Closed if rule.is_guard() => ErrorPolicy::Match,
            Self::Closed | Self::All(ErrorPolicy::NoMatch) => ErrorPolicy::NoMatch,
            Self::All(ErrorPolicy::Match | ErrorPolicy::Stop) => ErrorPolicy::Match,
        }
    }
}
