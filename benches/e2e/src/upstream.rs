//! The server behind the proxies: answers `ok`, and to requests with `x-echo` what it received.

use crate::Failure;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response};
use std::convert::Infallible;
use std::net::SocketAddr;

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    if !request.headers().contains_key("x-echo") {
        return Ok(Response::new(Full::from("ok")));
    }
    let line = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes()))
    };
    Ok(Response::new(Full::from(request.headers().iter().map(line).collect::<String>())))
}

pub(crate) fn serve(listen: SocketAddr) -> Result<(), Failure> {
    serve_with(listen, answer)
}

/// A server of one thread.
pub(crate) fn serve_with<F, R>(listen: SocketAddr, answer: F) -> Result<(), Failure>
where
    F: Fn(Request<Incoming>) -> R + Copy + Send + 'static,
    R: Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(listen).await?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let service = hyper::service::service_fn(answer);
            let io = hyper_util::rt::TokioIo::new(stream);
            // A connection that breaks is the client's affair.
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(io, service));
        }
    })
}
