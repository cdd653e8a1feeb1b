//! A compiled policy.

pub(crate) mod body_phases;
pub(crate) mod buffering;
pub(crate) mod connection;
pub(crate) mod counters;
pub(crate) mod declarations;
pub(crate) mod delays;
pub(crate) mod host_condition;
pub(crate) mod host_needs;
pub(crate) mod late_needs;
pub(crate) mod limits;
pub(crate) mod lists;
pub(crate) mod live;
pub(crate) mod loader;
pub(crate) mod message_stream;
pub(crate) mod replacement;
pub(crate) mod request_phase;

use crate::auth::{Auth, KeySource};
use crate::bodies::settings::BodySettings;
use crate::compile::Compilation;
use crate::compile::header_sets::HeaderSets;
use crate::compile::levels::Claims;
use crate::expressions::budget::ExpressionBudget;
use crate::expressions::costs::{ExpressionCost, ExpressionCosts};
use crate::expressions::declared_names::DeclaredNames;
use crate::expressions::definitions::Definitions;
use crate::expressions::phase_env::PhaseEnv;
use crate::expressions::purpose::Purpose;
use crate::expressions::{CredentialReads, EndReads};
use crate::file::document::{Document, LARGEST_FILE};
use crate::file::emptiness::LevelPhases;
use crate::file::error::PolicyError;
use crate::file::regular_file::read_regular;
use crate::grpc::methods::PhaseMethods;
use crate::host::delay::Delays;
use crate::host::environment::HostEnvironment;
use crate::host::failure_log::FailureSink;
use crate::host::outcome::{LogFields, Outcome, Phase, RequestSummary};
use crate::limits::remote::RemoteLimits;
use crate::lists::section::{self, ListSections};
use crate::phases::context::{
    BodyData, CommonData, ConnectionData, LogData, NO_HEADERS, RequestData, ResponseBodyData, ResponseData,
    ResponseHead,
};
use crate::phases::exchange::{Direction, Exchange};
use crate::phases::normalize::Normalization;
use crate::phases::phase::PhaseRules;
use crate::policy::late_needs::LateNeeds;
use crate::policy::loader::own_variables;
use crate::problems::Problems;
use crate::rules::body_change::Message;
use crate::rules::limit::CountWhen;
use crate::rules::rule::Rule;
use crate::yaml::reach::Reach;
use celero::Diagnostic;
use celero::diagnostics::Style;
use celero::host::ExtensionFields;
use celero::lists::Lists;
use celero_canonical as canonical;
use celero_canonical::{canonicalize_response, clean_trailers};
use http::{HeaderMap, HeaderName, request, response};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Of how many limits by the client's address the counts are loaded when a request begins.
const MAX_EARLY_LIMITS: usize = 4;

/// A compiled policy, to be shared between threads. Only its counters change.
#[derive(Debug)]
pub struct Policy {
    pub(crate) connection: PhaseRules<ConnectionData<'static>>,
    /// Whether the phase `connection` reads what a client says when it begins TLS.
    pub(crate) reads_hello: bool,
    pub(crate) request: PhaseRules<RequestData<'static>>,
    pub(crate) body: PhaseRules<BodyData<'static>>,
    pub(crate) response: PhaseRules<ResponseData<'static>>,
    pub(crate) response_body: PhaseRules<ResponseBodyData<'static>>,
    pub(crate) log: PhaseRules<LogData<'static>>,
    pub(crate) auth: Auth,
    /// The credentials that phases after the first one read. The headers that prove them may be gone by then.
    pub(crate) late: CredentialReads,
    /// The ends of the connection that phases before `log` read.
    pub(crate) reads_ends: EndReads,
    /// The credentials that the phase `log` reads, which does not wait for them.
    pub(crate) logged: CredentialReads,
    pub(crate) body_settings: BodySettings,
    pub(crate) response_settings: BodySettings,
    pub(crate) normalization: Normalization,
    /// The methods of gRPC whose messages rules read.
    pub(crate) methods: PhaseMethods,
    pub(crate) delays: Delays,
    pub(crate) counter_names: Vec<String>,
    /// Which responses count, for limits that depend on them.
    pub(crate) count_when: Vec<CountWhen<ResponseData<'static>>>,
    pub(crate) lists: Option<Lists>,
    pub(crate) list_sections: ListSections,
    pub(crate) problems: Problems,
    pub(crate) expression_costs: Vec<ExpressionCost>,
    /// The phases with rules of each level, the first level first.
    pub(crate) phases_of_levels: Vec<LevelPhases>,
    pub(crate) late_needs: LateNeeds,
    /// The first rules of the phase `request` with a limit by the client's address.
    pub(crate) early_limits: Box<[usize]>,
    /// The variables of the host that rules may read.
    pub(crate) host_variables: Option<ExtensionFields>,
    /// What asks the services that count limits of many machines.
    pub(crate) remote_limits: Option<Arc<dyn RemoteLimits>>,
}

