//! JSON Web Tokens (RFC 7519). A token is accepted if one of the keys verifies its signature with
//! an algorithm of that key, if it is neither expired nor from the future, and if issuer and
//! audience are accepted ones. The token never chooses an algorithm of its own. Accepted tokens are
//! remembered until they expire.

mod claims;
mod key_file;
mod key_source;
mod key_source_settings;
mod keys;
mod signature;
mod token;

pub use key_source::{KeyFetch, KeyFetcher, KeySource, KeySourceInfo};

use super::job::Job;
use super::memory::{Digest, Memory};
use super::pool::{Busy, Pool, Source};
use super::{Finding, Lookup, credentials, single_value};
use crate::file::document::Section;
use crate::problems::Problems;
use crate::schema::seconds;
use crate::yaml::Node;
use claims::{ClaimRules, now};
use http::{HeaderMap, HeaderName, header};
use keys::{KeySet, takes_long};
use smallvec::SmallVec;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use token::Token;

/// The longest accepted token, in bytes.
const LONGEST: usize = 16 << 10;

/// The largest sum of the lengths of remembered tokens, in bytes. Their claims need a few times as much.
const MAX_REMEMBERED: usize = 8 << 20;

/// How long an accepted token is remembered, unless it expires earlier.
const ACCEPTED: Duration = Duration::from_secs(3600);

/// How long it is remembered that none of many keys has signed a token.
const REFUSED: Duration = Duration::from_secs(10);

/// Where tokens are found, and how they are verified.
#[derive(Debug)]
pub(crate) struct Jwt {
    header: HeaderName,
    cookie: Option<String>,
    keys: KeySet,
    sources: Vec<Arc<KeySource>>,
    rules: ClaimRules,
    memory: Memory<Remembered>,
}

/// What is known about a token.
#[derive(Clone, Debug)]
struct Remembered {
    /// The version of the keys by which it was verified.
    version: u64,
    /// The second after which it is not accepted any more.
    until: u64,
    finding: Finding,
}

impl Jwt {
    /// Compiles the section `jwt`, and reports its errors.
    pub(crate) fn compile(section: Section<'_>, problems: &mut Problems) -> Self {
        let Section { node, .. } = section;
        let texts = |key| node.texts_of(key).into_iter().map(|text| text.text).collect::<Vec<_>>();
        let rules = ClaimRules {
            issuers: texts("issuers"),
            audiences: texts("audiences"),
            leeway: node.text_of("leeway").and_then(|text| seconds(&text.text)).unwrap_or(60),
        };
        let entries = node.get("keys").map_or(&[][..], Node::elements);
        let keys = entries.iter().flat_map(|key| key_file::keys_of(key, section, problems)).collect();
        let sources = entries.iter().filter_map(|key| key_file::source_of(key, problems)).map(KeySource::new).collect();
        if node.get("header").is_some()
            && let Some(cookie) = node.text_of("cookie")
        {
            problems.add("policy-value", cookie.place, "a token is in a header or in a cookie, not in both".to_owned());
        }
        let header = header_name(node, header::AUTHORIZATION, problems);
        Self {
            header,
            cookie: node.text_of("cookie").map(|text| text.text),
            keys: KeySet::new(keys),
            sources,
            rules,
            memory: Memory::new(MAX_REMEMBERED),
        }
    }

    /// Returns the header that holds the token.
    pub(crate) fn header_name(&self) -> HeaderName {
        if self.cookie.is_some() { header::COOKIE } else { self.header.clone() }
    }

