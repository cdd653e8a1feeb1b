//! Asks the services that count limits of many machines, by the protocol of Envoy's rate limit service.
//!
//! A service has one connection, which all its calls share and which is opened again when it
//! breaks. A call has a deadline, calls are bounded in number, and a service that keeps failing is
//! not called for `pause`: requests then have what `onUnavailable` of their limit says, at once.

mod breaker;
mod messages;

use crate::config::{Config, RateLimitService};
use crate::error::Error;
use crate::tls::client_of;
use breaker::Breaker;
use celero_policy::{Policy, RemoteAnswer, RemoteLimits, RemoteQuestion, RemoteReply, Unavailable};
use http::uri::PathAndQuery;
use messages::{Code, Descriptor, DescriptorStatus, Entry, RateLimitRequest, RateLimitResponse, Unit};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::Semaphore;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic_prost::ProstCodec;

/// The largest answer of a service, in bytes.
const LARGEST_ANSWER: usize = 64 << 10;

/// How often an idle connection is tested, and how long its answer, or a handshake of TLS, may take.
const PING: Duration = Duration::from_secs(10);

/// What became of calls: the values of the label `result`.
pub(crate) const RESULTS: [&str; 6] = ["within", "above", "failed", "timeout", "refused", "skipped"];

/// The services of a configuration.
#[derive(Debug)]
pub(crate) struct RateLimits {
    services: Vec<Arc<Service>>,
}

/// A service.
pub(crate) struct Service {
    config: RateLimitService,
    endpoint: Endpoint,
    /// Opened by the first call, because that runs where connections are served.
    channel: OnceLock<Channel>,
    open: Arc<Semaphore>,
    breaker: Breaker,
    counts: [AtomicU64; RESULTS.len()],
    /// Since when they are counted.
    since: SystemTime,
}

/// What became of a call, in the order of [`RESULTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallResult {
    Within,
    Above,
    /// An error, or an answer that says nothing.
    Failed,
    Timeout,
    /// Too many calls were open.
    Refused,
    /// The service has failed too often.
    Skipped,
}

impl RateLimits {
    /// Prepares the services of a configuration. Those that are the same as `before` are kept, with their connections.
    ///
    /// # Errors
    /// A limit of the policy names a service that the configuration does not have, or the files of
    /// a service can't be read.
    pub(crate) fn new(config: &Config, policy: &Policy, before: Option<&Self>) -> Result<Self, Error> {
        check(config, policy)?;
        let mut services = Vec::with_capacity(config.rate_limit_services.len());
        for wanted in &config.rate_limit_services {
            // Files of certificates may have changed.
            let known = before.and_then(|before| before.services.iter().find(|known| known.config == *wanted));
            services.push(match known.filter(|known| known.config.tls.is_none()) {
                Some(known) => Arc::clone(known),
                None => Arc::new(Service::new(wanted)?),
            });
        }
        Ok(Self { services })
    }

    /// Returns the services.
    pub(crate) fn services(&self) -> &[Arc<Service>] {
        &self.services
    }
}

/// Reports a limit of the policy whose service the configuration does not have, and files that can't be read.
pub(crate) fn check(config: &Config, policy: &Policy) -> Result<(), Error> {
    let known: Vec<&str> = config.rate_limit_services.iter().map(|service| &*service.name).collect();
    for (limit, service) in policy.remote_services() {
        if !known.contains(&service) {
            let have = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
            return Err(Error::new(format!(
                "error: the limit `{limit}` of the policy asks the service `{service}`, which is not in `rateLimitServices` of the configuration: {have}"
            )));
        }
    }
    config.rate_limit_services.iter().try_for_each(|service| Service::new(service).map(drop))
}

impl RemoteLimits for RateLimits {
    fn ask(&self, question: RemoteQuestion) -> RemoteReply {
        let service = self.services.iter().find(|service| *service.config.name == *question.service).cloned();
        Box::pin(async move {
            match service {
                Some(service) => service.ask(question).await,
                None => Err(Unavailable),
            }
        })
    }
}

