//! Compiles the limits of a policy: `limit` and `settle` of rules.

use crate::compile::RuleCompiler;
use crate::expressions::template::{TemplatePart, parse};
use crate::host::outcome::Phase;
use crate::keys::limits::ONLY_RATES;
use crate::limits::settings::{LimitErrorPolicy, TellsClient};
use crate::limits::state::{LimitDefinition, LimitState, Measure};
use crate::problems::FileSpan;
use crate::rules::actions::{AnswerTemplate, NamedList, PhaseEnd, TextTemplate};
use crate::rules::limit::{CountWhen, KeyPart, Number, OnLimit, RuleLimit};
use crate::rules::reads::RuleReads;
use crate::schema::{duration, rate};
use crate::yaml::{MapEntry, Node, NodeValue, SourceText};
use bytes::Bytes;
use celero::Context;
use celero_limits::Quota;
use http::StatusCode;
use std::sync::Arc;

/// The keys of a limit that does not say how many it remembers.
const USUAL_KEYS: usize = 65_536;

/// The longest name of a limit, in bytes: headers carry it.
const LONGEST_NAME: usize = 64;

/// The phases of a request whose rules can ask a limit. Those of `connection` can too.
const ASKING: [Phase; 2] = [Phase::Request, Phase::RequestBody];

impl<C: Context> RuleCompiler<'_, '_, C> {
    /// Compiles the limit of a rule.
    pub(crate) fn limit(&mut self, rule: &Node, number: usize) -> Option<Box<RuleLimit<C::Static>>> {
        let phase = self.expressions.phase;
        let node = rule.get("limit")?;
        if node.get("remote").is_some() {
            return None;
        }
        self.check_local(node);
        let is_of_request = ASKING.contains(&phase);
        if !is_of_request && phase != Phase::Connection {
            self.refuse(
                node.place,
                format!("a limit is asked before the server: the phase `{}` has none", phase.name()),
                "move the rule to `request` or `requestBody`",
            );
            return None;
        }
        // What is no mapping was reported.
        if !matches!(node.value, NodeValue::Map(_)) {
            return None;
        }
        let (name, place) = name_of(rule, node, phase, number);
        self.add_name(&name, place, is_of_request);
        let parts = match node.get("key") {
            Some(list) if !list.elements().is_empty() => list.elements().iter().filter_map(Node::text).collect(),
            key => key.and_then(Node::text).into_iter().collect::<Vec<_>>(),
        };
        let key: Option<Vec<KeyPart<C::Static>>> = parts.iter().map(|part| self.key_part(part)).collect();
        let cost = match node.text_of("cost") {
            Some(text) => self.expressions.number(&text, self.compilation.problems)?,
            None => Number::Fixed(1),
        };
        let measure = self.measure(node)?;
        if let (Number::Fixed(cost), Measure::Bucket(_) | Measure::Window(_), Some(text)) =
            (&cost, measure, node.text_of("cost"))
        {
            let most = match measure {
                Measure::Bucket(quota) => quota.burst(),
                Measure::Window(quota) => quota.count(),
                Measure::Open(_) => u64::MAX,
            };
            if *cost > most {
                self.refuse(
                    text.place,
                    format!("a cost of {cost} is never within a limit of {most}"),
                    "raise `burst` or `rate`",
                );
            }
        }
        let text = |key| node.text_of(key).map(|text| text.text);
        let on_limit = self.on_limit(node);
        let definition = LimitDefinition {
            key: parts.into_iter().map(|part| part.text).collect(),
            language: self.expressions.scope.0,
            groups: groups_of(node),
            measure,
            penalty: text("penalty").and_then(|text| duration(&text)).unwrap_or_default(),
            keys: text("keys").and_then(|text| text.parse().ok()).unwrap_or(USUAL_KEYS),
        };
        let is_settled = self
            .compilation
            .document
            .rules(Phase::Response.name())
            .chain(self.compilation.document.rules(Phase::ResponseBody.name()))
            .chain(self.compilation.document.rules(Phase::Log.name()))
            .flat_map(|rule| rule.get("settle").map_or(&[][..], Node::entries))
            .any(|entry| entry.key.text == *name);
        Some(Box::new(RuleLimit {
            state: Arc::new(LimitState::new(name, definition)),
            key: key?.into(),
            cost,
            settled_by_rule: is_of_request && is_settled,
            counts_later: node.get("countWhen").is_some(),
            on_limit,
            on_error: text("onError").and_then(|word| LimitErrorPolicy::named(&word)).unwrap_or_default(),
            tells: text("headers").and_then(|word| TellsClient::named(&word)).unwrap_or_default(),
            dry_run: node.get("dryRun").is_some(),
        }))
    }

