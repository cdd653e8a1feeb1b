//! Compiles the rules of a phase from a document.

pub(crate) mod answers;
pub(crate) mod body;
mod condition;
pub(crate) mod delay;
pub(crate) mod effects;
pub(crate) mod header_sets;
mod higher_levels;
pub(crate) mod levels;
pub(crate) mod limit;
mod method;
mod needs;
pub(crate) mod remote;
mod rule_claims;
mod set_warnings;

use crate::compile::condition::{Condition, Stream};
use crate::compile::header_sets::{HeaderSets, set_of};
use crate::compile::levels::Claims;
use crate::expressions::budget::ExpressionBudget;
use crate::expressions::costs::ExpressionCosts;
use crate::expressions::declared_names::DeclaredNames;
use crate::expressions::definitions::{DefinitionScope as _, Definitions};
use crate::expressions::phase_env::PhaseEnv;
use crate::expressions::{CredentialReads, EndReads, ExpressionCompiler};
use crate::file::document::Document;
use crate::grpc::methods::PhaseMethods;
use crate::host::outcome::Phase;
use crate::keys::error_policy::PhaseErrorPolicy;
use crate::language::Language;
use crate::phases::normalize::Normalization;
use crate::phases::phase::PhaseRules;
use crate::problems::{FileSpan, Problems};
use crate::rules::actions::{Field, HeaderEdit, HeaderTemplate, NamedList, TextTemplate, is_framing};
use crate::rules::limit::CountWhen;
use crate::rules::reads::RuleReads;
use crate::rules::rule::Rule;
use crate::rules::times::RuleTimes;
use crate::schema::share;
use crate::yaml::{MapEntry, Node, SourceText};
use celero::counting::Counters;
use celero::http::HeaderSet;
use celero::sets::RuleSetBuilder;
use celero::{Context, Engine, Env, ErrorPolicy};
use celero_canonical::canonical_host;
use http::header::HOST;
use http::{HeaderName, StatusCode};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// The priority of rules without the key `priority`.
const DEFAULT_PRIORITY: u64 = 1000;

/// Sampling interval: one evaluation in 64 per thread is timed, because reading the clock takes as
/// long as a cheap rule.
const SAMPLING_INTERVAL: u32 = 64;

/// The names of a policy's own counters.
pub(crate) type CounterNames = Vec<String>;

/// The names of a policy's limits, with their places, and whether a rule may settle their costs.
pub(crate) type LimitNames = Vec<(Arc<str>, FileSpan, bool)>;

/// The state of compiling a policy, shared by its phases.
pub(crate) struct Compilation<'d> {
    pub(crate) document: &'d Document,
    pub(crate) definitions: &'d Definitions,
    pub(crate) names: &'d DeclaredNames,
    pub(crate) configured: CredentialReads,
    pub(crate) normalization: &'d mut Normalization,
    pub(crate) problems: &'d mut Problems,
    pub(crate) counter_names: CounterNames,
    /// The positions of these names.
    pub(crate) counter_numbers: HashMap<String, usize>,
    pub(crate) limit_names: LimitNames,
    pub(crate) header_sets: HeaderSets<'d>,
    pub(crate) claims: Claims,
    /// The methods whose messages rules read.
    pub(crate) methods: PhaseMethods,
    /// The streams of the phase.
    pub(crate) streams: Vec<Stream>,
    /// The longest delay of a request.
    pub(crate) longest_delay: Duration,
    /// The description of the phases for `celero explain`, if wanted.
    pub(crate) explanation: Option<String>,
    pub(crate) engine: &'static Engine,
    pub(crate) costs: ExpressionCosts,
    /// What the expressions of the phases compiled so far have taken.
    pub(crate) budget: ExpressionBudget,
}

/// A compiled phase, and the credentials that its expressions read.
pub(crate) struct CompiledPhase<S> {
    pub(crate) rules: PhaseRules<S>,
    pub(crate) reads: CredentialReads,
    pub(crate) reads_ends: EndReads,
    /// In the phase `response`: which responses count for limits.
    pub(crate) count_when: Vec<CountWhen<S>>,
}

/// A rule with its condition and its position.
struct OrderedRule<S> {
    priority: u64,
    when: Option<Condition>,
    /// The actions, as written in the file.
    actions: Vec<String>,
    place: FileSpan,
    /// Whether it was reported that it is never reached.
    is_reported: bool,
    rule: Rule<S>,
}

