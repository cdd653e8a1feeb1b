//! Sends an answer of the policy.

use celero_policy::PolicyAnswer;
use http::{Method, header};
use pingora::Result;
use pingora::http::ResponseHeader;
use pingora::protocols::http::HttpTask;
use pingora::proxy::Session;

/// Sends `answer` instead of a server's response. No part of a response may have been sent before.
pub(crate) async fn write_answer(session: &mut Session, answer: &PolicyAnswer) -> Result<()> {
    let mut head = ResponseHeader::build(answer.status, Some(answer.headers.len().saturating_add(1)))?;
    for (name, value) in &answer.headers {
        head.append_header(name.clone(), value.clone())?;
    }
    let bodiless = matches!(answer.status.as_u16(), 100..=199 | 204 | 304);
    if !bodiless {
        head.insert_header(header::CONTENT_LENGTH, answer.body.len())?;
    }
    let silent = bodiless || answer.body.is_empty() || session.req_header().method == Method::HEAD;
    // As tasks: `write_response_header` would let the head of a bodiless answer end without its
    // stream, in which clients of gRPC see no status.
    let mut tasks = vec![HttpTask::Header(Box::new(head), silent)];
    if !silent {
        tasks.push(HttpTask::Body(Some(answer.body.clone()), true));
    }
    session.write_response_tasks(tasks).await?;
    Ok(())
}
