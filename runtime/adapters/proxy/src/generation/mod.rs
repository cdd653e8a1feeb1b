//! A generation: everything that can change while the proxy runs (policy, routes, upstreams,
//! timeouts). It is replaced as a whole.
//!
//! Invariant: a request uses one generation of the configuration in all its phases. Test:
//! `runtime/adapters/proxy/tests/proxy/reload.rs::no_request_fails_during_reloads`.
//!
//! Invariant: an upstream that is in use changes only when a reload is in force (`Generation::take_servers`). Test:
//! `runtime/adapters/proxy/src/generation/mod.rs::upstreams_that_are_kept_get_their_servers_last`.

pub(crate) mod check;
pub(crate) mod file_stamps;

use crate::config::{Config, Route, Target, Timeouts, counted, first_names};
use crate::error::Error;
use crate::export::collector::{self, METRICS_HEADERS};
use crate::export::spans::SpanExport;
use crate::generation::check::delays_warning;
use crate::lists::control::AdminToken;
use crate::lists::copies::ListCopies;
use crate::logs::recorder::Recorder;
use crate::metrics::latency::Latency;
use crate::rate_limits::RateLimits;
use crate::tls::{ClientTls, ServerTrust};
use crate::upstreams::routing;
use crate::upstreams::upstream::{Keys, Upstream};
use celero_pingora::Compression;
use celero_policy::{KeyFetcher, Policy};
use pingora::upstreams::peer::HttpPeer;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// How many names of rules a line of the log has at most.
const SHOWN: usize = 10;

/// The configuration at one time, with its policy and upstreams. A request uses one generation in all its phases.
pub(crate) struct Generation {
    pub(crate) config: Config,
    /// When the policy was loaded: its counters began then.
    pub(crate) loaded: SystemTime,
    pub(crate) policy: Arc<Policy>,
    pub(crate) upstreams: Vec<Arc<Upstream>>,
    /// Of each listener.
    tls: Vec<Option<ClientTls>>,
    pub(crate) latency: Latency,
    /// Which responses are compressed.
    pub(crate) compression: Option<Arc<Compression>>,
    /// What sends the spans of requests.
    pub(crate) spans: Option<Arc<SpanExport>>,
    /// What records requests.
    pub(crate) recorder: Option<Arc<Recorder>>,
    /// What requests that change lists must show. `None`: nobody may.
    pub(crate) token: Option<AdminToken>,
    /// What asks the services that count limits of many machines.
    pub(crate) rate_limits: Arc<RateLimits>,
    /// What fetches the keys that the policy names by URL.
    pub(crate) key_fetchers: Vec<Arc<KeyFetcher>>,
}

impl Generation {
    /// Loads the policy and creates the upstreams. Upstreams whose configuration is the same in
    /// `before` are kept, with the health of their servers; [`take_servers`](Self::take_servers)
    /// brings them to the addresses that their names lead to now.
    pub(crate) fn new(config: Config, demo: SocketAddr, before: Option<&Self>) -> Result<Self, Error> {
        let mut policy = config.load_policy()?;
        policy.log_failures(|line| log::warn!("{line}"));
        if let Some(before) = before {
            policy.check_replaces(&before.policy)?;
            policy.take_over(&before.policy);
        }
        let rate_limits = RateLimits::new(&config, &policy, before.map(|before| &*before.rate_limits))?;
        let rate_limits = Arc::new(rate_limits);
        policy.set_remote_limits(Arc::<RateLimits>::clone(&rate_limits));
        let copies = ListCopies::of(&config);
        policy.restore_lists(|source| copies.as_ref()?.read(source))?;
        let tls = config.listeners.iter().map(ClientTls::of).collect::<Result<_, Error>>()?;
        let mut upstreams = Vec::with_capacity(config.upstreams.len());
        for wanted in &config.upstreams {
            let trust = ServerTrust::of(wanted)?;
            let known =
                before.and_then(|before| before.upstreams.iter().find(|known| known.is(wanted, trust.as_ref())));
            upstreams.push(match known {
                Some(upstream) => Arc::clone(upstream),
                None => Arc::new(Upstream::new(wanted, trust, demo)?),
            });
        }
        let key_fetchers = policy.key_sources().map(|source| Arc::new(source.fetcher())).collect();
        let spans = span_export(&config, before)?;
        let recorder = recorder(&config, &policy, before)?;
        if config.metrics_export.is_some() {
            collector::headers(METRICS_HEADERS)?;
        }
        let compression = config.compression.as_ref().map(|wanted| {
            let mut settings = wanted.settings();
            before.and_then(|before| before.compression.as_deref()).into_iter().for_each(|old| settings.take_over(old));
            Arc::new(settings)
        });
        let latency = Latency::new(&config, before.map(|before| &before.latency));
        let token = config.admin.as_ref().map(|admin| AdminToken::load(&admin.token)).transpose()?;
        // Once, not with each reload.
        let warned = before.and_then(|before| delays_warning(&before.config, &before.policy));
        if let Some(warning) = delays_warning(&config, &policy).filter(|warning| Some(warning) != warned.as_ref()) {
            log::warn!("{warning}");
        }
        let (loaded, policy) = (SystemTime::now(), Arc::new(policy));
        Ok(Self {
            loaded,
            latency,
            compression,
            spans,
            recorder,
            token,
            config,
            policy,
            upstreams,
            tls,
            rate_limits,
            key_fetchers,
        })
    }

    /// Lets the upstreams have the servers of the configuration, also those that were kept. Call it
    /// when nothing can fail any more: they are in use.
    pub(crate) fn take_servers(&self) {
        for (upstream, wanted) in self.upstreams.iter().zip(&self.config.upstreams) {
            upstream.take_servers(&wanted.servers);
        }
    }

