//! Accepts connections and serves each within its bounds.

use crate::files::Files;
use crate::{limits, routes, work};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// The pause after a failed `accept`: the process has no descriptor left, say.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves all connections of a socket.
pub(crate) async fn serve(listener: TcpListener, files: Arc<Files>) {
    let open = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let work = Arc::new(work::Queue::new());
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // Without a permit the connection is closed.
        let Ok(permit) = Arc::clone(&open).try_acquire_owned() else { continue };
        let (files, work) = (Arc::clone(&files), Arc::clone(&work));
        tokio::spawn(async move {
            // A connection that ends late or with an error has nobody to be reported to.
            let _ = tokio::time::timeout(limits::CONNECTION_TIME, connection(stream, files, work)).await;
            drop(permit);
        });
    }
}

async fn connection(stream: TcpStream, files: Arc<Files>, work: Arc<work::Queue>) -> hyper::Result<()> {
    let service = service_fn(move |request| {
        let (files, work) = (Arc::clone(&files), Arc::clone(&work));
        async move { Ok::<_, Infallible>(routes::answer(request, files, &work).await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HEAD_TIME)
        .max_buf_size(limits::HEAD_BYTES)
        .max_headers(limits::HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .await
}