impl Service {
    fn new(config: &RateLimitService) -> Result<Self, Error> {
        let scheme = if config.tls.is_some() { "https" } else { "http" };
        let wrong = |error: tonic::transport::Error| {
            let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Error::new(format!("error: the rate limit service `{}` can't be used: {why}", config.name))
        };
        let endpoint = Endpoint::from_shared(format!("{scheme}://{}", config.address)).map_err(wrong)?;
        let mut endpoint = endpoint
            .connect_timeout(config.timeout)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(PING)
            .keep_alive_timeout(PING)
            .keep_alive_while_idle(true);
        if let Some(tls) = &config.tls {
            // A call that gives up does not end the handshake, and the next call would wait for the same.
            endpoint = endpoint.tls_config(client_of(tls)?.timeout(PING)).map_err(wrong)?;
        }
        Ok(Self {
            endpoint,
            channel: OnceLock::new(),
            open: Arc::new(Semaphore::new(config.concurrent)),
            breaker: Breaker::new(config.failures, config.pause),
            counts: [const { AtomicU64::new(0) }; RESULTS.len()],
            since: SystemTime::now(),
            config: config.clone(),
        })
    }

    /// Returns the name of the service.
    pub(crate) fn name(&self) -> &str {
        &self.config.name
    }

    /// Returns how many calls had each of the [`RESULTS`].
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        RESULTS.into_iter().zip(self.counts.iter().map(|counter| counter.load(Ordering::Relaxed)))
    }

    /// Returns since when the calls are counted.
    pub(crate) fn since(&self) -> SystemTime {
        self.since
    }

    /// Returns whether the service is not called because it has failed too often.
    pub(crate) fn is_skipped(&self) -> bool {
        self.breaker.is_open(Instant::now())
    }

    async fn ask(&self, question: RemoteQuestion) -> Result<RemoteAnswer, Unavailable> {
        let (result, answer) = self.call(question).await;
        if let Some(counter) = self.counts.get(result as usize) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        answer.ok_or(Unavailable)
    }

    async fn call(&self, question: RemoteQuestion) -> (CallResult, Option<RemoteAnswer>) {
        // Nobody waits for another call: a service that is slow would make all requests slow.
        let Ok(_place) = self.open.try_acquire() else { return (CallResult::Refused, None) };
        // With a place only: after a pause it admits one call, which must then be made.
        let Some(admitted) = self.breaker.admits(Instant::now()) else { return (CallResult::Skipped, None) };
        let request = request(&self.config.domain, question);
        let (result, answer, works) = match tokio::time::timeout(self.config.timeout, self.send(request)).await {
            Ok(Ok(response)) => match read(&response) {
                Some(answer) if answer.is_within => (CallResult::Within, Some(answer), true),
                Some(answer) => (CallResult::Above, Some(answer), true),
                None => (CallResult::Failed, None, false),
            },
            Ok(Err(status)) => {
                log::debug!("the rate limit service `{}` fails: {status}", self.config.name);
                (CallResult::Failed, None, is_about_question(status.code()))
            }
            Err(_) => (CallResult::Timeout, None, false),
        };
        if admitted.ended(works, Instant::now()) {
            let (failures, pause) = (self.config.failures, self.config.pause);
            log::warn!(
                "the rate limit service `{}` has failed {failures} times in a row; it is asked again in {pause:?}",
                self.config.name
            );
        }
        (result, answer)
    }

    async fn send(&self, request: RateLimitRequest) -> Result<RateLimitResponse, tonic::Status> {
        let channel = self.channel.get_or_init(|| self.endpoint.connect_lazy()).clone();
        let mut client = Grpc::new(channel).max_decoding_message_size(LARGEST_ANSWER);
        client.ready().await.map_err(|error| tonic::Status::unavailable(error.to_string()))?;
        let path = PathAndQuery::from_static("/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");
        let codec: ProstCodec<RateLimitRequest, RateLimitResponse> = ProstCodec::default();
        let response = client.unary(tonic::Request::new(request), path, codec).await;
        response.map(tonic::Response::into_inner)
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("config", &self.config).finish_non_exhaustive()
    }
}

fn request(domain: &str, question: RemoteQuestion) -> RateLimitRequest {
    let entry = |(key, value): (Arc<str>, String)| Entry { key: key.to_string(), value };
    let descriptor = |entries: Vec<_>| Descriptor { entries: entries.into_iter().map(entry).collect() };
    RateLimitRequest {
        domain: domain.to_owned(),
        descriptors: question.descriptors.into_iter().map(descriptor).collect(),
        hits_addend: question.hits,
    }
}

/// Returns whether an error is about one question: a service that answers so works. Clients choose
/// what the questions say, and must not be able to make it look broken.
fn is_about_question(code: tonic::Code) -> bool {
    use tonic::Code::{AlreadyExists, FailedPrecondition, InvalidArgument, NotFound, OutOfRange};
    matches!(code, InvalidArgument | NotFound | AlreadyExists | FailedPrecondition | OutOfRange)
}

