//! Files of rules: one rule per line, `name: expression`. A line that starts with white space
//! continues the rule above, a line that starts with `#` is a comment, and blank lines are ignored.
//! Attributes follow the name in brackets: `name [priority -10, tag api, tag admin]: expression`.
//! No expression starts with a name (and brackets) and a colon, so such a file can be distinguished
//! from a file with a single expression. `name [language filter]: expression` is in that language,
//! whatever that of the file is.

use crate::diagnostic_json::diagnostic_json;
use crate::language::{Language, blanked};
use celero::Diagnostic;
use celero::diagnostics::{Span, Style};
use serde_json::{Value as Json, json};
use std::fmt;

/// The largest number of diagnostics in the text output.
const MAX_SHOWN: usize = 100;

/// The rules of a file.
#[derive(Clone, Debug)]
pub struct RulesFile {
    /// Its name, for messages.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// The language of rules that name no other.
    pub language: Language,
    /// In the order of their set.
    pub rules: Vec<Rule>,
}

/// A rule of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// The expression. Comments between its lines are replaced by spaces.
    pub source: String,
    /// Rules with smaller priorities come first.
    pub priority: i32,
    /// Its tags, in the order written.
    pub tags: Vec<String>,
    /// The language of the expression.
    pub language: Language,
    /// The byte offset of its name in the file.
    pub head: usize,
    /// The byte offset of the expression in the file.
    pub start: usize,
    /// The byte offset behind its last line that is not blank or a comment.
    pub end: usize,
    /// Whether there are comments between its lines.
    pub has_comments: bool,
}

/// Why a text is not a file of rules. Displays as `path:line: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidLine {
    /// The name of the file.
    pub path: String,
    /// The number of the line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for InvalidLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

impl std::error::Error for InvalidLine {}

impl From<InvalidLine> for String {
    fn from(invalid: InvalidLine) -> Self {
        invalid.to_string()
    }
}

/// Returns whether a text is a file of rules.
pub fn is_rules(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !is_nothing(line));
    lines.next().is_some_and(|line| head(line).is_some())
}

/// Returns whether a text is a file of rules, the first of which has a name without blanks.
pub fn is_rules_with_plain_names(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !is_nothing(line));
    lines.next().and_then(head).is_some_and(|(name, _)| !name.contains(' '))
}

