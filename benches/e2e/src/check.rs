//! What an answer must show before a proxy is measured.

use crate::jobs::{Job, internal_names};
use crate::policies;

/// Checks that a proxy did the job before it is measured.
///
/// `answer` is the response head and, as body, the request head that the server received.
///
/// # Errors
/// What is missing from the answer.
pub(crate) fn check(job: &Job, engine: &str, answer: &str) -> Result<(), String> {
    let (head, echo) = answer.split_once("\r\n\r\n").ok_or("no head")?;
    let fail = |what: &str| Err(format!("{} by {engine}: {what} in {answer}", job.name));
    if !head.starts_with("HTTP/1.1 200") {
        return fail("no 200");
    }
    if engine == "none" {
        return Ok(());
    }
    let ok = match job.name {
        "twenty" => echo.contains("x-matched: 12\n"),
        "answered" => head.contains("x-matched: 12"),
        "many" => {
            let right = policies::matching().map_err(|error| format!("the rules alone: {error}"))?.len();
            (5..=10).contains(&right) && echo.contains(&format!("x-matched: {right}\n"))
        }
        "header" => echo.contains("x-gateway: celero\n"),
        "guids" => (0..10).all(|n| head.contains(&format!("x-guid-{n}: "))),
        "jwt" => echo.contains("x-client-name: checkout-web\n") && echo.contains("x-client-version: 4.2.1\n"),
        "strip" => {
            internal_names().iter().all(|name| !echo.contains(&format!("{name}: "))) && echo.contains("x-tenant: ")
        }
        _ => false,
    };
    if ok { Ok(()) } else { fail("the job is not done") }
}