impl Policy {
    /// Loads a policy with the files that it includes and the key files that it names. Compiles it
    /// to native code, so this takes milliseconds; call it at the start and on a change.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with every error in the files.
    pub fn load(file: impl AsRef<Path>) -> Result<Self, PolicyError> {
        Self::loader().load(file)
    }

    /// Compiles a policy from its text. Messages call it `name`; relative paths in it start from `base`.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with every error in the files.
    pub fn parse(name: &str, text: &str, base: &Path) -> Result<Self, PolicyError> {
        Self::loader().parse(name, text, base)
    }

    /// Loads a policy and describes it as text: the rules of each phase in the order in which they
    /// act, and how the index finds them.
    ///
    /// # Errors
    /// See [`load`](Self::load).
    pub fn explain(file: &Path) -> Result<String, PolicyError> {
        Self::read(file, Problems::default(), Purpose::Explain, &HostEnvironment::default())
            .map(|(policy, text)| policy.with_notes(text))
    }

    /// Describes a policy as [`explain`](Self::explain) does, from its text. See
    /// [`parse`](Self::parse) for `name` and `base`.
    ///
    /// # Errors
    /// See [`load`](Self::load).
    pub fn explain_text(name: &str, text: &str, base: &Path) -> Result<String, PolicyError> {
        Self::loader().explain_text(name, text, base)
    }

    /// Returns the text with a line about each body that is buffered.
    fn with_notes(&self, mut text: String) -> String {
        for note in self.buffering_notes() {
            let _ = writeln!(text, "{note}");
        }
        text
    }

    pub(crate) fn read(
        file: &Path,
        mut problems: Problems,
        purpose: Purpose,
        host: &HostEnvironment,
    ) -> Result<(Self, String), PolicyError> {
        let text = read_regular(file, LARGEST_FILE).map(String::from_utf8);
        problems.watch(file);
        let (name, base) = (file.display().to_string(), file.parent().unwrap_or(Path::new(".")));
        let why = match text {
            Ok(Ok(text)) => return Self::compile(&name, &text, base, problems, purpose, host),
            Ok(Err(_)) => "it is not UTF-8".to_owned(),
            Err(error) => error.to_string(),
        };
        problems.unreadable(&name, &why);
        Err(PolicyError::new(problems))
    }

