//! The proxy that is measured: the same for all engines but for what each does in its filters.

use crate::Failure;
use crate::builtin::{InternalHeaders, TwentyRules};
use crate::coprocessor::CoprocessorClient;
use crate::jobs::Job;
use crate::policies;
use crate::script::Script;
use crate::token::Verifier;
use async_trait::async_trait;
use bytes::Bytes;
use celero::http::RequestContext;
use celero::{Engine, Env, ErrorPolicy, RuleSet, Scratch};
use celero_benches::{HeadRules, Workload};
use celero_canonical::{GuardedNames, Options, canonical_changes};
use celero_pingora::Guard;
use celero_policy::Policy;
use http::{HeaderMap, HeaderName};
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::prelude::{Error, ErrorType, HttpPeer, Result, Server};
use pingora::proxy::{ProxyHttp, Session, http_proxy_service};
use pingora::server::configuration::ServerConf;
use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// The addresses of a proxy and its peers, and the proxy's threads.
pub(crate) struct Addresses {
    pub(crate) listen: SocketAddr,
    pub(crate) upstream: SocketAddr,
    pub(crate) coprocessor: SocketAddr,
    pub(crate) threads: usize,
}

/// What does the job.
enum JobEngine {
    None,
    Twenty(Box<TwentyRules>),
    Rules(Box<RuleSet<RequestContext<'static>, ()>>),
    Cel(HeadRules),
    Header,
    Guids,
    Jwt(Box<Verifier>),
    Strip(InternalHeaders),
    Script(Box<Script>),
    Coprocessor(Box<CoprocessorClient>),
    Policy(Arc<Policy>),
}

impl JobEngine {
    fn new(job: &'static Job, engine: &str, addresses: &Addresses) -> Result<Self, Failure> {
        let twenty = || Workload::new("W9").expect("a workload");
        Ok(match (engine, job.name) {
            ("none", _) => Self::None,
            ("handwritten", "twenty" | "answered") => Self::Twenty(Box::new(TwentyRules::new())),
            ("handwritten", "header") => Self::Header,
            ("handwritten", "guids") => Self::Guids,
            ("handwritten", "jwt") => Self::Jwt(Box::new(Verifier::new())),
            ("handwritten", "strip") => Self::Strip(InternalHeaders::new()),
            ("celero", _) => {
                let engine = Engine::builder().tier(celero::Tier::Native).build();
                let env = Env::<RequestContext<'_>>::new();
                let rules = twenty()
                    .sources()
                    .iter()
                    .fold(engine.rules(&env).on_error(ErrorPolicy::NoMatch), |rules, source| {
                        rules.rule("", source, ())
                    });
                Self::Rules(Box::new(rules.build()?))
            }
            ("cel", _) => Self::Cel(HeadRules::new(&twenty(), true)),
            ("cel_default", _) => Self::Cel(HeadRules::new(&twenty(), false)),
            ("rhai", name) => Self::Script(Box::new(Script::new(name, true))),
            ("rhai_no_interning", name) => Self::Script(Box::new(Script::new(name, false))),
            ("coprocessor", name) => Self::Coprocessor(Box::new(CoprocessorClient::new(name, addresses.coprocessor))),
            (_, name) => Self::Policy(Arc::new(policies::load(name, engine)?)),
        })
    }
}

struct Proxy {
    job: &'static Job,
    engine: JobEngine,
    upstream: SocketAddr,
    /// What makes requests canonical, as a policy does it.
    canonical: (Options, GuardedNames),
}

/// State of one request.
struct RequestState {
    guard: Option<Guard>,
    matched: u64,
}

/// A request with this header gets the number of matches back: it is how `check.rs` looks at a
/// proxy, and no part of the job.
static ECHO: HeaderName = HeaderName::from_static("x-echo");

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new());
}

fn peer(session: &Session) -> SocketAddr {
    let unknown = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    session.client_addr().and_then(|address| address.as_inet()).copied().unwrap_or(unknown)
}

fn bad(what: impl std::fmt::Display) -> Box<Error> {
    Error::explain(ErrorType::InternalError, what.to_string())
}

fn set_all(head: &mut impl FnMut(String, String) -> Result<()>, pairs: Vec<(String, String)>) -> Result<()> {
    pairs.into_iter().try_for_each(|(name, value)| head(name, value))
}

/// The headers that a script set: those that differ from the headers that it was given.
fn set_by(script: &Script, headers: &HeaderMap) -> Result<Vec<(String, String)>> {
    let after = script.run(headers.clone()).map_err(bad)?;
    let new = after.iter().filter(|(name, value)| headers.get(*name) != Some(*value));
    new.map(|(name, value)| Ok((name.to_string(), value.to_str().map_err(bad)?.to_owned()))).collect()
}

impl Proxy {
    /// Checks that a request is in the canonical form, which policies make of every request. Those
    /// of the jobs are in it.
    fn check_canonical(&self, head: &RequestHeader) -> Result<()> {
        let (options, guarded) = &self.canonical;
        match canonical_changes(head, None, options, guarded) {
            // The fields of the connection may have to go, which Pingora does itself.
            Ok(changes) if changes.uri().is_none() && changes.set_fields().is_empty() => Ok(()),
            _ => Error::e_explain(ErrorType::HTTPStatus(400), "the request is not canonical"),
        }
    }

