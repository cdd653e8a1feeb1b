//! Waits for the delays of requests, as long as their clients are there.

use crate::client_gone::client_gone;
use celero_policy::{Decision, Delay, Outcome};
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};
use std::pin::Pin;
use tokio::time::sleep;

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
            () = client_gone(session) => {
                let error = Error::explain(ErrorType::ConnectionClosed, "the client has left while its request waited");
                Err(error.into_down())
            }
        }
    }
}
