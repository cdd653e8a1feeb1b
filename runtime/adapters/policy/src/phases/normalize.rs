//! The canonical request: what the policy file says about it, and the refusals, counted.
//!
//! The work is done by `celero-canonical`. [`Policy::request`](crate::Policy::request) calls it
//! before the phase, so a host can't forget it.
//!
//! Invariant: a request is made canonical in place before any rule, so rules, the host's routes and the server see the
//! same request. Test: `runtime/adapters/proxy/tests/proxy/canonical.rs::the_server_gets_what_the_rules_read`.
//!
//! Invariant: the fields that `Connection` names are removed before a phase runs, so they remove nothing that a phase
//! sets. Test: `runtime/adapters/proxy/tests/proxy/canonical.rs::edits_are_final_whatever_a_client_names`.

use crate::file::document::Document;
use crate::host::outcome::PolicyAnswer;
use crate::phases::exchange::Exchange;
use crate::problems::Problems;
use crate::yaml::Node;
use bytes::Bytes;
use celero_canonical::{
    DotSegments, EncodedSlashes, GuardedNames, Head, Options, Refusal, Slashes, Underscores, canonical_changes,
    origin_form,
};
use http::{HeaderValue, StatusCode, Uri, header, request};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The rule that answers refused requests, in logs and cases.
const RULE: &str = "normalize";

/// The section `normalize` of a policy, and what follows from its rules.
#[derive(Debug)]
pub(crate) struct Normalization {
    pub(crate) options: Options,
    /// Whether the target is sent as it was received.
    pub(crate) forward_raw: bool,
    /// The fields that rules on requests set or remove, those of requests that rules read, and
    /// those that hold credentials.
    pub(crate) of_requests: GuardedNames,
    /// The fields that rules on responses set or remove.
    pub(crate) of_responses: GuardedNames,
    refused: Box<[AtomicU64]>,
}

impl Normalization {
    /// Reads the section of a document that was checked, and the names of fields in its rules.
    pub(crate) fn compile(document: &Document, problems: &mut Problems) -> Self {
        let mut word = |key| {
            let node = document.setting("normalize", key, problems);
            node.and_then(|node| node.text()).map(|text| text.text).unwrap_or_default()
        };
        let options = Options {
            dot_segments: if word("dotSegments") == "refuse" { DotSegments::Refuse } else { DotSegments::Remove },
            slashes: if word("slashes") == "keep" { Slashes::Keep } else { Slashes::Merge },
            encoded_slashes: match word("encodedSlashes").as_str() {
                "keep" => EncodedSlashes::Keep,
                "decode" => EncodedSlashes::Decode,
                _ => EncodedSlashes::Refuse,
            },
            underscores: match word("underscores").as_str() {
                "refuse" => Underscores::Refuse,
                "keep" => Underscores::Keep,
                _ => Underscores::Guarded,
            },
            connect: word("connect") == "accept",
        };
        let forward_raw = word("forwardRaw") == "true";
        let mut of_requests = names_in_rules(document, &["request", "requestBody"]);
        for (section, usual) in [("jwt", None), ("apiKey", Some("x-api-key"))] {
            for found in document.all(section) {
                let header = found.node.text_of("header").map(|text| text.text);
                if let Some(name) = header.as_deref().or(usual) {
                    of_requests.add(name);
                }
            }
        }
        let of_responses = names_in_rules(document, &["response", "responseBody"]);
        let refused = Refusal::ALL.iter().map(|_| AtomicU64::new(0)).collect();
        Self { options, forward_raw, of_requests, of_responses, refused }
    }

    /// Makes the head of a request canonical, or returns the answer that refuses it.
    pub(crate) fn admit(&self, head: &mut impl Head, exchange: &mut Exchange) -> Option<PolicyAnswer> {
        (exchange.arrival.target, exchange.refusal) = (None, None);
        exchange.has_new_target = false;
        match canonical_changes(head.parts(), head.raw_target(), &self.options, &self.of_requests) {
            Ok(changes) => {
                if let Some(uri) = changes.uri() {
                    exchange.arrival.target = received(head.parts(), head.raw_target(), uri);
                }
                if !changes.is_empty() {
                    changes.apply(head);
                }
                None
            }
            Err(refusal) => {
                exchange.refusal = Some(refusal);
                if let Some(counter) = self.refused.get(refusal.index()) {
                    counter.fetch_add(1, Ordering::Relaxed);
                }
                Some(answer(refusal))
            }
        }
    }

    /// Returns how many requests were refused for each reason.
    pub(crate) fn refusals(&self) -> impl Iterator<Item = (Refusal, u64)> {
        Refusal::ALL.iter().copied().zip(self.refused.iter().map(|counter| counter.load(Ordering::Relaxed)))
    }
}

/// Returns path and query as they were received, if they are not those of the canonical target.
fn received(head: &request::Parts, raw: Option<&[u8]>, canonical: &Uri) -> Option<Box<[u8]>> {
    let of_uri = head.uri.path_and_query().map(|both| Cow::Borrowed(both.as_str().as_bytes()));
    let received = raw.and_then(origin_form).or(of_uri)?;
    let canonical = canonical.path_and_query()?.as_str().as_bytes();
    // `OPTIONS` of a whole server has no path in absolute-form.
    let is_same = received == canonical || canonical == b"*";
    (!is_same).then(|| received.into())
}

fn answer(refusal: Refusal) -> PolicyAnswer {
    let status = match refusal {
        Refusal::Connect => StatusCode::METHOD_NOT_ALLOWED,
        _ => StatusCode::BAD_REQUEST,
    };
    let mut answer = PolicyAnswer::empty(status, &Arc::from(RULE));
    answer.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    answer.body = Bytes::from(format!("{refusal}\n"));
    answer
}

/// Returns the names that the rules of these phases set, add or remove.
fn names_in_rules(document: &Document, phases: &[&'static str]) -> GuardedNames {
    let (mut names, mut sets) = (GuardedNames::default(), HashSet::new());
    for rule in phases.iter().flat_map(|phase| document.rules(phase)) {
        names_removed(rule, &mut names);
        for key in ["setHeaders", "addHeaders"] {
            rule.get(key).map_or(&[][..], Node::entries).iter().for_each(|entry| names.add(&entry.key.text));
        }
        sets.extend(rule.texts_of("removeHeaderSets").into_iter().map(|set| set.text));
    }
    let used = document.all("headerSets").flat_map(|section| section.node.entries());
    used.filter(|set| sets.contains(&set.key.text)).for_each(|set| names_of_set(&set.value, &mut names));
    names
}

/// Adds the names that a rule removes, without those of `headerSets`.
pub(crate) fn names_removed(rule: &Node, names: &mut GuardedNames) {
    rule.texts_of("removeHeaders").iter().for_each(|name| names.add(&name.text));
    rule.texts_of("removePrefixes").iter().for_each(|prefix| names.add_prefix(&prefix.text));
}

/// Adds the names of a set of `headerSets`.
pub(crate) fn names_of_set(set: &Node, names: &mut GuardedNames) {
    set.texts_of("names").iter().for_each(|name| names.add(&name.text));
    set.texts_of("prefixes").iter().for_each(|prefix| names.add_prefix(&prefix.text));
}