impl Compilation<'_> {
    /// Compiles a phase. Returns `None` if the policy has errors.
    pub(crate) fn phase<C: Context>(&mut self, scope: &PhaseEnv<C>) -> Option<CompiledPhase<C::Static>> {
        let (phase, document) = (scope.phase, self.document);
        let mut expressions = ExpressionCompiler {
            engine: self.engine,
            costs: self.costs.clone(),
            phase,
            env: &scope.env,
            names: self.names,
            configured: self.configured,
            absent: self.absent_body(phase),
            scope: (Language::default(), None),
            envs: HashMap::new(),
            reads: CredentialReads::default(),
            reads_ends: EndReads::default(),
            request_headers: BTreeSet::new(),
            rule_reads: RuleReads::default(),
            budget: self.budget.clone(),
        };
        let valid = self.definitions.values().filter(|(number, _)| scope.has(*number));
        valid.for_each(|(_, body)| expressions.lint(body, self.problems));
        let mut compiler = RuleCompiler { expressions, compilation: self };
        let mut placed: Vec<OrderedRule<C::Static>> = Vec::new();
        let mut names: HashMap<String, FileSpan> = HashMap::new();
        for (number, (level, node)) in document.rules_by_level(phase.name()).enumerate() {
            let mut is_reported = false;
            if let Some(last) = placed.last()
                && last.when.is_none()
                && last.rule.sample.is_none()
                && last.rule.end.is_some()
                && last.rule.level == level
                && last.rule.require.is_none()
                && last.priority == DEFAULT_PRIORITY
                && node.get("priority").is_none()
                // A rule with a mistake may lack its condition for that.
                && !compiler.compilation.problems.has_errors_between(last.place, node.place)
            {
                let message =
                    format!("this rule is never reached: `{}` before it always ends the phase", last.rule.name);
                compiler.compilation.problems.warn("policy-unreachable", node.place, message);
                is_reported = true;
            }
            if let Some(name) = node.text_of("name")
                && let Some(first) = names.insert(name.text.clone(), name.place)
            {
                let message = format!("another rule of this phase is called `{}`", name.text);
                let problem = compiler.compilation.problems.warn("policy-same-name", name.place, message);
                problem.also(first, "the first is here").help("logs and metrics name rules: give each its own name");
            }
            placed.push(OrderedRule { is_reported, ..compiler.rule(node, level, number) });
        }
        let count_when = compiler.count_when();
        let ExpressionCompiler { reads, reads_ends, request_headers, budget, costs, .. } = compiler.expressions;
        (self.budget, self.costs) = (budget, costs);
        if phase != Phase::Log {
            request_headers.iter().for_each(|name| self.normalization.of_requests.add(name));
        }
        placed.sort_by_key(|placed| (placed.rule.level, placed.priority));
        let (error_policy, error_status) = self.settings(phase);
        if self.problems.has_errors() {
            return None;
        }
        placed.iter().for_each(|rule| self.lint_guard(rule, &scope.env, error_policy));
        if self.explanation.is_some() {
            self.explain(&scope.env, &placed, error_policy, phase);
        }
        let set = match builder(self.engine, &scope.env, &placed, error_policy).build() {
            Ok(set) => set,
            Err(error) => {
                // Each rule was checked before, so these are errors of native compilation only.
                for (index, found) in error.diagnostics() {
                    if let Some(when) = placed.get(index).and_then(|rule| rule.when.as_ref()) {
                        when.report(found, self.problems);
                    }
                }
                return None;
            }
        };
        self.warn_of_set(&set, &placed);
        let needs = self.needs(scope, &placed);
        let times = RuleTimes::new(placed.iter().map(|rule| rule.when.as_ref().is_none_or(|when| when.is_pure())));
        let rules: Box<[Rule<C::Static>]> = placed.into_iter().map(|placed| placed.rule).collect();
        let counters = Counters::new(rules.len()).sampling_interval(SAMPLING_INTERVAL);
        let (failure_log, lists) = (None, self.definitions.lists.clone());
        let rules =
            PhaseRules { phase, set, rules, needs, error_policy, error_status, counters, times, failure_log, lists };
        self.warn_of_buffered_streams(&rules);
        self.warn_of_unread_bodies(&rules);
        Some(CompiledPhase { rules, reads, reads_ends, count_when })
    }

    /// Warns where a client can pass a rule that keeps messages back.
    fn lint_guard<C: Context>(
        &mut self,
        OrderedRule { when, rule, place, .. }: &OrderedRule<C::Static>,
        env: &Env<C>,
        error_policy: PhaseErrorPolicy,
    ) {
        if !rule.is_guard() {
            return;
        }
        if let Some(share) = rule.sample.filter(|share| *share < 1.0)
            && !rule.sheds_load()
        {
            let message =
                format!("this rule stops only {} % of the messages that match, so it is not a guard", share * 100.0);
            let problem = self.problems.warn("policy-sampled-guard", *place, message);
            problem.help("a rule that sheds load answers with 429 or 503".to_owned());
        }
        let Some(Condition { text, checked: Some(checked), .. }) = when else { return };
        let fails_open = rule.error_policy(error_policy) == ErrorPolicy::NoMatch;
        for warning in checked.guard_warnings(env, fails_open) {
            self.problems.of_expression(text, 0, &warning);
        }
    }

    /// Describes what a phase actions, and how the index finds its rules.
    fn explain<C: Context>(
        &mut self,
        env: &Env<C>,
        placed: &[OrderedRule<C::Static>],
        error_policy: PhaseErrorPolicy,
        phase: Phase,
    ) {
        let Some(text) = &mut self.explanation else { return };
        if phase == Phase::Connection && placed.is_empty() {
            return;
        }
        let gap = if text.is_empty() { "" } else { "\n" };
        let noun = if placed.len() == 1 { "rule" } else { "rules" };
        let _ = write!(text, "{gap}== {}: {} {noun}", phase.name(), placed.len());
        if !placed.is_empty() {
            let _ = write!(text, ", onError: {}", error_policy.name());
        }
        text.push('\n');
        let mut level = 0;
        for (number, OrderedRule { when, rule, actions, .. }) in placed.iter().enumerate() {
            let when = when.as_ref().map_or_else(|| "always".to_owned(), Condition::shown);
            if rule.level > level {
                level = rule.level;
                let _ = writeln!(text, "-- level {}", level.saturating_add(1));
            }
            let _ = writeln!(text, "{}. {}: {when}", number.saturating_add(1), rule.name);
            for action in actions {
                let _ = writeln!(text, "     {action}");
            }
        }
        if placed.iter().any(|placed| placed.when.is_some())
            && let Ok(explanation) = builder(self.engine, env, placed, error_policy).explain()
        {
            let _ = write!(text, "-- how the index finds them\n{explanation}");
        }
    }

    /// Returns the variable that a body phase declares but never has, and the one that it has instead.
    fn absent_body(&mut self, phase: Phase) -> Option<(&'static str, &'static str)> {
        let (whole, prefix) = match phase {
            Phase::RequestBody => ("request.body", "request.bodyPrefix"),
            Phase::ResponseBody => ("response.body", "response.bodyPrefix"),
            Phase::Connection | Phase::Request | Phase::Response | Phase::Log => return None,
        };
        let reads_prefix = self.document.setting(phase.name(), "prefix", self.problems).is_some();
        Some(if reads_prefix { (whole, prefix) } else { (prefix, whole) })
    }

    /// The language of a rule.
    pub(crate) fn language(&mut self, rule: &Node) -> Language {
        let word = rule.text_of("language").or_else(|| {
            let usual = self.document.setting("defaults", "language", self.problems);
            usual.and_then(Node::text)
        });
        word.and_then(|text| Language::named(&text.text).ok()).unwrap_or_default()
    }

    fn settings(&mut self, phase: Phase) -> (PhaseErrorPolicy, StatusCode) {
        let mut setting = |key| {
            let own = self.document.setting(phase.name(), key, self.problems);
            own.or_else(|| self.document.setting("defaults", key, self.problems)).and_then(Node::text)
        };
        let error_policy = setting("onError").and_then(|text| PhaseErrorPolicy::named(&text.text)).unwrap_or_default();
        let status = setting("errorStatus").and_then(|text| text.text.parse().ok());
        (error_policy, status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
    }

    fn header_name(&mut self, text: &SourceText) -> Option<HeaderName> {
        let Ok(name) = HeaderName::from_bytes(text.text.as_bytes()) else {
            let message = format!("`{}` is not the name of a header", text.text);
            self.problems.add("policy-header", text.place, message);
            return None;
        };
        if is_framing(&name) {
            let message = format!("`{name}` belongs to the connection, not to the message: a policy can't change it");
            self.problems.add("policy-header", text.place, message);
            return None;
        }
        Some(name)
    }

    fn counter(&mut self, name: String) -> usize {
        let number = self.counter_names.len();
        let number = *self.counter_numbers.entry(name.clone()).or_insert(number);
        if number == self.counter_names.len() {
            self.counter_names.push(name);
        }
        number
    }
}

