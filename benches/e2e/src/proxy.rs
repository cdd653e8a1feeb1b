//! One proxy for all engines but for what each does in its filters.

use crate::Failure;
use crate::builtin::{Internal, Twenty};
use crate::coprocessor::Asking;
use crate::jobs::Job;
use crate::policies;
use crate::script::Script;
use crate::token::Verifier;
use async_trait::async_trait;
use bytes::Bytes;
use celero::http::RequestContext;
use celero::{Engine as Celero, Env, RuleSet, Scratch};
use celero_benches::{HeadRules, Workload};
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

/// Where everybody is.
pub(crate) struct Places {
    pub(crate) listen: SocketAddr,
    pub(crate) upstream: SocketAddr,
    pub(crate) coprocessor: SocketAddr,
    pub(crate) threads: usize,
}

/// Who does the job.
enum Engine {
    None,
    Twenty(Box<Twenty>),
    Rules(Box<RuleSet<RequestContext<'static>, ()>>),
    Cel(HeadRules),
    Header,
    Guids,
    Jwt(Box<Verifier>),
    Strip(Internal),
    Script(Box<Script>),
    Coprocessor(Box<Asking>),
    Policy(Arc<Policy>),
}

impl Engine {
    fn new(job: &'static Job, engine: &str, places: &Places) -> Result<Self, Failure> {
        let twenty = || Workload::new("W9").expect("a workload");
        Ok(match (engine, job.name) {
            ("none", _) => Self::None,
            ("handwritten", "twenty" | "answered") => Self::Twenty(Box::new(Twenty::new())),
            ("handwritten", "header") => Self::Header,
            ("handwritten", "guids") => Self::Guids,
            ("handwritten", "jwt") => Self::Jwt(Box::new(Verifier::new())),
            ("handwritten", "strip") => Self::Strip(Internal::new()),
            ("celero", _) => {
                let engine = Celero::builder().tier(celero::Tier::Native).build();
                let env = Env::<RequestContext<'_>>::new();
                let rules =
                    twenty().sources().iter().fold(engine.rules(&env), |rules, source| rules.rule("", source, ()));
                Self::Rules(Box::new(rules.build()?))
            }
            ("cel", _) => Self::Cel(HeadRules::new(&twenty(), true)),
            ("cel_default", _) => Self::Cel(HeadRules::new(&twenty(), false)),
            ("rhai", name) => Self::Script(Box::new(Script::new(name, true))),
            ("rhai_no_interning", name) => Self::Script(Box::new(Script::new(name, false))),
            ("coprocessor", name) => Self::Coprocessor(Box::new(Asking::new(name, places.coprocessor))),
            (_, name) => Self::Policy(Arc::new(policies::load(name, engine)?)),
        })
    }
}

struct Proxy {
    job: &'static Job,
    engine: Engine,
    upstream: SocketAddr,
}

/// What a request carries along.
struct Carried {
    guard: Option<Guard>,
    matched: u64,
}

/// The header by which a request asks for the number of matches. Looking for it is not a part of the job.
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

/// The headers that a script set: what differs from what it was given.
fn set_by(script: &Script, headers: &HeaderMap) -> Result<Vec<(String, String)>> {
    let after = script.run(headers.clone()).map_err(bad)?;
    let new = after.iter().filter(|(name, value)| headers.get(*name) != Some(*value));
    new.map(|(name, value)| Ok((name.to_string(), value.to_str().map_err(bad)?.to_owned()))).collect()
}

impl Proxy {
    /// The rules that are true.
    fn count(&self, head: &RequestHeader, peer: SocketAddr) -> u64 {
        let ip: IpAddr = peer.ip();
        match &self.engine {
            Engine::Twenty(rules) => rules.count(head, ip),
            Engine::Rules(rules) => {
                let context = RequestContext::from_parts(head).with_source(peer);
                let count = SCRATCH.with_borrow_mut(|scratch| rules.count(&context, scratch));
                count.map_or(0, |count| count as u64)
            }
            Engine::Cel(rules) => rules.count(head, ip),
            _ => 0,
        }
    }
}

#[async_trait]
impl ProxyHttp for Proxy {
    type CTX = Carried;

