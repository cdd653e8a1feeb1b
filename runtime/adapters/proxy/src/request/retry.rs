//! Whether a request is sent again, to another server.
//!
//! | failure | sent again |
//! |---|---|
//! | the connection could not be made | up to `retries` times, whatever the method: no server has seen the request |
//! | a kept connection was closed before the response began | up to twice, if the method is idempotent: servers close connections at any time |
//! | the server accepted the request and failed, or gave a response that matches `retry.statuses` or `retry.when` | as `retry` of the route says |
//!
//! Never if a part of the body is not in memory any more.
//!
//! Invariant: no request is sent to a second server after a part of a response went to the client.
//! Test:
//! `runtime/adapters/proxy/tests/proxy/failover.rs::broken_connections_are_retried_only_before_the_client_has_got_anything`.

use crate::config::{Retry, RetryOn};
use crate::metrics::counters::Event;
use crate::request::state::RequestState;
use celero_pingora::final_response;
use http::{StatusCode, response};
use pingora::proxy::Session;
use pingora::{Error, ErrorSource};

/// How often a request is sent again because kept connections were closed.
const REPEATS: usize = 2;

/// Returns whether the request can be sent once more without the client noticing.
fn is_possible(session: &Session, request: &RequestState) -> bool {
    // A 100 only asks for the body, which is kept.
    let silent = final_response(session).is_none()
        && session.response_written().is_none_or(|head| head.status == StatusCode::CONTINUE);
    silent && !session.retry_buffer_truncated() && request.guard.may_retry() && request.guard.answer().is_none()
}

/// Returns whether the route lets the request be sent once more, if that is possible.
fn is_allowed(session: &Session, request: &RequestState, retry: &Retry) -> bool {
    request.retries < retry.attempts && retry.allows(&session.req_header().method) && is_possible(session, request)
}

/// Returns whether the route takes a response for a failure.
fn is_failure(session: &Session, request: &RequestState, response: &response::Parts) -> bool {
    let Some(retry) = request.retry() else { return false };
    match &retry.on {
        RetryOn::Statuses(statuses) => statuses.contains(&response.status.as_u16()),
        // A condition costs more than what has to hold besides.
        RetryOn::When(when) => {
            response.status != StatusCode::SWITCHING_PROTOCOLS
                && is_allowed(session, request, retry)
                && request.client.as_ref().is_some_and(|client| {
                    when.matches(session.req_header(), response, client.origin()).unwrap_or_else(|error| {
                        log::debug!("`retry.when` fails, so the response is sent on: {error}");
                        false
                    })
                })
        }
    }
}

/// Returns whether another server is to be tried as the route says, and takes that from the budget.
fn takes_another(session: &Session, request: &mut RequestState) -> bool {
    let (Some(retry), Some(upstream), Some(server)) = (request.retry(), request.upstream(), request.server) else {
        return false;
    };
    let mut failed = request.failed.clone();
    failed.push(server);
    if !is_allowed(session, request, retry) || !upstream.has_another(&failed) {
        return false;
    }
    if !upstream.retries.try_withdraw() {
        request.state.metrics.count(Event::RetryRefused);
        return false;
    }
    request.failed = failed;
    request.retries = request.retries.saturating_add(1);
    request.state.metrics.count(Event::Retried);
    true
}

/// Looks at the head of a server's response. Returns whether it is dropped because another server
/// is tried: nothing of the policy has seen it then. A status that is no failure counts as a
/// success only when the response has ended, in [`succeeded`]: the server may still break it off.
pub(crate) fn drops_response(session: &Session, request: &mut RequestState, response: &response::Parts) -> bool {
    if let (Some(upstream), Some(server)) = (request.upstream(), request.server) {
        let is_failure = upstream.servers.is_failure(response.status.as_u16());
        if is_failure {
            upstream.failed(server);
        }
        request.answered = !is_failure;
    }
    request.retry_status = is_failure(session, request, response) && takes_another(session, request);
    request.retry_status
}

/// Notes the success of the server that answered, if the request has ended without an error. An
/// answer of the policy in place of the server's response ends it with one.
pub(crate) fn succeeded(request: &RequestState, error: Option<&Error>) {
    let whole = request.answered && (error.is_none() || request.guard.answer().is_some());
    if let (true, Some(upstream), Some(server)) = (whole, request.upstream(), request.server) {
        upstream.servers.succeeded(server);
    }
}

/// Decides after a failure whose connection had been made.
pub(crate) fn after_failure(session: &mut Session, request: &mut RequestState, error: &mut Error, reused: bool) {
    if std::mem::take(&mut request.retry_status) {
        error.set_retry(true);
        return;
    }
    error.retry.decide_reuse(reused);
    let repeats = error.retry() && request.repeated < REPEATS && session.req_header().method.is_idempotent();
    if repeats && is_possible(session, request) {
        request.repeated = request.repeated.saturating_add(1);
        return;
    }
    // A server that waits for a body which the client does not send has not failed, and clients
    // decide how long an upgraded connection is idle.
    let of_server = *error.esource() == ErrorSource::Upstream && session.is_body_done() && !session.was_upgraded();
    if of_server {
        request.server_failed();
    }
    let again = of_server && takes_another(session, request);
    error.set_retry(again);
}
