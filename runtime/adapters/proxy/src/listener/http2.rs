//! The requests of an HTTP/2 connection, all at once.

use super::body_watch::BodyWatch;
use super::client_stream::ClientStream;
use super::stopping::stopping;
use crate::config::{Limits, Timeouts};
use pingora::apps::HttpServerApp;
use pingora::protocols::http::ServerSession;
use pingora::protocols::http::v2::server::{H2Accept, HttpSession, default_h2_options, handshake};
use pingora::protocols::{Digest, GetProxyDigest, GetSocketDigest, GetTimingDigest, Ssl};
use pingora::server::ShutdownWatch;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::timeout;

/// Malformed requests after which a connection is closed.
const MAX_MALFORMED: usize = 32;

/// How long the last frames of an idle connection may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// Serves a connection until it ends.
pub(super) async fn serve<A>(
    app: &Arc<A>,
    stream: ClientStream,
    shutdown: &ShutdownWatch,
    timeouts: &Timeouts,
    limits: &Limits,
) where
    A: HttpServerApp + Send + Sync + 'static,
{
    let digest = Arc::new(Digest {
        ssl_digest: stream.get_ssl_digest(),
        timing_digest: stream.get_timing_digest(),
        proxy_digest: stream.get_proxy_digest(),
        socket_digest: stream.get_socket_digest(),
    });
    let mut options = default_h2_options();
    options.max_concurrent_streams(limits.streams);
    options.max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX));
    let mut connection = match timeout(timeouts.head, handshake(stream.into_http2(), Some(options))).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => return log::debug!("an HTTP/2 connection failed: {error}"),
        Err(_) => return log::debug!("an HTTP/2 connection was not established within {:?}", timeouts.head),
    };
    // While a server takes no bytes, none are read from the client.
    let body_timeout = timeouts.body.saturating_add(timeouts.write);
    // Each request holds a receiver while it is open.
    let open = watch::Sender::new(());
    let (mut ending, mut malformed) = (false, 0_usize);
    let stops = stopping(shutdown);
    tokio::pin!(stops);
    loop {
        let pause = if ending { FAREWELL } else { timeouts.keep_alive };
        let idle = async {
            open.closed().await;
            tokio::time::sleep(pause).await;
        };
        let accepted = tokio::select! {
            biased;
            () = &mut stops, if !ending => {
                connection.graceful_shutdown();
                ending = true;
                continue;
            }
            accepted = HttpSession::from_h2_conn(&mut connection, Arc::clone(&digest)) => accepted,
            () = idle => {
                connection.graceful_shutdown();
                let _ = timeout(FAREWELL, HttpSession::from_h2_conn(&mut connection, digest)).await;
                return;
            }
        };
        match accepted {
            Ok(Some(H2Accept::Session(session))) => {
                let (app, shutdown, request) = (Arc::clone(app), shutdown.clone(), open.subscribe());
                let mut session = ServerSession::new_http2(session);
                let watch = (!session.is_body_empty()).then(|| BodyWatch::new(body_timeout));
                if let Some(watch) = &watch {
                    session.req_header_mut().extensions_mut().insert(watch.clone());
                }
                tokio::spawn(async move {
                    let handled = app.process_new_http(session, &shutdown);
                    match watch {
                        Some(watch) => tokio::select! {
                            _ = handled => {}
                            () = watch.stalled() => {}
                        },
                        None => drop(handled.await),
                    }
                    drop(request);
                });
                // Many requests that came in one read would be begun before anything of other connections.
                yield_now().await;
            }
            Ok(Some(H2Accept::Rejected)) => {
                malformed = malformed.saturating_add(1);
                if malformed >= MAX_MALFORMED {
                    return log::debug!("an HTTP/2 connection was closed after {malformed} malformed requests");
                }
            }
            Ok(None) => return,
            Err(error) => return log::debug!("an HTTP/2 connection failed: {error}"),
        }
    }
}