/// The largest number of names that are removed one by one. More are removed in one pass over the headers.
const FEW_HEADERS: usize = 4;

/// Returns a builder of the set of the rules' conditions.
fn builder<'e, C: Context>(
    engine: &Engine,
    env: &'e Env<C>,
    rules: &[OrderedRule<C::Static>],
    error_policy: PhaseErrorPolicy,
) -> RuleSetBuilder<'e, C, ()> {
    let rules = rules.iter().zip(set_warnings::ends_until(rules));
    rules.fold(engine.rules(env).standalone(true), |builder, (OrderedRule { rule, when, .. }, until)| {
        let source = when.as_ref().map_or("true", |when| &when.text.text);
        let condition = match when.as_ref().and_then(|when| when.evaluated().cloned()) {
            Some(checked) => celero::Rule::checked(&rule.name, checked, ()),
            None => celero::Rule::new(&rule.name, source, ()),
        };
        builder.with_rule(condition.on_error(rule.error_policy(error_policy)).shadows_until(until))
    })
}

/// Returns what answers, logs and counters call the rule of this number in its phase, counted from 1 in all files.
pub(crate) fn rule_name(rule: &Node, phase: Phase, number: usize) -> String {
    rule.text_of("name").map_or_else(|| format!("{} #{number}", phase.name()), |name| name.text)
}

