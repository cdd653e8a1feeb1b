//! The layer, and the service with a policy.

use crate::body::{RequestBody, ResponseBody};
use crate::call::{ClientAddress, HostFacts, RequestState, Wait, run};
use crate::log_on_drop::LogSink;
use bytes::Bytes;
use celero_policy::{Context as Variables, Exchange, LivePolicy, LogFields};
use http::{Request, Response, request};
use http_body::Body;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_layer::Layer;
use tower_service::Service;

/// A [`Layer`] that runs a policy before and after a service. Cheap to clone.
#[derive(Clone)]
pub struct PolicyLayer {
    policy: Arc<LivePolicy>,
    host: HostFacts,
    sink: Option<LogSink>,
}

impl PolicyLayer {
    /// Returns a layer with this policy. The client's address is the request's extension of type
    /// [`SocketAddr`] or, with the feature `axum`, axum's `ConnectInfo<SocketAddr>`: see
    /// [`peer`](Self::peer) for other ways to find it.
    ///
    /// If the address is not found and the policy [reads it](celero_policy::Policy::reads_client),
    /// requests are answered with status 500 and a text that says so. Otherwise a rule that admits
    /// clients by their addresses would deny everybody, without a word.
    #[must_use]
    pub fn new(policy: Arc<LivePolicy>) -> Self {
        Self {
            policy,
            host: HostFacts {
                peer: ClientAddress::Found(Arc::new(of_extensions)),
                local: None,
                admits_connections: false,
                timer: None,
                attach: None,
            },
            sink: None,
        }
    }

    /// Sets the function that finds the client's address. For axum without the feature `axum`:
    /// `.peer(|head| Some(head.extensions.get::<ConnectInfo<SocketAddr>>()?.0))`, and serve with
    /// `into_make_service_with_connect_info::<SocketAddr>()`. For tonic:
    /// `.peer(|head| head.extensions.get::<TcpConnectInfo>()?.remote_addr())`.
    #[must_use]
    pub fn peer(mut self, find: impl Fn(&request::Parts) -> Option<SocketAddr> + Send + Sync + 'static) -> Self {
        self.host.peer = ClientAddress::Found(Arc::new(find));
        self
    }

    /// Says that clients have no addresses, as behind a Unix socket. `source.address` is then
    /// absent: rules that read it fail, and their phase's `onError` decides.
    #[must_use]
    pub fn without_peer(mut self) -> Self {
        self.host.peer = ClientAddress::None;
        self
    }

    /// Sets the function that finds the address at which a request was received:
    /// `destination.address` and `destination.port`. For a server with one socket:
    /// `.local(move |_| Some(address))`. Without it, or if it finds none, requests are answered
    /// with status 500 and a text that says so if the policy [reads this
    /// address](celero_policy::Policy::reads_destination).
    #[must_use]
    pub fn local(mut self, find: impl Fn(&request::Parts) -> Option<SocketAddr> + Send + Sync + 'static) -> Self {
        self.host.local = Some(Arc::new(find));
        self
    }

    /// Says that the server runs the phase `connection` for each connection that it accepts, with
    /// [`Policy::connection`](celero_policy::Policy::connection). A layer sees requests only, so
    /// without this requests are answered with status 500 and a text that says so if the policy has
    /// such rules.
    #[must_use]
    pub fn admits_connections(mut self) -> Self {
        self.host.admits_connections = true;
        self
    }

    /// Sets the timer with which requests wait for the delays of the policy:
    /// `.timer(tokio::time::sleep)`. A layer has none, so without this requests are answered with
    /// status 500 and a text that says so if the policy [has
    /// delays](celero_policy::Policy::has_delays).
    ///
    /// A server that shuts down gracefully can end delays early: its timer ends when the shutdown
    /// begins. If the server drops the call of a client that has left, as hyper does, the delay of
    /// its request ends too.
    #[must_use]
    pub fn timer<F>(mut self, sleep: impl Fn(Duration) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.host.timer = Some(Arc::new(move |time: Duration| -> Wait { Box::pin(sleep(time)) }));
        self
    }

