//! Files of rules: `name: expression`, a rule a line. Lines that start with white space continue the rule above, those that start
//! with `#` are comments, and blank ones mean nothing. No expression starts with a name and a colon, so that such a file is told
//! from one that holds a single expression.

use crate::failure::{diagnostic_json, style};
use crate::output::Output;
use celero::{Diagnostic, Span};
use serde_json::{Value as Json, json};

/// Most diagnostics that people are shown.
const MOST_SHOWN: usize = 100;

/// The rules of a file.
pub(crate) struct RulesFile {
    /// Its name, for messages.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) rules: Vec<Rule>,
}

/// A rule of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) name: String,
    /// The expression, with blanks for comments between its lines.
    pub(crate) source: String,
    /// Where it starts in the file.
    start: usize,
}

/// Whether a text is that of a file of rules.
pub(crate) fn is_rules(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !is_nothing(line));
    lines.next().is_some_and(|line| name(line).is_some())
}

fn is_nothing(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// The name that a line starts with, before a colon.
fn name(line: &str) -> Option<&str> {
    let (name, _) = line.split_once(':')?;
    let fits = |c: char| c.is_alphanumeric() || "_-./ ".contains(c);
    (name.starts_with(|c: char| c.is_alphanumeric() || c == '_') && name.chars().all(fits)).then(|| name.trim_end())
}

impl RulesFile {
    /// Reads the rules of a text.
    ///
    /// # Errors
    /// The line that is none of a rule.
    pub(crate) fn parse(path: String, text: String) -> Result<Self, String> {
        let mut rules: Vec<Rule> = Vec::new();
        let mut at = 0_usize;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let start = at;
            at = at.saturating_add(line.len());
            let number = number.saturating_add(1);
            if is_nothing(line) {
                if let Some(rule) = rules.last_mut() {
                    rule.source.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
                }
            } else if line.starts_with([' ', '\t']) {
                let rule = rules.last_mut().ok_or_else(|| format!("{path}:{number}: this line continues no rule"))?;
                rule.source.push_str(line);
            } else {
                let name = name(line).ok_or_else(|| format!("{path}:{number}: expected `NAME: EXPRESSION`"))?;
                let source = line.split_once(':').map_or("", |(_, source)| source);
                let start = start.saturating_add(line.len().saturating_sub(source.len()));
                rules.push(Rule { name: name.to_owned(), source: source.to_owned(), start });
            }
        }
        for rule in &mut rules {
            rule.source.truncate(rule.source.trim_end().len());
        }
        Ok(Self { path, text, rules })
    }

    /// Diagnostics of rules, with their places in the file.
    fn placed(&self, found: &[(usize, Diagnostic)]) -> Vec<(usize, Diagnostic)> {
        let placed = |(rule, diagnostic): &(usize, Diagnostic)| {
            let start = self.rules.get(*rule).map_or(0, |rule| u32::try_from(rule.start).unwrap_or(u32::MAX));
            let shifted = |span: Span| Span::new(span.start.saturating_add(start), span.end.saturating_add(start));
            let mut diagnostic = diagnostic.clone();
            diagnostic.span = shifted(diagnostic.span);
            for label in &mut diagnostic.labels {
                label.span = shifted(label.span);
            }
            (*rule, diagnostic)
        };
        found.iter().map(placed).collect()
    }

    /// Shows diagnostics to people, in the lines of the file.
    pub(crate) fn complain(&self, found: &[(usize, Diagnostic)], output: &mut Output) {
        let placed = self.placed(found.get(..MOST_SHOWN).unwrap_or(found));
        let diagnostics: Vec<Diagnostic> = placed.into_iter().map(|(_, diagnostic)| diagnostic).collect();
        if !diagnostics.is_empty() {
            output.complain(&celero::render(&self.text, &self.path, &diagnostics, style(output.color())));
        }
        if let Some(more) = found.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
            output.complain(&format!("and {more} more"));
        }
    }

    /// The form of diagnostics for programs; places are bytes of the file.
    pub(crate) fn diagnostics_json(&self, found: &[(usize, Diagnostic)]) -> Json {
        let one = |(rule, diagnostic): &(usize, Diagnostic)| {
            let mut json = diagnostic_json(diagnostic);
            if let Some(members) = json.as_object_mut() {
                members.insert("rule".to_owned(), json!(rule));
                members.insert("name".to_owned(), json!(self.rules.get(*rule).map(|rule| &rule.name)));
            }
            json
        };
        self.placed(found).iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Rule>, String> {
        RulesFile::parse("f".to_owned(), text.to_owned()).map(|file| file.rules)
    }

    #[test]
    fn rules_have_names_and_may_have_several_lines() {
        let text = "# all\n\na: x == 1\nb c:\n  y &&\n\n  # why: so\n  z\r\nd-1.x/y: w\n";
        let rules = parse(text).unwrap();
        let names: Vec<&str> = rules.iter().map(|rule| &*rule.name).collect();
        assert_eq!(names, ["a", "b c", "d-1.x/y"]);
        for rule in &rules {
            let written = text.get(rule.start..rule.start + rule.source.len()).unwrap();
            assert_eq!(written.replace("# why: so", "         "), rule.source);
        }
        assert_eq!(rules[1].source, "\n  y &&\n\n           \n  z");
    }

    #[test]
    fn lines_of_no_rule_are_named() {
        assert_eq!(parse("# c\n  x == 1\n").unwrap_err(), "f:2: this line continues no rule");
        assert_eq!(parse("a: 1\nb == 1 ? 2 : 3\n").unwrap_err(), "f:2: expected `NAME: EXPRESSION`");
    }

    #[test]
    fn an_expression_is_no_file_of_rules() {
        for text in
            ["a ? b : c", "a\n? b : c", "{a: b}", "", "// x: y\na", "'a:b' == c", "f(a, {b: c})", "# c", "-a: b"]
        {
            assert!(!is_rules(text), "{text}");
        }
        for text in ["a: b", "# c\n\n  # d\na b: c ? d : e", "a.b-c:", "1: x"] {
            assert!(is_rules(text), "{text}");
        }
    }
}
