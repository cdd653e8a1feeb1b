//! Reads mappings key by key, and reports what they have too much.

use crate::codes;
use celero::language::KEYWORDS;
use celero_policy::problems::{FileSpan, Problems};
use celero_policy::yaml::{Node, SourceText};

/// A file that is read, and the problems found in it.
pub(crate) struct Reader<'p> {
    pub(crate) problems: &'p mut Problems,
}

impl Reader<'_> {
    pub(crate) fn error(&mut self, place: FileSpan, message: impl Into<String>) {
        self.problems.add(codes::FORM, place, message.into());
    }

    pub(crate) fn error_with(&mut self, place: FileSpan, message: impl Into<String>, help: &str) {
        self.problems.add(codes::FORM, place, message.into()).help(help);
    }

    /// Tests that a node is a mapping with no other keys than these. `what` begins with its article. Returns whether
    /// it is a mapping.
    pub(crate) fn mapping(&mut self, node: &Node, what: &str, known: &[&str]) -> bool {
        if node.entries().is_empty() {
            let message = match node.kind() {
                "a mapping" => format!("{what} has no keys"),
                form => format!("{what} must be a mapping, this is {form}"),
            };
            self.error(node.place, message);
            return false;
        }
        for entry in node.entries().iter().filter(|entry| !known.contains(&&*entry.key.text)) {
            let message = format!("{what} has no key `{}`", entry.key.text);
            let problem = self.problems.add(codes::FORM, entry.key.place, message);
            if !problem.suggest(&entry.key.text, known) {
                problem.help(format!("its keys are {}", listed(known)));
            }
        }
        true
    }

    /// The elements of a list; none after an error.
    pub(crate) fn list<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        if !node.is_list() {
            self.error(node.place, format!("{what} must be a list, this is {}", node.kind()));
        }
        node.elements()
    }

    /// A text: a scalar that YAML reads as text.
    pub(crate) fn text(&mut self, node: &Node, what: &str) -> Option<SourceText> {
        let is_text = node.json().is_string();
        if !is_text {
            let help = match node.plain() {
                Some(text) if !node.is_nothing() => format!("write it in quotes: \"{text}\""),
                _ => "write text, in quotes where YAML would read something else".to_owned(),
            };
            let form = match node.json() {
                json if json.is_number() => "a number",
                json if json.is_boolean() => "a truth value",
                _ => node.kind(),
            };
            self.error_with(node.place, format!("{what} must be text, this is {form}"), &help);
        }
        node.text().filter(|_| is_text)
    }

    /// The text of a key, if it is there.
    pub(crate) fn text_of(&mut self, node: &Node, key: &str) -> Option<SourceText> {
        self.text(node.get(key)?, &format!("`{key}`"))
    }

    /// The text of a key that must be there.
    pub(crate) fn required(&mut self, node: &Node, key: &str, what: &str) -> Option<SourceText> {
        if node.get(key).is_none() {
            self.error(node.place, format!("{what} has no `{key}`"));
        }
        self.text_of(node, key)
    }
}

/// Names in backquotes, with commas.
pub(crate) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Whether this is one or more identifiers with dots between them, as expressions can write them.
pub(crate) fn is_qualified(name: &str) -> bool {
    name.split('.').all(|part| {
        let starts = part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        starts && !KEYWORDS.contains(&part) && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
