//! Compares a YAML document with the table of its format.

use super::scalar::{duration, seconds, share, size};
use super::{DiagnosticCodes, MappingSpec, ValueSpec};
use crate::problems::Problems;
use crate::yaml::{MapEntry, Node, NodeValue};

/// Reports where a document differs from its format.
pub(super) struct Checker<'p> {
    pub(super) codes: DiagnosticCodes,
    pub(super) problems: &'p mut Problems,
}

impl Checker<'_> {
    /// Checks a node and everything below it. Messages call the node `name`.
    pub(super) fn value(&mut self, node: &Node, spec: &ValueSpec, name: &str) {
        match (spec, &node.value) {
            (ValueSpec::OneOf(specs), _) if !node.is_nothing() => match specs.iter().find(|spec| spec.fits(node)) {
                Some(spec) => self.value(node, spec, name),
                None => self.mismatch(node, specs, name),
            },
            (ValueSpec::List(element), NodeValue::List(elements)) => {
                elements.iter().for_each(|node| self.value(node, element, name));
            }
            (ValueSpec::Map(spec), NodeValue::Map(entries)) => {
                for MapEntry { key, value } in entries {
                    self.value(value, spec, &format!("`{}`", key.text));
                }
            }
            (ValueSpec::Mapping(spec), NodeValue::Map(entries)) => self.mapping(node, spec, entries),
            _ if spec.fits(node) || node.is_nothing() && spec.may_be_nothing() => {}
            _ => self.mismatch(node, std::slice::from_ref(spec), name),
        }
    }

    fn mismatch(&mut self, node: &Node, specs: &[ValueSpec], name: &str) {
        let expected: Vec<String> = specs.iter().map(ValueSpec::expected).collect();
        let text = node.text();
        let found = text.as_ref().map_or_else(|| node.kind().to_owned(), |text| format!("`{}`", text.text));
        let message = format!("{name} is {}, not {found}", expected.join(" or "));
        let problem = self.problems.add(self.codes.value, node.place, message);
        if let (Some(text), [ValueSpec::Word(words)]) = (text, specs) {
            problem.suggest(&text.text, words);
        }
    }

    fn mapping(&mut self, node: &Node, spec: &MappingSpec, entries: &[MapEntry]) {
        for MapEntry { key, value } in entries {
            if let Some(known) = spec.key(&key.text) {
                self.value(value, &known.value, &format!("`{}`", known.name));
                continue;
            }
            let names: Vec<&str> = spec.keys.iter().map(|key| key.name).collect();
            let message = format!("{} has no key `{}`", spec.name, key.text);
            let problem = self.problems.add(self.codes.unknown_key, key.place, message);
            if !problem.suggest(&key.text, &names) {
                problem.help(format!("its keys are `{}`", names.join("`, `")));
            }
        }
        for key in spec.keys.iter().filter(|key| key.required && node.get(key.name).is_none()) {
            let message = format!("{} needs the key `{}`", spec.name, key.name);
            self.problems.add(self.codes.missing_key, node.place, message).help(key.description);
        }
    }
}

impl ValueSpec {
    /// Returns whether a node is such a value, without its elements and entries.
    pub(crate) fn fits(&self, node: &Node) -> bool {
        let text = || node.text().map(|text| text.text);
        let plain = |fits: &dyn Fn(&str) -> bool| node.plain().is_some_and(fits);
        match self {
            Self::Text | Self::Expression => text().is_some_and(|text| !text.is_empty()),
            Self::Template => text().is_some(),
            Self::Any => true,
            Self::True => plain(&|text| text == "true"),
            Self::Bool => plain(&|text| matches!(text, "true" | "false")),
            Self::Integer { least, most } => {
                plain(&|text| text.parse().is_ok_and(|number: u64| (*least..=*most).contains(&number)))
            }
            Self::Share => plain(&|text| share(text).is_some()),
            Self::Size => plain(&|text| size(text).is_some()),
            Self::Seconds => plain(&|text| seconds(text).is_some()),
            Self::Duration => plain(&|text| duration(text).is_some()),
            Self::Word(words) => text().is_some_and(|text| words.contains(&&*text)),
            Self::List(_) => matches!(node.value, NodeValue::List(_)),
            Self::Map(_) | Self::Mapping(_) => matches!(node.value, NodeValue::Map(_)),
            Self::OneOf(specs) => specs.iter().any(|spec| spec.fits(node)),
        }
    }

    /// Returns whether a key may stand without a value. It is an empty list or mapping then.
    fn may_be_nothing(&self) -> bool {
        match self {
            Self::List(_) | Self::Map(_) => true,
            Self::OneOf(specs) => specs.iter().any(Self::may_be_nothing),
            _ => false,
        }
    }

    /// Returns the value in words, for messages.
    fn expected(&self) -> String {
        match self {
            Self::Text | Self::Template => "text".to_owned(),
            Self::Any => "any value".to_owned(),
            Self::Expression => "an expression".to_owned(),
            Self::True => "`true`".to_owned(),
            Self::Bool => "`true` or `false`".to_owned(),
            Self::Integer { least, most } => format!("a number from {least} to {most}"),
            Self::Share => "a number above 0 and up to 1".to_owned(),
            Self::Size => "a number of bytes, as in `64KiB`".to_owned(),
            Self::Seconds => "a number of seconds, as in `30s`".to_owned(),
            Self::Duration => "a time, as in `250ms`, `10s`, `5m` or `1h`".to_owned(),
            Self::Word(words) => format!("one of `{}`", words.join("`, `")),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a mapping".to_owned(),
            Self::Mapping(spec) => spec.name.to_owned(),
            Self::OneOf(specs) => specs.iter().map(Self::expected).collect::<Vec<_>>().join(" or "),
        }
    }
}
