//! Where the expressions of a policy are in its file, and in which language each one is.

use crate::keys::policy::POLICY;
use crate::language::Language;
use crate::schema::ValueSpec;
use crate::yaml::{MapEntry, Node, NodeValue, SourceText};

/// A scalar that is an expression, or a template with expressions.
#[derive(Clone, Debug)]
pub(crate) struct ExpressionPlace {
    pub(crate) text: SourceText,
    /// Whether the text is a template: only what is in `${..}` is an expression.
    pub(crate) is_template: bool,
    pub(crate) language: Language,
    /// The section of the file, such as `request` or `variables`.
    pub(crate) section: String,
    /// The key of the innermost mapping: of a definition its declaration.
    pub(crate) key: String,
}

/// Returns the expressions of a policy, in the order of the file.
pub(crate) fn expression_places(root: &Node) -> Vec<ExpressionPlace> {
    let usual = root.get("defaults").map_or_else(Language::default, |defaults| language(defaults, Language::default()));
    let mut walk = Walk { section: String::new(), key: String::new(), found: Vec::new() };
    if let ValueSpec::Mapping(sections) = &POLICY.root {
        for entry in root.entries() {
            walk.section.clone_from(&entry.key.text);
            if let Some(known) = sections.key(&entry.key.text) {
                walk.entry(entry, &known.value, usual);
            }
        }
    }
    let mut found = walk.found;
    found.sort_by_key(|place| place.text.place.start);
    found
}

/// The language that a mapping names.
fn language(node: &Node, usual: Language) -> Language {
    node.text_of("language").and_then(|text| Language::named(&text.text).ok()).unwrap_or(usual)
}

struct Walk {
    section: String,
    key: String,
    found: Vec<ExpressionPlace>,
}

impl Walk {
    fn entry(&mut self, entry: &MapEntry, spec: &ValueSpec, usual: Language) {
        self.key.clone_from(&entry.key.text);
        // What counts for a limit is decided when there is a response.
        let section =
            (entry.key.text == "countWhen").then(|| std::mem::replace(&mut self.section, "response".to_owned()));
        self.node(&entry.value, spec, usual);
        if let Some(section) = section {
            self.section = section;
        }
    }

    fn node(&mut self, node: &Node, spec: &ValueSpec, usual: Language) {
        match (spec, &node.value) {
            (ValueSpec::OneOf(specs), _) => {
                if let Some(spec) = specs.iter().find(|spec| spec.fits(node)) {
                    self.node(node, spec, usual);
                }
            }
            (ValueSpec::List(element), NodeValue::List(elements)) => {
                elements.iter().for_each(|node| self.node(node, element, usual));
            }
            // Definitions are CEL, whatever the language of the rules is.
            (ValueSpec::Map(spec), NodeValue::Map(entries)) => {
                let usual = if matches!(spec, ValueSpec::Expression) { Language::default() } else { usual };
                entries.iter().for_each(|entry| self.entry(entry, spec, usual));
            }
            (ValueSpec::Mapping(spec), NodeValue::Map(entries)) => {
                let language = language(node, usual);
                for entry in entries {
                    if let Some(known) = spec.key(&entry.key.text) {
                        self.entry(entry, &known.value, language);
                    }
                }
            }
            (ValueSpec::JsonTemplate, NodeValue::List(elements)) => {
                elements.iter().for_each(|node| self.node(node, spec, usual));
            }
            (ValueSpec::JsonTemplate, NodeValue::Map(entries)) => {
                entries.iter().for_each(|entry| self.entry(entry, spec, usual));
            }
            (ValueSpec::Expression | ValueSpec::Template | ValueSpec::JsonTemplate, _) => {
                let is_template = !matches!(spec, ValueSpec::Expression);
                let (section, key) = (self.section.clone(), self.key.clone());
                let place = |text| ExpressionPlace { text, is_template, language: usual, section, key };
                self.found.extend(node.text().map(place));
            }
            _ => {}
        }
    }
}
