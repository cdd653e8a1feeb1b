//! Credentials of clients: JSON Web Tokens, API keys, passwords. Each is verified at most once per
//! request, when an expression first reads it. What takes long is verified on threads of the policy
//! ([`pool`]), and the phase waits for it ([`lazy`]).
//!
//! Invariant: credentials that are not verified can not be read: `jwt`, `apiKey` and `basicAuth` are then empty maps.
//! Test: `runtime/adapters/policy/tests/policy/auth.rs::claims_decide_whether_a_token_is_taken`.
//!
//! Invariant: the key, not the token, decides the algorithm of a signature. Test:
//! `runtime/adapters/policy/tests/policy/auth.rs::algorithms_are_not_the_tokens_choice`.

mod api_key;
mod basic;
mod client_cert;
mod job;
mod jwt;
mod lazy;
mod memory;
mod pool;
mod turns;

pub use client_cert::ClientCertificate;
pub(crate) use job::block_on;
pub use jwt::{KeyFetch, KeyFetcher, KeySource, KeySourceInfo};
pub(crate) use lazy::{LazyCredentials, UNVERIFIED, UnverifiedRead, VerifiedCredentials, VerifiedFields};
pub(crate) use pool::Busy;

use crate::expressions::CredentialReads;
use crate::file::document::Document;
use crate::problems::Problems;
use api_key::ApiKeys;
use basic::Users;
use celero_canonical::Head;
use client_cert::ClientCerts;
use http::{HeaderMap, HeaderName, header};
use job::Job;
use jwt::{Jwt, TokenWait};
use pool::{Pool, Source};
use serde_json::{Map as JsonMap, Value as Json};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The fields of verified credentials.
pub(crate) type Fields = Arc<JsonMap<String, Json>>;

/// The fields of verified credentials. `None`: they are absent or invalid.
pub(crate) type Finding = Option<Fields>;

/// The default of `basicAuth.maxWaiting`.
const MAX_WAITING: usize = 64;

/// What is known about credentials at once.
#[derive(Debug)]
pub(crate) enum Lookup {
    Found(Finding),
    /// Verifying them takes long.
    Slow,
}

/// The kinds of credentials that a policy accepts.
#[derive(Debug)]
pub(crate) struct Auth {
    jwt: Option<Arc<Jwt>>,
    api_key: Option<ApiKeys>,
    basic: Option<Arc<Users>>,
    client_cert: Option<ClientCerts>,
    pool: Pool,
}

/// The verifications that a request waits for.
#[derive(Debug, Default)]
pub(crate) struct Verification {
    jwt: Option<Arc<Job<Finding>>>,
    keys: Option<Arc<Job<()>>>,
    basic: Option<Arc<Job<Finding>>>,
}

impl Auth {
    /// Returns which kinds are configured.
    pub(crate) fn configured(&self) -> CredentialReads {
        CredentialReads {
            jwt: self.jwt.is_some(),
            api_key: self.api_key.is_some(),
            basic: self.basic.is_some(),
            client_cert: self.client_cert.is_some(),
        }
    }

    /// Returns the headers in which credentials are expected.
    pub(crate) fn headers(&self) -> impl Iterator<Item = HeaderName> {
        [
            self.jwt.as_ref().map(|jwt| jwt.header_name()),
            self.api_key.as_ref().map(ApiKeys::header_name),
            self.basic.as_ref().map(|_| header::AUTHORIZATION),
            self.client_cert.as_ref().map(|_| client_cert::HEADER.clone()),
        ]
        .into_iter()
        .flatten()
    }

    /// Compiles the sections of a document, and reports their errors.
    pub(crate) fn compile(document: &Document, problems: &mut Problems) -> Self {
        let basic = document.one("basicAuth", problems);
        let setting = |key| basic.and_then(|section| section.node.text_of(key)?.text.parse::<usize>().ok());
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = setting("threads").unwrap_or_else(|| cores.div_euclid(2).clamp(1, 8));
        Self {
            jwt: document.one("jwt", problems).map(|section| Arc::new(Jwt::compile(section, problems))),
            api_key: document.one("apiKey", problems).map(|section| ApiKeys::compile(section, problems)),
            basic: basic.map(|section| Arc::new(Users::compile(section, problems))),
            client_cert: document.one("clientCert", problems).map(|section| ClientCerts::compile(section, problems)),
            pool: Pool::new(threads, setting("maxWaiting").unwrap_or(MAX_WAITING)),
        }
    }

