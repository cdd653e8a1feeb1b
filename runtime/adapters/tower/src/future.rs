//! The way of one request through a policy and the service behind it.

use crate::body::{RequestBody, ResponseBody, gather};
use crate::layer::{Peer, PolicyLayer};
use crate::logged::{Logged, Sink};
use bytes::Bytes;
use celero_policy::{Answer, Exchange, Outcome, Policy};
use http::{Request, Response, StatusCode, request};
use http_body::Body;
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use tower_service::Service;

/// What a request carries.
pub(crate) struct Way {
    policy: Arc<Policy>,
    peer: Peer,
    sink: Option<Sink>,
    started: SystemTime,
    clock: Instant,
}

impl Way {
    pub(crate) fn new(layer: &PolicyLayer) -> Self {
        Self {
            policy: layer.policy.current(),
            peer: Arc::clone(&layer.peer),
            sink: layer.sink.clone(),
            started: SystemTime::now(),
            clock: Instant::now(),
        }
    }

    /// The response, with what the log phase will need.
    fn end<R>(
        self,
        head: Option<request::Parts>,
        response: Response<ResponseBody<R>>,
        exchange: Exchange,
    ) -> Response<ResponseBody<R>> {
        let Some(head) = head.filter(|_| self.policy.has_log_fields()) else { return response };
        let (parts, body) = response.into_parts();
        let logged = Logged {
            policy: self.policy,
            head,
            response: parts.clone(),
            exchange,
            started: self.started,
            clock: self.clock,
            bytes_sent: 0,
            sink: self.sink,
        };
        Response::from_parts(parts, body.logged(Some(Box::new(logged))))
    }
}

/// Asks the policy, then the service, then the policy again.
pub(crate) async fn run<S, B, R>(
    mut inner: S,
    way: Way,
    request: Request<B>,
) -> Result<Response<ResponseBody<R>>, S::Error>
where
    S: Service<Request<RequestBody<B>>, Response = Response<R>>,
    B: Body<Data = Bytes> + Unpin,
{
    let (mut head, body) = request.into_parts();
    let mut exchange = Exchange::new((way.peer)(&head), None);
    let policy = Arc::clone(&way.policy);
    if let Outcome::Respond(answer) = policy.request(&head, &mut exchange) {
        return Ok(way.end(Some(head), response_of(*answer), exchange));
    }
    exchange.edits().apply(&mut head.headers);
    let body = match policy.body_limit() {
        None => RequestBody::unread(body),
        Some(limit) => {
            let Ok(gathered) = gather(body, limit).await else {
                return Ok(way.end(Some(head), broken(), exchange));
            };
            let outcome = if gathered.too_large {
                policy.request_body_too_large(&mut exchange)
            } else {
                policy.request_body(&head, &gathered.read, &mut exchange)
            };
            if let Outcome::Respond(answer) = outcome {
                return Ok(way.end(Some(head), response_of(*answer), exchange));
            }
            exchange.edits().apply(&mut head.headers);
            gathered.body
        }
    };
    let kept = (policy.has_response_rules() || policy.has_log_fields()).then(|| head.clone());
    let (mut parts, body) = inner.call(Request::from_parts(head, body)).await?.into_parts();
    let mut body = ResponseBody::service(body);
    if let Some(head) = kept.as_ref().filter(|_| policy.has_response_rules()) {
        match policy.response(head, &parts, &mut exchange) {
            Outcome::Continue => exchange.edits().apply(&mut parts.headers),
            Outcome::Respond(answer) => (parts, body) = response_of(*answer).into_parts(),
        }
    }
    Ok(way.end(kept, Response::from_parts(parts, body), exchange))
}

fn response_of<R>(answer: Answer) -> Response<ResponseBody<R>> {
    let mut response = Response::new(ResponseBody::policy(answer.body));
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response
}

/// The answer to a request of which the body can't be read.
fn broken<R>() -> Response<ResponseBody<R>> {
    let mut response =
        Response::new(ResponseBody::policy(Bytes::from_static(b"the body of the request can't be read\n")));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}
