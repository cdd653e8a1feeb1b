//! Compares a YAML document with the table of its format.

use super::scalar::{duration, rate, ratio, seconds, share, size};
use super::{DiagnosticCodes, MappingSpec, ValueSpec};
use crate::problems::{Problems, similar};
use crate::yaml::{MapEntry, Node, NodeValue, Scalar, SourceText};
use saphyr_parser::ScalarStyle;

/// Keys that other tools have for a key of a rule or of the request of a case, and that key.
const SYNONYMS: [(&str, &[&str]); 4] = [
    ("uri", &["path", "url", "target"]),
    ("when", &["if", "cond", "condition", "conditions", "match", "matches", "expr", "expression"]),
    ("deny", &["block", "reject", "forbid"]),
    ("allow", &["accept", "permit", "pass"]),
];

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
                Some(spec) => match specs.iter().find(|list| is_entry_of(node, list, spec)) {
                    Some(list) => self.mismatch(node, std::slice::from_ref(list), name),
                    None => self.value(node, spec, name),
                },
                None => self.mismatch(node, specs, name),
            },
            (ValueSpec::List(element), NodeValue::List(elements)) => {
                let name = format!("an entry of {name}");
                elements.iter().for_each(|node| self.value(node, element, &name));
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
        let words = match specs {
            [ValueSpec::Word(words)] => words.to_vec(),
            [ValueSpec::KnownWord(words)] => words(),
            _ => Vec::new(),
        };
        if let Some(text) = text
            && problem.suggest(&text.text, &words)
        {
            return;
        }
        if let Some(help) = correction(node, specs) {
            problem.help(help);
        }
    }

    fn mapping(&mut self, node: &Node, spec: &MappingSpec, entries: &[MapEntry]) {
        let mut listed = false;
        // What other wrong keys of this mapping probably mean.
        let mut meant: Vec<&str> = Vec::new();
        for MapEntry { key, value } in entries {
            if let Some(known) = spec.key(&key.text) {
                self.value(value, &known.value, &format!("`{}`", known.name));
                continue;
            }
            let names: Vec<&str> = spec.keys.iter().map(|key| key.name).collect();
            let message = format!("{} has no key `{}`", spec.name, key.text);
            let problem = self.problems.add(self.codes.unknown_key, key.place, message);
            if key.text.starts_with('-') {
                problem.help("write a space after the `-` of an entry");
                continue;
            }
            if let Some(help) = of_other_form(key, value, spec, node) {
                problem.help(help);
                continue;
            }
            let open: Vec<&str> = names.iter().filter(|name| !meant.contains(name)).copied().collect();
            let of_other_tool = synonym(&key.text).filter(|name| open.contains(name) && node.get(name).is_none());
            if let Some(name) = of_other_tool.or_else(|| similar(&key.text, &open)) {
                problem.help(format!("did you mean `{name}`?"));
                meant.push(name);
            } else if spec.key("rules").is_some() && matches!(value.value, NodeValue::Map(_)) {
                problem
                    .help(format!("the rules of a phase are a list: `- name: {}`, and its other keys below", key.text));
            } else if !std::mem::replace(&mut listed, true) {
                problem.help(format!("its keys are `{}`", names.join("`, `")));
            }
        }
        for key in spec.keys.iter().filter(|key| key.required && node.get(key.name).is_none()) {
            let message = format!("{} needs the key `{}`", spec.name, key.name);
            self.problems.add(self.codes.missing_key, node.place, message).help(key.description);
        }
    }
}

/// How to write what is written with other keys: a key of the mapping, those that it does not have, and the help.
const OTHER_FORMS: &[(&str, &[&str], &str)] = &[
    ("requestBody", &["rules", "policies"], "rules stand below the phase that they are for: `request: [..]`"),
    ("logFields", &["log", "logs"], "write `logFields: {name: ..}`"),
    ("issuers", &["jwks", "jwksUrl", "pem", "secret"], "it is a key of an entry of `keys`: `keys: [{jwksUrl: ..}]`"),
];

