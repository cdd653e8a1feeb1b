//! The beginning of the proxy's end, as connections await it.

use pingora::server::ShutdownWatch;

/// Waits until the proxy is about to stop.
pub(super) async fn stopping(shutdown: &ShutdownWatch) {
    let mut shutdown = shutdown.clone();
    // An error means that the server is gone, which is the end too. What is returned holds a lock.
    drop(shutdown.wait_for(|stops| *stops).await);
}
