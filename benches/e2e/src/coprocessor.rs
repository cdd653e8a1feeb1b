//! The jobs in a separate process. The proxy sends a message's headers as JSON over HTTP on
//! loopback, as Apollo Router does with its coprocessors, and gets back the headers to set.

use crate::Failure;
use crate::token::Verifier;
use crate::upstream::serve_with;
use bytes::Bytes;
use http::HeaderMap;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::LazyLock;

#[derive(Deserialize, Serialize)]
struct Message {
    job: String,
    headers: BTreeMap<String, Vec<String>>,
}

/// The headers to set.
#[derive(Default, Deserialize, Serialize)]
struct Reply {
    set: Vec<(String, String)>,
}

static VERIFIER: LazyLock<Verifier> = LazyLock::new(Verifier::new);

fn work(message: &Message) -> Reply {
    let set = match message.job.as_str() {
        "header" => vec![("x-gateway".to_owned(), "celero".to_owned())],
        "guids" => (0..10).map(|n| (format!("x-guid-{n}"), uuid::Uuid::new_v4().to_string())).collect(),
        "jwt" => {
            let authorization = message.headers.get("authorization").and_then(|values| values.first());
            let claims = authorization.and_then(|value| VERIFIER.claims(value.as_bytes()));
            let pair = |c: crate::token::Claims| {
                vec![("x-client-name".to_owned(), c.client_name), ("x-client-version".to_owned(), c.client_version)]
            };
            claims.map(pair).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    Reply { set }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let reply = serde_json::from_slice::<Message>(&body).map(|message| work(&message)).unwrap_or_default();
    Ok(Response::new(Full::from(serde_json::to_vec(&reply).unwrap_or_default())))
}

pub(crate) fn serve(listen: SocketAddr) -> Result<(), Failure> {
    serve_with(listen, answer)
}

/// The proxy's side of the protocol.
pub(crate) struct CoprocessorClient {
    client: Client<HttpConnector, Full<Bytes>>,
    uri: http::Uri,
    job: String,
}

impl CoprocessorClient {
    pub(crate) fn new(job: &str, coprocessor: SocketAddr) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let uri = format!("http://{coprocessor}/").parse().expect("a URI");
        Self { client: Client::builder(TokioExecutor::new()).build(connector), uri, job: job.to_owned() }
    }

    /// Sends the headers of a message, and returns the headers to set.
    pub(crate) async fn ask(&self, headers: &HeaderMap) -> Result<Vec<(String, String)>, Failure> {
        let mut message = Message { job: self.job.clone(), headers: BTreeMap::new() };
        for (name, value) in headers {
            let values = message.headers.entry(name.to_string()).or_default();
            values.push(String::from_utf8_lossy(value.as_bytes()).into_owned());
        }
        let body = Full::from(serde_json::to_vec(&message)?);
        let request = Request::post(self.uri.clone()).header("content-type", "application/json").body(body)?;
        let answer = self.client.request(request).await?.into_body().collect().await?.to_bytes();
        Ok(serde_json::from_slice::<Reply>(&answer)?.set)
    }
}