/// Returns the help for a key of another tool's rules that no single key of a rule stands for.
fn of_other_form(key: &SourceText, value: &Node, spec: &MappingSpec, node: &Node) -> Option<String> {
    let other = OTHER_FORMS.iter().find(|(own, others, _)| others.contains(&&*key.text) && spec.key(own).is_some());
    if let Some((.., help)) = other {
        return Some((*help).to_owned());
    }
    let (when, deny) = (spec.key("when")?, spec.key("deny"));
    match &*key.text {
        "then" | "action" | "actions" | "do" => {
            let known = |name: &str| spec.key(synonym(name).unwrap_or(name)).map(|key| key.name);
            let inner = match &value.value {
                NodeValue::List(entries) => entries.first().unwrap_or(value),
                _ => value,
            };
            let word = inner.text().map(|text| text.text);
            Some(if let Some(first) = inner.entries().iter().find_map(|entry| known(&entry.key.text)) {
                format!("`{first}` is a key of the rule itself: write it beside `{}`", when.name)
            } else if let Some(action) = word.as_deref().and_then(known) {
                format!("write `{action}: true`")
            } else {
                let example = if deny.is_some() { "deny: 403" } else { "labels: {name: text}" };
                format!("what a rule does is a key of the rule itself, such as `{example}`")
            })
        }
        "status" | "code" if node.get("redirect").is_some() => {
            Some("the status is a key of the redirect: `redirect: {to: .., status: 301}`".to_owned())
        }
        "unless" => Some(format!("write `{}: '!(..)'`", when.name)),
        name if synonym(name) == Some(when.name) && node.get(when.name).is_some() => {
            Some(format!("a rule has one condition: join both in `{}` with `&&`", when.name))
        }
        _ => None,
    }
}

/// Returns the key for which another tool has this one.
fn synonym(written: &str) -> Option<&'static str> {
    let (meant, _) = SYNONYMS.iter().find(|(_, others)| others.contains(&written))?;
    Some(meant)
}

/// Returns whether a mapping that has none of the keys of `spec` is an entry of a list, written without the list.
fn is_entry_of(node: &Node, list: &ValueSpec, spec: &ValueSpec) -> bool {
    let (ValueSpec::List(ValueSpec::Mapping(entry)), ValueSpec::Mapping(spec)) = (list, spec) else { return false };
    let has_keys_of = |spec: &MappingSpec| node.entries().iter().any(|known| spec.key(&known.key.text).is_some());
    has_keys_of(entry) && !has_keys_of(spec)
}

/// Returns how to write a value that has the wrong form.
fn correction(node: &Node, specs: &[ValueSpec]) -> Option<String> {
    if node.is_nothing() {
        return None;
    }
    let text = node.text();
    let spec = specs.last()?;
    if let Some(text) = text.filter(|text| text.style != ScalarStyle::Plain) {
        let scalar = Scalar { text: text.text, style: ScalarStyle::Plain };
        let plain = Node { place: node.place, value: NodeValue::Scalar(scalar) };
        if specs.iter().any(|spec| spec.fits(&plain)) {
            return Some("remove the quotes".to_owned());
        }
    }
    match (spec, &node.value) {
        (ValueSpec::Expression, NodeValue::List(_) | NodeValue::Map(_)) => {
            Some("put the expression in quotes, or in a block: `|` and indented lines".to_owned())
        }
        (ValueSpec::Text | ValueSpec::Template, NodeValue::List(_) | NodeValue::Map(_)) => {
            Some("put the text in quotes, or in a block: `|` and indented lines".to_owned())
        }
        (ValueSpec::Map(_), NodeValue::List(_)) => {
            Some("it has names and values, without `- `: `{name: value}`".to_owned())
        }
        (ValueSpec::Map(_), NodeValue::Scalar(_)) => Some("it has names and values: `{name: value}`".to_owned()),
        (_, NodeValue::Scalar(scalar)) if let Some(meant) = meant_by(&scalar.text, specs) => {
            Some(format!("write `{meant}`"))
        }
        (ValueSpec::List(ValueSpec::Text), NodeValue::Scalar(scalar)) => Some(format!("write `[{}]`", scalar.text)),
        (ValueSpec::List(ValueSpec::Mapping(entry)), _) => {
            let key = entry.keys.iter().find(|key| key.required).or(entry.keys.first())?;
            Some(format!("each entry starts with `- `, as in `- {}: ..`", key.name))
        }
        (ValueSpec::Mapping(spec), _) => {
            let names: Vec<&str> = spec.keys.iter().map(|key| key.name).collect();
            Some(format!("the keys of {} are `{}`", spec.name, names.join("`, `")))
        }
        _ => None,
    }
}

