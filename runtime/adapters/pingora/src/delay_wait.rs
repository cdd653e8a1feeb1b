//! Waits for the delays of requests, as long as their clients are there.

use celero_policy::{Decision, Delay, Outcome};
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};
use std::pin::Pin;
use std::time::Duration;
use tokio::time::sleep;

/// The time between two looks at whether the client is still there.
const LOOK: Duration = Duration::from_millis(100);

/// The states of TCP in which the client has closed the connection (`TCP_CLOSE` and `TCP_CLOSE_WAIT` of Linux).
const CLOSED: [u8; 2] = [7, 8];

/// The delays of a request. They end early when the host stops.
pub(crate) struct DelayWait<'f, F> {
    stop: Pin<&'f mut F>,
    stopped: bool,
}

impl<'f, F: Future<Output = ()>> DelayWait<'f, F> {
    pub(crate) fn new(stop: Pin<&'f mut F>) -> Self {
        Self { stop, stopped: false }
    }

    /// Waits as a decision says, and returns what follows.
    ///
    /// # Errors
    /// The client is gone.
    pub(crate) async fn outcome(&mut self, session: &mut Session, decision: Decision) -> Result<Outcome> {
        let Decision { delay, outcome } = decision;
        if let Some(delay) = delay.filter(|_| !self.stopped) {
            self.wait(session, delay).await?;
        }
        Ok(outcome)
    }

    /// Waits. The place of the request is free again when this ends, or is given up.
    #[cold]
    async fn wait(&mut self, session: &mut Session, delay: Delay) -> Result<()> {
        tokio::select! {
            biased;
            () = sleep(delay.time()) => Ok(()),
            () = self.stop.as_mut() => {
                self.stopped = true;
                Ok(())
            }
            () = gone(session) => {
                let error = Error::explain(ErrorType::ConnectionClosed, "the client has left while its request waited");
                Err(error.into_down())
            }
        }
    }
}

/// Returns when the client has reset the stream or closed the connection.
async fn gone(session: &mut Session) {
    if session.is_http2() {
        // The stream is awaited whether its body has arrived or not.
        drop(session.read_body_or_idle(true).await);
        return;
    }
    // Nothing is read: what follows the head may be the body, or the next request.
    let Some(socket) = session.digest().and_then(|digest| digest.socket_digest.clone()) else {
        return std::future::pending().await;
    };
    loop {
        sleep(LOOK).await;
        if socket.tcp_info().is_some_and(|info| CLOSED.contains(&info.tcpi_state)) {
            return;
        }
    }
}
