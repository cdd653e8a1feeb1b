//! The languages in which rules are written, and how a file says which one it is in.

use celero::filter::{FilterOptions, check_filter, http_scheme};
use std::sync::Arc;

/// A language of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Language {
    /// CEL.
    #[default]
    Cel,
    /// Cloudflare's filter language.
    Filter,
}

impl Language {
    const ALL: [Self; 2] = [Self::Cel, Self::Filter];

    /// Returns the name, as `--language` and files have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cel => "cel",
            Self::Filter => "filter",
        }
    }

    /// Returns the language that rules in this one are translated to.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Cel => Self::Filter,
            Self::Filter => Self::Cel,
        }
    }

    /// Returns the language of a name.
    ///
    /// # Errors
    /// A name of no language.
    pub fn named(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|language| language.name() == name);
        known.ok_or_else(|| format!("there is no language `{name}`: expected `cel` or `filter`"))
    }
}

/// Returns the language that the first line of a text names: `# language: filter`.
///
/// # Errors
/// A name of no language.
pub fn of_first_line(text: &str) -> Result<Option<Language>, String> {
    let line = text.lines().next().unwrap_or_default().trim();
    let name = line.strip_prefix('#').and_then(|comment| comment.trim_start().strip_prefix("language:"));
    name.map(|name| Language::named(name.trim())).transpose()
}

/// Splits a text after its first lines, those that are blank or start with `#`. The language itself has no comments.
pub fn split_comments(text: &str) -> (&str, &str) {
    let is_comment = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let length = text.split_inclusive('\n').take_while(is_comment).map(str::len).fold(0, usize::saturating_add);
    text.split_at_checked(length).unwrap_or((text, ""))
}

/// Returns a text with a blank for each byte but line ends.
pub fn blanked(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}

/// Returns a hint about a text that is not valid CEL, but a rule in the filter language with documented fields.
pub fn suggestion(text: &str) -> Option<String> {
    let mut scheme = http_scheme();
    scheme.accept_all_lists();
    check_filter(text, &Arc::new(scheme), &FilterOptions::default()).ok()?;
    let how = "with --language filter, or in a file `NAME.filter`";
    Some(format!("this is a rule in Cloudflare's filter language: give it {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_names_the_language() {
        for (text, language) in [
            ("# language: filter\nssl", Ok(Some(Language::Filter))),
            ("#language:filter\r\nssl", Ok(Some(Language::Filter))),
            ("  # language: cel  ", Ok(Some(Language::Cel))),
            ("# languages", Ok(None)),
            ("ssl\n# language: filter", Ok(None)),
            ("", Ok(None)),
        ] {
            assert_eq!(of_first_line(text), language, "{text}");
        }
        assert_eq!(
            of_first_line("# language: wire").unwrap_err(),
            "there is no language `wire`: expected `cel` or `filter`"
        );
    }

    #[test]
    fn comments_are_before_the_rule() {
        assert_eq!(split_comments("# é\n\n # b\nssl\n# c\n"), ("# é\n\n # b\n", "ssl\n# c\n"));
        assert_eq!(split_comments("ssl"), ("", "ssl"));
        assert_eq!(blanked("# é\n"), "    \n");
    }

    #[test]
    fn rules_in_the_filter_language_are_recognised() {
        assert!(suggestion(r#"http.host eq "a" and ip.src in $office"#).is_some());
        assert!(suggestion("request.path == \"/\"").is_none());
    }
}
