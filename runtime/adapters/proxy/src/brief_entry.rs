//! Entries of the access log for requests that never reached the phases, or were ended from outside: of these little is known.

use http::StatusCode;
use serde_json::json;
use std::net::IpAddr;

/// Returns the entry of a request of which only this is known.
pub(crate) fn brief(client: Option<IpAddr>, status: Option<StatusCode>, reason: &str) -> String {
    let client = client.map(|client| client.to_string());
    let (now, status) = (jiff::Timestamp::now(), status.map(|status| status.as_u16()));
    json!({ "time": format!("{now:.3}"), "client": client, "status": status, "error": reason }).to_string()
}

/// Returns the entry of a request that was refused because of its head.
pub(crate) fn refused(client: Option<IpAddr>, status: StatusCode) -> String {
    let reason = match status {
        StatusCode::REQUEST_TIMEOUT => "the head was not complete in time",
        StatusCode::URI_TOO_LONG => "the request line is too long",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => "the head is too large",
        StatusCode::METHOD_NOT_ALLOWED => "the method is not allowed",
        _ => "the head is malformed",
    };
    brief(client, Some(status), reason)
}