/// Compiles the rules of a phase.
pub(crate) struct RuleCompiler<'c, 'd, C> {
    pub(crate) expressions: ExpressionCompiler<'c, C>,
    pub(crate) compilation: &'c mut Compilation<'d>,
}

impl<C: Context> RuleCompiler<'_, '_, C> {
    fn rule(&mut self, node: &Node, level: usize, number: usize) -> OrderedRule<C::Static> {
        self.expressions.rule_reads = RuleReads::default();
        let number = number.saturating_add(1);
        let name: Arc<str> = rule_name(node, self.expressions.phase, number).into();
        self.expressions.costs.rule = Arc::clone(&name);
        let method = self.begin_rule(node);
        let when = self.when(node, method.as_ref());
        let mut rule = Rule {
            name,
            method: method.map(|(_, method)| method.name),
            reads_bytes: false,
            reads_messages: false,
            is_unconditional: when.is_none(),
            is_pure: when.as_ref().is_some_and(Condition::is_pure),
            when_start: when.as_ref().map_or(0, Condition::start),
            level,
            sample: node.text_of("sample").and_then(|text| share(&text.text)),
            require: self.requirement(node),
            limit: self.limit(node, number),
            remote: self.remote_limit(node, number),
            delay: self.delay(node),
            edits: self.edits(node),
            target: self.target(node),
            status: self.status(node),
            body: self.body(node),
            labels: self.labels(node),
            fields: self.fields(node),
            settled: self.settled(node),
            counter: node.text_of("count").map(|text| self.compilation.counter(text.text)),
            end: self.end(node),
        };
        let reads = std::mem::take(&mut self.expressions.rule_reads);
        (rule.reads_bytes, rule.reads_messages) = (reads.bytes, reads.messages);
        let Compilation { document, problems, claims, .. } = &mut *self.compilation;
        if document.has_levels() {
            claims.add_rule(self.expressions.phase, &rule, node, reads, problems);
        }
        let entries = node
            .entries()
            .iter()
            .filter(|entry| !matches!(&*entry.key.text, "name" | "language" | "method" | "when" | "priority"));
        let actions: Vec<String> = entries.map(|entry| format!("{}: {}", entry.key.text, entry.value.json())).collect();
        if actions.iter().all(|action| action.starts_with("sample:")) {
            self.compilation.problems.warn("policy-idle", node.place, "this rule does nothing".to_owned());
        }
        let priority = node.text_of("priority").and_then(|text| text.text.parse().ok()).unwrap_or(DEFAULT_PRIORITY);
        OrderedRule { priority, when, actions, place: node.place, is_reported: false, rule }
    }

