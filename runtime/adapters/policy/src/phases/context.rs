//! The variables that expressions read in each phase.

use crate::auth::LazyCredentials;
use crate::host::tls_hello::HelloFields;
use crate::phases::tls_connection::{TlsConnection, TlsFields};
use celero::host::Extension;
use celero::http::{Request, RequestHead, Source};
use celero::{Context, Value};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

/// The labels of a request.
pub(crate) type Labels = BTreeMap<Arc<str>, String>;

/// What the host and the rules of earlier phases attach to a request.
#[derive(Debug, Default, Context)]
pub(crate) struct Attributes {
    pub(crate) labels: Labels,
    /// The host's own variables. Reading them costs nothing where a policy has none: the reference
    /// to the labels leads to them.
    #[context(flatten)]
    pub(crate) variables: Extension,
}

/// The headers of what has none.
pub(crate) static NO_HEADERS: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);

/// How a request came, as far as its canonical head does not say so.
#[derive(Debug, Default)]
pub(crate) struct Arrival {
    /// Path and query as they were received, if they were not canonical.
    pub(crate) target: Option<Box<[u8]>>,
    /// The scheme of the connection, if the host knows it.
    pub(crate) scheme: Option<&'static str>,
}

impl Arrival {
    /// Returns what rules read of the head of the request.
    pub(crate) fn head<'a>(&'a self, head: &'a Parts) -> RequestHead<'a> {
        RequestHead::from_parts(head).with_raw_path(self.target.as_deref()).with_scheme(self.scheme)
    }
}

/// Who sent a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) address: Option<SocketAddr>,
    /// How that is known.
    pub(crate) via: &'static str,
}

/// The variables of the phase `connection`.
#[derive(Debug, Context)]
pub(crate) struct ConnectionData<'a> {
    #[context(nested)]
    pub(crate) source: Source,
    #[context(name = "source.via")]
    pub(crate) via: &'a str,
    #[context(nested, name = "source.tls")]
    pub(crate) hello: Option<&'a HelloFields>,
    #[context(nested)]
    pub(crate) destination: Source,
}

/// The variables of all phases of a request.
#[derive(Debug, Context)]
#[context(rename_all = "camelCase")]
pub(crate) struct CommonData<'a> {
    #[context(name = "request.startTime")]
    pub(crate) started: SystemTime,
    #[context(nested)]
    pub(crate) source: Source,
    #[context(name = "source.via")]
    pub(crate) via: &'a str,
    #[context(nested, name = "source.tls")]
    pub(crate) tls: Option<&'a TlsFields>,
    #[context(nested)]
    pub(crate) destination: Source,
    pub(crate) jwt: Value<'a>,
    pub(crate) api_key: Value<'a>,
    pub(crate) basic_auth: Value<'a>,
    pub(crate) client_cert: Value<'a>,
    #[context(flatten)]
    pub(crate) attributes: &'a Attributes,
}

impl<'a> CommonData<'a> {
    pub(crate) fn new(
        started: SystemTime,
        origin: Origin,
        local: Option<SocketAddr>,
        tls: Option<&'a TlsConnection>,
        proofs: &'a LazyCredentials<'_>,
        attributes: &'a Attributes,
    ) -> Self {
        let source = |address: Option<SocketAddr>| address.map_or_else(Source::default, Source::from);
        Self {
            started,
            source: source(origin.address),
            via: origin.via,
            tls: tls.map(TlsConnection::fields),
            destination: source(local),
            jwt: proofs.jwt.value(),
            api_key: proofs.api_key.value(),
            basic_auth: proofs.basic.value(),
            client_cert: proofs.client_cert.value(),
            attributes,
        }
    }
}

/// The variables of the phase `request`.
#[derive(Debug, Context)]
pub(crate) struct RequestData<'a> {
    #[context(nested)]
    pub(crate) request: RequestHead<'a>,
    #[context(flatten)]
    pub(crate) peer: CommonData<'a>,
}

/// The variables of the phase `requestBody`.
#[derive(Debug, Context)]
pub(crate) struct BodyData<'a> {
    #[context(nested)]
    pub(crate) request: Request<'a>,
    #[context(name = "request.bodyPrefix")]
    pub(crate) body_prefix: Option<&'a [u8]>,
    /// The method of gRPC whose messages rules read; empty if the request calls none.
    #[context(name = "request.grpcMethod")]
    pub(crate) grpc_method: &'a str,
    /// A message of the call.
    #[context(name = "request.message")]
    pub(crate) message: Option<Value<'a>>,
    #[context(flatten)]
    pub(crate) peer: CommonData<'a>,
}

/// The head of a response.
#[derive(Debug, Context)]
pub(crate) struct ResponseHead<'a> {
    /// Absent if no response was sent.
    pub(crate) code: Option<StatusCode>,
    pub(crate) headers: &'a HeaderMap,
}

/// The variables of the phase `response`.
#[derive(Debug, Context)]
pub(crate) struct ResponseData<'a> {
    #[context(nested)]
    pub(crate) request: RequestHead<'a>,
    #[context(nested)]
    pub(crate) response: ResponseHead<'a>,
    #[context(flatten)]
    pub(crate) peer: CommonData<'a>,
}

/// The variables of the phase `responseBody`.
#[derive(Debug, Context)]
pub(crate) struct ResponseBodyData<'a> {
    #[context(nested)]
    pub(crate) request: RequestHead<'a>,
    #[context(nested)]
    pub(crate) response: ResponseHead<'a>,
    #[context(name = "response.body")]
    pub(crate) body: Option<&'a [u8]>,
    #[context(name = "response.bodyPrefix")]
    pub(crate) body_prefix: Option<&'a [u8]>,
    /// The method of gRPC whose messages rules read; empty if the response has none of these.
    #[context(name = "request.grpcMethod")]
    pub(crate) grpc_method: &'a str,
    /// A message of the response.
    #[context(name = "response.message")]
    pub(crate) message: Option<Value<'a>>,
    #[context(flatten)]
    pub(crate) peer: CommonData<'a>,
}

/// The variables of the phase `log`.
#[derive(Debug, Context)]
pub(crate) struct LogData<'a> {
    #[context(nested)]
    pub(crate) request: RequestHead<'a>,
    #[context(name = "request.duration")]
    pub(crate) duration: Duration,
    #[context(nested)]
    pub(crate) response: ResponseHead<'a>,
    #[context(name = "response.bytesSent")]
    pub(crate) bytes_sent: i64,
    #[context(flatten)]
    pub(crate) peer: CommonData<'a>,
}
