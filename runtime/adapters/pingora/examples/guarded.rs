//! A proxy of one server with a policy: as little as it takes.
//!
//! ```console
//! $ cargo run -p celero-pingora --example guarded -- examples/proxy-policy.yaml 127.0.0.1:9000
//! $ curl -i http://127.0.0.1:6188/
//! ```

use async_trait::async_trait;
use celero_pingora::Guard;
use celero_policy::LivePolicy;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::prelude::*;
use pingora::proxy::FailToProxy;
use std::io::Write;
use std::path::Path;

struct Guarded {
    policy: LivePolicy,
    server: String,
}

#[async_trait]
impl ProxyHttp for Guarded {
    type CTX = Guard;

    fn new_ctx(&self) -> Guard {
        Guard::new(self.policy.current())
    }

    async fn request_filter(&self, session: &mut Session, guard: &mut Guard) -> Result<bool> {
        guard.request_filter(session).await
    }

    async fn upstream_peer(&self, _: &mut Session, _: &mut Guard) -> Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(self.server.as_str(), false, String::new())))
    }

    async fn upstream_request_filter(
        &self,
        session: &mut Session,
        head: &mut RequestHeader,
        guard: &mut Guard,
    ) -> Result<()> {
        guard.upstream_request_filter(session, head)
    }

    async fn response_filter(
        &self,
        session: &mut Session,
        response: &mut ResponseHeader,
        guard: &mut Guard,
    ) -> Result<()> {
        guard.response_filter(session, response)
    }

    fn error_while_proxy(
        &self,
        _: &HttpPeer,
        session: &mut Session,
        mut error: Box<Error>,
        guard: &mut Guard,
        _: bool,
    ) -> Box<Error> {
        guard.error_while_proxy(session);
        error.set_retry(false);
        error
    }

    async fn fail_to_proxy(&self, session: &mut Session, _: &Error, guard: &mut Guard) -> FailToProxy {
        if let Some(sent) = guard.fail_to_proxy(session).await {
            return sent;
        }
        let _ = session.respond_error(502).await;
        FailToProxy { error_code: 502, can_reuse_downstream: false }
    }

    async fn logging(&self, session: &mut Session, _: Option<&Error>, guard: &mut Guard) {
        let _ = writeln!(std::io::stdout(), "{}", guard.log(session));
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (policy, server) = arguments.next().zip(arguments.next()).ok_or("usage: guarded POLICY SERVER")?;
    let policy = LivePolicy::load(Path::new(&policy))?;
    let mut pingora = Server::new(None)?;
    pingora.bootstrap();
    let mut service = http_proxy_service(&pingora.configuration, Guarded { policy, server });
    service.add_tcp("127.0.0.1:6188");
    pingora.add_service(service);
    pingora.run_forever();
}