    /// Returns the credentials of a request, which are verified when they are read. Those whose
    /// verification takes long are then absent.
    pub(crate) fn lazy<'a>(&'a self, headers: &'a HeaderMap, findings: &'a VerifiedCredentials) -> LazyCredentials<'a> {
        LazyCredentials::new(self, headers, findings)
    }

    /// Starts the slow verifications of the given kinds, for a client at an address.
    pub(crate) fn start(
        &self,
        kinds: CredentialReads,
        headers: &HeaderMap,
        client: Option<IpAddr>,
    ) -> Result<Verification, Busy> {
        let mut started = Verification::default();
        if let Some(jwt) = self.jwt.as_ref().filter(|_| kinds.jwt) {
            match jwt.start(headers, &self.pool, client)? {
                TokenWait::Nothing => {}
                TokenWait::Finding(job) => started.jwt = Some(job),
                TokenWait::Keys(job) => started.keys = Some(job),
            }
        }
        if let Some(users) = self.basic.as_ref().filter(|_| kinds.basic)
            && let Some(login) = users.login(headers)
        {
            let users = Arc::clone(users);
            let source = Source::new(client, Some(login.user));
            started.basic = Some(self.pool.start(login.digest, source, move || users.verify(&login))?);
        }
        Ok(started)
    }

    /// Removes the header with the certificate of the client, unless the peer may send it. Returns whether it may.
    pub(crate) fn decide_peer(&self, head: &mut impl Head, peer: Option<SocketAddr>) -> bool {
        self.client_cert.as_ref().is_some_and(|certs| certs.decide_peer(head, peer))
    }

    /// Records the certificate of the client.
    pub(crate) fn client_cert(
        &self,
        headers: &HeaderMap,
        peer: Option<SocketAddr>,
        shown: Option<&ClientCertificate>,
        findings: &VerifiedCredentials,
    ) {
        if let Some(certs) = &self.client_cert {
            // The findings of a phase that runs a second time are the same.
            let _ = findings.client_cert.set(certs.find(headers, peer, shown));
        }
    }

    /// Uses what an earlier policy knows about keys at URLs and about passwords.
    pub(crate) fn take_over(&mut self, before: &Self) {
        if let (Some(jwt), Some(before)) = (self.jwt.as_mut().and_then(Arc::get_mut), &before.jwt) {
            jwt.take_over(before);
        }
        if let (Some(users), Some(before)) = (self.basic.as_mut().and_then(Arc::get_mut), &before.basic) {
            users.take_over(before);
        }
    }

    /// Returns the sources of keys.
    pub(crate) fn key_sources(&self) -> &[Arc<KeySource>] {
        self.jwt.as_ref().map_or(&[], |jwt| jwt.sources())
    }

    /// Returns how many verifications the pool carried out, how many it refused, and how many wait now.
    pub(crate) fn counts(&self) -> (u64, u64, usize) {
        self.pool.counts()
    }
}

impl Verification {
    /// Waits for the verifications, and records their findings.
    pub(crate) async fn finish(self, findings: &VerifiedCredentials) {
        if let Some(keys) = self.keys {
            keys.wait().await;
        }
        for (job, finding) in [(self.jwt, &findings.jwt), (self.basic, &findings.basic)] {
            if let Some(job) = job {
                // If the finding is there already, it is the same.
                let _ = finding.set(job.wait().await);
            }
        }
    }

    /// Records the findings that are there.
    pub(crate) fn record(&self, findings: &VerifiedCredentials) {
        for (job, finding) in [(&self.jwt, &findings.jwt), (&self.basic, &findings.basic)] {
            if let Some(found) = job.as_ref().and_then(|job| job.result()) {
                let _ = finding.set(found);
            }
        }
    }
}

/// Returns the value of a header. `None` if it occurs twice, because another reader may take the other value.
pub(crate) fn single_value<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Returns the credentials after a scheme, `Bearer` or `Basic`, in an `authorization` header.
pub(crate) fn credentials<'v>(value: &'v str, scheme: &str) -> Option<&'v str> {
    let (given, rest) = value.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| rest.trim_matches(' '))
}
