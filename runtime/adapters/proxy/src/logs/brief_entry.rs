//! Entries of the access log for requests that never reached the phases, or were ended from
//! outside: of these little is known.

use celero_policy::Phase;
use http::StatusCode;
use serde_json::json;
use std::net::IpAddr;

/// Returns the entry of a request of which only this is known.
pub(crate) fn brief(client: Option<IpAddr>, status: Option<StatusCode>, reason: &str) -> String {
    let client = client.map(|client| client.to_string());
    let (now, status) = (jiff::Timestamp::now(), status.map(|status| status.as_u16()));
    json!({ "time": format!("{now:.3}"), "client": client, "status": status, "error": reason }).to_string()
}

/// Returns the entry of a connection that a rule of the phase `connection` denied. `left_out`: how
/// many were denied since the last entry about one.
pub(crate) fn denied(client: Option<IpAddr>, rule: &str, left_out: u64) -> String {
    let (now, client) = (jiff::Timestamp::now(), client.map(|client| client.to_string()));
    json!({
        "time": format!("{now:.3}"),
        "client": client,
        "phase": Phase::Connection.name(),
        "rule": rule,
        "leftOut": left_out,
    })
    .to_string()
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