    pub(crate) fn compile(
        name: &str,
        text: &str,
        base: &Path,
        mut problems: Problems,
        purpose: Purpose,
        host: &HostEnvironment,
    ) -> Result<(Self, String), PolicyError> {
        // A check is about what the host declares; a case may leave out any value.
        let host =
            &if matches!(purpose, Purpose::Check | Purpose::Confined) { host.clone() } else { host.clone().for_run() };
        let document = Document::read(name, text, base, &mut problems);
        let before = problems.count();
        host.report(own_variables(), &mut problems);
        if problems.count() > before {
            return Err(PolicyError::new(problems));
        }
        let definitions = Definitions::read(&document, host, &mut problems);
        let list_sections = ListSections::of(&document, &mut problems);
        if let Some(lists) = &definitions.lists {
            section::fill(lists, &list_sections, None, &mut problems);
        }
        let auth = Auth::compile(&document, &mut problems);
        let mut normalization = Normalization::compile(&document, &mut problems);
        let delays = Delays::compile(&document, &mut problems);
        let (mut names, options) = (DeclaredNames::default(), &{ normalization.options });
        let mut connection = PhaseEnv::<ConnectionData<'_>>::new(Phase::Connection, &definitions, options, &mut names);
        let mut request = PhaseEnv::<RequestData<'_>>::new(Phase::Request, &definitions, options, &mut names);
        let mut body = PhaseEnv::<BodyData<'_>>::new(Phase::RequestBody, &definitions, options, &mut names);
        let mut response = PhaseEnv::<ResponseData<'_>>::new(Phase::Response, &definitions, options, &mut names);
        let mut response_body =
            PhaseEnv::<ResponseBodyData<'_>>::new(Phase::ResponseBody, &definitions, options, &mut names);
        let mut log = PhaseEnv::<LogData<'_>>::new(Phase::Log, &definitions, options, &mut names);
        names.broken = definitions.report(
            &mut [&mut connection, &mut request, &mut body, &mut response, &mut response_body, &mut log],
            &mut problems,
        );
        let configured = auth.configured();
        let header_sets = HeaderSets::new(&document, &mut problems);
        let costs = ExpressionCosts::new(&document, host, purpose, &mut problems);
        let mut compilation = Compilation {
            document: &document,
            definitions: &definitions,
            names: &names,
            configured,
            normalization: &mut normalization,
            problems: &mut problems,
            counter_names: Vec::new(),
            counter_numbers: HashMap::new(),
            limit_names: Vec::new(),
            header_sets,
            claims: Claims::new(&document),
            methods: PhaseMethods::of(definitions.messages.as_ref()),
            streams: Vec::new(),
            longest_delay: delays.longest,
            explanation: (purpose == Purpose::Explain).then(String::new),
            engine: purpose.engine(),
            costs,
            budget: ExpressionBudget::new(&document),
        };
        let connection = compilation.phase(&connection);
        let request = compilation.phase(&request);
        let body = compilation.phase(&body);
        let response = compilation.phase(&response);
        let response_body = compilation.phase(&response_body);
        let log = compilation.phase(&log);
        let Compilation { counter_names, explanation, claims, methods, costs, .. } = compilation;
        claims.report(&mut problems);
        let body_settings = BodySettings::read(&document, Phase::RequestBody, &mut problems);
        let response_settings = BodySettings::read(&document, Phase::ResponseBody, &mut problems);
        let (Some(connection), Some(request), Some(body), Some(response), Some(response_body), Some(log), false) =
            (connection, request, body, response, response_body, log, problems.has_errors())
        else {
            return Err(PolicyError::new(problems));
        };
        let late = body.reads.or(response.reads).or(response_body.reads);
        let ends = [request.reads_ends, body.reads_ends, response.reads_ends, response_body.reads_ends];
        let reads_ends = ends.into_iter().fold(EndReads::default(), EndReads::or);
        let by_client = |rule: &Rule<_>| rule.limit.as_ref().is_some_and(|limit| limit.is_by_client());
        let early_limits =
            request.rules.rules.iter().enumerate().filter(|(_, rule)| by_client(rule)).map(|(index, _)| index);
        let early_limits = early_limits.take(MAX_EARLY_LIMITS).collect();
        let late_needs = LateNeeds::default().of_request(&request.rules).of_request(&body.rules);
        let late_needs = late_needs.of_response(&response.rules).of_response(&response_body.rules).of_log(&log.rules);
        let policy = Self {
            reads_hello: connection.reads_ends.hello,
            connection: connection.rules,
            request: request.rules,
            body: body.rules,
            response: response.rules,
            response_body: response_body.rules,
            log: log.rules,
            auth,
            late,
            reads_ends,
            logged: log.reads,
            body_settings,
            response_settings,
            normalization,
            methods,
            delays,
            counter_names,
            count_when: response.count_when,
            lists: definitions.lists.clone(),
            list_sections,
            phases_of_levels: document.phases_of_levels(),
            problems,
            expression_costs: costs.into_collected(),
            late_needs,
            early_limits,
            host_variables: host.variables().cloned(),
            remote_limits: None,
        };
        Ok((policy, explanation.unwrap_or_default()))
    }

    /// Runs the phase `response`. Call it when the head of a server's response has arrived. Don't
    /// call it for answers of the policy. The fields that `Connection` names are removed first, so
    /// that they can't remove what the policy sets.
    pub fn response(
        &self,
        head: &request::Parts,
        response: &mut impl canonical::ResponseHead,
        exchange: &mut Exchange,
    ) -> Outcome {
        canonicalize_response(response);
        self.canonical_response(head, response.parts(), exchange)
    }

