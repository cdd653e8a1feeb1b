//! Compiles the limits of a policy that a service counts: `limit` with the key `remote`.

use crate::compile::RuleCompiler;
use crate::compile::limit::{groups_of, name_of};
use crate::host::outcome::Phase;
use crate::keys::limits::{LOCAL, REMOTE};
use crate::limits::remote::{RemoteCounts, RemoteState};
use crate::limits::settings::{LimitErrorPolicy, TellsClient};
use crate::rules::actions::{NamedList, TextTemplate};
use crate::rules::limit::Number;
use crate::rules::remote_limit::{RemoteLimit, fits};
use crate::yaml::{MapEntry, Node};
use celero::Context;
use std::sync::Arc;

/// The most descriptors of a limit, and the most entries of a descriptor.
const MAX: usize = 16;

impl<C: Context> RuleCompiler<'_, '_, C> {
    /// Reports keys that a limit which is counted here does not have.
    pub(crate) fn check_local(&mut self, limit: &Node) {
        for entry in limit.entries().iter().filter(|entry| REMOTE.contains(&&*entry.key.text)) {
            let message = format!("`{}` is for limits that a service counts", entry.key.text);
            self.refuse(entry.key.place, message, "add `remote: NAME`, or remove it");
        }
    }

    /// Compiles the limit of a rule if a service counts it.
    pub(crate) fn remote_limit(&mut self, rule: &Node, number: usize) -> Option<Box<RemoteLimit<C::Static>>> {
        let phase = self.expressions.phase;
        let node = rule.get("limit")?;
        let service = node.text_of("remote")?;
        if !matches!(phase, Phase::Request | Phase::RequestBody) {
            let message = format!("the phase `{}` does not wait for a service", phase.name());
            self.refuse(service.place, message, "move the rule to `request` or `requestBody`");
            return None;
        }
        let (name, place) = name_of(rule, node, phase, number);
        self.add_name(&name, place, false);
        for entry in node.entries().iter().filter(|entry| LOCAL.contains(&&*entry.key.text)) {
            let message = format!("`{}` is for limits that are counted here", entry.key.text);
            let help = "write a rule with a limit of its own before this one: requests above it do not ask the service";
            self.refuse(entry.key.place, message, help);
        }
        let Some(wanted) = node.get("descriptors") else {
            self.refuse(
                node.place,
                "a limit that a service counts needs `descriptors`".to_owned(),
                "say what the service counts: `descriptors: {client: \"${source.address}\"}`",
            );
            return None;
        };
        let wanted = if wanted.is_list() { wanted.elements() } else { std::slice::from_ref(wanted) };
        if wanted.is_empty() || wanted.len() > MAX || wanted.iter().any(|one| !(1..=MAX).contains(&one.entries().len()))
        {
            let message = format!("a limit has 1 to {MAX} descriptors, each with 1 to {MAX} entries");
            self.refuse(node.place, message, "write rules with limits of their own");
        }
        let descriptors: Vec<_> = wanted.iter().map(|one| self.descriptor(one)).collect();
        let hits = match node.text_of("hits") {
            Some(text) => self.expressions.number(&text, self.compilation.problems)?,
            None => Number::Fixed(1),
        };
        let policy = |key| node.text_of(key).and_then(|word| LimitErrorPolicy::named(&word.text)).unwrap_or_default();
        if policy("onError") == LimitErrorPolicy::Shared {
            let message = "`onError: shared` is for limits that are counted here".to_owned();
            self.refuse(node.place, message, "choose `closed` or `pass`");
        }
        let on_limit = self.on_limit(node);
        let tells = node.text_of("headers").and_then(|word| TellsClient::named(&word.text)).unwrap_or_default();
        let state = RemoteState { name, service: service.text.into(), counts: RemoteCounts::default() };
        Some(Box::new(RemoteLimit {
            state: Arc::new(state),
            descriptors: descriptors.into(),
            groups: groups_of(node),
            hits,
            on_limit,
            on_error: policy("onError"),
            on_unavailable: policy("onUnavailable"),
            tells,
            dry_run: node.get("dryRun").is_some(),
        }))
    }

    fn descriptor(&mut self, node: &Node) -> NamedList<TextTemplate<C::Static>> {
        let mut found = Vec::new();
        for MapEntry { key, value } in node.entries() {
            let Some(text) = value.text() else { continue };
            let words = self.expressions.words(&text, self.compilation.problems);
            let is_too_long = |value: &TextTemplate<_>| matches!(value, TextTemplate::Fixed(fixed) if !fits(fixed));
            if !fits(key.text.as_bytes()) || words.as_ref().is_some_and(is_too_long) {
                self.refuse(
                    text.place,
                    "an entry of a descriptor is too long".to_owned(),
                    "keys and values have at most 1024 bytes",
                );
            }
            found.extend(words.map(|words| (key.text.as_str().into(), words)));
        }
        found.into()
    }
}
