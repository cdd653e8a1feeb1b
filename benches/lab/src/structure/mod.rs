//! What a rule looks like apart from its constants, and which features of its language it uses.
//!
//! Rules of one structure do the same work, so one of them is measured for all. The partition of a
//! rule is the first feature of the table [`Feature`] that it uses, in its language: `cel/regex`,
//! `filter/contains`.

mod cel;
mod filter;

use celero_tooling::language::Language;
use std::collections::BTreeSet;

/// A feature of a language. The order is that of precedence: a rule with a regular expression and a
/// comparison is in the partition `regex`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// `matches`: regular expressions.
    Regex,
    /// `contains`, `startsWith`, `endsWith`, wildcards: searches in text.
    Contains,
    /// CEL's macros over collections (`all`, `exists`, `map`, ..), and `[*]`, `any`, `all` of the filter language.
    Macros,
    /// `in`: membership in a list, a map or a set of literals.
    Set,
    /// Reading maps and JSON by key, `has`, literals of maps.
    Maps,
    /// `+ - * / %` and bitwise operators.
    Arithmetic,
    /// Any other function.
    Functions,
    /// Equality and order.
    Comparison,
    /// None of these: a variable alone.
    Plain,
}

impl Feature {
    /// The name in partitions and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Regex => "regex",
            Self::Contains => "contains",
            Self::Macros => "macros",
            Self::Set => "set",
            Self::Maps => "maps",
            Self::Arithmetic => "arithmetic",
            Self::Functions => "functions",
            Self::Comparison => "comparison",
            Self::Plain => "plain",
        }
    }

    /// The feature of a function's name.
    fn of_function(name: &str) -> Self {
        match name {
            "matches" | "find" | "findAll" | "replaceAll" | "regex_replace" => Self::Regex,
            "contains" | "startsWith" | "endsWith" | "starts_with" | "ends_with" => Self::Contains,
            "any" | "all" => Self::Macros,
            _ if name.to_ascii_lowercase().contains("json") => Self::Maps,
            _ => Self::Functions,
        }
    }
}

/// The structure of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The tree as text: constants are replaced by their types, the lengths of patterns and of
    /// lists of constants by powers of two. Rules in one language with equal keys have one
    /// structure.
    pub key: String,
    /// The features that it uses; at least one.
    pub features: BTreeSet<Feature>,
}

impl Structure {
    /// Returns the structure of a rule.
    ///
    /// # Errors
    /// The first error of the rule: it can't be parsed or, in the filter language, names a field
    /// that is not documented.
    pub fn of(source: &str, language: Language) -> Result<Self, String> {
        let (key, mut features) =
            if language == Language::filter() { filter::structure(source)? } else { cel::structure(source)? };
        if features.is_empty() {
            features.insert(Feature::Plain);
        }
        Ok(Self { key, features })
    }

    /// Returns the feature that decides the partition.
    #[must_use]
    pub fn partition(&self) -> Feature {
        self.features.first().copied().unwrap_or(Feature::Plain)
    }
}

/// A number that is the same for lengths of one order of magnitude.
fn bucket(length: usize) -> usize {
    length.next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cel(source: &str) -> Structure {
        Structure::of(source, Language::cel()).unwrap()
    }

    fn filter(source: &str) -> Structure {
        Structure::of(source, Language::filter()).unwrap()
    }

    #[test]
    fn constants_are_abstracted_and_nothing_else() {
        assert_eq!(cel(r#"a.b == "x" && c < 3"#).key, cel(r#"a.b=='yy'  &&  c<400"#).key);
        assert_ne!(
            cel(r#"x.matches("a+")"#).key,
            cel(r#"x.matches("(a|b|c|d|e)+f{3,9}")"#).key,
            "patterns of other lengths"
        );
        assert_eq!(cel(r#"x in ["a", "b", "c"]"#).key, cel(r#"x in ["d", "e", "f", "g"]"#).key);
        for other in [r#"a.c == "x" && c < 3"#, r#"a.b != "x" && c < 3"#, "a.b == 1 && c < 3", r#"a.b == "x" || c < 3"#]
        {
            assert_ne!(cel(r#"a.b == "x" && c < 3"#).key, cel(other).key, "{other}");
        }
        assert_ne!(cel("x.all(e, e > 1)").key, cel("x.exists(e, e > 1)").key);
        assert_eq!(
            filter(r#"http.host eq "a" and ip.src in {10.0.0.0/8}"#).key,
            filter(r#"http.host == "b" && ip.src in {192.0.2.1}"#).key
        );
        assert_ne!(filter(r#"http.host eq "a""#).key, filter(r#"http.cookie eq "a""#).key);
        assert_ne!(filter(r#"http.host eq "a""#).key, filter(r#"not http.host eq "a""#).key);
    }

    #[test]
    fn the_partition_is_the_first_feature_of_the_table() {
        for (source, partition) in [
            (r#"a.matches("x+") && b == 1"#, Feature::Regex),
            (r#"a.contains("x") && b in [1, 2]"#, Feature::Contains),
            ("a.all(e, e == 1)", Feature::Macros),
            (r#"a in ["x"]"#, Feature::Set),
            (r#"a["k"] == 1"#, Feature::Maps),
            ("has(a.b)", Feature::Maps),
            ("a + 1 == 2", Feature::Arithmetic),
            ("size(a) == 2", Feature::Functions),
            ("a == 2", Feature::Comparison),
            ("a", Feature::Plain),
        ] {
            assert_eq!(cel(source).partition(), partition, "{source}");
        }
        for (source, partition) in [
            (r#"http.host matches "x+" and ssl"#, Feature::Regex),
            (r#"http.host contains "x""#, Feature::Contains),
            (r#"starts_with(http.host, "x")"#, Feature::Contains),
            (r#"any(http.request.headers["a"][*] eq "x")"#, Feature::Macros),
            (r#"http.host in {"x"}"#, Feature::Set),
            (r#"len(http.host) eq 3"#, Feature::Functions),
            (r#"http.host eq "x""#, Feature::Comparison),
            ("ssl", Feature::Plain),
        ] {
            assert_eq!(filter(source).partition(), partition, "{source}");
        }
    }

    #[test]
    fn what_is_not_a_rule_is_an_error() {
        assert!(Structure::of("a ==", Language::cel()).is_err());
        assert!(Structure::of("http.hst eq 3", Language::filter()).is_err());
    }
}