    fn key_part(&mut self, text: &SourceText) -> Option<KeyPart<C::Static>> {
        let parts = parse(&text.text);
        let is_client = matches!(
            parts.as_deref(),
            Ok([TemplatePart::Expression(source, _)]) if self.expressions.is_variable(source, "source.address")
        );
        let text = self.expressions.words(text, self.compilation.problems)?;
        Some(KeyPart { text, is_client })
    }

    /// Compiles what becomes of a request above a limit.
    pub(crate) fn on_limit(&mut self, limit: &Node) -> OnLimit<C::Static> {
        let Some(node) = limit.get("onLimit") else { return OnLimit { delay: None, end: Some(too_many()) } };
        let (delay, end) = (self.delay(node), self.end(node));
        let Some(pass) = node.get("pass") else { return OnLimit { delay, end: Some(end.unwrap_or_else(too_many)) } };
        if node.get("delay").is_none() {
            let help = "add a `delay`; `dryRun: true` beside `onLimit` only counts and logs";
            self.refuse(pass.place, "requests above the limit would pass at once".to_owned(), help);
        }
        if end.is_some() {
            let help = "remove `pass`, or the answer";
            self.refuse(pass.place, "a request that passes has no answer".to_owned(), help);
        }
        OnLimit { delay, end: None }
    }

    /// Reads what is limited: a rate, or the number of open requests.
    fn measure(&mut self, node: &Node) -> Option<Measure> {
        let (rate_text, open) = (node.text_of("rate"), node.text_of("concurrent"));
        let is_window = node.text_of("algorithm").is_some_and(|text| text.text == "slidingWindow");
        match (rate_text, open) {
            (None, Some(open)) => {
                for entry in node.entries().iter().filter(|entry| ONLY_RATES.contains(&&*entry.key.text)) {
                    self.refuse(
                        entry.key.place,
                        format!("`{}` is for limits with `rate`", entry.key.text),
                        "write a rule with a limit of its own",
                    );
                }
                open.text.parse().ok().map(Measure::Open)
            }
            (Some(text), None) => {
                let (count, period) = rate(&text.text)?;
                let burst = node.text_of("burst");
                if let (true, Some(burst)) = (is_window, &burst) {
                    self.refuse(
                        burst.place,
                        "a sliding window has no burst".to_owned(),
                        "remove `burst`, or `algorithm`",
                    );
                }
                let quota = Quota::new(count, period).and_then(|quota| {
                    match burst.as_ref().and_then(|text| text.text.parse().ok()) {
                        Some(burst) => quota.with_burst(burst),
                        None => Ok(quota),
                    }
                });
                match quota {
                    Ok(quota) => Some(if is_window { Measure::Window(quota) } else { Measure::Bucket(quota) }),
                    Err(error) => {
                        self.refuse(text.place, error.to_string(), "choose a smaller `burst` or a higher `rate`");
                        None
                    }
                }
            }
            _ => {
                self.refuse(
                    node.place,
                    "a limit has either `rate` or `concurrent`".to_owned(),
                    "`rate: 100/s` limits how often, `concurrent: 10` how many at once",
                );
                None
            }
        }
    }

