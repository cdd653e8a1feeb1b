//! Credentials as expressions read them: maps that are verified when they are first read.
//!
//! In the phase `request` a verification may take long (a password). Reading such credentials then
//! fails with an error that no operator absorbs, and [`LazyCredential`] notes it. If the outcome of
//! the phase depends on that, the phase has no outcome yet: what it did is discarded, and it runs
//! again when the finding is there. So a rule that ends the phase earlier never waits.
//!
//! Invariant: a discarded run of a phase has no effect and is not counted, except for lookups in lists. Test:
//! `runtime/adapters/policy/tests/policy/passwords.rs::nothing_counts_twice_when_a_phase_waits`.

use super::{Auth, Finding, Lookup};
use crate::expressions::CredentialReads;
use celero::values::{Arena, EvalResult, HostMap, Map};
use celero::{ErrorKind, Value};
use http::HeaderMap;
use serde_json::{Map as JsonMap, Value as Json};
use std::cell::Cell;
use std::sync::{LazyLock, OnceLock};

/// The error of reading credentials whose verification takes long.
pub(crate) const UNVERIFIED: ErrorKind = ErrorKind::OutOfBudget;

/// The credentials of a request that were verified so far.
#[derive(Debug, Default)]
pub(crate) struct VerifiedCredentials {
    pub(crate) jwt: VerifiedFields,
    pub(crate) api_key: VerifiedFields,
    pub(crate) basic: VerifiedFields,
    /// Set when the head of a request arrives.
    pub(crate) client_cert: VerifiedFields,
}

/// The finding about credentials, once it is there.
pub(crate) type VerifiedFields = OnceLock<Finding>;

/// The credentials of a request.
#[derive(Debug)]
pub(crate) struct LazyCredentials<'a> {
    pub(crate) jwt: LazyCredential<'a>,
    pub(crate) api_key: LazyCredential<'a>,
    pub(crate) basic: LazyCredential<'a>,
    pub(crate) client_cert: LazyCredential<'a>,
}

impl<'a> LazyCredentials<'a> {
    pub(super) fn new(auth: &'a Auth, headers: &'a HeaderMap, findings: &'a VerifiedCredentials) -> Self {
        let credential = |kind, finding| LazyCredential {
            auth,
            kind,
            headers,
            finding,
            may_wait: false,
            slow: Cell::new(false),
            read: Cell::new(UnverifiedRead::None),
            sized: Cell::new(false),
        };
        Self {
            jwt: credential(Kind::Jwt, &findings.jwt),
            api_key: credential(Kind::ApiKey, &findings.api_key),
            basic: credential(Kind::Basic, &findings.basic),
            client_cert: credential(Kind::ClientCert, &findings.client_cert),
        }
    }

    /// The phase may wait for verifications that take long.
    pub(crate) fn waiting(mut self) -> Self {
        self.jwt.may_wait = true;
        self.basic.may_wait = true;
        self
    }

    /// Verifies credentials. Returns those whose verification takes long.
    pub(crate) fn verify(&self, wanted: CredentialReads) -> CredentialReads {
        let slow = |wanted, credential: &LazyCredential<'_>| wanted && credential.verified().is_none();
        CredentialReads {
            jwt: slow(wanted.jwt, &self.jwt),
            api_key: slow(wanted.api_key, &self.api_key),
            basic: slow(wanted.basic, &self.basic),
            client_cert: false,
        }
    }

    /// Returns how unverified credentials were read since the last call.
    pub(crate) fn take_read(&self) -> UnverifiedRead {
        self.jwt.take_read().max(self.basic.take_read())
    }

    /// Returns the credentials that were read although their verification takes long.
    pub(crate) fn slow(&self) -> CredentialReads {
        CredentialReads { jwt: self.jwt.slow.get(), basic: self.basic.slow.get(), ..CredentialReads::default() }
    }
}

/// How credentials were read whose verification takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UnverifiedRead {
    None,
    /// Every read has failed with [`UNVERIFIED`].
    Failed,
    /// They were read as an empty map: the results of all rules may be wrong.
    Empty,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Jwt,
    ApiKey,
    Basic,
    ClientCert,
}

/// Credentials as a map for expressions, verified when it is first read. The map is empty if they
/// are absent or invalid.
#[derive(Debug)]
pub(crate) struct LazyCredential<'a> {
    auth: &'a Auth,
    kind: Kind,
    headers: &'a HeaderMap,
    finding: &'a VerifiedFields,
    may_wait: bool,
    slow: Cell<bool>,
    read: Cell<UnverifiedRead>,
    /// Whether the size was read last, which can't fail. The library reads it before each look-up, to charge for that.
    sized: Cell<bool>,
}

impl LazyCredential<'_> {
    pub(crate) fn value(&self) -> Value<'_> {
        Value::Map(Map::Host(self))
    }

    /// Verifies the credentials, once. `None`: that takes long, and the phase may wait for it.
    fn verified(&self) -> Option<&JsonMap<String, Json>> {
        static NOTHING: LazyLock<JsonMap<String, Json>> = LazyLock::new(JsonMap::new);
        if self.slow.get() {
            return None;
        }
        let finding = match self.finding.get() {
            Some(finding) => finding,
            None => match self.look_up() {
                Lookup::Found(found) => self.finding.get_or_init(|| found),
                Lookup::Slow if self.may_wait => {
                    self.slow.set(true);
                    return None;
                }
                Lookup::Slow => &None,
            },
        };
        Some(finding.as_deref().unwrap_or(&NOTHING))
    }

    fn look_up(&self) -> Lookup {
        let Auth { jwt, api_key, basic, .. } = self.auth;
        match self.kind {
            Kind::Jwt => jwt.as_ref().map_or(Lookup::Found(None), |jwt| jwt.look_up(self.headers)),
            Kind::ApiKey => Lookup::Found(api_key.as_ref().and_then(|keys| keys.find(self.headers))),
            // Without a finding from the head, there is no certificate.
            Kind::ClientCert => Lookup::Found(None),
            Kind::Basic => basic.as_ref().map_or(Lookup::Found(None), |users| users.look_up(self.headers)),
        }
    }

    fn read(&self) -> EvalResult<&JsonMap<String, Json>> {
        self.verified().ok_or_else(|| {
            self.sized.set(false);
            self.read.set(self.read.get().max(UnverifiedRead::Failed));
            UNVERIFIED
        })
    }

    fn take_read(&self) -> UnverifiedRead {
        let read = self.read.replace(UnverifiedRead::None);
        if self.sized.replace(false) { UnverifiedRead::Empty } else { read }
    }
}

impl HostMap for LazyCredential<'_> {
    fn len(&self) -> usize {
        self.verified().map_or_else(
            || {
                if self.sized.replace(true) {
                    self.read.set(UnverifiedRead::Empty);
                }
                0
            },
            |fields| fields.len(),
        )
    }

    fn get<'s>(&'s self, key: &Value<'_>, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        HostMap::get(self.read()?, key, arena)
    }

    fn entry<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
        HostMap::entry(self.read()?, index, arena)
    }

    fn entries<'s>(&'s self, arena: &'s Arena) -> EvalResult<&'s [(Value<'s>, Value<'s>)]> {
        HostMap::entries(self.read()?, arena)
    }
}
