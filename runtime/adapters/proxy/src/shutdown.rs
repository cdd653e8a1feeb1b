//! Says in the log what a signal does, and delays a graceful shutdown until load balancers have noticed it.

use crate::service_manager;
use crate::state::State;
use pingora::server::{ShutdownSignal, ShutdownSignalWatch};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::SignalKind;

/// A signal that is logged when it arrives.
pub(crate) struct LoggedSignal {
    pub(crate) signal: Box<dyn ShutdownSignalWatch + Send>,
    pub(crate) state: Arc<State>,
    /// How long new connections are still accepted after SIGTERM.
    pub(crate) delay: Duration,
    pub(crate) grace: Duration,
}

impl ShutdownSignalWatch for LoggedSignal {
    // What `async_trait` makes of an `async fn`; written out because the signal can't be shared by threads.
    fn recv<'s, 'f>(&'s self) -> Pin<Box<dyn Future<Output = ShutdownSignal> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        let (first, next) = (self.signal.recv(), self.signal.recv());
        let (state, delay, grace) = (Arc::clone(&self.state), self.delay, self.grace);
        Box::pin(async move {
            // From here on no signal ends the process at once: those of reloads are awaited elsewhere, a little later.
            let _hangup = tokio::signal::unix::signal(SignalKind::hangup());
            // Polled first, so the signals are awaited when the service manager learns that the proxy is ready.
            let told = async {
                service_manager::ready("requests are handled");
                std::future::pending().await
            };
            let mut signal = tokio::select! {
                biased;
                signal = first => signal,
                signal = told => signal,
            };
            state.drain();
            service_manager::stopping();
            if matches!(signal, ShutdownSignal::GracefulTerminate) && !delay.is_zero() {
                log::info!("SIGTERM: /ready answers 503; new connections are accepted for {delay:?} more");
                // Another signal ends the delay.
                signal = tokio::time::timeout(delay, next).await.unwrap_or(signal);
            }
            let open = state.metrics.open();
            match signal {
                ShutdownSignal::GracefulTerminate => {
                    log::info!("SIGTERM: no new connections are accepted; {open} open requests have up to {grace:?}");
                }
                ShutdownSignal::FastShutdown => log::info!("SIGINT: {open} open requests are cut off"),
                ShutdownSignal::GracefulUpgrade => log::info!("SIGQUIT: the sockets are handed to a new process"),
            }
            signal
        })
    }
}