    /// Compiles the real costs of limits that earlier phases have asked.
    pub(crate) fn settled(&mut self, rule: &Node) -> NamedList<Number<C::Static>> {
        let mut found = Vec::new();
        let Some(node) = rule.get("settle") else { return found.into() };
        let phase = self.expressions.phase;
        if ASKING.contains(&phase) {
            self.refuse(
                node.place,
                format!("`settle` has no response to read in the phase `{}`", phase.name()),
                "move the rule to `response`, `responseBody` or `log`",
            );
            return found.into();
        }
        for MapEntry { key, value } in node.entries() {
            let settled = self.compilation.limit_names.iter().filter(|(.., can_settle)| *can_settle);
            let known: Vec<&str> = settled.map(|(name, ..)| &**name).collect();
            if !known.contains(&&*key.text) {
                let known: Vec<String> = known.into_iter().map(str::to_owned).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let message = format!("no limit is called `{}`", key.text);
                self.compilation.problems.add("policy-limit", key.place, message).suggest(&key.text, &known);
            }
            let cost = value.text().and_then(|text| self.expressions.number(&text, self.compilation.problems));
            found.extend(cost.map(|cost| (key.text.as_str().into(), cost)));
        }
        found.into()
    }

    /// Compiles what `countWhen` of the limits says, in the phase that has a response.
    pub(crate) fn count_when(&mut self) -> Vec<CountWhen<C::Static>> {
        let mut found = Vec::new();
        if self.expressions.phase != Phase::Response {
            return found;
        }
        let document = self.compilation.document;
        for phase in ASKING {
            for (number, (level, rule)) in document.rules_by_level(phase.name()).enumerate() {
                let Some(node) = rule.get("limit") else { continue };
                let Some(text) = node.text_of("countWhen") else { continue };
                let language = self.compilation.language(rule);
                self.expressions.set_scope(language, None);
                let (limit, _) = name_of(rule, node, phase, number.saturating_add(1));
                let on_error = node.text_of("onError").and_then(|word| LimitErrorPolicy::named(&word.text));
                self.expressions.costs.rule = Arc::clone(&limit);
                self.expressions.rule_reads = RuleReads::default();
                let program = self.expressions.predicate(&text, self.compilation.problems);
                let reads = std::mem::take(&mut self.expressions.rule_reads);
                self.compilation.claims.add_count_when(level, &limit, text.place, reads);
                let on_error = on_error.unwrap_or_default();
                found.extend(program.map(|program| CountWhen { limit, program, on_error }));
            }
        }
        found
    }

    /// Adds the name of a limit to those of the policy. `can_settle`: a rule may settle its cost.
    pub(crate) fn add_name(&mut self, name: &Arc<str>, place: FileSpan, can_settle: bool) {
        let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) && !matches!(byte, b'"' | b'\\');
        if name.len() > LONGEST_NAME || !name.bytes().all(is_plain) {
            let help = "give the limit a `name` of at most 64 bytes of ASCII without quotes: headers carry it";
            self.refuse(place, format!("`{name}` can't be the name of a limit"), help);
        }
        let names = &mut self.compilation.limit_names;
        match names.iter().find(|(known, ..)| known == name) {
            Some((_, first, _)) => {
                let (message, first) = (format!("another limit is called `{name}`"), *first);
                let problem = self.compilation.problems.add("policy-limit", place, message);
                problem.also(first, "the first is here").help("give each limit its own `name`");
            }
            None => names.push((Arc::clone(name), place, can_settle)),
        }
    }

    pub(crate) fn refuse(&mut self, place: FileSpan, message: String, help: &str) {
        self.compilation.problems.add("policy-limit", place, message).help(help.to_owned());
    }
}

/// Returns the name of a limit: its own, or that of its rule.
pub(crate) fn name_of(rule: &Node, limit: &Node, phase: Phase, number: usize) -> (Arc<str>, FileSpan) {
    let named = |text: SourceText| (Arc::from(text.text), text.place);
    let own = limit.text_of("name").or_else(|| rule.text_of("name")).map(named);
    own.unwrap_or_else(|| (format!("{} #{number}", phase.name()).into(), limit.place))
}

/// Returns the prefix lengths of the networks that addresses stand for, of IPv4 and of IPv6.
pub(crate) fn groups_of(limit: &Node) -> (u8, u8) {
    let length = |key| limit.text_of(key).and_then(|text| text.text.parse().ok());
    (length("groupV4").unwrap_or(32), length("groupV6").unwrap_or(64))
}

/// The answer of limits without `onLimit`.
pub(crate) fn too_many<S>() -> PhaseEnd<S> {
    let body = TextTemplate::Fixed(Bytes::new());
    PhaseEnd::Deny(AnswerTemplate { status: StatusCode::TOO_MANY_REQUESTS, headers: Box::default(), body })
}
