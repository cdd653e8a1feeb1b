//! Conditions that a host has outside of a policy, in keys of its own configuration.

use crate::expressions::{ENGINE, warn};
use crate::host::outcome::RequestSummary;
use crate::phases::context::{NO_HEADERS, ResponseHead};
use crate::problems::Problems;
use crate::yaml::SourceText;
use celero::http::{RequestHead, Source};
use celero::{Context, Env, EvalError, Program, Type};
use http::{request, response};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// What conditions on requests read.
#[derive(Debug, Context)]
#[context(rename_all = "camelCase")]
struct RequestFacts<'a> {
    #[context(nested)]
    request: RequestHead<'a>,
    #[context(nested)]
    source: Source,
    #[context(name = "source.via")]
    via: &'a str,
    #[context(nested)]
    destination: Source,
}

/// What conditions on finished requests read.
#[derive(Debug, Context)]
#[context(rename_all = "camelCase")]
struct EndFacts<'a> {
    #[context(flatten)]
    begin: RequestFacts<'a>,
    #[context(name = "request.duration")]
    duration: Duration,
    #[context(nested)]
    response: ResponseHead<'a>,
    #[context(name = "response.bytesSent")]
    bytes_sent: i64,
}

/// What conditions on the responses of servers read.
#[derive(Debug, Context)]
#[context(rename_all = "camelCase")]
struct ResponseFacts<'a> {
    #[context(flatten)]
    begin: RequestFacts<'a>,
    #[context(nested)]
    response: ResponseHead<'a>,
}

/// Who sent a request, and where it was received.
#[derive(Clone, Copy, Debug)]
pub struct RequestOrigin<'a> {
    /// The client: `source.address` and `source.port`.
    pub client: SocketAddr,
    /// How the client is known: `source.via`.
    pub via: &'a str,
    /// The scheme of the connection: `request.scheme`.
    pub scheme: &'static str,
    /// Where the request was received: `destination.address` and `destination.port`.
    pub local: Option<SocketAddr>,
}

impl<'a> RequestFacts<'a> {
    fn new(head: &'a request::Parts, origin: RequestOrigin<'a>) -> Self {
        let destination = origin.local.map_or_else(Source::default, Source::from);
        Self {
            request: RequestHead::from_parts(head).with_scheme(Some(origin.scheme)),
            source: Source::from(origin.client),
            via: origin.via,
            destination,
        }
    }
}

/// A compiled condition, and its text. Two are equal if their texts are.
struct Compiled<S> {
    text: Arc<str>,
    program: Arc<Program<S>>,
}

impl<S> Compiled<S> {
    /// Checks and compiles a condition. Returns `None` if it has errors, which are reported.
    fn new<C: Context<Static = S>>(text: &SourceText, problems: &mut Problems) -> Option<Self> {
        let program = Arc::new(compile::<C>(text, problems)?);
        Some(Self { text: text.text.as_str().into(), program })
    }
}

// A derived implementation would ask `S` for one, too.
impl<S> Clone for Compiled<S> {
    fn clone(&self) -> Self {
        Self { text: Arc::clone(&self.text), program: Arc::clone(&self.program) }
    }
}

impl<S> fmt::Debug for Compiled<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl<S> PartialEq for Compiled<S> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl<S> Eq for Compiled<S> {}

/// A condition on the head of a request, written in CEL. Two are equal if their texts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCondition(Compiled<RequestFacts<'static>>);

/// A condition on a request and the head of a server's response to it, written in CEL. Two are
/// equal if their texts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseCondition(Compiled<ResponseFacts<'static>>);

/// A condition on a finished request and its response, written in CEL. Two are equal if their texts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndCondition(Compiled<EndFacts<'static>>);

impl RequestCondition {
    /// Checks and compiles a condition. Returns `None` if it has errors, which are reported.
    pub fn compile(text: &SourceText, problems: &mut Problems) -> Option<Self> {
        Compiled::new::<RequestFacts<'_>>(text, problems).map(Self)
    }

    /// Returns the condition as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns whether a request fulfils the condition.
    ///
    /// # Errors
    /// Returns the error of the evaluation, for example that a header is missing.
    pub fn matches(&self, head: &request::Parts, origin: RequestOrigin<'_>) -> Result<bool, EvalError> {
        self.0.program.test(&RequestFacts::new(head, origin))
    }
}

impl ResponseCondition {
    /// Checks and compiles a condition. Returns `None` if it has errors, which are reported.
    pub fn compile(text: &SourceText, problems: &mut Problems) -> Option<Self> {
        Compiled::new::<ResponseFacts<'_>>(text, problems).map(Self)
    }

    /// Returns the condition as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns whether a request and a response to it fulfil the condition.
    ///
    /// # Errors
    /// Returns the error of the evaluation, for example that a header is missing.
    pub fn matches(
        &self,
        head: &request::Parts,
        response: &response::Parts,
        origin: RequestOrigin<'_>,
    ) -> Result<bool, EvalError> {
        let response = ResponseHead { code: Some(response.status), headers: &response.headers };
        self.0.program.test(&ResponseFacts { begin: RequestFacts::new(head, origin), response })
    }
}

impl EndCondition {
    /// Checks and compiles a condition. Returns `None` if it has errors, which are reported.
    pub fn compile(text: &SourceText, problems: &mut Problems) -> Option<Self> {
        Compiled::new::<EndFacts<'_>>(text, problems).map(Self)
    }

    /// Returns the condition as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns whether a finished request fulfils the condition. `response` is the response that was sent, if one was.
    ///
    /// # Errors
    /// Returns the error of the evaluation, for example that no response was sent.
    pub fn matches(
        &self,
        head: &request::Parts,
        response: Option<&response::Parts>,
        end: &RequestSummary,
        origin: RequestOrigin<'_>,
    ) -> Result<bool, EvalError> {
        let code = response.map(|response| response.status);
        let headers = response.map_or(&*NO_HEADERS, |response| &response.headers);
        self.0.program.test(&EndFacts {
            begin: RequestFacts::new(head, origin),
            duration: end.duration,
            response: ResponseHead { code, headers },
            bytes_sent: i64::try_from(end.bytes_sent).unwrap_or(i64::MAX),
        })
    }
}

fn compile<C: Context>(text: &SourceText, problems: &mut Problems) -> Option<Program<C::Static>> {
    let env = Env::<C>::new();
    let compiled = ENGINE.check(&env, &text.text).and_then(|checked| {
        warn(checked.warnings(), text, 0, problems);
        if !matches!(checked.result_type(), Type::Bool | Type::Dyn) {
            let message = format!("a condition is `bool`, this is `{}`", checked.type_name());
            problems.add("policy-type", text.place, message);
        }
        ENGINE.compile_checked(&env, &checked)
    });
    match compiled {
        Ok(program) => Some(program),
        Err(error) => {
            error.diagnostics().iter().for_each(|found| problems.of_expression(text, 0, found));
            None
        }
    }
}
