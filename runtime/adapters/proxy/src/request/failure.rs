//! What a failure of a request means: the status of the answer, the words in the logs, and whose failure it is.

use http::StatusCode;
use log::Level;
use pingora::{Error, ErrorSource, ErrorType};
use std::borrow::Cow;

/// Returns the status of the answer to an error. `None`: the client is gone.
pub(crate) fn status_of(error: &Error) -> Option<StatusCode> {
    let status = match (error.etype(), error.esource()) {
        (ErrorType::HTTPStatus(status), _) => *status,
        (ErrorType::ConnectTimedout | ErrorType::ReadTimedout | ErrorType::WriteTimedout, ErrorSource::Upstream) => 504,
        (_, ErrorSource::Upstream) => 502,
        (ErrorType::WriteError | ErrorType::ReadError | ErrorType::ConnectionClosed, ErrorSource::Downstream) => {
            return None;
        }
        (ErrorType::ReadTimedout, ErrorSource::Downstream) => 408,
        (_, ErrorSource::Downstream) => 400,
        _ => 500,
    };
    StatusCode::from_u16(status).ok()
}

/// Returns what failed, in words for operators.
pub(crate) fn reason_of(error: &Error) -> Cow<'static, str> {
    use ErrorType as E;
    let reason = match (error.etype(), error.esource()) {
        // The words of the proxy itself.
        (E::HTTPStatus(status), _) => {
            let root = error.root_cause().downcast_ref::<Error>().unwrap_or(error);
            let words = root.context.as_ref().or(error.context.as_ref());
            return words.map_or_else(|| format!("status {status}").into(), |words| words.to_string().into());
        }
        (E::ConnectRefused, ErrorSource::Upstream) => "the server refuses connections",
        (E::ConnectTimedout, ErrorSource::Upstream) => "the server did not accept the connection in time",
        (E::ConnectNoRoute | E::ConnectError, ErrorSource::Upstream) => "the server can't be reached",
        (E::InternalError | E::SocketError | E::BindError, ErrorSource::Upstream) => {
            "the proxy could not open a connection to the server; its descriptors or ports may be used up"
        }
        (E::ReadTimedout, ErrorSource::Upstream) => "the server did not send its response in time",
        (E::WriteTimedout, ErrorSource::Upstream) => "the server did not take the request in time",
        (E::ReadError | E::WriteError | E::ConnectionClosed, ErrorSource::Upstream) => {
            "the server closed the connection before its response was complete"
        }
        (E::InvalidHTTPHeader | E::H1Error | E::H2Error | E::InvalidH2, ErrorSource::Upstream) => {
            "the server's response is malformed"
        }
        // Words of the guard. The context may have bytes of the server.
        (E::CustomCode(words, _), ErrorSource::Upstream) => {
            return format!("the server's response is malformed: {words}").into();
        }
        (_, ErrorSource::Upstream) => "the server failed",
        (E::ReadError | E::WriteError | E::ConnectionClosed, ErrorSource::Downstream) => {
            "the client closed the connection"
        }
        (E::ReadTimedout, ErrorSource::Downstream) => "the client is too slow in sending the body",
        (E::WriteTimedout, ErrorSource::Downstream) => "the client is too slow in reading the response",
        (_, ErrorSource::Downstream) => "the request is malformed",
        _ => return error.to_string().into(),
    };
    reason.into()
}

/// Returns whether a connection to a server failed because of the proxy itself: no descriptor or no
/// port was left for it. Pingora reports both as an internal error.
pub(crate) fn is_local(error: &Error) -> bool {
    matches!(error.etype(), ErrorType::InternalError | ErrorType::SocketError | ErrorType::BindError)
}

/// Returns the level of the failure in the process log: what a client does is no failure of the
/// proxy, what a server does is worth a look, and the rest should not happen.
pub(crate) fn level_of(error: &Error) -> Level {
    match (error.etype(), error.esource()) {
        (ErrorType::HTTPStatus(..500), _) | (_, ErrorSource::Downstream) => Level::Debug,
        (ErrorType::HTTPStatus(_), _) | (_, ErrorSource::Upstream) => Level::Warn,
        _ => Level::Error,
    }
}
