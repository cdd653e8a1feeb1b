//! Compiles the preconditions of rules, and their changes of targets and statuses.

use crate::compile::RuleCompiler;
use crate::host::edits::is_fixed;
use crate::host::outcome::Phase;
use crate::problems::FileSpan;
use crate::rules::actions::TextTemplate;
use crate::rules::requirement::Requirement;
use crate::rules::target::{PathTemplate, TargetTemplate};
use crate::yaml::{MapEntry, Node};
use celero::Context;
use celero_canonical::{DotSegments, canonical_path};
use http::StatusCode;

/// The keys that a rule with `require` may have: what it does not say is done to messages that pass.
const WITH_REQUIREMENT: [&str; 12] = [
    "name",
    "language",
    "when",
    "priority",
    "sample",
    "require",
    "delay",
    "deny",
    "respond",
    "redirect",
    "logFields",
    "count",
];

impl<C: Context> RuleCompiler<'_, '_, C> {
    /// Compiles the condition that messages must meet.
    pub(crate) fn requirement(&mut self, rule: &Node) -> Option<Requirement<C::Static>> {
        let text = rule.text_of("require")?;
        for entry in rule.entries().iter().filter(|entry| !WITH_REQUIREMENT.contains(&&*entry.key.text)) {
            let message = format!("`{}` can't be in a rule with `require`, which acts when it denies", entry.key.text);
            let problem = self.compilation.problems.add("policy-require", entry.key.place, message);
            problem.help("write a rule of its own after this one: only messages that meet the requirement get there");
        }
        self.expressions.predicate(&text, self.compilation.problems).map(Requirement)
    }

    /// Compiles the changes of the target.
    pub(crate) fn target(&mut self, rule: &Node) -> Option<TargetTemplate<C::Static>> {
        const KEYS: [&str; 3] = ["setPath", "setQuery", "removeQuery"];
        let mut found = rule.entries().iter().filter(|entry| KEYS.contains(&&*entry.key.text));
        let MapEntry { key, .. } = found.next()?;
        let phase = self.expressions.phase;
        if !matches!(phase, Phase::Request | Phase::RequestBody) {
            self.misplaced(key.place, &format!("the target of a request can't change in the phase `{}`", phase.name()));
            return None;
        }
        let path = rule.text_of("setPath").and_then(|text| {
            let place = text.place;
            let text = self.expressions.words(&text, self.compilation.problems)?;
            let mut options = self.compilation.normalization.options;
            if matches!(text, TextTemplate::Computed(_)) {
                // `/a/${x}` stays below `/a`, whatever the client sends as `x`.
                options.dot_segments = DotSegments::Refuse;
            }
            if let TextTemplate::Fixed(path) = &text
                && let Err(refusal) = canonical_path(path, &options)
            {
                let problem =
                    self.compilation.problems.add("policy-path", place, format!("this path is refused: {refusal}"));
                problem.help("a path starts with `/`; a query is set by `setQuery`");
            }
            Some(PathTemplate { text, options })
        });
        let mut parameters = Vec::new();
        for name in rule.texts_of("removeQuery") {
            parameters.push((name.text.as_str().into(), None));
        }
        for MapEntry { key, value } in rule.get("setQuery").map_or(&[][..], Node::entries) {
            let value = value.text().and_then(|text| self.expressions.words(&text, self.compilation.problems));
            parameters.extend(value.map(|value| (key.text.as_str().into(), Some(value))));
        }
        Some(TargetTemplate { path, parameters: parameters.into() })
    }

    /// Reads the new status of a response.
    pub(crate) fn status(&mut self, rule: &Node) -> Option<StatusCode> {
        let text = rule.text_of("setStatus")?;
        let phase = self.expressions.phase;
        if !matches!(phase, Phase::Response | Phase::ResponseBody) {
            self.misplaced(text.place, &format!("there is no response in the phase `{}`", phase.name()));
            return None;
        }
        let status: StatusCode = text.text.parse().ok()?;
        if is_fixed(status) {
            let message = format!("a response can't get the status {}", status.as_u16());
            let problem = self.compilation.problems.add("policy-value", text.place, message);
            problem.help(
                "it says how the message is sent, or that it has no body; `respond` gives an answer without a body",
            );
            return None;
        }
        Some(status)
    }

    fn misplaced(&mut self, place: FileSpan, message: &str) {
        let help = match self.expressions.phase {
            Phase::Connection | Phase::Request | Phase::RequestBody => "move the rule to `response` or `responseBody`",
            Phase::Response | Phase::ResponseBody | Phase::Log => "move the rule to `request` or `requestBody`",
        };
        self.compilation.problems.add("policy-phase", place, message.to_owned()).help(help);
    }
}
