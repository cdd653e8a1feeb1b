//! Rules of files: `.cel`, `.filter` and `.rules` as all tools of celero read them, or a corpus
//! (`.jsonl`), an object with a member `expr` on each line. Lines with a member `pattern` or
//! `regex` instead become rules that search the target of the request with it.

use crate::structure::Structure;
use celero_tooling::language::Language;
use celero_tooling::rules::file::RulesFile;
use celero_tooling::rules::source::{Format, RuleText, Unreadable};
use serde::Deserialize;
use std::path::Path;

/// A rule as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRule {
    /// The expression.
    pub source: String,
    /// Its language.
    pub language: Language,
}

/// A line of a corpus. Its other members are ignored.
#[derive(Deserialize)]
struct Line {
    #[serde(alias = "expression")]
    expr: Option<String>,
    #[serde(alias = "regex")]
    pattern: Option<String>,
    language: Option<String>,
}

/// Lines of a corpus by which its language is found.
const PROBED: usize = 100;

/// Reads the rules of a file.
///
/// # Errors
/// The file can't be read, or is not of a known form: its name, the line, and what is expected there.
pub fn rules(path: &Path) -> Result<Vec<SourceRule>, String> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => corpus(text).map_err(|why| format!("{name}:{why}")),
        Some("cel" | "filter" | "rules") => written(path, text),
        _ => Err(format!("{name}: rules are in files that end in .cel, .filter, .rules or .jsonl")),
    }
}

/// Reads the rules that people wrote.
fn written(path: &Path, text: &str) -> Result<Vec<SourceRule>, String> {
    let name = path.display().to_string();
    let policy = || format!("{name}: a policy; expected rules");
    let RuleText { text, format, language, .. } =
        RuleText::of(path, text.to_owned(), None, None).map_err(|why| match why {
            Unreadable::Language(why) => format!("{name}:1: {why}"),
            Unreadable::OtherFormat => policy(),
        })?;
    let rule = |source: &str, language| SourceRule { source: source.trim().to_owned(), language };
    match format {
        Format::Cel => Ok(vec![rule(&text, language)]),
        Format::Rules => {
            let file = RulesFile::parse(name, text, language)?;
            Ok(file.rules.iter().map(|found| rule(&found.source, found.language)).collect())
        }
        Format::Policy => Err(policy()),
    }
}

fn corpus(text: &str) -> Result<Vec<SourceRule>, String> {
    let mut found = Vec::new();
    for (number, line) in (1_usize..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line = serde_json::from_str(line).map_err(|error| json_error(number, &error))?;
        let language = line.language.as_deref().map(Language::named).transpose();
        let language = language.map_err(|why| format!("{number}: {why}"))?;
        let (source, language) = match (line.expr, line.pattern) {
            (Some(source), _) => (source, language),
            (None, Some(pattern)) => (format!("request.uri.matches({})", quoted(&pattern)), Some(Language::cel())),
            (None, None) => return Err(format!("{number}: expected a member `expr`, `pattern` or `regex`")),
        };
        found.push((source, language));
    }
    let unknown: Vec<&str> =
        found.iter().filter(|(_, language)| language.is_none()).map(|(source, _)| &**source).collect();
    let all = likelier(&unknown);
    Ok(found.into_iter().map(|(source, language)| SourceRule { source, language: language.unwrap_or(all) }).collect())
}

/// The language in which more of the first expressions are valid; CEL if neither has more.
fn likelier(sources: &[&str]) -> Language {
    let valid = |language| sources.iter().take(PROBED).filter(|source| Structure::of(source, language).is_ok()).count();
    if valid(Language::filter()) > valid(Language::cel()) { Language::filter() } else { Language::cel() }
}

/// A CEL literal of a text: JSON's escapes are CEL's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns what is wrong with a line of JSON Lines: `LINE:COLUMN: message`.
fn json_error(line: usize, error: &serde_json::Error) -> String {
    let message = error.to_string();
    // The error's own line is always 1.
    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
    format!("{line}:{}: {message}", error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(source: &str, language: Language) -> SourceRule {
        SourceRule { source: source.to_owned(), language }
    }

    #[test]
    fn a_corpus_is_read_in_its_language() {
        let cel =
            corpus("{\"expr\": \"a == 1\", \"source\": \"x\"}\n\n{\"expr\": \"ssl\", \"language\": \"filter\"}\n")
                .unwrap();
        assert_eq!(cel, [rule("a == 1", Language::cel()), rule("ssl", Language::filter())]);
        let filter = corpus("{\"expr\": \"http.host eq \\\"a\\\"\"}\n{\"expr\": \"ssl\"}\n").unwrap();
        assert_eq!(filter.iter().map(|rule| rule.language).collect::<Vec<_>>(), [Language::filter(); 2]);
        let pattern = corpus(r#"{"regex": "a\\s\"", "id": 1}"#).unwrap();
        assert_eq!(pattern, [rule(r#"request.uri.matches("a\\s\"")"#, Language::cel())]);
        assert_eq!(corpus("{}").unwrap_err(), "1: expected a member `expr`, `pattern` or `regex`");
        let unknown = corpus(r#"{"expr": "a", "language": "wire"}"#).unwrap_err();
        assert_eq!(unknown, "1: there is no language `wire`: expected `cel` or `filter`");
        assert_eq!(corpus("\n{").unwrap_err(), "2:1: EOF while parsing an object");
    }

    #[test]
    fn files_are_read_as_other_tools_read_them() {
        let read = |name: &str, text: &str| written(Path::new(name), text);
        let (cel, filter) = (|source| rule(source, Language::cel()), |source| rule(source, Language::filter()));
        for (name, text, rules) in [
            ("a.cel", "a ==\n  1\n", vec![cel("a ==\n  1")]),
            ("a.cel", "# language: filter\nssl\n", vec![filter("ssl")]),
            ("a.filter", "# why\nssl\n", vec![filter("ssl")]),
            (
                "a.rules",
                "# c\na: x ==\n  1\nb [priority -2, language filter]: ssl\n",
                vec![filter("ssl"), cel("x ==\n  1")],
            ),
            ("a.rules", "# language: filter\na: ssl\nb [language cel]: x\n", vec![filter("ssl"), cel("x")]),
        ] {
            assert_eq!(read(name, text), Ok(rules), "{name} {text}");
        }
        for (name, text, why) in [
            ("a.rules", "a: b\nc", "a.rules:2: expected `NAME: EXPRESSION`"),
            ("a.rules", "a [language wire]: b", "a.rules:1: there is no language `wire`: expected `cel` or `filter`"),
            ("a.cel", "# language: wire", "a.cel:1: there is no language `wire`: expected `cel` or `filter`"),
            ("a.rules", "request:\n- deny: true\n", "a.rules: a policy; expected rules"),
            ("a.cel", "request:\n- deny: true\n", "a.cel: a policy; expected rules"),
        ] {
            assert_eq!(read(name, text).unwrap_err(), why);
        }
    }
}
