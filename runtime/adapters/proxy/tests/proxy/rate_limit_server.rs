//! A server of Envoy's rate limit protocol that answers as a test says, also wrongly.

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, Response};
use prost::Message;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// What the server does with a call.
#[derive(Clone, Debug)]
pub(crate) enum Behaviour {
    /// Answers with this response.
    Answer(Answer),
    /// Answers with these bytes as a message.
    Bytes(Vec<u8>),
    /// Answers with this status of gRPC.
    Status(u16),
    /// Never answers.
    Silence,
    /// Breaks the connection.
    Break,
}

/// A response, with the tags of the protocol.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Answer {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    #[prost(message, repeated, tag = "2")]
    pub(crate) statuses: Vec<Status>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Status {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    #[prost(message, optional, tag = "2")]
    pub(crate) limit: Option<Limit>,
    #[prost(uint32, tag = "3")]
    pub(crate) remaining: u32,
    #[prost(message, optional, tag = "4")]
    pub(crate) reset: Option<Seconds>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Limit {
    #[prost(uint32, tag = "1")]
    pub(crate) count: u32,
    #[prost(int32, tag = "2")]
    pub(crate) unit: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Seconds {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Question {
    #[prost(string, tag = "1")]
    pub(crate) domain: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) descriptors: Vec<Descriptor>,
    #[prost(uint32, tag = "3")]
    pub(crate) hits: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Descriptor {
    #[prost(message, repeated, tag = "1")]
    pub(crate) entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Entry {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

struct Shared {
    behaviour: Mutex<Behaviour>,
    questions: Mutex<Vec<Question>>,
    connections: AtomicUsize,
    kill: Notify,
}

/// A server in a thread of its own. Its connections and its socket end when it is dropped.
pub(crate) struct RateLimitServer {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Option<tokio::runtime::Runtime>,
}

/// A response with one descriptor of a limit by the minute.
pub(crate) fn within(is_within: bool, remaining: u32, reset: i64) -> Behaviour {
    let code = if is_within { 1 } else { 2 };
    let status =
        Status { code, limit: Some(Limit { count: 100, unit: 2 }), remaining, reset: Some(Seconds { seconds: reset }) };
    Behaviour::Answer(Answer { code, statuses: vec![status] })
}

impl RateLimitServer {
    pub(crate) fn start(behaviour: Behaviour) -> Self {
        Self::over(behaviour, None)
    }

    /// The same with TLS.
    pub(crate) fn over(behaviour: Behaviour, tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            behaviour: Mutex::new(behaviour),
            questions: Mutex::default(),
            connections: AtomicUsize::new(0),
            kill: Notify::new(),
        });
        let of_server = Arc::clone(&shared);
        runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                of_server.connections.fetch_add(1, Ordering::SeqCst);
                let (shared, tls) = (Arc::clone(&of_server), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(socket, &shared).await,
                        Some(tls) => {
                            if let Ok(socket) = tokio_rustls::TlsAcceptor::from(tls).accept(socket).await {
                                serve(socket, &shared).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, shared, runtime: Some(runtime) }
    }

    pub(crate) fn behave(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock().unwrap() = behaviour;
    }

    /// The questions since the last call.
    pub(crate) fn questions(&self) -> Vec<Question> {
        std::mem::take(&mut *self.shared.questions.lock().unwrap())
    }

    /// How many connections there were.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Breaks the open connections.
    pub(crate) fn kill_connections(&self) {
        self.shared.kill.notify_waiters();
    }
}

impl Drop for RateLimitServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn serve(socket: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin, shared: &Arc<Shared>) {
    // Awaited from here on, so that it is not missed between two calls.
    let mut killed = pin!(shared.kill.notified());
    let Ok(mut connection) = h2::server::handshake(socket).await else { return };
    let broken = Arc::new(Notify::new());
    loop {
        let next = tokio::select! {
            next = connection.accept() => next,
            () = &mut killed => return,
            () = broken.notified() => return,
        };
        let Some(Ok((request, respond))) = next else { return };
        let (shared, broken) = (Arc::clone(shared), Arc::clone(&broken));
        tokio::spawn(async move {
            if answer(request, respond, &shared).await.is_none() {
                broken.notify_one();
            }
        });
    }
}

/// Answers a call. `None`: the connection is to be broken.
async fn answer(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    shared: &Shared,
) -> Option<()> {
    assert_eq!(request.uri().path(), "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");
    assert_eq!(request.headers()["content-type"], "application/grpc");
    let mut body = request.into_body();
    let mut bytes = BytesMut::new();
    while let Some(Ok(piece)) = body.data().await {
        bytes.extend_from_slice(&piece);
    }
    shared.questions.lock().unwrap().push(Question::decode(&bytes[5..]).unwrap());
    let behaviour = shared.behaviour.lock().unwrap().clone();
    let head = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
    let message = match behaviour {
        Behaviour::Break => return None,
        Behaviour::Silence => {
            std::future::pending::<()>().await;
            return Some(());
        }
        Behaviour::Status(status) => {
            let (mut head, ()) = head.into_parts();
            head.headers.insert("grpc-status", status.into());
            let _ = respond.send_response(Response::from_parts(head, ()), true);
            return Some(());
        }
        Behaviour::Answer(answer) => answer.encode_to_vec(),
        Behaviour::Bytes(bytes) => bytes,
    };
    let Ok(mut stream) = respond.send_response(head, false) else { return Some(()) };
    let mut framed = BytesMut::new();
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).unwrap());
    framed.extend_from_slice(&message);
    let _ = stream.send_data(framed.freeze(), false);
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", 0.into());
    let _ = stream.send_trailers(trailers);
    Some(())
}
