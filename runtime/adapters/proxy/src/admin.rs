//! The listener for operators: `/metrics`.

use crate::metrics;
use crate::state::State;
use async_trait::async_trait;
use http::{Response, header};
use pingora::apps::http_app::ServeHttp;
use pingora::protocols::http::ServerSession;
use std::sync::Arc;

/// Serves the metrics.
pub(crate) struct Admin {
    pub(crate) state: Arc<State>,
}

#[async_trait]
impl ServeHttp for Admin {
    async fn response(&self, session: &mut ServerSession) -> Response<Vec<u8>> {
        let (status, body) = match session.req_header().uri.path() {
            "/metrics" => {
                let dropped = self.state.log.as_ref().map_or(0, |log| log.dropped());
                (200, metrics::render(&self.state.metrics, &self.state.current(), dropped))
            }
            _ => (404, "only /metrics exists here\n".to_owned()),
        };
        let response = Response::builder()
            .status(status)
            .header(header::CONTENT_TYPE, "text/plain; version=0.0.4")
            .header(header::CONTENT_LENGTH, body.len())
            .body(body.into_bytes());
        response.unwrap_or_default()
    }
}