/// Returns what a text probably means that has another form: `403` by `403 Forbidden`, `true` by `yes`, and the mapping
/// of a message by its status or its first line.
fn meant_by(text: &str, specs: &[ValueSpec]) -> Option<String> {
    let plain = |text: &str| {
        let scalar = Scalar { text: text.to_owned(), style: ScalarStyle::Plain };
        Node { place: crate::problems::FileSpan::new(0, 0, 0), value: NodeValue::Scalar(scalar) }
    };
    let fits = |text: &str| specs.iter().any(|spec| spec.fits(&plain(text)));
    let first = text.split(' ').next().unwrap_or_default();
    let word = match text.to_ascii_lowercase().as_str() {
        "yes" | "on" | "enabled" => "true",
        "no" | "off" | "disabled" => "false",
        _ => first,
    };
    if word != text && fits(word) {
        return Some(word.to_owned());
    }
    let ValueSpec::Mapping(mapping) = specs.last()? else { return None };
    if let Some(status) = mapping.key("status").filter(|key| key.value.fits(&plain(text))) {
        return Some(format!("{{{}: {text}}}", status.name));
    }
    let (method, target) = text.split_once(' ')?;
    let is_line =
        method.bytes().all(|byte| byte.is_ascii_uppercase()) && target.starts_with('/') && !target.contains(' ');
    (is_line && mapping.key("uri").is_some()).then(|| format!("{{method: {method}, uri: {target}}}"))
}

impl ValueSpec {
    /// Returns whether a node is such a value, without its elements and entries.
    pub(crate) fn fits(&self, node: &Node) -> bool {
        let text = || node.text().map(|text| text.text);
        let plain = |fits: &dyn Fn(&str) -> bool| node.plain().is_some_and(fits);
        let quoted_or_not = |fits: &dyn Fn(&str) -> bool| node.scalar().is_some_and(fits);
        match self {
            Self::Text | Self::Expression => text().is_some_and(|text| !text.is_empty()),
            Self::Template => text().is_some(),
            Self::Any | Self::JsonTemplate => true,
            Self::True => plain(&|text| text == "true"),
            Self::Bool => plain(&|text| matches!(text, "true" | "false")),
            Self::Integer { least, most } => {
                plain(&|text| text.parse().is_ok_and(|number: u64| (*least..=*most).contains(&number)))
            }
            Self::Share => plain(&|text| share(text).is_some()),
            Self::Ratio => plain(&|text| ratio(text).is_some()),
            Self::Size => quoted_or_not(&|text| size(text).is_some()),
            Self::PositiveSize => quoted_or_not(&|text| size(text).is_some_and(|bytes| bytes > 0)),
            Self::Seconds => quoted_or_not(&|text| seconds(text).is_some()),
            Self::Duration => quoted_or_not(&|text| duration(text).is_some()),
            Self::PositiveDuration => quoted_or_not(&|text| duration(text).is_some_and(|time| !time.is_zero())),
            Self::Rate => quoted_or_not(&|text| rate(text).is_some()),
            Self::Word(words) => text().is_some_and(|text| words.contains(&&*text)),
            Self::KnownWord(words) => text().is_some_and(|text| words().contains(&&*text)),
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
    pub(super) fn expected(&self) -> String {
        match self {
            Self::Text | Self::Template => "text".to_owned(),
            Self::Any | Self::JsonTemplate => "any value".to_owned(),
            Self::Expression => "an expression".to_owned(),
            Self::True => "`true`".to_owned(),
            Self::Bool => "`true` or `false`".to_owned(),
            Self::Integer { least, most } => format!("a number from {least} to {most}"),
            Self::Share => "a number above 0 and up to 1".to_owned(),
            Self::Ratio => "a number from 0 to 1".to_owned(),
            Self::Size => "a number of bytes from 0 to 1GiB, as in `64KiB`".to_owned(),
            Self::PositiveSize => "a number of bytes from 1 to 1GiB, as in `64KiB`".to_owned(),
            Self::Seconds => "a time of whole seconds up to 24h, as in `30s`, `5m` or `1h`".to_owned(),
            Self::Duration => "a time from 0s to 24h, as in `250ms`, `10s`, `5m` or `1h`".to_owned(),
            Self::PositiveDuration => "a time from 1ms to 24h, as in `250ms`, `10s`, `5m` or `1h`".to_owned(),
            Self::Rate => "a number in a time, as in `100/s`, `5/m` or `100/10s`".to_owned(),
            Self::Word(words) => format!("one of `{}`", words.join("`, `")),
            Self::KnownWord(words) => format!("one of `{}`", words().join("`, `")),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) | Self::Mapping(_) => "a mapping".to_owned(),
            Self::OneOf(specs) => specs.iter().map(Self::expected).collect::<Vec<_>>().join(" or "),
        }
    }
}
