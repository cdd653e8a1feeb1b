//! The layer, and the service with a policy.

use crate::body::{RequestBody, ResponseBody};
use crate::call::{FindClient, RequestState, run};
use crate::log_on_drop::LogSink;
use bytes::Bytes;
use celero_policy::{LivePolicy, LogFields};
use http::{Request, Response, request};
use http_body::Body;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// A [`Layer`] that runs a policy before and after a service. Cheap to clone.
#[derive(Clone)]
pub struct PolicyLayer {
    policy: Arc<LivePolicy>,
    peer: FindClient,
    sink: Option<LogSink>,
}

impl PolicyLayer {
    /// Returns a layer with this policy. The client's address is the request's extension of type [`SocketAddr`], if there is one: see
    /// [`peer`](Self::peer) for other ways to find it.
    #[must_use]
    pub fn new(policy: Arc<LivePolicy>) -> Self {
        let peer: FindClient = Arc::new(|head| head.extensions.get::<SocketAddr>().copied());
        Self { policy, peer, sink: None }
    }

    /// Sets the function that finds the client's address. For axum: `.peer(|head| Some(head.extensions.get::<ConnectInfo<SocketAddr>>()?.0))`.
    #[must_use]
    pub fn peer(self, find: impl Fn(&request::Parts) -> Option<SocketAddr> + Send + Sync + 'static) -> Self {
        Self { peer: Arc::new(find), ..self }
    }

    /// Sets the function that receives the log fields of each request, when its response was sent or dropped. It runs on the thread
    /// that drops the response's body, so it should not block.
    #[must_use]
    pub fn on_log(self, sink: impl Fn(&LogFields) + Send + Sync + 'static) -> Self {
        Self { sink: Some(Arc::new(sink)), ..self }
    }
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
        let PolicyLayer { policy, peer, sink } = &self.layer;
        let state = RequestState::new(policy.current(), Arc::clone(peer), sink.clone());
        Box::pin(run(inner, state, request))
    }
}
