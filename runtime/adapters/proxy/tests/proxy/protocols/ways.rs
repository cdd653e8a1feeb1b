//! The ways in which a request comes.

use super::Seen;
use super::probes::{Probes, write_credentials};
use super::random_request::RandomRequest;
use super::served::Served;
use crate::certificates::{Authority, TlsConnection};
use crate::client::Client;
use crate::h2;
use crate::running::Running;
use bytes::Bytes;
use celero_policy::LivePolicy;
use celero_tower::PolicyLayer;
use http::header::HOST;
use http::{Request, Response, Uri, Version};
use http_body_util::{BodyExt, Full};
use serde_json::{Map, Value as Json, json};
use std::convert::Infallible;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// The name that clients of TLS ask for.
pub(super) const TLS_NAME: &str = "one.example";

/// A way in which a request comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Http1,
    Http1Absolute,
    Http2,
    Http1Tls,
    Http2Tls,
    TowerHttp1,
    TowerHttp1Absolute,
    TowerHttp2,
}

impl Way {
    pub(super) const ALL: [Self; 8] = [
        Self::Http1,
        Self::Http1Absolute,
        Self::Http2,
        Self::Http1Tls,
        Self::Http2Tls,
        Self::TowerHttp1,
        Self::TowerHttp1Absolute,
        Self::TowerHttp2,
    ];

    pub(super) fn has_tls(self) -> bool {
        matches!(self, Self::Http1Tls | Self::Http2Tls)
    }

    pub(super) fn version(self) -> &'static str {
        match self {
            Self::Http2 | Self::Http2Tls | Self::TowerHttp2 => "HTTP/2.0",
            _ => "HTTP/1.1",
        }
    }

    /// The scheme that rules read. A layer does not know whether its server has TLS, if that does not say so.
    pub(super) fn scheme(self) -> Option<&'static str> {
        match self {
            Self::Http1Tls | Self::Http2Tls => Some("https"),
            Self::Http1 | Self::Http1Absolute | Self::Http2 | Self::TowerHttp2 => Some("http"),
            Self::TowerHttp1 | Self::TowerHttp1Absolute => None,
        }
    }

    fn is_of_tower(self) -> bool {
        matches!(self, Self::TowerHttp1 | Self::TowerHttp1Absolute | Self::TowerHttp2)
    }
}

/// A proxy and a layer with one policy, and connections to the proxy.
pub(super) struct Ways {
    proxy: Running,
    layer: PolicyLayer,
    logged: Arc<Mutex<Vec<Map<String, Json>>>>,
    plain: Client<TcpStream>,
    tls: Client<TlsConnection>,
    tls_of_http2: Arc<rustls::ClientConfig>,
    /// The ports of the listeners without and with TLS.
    pub(super) ports: [u16; 2],
}

