//! Runs one request through the phases of a policy and the service.

use crate::body::{Buffered, Replayed, RequestBody, ResponseBody, buffer};
use crate::log_on_drop::{LogOnDrop, LogSink};
use crate::messages::{CallResponse, ClientMessages, Refusal, SharedExchange};
use bytes::Bytes;
use celero_policy::{Decision, Exchange, MessageStep, MessageStream, Outcome, Policy, PolicyAnswer, TlsConnection};
use http::uri::PathAndQuery;
use http::{Request, Response, StatusCode, Uri, request};
use http_body::Body;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tower_service::Service;

const UNREADABLE_BODY: &str = "the body of the request can't be read\n";
const UNREADABLE_RESPONSE: &str = "the body of the response can't be read\n";
const NO_DESTINATION: &str = "the policy reads destination.address or destination.port, which this server does not tell: see PolicyLayer::local\n";
const NO_CONNECTION_PHASE: &str = "the policy has rules of the phase connection, which run before a layer does: see PolicyLayer::admits_connections\n";
const NO_TIMER: &str = "the policy delays requests, and this server has no timer: see PolicyLayer::timer\n";
const NO_CLIENT_ADDRESS: &str =
    "the policy reads source.address or source.port, which this server does not tell: see PolicyLayer::peer\n";

/// Returns the address of an end of the connection.
pub(crate) type FindAddress = Arc<dyn Fn(&request::Parts) -> Option<SocketAddr> + Send + Sync>;

/// Where the address of a client is.
#[derive(Clone)]
pub(crate) enum ClientAddress {
    /// Clients have none.
    None,
    /// This function finds it.
    Found(FindAddress),
}

/// Adds what the server knows of a request: variables and labels.
pub(crate) type Attach = Arc<dyn Fn(&request::Parts, &mut Exchange) + Send + Sync>;

/// Ends after a time.
pub(crate) type Wait = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts to wait for a time.
pub(crate) type Timer = Arc<dyn Fn(Duration) -> Wait + Send + Sync>;

/// What the server says of itself.
#[derive(Clone)]
pub(crate) struct HostFacts {
    pub(crate) peer: ClientAddress,
    pub(crate) local: Option<FindAddress>,
    /// Whether the server runs the phase `connection`.
    pub(crate) admits_connections: bool,
    pub(crate) timer: Option<Timer>,
    pub(crate) attach: Option<Attach>,
}

/// The state of a request.
pub(crate) struct RequestState {
    policy: Arc<Policy>,
    host: HostFacts,
    sink: Option<LogSink>,
    started: SystemTime,
    clock: Instant,
}

impl RequestState {
    pub(crate) fn new(policy: Arc<Policy>, host: HostFacts, sink: Option<LogSink>) -> Self {
        Self { policy, host, sink, started: SystemTime::now(), clock: Instant::now() }
    }

    /// Waits as a decision says, and returns what follows. The place of the request is free again
    /// if the wait is given up.
    async fn wait(&self, decision: Decision) -> Outcome {
        let Decision { delay, outcome } = decision;
        if let (Some(delay), Some(timer)) = (delay, &self.host.timer) {
            timer(delay.time()).await;
        }
        outcome
    }

    /// Returns the response, whose body runs the phase `log` at its end.
    fn end<R>(
        self,
        head: Option<request::Parts>,
        response: Response<ResponseBody<R>>,
        exchange: impl Into<SharedExchange>,
    ) -> Response<ResponseBody<R>> {
        let Some(head) = head.filter(|_| self.policy.lasts_until_end()) else { return response };
        let (parts, body) = response.into_parts();
        let sink = self.sink.filter(|_| self.policy.has_log_fields());
        let log = LogOnDrop {
            policy: self.policy,
            head,
            response: parts.clone(),
            exchange: exchange.into(),
            started: self.started,
            clock: self.clock,
            bytes_sent: 0,
            sink,
        };
        Response::from_parts(parts, body.with_log(Some(Box::new(log))))
    }
}

