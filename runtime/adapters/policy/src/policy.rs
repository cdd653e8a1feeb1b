//! A compiled policy.

use crate::auth::Auth;
use crate::compile::{Compilation, Scope};
use crate::context::{BodyData, LogData, Peer, RequestData, ResponseData, ResponseHead};
use crate::definitions::Definitions;
use crate::document::Document;
use crate::error::PolicyError;
use crate::exchange::Exchange;
use crate::expressions::{Names, Reads};
use crate::outcome::{Answer, Ended, LogFields, Outcome, Phase, PhaseInfo, RuleInfo};
use crate::phase::Rules;
use crate::problems::Problems;
use crate::shape::size;
use celero::http::{Request, RequestHead};
use celero::{Diagnostic, Style};
use http::{HeaderMap, StatusCode, request, response};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// The bytes of a body that are gathered where nothing is said.
const BODY_LIMIT: usize = 64 << 10;

/// One generation of a policy: immutable but for what it counts, to be shared between threads.
#[derive(Debug)]
pub struct Policy {
    request: Rules<RequestData<'static>>,
    body: Rules<BodyData<'static>>,
    response: Rules<ResponseData<'static>>,
    log: Rules<LogData<'static>>,
    auth: Auth,
    /// Which proofs phases after the first one read, when the headers may be gone.
    late: Reads,
    body_limit: usize,
    /// Whether larger bodies go by.
    body_skip: bool,
    counter_names: Vec<String>,
    problems: Problems,
}

impl Policy {
    /// Reads a policy, with the files that it includes and those of its keys.
    ///
    /// # Errors
    /// [`PolicyError`] with everything that is wrong.
    pub fn load(file: &Path) -> Result<Self, PolicyError> {
        Self::read(file, false).map(|(policy, _)| policy)
    }

    /// A policy from its text: `name` stands in messages, files that it mentions are looked for from `base`.
    ///
    /// # Errors
    /// [`PolicyError`] with everything that is wrong.
    pub fn parse(name: &str, text: &str, base: &Path) -> Result<Self, PolicyError> {
        Self::compile(name, text, base, Problems::default(), false).map(|(policy, _)| policy)
    }