    /// Returns the token in the headers, if there is one.
    pub(crate) fn token<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let token = if let Some(name) = &self.cookie {
            let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
            let mut values = cookies
                .flat_map(|line| line.split(';'))
                .filter_map(|pair| pair.trim().split_once('='))
                .filter_map(|(key, value)| (key == name).then_some(value));
            let value = values.next()?;
            values.next().is_none().then_some(value)?
        } else {
            let value = single_value(headers, &self.header)?;
            if self.header == header::AUTHORIZATION { credentials(value, "bearer")? } else { value }
        };
        (token.len() <= LONGEST).then_some(token)
    }

    /// Returns the sources of keys.
    pub(crate) fn sources(&self) -> &[Arc<KeySource>] {
        &self.sources
    }

    /// Uses the sources of an earlier policy that have the same settings, with the keys that they have.
    pub(crate) fn take_over(&mut self, before: &Self) {
        for source in &mut self.sources {
            if let Some(same) = before.sources.iter().find(|before| before.settings() == source.settings()) {
                *source = Arc::clone(same);
            }
        }
    }

    /// Returns the claims of the token in the headers, if it is valid. [`Lookup::Slow`]: that takes long.
    pub(crate) fn look_up(&self, headers: &HeaderMap) -> Lookup {
        let Some(text) = self.token(headers) else { return Lookup::Found(None) };
        let (digest, version) = (self.memory.digest(&[text.as_bytes()]), self.version());
        if let Some(known) = self.memory.get(&digest).filter(|known| known.version == version) {
            return Lookup::Found(known.finding.filter(|_| now() <= known.until));
        }
        let Some(token) = Token::parse(text) else { return Lookup::Found(None) };
        let keys = self.current_keys();
        if keys.takes_long(&token) {
            return Lookup::Slow;
        }
        if !keys.have_signed(&token) {
            let helps = self.sources.iter().any(|source| source.may_help(&token, keys.know_id(&token)));
            return if helps { Lookup::Slow } else { Lookup::Found(None) };
        }
        let Some((until, claims)) = self.accept(&token) else { return Lookup::Found(None) };
        let remembered = Remembered { version, until, finding: Some(Arc::clone(&claims)) };
        self.memory.insert(digest, remembered, text.len(), ACCEPTED);
        Lookup::Found(Some(claims))
    }

    /// Starts what [`look_up`](Self::look_up) needs.
    pub(crate) fn start(
        self: &Arc<Self>,
        headers: &HeaderMap,
        pool: &Pool,
        client: Option<IpAddr>,
    ) -> Result<TokenWait, Busy> {
        let Some(text) = self.token(headers) else { return Ok(TokenWait::Nothing) };
        let Some(token) = Token::parse(text) else { return Ok(TokenWait::Nothing) };
        let keys = self.current_keys();
        if keys.takes_long(&token) {
            let digest = self.memory.digest(&[text.as_bytes()]);
            let (this, text) = (Arc::clone(self), text.to_owned());
            return Ok(TokenWait::Finding(
                pool.start(digest, Source::new(client, None), move || this.verify_slowly(&text, digest))?,
            ));
        }
        let known = keys.know_id(&token);
        match self.sources.iter().find(|source| source.may_help(&token, known)) {
            Some(source) => Ok(source.want()?.map_or(TokenWait::Nothing, TokenWait::Keys)),
            None => Ok(TokenWait::Nothing),
        }
    }

    /// Verifies a token with all keys that may have signed it, and remembers what is found. Call it
    /// on a thread of the pool.
    fn verify_slowly(&self, text: &str, digest: Digest) -> Finding {
        let version = self.version();
        let signed = Token::parse(text).filter(|token| self.current_keys().have_signed(token));
        let (until, finding) = signed.and_then(|token| self.accept(&token)).unzip();
        let lifetime = if finding.is_some() { ACCEPTED } else { REFUSED };
        let remembered = Remembered { version, until: until.unwrap_or(u64::MAX), finding: finding.clone() };
        self.memory.insert(digest, remembered, text.len(), lifetime);
        finding
    }

    /// Returns the claims of a token that is signed by a key, and the second until which it is
    /// accepted. `None`: it is not accepted.
    fn accept(&self, token: &Token<'_>) -> Option<(u64, super::Fields)> {
        let claims = token.claims()?;
        let until = self.rules.accepted_until(&claims, now())?;
        Some((until, Arc::new(claims)))
    }

    /// Returns the keys that count now.
    fn current_keys(&self) -> CurrentKeys<'_> {
        let fetched = self.sources.iter().filter_map(|source| source.keys()).collect();
        CurrentKeys { fixed: &self.keys, fetched }
    }

    /// Returns a number that changes when the keys that count change: that of each source only grows.
    fn version(&self) -> u64 {
        self.sources.iter().fold(0, |sum, source| sum.saturating_add(source.version()))
    }
}

/// What a token waits for.
pub(crate) enum TokenWait {
    Nothing,
    /// The result of the verification.
    Finding(Arc<Job<Finding>>),
    /// New keys, after which it is looked up again.
    Keys(Arc<Job<()>>),
}

/// The keys that count at one time.
struct CurrentKeys<'k> {
    fixed: &'k KeySet,
    fetched: SmallVec<[Arc<KeySet>; 2]>,
}

impl CurrentKeys<'_> {
    fn sets(&self) -> impl Iterator<Item = &KeySet> {
        std::iter::once(self.fixed).chain(self.fetched.iter().map(|set| &**set))
    }

    fn takes_long(&self, token: &Token<'_>) -> bool {
        // More than this always takes long, so they are not counted.
        takes_long(token.algorithm, self.sets().flat_map(|set| set.candidates(token)).take(32).count())
    }

    fn have_signed(&self, token: &Token<'_>) -> bool {
        self.sets().flat_map(|set| set.candidates(token)).any(|key| token.is_signed_by(key))
    }

    fn know_id(&self, token: &Token<'_>) -> bool {
        token.key_id.as_ref().is_some_and(|id| self.sets().any(|set| set.has(id)))
    }
}

/// Reads the key `header` of a section.
pub(super) fn header_name(node: &Node, usual: HeaderName, problems: &mut Problems) -> HeaderName {
    let Some(text) = node.text_of("header") else { return usual };
    HeaderName::from_bytes(text.text.as_bytes()).unwrap_or_else(|_| {
        problems.add("policy-value", text.place, format!("`{}` is not the name of a header", text.text));
        usual
    })
}