    /// Returns what handshakes on a listener need.
    pub(crate) fn tls(&self, listener: usize) -> Option<&ClientTls> {
        self.tls.get(listener)?.as_ref()
    }

    pub(crate) fn routes(&self) -> &[Route] {
        &self.config.routes
    }

    /// Returns the index of the upstream of a request, if a route leads to one.
    pub(crate) fn upstream_of(&self, route: usize, keys: Keys<'_>) -> Option<usize> {
        match &self.routes().get(route)?.target {
            Target::Upstream(index) => Some(*index),
            Target::Split(split) => keys.with(&split.by, |key| routing::part_of(split, key)),
            Target::Answer(_) => None,
        }
    }

    /// Sets the timeouts of a connection to a server.
    pub(crate) fn apply_timeouts(&self, peer: &mut HttpPeer, route: Option<usize>) {
        let of_route = route.and_then(|route| self.routes().get(route)).map(|route| route.timeouts).unwrap_or_default();
        let (options, usual) = (&mut peer.options, self.timeouts());
        let connect = of_route.connect.unwrap_or(usual.connect);
        options.connection_timeout = Some(connect);
        options.total_connection_timeout = Some(connect);
        options.read_timeout = Some(of_route.read.unwrap_or(usual.read));
        options.write_timeout = Some(of_route.write.unwrap_or(usual.write));
        options.idle_timeout.get_or_insert(usual.idle);
    }

    pub(crate) fn timeouts(&self) -> &Timeouts {
        &self.config.timeouts
    }

    /// Returns what is new since `before`, for the log: the policy's rules, and the changed
    /// sections of the configuration.
    pub(crate) fn changes_since(&self, before: &Self) -> String {
        let names =
            |generation: &Self| -> BTreeSet<Arc<str>> { generation.policy.rules().map(|rule| rule.name).collect() };
        let (old, new) = (names(before), names(self));
        let mut text = format!("a policy with {}", counted(self.policy.rules().count(), "rule"));
        for (what, names) in [("new", new.difference(&old)), ("gone", old.difference(&new))] {
            let names: Vec<&str> = names.map(|name| &**name).collect();
            if !names.is_empty() {
                text.push_str(&format!("; {what}: {}", first_names(&names, SHOWN)));
            }
        }
        text.push_str(&self.config.differences(&before.config));
        text
    }

    /// Returns the included files and their patterns, and the files of the policy, of TLS and of answers.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.policy.files().iter().chain(&self.config.included).chain(self.config.files()).cloned().collect()
    }
}

/// Returns what sends spans: that of the generation before if nothing about it has changed.
fn span_export(config: &Config, before: Option<&Generation>) -> Result<Option<Arc<SpanExport>>, Error> {
    let Some(wanted) = config.traces.as_ref().and_then(|traces| traces.export.as_ref()) else { return Ok(None) };
    match before.and_then(|before| before.spans.as_ref()) {
        Some(known) if known.config == *wanted => Ok(Some(Arc::clone(known))),
        _ => Ok(Some(Arc::new(SpanExport::start(wanted)?))),
    }
}

/// Returns what records requests: that of the generation before if nothing about it has changed.
fn recorder(config: &Config, policy: &Policy, before: Option<&Generation>) -> Result<Option<Arc<Recorder>>, Error> {
    let Some(wanted) = &config.record else { return Ok(None) };
    let mut wanted = wanted.clone();
    wanted.redact_headers.extend(policy.credential_headers());
    let before = before.and_then(|before| before.recorder.as_ref());
    match before {
        Some(known) if known.config == wanted => Ok(Some(Arc::clone(known))),
        _ => match Recorder::start(&wanted, before.map(|before| &**before)) {
            Ok(recorder) => Ok(Some(Arc::new(recorder))),
            Err(error) => Err(Error::new(format!("error: `record`: {error}"))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Server;

    #[test]
    fn upstreams_that_are_kept_get_their_servers_last() {
        let folder = std::env::temp_dir().join(format!("celero-generation-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.join(name);
            std::fs::write(&file, text).unwrap();
            file
        };
        let token = write("token", "0123456789abcdef0123456789abcdef");
        write("policy.yaml", "empty: allowed\n");
        let file = write(
            "proxy.yaml",
            "listeners: [{ address: 127.0.0.1:0 }]\nmetrics: 127.0.0.1:0\npolicy: policy.yaml\nadmin: { token: token }\n\
             upstreams: [{ name: a, servers: [\"127.0.0.1:1\"] }]\nroutes: [{ upstream: a }]\n",
        );
        let config = Config::load(&file).unwrap();
        let server = |port: u16| Server { address: ([127, 0, 0, 1], port).into(), weight: 1 };
        let demo = server(9).address;
        let first = Generation::new(config.clone(), demo, None).unwrap();
        let ports = || -> Vec<u16> {
            let servers = first.upstreams.iter().flat_map(|upstream| {
                upstream.servers.all().iter().map(|server| server.address.port()).collect::<Vec<_>>()
            });
            servers.collect()
        };
        assert_eq!(ports(), [1]);
        // As if a name led elsewhere.
        let mut moved = config;
        moved.upstreams[0].servers = vec![server(2)];
        let next = Generation::new(moved.clone(), demo, Some(&first)).unwrap();
        assert!(Arc::ptr_eq(&first.upstreams[0], &next.upstreams[0]));
        std::fs::remove_file(token).unwrap();
        assert!(Generation::new(moved, demo, Some(&first)).is_err());
        assert_eq!(ports(), [1], "a generation that is not in force changes nothing");
        next.take_servers();
        assert_eq!(ports(), [2]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