    fn canonical_response(
        &self,
        head: &request::Parts,
        response: &response::Parts,
        exchange: &mut Exchange,
    ) -> Outcome {
        self.count_response(head, response.status, &response.headers, exchange);
        if !self.may_read_response(head, response) {
            exchange.effects.limits.apply_verdicts();
        }
        let (started, origin) = (exchange.start_time(), exchange.source());
        let Exchange { findings, attributes, effects, local, tls, arrival, .. } = exchange;
        effects.edits.clear();
        self.forget_body_of_head(head, &mut effects.edits);
        let proofs = self.auth.lazy(&head.headers, findings);
        let context = ResponseData {
            request: arrival.head(head),
            response: ResponseHead { code: Some(response.status), headers: &response.headers },
            peer: CommonData::new(started, origin, *local, tls.as_ref(), &proofs, attributes),
        };
        let answer = self.response.run(&context, Message::head(&response.headers), effects);
        exchange.end_response_phase();
        if answer.is_none() {
            self.tell_limits(exchange);
        } else {
            exchange.effects.limits.apply_verdicts();
        }
        exchange.outcome(answer)
    }

    /// Runs the phase `log`, and returns the fields that all phases added to the log entry. Call it
    /// once, when the request is over. `response` is the response that was sent, which may be an
    /// answer of the policy.
    pub fn log(
        &self,
        head: &request::Parts,
        response: Option<&response::Parts>,
        end: &RequestSummary,
        exchange: &mut Exchange,
    ) -> LogFields {
        if let Some(response) = response {
            self.count_response(head, response.status, &response.headers, exchange);
        }
        exchange.effects.limits.apply_verdicts();
        // A stream may have broken off.
        [Direction::Request, Direction::Response].into_iter().for_each(|of| exchange.end_messages(of));
        let (started, origin) = (end.started, exchange.source());
        let Exchange { findings, background, attributes, effects, local, tls, arrival, .. } = exchange;
        background.record(findings);
        effects.edits.clear();
        let proofs = self.auth.lazy(&head.headers, findings);
        let headers = response.map_or(&*NO_HEADERS, |response| &response.headers);
        let context = LogData {
            request: arrival.head(head),
            duration: end.duration,
            response: ResponseHead { code: response.map(|response| response.status), headers },
            bytes_sent: i64::try_from(end.bytes_sent).unwrap_or(i64::MAX),
            peer: CommonData::new(started, origin, *local, tls.as_ref(), &proofs, attributes),
        };
        // A rule that ends the phase with an error ends it early; the fields that were added before stay.
        let _ = self.log.run(&context, Message::head(headers), effects);
        exchange.end_phase();
        LogFields::new(std::mem::take(&mut exchange.effects.fields))
    }

    /// Removes from the trailers of a request what they may not carry: the fields that a rule on
    /// requests sets or removes, and those that RFC 9110, section 6.5.1, forbids there. Call it
    /// before trailers are forwarded, because servers may merge them into the head.
    pub fn request_trailers(&self, trailers: &mut HeaderMap) {
        clean_trailers(trailers, &self.normalization.of_requests);
    }

    /// Removes from the trailers of a response what they may not carry. See
    /// [`request_trailers`](Self::request_trailers). Call it for the heads of interim responses
    /// (103) too, on which no phase runs.
    pub fn response_trailers(&self, trailers: &mut HeaderMap) {
        clean_trailers(trailers, &self.normalization.of_responses);
    }

