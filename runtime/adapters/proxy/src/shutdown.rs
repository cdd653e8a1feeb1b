//! Says in the log what a signal does.

use crate::state::State;
use pingora::server::{ShutdownSignal, ShutdownSignalWatch};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// A signal that is logged when it arrives.
pub(crate) struct LoggedSignal {
    pub(crate) signal: Box<dyn ShutdownSignalWatch + Send>,
    pub(crate) state: Arc<State>,
    pub(crate) grace: Duration,
}

impl ShutdownSignalWatch for LoggedSignal {
    // What `async_trait` makes of an `async fn`; written out because the signal can't be shared by threads.
    fn recv<'s, 'f>(&'s self) -> Pin<Box<dyn Future<Output = ShutdownSignal> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        let (signal, state, grace) = (self.signal.recv(), Arc::clone(&self.state), self.grace);
        Box::pin(async move {
            let signal = signal.await;
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