    /// What a policy does, phase by phase: its rules in the order in which they act, and how those that match are found.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn explain(file: &Path) -> Result<String, PolicyError> {
        let (policy, mut told) = Self::read(file, true)?;
        if let Some(limit) = policy.body_limit() {
            let larger = if policy.body_skip { "go by unseen" } else { "are answered with 413" };
            let _ = writeln!(told, "bodies of requests are gathered, up to {limit} bytes; larger ones {larger}");
        }
        Ok(told)
    }

    fn read(file: &Path, explain: bool) -> Result<(Self, String), PolicyError> {
        let text = std::fs::read(file).map(String::from_utf8);
        let mut problems = Problems::default();
        problems.paths.push(file.to_owned());
        let (name, base) = (file.display().to_string(), file.parent().unwrap_or(Path::new(".")));
        let why = match text {
            Ok(Ok(text)) => return Self::compile(&name, &text, base, problems, explain),
            Ok(Err(_)) => "it is not UTF-8".to_owned(),
            Err(error) => error.to_string(),
        };
        problems.unreadable(&name, &why);
        Err(PolicyError::new(problems))
    }

    fn compile(
        name: &str,
        text: &str,
        base: &Path,
        mut problems: Problems,
        explain: bool,
    ) -> Result<(Self, String), PolicyError> {
        let document = Document::read(name, text, base, &mut problems);
        let definitions = Definitions::read(&document, &mut problems);
        let auth = Auth::compile(&document, &mut problems);
        let mut names = Names::default();
        let request = Scope::<RequestData<'_>>::new(Phase::Request, &definitions, &mut names);
        let body = Scope::<BodyData<'_>>::new(Phase::RequestBody, &definitions, &mut names);
        let response = Scope::<ResponseData<'_>>::new(Phase::Response, &definitions, &mut names);
        let log = Scope::<LogData<'_>>::new(Phase::Log, &definitions, &mut names);
        names.broken =
            definitions.report([&request.missing, &body.missing, &response.missing, &log.missing], &mut problems);
        let configured = auth.configured();
        let mut compilation = Compilation {
            document: &document,
            definitions: &definitions,
            names: &names,
            configured,
            problems: &mut problems,
            counter_names: Vec::new(),
            explanation: explain.then(String::new),
        };
        let request = compilation.phase(&request);
        let body = compilation.phase(&body);
        let response = compilation.phase(&response);
        let log = compilation.phase(&log);
        let Compilation { counter_names, explanation, .. } = compilation;
        let limit = document.setting("requestBody", "limit", &mut problems).and_then(|node| node.text());
        let too_large = document.setting("requestBody", "tooLarge", &mut problems).and_then(|node| node.text());
        let (Some(request), Some(body), Some(response), Some(log), false) =
            (request, body, response, log, problems.has_errors())
        else {
            return Err(PolicyError::new(problems));
        };
        let late = body.reads.or(response.reads).or(log.reads);
        let policy = Self {
            request: request.rules,
            body: body.rules,
            response: response.rules,
            log: log.rules,
            auth,
            late,
            body_limit: limit.and_then(|text| size(&text.text)).unwrap_or(BODY_LIMIT),
            body_skip: too_large.is_some_and(|text| text.text == "skip"),
            counter_names,
            problems,
        };
        Ok((policy, explanation.unwrap_or_default()))
    }

    /// The request phase: the head of a request has come.
    pub fn request(&self, head: &request::Parts, exchange: &mut Exchange) -> Outcome {
        let Exchange { findings, labels, effects, peer, local } = exchange;
        effects.edits.clear();
        let proofs = self.auth.lazy(&head.headers, findings);
        let context =
            RequestData { request: RequestHead::from_parts(head), peer: Peer::new(*peer, *local, &proofs, labels) };
        let answer = self.request.run(&context, &head.headers, effects);
        // The next phases may see other headers.
        for (wanted, proof) in
            [(self.late.jwt, &proofs.jwt), (self.late.api_key, &proofs.api_key), (self.late.basic, &proofs.basic)]
        {
            if wanted && answer.is_none() {
                proof.settle();
            }
        }
        exchange.end_phase();
        outcome(answer)
    }

    /// The requestBody phase: a body has come, of at most [`body_limit`](Self::body_limit) bytes.
    pub fn request_body(&self, head: &request::Parts, body: &[u8], exchange: &mut Exchange) -> Outcome {
        let Exchange { findings, labels, effects, peer, local } = exchange;
        effects.edits.clear();
        let proofs = self.auth.lazy(&head.headers, findings);
        let context = BodyData {
            request: Request::from_parts(head).with_body(body),
            peer: Peer::new(*peer, *local, &proofs, labels),
        };
        let answer = self.body.run(&context, &head.headers, effects);
        exchange.end_phase();
        outcome(answer)
    }

    /// In place of [`request_body`](Self::request_body): a body is larger than [`body_limit`](Self::body_limit). `Continue` means
    /// that it goes on without having been looked at.
    pub fn request_body_too_large(&self, exchange: &mut Exchange) -> Outcome {
        exchange.effects.edits.clear();
        let refused = || Answer::empty(StatusCode::PAYLOAD_TOO_LARGE, &Arc::from("requestBody.limit"));
        outcome((!self.body_skip).then(refused))
    }

    /// The response phase: the head of a server's response has come. Answers of the policy itself do not come by here.
    pub fn response(&self, head: &request::Parts, response: &response::Parts, exchange: &mut Exchange) -> Outcome {
        let Exchange { findings, labels, effects, peer, local } = exchange;
        effects.edits.clear();
        let proofs = self.auth.lazy(&head.headers, findings);
        let context = ResponseData {
            request: RequestHead::from_parts(head),
            response: ResponseHead { code: Some(response.status.as_u16().into()), headers: &response.headers },
            peer: Peer::new(*peer, *local, &proofs, labels),
        };
        let answer = self.response.run(&context, &response.headers, effects);
        exchange.end_phase();
        outcome(answer)
    }

    /// The log phase: the request is over. `response` is what was sent, the policy's own answers included. The fields are those of
    /// all phases.
    pub fn log(
        &self,
        head: &request::Parts,
        response: Option<&response::Parts>,
        end: &Ended,
        exchange: &mut Exchange,
    ) -> LogFields {
        static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);
        let Exchange { findings, labels, effects, peer, local } = exchange;
        effects.edits.clear();
        let proofs = self.auth.lazy(&head.headers, findings);
        let headers = response.map_or(&*NONE, |response| &response.headers);
        let context = LogData {
            request: RequestHead::from_parts(head),
            started: end.started,
            duration: end.duration,
            response: ResponseHead { code: response.map(|response| response.status.as_u16().into()), headers },
            bytes_sent: i64::try_from(end.bytes_sent).unwrap_or(i64::MAX),
            peer: Peer::new(*peer, *local, &proofs, labels),
        };
        // A rule that stops the phase leaves the fields so far.
        let _ = self.log.run(&context, headers, effects);
        exchange.end_phase();
        LogFields::new(std::mem::take(&mut exchange.effects.fields))
    }

    /// How many bytes of a body are to be gathered for the requestBody phase; `None` if it has nothing to do.
    #[must_use]
    pub fn body_limit(&self) -> Option<usize> {
        (!self.body.rules.is_empty()).then_some(self.body_limit)
    }

    /// Whether the response phase has anything to do.
    #[must_use]
    pub fn has_response_rules(&self) -> bool {
        !self.response.rules.is_empty()
    }

    /// Whether the log phase has anything to tell.
    #[must_use]
    pub fn has_log_fields(&self) -> bool {
        fn logs<S>(rules: &Rules<S>) -> bool {
            rules.rules.iter().any(|rule| !rule.fields.is_empty())
        }
        !self.log.rules.is_empty() || logs(&self.request) || logs(&self.body) || logs(&self.response)
    }

    /// Its rules, phase by phase, in the order in which they act.
    pub fn rules(&self) -> impl Iterator<Item = RuleInfo> {
        let Self { request, body, response, log, .. } = self;
        request.infos().chain(body.infos()).chain(response.infos()).chain(log.infos())
    }

    /// Its phases that have rules, and what these cost so far.
    pub fn phases(&self) -> impl Iterator<Item = PhaseInfo> {
        let Self { request, body, response, log, .. } = self;
        [request.info(), body.info(), response.info(), log.info()].into_iter().flatten()
    }

    /// Its counters, by name, with their values.
    pub fn counters(&self) -> impl Iterator<Item = (&str, u64)> {
        let Self { request, body, response, log, counter_names, .. } = self;
        let mut values = vec![0; counter_names.len()];
        request.add_named(&mut values);
        body.add_named(&mut values);
        response.add_named(&mut values);
        log.add_named(&mut values);
        counter_names.iter().map(String::as_str).zip(values)
    }

    /// What is valid, but probably not what the author means, each with the name of its file; places are bytes of that file.
    pub fn warnings(&self) -> impl Iterator<Item = (&str, &Diagnostic)> {
        self.problems.warnings()
    }

    /// The warnings with the lines they are about; `color` asks for ANSI colours.
    #[must_use]
    pub fn render_warnings(&self, color: bool) -> String {
        self.problems.render(if color { Style::Ansi } else { Style::Plain })
    }

    /// Every file that was read, to be watched for changes.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.problems.paths
    }
}

fn outcome(answer: Option<Answer>) -> Outcome {
    answer.map_or(Outcome::Continue, |answer| Outcome::Respond(Box::new(answer)))
}