    /// Returns path and query of the target as it was received, if the host has to send them
    /// instead of the canonical ones: the policy says `forwardRaw`, they differ, and no rule has
    /// changed the target.
    #[must_use]
    pub fn raw_target<'e>(&self, exchange: &'e Exchange) -> Option<&'e [u8]> {
        let sends_received = self.normalization.forward_raw && !exchange.has_new_target;
        exchange.received_target().filter(|_| sends_received)
    }

    /// Returns the warnings: what is valid but probably a mistake. Each has the name of its file;
    /// spans are byte offsets in it. What may be secret in a URL is hidden.
    pub fn warnings(&self) -> impl Iterator<Item = (&str, Diagnostic)> {
        self.problems.warnings()
    }

    /// Returns the warnings as text, with the lines that they are about. `color` adds ANSI colours.
    #[must_use]
    pub fn render_warnings(&self, color: bool) -> String {
        self.problems.render(if color { Style::Ansi } else { Style::Plain })
    }

    /// Returns the headers in which the policy expects credentials of clients, for hosts that keep
    /// requests without secrets. A name may occur twice.
    pub fn credential_headers(&self) -> impl Iterator<Item = HeaderName> {
        self.auth.headers()
    }

    /// Returns the sets of keys at URLs (`jwt.keys[].jwksUrl`), which the host fetches: see [`KeySource`].
    pub fn key_sources(&self) -> impl Iterator<Item = &Arc<KeySource>> {
        self.auth.key_sources().iter()
    }

    /// Uses what an earlier policy knows: the keys at URLs with the same settings, the passwords of
    /// the same users with the same hashes, the counters of limits with the same name and
    /// definition, the requests that are delayed, the lookups in lists of the same names, and the
    /// documents of lists at the same URLs, however they are fetched, which
    /// [`restore_lists`](Self::restore_lists) then puts into the lists. Call it when a policy
    /// replaces another one, before it is used.
    pub fn take_over(&mut self, before: &Self) {
        self.auth.take_over(&before.auth);
        self.take_over_limits(before);
        self.delays.take_over(&before.delays);
        self.take_over_lists(before);
    }

    /// Reports failing rules to a log, with the phase, the rule, the place or the action, and the
    /// error:
    /// `phase request: rule "admin": no header "x-team" (at 12..38); guard it with .. [failure 1]`.
    /// Call it before the policy is used.
    ///
    /// A rule is reported when it fails for the first time, and then whenever its failures have
    /// doubled, so that a client cannot fill the log; so is a log field that fails, which is no
    /// failure of its rule. A line holds no text of a request. `log` runs on the thread of the
    /// request and must not block. Without a log failures are only [counted](Self::rules).
    pub fn log_failures(&mut self, log: impl Fn(&str) + Send + Sync + 'static) {
        let sink: FailureSink = Arc::new(log);
        self.connection.log_failures(&sink);
        self.request.log_failures(&sink);
        self.body.log_failures(&sink);
        self.response.log_failures(&sink);
        self.response_body.log_failures(&sink);
        self.log.log_failures(&sink);
    }

    /// Returns every file that was read, for hosts that watch them.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        self.problems.watched()
    }

    /// Returns the files and environment variables that the policy uses.
    #[must_use]
    pub fn reach(&self) -> &Reach {
        self.problems.used()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expressions::ENGINE;
    use celero::{Env, ErrorPolicy};

    /// Today no set of a phase has a rule with the policy `Stop`; if one had, a failure must not
    /// pass the rules after it.
    #[test]
    fn an_evaluation_that_stops_ends_the_phase_closed() {
        let text = "request:\n- {name: first, when: 'false', count: a}\n- deny: true\n";
        let mut policy = Policy::parse("policy.yaml", text, Path::new(".")).unwrap();
        let env = Env::<RequestData<'_>>::new();
        let rules = ENGINE.rules(&env).rule("first", "request.headers['x'] == 'y'", ()).rule("second", "true", ());
        policy.request.set = rules.on_error(ErrorPolicy::Stop).build().unwrap();
        let mut head = http::Request::get("/").header("host", "a").body(()).unwrap().into_parts().0;
        let Outcome::Respond(answer) = policy.request(&mut head, &mut Exchange::new(None, None)).outcome else {
            panic!("the request is forwarded");
        };
        assert_eq!((answer.status.as_u16(), &*answer.rule), (500, "first"));
        assert_eq!(policy.rules().map(|rule| rule.failed).collect::<Vec<_>>(), [1, 0]);
    }

    #[test]
    fn counts_of_limits_by_client_are_loaded_early() {
        let limit = |name: &str, key: &str| format!("- {{name: {name}, limit: {{key: {key}, rate: 1/s}}}}\n");
        let client = "'${ source.address }'";
        let others =
            ["'${request.path}'", "['${source.address}', a]", "'${source.address}!'", "'${destination.address}'"];
        let others = others.iter().enumerate().map(|(index, key)| limit(&format!("other{index}"), key));
        let clients = (0..5).map(|index| limit(&format!("client{index}"), client));
        let text: String = std::iter::once("request:\n".to_owned()).chain(others).chain(clients).collect();
        let policy = Policy::parse("policy.yaml", &text, Path::new(".")).unwrap();
        assert_eq!(*policy.early_limits, [4, 5, 6, 7]);
    }
}