    /// How many of the twenty rules are true.
    fn count(&self, head: &RequestHeader, peer: SocketAddr) -> u64 {
        let ip: IpAddr = peer.ip();
        match &self.engine {
            JobEngine::Twenty(rules) => rules.count(head, ip),
            JobEngine::Rules(rules) => {
                let context = RequestContext::from_parts(head).with_source(peer);
                let count = SCRATCH.with_borrow_mut(|scratch| rules.count(&context, scratch));
                count.map_or(0, |count| count as u64)
            }
            JobEngine::Cel(rules) => rules.count(head, ip),
            _ => 0,
        }
    }
}

#[async_trait]
impl ProxyHttp for Proxy {
    type CTX = RequestState;

    fn new_ctx(&self) -> RequestState {
        let guard = match &self.engine {
            JobEngine::Policy(policy) => Some(Guard::new(policy.clone())),
            _ => None,
        };
        RequestState { guard, matched: 0 }
    }

    async fn request_filter(&self, session: &mut Session, state: &mut RequestState) -> Result<bool> {
        if let Some(guard) = &mut state.guard {
            if guard.request_filter(session).await? {
                return Ok(true);
            }
            if session.req_header().headers.contains_key(&ECHO)
                && let JobEngine::Policy(policy) = &self.engine
            {
                state.matched = policy.counters().map(|(_, value)| value).sum();
            }
        } else if !matches!(self.engine, JobEngine::None) {
            self.check_canonical(session.req_header())?;
            state.matched = self.count(session.req_header(), peer(session));
        }
        if !self.job.answered {
            return Ok(false);
        }
        let mut head = ResponseHeader::build(200, Some(2))?;
        head.insert_header("content-length", "2")?;
        head.insert_header("x-matched", state.matched)?;
        session.write_response_header(Box::new(head), false).await?;
        session.write_response_body(Some(Bytes::from_static(b"ok")), true).await?;
        Ok(true)
    }

    async fn upstream_peer(&self, _: &mut Session, _: &mut RequestState) -> Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(self.upstream, false, String::new())))
    }

    async fn upstream_request_filter(
        &self,
        _: &mut Session,
        head: &mut RequestHeader,
        state: &mut RequestState,
    ) -> Result<()> {
        match &self.engine {
            JobEngine::Twenty(_) | JobEngine::Rules(_) | JobEngine::Cel(_) => {
                head.insert_header("x-matched", state.matched)?
            }
            JobEngine::Policy(_) if head.headers.contains_key(&ECHO) => {
                head.insert_header("x-matched", state.matched)?
            }
            JobEngine::Header => head.insert_header("x-gateway", "celero")?,
            JobEngine::Jwt(verifier) => {
                let claims = head.headers.get("authorization").and_then(|value| verifier.claims(value.as_bytes()));
                if let Some(claims) = claims {
                    head.insert_header("x-client-name", claims.client_name)?;
                    head.insert_header("x-client-version", claims.client_version)?;
                }
            }
            JobEngine::Strip(internal) => {
                for name in internal.find(&head.headers) {
                    head.remove_header(&name);
                }
            }
            JobEngine::Script(script) if self.job.name != "guids" => {
                let pairs = set_by(script, &head.headers)?;
                set_all(&mut |name, value| head.insert_header(name, value), pairs)?;
            }
            JobEngine::Coprocessor(client) if self.job.name != "guids" => {
                let pairs = client.ask(&head.headers).await.map_err(bad)?;
                set_all(&mut |name, value| head.insert_header(name, value), pairs)?;
            }
            _ => {}
        }
        Ok(())
    }

    async fn response_filter(
        &self,
        session: &mut Session,
        head: &mut ResponseHeader,
        state: &mut RequestState,
    ) -> Result<()> {
        match &self.engine {
            JobEngine::Policy(_) => state.guard.as_mut().map_or(Ok(()), |guard| guard.response_filter(session, head)),
            JobEngine::Guids => {
                (0..10).try_for_each(|n| head.insert_header(format!("x-guid-{n}"), uuid::Uuid::new_v4().to_string()))
            }
            JobEngine::Script(script) if self.job.name == "guids" => {
                let pairs = set_by(script, &head.headers)?;
                set_all(&mut |name, value| head.insert_header(name, value), pairs)
            }
            JobEngine::Coprocessor(client) if self.job.name == "guids" => {
                let pairs = client.ask(&head.headers).await.map_err(bad)?;
                set_all(&mut |name, value| head.insert_header(name, value), pairs)
            }
            _ => Ok(()),
        }
    }
}

/// Runs a proxy until it is killed.
pub(crate) fn serve(job: &str, engine: &str, addresses: &Addresses) -> Result<(), Failure> {
    let job = Job::named(job).ok_or_else(|| format!("no job {job}"))?;
    if !job.engines.contains(&engine) {
        return Err(format!("{} is not done by {engine}", job.name).into());
    }
    let engine = JobEngine::new(job, engine, addresses)?;
    let canonical = (Options::default(), GuardedNames::default());
    let proxy = Proxy { job, engine, upstream: addresses.upstream, canonical };
    let conf = ServerConf { threads: addresses.threads, upstream_keepalive_pool_size: 256, ..ServerConf::default() };
    let mut server = Server::new_with_opt_and_conf(None, conf);
    server.bootstrap();
    let mut service = http_proxy_service(&server.configuration, proxy);
    service.add_tcp(&addresses.listen.to_string());
    server.add_service(service);
    server.run_forever()
}
