//! [`Kind`]: what the entries of a list are.

use std::fmt;

/// What the entries of a list are, and which values it can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// IP addresses and networks of both families: `192.0.2.7`, `2001:db8::/32`. A range,
    /// `192.0.2.1..192.0.2.9`, is read as the networks that it consists of. Contains an address if
    /// a network of its family contains it. An IPv4-mapped IPv6 address counts as the IPv4 address.
    Addresses,
    /// Texts, compared byte by byte.
    Texts,
    /// Texts. ASCII letters match in either case.
    TextsIgnoringCase,
    /// Host names, `www.example.com`, and all names below one, `*.example.com`. Letters match in
    /// either case. One dot at the end of a value is ignored, and so is its port.
    Hosts,
    /// Integers, `443`, and ranges with both ends, `8000..8999`.
    Integers,
    /// Regular expressions, in the syntax of the crate `regex`. Contains a text if one matches
    /// somewhere in it: `^/admin/` matches at its beginning only, and `(?i)` ignores case.
    Patterns,
    /// Texts in which a star stands for any text: `/admin/*`, `*.php`. Contains a text that one
    /// matches as a whole. `\*` is a star and `\\` a backslash.
    Wildcards,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Addresses,
        Self::Texts,
        Self::TextsIgnoringCase,
        Self::Hosts,
        Self::Integers,
        Self::Patterns,
        Self::Wildcards,
    ];

    /// Returns the name, as configurations write it: `addresses`, `texts`, `textsIgnoringCase`,
    /// `hosts`, `integers`, `patterns`, `wildcards`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Addresses => "addresses",
            Self::Texts => "texts",
            Self::TextsIgnoringCase => "textsIgnoringCase",
            Self::Hosts => "hosts",
            Self::Integers => "integers",
            Self::Patterns => "patterns",
            Self::Wildcards => "wildcards",
        }
    }

    /// Returns whether entries are compiled, and lists of them so limited in number.
    pub(crate) fn is_compiled(self) -> bool {
        matches!(self, Self::Patterns | Self::Wildcards)
    }

    /// Returns the kind of a [name](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