/// Reads an answer. `None`: it does not say whether the request is within the limit.
fn read(response: &RateLimitResponse) -> Option<RemoteAnswer> {
    let is_within = match response.overall_code() {
        Code::Ok => true,
        Code::OverLimit => false,
        Code::Unknown => return None,
    };
    // Descriptors without a limit have no `current_limit`. Of the others the one that is exceeded
    // counts, or of which least is left.
    let limited = response.statuses.iter().filter(|status| status.current_limit.is_some());
    let nearest = limited.min_by_key(|status| (status.code() != Code::OverLimit, status.limit_remaining));
    let Some(nearest) = nearest else { return Some(RemoteAnswer { is_within, ..RemoteAnswer::default() }) };
    Some(RemoteAnswer { is_within, quota: quota(nearest), remaining: nearest.limit_remaining, reset: reset(nearest) })
}

fn quota(status: &DescriptorStatus) -> Option<(u32, Duration)> {
    let limit = status.current_limit.as_ref()?;
    let unit: Unit = limit.unit();
    Some((limit.requests_per_unit, Duration::from_secs(unit.seconds()?)))
}

fn reset(status: &DescriptorStatus) -> Option<Duration> {
    let left = status.duration_until_reset.as_ref()?;
    Some(Duration::new(
        u64::try_from(left.seconds).ok()?,
        u32::try_from(left.nanos).ok().filter(|n| *n < 1_000_000_000)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::messages::{CurrentLimit, ProtoDuration};
    use super::*;

    fn status(code: Code, limit: Option<(u32, Unit)>, remaining: u32, seconds: i64) -> DescriptorStatus {
        DescriptorStatus {
            code: code.into(),
            current_limit: limit.map(|(requests_per_unit, unit)| CurrentLimit { requests_per_unit, unit: unit.into() }),
            limit_remaining: remaining,
            duration_until_reset: Some(ProtoDuration { seconds, nanos: 0 }),
        }
    }

    #[test]
    fn a_call_without_a_place_is_not_the_one_that_tries_again() {
        let pause = Duration::from_secs(10);
        let config = RateLimitService {
            name: "counter".to_owned(),
            address: "127.0.0.1:1".to_owned(),
            domain: "tests".to_owned(),
            tls: None,
            timeout: Duration::from_secs(1),
            concurrent: 1,
            failures: 1,
            pause,
        };
        let service = Service::new(&config).unwrap();
        let place = service.open.try_acquire().unwrap();
        assert!(service.breaker.ended(false, Instant::now().checked_sub(pause.saturating_mul(2)).unwrap()));
        let question = RemoteQuestion { service: "counter".into(), descriptors: Vec::new(), hits: 1 };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert_eq!(runtime.block_on(service.call(question)), (CallResult::Refused, None));
        drop(place);
        assert!(!service.is_skipped() && service.breaker.admits(Instant::now()).is_some());
    }

    #[test]
    fn the_nearest_limit_is_told() {
        let ok = |remaining| status(Code::Ok, Some((100, Unit::Minute)), remaining, 30);
        let answer =
            |overall_code: Code, statuses| read(&RateLimitResponse { overall_code: overall_code.into(), statuses });
        let unlimited = status(Code::Ok, None, 0, 0);
        let found = answer(Code::Ok, vec![ok(7), unlimited.clone(), ok(3)]).unwrap();
        assert_eq!((found.is_within, found.remaining, found.quota), (true, 3, Some((100, Duration::from_secs(60)))));
        let over = status(Code::OverLimit, Some((5, Unit::Hour)), 0, 1800);
        let found = answer(Code::OverLimit, vec![status(Code::Ok, Some((9, Unit::Second)), 0, 1), over]).unwrap();
        assert_eq!((found.is_within, found.reset), (false, Some(Duration::from_secs(1800))));
        assert_eq!(answer(Code::Ok, vec![unlimited]).unwrap().quota, None);
        assert_eq!(answer(Code::Unknown, vec![ok(1)]), None);
        assert_eq!(read(&RateLimitResponse { overall_code: 77, statuses: Vec::new() }), None);
        let odd = status(Code::Ok, Some((1, Unit::Unknown)), 1, -5);
        assert_eq!(answer(Code::Ok, vec![odd]).map(|found| (found.quota, found.reset)), Some((None, None)));
    }
}
