//! The format and the language of a file of rules, by its name and content.

use super::file::{is_rules, is_rules_with_plain_names};
use crate::language::{self, Language, has_comments_before};
use celero_policy::Policy;
use std::path::Path;

/// How rules are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
    /// One expression.
    Cel,
    /// Rules, one per line: `name: expression`.
    Rules,
    /// A policy in YAML.
    Policy,
}

impl Format {
    /// Returns what a text of this format is, for messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cel => "an expression",
            Self::Rules => "a file of rules",
            Self::Policy => "a policy",
        }
    }
}

/// The text of a file, ready to be checked in its format and language.
#[derive(Clone, Debug)]
pub struct RuleText {
    /// The text. Of an expression in which comments are no part of the language, the comments
    /// before it are blanks; so every place in it is a place in the file.
    pub text: String,
    /// Its format.
    pub format: Format,
    /// The language of the rules; of a file of rules, of those that name no other.
    pub language: Language,
    /// The comments before an expression whose language has none. In `text` they are blank.
    pub comments: String,
}

/// Why the format or the language of a file is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The first line names no language that exists: the message.
    Language(String),
    /// A policy, by its content, in a file with another name.
    OtherFormat,
}

impl RuleText {
    /// Finds out format and language of a text without byte order mark. `path` is the name of the
    /// file, which need not exist; `format` and `language` are known ones.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn of(
        path: &Path,
        text: String,
        format: Option<Format>,
        language: Option<Language>,
    ) -> Result<Self, Unreadable> {
        let named = language::of_first_line(&text).map_err(Unreadable::Language)?;
        let by_name = extension_of(path).and_then(|extension| Language::named(extension).ok());
        let language = language.or(named).or(by_name).unwrap_or_default();
        let detected = detected(path, &text, language);
        if format.is_none() && detected == Format::Rules && is_policy(&text) {
            return Err(Unreadable::OtherFormat);
        }
        let format = format.unwrap_or(detected);
        let (mut text, mut comments) = (text, String::new());
        if format == Format::Cel {
            text.truncate(text.trim_end().len());
            if has_comments_before(language) || named.is_some() {
                let (before, rule) = language::split_comments(&text);
                comments = before.to_owned();
                text = language::blanked(before) + rule;
            }
        }
        Ok(Self { text, format, language, comments })
    }
}

fn extension_of(path: &Path) -> Option<&str> {
    path.extension().and_then(|extension| extension.to_str())
}

/// Returns the format that name and content suggest.
fn detected(path: &Path, text: &str, language: Language) -> Format {
    match extension_of(path) {
        Some("yaml" | "yml") => Format::Policy,
        Some("rules") => Format::Rules,
        Some(extension) if Language::named(extension).is_ok_and(|language| !language.is_default()) => Format::Cel,
        _ if is_policy(text) => Format::Policy,
        // `ip.src eq 2001:db8::1` starts as a rule with the name `ip.src eq 2001` would.
        _ if !language.is_default() && !is_rules_with_plain_names(text) => Format::Cel,
        _ if is_rules(text) => Format::Rules,
        _ => Format::Cel,
    }
}

/// Returns whether a text starts like a policy: with a line that is nothing but one of a policy's
/// keys, and then a list or a mapping.
fn is_policy(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let Some(key) = lines.next().and_then(|line| line.trim_end().strip_suffix(':')) else { return false };
    let schema = Policy::json_schema();
    let known = schema.get("properties").and_then(|keys| keys.get(key)).is_some();
    known && lines.next().is_some_and(|line| line.trim_start().starts_with("- ") || line.contains(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_name_then_content() {
        for (name, text, format) in [
            ("a.cel", "x == 1", Format::Cel),
            ("a.cel", "a: x == 1", Format::Rules),
            ("a.rules", "x == 1", Format::Rules),
            ("a.yml", "x == 1", Format::Policy),
            ("-", "# p\nrequest:\n- deny: true\n", Format::Policy),
            ("-", "variables:\n  a: 1 == 1\n", Format::Policy),
            ("-", "log:\n  request.path == \"/\"\n", Format::Rules),
            ("-", "request: true", Format::Rules),
            ("-", "request.path == '/'", Format::Cel),
        ] {
            assert_eq!(detected(Path::new(name), text, Language::cel()), format, "{name} {text}");
        }
        for (name, text, format) in [
            ("a.filter", "a: ssl", Format::Cel),
            ("a.rules", "a b: ssl", Format::Rules),
            ("-", "ip.src eq 2001:db8::1", Format::Cel),
            ("-", "# language: filter\na: ssl", Format::Rules),
            ("-", "a [language filter]: ssl", Format::Rules),
        ] {
            assert_eq!(detected(Path::new(name), text, Language::filter()), format, "{name} {text}");
        }
    }
}
