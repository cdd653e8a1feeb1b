//! The time that a server has for the head of a response.

use pingora::{Error, ErrorType, Result};
use std::time::{Duration, Instant};

/// The type of the error of a head that takes too long, until [`blame_server`] has seen it.
const LATE: ErrorType = ErrorType::Custom("ResponseHeadTimedout");

/// The time for the head of a final response, those of interim responses included, from when the
/// whole request was read from the client.
#[derive(Debug)]
pub(crate) struct ResponseHeadClock {
    limit: Duration,
    started: Option<Instant>,
}

impl ResponseHeadClock {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, started: None }
    }

    /// Returns when the time is over. The first call starts it. `None`: in more years than there are.
    pub(crate) fn end(&mut self) -> Option<Instant> {
        self.started.get_or_insert_with(Instant::now).checked_add(self.limit)
    }

    /// Returns the error of a head that takes too long.
    pub(crate) fn over<T>() -> Result<T> {
        Error::e_explain(LATE, "the head of the response takes too long")
    }
}

/// Makes the error of a head that takes too long one of the server. It arises where Pingora waits
/// for the client, and takes it for one of that.
pub(crate) fn blame_server(error: &mut Error) {
    if error.etype == LATE {
        error.etype = ErrorType::ReadTimedout;
        error.as_up();
    }
}