impl Ways {
    pub(super) fn new(probes: &Probes, upstream: &str) -> Self {
        let authority = Authority::new("tests");
        let tls = "certificates: [{ chain: one.pem, key: one.key }], clients: { authorities: authority.pem, required: false }";
        let config = format!(
            "listeners: [{{ address: 127.0.0.1:0, h2c: true }}, {{ address: 127.0.0.1:0, tls: {{ {tls} }} }}]\nmetrics: 127.0.0.1:0\n\
             policy: policy.yaml\naccessLog: access.log\nthreads: 1\n{upstream}"
        );
        let proxy = Running::with_files(&config, &probes.policy, |folder| {
            authority.server(&[TLS_NAME]).write(folder, "one");
            folder.write("authority.pem", &authority.pem());
            write_credentials(folder);
        });
        let ports = [proxy.addresses[0].port(), proxy.addresses[1].port()];
        let client = || authority.trust().with(&authority.client("ada", "spiffe://example/ada"));
        let logged = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&logged);
        let local = proxy.address;
        let layer = PolicyLayer::new(Arc::new(LivePolicy::load(proxy.folder.0.join("policy.yaml")).unwrap()))
            .peer(|_| Some(SocketAddr::from(([127, 0, 0, 1], 1))))
            .local(move |_| Some(local))
            .on_log(move |fields| {
                let fields = fields.iter().map(|(name, value)| (name.to_owned(), value.clone()));
                sink.lock().unwrap().push(fields.collect());
            });
        let tls_of_http2 = Arc::new(client().protocols(&["h2"]).config());
        Self {
            plain: Client::connect(proxy.address),
            tls: Client::over(client().connect(proxy.addresses[1], TLS_NAME).unwrap()),
            proxy,
            layer,
            logged,
            tls_of_http2,
            ports,
        }
    }

    /// Sends requests in each way. Returns for each way what became of each request.
    pub(super) fn send(&mut self, requests: &[RandomRequest]) -> Vec<(Way, Vec<Seen>)> {
        Way::ALL
            .into_iter()
            .map(|way| {
                let answers = self.answers(way, requests);
                let seen = answers.into_iter().zip(self.logs(way, requests.len())).zip(requests);
                let seen = seen.map(|((answer, fields), request)| {
                    assert_eq!(answer.0, 200, "{way:?} {request:?}: {}", answer.1.escape_ascii());
                    Seen { fields, served: Served::of(&answer.1) }
                });
                (way, seen.collect())
            })
            .collect()
    }

    /// Returns status and body of the answers.
    fn answers(&mut self, way: Way, requests: &[RandomRequest]) -> Vec<(u16, Vec<u8>)> {
        let http2 = |scheme: &str| -> Vec<_> {
            let request = |request: &RandomRequest| {
                let mut head = request.head(Version::HTTP_2, request.absolute(scheme));
                if let Some(host) = request.host_beside_authority() {
                    head = head.header(HOST, host);
                }
                head.body(request.body_bytes().to_vec()).unwrap()
            };
            requests.iter().map(request).collect()
        };
        let of_http2 = |responses: Vec<Response<Vec<u8>>>| -> Vec<_> {
            responses.into_iter().map(|response| (response.status().as_u16(), response.into_body())).collect()
        };
        match way {
            Way::Http1 => over(&mut self.plain, requests, false, "http"),
            Way::Http1Absolute => over(&mut self.plain, requests, true, "http"),
            Way::Http1Tls => over(&mut self.tls, requests, false, "https"),
            Way::Http2 => of_http2(h2::exchange(self.proxy.address, http2("http"))),
            Way::Http2Tls => {
                let config = Arc::clone(&self.tls_of_http2);
                of_http2(h2::over_tls(self.proxy.addresses[1], TLS_NAME, config, http2("https")))
            }
            Way::TowerHttp1 | Way::TowerHttp1Absolute | Way::TowerHttp2 => {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                requests.iter().map(|request| runtime.block_on(self.through_layer(way, request))).collect()
            }
        }
    }

    async fn through_layer(&self, way: Way, request: &RandomRequest) -> (u16, Vec<u8>) {
        let head = match way {
            Way::TowerHttp1 => request.head(Version::HTTP_11, request.target.parse().unwrap()),
            // `http::Uri` has no absolute-form of `*`: it gives `http://host` the path `/`.
            Way::TowerHttp1Absolute if request.target == "*" => request.head(Version::HTTP_11, Uri::from_static("*")),
            Way::TowerHttp1Absolute => request.head(Version::HTTP_11, request.absolute("http")),
            _ => request.head(Version::HTTP_2, request.absolute("http")),
        };
        let host = match way {
            Way::TowerHttp2 => request.host_beside_authority().map(str::to_owned),
            _ => Some(request.authority.to_owned()),
        };
        let mut head = host.into_iter().fold(head, |head, host| head.header(HOST, host));
        if request.is_chunked() && way != Way::TowerHttp2 {
            head = head.header("transfer-encoding", "chunked");
        }
        let body = Full::new(Bytes::copy_from_slice(request.body_bytes()));
        let mut service = self.layer.layer(Echo);
        let response = service.call(head.body(body).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        (status, response.into_body().collect().await.map(|body| body.to_bytes().to_vec()).unwrap_or_default())
    }

    /// Returns the log fields of the last requests, in their order.
    fn logs(&self, way: Way, count: usize) -> Vec<Map<String, Json>> {
        let mut entries = if way.is_of_tower() {
            std::mem::take(&mut *self.logged.lock().unwrap())
        } else {
            let entries = self.proxy.log(count);
            // The proxy appends to it.
            OpenOptions::new().write(true).open(self.proxy.folder.0.join("access.log")).unwrap().set_len(0).unwrap();
            let probed = |entry: Json| match entry {
                Json::Object(fields) => fields.into_iter().filter(|(name, _)| name.contains('|')).collect(),
                other => panic!("no log entry: {other}"),
            };
            entries.into_iter().map(probed).collect()
        };
        assert_eq!(entries.len(), count);
        let number = |fields: &Map<String, Json>| {
            let number = fields["request|cel|request.headers"]["x-number"].as_str();
            number.and_then(|number| number.parse::<usize>().ok()).unwrap()
        };
        entries.sort_by_key(number);
        entries
    }
}

fn over<S: Read + Write>(
    client: &mut Client<S>,
    requests: &[RandomRequest],
    is_absolute: bool,
    scheme: &str,
) -> Vec<(u16, Vec<u8>)> {
    let answer = |request: &RandomRequest| {
        let reply = client.send(request.http1(is_absolute, scheme)).reply();
        (reply.status, reply.body)
    };
    requests.iter().map(answer).collect()
}

/// A service that answers as the recorder does.
#[derive(Clone)]
struct Echo;

impl<B> Service<Request<B>> for Echo
where
    B: http_body_util::BodyExt<Data = Bytes> + Send + 'static,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (head, body) = request.into_parts();
        Box::pin(async move {
            let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            let text = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
            // As a proxy sends a body whose length is not known.
            let coding = (!head.headers.contains_key("content-length") && !body.is_empty()).then_some("chunked");
            let coding = coding.map(|coding| ("transfer-encoding", coding.to_owned()));
            let received = head.headers.iter().filter(|(name, _)| *name != "transfer-encoding");
            let headers: Vec<_> =
                received.map(|(name, value)| (name.as_str(), text(value.as_bytes()))).chain(coding).collect();
            let target = path_of(&head.uri);
            let echo = json!({
                "method": head.method.as_str(), "target": target, "headers": headers,
                "bodyLength": body.len(), "body": String::from_utf8_lossy(&body),
            })
            .to_string();
            Ok(Response::builder().header("content-length", echo.len()).body(Full::from(echo)).unwrap())
        })
    }
}

/// What a server of HTTP/1.1 would get as the target.
fn path_of(uri: &Uri) -> &str {
    uri.path_and_query().map_or("", |path| path.as_str())
}
