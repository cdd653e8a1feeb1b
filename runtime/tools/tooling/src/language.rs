//! The languages in which rules are written, and how a file says which one it is in.

use crate::envs::Envs;
use celero::filter::FilterLanguage;
use celero::http::RequestContext;
use celero::{Engine, Env, Tier};
pub use celero_policy::Language;
use std::sync::LazyLock;

/// Returns the parser of an argument that names a language.
#[cfg(feature = "clap")]
#[must_use]
pub fn parser() -> impl clap::builder::TypedValueParser<Value = Language> {
    use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
    let known = Language::all().into_iter().map(|known| PossibleValue::new(known.name()).help(known.title()));
    PossibleValuesParser::new(known).try_map(|name| Language::named(&name))
}

/// Returns the language that rules in CEL or in the filter language are translated to.
#[must_use]
pub fn counterpart(language: Language) -> Language {
    if language == Language::cel() { Language::filter() } else { Language::cel() }
}

/// Whether comments, lines that start with `#`, may stand before a rule: the language itself has none.
#[must_use]
pub fn has_comments_before(language: Language) -> bool {
    language.lexicon().comment.is_none()
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

/// The environments of rules about requests, for rules of hosts whose lists are not known.
pub static REQUEST_ENVS: LazyLock<Envs<RequestContext<'static>>> =
    LazyLock::new(|| Envs::new(Env::new(), FilterLanguage::http().any_list(true)));

/// Returns the language of a text that is not valid CEL, but a rule about requests in another language.
pub fn meant(text: &str) -> Option<Language> {
    let engine = Engine::builder().tier(Tier::Interpret).build();
    if engine.check(REQUEST_ENVS.of(Language::default()), text).is_ok() {
        return None;
    }
    let others = Language::all().into_iter().filter(|language| !language.is_default());
    others.into_iter().find(|language| engine.check(REQUEST_ENVS.of(*language), text).is_ok())
}

/// Returns a hint about a text that is not valid CEL, but a rule about requests in another language.
/// A rule that names a variable of its environment is CEL with a mistake in it.
pub fn suggestion(text: &str, is_variable: impl Fn(&str) -> bool) -> Option<String> {
    if names_variable(text, is_variable) {
        return None;
    }
    let language = meant(text)?;
    let (title, name) = (language.title(), language.name());
    Some(format!("this is a rule in {title}: give it with --language {name}, or in a file `NAME.{name}`"))
}

/// Whether a name in a text, outside of quotes, is a variable or begins with one.
pub fn names_variable(text: &str, is_variable: impl Fn(&str) -> bool) -> bool {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let length = match c {
            // An escaped quote only splits a text, whose words are then taken for names.
            '"' | '\'' => rest.get(1..).and_then(|inner| inner.find(c)).map_or(rest.len(), |end| end.saturating_add(2)),
            c if is_part(c) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let Some((word, after)) = rest.split_at_checked(length) else { return false };
        let ends = word.match_indices('.').map(|(at, _)| at).chain([word.len()]);
        if is_part(c) && ends.filter_map(|end| word.get(..end)).any(&is_variable) {
            return true;
        }
        rest = after;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_names_the_language() {
        for (text, language) in [
            ("# language: filter\nssl", Ok(Some(Language::filter()))),
            ("#language:filter\r\nssl", Ok(Some(Language::filter()))),
            ("  # language: cel  ", Ok(Some(Language::cel()))),
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
        let declarations = REQUEST_ENVS.of(Language::default()).declarations();
        let suggestion = |text| suggestion(text, |name| declarations.variable(name).is_some());
        assert!(suggestion(r#"http.host eq "a" and ip.src in $office"#).is_some());
        assert!(suggestion(r#"http.host == "request.path""#).is_some());
        assert!(suggestion("request.path ==").is_none());
        // It is CEL, where these names are declared.
        assert!(suggestion("request.path == \"/\"").is_none());
        for text in [
            r#"request.path contains "a""#,
            r#"!request.path == "/""#,
            "source.address in $office",
            "request.port in {80}",
        ] {
            assert!(meant(text).is_some() && suggestion(text).is_none(), "{text}");
        }
        // A host may declare the names of the filter language.
        assert!(super::suggestion(r#"http.host eq "a""#, |name| name == "http.host").is_none());
    }

    #[test]
    fn names_in_texts_are_no_variables() {
        let is_variable = |name: &str| name == "a.b";
        for (text, names) in [
            ("a.b == 1", true),
            ("!a.b.c", true),
            ("a == b", false),
            ("x.a.b", false),
            ("\"a.b\" == x", false),
            ("'a.b' in \"a.b", false),
            ("'x' == a.b", true),
            ("é a.b", true),
            ("", false),
        ] {
            assert_eq!(names_variable(text, is_variable), names, "{text}");
        }
    }
}
