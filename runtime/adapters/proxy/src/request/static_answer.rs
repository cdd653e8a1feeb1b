//! Answers of the proxy itself.

use crate::config::StaticAnswer;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use pingora::Result;
use pingora::http::ResponseHeader;
use pingora::proxy::Session;

/// Sends an answer with a line of text.
pub(crate) async fn respond(session: &mut Session, status: StatusCode, text: &str) -> Result<()> {
    respond_with(session, status, HeaderMap::new(), text).await
}

/// Refuses a request that may come again: 503 with `Retry-After`.
pub(crate) async fn respond_later(session: &mut Session, text: &str) -> Result<()> {
    let later = HeaderMap::from_iter([(header::RETRY_AFTER, HeaderValue::from_static("1"))]);
    respond_with(session, StatusCode::SERVICE_UNAVAILABLE, later, text).await
}

async fn respond_with(session: &mut Session, status: StatusCode, mut headers: HeaderMap, text: &str) -> Result<()> {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    send(session, status, &headers, format!("{text}\n").into()).await
}

/// Sends the answer of a route.
pub(crate) async fn send_static(session: &mut Session, answer: &StaticAnswer) -> Result<()> {
    send(session, answer.status, &answer.headers, answer.body.clone()).await
}

async fn send(session: &mut Session, status: StatusCode, headers: &HeaderMap, body: Bytes) -> Result<()> {
    let mut head = ResponseHeader::build(status, Some(headers.len().saturating_add(1)))?;
    for (name, value) in headers {
        head.append_header(name.clone(), value.clone())?;
    }
    let without_body = matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if !without_body {
        head.insert_header(header::CONTENT_LENGTH, body.len())?;
    }
    let silent = without_body || body.is_empty() || session.req_header().method == Method::HEAD;
    session.write_response_header(Box::new(head), silent).await?;
    if !silent {
        session.write_response_body(Some(body), true).await?;
    }
    Ok(())
}
