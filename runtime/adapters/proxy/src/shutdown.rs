//! Says in the log what a signal does, delays a graceful shutdown until load balancers have noticed
//! it, and replaces the program.
//!
//! A request counts as open until its line is handed to the access log.
//!
//! Invariant: a graceful shutdown waits for open requests, then briefly for requests in flight. Test:
//! `runtime/adapters/proxy/tests/proxy/process.rs::a_termination_lets_requests_end`.

use crate::error::Error;
use crate::process::hand_over::Program;
use crate::process::service_manager;
use crate::process::signals::registered;
use crate::state::State;
use pingora::server::{ShutdownSignal, ShutdownSignalWatch};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;

/// A signal that is logged when it arrives.
pub(crate) struct LoggedSignal {
    pub(crate) signal: Box<dyn ShutdownSignalWatch + Send>,
    pub(crate) state: Arc<State>,
    /// How long new connections are still accepted after SIGTERM.
    pub(crate) delay: Duration,
    pub(crate) grace: Duration,
    /// What SIGUSR2 replaces this process with.
    pub(crate) replaceable: Option<Arc<Replaceable>>,
}

/// A program, and the signal that lets it replace this process.
pub(crate) struct Replaceable {
    program: Program,
    wanted: Mutex<Signal>,
}

impl Replaceable {
    /// Registers the signal.
    ///
    /// # Errors
    /// The system refuses that.
    pub(crate) fn new(program: Program) -> std::io::Result<Self> {
        let wanted = registered(|| signal(SignalKind::user_defined2()))?;
        Ok(Self { program, wanted: Mutex::new(wanted) })
    }
}

/// Why this process ends.
enum End {
    Signal(ShutdownSignal),
    /// Another process serves in its place.
    Replaced,
    /// The process that it was to replace is gone.
    Orphaned(Error),
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
        let replaceable = self.replaceable.clone();
        Box::pin(async move {
            let replaced = replaced(replaceable.clone(), &state);
            // Polled last: a signal that has arrived before may mean that this process never serves.
            let told = async {
                match state.serves() {
                    Ok(()) => std::future::pending().await,
                    Err(error) => error,
                }
            };
            let end = tokio::select! {
                biased;
                signal = first => End::Signal(signal),
                () = replaced => End::Replaced,
                error = told => End::Orphaned(error),
            };
            let signal = match end {
                End::Signal(signal) => {
                    if let Some(replaceable) = &replaceable {
                        replaceable.program.stop();
                    }
                    stopped(&state, signal, delay, grace, next).await
                }
                End::Orphaned(error) => {
                    log::error!("this process ends: {error}");
                    ShutdownSignal::GracefulTerminate
                }
                End::Replaced => {
                    let open = state.metrics.open();
                    log::info!("this process ends; its {open} open requests have up to {grace:?}");
                    ShutdownSignal::GracefulTerminate
                }
            };
            state.stop();
            signal
        })
    }
}

/// Says what a signal does, and waits for the delay.
async fn stopped(
    state: &State,
    mut signal: ShutdownSignal,
    delay: Duration,
    grace: Duration,
    next: impl Future<Output = ShutdownSignal>,
) -> ShutdownSignal {
    state.drain();
    service_manager::stopping();
    if !matches!(signal, ShutdownSignal::FastShutdown) && !delay.is_zero() {
        log::info!("SIGTERM: /ready answers 503; new connections are accepted for {delay:?} more");
        // Another signal ends the delay.
        signal = tokio::time::timeout(delay, next).await.unwrap_or(signal);
    }
    let open = state.metrics.open();
    match signal {
        ShutdownSignal::FastShutdown => {
            log::info!("SIGINT: {open} open requests are cut off");
            signal
        }
        // Pingora would offer the sockets to whoever listens at a path in /tmp.
        ShutdownSignal::GracefulTerminate | ShutdownSignal::GracefulUpgrade => {
            log::info!("SIGTERM: no new connections are accepted; {open} open requests have up to {grace:?}");
            ShutdownSignal::GracefulTerminate
        }
    }
}

/// Waits until another process serves in the place of this one: SIGUSR2 starts it. Waits for ever without a program.
async fn replaced(replaceable: Option<Arc<Replaceable>>, state: &Arc<State>) {
    let Some(replaceable) = replaceable else {
        return std::future::pending().await;
    };
    let mut wanted = replaceable.wanted.lock().await;
    loop {
        wanted.recv().await;
        log::info!("SIGUSR2: a new process is started, which gets the sockets");
        let (replaceable, state) = (Arc::clone(&replaceable), Arc::clone(state));
        match tokio::task::spawn_blocking(move || replace(&replaceable.program, &state)).await {
            Ok(Ok(process)) => {
                log::info!("process {process} serves from now on");
                service_manager::replaced_by(process);
                return;
            }
            Ok(Err(error)) => log::error!("nothing changes, this process serves: {error}"),
            Err(error) => log::error!("nothing changes, this process serves: {error}"),
        }
    }
}

/// Replaces this process. Returns the ID of the new one. Blocks.
fn replace(program: &Program, state: &State) -> Result<u32, Error> {
    let sockets = state.sockets()?;
    // Only one process at a time can have the file of changes open, and the new one reads it before it serves.
    state.lists.close();
    let replaced = program.replace(&sockets);
    if replaced.is_err()
        && let Err(error) = state.lists.open_again()
    {
        log::error!("lists can't be changed until the proxy is restarted: {error}");
    }
    replaced
}