/// Runs the request phases, the service, and the response phase.
pub(crate) async fn run<S, B, R>(
    mut inner: S,
    state: RequestState,
    request: Request<B>,
) -> Result<Response<ResponseBody<R>>, S::Error>
where
    S: Service<Request<RequestBody<B>>, Response = Response<R>>,
    B: Body<Data = Bytes> + Unpin,
    R: Body<Data = Bytes> + Unpin,
{
    let (mut head, body) = request.into_parts();
    let (peer, is_unknown) = match &state.host.peer {
        ClientAddress::None => (None, false),
        ClientAddress::Found(find) => {
            let peer = find(&head);
            (peer, peer.is_none())
        }
    };
    let local = state.host.local.as_ref().and_then(|find| find(&head));
    let mut exchange = Exchange::new(peer, local);
    exchange.set_start_time(state.started);
    if let Some(tls) = head.extensions.get::<TlsConnection>() {
        exchange.set_tls(tls.clone());
    }
    if let Some(attach) = &state.host.attach {
        attach(&head, &mut exchange);
    }
    let policy = Arc::clone(&state.policy);
    if policy.has_connection_rules() && !state.host.admits_connections {
        return Ok(state.end(Some(head), refused(StatusCode::INTERNAL_SERVER_ERROR, NO_CONNECTION_PHASE), exchange));
    }
    if policy.has_delays() && state.host.timer.is_none() {
        return Ok(state.end(Some(head), refused(StatusCode::INTERNAL_SERVER_ERROR, NO_TIMER), exchange));
    }
    if local.is_none() && policy.reads_destination() {
        return Ok(state.end(Some(head), refused(StatusCode::INTERNAL_SERVER_ERROR, NO_DESTINATION), exchange));
    }
    if is_unknown && policy.reads_client() {
        return Ok(state.end(Some(head), refused(StatusCode::INTERNAL_SERVER_ERROR, NO_CLIENT_ADDRESS), exchange));
    }
    let decision = policy.request_async(&mut head, &mut exchange).await;
    if let Outcome::Respond(answer) = state.wait(decision).await {
        return Ok(state.end(Some(head), response_of(*answer), exchange));
    }
    exchange.edits().apply_to_request(&mut head);
    let mut messages = policy.request_messages(&head, &mut exchange);
    // A rule may deny the call whatever its messages are.
    let checked = messages.as_mut().map(|messages| messages.check(&policy, &mut exchange).next);
    if let Some(MessageStep::Refuse(answer)) = checked {
        return Ok(state.end(Some(head), response_of(*answer), exchange));
    }
    let buffering = if messages.is_some() { None } else { policy.request_buffering(&head, &mut exchange) };
    let body = match buffering {
        None => Replayed::unread(body),
        Some(buffering) => {
            let Ok(buffered) = buffer(body, buffering).await else {
                return Ok(state.end(Some(head), refused(StatusCode::BAD_REQUEST, UNREADABLE_BODY), exchange));
            };
            let decision = if buffered.too_large {
                policy.request_body_too_large(&head, &mut exchange)
            } else {
                policy.request_body_async(&head, &buffered.read, &mut exchange).await
            };
            if let Outcome::Respond(answer) = state.wait(decision).await {
                return Ok(state.end(Some(head), response_of(*answer), exchange));
            }
            exchange.edits().apply_to_request(&mut head);
            buffered.body.or_new(exchange.edits().body())
        }
    };
    let kept_head = (policy.has_response_rules() || policy.lasts_until_end()).then(|| head.clone());
    if let Some(uri) = raw_uri(&policy, &exchange, &head.uri) {
        head.uri = uri;
    }
    let (exchange, refusal) = (SharedExchange::from(exchange), Refusal::default());
    let is_judged = messages.is_some();
    let body = match messages {
        Some(stream) => {
            let (policy, exchange, refusal) = (Arc::clone(&policy), exchange.clone(), refusal.clone());
            RequestBody::messages(ClientMessages::new(body, stream, policy, exchange, refusal))
        }
        None => RequestBody::of(body, Some(refusal.clone()).filter(|_| policy.has_response_rules())),
    };
    let answered = inner.call(Request::from_parts(head, body));
    let response = match is_judged {
        false => answered.await?,
        true => match refusal.or(answered).await {
            Ok(response) => response?,
            Err(answer) => return Ok(state.end(kept_head, response_of(*answer), exchange)),
        },
    };
    let (response, messages) = match kept_head.as_ref().filter(|_| policy.has_response_rules()) {
        Some(head) => after_service(&policy, head, response, (&exchange, &refusal)).await,
        None => (response.map(ResponseBody::service), None),
    };
    let is_judged = is_judged || messages.is_some();
    let has_status = response.headers().contains_key("grpc-status");
    let call =
        is_judged.then(|| CallResponse::new(messages, Arc::clone(&policy), exchange.clone(), refusal, has_status));
    let response = response.map(|body| body.with_call(call).with_policy(policy));
    Ok(state.end(kept_head, response, exchange))
}

