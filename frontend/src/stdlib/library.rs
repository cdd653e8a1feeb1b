//! Libraries: the parts of the function table that an environment can turn off.

/// A part of the table that an environment can have or not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Library {
    /// The functions and operators of the language definition. Always there.
    Standard,
    /// Optional values: `optional.of`, `a.?b`, `a[?b]`, `[?a]`, `optMap`.
    Optionals,
    /// Addresses and networks.
    Network,
    /// More functions of text.
    Strings,
    /// Functions of numbers.
    Math,
    /// Text encodings of bytes.
    Encoders,
    /// More functions of lists.
    Lists,
    /// Lists as sets.
    Sets,
    /// More functions of regular expressions.
    Regex,
    /// JSON text.
    Json,
    /// The macros of two variables: `all`, `exists`, `existsOne`, `transformList`, `transformMap`, `transformMapEntry`.
    Comprehensions,
    /// `cel.bind`.
    Bindings,
    /// What gateways have besides: the macros `with`, `mapValues`, `filterKeys`, `default`,
    /// `coalesce`; digests, random values, failing on purpose.
    Gateway,
    /// Message authentication codes. Only with the feature `hmac` of `celero`.
    Hmac,
    /// YAML text. Only with the feature `yaml` of `celero`.
    Yaml,
    /// JSON Web Tokens, whose signatures it does not verify.
    Jwt,
    /// Header maps in other forms, cookies, and parameters of queries.
    Http,
}

impl Library {
    /// All libraries, in the order of the table.
    pub const ALL: [Library; 17] = [
        Self::Standard,
        Self::Optionals,
        Self::Network,
        Self::Strings,
        Self::Math,
        Self::Encoders,
        Self::Lists,
        Self::Sets,
        Self::Regex,
        Self::Json,
        Self::Comprehensions,
        Self::Bindings,
        Self::Gateway,
        Self::Hmac,
        Self::Yaml,
        Self::Jwt,
        Self::Http,
    ];

    /// The name for people: `strings`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Optionals => "optionals",
            Self::Network => "network",
            Self::Strings => "strings",
            Self::Math => "math",
            Self::Encoders => "encoders",
            Self::Lists => "lists",
            Self::Sets => "sets",
            Self::Regex => "regex",
            Self::Json => "json",
            Self::Comprehensions => "comprehensions",
            Self::Bindings => "bindings",
            Self::Gateway => "gateway",
            Self::Hmac => "hmac",
            Self::Yaml => "yaml",
            Self::Jwt => "jwt",
            Self::Http => "http",
        }
    }
}

/// A set of libraries. The default is all of them; [`Library::Standard`] can't be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Libraries(u32);

impl Default for Libraries {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Libraries {
    fn bit(library: Library) -> u32 {
        1_u32.wrapping_shl(library as u32)
    }

    /// Adds a library to the set, or removes it.
    pub fn set(&mut self, library: Library, on: bool) {
        if on || library == Library::Standard {
            self.0 |= Self::bit(library);
        } else {
            self.0 &= !Self::bit(library);
        }
    }

    /// Whether a library is in the set.
    #[must_use]
    pub fn contains(self, library: Library) -> bool {
        self.0 & Self::bit(library) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_taken_out_one_by_one() {
        for out in Library::ALL {
            let mut libraries = Libraries::default();
            libraries.set(out, false);
            for library in Library::ALL {
                assert_eq!(libraries.contains(library), library != out || library == Library::Standard);
            }
            libraries.set(out, true);
            assert!(Library::ALL.iter().all(|l| libraries.contains(*l)));
        }
    }
}
