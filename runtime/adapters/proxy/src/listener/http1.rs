//! The requests of an HTTP/1 connection, one after another.

use super::client_stream::ClientStream;
use pingora::apps::HttpServerApp;
use pingora::protocols::http::ServerSession;
use pingora::server::ShutdownWatch;
use std::sync::Arc;
use tokio::task::yield_now;

/// Serves a connection until it ends.
pub(super) async fn serve<A>(app: &Arc<A>, stream: ClientStream, shutdown: &ShutdownWatch)
where
    A: HttpServerApp + Send + Sync + 'static,
{
    let mut session = ServerSession::new_http1(Box::new(stream));
    // 0 is no timeout: the stream has the deadlines.
    session.set_keepalive((!*shutdown.borrow()).then_some(0));
    while let Some(reusable) = app.process_new_http(session, shutdown).await {
        let (stream, settings) = reusable.consume();
        let Ok(mut stream) = stream.into_any().downcast::<ClientStream>() else { return };
        stream.next_head();
        session = ServerSession::new_http1(stream);
        if let Some(settings) = settings {
            settings.apply_to_session(&mut session);
        }
        // Many requests that came in one read would be answered before anything of other connections.
        yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Limits, Timeouts};
    use async_trait::async_trait;
    use http::Response;
    use pingora::apps::http_app::ServeHttp;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::io::AsyncWriteExt;

    /// Answers requests, and counts them.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    #[async_trait]
    impl ServeHttp for Counting {
        async fn response(&self, session: &mut ServerSession) -> Response<Vec<u8>> {
            ClientStream::head_is_complete(session.stream());
            session.set_pipelining_enabled(true);
            self.0.fetch_add(1, Ordering::Relaxed);
            Response::builder().header("content-length", 0).body(Vec::new()).unwrap()
        }
    }

    #[test]
    fn others_have_their_turn_after_each_request() {
        const REQUESTS: usize = 100;
        let app = Arc::new(Counting::default());
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let (_stops, shutdown) = tokio::sync::watch::channel(false);
        let counted = Arc::clone(&app);
        let served = async move {
            let stream = ClientStream::new(Box::new(server), Timeouts::default(), Limits::default(), Arc::default());
            serve(&app, stream, &shutdown).await;
        };
        let others = async move {
            let mut seen = Vec::new();
            while seen.len() < 10 * REQUESTS && seen.last() != Some(&REQUESTS) {
                seen.push(counted.0.load(Ordering::Relaxed));
                yield_now().await;
            }
            seen
        };
        let seen = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
            client.write_all(&b"GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(REQUESTS)).await.unwrap();
            tokio::spawn(served);
            tokio::spawn(others).await.unwrap()
        });
        assert_eq!(seen.last(), Some(&REQUESTS));
        assert!(seen.windows(2).all(|turn| turn[1] - turn[0] <= 2), "{seen:?}");
    }
}
