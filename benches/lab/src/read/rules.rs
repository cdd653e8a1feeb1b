//! Rules of files: one expression (`.cel`, `.filter`), `NAME: EXPRESSION` lines (`.rules`), or a corpus (`.jsonl`), an object with a member
//! `expr` on each line. Lines with a member `pattern` or `regex` instead become rules that search the target of the request with it.

use super::{Language, text};
use crate::structure::Structure;
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
    language: Option<Language>,
}

/// Lines of a corpus by which its language is found.
const PROBED: usize = 100;

/// Reads the rules of a file.
///
/// # Errors
/// The file can't be read, or is not of a known form: its name, the line, and what is expected there.
pub fn rules(path: &Path) -> Result<Vec<SourceRule>, String> {
    let text = text(path)?;
    let one = |language| vec![SourceRule { source: text.trim().to_owned(), language }];
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => corpus(&text).map_err(|why| format!("{}:{why}", path.display())),
        Some("rules") => lines(&text).map_err(|why| format!("{}:{why}", path.display())),
        Some("cel") => Ok(one(Language::Cel)),
        Some("filter") => Ok(one(Language::Filter)),
        _ => Err(format!("{}: rules are in files that end in .cel, .filter, .rules or .jsonl", path.display())),
    }
}

fn corpus(text: &str) -> Result<Vec<SourceRule>, String> {
    let mut found = Vec::new();
    for (number, line) in (1_usize..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line = serde_json::from_str(line).map_err(|error| format!("{number}: {error}"))?;
        let (source, language) = match (line.expr, line.pattern) {
            (Some(source), _) => (source, line.language),
            (None, Some(pattern)) => (format!("request.uri.matches({})", quoted(&pattern)), Some(Language::Cel)),
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
    if valid(Language::Filter) > valid(Language::Cel) { Language::Filter } else { Language::Cel }
}

/// A CEL literal of a text: JSON's escapes are CEL's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The rules of `NAME: EXPRESSION` lines. `NAME [language filter]: ..` is in the filter language; other attributes are ignored. A line that
/// starts with white space continues the one above.
fn lines(text: &str) -> Result<Vec<SourceRule>, String> {
    let mut found: Vec<SourceRule> = Vec::new();
    for (number, line) in (1_usize..).zip(text.lines()) {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        if line.starts_with([' ', '\t']) {
            let above = found.last_mut().ok_or_else(|| format!("{number}: there is no rule above to continue"))?;
            above.source.push('\n');
            above.source.push_str(line.trim_end());
            continue;
        }
        let (head, source) = line.split_once(':').ok_or_else(|| format!("{number}: expected `NAME: EXPRESSION`"))?;
        let language = if head.contains("language filter") { Language::Filter } else { Language::Cel };
        found.push(SourceRule { source: source.trim().to_owned(), language });
    }
    Ok(found)
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
        assert_eq!(cel, [rule("a == 1", Language::Cel), rule("ssl", Language::Filter)]);
        let filter = corpus("{\"expr\": \"http.host eq \\\"a\\\"\"}\n{\"expr\": \"ssl\"}\n").unwrap();
        assert_eq!(filter.iter().map(|rule| rule.language).collect::<Vec<_>>(), [Language::Filter; 2]);
        let pattern = corpus(r#"{"regex": "a\\s\"", "id": 1}"#).unwrap();
        assert_eq!(pattern, [rule(r#"request.uri.matches("a\\s\"")"#, Language::Cel)]);
        assert_eq!(corpus("{}").unwrap_err(), "1: expected a member `expr`, `pattern` or `regex`");
    }

    #[test]
    fn lines_are_rules() {
        let found = lines("# c\na: x ==\n  1\nb [priority 2, language filter]: ssl\n").unwrap();
        assert_eq!(found, [rule("x ==\n  1", Language::Cel), rule("ssl", Language::Filter)]);
        assert_eq!(lines("a").unwrap_err(), "1: expected `NAME: EXPRESSION`");
    }
}
