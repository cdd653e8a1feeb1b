//! From a request to its answer.
//!
//! Invariant: the server reads no file that a request names. Test:
//! `runtime/tools/serve/tests/it/hostile.rs::nothing_but_the_page_and_the_api_is_there`.
//!
//! Invariant: the server reads no file that only a changed text names. Test:
//! `runtime/tools/serve/tests/it/edits.rs::a_changed_text_reaches_no_other_files`.

use crate::files::{self, Files};
use crate::reply::{self, Reply};
use crate::work::{Queue, Refused};
use crate::{api, assets, guard, limits};
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_LENGTH, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use std::sync::Arc;

/// Answers a request.
pub(crate) async fn answer(request: Request<Incoming>, files: Arc<Files>, queue: &Queue) -> Reply {
    let (head, body) = request.into_parts();
    if let Err(refusal) = guard::admit(&head) {
        return reply::error(refusal.status, refusal.message);
    }
    let path = head.uri.path();
    if let Some((content_type, content)) = assets::of(path) {
        return match head.method {
            Method::GET | Method::HEAD => reply::with(StatusCode::OK, content_type, content),
            _ => not_allowed("GET, HEAD"),
        };
    }
    if path == "/lab" {
        return match head.method {
            Method::GET | Method::HEAD => report(&files),
            _ => not_allowed("GET, HEAD"),
        };
    }
    let Some(allowed) = api::methods(path) else {
        return reply::error(StatusCode::NOT_FOUND, "there is nothing here; the page is at /");
    };
    if !allowed.split(", ").any(|method| method == head.method.as_str()) {
        return not_allowed(allowed);
    }
    let length = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > limits::BODY_BYTES) {
        return too_large();
    }
    let body = match read(body).await {
        Ok(body) => body,
        Err(refused) => return *refused,
    };
    let (path, method) = (path.to_owned(), head.method);
    let result = queue.run(move || api::answer(&path, &method, &body, &files)).await;
    match result {
        Ok(Ok(json)) => reply::json(StatusCode::OK, &json),
        Ok(Err(api::Refusal { status, message })) => reply::error(status, &message),
        Err(Refused::Busy) => reply::error(StatusCode::SERVICE_UNAVAILABLE, "too many evaluations wait; try again"),
        Err(Refused::Late) => {
            let message = format!("no result within {} s; try again", limits::EVALUATION_TIME.as_secs());
            reply::error(StatusCode::SERVICE_UNAVAILABLE, &message)
        }
        Err(Refused::Defect) => {
            reply::error(StatusCode::INTERNAL_SERVER_ERROR, "a defect of celero: please report this rule and request")
        }
    }
}

/// Returns the report of the lab. Reading a file within its bound takes less time than a request to the API.
fn report(files: &Files) -> Reply {
    let Some(path) = &files.lab else {
        return reply::error(StatusCode::NOT_FOUND, "no report was given: celero serve --lab lab.html");
    };
    files::read(path).map_or_else(|why| reply::error(StatusCode::NOT_FOUND, &why), reply::report)
}

/// Reads a body, within its bounds.
///
/// # Errors
/// It is too large, too slow, or ends early.
async fn read(body: Incoming) -> Result<Bytes, Box<Reply>> {
    let whole = Limited::new(body, limits::BODY_BYTES).collect();
    match tokio::time::timeout(limits::BODY_TIME, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Box::new(too_large())),
        Ok(Err(_)) => Err(Box::new(reply::error(StatusCode::BAD_REQUEST, "the body can't be read"))),
        Err(_) => Err(Box::new(reply::error(StatusCode::REQUEST_TIMEOUT, "the body took too long"))),
    }
}

fn too_large() -> Reply {
    let message = format!("the body is longer than {} bytes", limits::BODY_BYTES);
    reply::error(StatusCode::PAYLOAD_TOO_LARGE, &message)
}

fn not_allowed(allowed: &'static str) -> Reply {
    let mut reply = reply::error(StatusCode::METHOD_NOT_ALLOWED, &format!("the method must be one of {allowed}"));
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}