    /// Sets the function that finds the values of the host's own variables for a request, for a
    /// policy that was [loaded](celero_policy::Loader::variables) for the same type. It reads the
    /// head as it was received, before the policy makes it canonical: use what other layers have put
    /// into its extensions, such as a session, rather than its path.
    ///
    /// A request for which it returns `None` is answered with status 500 and a text that says so if
    /// the policy was loaded for variables. So are all requests without such a function, or with
    /// one for another type.
    #[must_use]
    pub fn variables<E: Variables + Send + Sync + 'static>(
        self,
        find: impl Fn(&request::Parts) -> Option<Arc<E>> + Send + Sync + 'static,
    ) -> Self {
        self.attach(move |head, exchange| {
            if let Some(variables) = find(head) {
                exchange.set_variables(variables);
            }
        })
    }

    /// Sets the function that gives a request labels, which rules read as `labels.NAME` and may
    /// change: names and values. It reads the head as [`variables`](Self::variables) does.
    ///
    /// ```
    /// # fn layer(policy: std::sync::Arc<celero_policy::LivePolicy>) -> celero_tower::PolicyLayer {
    /// celero_tower::PolicyLayer::new(policy).labels(|head| {
    ///     [("h2", (head.version == http::Version::HTTP_2).to_string())]
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn labels<K: AsRef<str>, V: AsRef<str>, I: IntoIterator<Item = (K, V)>>(
        self,
        find: impl Fn(&request::Parts) -> I + Send + Sync + 'static,
    ) -> Self {
        self.attach(move |head, exchange| {
            find(head).into_iter().for_each(|(name, value)| exchange.set_label(name.as_ref(), value.as_ref()));
        })
    }

    /// Adds a function that attaches something to an exchange before its first phase.
    fn attach(mut self, attach: impl Fn(&request::Parts, &mut Exchange) + Send + Sync + 'static) -> Self {
        self.host.attach = Some(match self.host.attach.take() {
            None => Arc::new(attach),
            Some(before) => Arc::new(move |head, exchange| {
                before(head, exchange);
                attach(head, exchange);
            }),
        });
        self
    }

    /// Sets the function that receives the log fields of each request, when its response was sent
    /// or dropped. It runs on the thread that drops the response's body, so it should not block.
    #[must_use]
    pub fn on_log(self, sink: impl Fn(&LogFields) + Send + Sync + 'static) -> Self {
        Self { sink: Some(Arc::new(sink)), ..self }
    }
}

/// Returns the client's address that the server recorded in the extensions of a request.
fn of_extensions(head: &request::Parts) -> Option<SocketAddr> {
    let found = head.extensions.get::<SocketAddr>().copied();
    #[cfg(feature = "axum")]
    let found = found.or_else(|| Some(head.extensions.get::<axum::extract::ConnectInfo<SocketAddr>>()?.0));
    found
}

impl<S> Layer<S> for PolicyLayer {
    type Service = PolicyService<S>;

    fn layer(&self, inner: S) -> PolicyService<S> {
        PolicyService { layer: self.clone(), inner }
    }
}

impl fmt::Debug for PolicyLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyLayer").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// A service with a policy. Bodies must be [`Unpin`]; those of hyper, axum and tonic are.
#[derive(Clone, Debug)]
pub struct PolicyService<S> {
    layer: PolicyLayer,
    inner: S,
}

impl<S, B, R> Service<Request<B>> for PolicyService<S>
where
    S: Service<Request<RequestBody<B>>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Send,
    R: Body<Data = Bytes> + Unpin + Send + 'static,
{
    type Response = Response<ResponseBody<R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The service that is ready must be the one that is called, not its clone.
        let clone = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, clone);
        let PolicyLayer { policy, host, sink } = &self.layer;
        let state = RequestState::new(policy.current(), host.clone(), sink.clone());
        Box::pin(run(inner, state, request))
    }
}