fn is_nothing(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// Returns the name at the start of a line, and the text in brackets after it.
fn head(line: &str) -> Option<(&str, Option<&str>)> {
    name_and_more(line.split_once(':')?.0)
}

/// Returns the name of a rule and what its brackets hold.
fn name_and_more(head: &str) -> Option<(&str, Option<&str>)> {
    let (name, more) = match head.split_once('[') {
        Some((name, more)) => {
            (name, Some(more.trim_end().strip_suffix(']').filter(|more| !more.contains(['[', ']']))?))
        }
        None => (head, None),
    };
    let fits = |c: char| c.is_alphanumeric() || "_-./ ".contains(c);
    let is_name = name.starts_with(|c: char| c.is_alphanumeric() || c == '_') && name.chars().all(fits);
    is_name.then(|| (name.trim_end(), more))
}

/// Returns the language that the text before a rule's colon names; `None` if it names none, or is no such text.
#[must_use]
pub fn language_of_head(text: &str) -> Option<Language> {
    let (_, more) = name_and_more(text)?;
    attributes(more?).ok()?.2
}

/// What brackets hold: the priority, the tags and the language.
type Attributes = (i32, Vec<String>, Option<Language>);

/// Returns the attributes in brackets.
///
/// # Errors
/// Returns a message for any other attribute.
fn attributes(text: &str) -> Result<Attributes, String> {
    let (mut priority, mut tags, mut language) = (None, Vec::new(), None);
    for attribute in text.split(',').map(str::trim) {
        match attribute.split_once(char::is_whitespace).map(|(key, value)| (key, value.trim())) {
            Some(("priority", _)) if priority.is_some() => return Err("a second `priority`".to_owned()),
            Some(("priority", number)) => {
                let (least, most) = (i32::MIN, i32::MAX);
                let valid = number.parse::<i32>();
                priority = Some(valid.map_err(|_| format!("`{number}` is not an integer from {least} to {most}"))?);
            }
            Some(("tag", tag)) => tags.push(tag.to_owned()),
            Some(("language", name)) => language = Some(Language::named(name)?),
            _ => {
                let expected = "expected `priority NUMBER`, `tag NAME` or `language NAME`";
                return Err(format!("{expected}, found `{attribute}`"));
            }
        }
    }
    Ok((priority.unwrap_or(0), tags, language))
}

impl RulesFile {
    /// Reads the rules of a text. Those that name no language are in `language`.
    ///
    /// # Errors
    /// The line that is not a valid rule.
    pub fn parse(path: String, text: String, language: Language) -> Result<Self, InvalidLine> {
        match parse(&text, language) {
            Ok(rules) => Ok(Self { path, text, language, rules }),
            Err((line, message)) => Err(InvalidLine { path, line, message }),
        }
    }

    /// Returns a file with about this many of the rules, from everywhere in the file.
    pub fn sample(&self, count: usize) -> Self {
        let step = self.rules.len().checked_div(count).unwrap_or(1).max(1);
        let rules = self.rules.iter().step_by(step).cloned().collect();
        Self { path: self.path.clone(), text: String::new(), language: self.language, rules }
    }

    /// Returns the text in front of a rule's colon: its name and its attributes, with the language
    /// if it is another one than `language`.
    pub fn head(rule: &Rule, language: Language) -> String {
        let mut attributes = Vec::new();
        if rule.language != language {
            attributes.push(format!("language {}", rule.language.name()));
        }
        if rule.priority != 0 {
            attributes.push(format!("priority {}", rule.priority));
        }
        attributes.extend(rule.tags.iter().map(|tag| format!("tag {tag}")));
        if attributes.is_empty() { rule.name.clone() } else { format!("{} [{}]", rule.name, attributes.join(", ")) }
    }

    /// Returns diagnostics of rules with their spans in the file.
    pub fn placed(&self, found: &[(usize, Diagnostic)]) -> Vec<(usize, Diagnostic)> {
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

    /// Returns diagnostics as text, with the lines of the file.
    #[must_use]
    pub fn render(&self, found: &[(usize, Diagnostic)], style: Style) -> String {
        let placed = self.placed(found.get(..MAX_SHOWN).unwrap_or(found));
        let diagnostics: Vec<Diagnostic> = placed.into_iter().map(|(_, diagnostic)| diagnostic).collect();
        let mut text = celero::diagnostics::render(&self.text, &self.path, &diagnostics, style);
        if let Some(more) = found.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            text.push_str(&format!("and {more} more\n"));
        }
        text
    }

    /// Returns diagnostics as JSON. Spans are byte offsets in the file.
    pub fn diagnostics_json(&self, found: &[(usize, Diagnostic)]) -> Json {
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

/// Reads the rules of a text, in the order of their set.
///
/// # Errors
/// The number of the line that is not a valid rule, counted from 1, and why.
fn parse(text: &str, language: Language) -> Result<Vec<Rule>, (usize, String)> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut at = 0_usize;
    let mut comments = false;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at = at.saturating_add(line.len());
        let number = number.saturating_add(1);
        if is_nothing(line) {
            comments |= line.trim_start().starts_with('#');
            if let Some(rule) = rules.last_mut() {
                rule.source.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            }
        } else if line.starts_with([' ', '\t']) {
            let rule = rules
                .last_mut()
                .ok_or_else(|| (number, "there is no rule above that this line could continue".to_owned()))?;
            rule.source.push_str(line);
            rule.end = at;
            rule.has_comments |= comments;
        } else {
            let head = head(line).ok_or_else(|| {
                let hint = if rules.is_empty() { "; a file with one expression ends in .cel" } else { "" };
                (number, format!("expected `NAME: EXPRESSION`{hint}"))
            });
            let (name, more) = head?;
            let more = more.map_or(Ok((0, Vec::new(), None)), attributes);
            let (priority, tags, own) = more.map_err(|why| (number, why))?;
            let source = line.split_once(':').map_or("", |(_, source)| source);
            let head = start;
            let start = start.saturating_add(line.len().saturating_sub(source.len()));
            let (name, source) = (name.to_owned(), source.to_owned());
            comments = false;
            let language = own.unwrap_or(language);
            rules.push(Rule { name, source, priority, tags, language, head, start, end: at, has_comments: false });
        }
    }
    for rule in &mut rules {
        rule.source.truncate(rule.source.trim_end().len());
        // In CEL a text may go over several lines.
        if !rule.language.is_default() {
            rule.source = without_indentation(&rule.source);
        }
    }
    rules.sort_by_key(|rule| rule.priority);
    Ok(rules)
}

/// Returns the source of a rule with blanks for the white space at the beginning of each line: in
/// some languages a tab is an error, but indentation belongs to the file.
fn without_indentation(source: &str) -> String {
    let line = |line: &str| {
        let text = line.trim_start_matches([' ', '\t']);
        let (before, _) = line.split_at_checked(line.len().saturating_sub(text.len())).unwrap_or((line, ""));
        blanked(before) + text
    };
    source.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Rule>, String> {
        RulesFile::parse("f".to_owned(), text.to_owned(), Language::cel()).map(|file| file.rules).map_err(String::from)
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
    fn brackets_tell_of_priorities_and_tags() {
        let text = "a [tag x, priority 7]: p\nb: q\nc d [ priority -7 ] :\n  r\ne [tag y/z, tag x]: s\n";
        let rules = parse(text).unwrap();
        let told: Vec<String> = rules
            .iter()
            .map(|Rule { name, source, priority, tags, .. }| format!("{name} {priority} {tags:?} {}", source.trim()))
            .collect();
        assert_eq!(told, ["c d -7 [] r", "b 0 [] q", r#"e 0 ["y/z", "x"] s"#, r#"a 7 ["x"] p"#]);
        for rule in &rules {
            assert!(text.get(rule.start..).unwrap().starts_with(&rule.source), "{rule:?}");
        }
    }

    #[test]
    fn what_no_rule_has_is_named() {
        let expected = "expected `priority NUMBER`, `tag NAME` or `language NAME`, found";
        for (text, want) in [
            ("", format!("{expected} ``")),
            ("tag", format!("{expected} `tag`")),
            ("tag x,", format!("{expected} ``")),
            ("order 7", format!("{expected} `order 7`")),
            ("priority 1, priority 1", "a second `priority`".to_owned()),
            ("language wire", "there is no language `wire`: expected `cel` or `filter`".to_owned()),
            ("priority 1.5", "`1.5` is not an integer from -2147483648 to 2147483647".to_owned()),
            ("priority 2147483648", "`2147483648` is not an integer from -2147483648 to 2147483647".to_owned()),
        ] {
            assert_eq!(parse(&format!("a: b\nc [{text}]: d")).unwrap_err(), format!("f:2: {want}"));
        }
    }

    #[test]
    fn lines_of_no_rule_are_named() {
        assert_eq!(parse("# c\n  x == 1\n").unwrap_err(), "f:2: there is no rule above that this line could continue");
        assert_eq!(parse("a: 1\nb == 1 ? 2 : 3\n").unwrap_err(), "f:2: expected `NAME: EXPRESSION`");
    }

    #[test]
    fn an_expression_is_no_file_of_rules() {
        for text in [
            "a ? b : c",
            "a\n? b : c",
            "{a: b}",
            "",
            "// x: y\na",
            "'a:b' == c",
            "f(a, {b: c})",
            "# c",
            "-a: b",
            "a[b] ? c[d] : e",
            "a[b ? c : d]",
            "a[{b: c}]",
            "[a]: b",
            "a[b] || c ? d : e",
        ] {
            assert!(!is_rules(text), "{text}");
        }
        for text in ["a: b", "# c\n\n  # d\na b: c ? d : e", "a.b-c:", "1: x", "a [tag b]: c", "a [b] : c"] {
            assert!(is_rules(text), "{text}");
        }
    }
}
