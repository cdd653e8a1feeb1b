//! Signals that count from their registration on: those that arrive before anyone waits for them are kept.
//!
//! The system ends a process by most signals that it has not registered, so they are registered
//! before others learn that the proxy runs.

use async_trait::async_trait;
use pingora::server::{ShutdownSignal, ShutdownSignalWatch};
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;

/// Calls `register`, which may register signals. Whichever runtime there is later passes them on.
pub(crate) fn registered<T>(register: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
    // Tokio registers them within a runtime.
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let entered = runtime.enter();
    let signals = register();
    drop(entered);
    // The caller may be in a runtime, where another one must not be waited for.
    runtime.shutdown_background();
    signals
}

/// The signals that stop a process: SIGTERM and SIGQUIT start a graceful shutdown, SIGINT cuts open
/// requests off. They don't end the process from the creation of this value on, so create it before
/// anyone learns that the proxy runs.
pub struct ShutdownSignals(Mutex<Signals>);

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    quit: Signal,
}

impl ShutdownSignals {
    /// Registers the signals.
    ///
    /// # Errors
    /// The system refuses that.
    pub fn new() -> std::io::Result<Self> {
        let signals = registered(|| {
            Ok(Signals {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                quit: signal(SignalKind::quit())?,
            })
        });
        signals.map(|signals| Self(Mutex::new(signals)))
    }
}

#[async_trait]
impl ShutdownSignalWatch for ShutdownSignals {
    async fn recv(&self) -> ShutdownSignal {
        let Signals { interrupt, terminate, quit } = &mut *self.0.lock().await;
        tokio::select! {
            biased;
            _ = interrupt.recv() => ShutdownSignal::FastShutdown,
            _ = terminate.recv() => ShutdownSignal::GracefulTerminate,
            _ = quit.recv() => ShutdownSignal::GracefulTerminate,
        }
    }
}
