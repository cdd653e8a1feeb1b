//! The host's own data in a policy: a proxy sets it for each request, and rules of all phases read it.
#![expect(clippy::unwrap_used, reason = "tests")]

use async_trait::async_trait;
use celero_pingora::Guard;
use celero_policy::Policy;
use pingora::http::ResponseHeader;
use pingora::prelude::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

#[derive(celero::Context)]
struct Tenant {
    name: String,
    seats: u32,
}

const POLICY: &str = "
request:
- {when: tenant.seats > 5u && plan(tenant.name) == 'free', deny: 402}
response:
- setHeaders: {x-tenant: '${tenant.name}'}
";

struct Proxy {
    policy: Arc<Policy>,
    server: String,
}

#[async_trait]
impl ProxyHttp for Proxy {
    type CTX = Guard;

    fn new_ctx(&self) -> Guard {
        Guard::new(Arc::clone(&self.policy))
    }

    async fn request_filter(&self, session: &mut Session, guard: &mut Guard) -> Result<bool> {
        let text = |name: &str| session.req_header().headers.get(name)?.to_str().ok();
        if let (Some(name), Some(seats)) = (text("tenant"), text("seats").and_then(|seats| seats.parse().ok())) {
            guard.set_variables(Arc::new(Tenant { name: name.to_owned(), seats }));
        }
        guard.request_filter(session).await
    }

    async fn upstream_peer(&self, _: &mut Session, _: &mut Guard) -> Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(self.server.as_str(), false, String::new())))
    }

    async fn response_filter(&self, session: &mut Session, head: &mut ResponseHeader, guard: &mut Guard) -> Result<()> {
        guard.response_filter(session, head)
    }
}

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let _ = stream.read(&mut [0; 4096])?;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nhello\n")
}

fn ask(proxy: &str, headers: &str) -> String {
    let mut stream = (0..100)
        .find_map(|_| TcpStream::connect(proxy).map_err(|_| std::thread::sleep(Duration::from_millis(50))).ok())
        .unwrap();
    write!(stream, "GET / HTTP/1.1\r\nhost: shop.example\r\n{headers}connection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn rules_read_what_the_proxy_sets_for_each_request() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    std::thread::spawn(move || server.incoming().flatten().for_each(|stream| _ = serve(stream)));
    let listen = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let loader = Policy::loader()
        .function("plan", |tenant: &str| if tenant == "acme" { "pro" } else { "free" })
        .variables_under::<Tenant>("tenant");
    let policy = Arc::new(loader.parse("policy.yaml", POLICY, ".".as_ref()).unwrap());
    let mut pingora = Server::new(None).unwrap();
    pingora.bootstrap();
    let mut service = http_proxy_service(&pingora.configuration, Proxy { policy, server: address });
    service.add_tcp(&listen);
    pingora.add_service(service);
    std::thread::spawn(move || pingora.run_forever());

    for (headers, status, tenant) in [
        ("tenant: acme\r\nseats: 9\r\n", "200", Some("acme")),
        ("tenant: initech\r\nseats: 5\r\n", "200", Some("initech")),
        ("tenant: initech\r\nseats: 6\r\n", "402", None),
        ("", "500", None),
    ] {
        let response = ask(&listen, headers).to_lowercase();
        assert!(response.starts_with(&format!("http/1.1 {status} ")), "{headers}{response}");
        let shown = response.lines().find_map(|line| line.strip_prefix("x-tenant: "));
        assert!(tenant.is_none() || shown == tenant, "{headers}{response}");
    }
}
