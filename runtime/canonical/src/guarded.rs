//! Names of fields that a client may not imitate.

use crate::options::Underscores;
use http::HeaderName;
use std::collections::BTreeSet;
use std::ops::Bound;

/// The names of fields that a client may not imitate: those that a policy sets, removes or reads,
/// and those of identity, routing and framing.
///
/// Some servers (CGI, WSGI, PHP) read every character of a name but letters and digits as one and
/// the same, so `x_user` and `x.user` are `x-user` to them. A request with a name that only so
/// differs from a guarded one is refused.
#[derive(Clone, Debug, Default)]
pub struct GuardedNames {
    /// All names, with `-` for every character but letters and digits.
    names: BTreeSet<String>,
    prefixes: PrefixSet,
    /// The guarded names that have such a character themselves. They may be sent as they are.
    exact: BTreeSet<String>,
    /// The names in `exact` with `-` for each such character.
    twins: BTreeSet<String>,
    /// The guarded names without such a character. They may be sent too.
    plain: BTreeSet<String>,
    exact_prefixes: PrefixSet,
}

impl GuardedNames {
    /// The fields that decide who a client is, where a request goes and how it is framed: always
    /// guarded. In lower case, sorted.
    pub const ALWAYS: [&'static str; 18] = [
        "authorization",
        "connection",
        "content-length",
        "cookie",
        "forwarded",
        "host",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-forwarded-client-cert",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-port",
        "x-forwarded-proto",
        "x-real-ip",
        "x-request-id",
    ];

    /// Adds a name.
    pub fn add(&mut self, name: &str) {
        let written = name.to_ascii_lowercase();
        if is_odd(name) {
            self.exact.insert(written);
            self.twins.insert(folded(name));
        } else {
            self.plain.insert(written);
        }
        self.names.insert(folded(name));
    }

    /// Adds all names that start with `prefix`.
    pub fn add_prefix(&mut self, prefix: &str) {
        if is_odd(prefix) {
            self.exact_prefixes.insert(prefix.to_ascii_lowercase());
        }
        self.prefixes.insert(folded(prefix));
    }

    /// Returns a name as servers may read it: in lower case, with `-` for every character but letters and digits.
    #[must_use]
    pub fn folded(name: &str) -> String {
        folded(name)
    }

    /// Returns the names that were added, [folded](Self::folded), in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the shortest of the prefixes that were added, [folded](Self::folded), in order. None
    /// of them is the prefix of another one.
    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.prefixes.0.iter().map(String::as_str)
    }

    /// Returns whether a name is one of those that were added, imitations included.
    #[must_use]
    pub fn covers(&self, name: &HeaderName) -> bool {
        self.holds(&folded(name.as_str()))
    }

    /// Returns whether a name is one of those that were added, or is [always](Self::ALWAYS)
    /// guarded, imitations included.
    pub(crate) fn covers_or_always(&self, name: &HeaderName) -> bool {
        self.holds_or_always(&folded(name.as_str()))
    }

    /// Returns whether a request with a field of this name is refused.
    #[inline]
    pub(crate) fn refuses(&self, name: &str, underscores: Underscores) -> bool {
        if !is_odd(name) && self.exact.is_empty() {
            return false;
        }
        self.imitates(name, underscores)
    }

    #[cold]
    fn imitates(&self, name: &str, underscores: Underscores) -> bool {
        match underscores {
            Underscores::Keep => false,
            Underscores::Refuse => is_odd(name),
            Underscores::Guarded if self.is_exact(name) => false,
            Underscores::Guarded if is_odd(name) => self.holds_or_always(&folded(name)),
            // A plain name imitates a guarded name with an odd character.
            Underscores::Guarded => self.twins.contains(name) && !self.plain.contains(name),
        }
    }

    fn is_exact(&self, name: &str) -> bool {
        self.exact.contains(name) || self.exact_prefixes.begins(name)
    }

    fn holds_or_always(&self, folded: &str) -> bool {
        Self::ALWAYS.contains(&folded) || self.holds(folded)
    }

    fn holds(&self, folded: &str) -> bool {
        self.names.contains(folded) || self.prefixes.begins(folded)
    }
}

/// Prefixes of which none is the prefix of another one: the longer one adds nothing.
#[derive(Clone, Debug, Default)]
struct PrefixSet(BTreeSet<String>);