/// Runs the phases of the service's response. Returns it, and what judges its messages, if these
/// are judged on their way.
async fn after_service<R: Body<Data = Bytes> + Unpin>(
    policy: &Policy,
    head: &request::Parts,
    response: Response<R>,
    (exchange, refusal): (&SharedExchange, &Refusal),
) -> (Response<ResponseBody<R>>, Option<MessageStream>) {
    let (mut parts, body) = response.into_parts();
    let buffering = {
        let exchange = &mut *exchange.lock();
        if let Outcome::Respond(answer) = policy.response(head, &mut parts, exchange) {
            return (response_of(*answer), None);
        }
        exchange.edits().apply_to_response(&mut parts);
        if let Some(messages) = policy.response_messages(head, &parts, exchange) {
            return (Response::from_parts(parts, ResponseBody::service(body)), Some(messages));
        }
        policy.response_buffering(head, &parts, exchange)
    };
    let Some(buffering) = buffering else {
        return (Response::from_parts(parts, ResponseBody::service(body)), None);
    };
    let Buffered { read, too_large, body } = match refusal.or(buffer(body, buffering)).await {
        Ok(Ok(buffered)) => buffered,
        Ok(Err(_)) => return (refused(StatusCode::BAD_GATEWAY, UNREADABLE_RESPONSE), None),
        Err(answer) => return (response_of(*answer), None),
    };
    let exchange = &mut *exchange.lock();
    let outcome = if too_large {
        policy.response_body_too_large(exchange)
    } else {
        policy.response_body(head, &parts, &read, exchange)
    };
    if let Outcome::Respond(answer) = outcome {
        return (response_of(*answer), None);
    }
    exchange.edits().apply_to_response(&mut parts);
    (Response::from_parts(parts, ResponseBody::replayed(body.or_new(exchange.edits().body()))), None)
}

/// Returns the target as it was received, if the policy says `forwardRaw`.
fn raw_uri(policy: &Policy, exchange: &Exchange, canonical: &Uri) -> Option<Uri> {
    let target = policy.raw_target(exchange)?;
    let mut parts = canonical.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(target).ok()?);
    Uri::from_parts(parts).ok()
}

fn response_of<R>(answer: PolicyAnswer) -> Response<ResponseBody<R>> {
    let mut response = Response::new(ResponseBody::policy(answer.body));
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response
}

/// Returns the answer to a request that the policy can't decide about.
fn refused<R>(status: StatusCode, why: &'static str) -> Response<ResponseBody<R>> {
    let mut response = Response::new(ResponseBody::policy(Bytes::from_static(why.as_bytes())));
    *response.status_mut() = status;
    response
}
