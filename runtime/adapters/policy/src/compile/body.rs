//! Compiles the changes of bodies, and warns of settings of bodies where none is read.

use crate::bodies::json_patch::{JsonPointer, PatchOperation};
use crate::compile::{Compilation, RuleCompiler};
use crate::host::outcome::Phase;
use crate::phases::phase::PhaseRules;
use crate::rules::actions::Field;
use crate::rules::body_change::{BodyChange, JsonTemplate};
use crate::yaml::{MapEntry, Node, NodeValue, SourceText};
use celero::Context;

impl Compilation<'_> {
    /// Warns of settings of bodies in a phase whose rules read none.
    pub(super) fn warn_of_unread_bodies<S>(&mut self, PhaseRules { phase, rules, .. }: &PhaseRules<S>) {
        let reads = rules.iter().any(|rule| rule.reads_body() || rule.is_unconditional);
        if reads || rules.is_empty() || !matches!(phase, Phase::RequestBody | Phase::ResponseBody) {
            return;
        }
        for key in ["limit", "tooLarge", "encoded"] {
            if let Some(node) = self.document.setting(phase.name(), key, self.problems) {
                let message = format!("`{key}` concerns no body: no rule of the phase `{}` reads one", phase.name());
                let warning = self.problems.warn("policy-idle", node.place, message);
                warning.help("a rule without `when` is about all bodies");
            }
        }
    }
}

impl<C: Context> RuleCompiler<'_, '_, C> {
    /// Compiles the change of the body.
    pub(crate) fn body(&mut self, rule: &Node) -> Option<BodyChange<C::Static>> {
        let mut found = rule.entries().iter().filter(|entry| matches!(&*entry.key.text, "setBody" | "patchBody"));
        let MapEntry { key, value } = found.next()?;
        if let Some(second) = found.next() {
            let message = "a rule has either `setBody` or `patchBody`".to_owned();
            self.compilation.problems.add("policy-body", second.key.place, message);
            return None;
        }
        if value.is_nothing() {
            let message = format!("`{}` has no value", key.text);
            self.compilation.problems.add("policy-value", key.place, message).help("an empty body is `setBody: ''`");
            return None;
        }
        if !self.may_change_body(key) {
            return None;
        }
        Some(match (&*key.text, &value.value) {
            ("setBody", NodeValue::Scalar(_)) => BodyChange::Text(self.scalar(value)?),
            ("setBody", _) => BodyChange::Json(self.json(value)?),
            (_, NodeValue::List(operations)) => {
                let operations: Vec<_> = operations.iter().map(|operation| self.operation(operation)).collect();
                BodyChange::Patch(operations.into_iter().collect::<Option<_>>()?)
            }
            _ => BodyChange::Merge(self.json(value)?),
        })
    }

    /// Reports a change of a body in a phase that does not read the whole body as it is sent.
    fn may_change_body(&mut self, key: &SourceText) -> bool {
        let phase = self.expressions.phase;
        let action = &key.text;
        let problems = &mut *self.compilation.problems;
        if !matches!(phase, Phase::RequestBody | Phase::ResponseBody) {
            let message =
                format!("`{action}` can't be in the phase `{}`: bodies are not buffered for it", phase.name());
            problems.add("policy-phase", key.place, message).help("move the rule to `requestBody` or `responseBody`");
            return false;
        }
        let document = self.compilation.document;
        if document.setting(phase.name(), "prefix", problems).is_some() {
            let message = format!("`{action}` needs the whole body: the phase `{}` reads a prefix of it", phase.name());
            problems.add("policy-body", key.place, message).help("use `limit` instead of `prefix`");
            return false;
        }
        let encoded = document.setting(phase.name(), "encoded", problems).and_then(Node::text);
        if encoded.is_some_and(|text| text.text == "raw") {
            let message = format!("`{action}` needs decoded bodies: the phase `{}` has `encoded: raw`", phase.name());
            problems.add("policy-body", key.place, message).help("use `encoded: decode`");
            return false;
        }
        true
    }

    /// Compiles an operation of a JSON Patch. The check of the file has seen to the keys.
    fn operation(&mut self, node: &Node) -> Option<PatchOperation<JsonTemplate<C::Static>>> {
        let (op, path) = (node.text_of("op")?, self.pointer(node, "path")?);
        let [takes_value, takes_from] =
            [&["add", "replace", "test"][..], &["move", "copy"]].map(|operations| operations.contains(&&*op.text));
        for (name, is_wanted) in [("value", takes_value), ("from", takes_from)] {
            let entry = node.entries().iter().find(|entry| entry.key.text == name);
            let (place, message) = match entry {
                Some(entry) if !is_wanted => (entry.key.place, format!("the operation `{}` has no `{name}`", op.text)),
                None if is_wanted => (node.place, format!("the operation `{}` needs `{name}`", op.text)),
                _ => continue,
            };
            self.compilation.problems.add("policy-body", place, message);
            return None;
        }
        let from = if takes_from { Some(self.pointer(node, "from")?) } else { None };
        let removed = from.as_ref().filter(|_| op.text == "move").or((op.text == "remove").then_some(&path));
        if let Some(removed) = removed
            && (removed.is_root() || from.is_some() && removed.contains(&path))
        {
            let message = match from {
                Some(_) => "a value can't be moved into itself",
                None => "the whole document can't be removed",
            };
            self.compilation.problems.add("policy-body", node.place, message.to_owned());
            return None;
        }
        let value = node.get("value").map(|value| self.json(value));
        Some(match (&*op.text, value, from) {
            ("add", Some(value), _) => PatchOperation::Add(path, value?),
            ("replace", Some(value), _) => PatchOperation::Replace(path, value?),
            ("test", Some(value), _) => PatchOperation::Test(path, value?),
            ("move", _, Some(from)) => PatchOperation::Move { from, to: path },
            ("copy", _, Some(from)) => PatchOperation::Copy { from, to: path },
            _ => PatchOperation::Remove(path),
        })
    }

    /// Reads a place in a document.
    fn pointer(&mut self, node: &Node, key: &str) -> Option<JsonPointer> {
        let text = node.text_of(key)?;
        let pointer = JsonPointer::parse(&text.text);
        if pointer.is_none() {
            let message = format!("`{}` is not a JSON Pointer", text.text);
            let problem = self.compilation.problems.add("policy-value", text.place, message);
            problem
                .help("write `/` before each name or index, `~1` for `/` and `~0` for `~` in a name: `/items/0/price`");
        }
        pointer
    }

    /// Compiles a JSON value.
    fn json(&mut self, node: &Node) -> Option<JsonTemplate<C::Static>> {
        Some(match &node.value {
            NodeValue::Scalar(_) => JsonTemplate::Value(self.scalar(node)?),
            NodeValue::List(elements) => {
                let elements: Vec<_> = elements.iter().map(|element| self.json(element)).collect();
                JsonTemplate::List(elements.into_iter().collect::<Option<_>>()?)
            }
            NodeValue::Map(entries) => {
                let member = |entry: &MapEntry| Some((entry.key.text.as_str().into(), self.json(&entry.value)?));
                let members: Vec<_> = entries.iter().map(member).collect();
                JsonTemplate::Map(members.into_iter().collect::<Option<_>>()?)
            }
        })
    }

    /// Compiles a scalar: a number, `true`, `false` or nothing as it is, and a template.
    fn scalar(&mut self, node: &Node) -> Option<Field<C::Static>> {
        let constant = node.json();
        match node.text() {
            Some(text) if constant.is_string() => self.expressions.field(&text, self.compilation.problems),
            _ => Some(Field::Fixed(constant)),
        }
    }
}