    fn new_ctx(&self) -> Carried {
        let guard = match &self.engine {
            Engine::Policy(policy) => Some(Guard::new(policy.clone())),
            _ => None,
        };
        Carried { guard, matched: 0 }
    }

    async fn request_filter(&self, session: &mut Session, carried: &mut Carried) -> Result<bool> {
        if let Some(guard) = &mut carried.guard {
            if guard.request_filter(session).await? {
                return Ok(true);
            }
            if session.req_header().headers.contains_key(&ECHO)
                && let Engine::Policy(policy) = &self.engine
            {
                carried.matched = policy.counters().map(|(_, value)| value).sum();
            }
        } else {
            carried.matched = self.count(session.req_header(), peer(session));
        }
        if !self.job.answered {
            return Ok(false);
        }
        let mut head = ResponseHeader::build(200, Some(2))?;
        head.insert_header("content-length", "2")?;
        head.insert_header("x-matched", carried.matched)?;
        session.write_response_header(Box::new(head), false).await?;
        session.write_response_body(Some(Bytes::from_static(b"ok")), true).await?;
        Ok(true)
    }

    async fn upstream_peer(&self, _: &mut Session, _: &mut Carried) -> Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(self.upstream, false, String::new())))
    }

    async fn upstream_request_filter(
        &self,
        _: &mut Session,
        head: &mut RequestHeader,
        carried: &mut Carried,
    ) -> Result<()> {
        match &self.engine {
            Engine::Twenty(_) | Engine::Rules(_) | Engine::Cel(_) => {
                head.insert_header("x-matched", carried.matched)?
            }
            Engine::Policy(_) if head.headers.contains_key(&ECHO) => {
                head.insert_header("x-matched", carried.matched)?
            }
            Engine::Header => head.insert_header("x-gateway", "celero")?,
            Engine::Jwt(verifier) => {
                let claims = head.headers.get("authorization").and_then(|value| verifier.claims(value.as_bytes()));
                if let Some(claims) = claims {
                    head.insert_header("x-client-name", claims.client_name)?;
                    head.insert_header("x-client-version", claims.client_version)?;
                }
            }
            Engine::Strip(internal) => {
                for name in internal.of(&head.headers) {
                    head.remove_header(&name);
                }
            }
            Engine::Script(script) if self.job.name != "guids" => {
                let pairs = set_by(script, &head.headers)?;
                set_all(&mut |name, value| head.insert_header(name, value), pairs)?;
            }
            Engine::Coprocessor(asking) if self.job.name != "guids" => {
                let pairs = asking.ask(&head.headers).await.map_err(bad)?;
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
        carried: &mut Carried,
    ) -> Result<()> {
        match &self.engine {
            Engine::Policy(_) => carried.guard.as_mut().map_or(Ok(()), |guard| guard.response_filter(session, head)),
            Engine::Guids => {
                (0..10).try_for_each(|n| head.insert_header(format!("x-guid-{n}"), uuid::Uuid::new_v4().to_string()))
            }
            Engine::Script(script) if self.job.name == "guids" => {
                let pairs = set_by(script, &head.headers)?;
                set_all(&mut |name, value| head.insert_header(name, value), pairs)
            }
            Engine::Coprocessor(asking) if self.job.name == "guids" => {
                let pairs = asking.ask(&head.headers).await.map_err(bad)?;
                set_all(&mut |name, value| head.insert_header(name, value), pairs)
            }
            _ => Ok(()),
        }
    }
}

/// Runs a proxy until it is killed.
pub(crate) fn serve(job: &str, engine: &str, places: &Places) -> Result<(), Failure> {
    let job = Job::named(job).ok_or_else(|| format!("no job {job}"))?;
    if !job.engines.contains(&engine) {
        return Err(format!("{} is not done by {engine}", job.name).into());
    }
    let proxy = Proxy { job, engine: Engine::new(job, engine, places)?, upstream: places.upstream };
    let conf = ServerConf { threads: places.threads, upstream_keepalive_pool_size: 256, ..ServerConf::default() };
    let mut server = Server::new_with_opt_and_conf(None, conf);
    server.bootstrap();
    let mut service = http_proxy_service(&server.configuration, proxy);
    service.add_tcp(&places.listen.to_string());
    server.add_service(service);
    server.run_forever()
}