impl PrefixSet {
    fn insert(&mut self, prefix: String) {
        if self.begins(&prefix) {
            return;
        }
        while let Some(longer) =
            self.0.range(prefix.clone()..).next().filter(|other| other.starts_with(&prefix)).cloned()
        {
            self.0.remove(&longer);
        }
        self.0.insert(prefix);
    }

    /// Whether a name begins with one of the prefixes. That would be the last one before the name:
    /// what is between the two begins with it too.
    fn begins(&self, name: &str) -> bool {
        let before = self.0.range::<str, _>((Bound::Unbounded, Bound::Included(name))).next_back();
        before.is_some_and(|prefix| name.starts_with(prefix.as_str()))
    }
}

/// Whether a name has another character than letters, digits and `-`.
#[inline]
fn is_odd(name: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte == b'-' || byte.is_ascii_digit() || byte.is_ascii_uppercase();
    !name.bytes().fold(true, |all, byte| all & plain(byte))
}

fn folded(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded() -> GuardedNames {
        let mut guarded = GuardedNames::default();
        ["x-user", "X_Tenant"].into_iter().for_each(|name| guarded.add(name));
        guarded.add_prefix("x-internal-");
        guarded
    }

    #[test]
    fn imitations_are_refused() {
        let guarded = guarded();
        for name in
            ["x_user", "x.user", "x-internal_a", "x_internal_a", "x-tenant", "x.tenant", "content_length", "cookie_"]
        {
            assert_eq!(guarded.refuses(name, Underscores::Guarded), name != "cookie_", "{name}");
            assert!(!guarded.refuses(name, Underscores::Keep), "{name}");
        }
        for name in ["x-user", "x_tenant", "x-internal-a", "my_field", "accept"] {
            assert!(!guarded.refuses(name, Underscores::Guarded), "{name}");
        }
        let mut both = GuardedNames::default();
        ["x_user", "x-user"].into_iter().for_each(|name| both.add(name));
        let refused = ["x_user", "x-user", "x.user"].map(|name| both.refuses(name, Underscores::Guarded));
        assert_eq!(refused, [false, false, true], "who names both spellings knows them");
        assert!(guarded.refuses("my_field", Underscores::Refuse));
        assert!(!GuardedNames::default().refuses("x_user", Underscores::Guarded));
        assert!(GuardedNames::default().refuses("transfer_encoding", Underscores::Guarded));
    }

    #[test]
    fn names_are_covered_with_their_imitations() {
        let covers = |name: &'static str| guarded().covers(&HeaderName::from_static(name));
        assert!(
            covers("x-user") && covers("x_user") && covers("x-internal-x") && covers("x_tenant") && covers("x-tenant")
        );
        assert!(!covers("host") && !covers("x-users"));
        assert!(guarded().covers_or_always(&HeaderName::from_static("x_real_ip")));
    }

    /// Prefixes that overlap, in any order, cover what each of them covers.
    #[test]
    fn prefixes_of_prefixes_cover_the_same() {
        for prefixes in [["x-a-", "x-a-b", "x-"], ["x-", "x-a-", "x-a-b"], ["x-a-b", "x-", "x-a-"]] {
            let mut guarded = GuardedNames::default();
            prefixes.iter().for_each(|prefix| guarded.add_prefix(prefix));
            for (name, is_covered) in [("x-", true), ("x-a-b", true), ("x-a-c", true), ("x_a", true), ("y", false)] {
                assert_eq!(guarded.covers(&HeaderName::from_static(name)), is_covered, "{prefixes:?} {name}");
            }
        }
    }

    /// To add names and to look for them takes time linear in their number, whatever their order.
    #[test]
    fn names_take_time_linear_in_their_number() {
        for (add, sign) in [
            (GuardedNames::add as fn(&mut GuardedNames, &str), "-"),
            (GuardedNames::add, "_"),
            (GuardedNames::add_prefix, "-"),
            (GuardedNames::add_prefix, "_"),
        ] {
            celero_timing::assert_linear(sign, [8_000, 32_000], |count| {
                let names: Vec<String> = (0..count).rev().map(|n| format!("x{sign}{n:09}{sign}")).collect();
                celero_timing::cpu_time_of(|| {
                    let mut guarded = GuardedNames::default();
                    names.iter().for_each(|name| add(&mut guarded, name));
                    let is_held =
                        |name: &String| guarded.is_exact(name) == (sign == "_") && guarded.holds(&folded(name));
                    assert!(names.iter().all(is_held));
                    guarded
                })
            });
        }
    }
}
