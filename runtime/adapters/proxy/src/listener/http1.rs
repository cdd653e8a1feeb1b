//! The requests of an HTTP/1 connection, one after another.

use super::client_stream::ClientStream;
use pingora::apps::HttpServerApp;
use pingora::protocols::http::ServerSession;
use pingora::server::ShutdownWatch;
use std::sync::Arc;

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
    }
}