    /// Removals precede settings, so that a rule can remove a header of the client and set its own.
    fn edits(&mut self, node: &Node) -> Box<[HeaderEdit<C::Static>]> {
        let mut edits = Vec::new();
        let mut names: Vec<HeaderName> =
            node.texts_of("removeHeaders").iter().filter_map(|name| self.compilation.header_name(name)).collect();
        let is_of_request = matches!(self.expressions.phase, Phase::Request | Phase::RequestBody);
        if is_of_request {
            self.keep_one_host(node);
            names.retain(|name| *name != HOST);
        }
        match HeaderSet::new(&names, [""; 0]) {
            Ok(set) if names.len() > FEW_HEADERS => edits.push(HeaderEdit::RemoveSet(Arc::new(set))),
            _ => edits.extend(names.into_iter().map(HeaderEdit::Remove)),
        }
        if let prefixes @ [_, ..] = &*node.texts_of("removePrefixes") {
            edits.extend(set_of(&[], prefixes, self.compilation.problems).map(HeaderEdit::RemoveSet));
        }
        for name in node.texts_of("removeHeaderSets") {
            let Compilation { header_sets, problems, .. } = &mut *self.compilation;
            edits.extend(header_sets.named(&name, problems).map(HeaderEdit::RemoveSet));
        }
        for (name, words) in self.headers(node.get("setHeaders")) {
            edits.push(if is_of_request && name == HOST {
                HeaderEdit::SetHost(words)
            } else {
                HeaderEdit::Set(name, words)
            });
        }
        for (name, words) in self.headers(node.get("addHeaders")) {
            edits.push(HeaderEdit::Add(name, words));
        }
        edits.into()
    }

    /// Refuses what would leave a request without a host, or with two.
    fn keep_one_host(&mut self, rule: &Node) {
        let is_host = |text: &SourceText| text.text.eq_ignore_ascii_case(HOST.as_str());
        let keys = |key: &str| rule.get(key).map_or(&[][..], Node::entries).iter();
        let removed = rule.texts_of("removeHeaders").into_iter().filter(is_host).map(|text| text.place);
        let added = keys("addHeaders").filter(|entry| is_host(&entry.key)).map(|entry| entry.key.place);
        for place in removed.chain(added) {
            let message = "a request has one `host`: it can't be removed, and none can be added".to_owned();
            self.compilation.problems.add("policy-header", place, message).help("`setHeaders` replaces it");
        }
        let set = keys("setHeaders").filter(|entry| is_host(&entry.key)).filter_map(|entry| entry.value.text());
        // What an expression computes is checked for each request.
        for text in set.filter(|text| !text.text.contains("${")) {
            if canonical_host(text.text.trim().as_bytes()).is_none() {
                let message =
                    "this is no host: a name, an IPv4 address or an IPv6 address in brackets, and perhaps a port";
                self.compilation.problems.add("policy-header", text.place, message.to_owned());
            }
        }
    }

    pub(crate) fn headers(&mut self, node: Option<&Node>) -> Vec<(HeaderName, HeaderTemplate<C::Static>)> {
        let mut found = Vec::new();
        for MapEntry { key, value } in node.map_or(&[][..], Node::entries) {
            let name = self.compilation.header_name(key);
            let Some(value) = value.text() else { continue };
            let words = self.expressions.header(&value, self.compilation.problems);
            found.extend(name.zip(words));
        }
        found
    }

    fn labels(&mut self, node: &Node) -> NamedList<TextTemplate<C::Static>> {
        let mut found = Vec::new();
        for MapEntry { key, value } in node.get("labels").map_or(&[][..], Node::entries) {
            let words = value.text().and_then(|text| self.expressions.words(&text, self.compilation.problems));
            found.extend(words.map(|words| (key.text.as_str().into(), words)));
        }
        found.into()
    }

    fn fields(&mut self, node: &Node) -> NamedList<Field<C::Static>> {
        let mut found = Vec::new();
        for MapEntry { key, value } in node.get("logFields").map_or(&[][..], Node::entries) {
            let field = value.text().and_then(|text| self.expressions.field(&text, self.compilation.problems));
            found.extend(field.map(|field| (key.text.as_str().into(), field)));
        }
        found.into()
    }
}
