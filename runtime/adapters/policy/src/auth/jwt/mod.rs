//! JSON Web Tokens (RFC 7519). A token is accepted if one of the keys verifies its signature with an algorithm of that key, if it is
//! neither expired nor from the future, and if issuer and audience are accepted ones. The token never chooses an algorithm of its own.
//! Accepted tokens are remembered until they expire.

mod claims;
mod key_file;
mod keys;
mod token;

use super::memory::{Digest, Memory};
use super::{Finding, Lookup, credentials, single_value};
use crate::document::Section;
use crate::problems::Problems;
use crate::schema::seconds;
use crate::yaml::Node;
use claims::{ClaimRules, now};
use http::{HeaderMap, HeaderName, header};
use jsonwebtoken::crypto::CryptoProvider;
use jsonwebtoken::crypto::rust_crypto::DEFAULT_PROVIDER;
use keys::{KeySet, takes_long};
use std::sync::Arc;
use std::time::Duration;
use token::Token;

/// The longest accepted token, in bytes.
const LONGEST: usize = 16 << 10;

/// The largest sum of the lengths of remembered tokens, in bytes. Their claims need a few times as much.
const MOST_REMEMBERED: usize = 8 << 20;

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
    rules: ClaimRules,
    memory: Memory<Remembered>,
}

/// What is known about a token.
#[derive(Clone, Debug)]
struct Remembered {
    /// The second after which it is not accepted any more.
    until: u64,
    finding: Finding,
}

impl Jwt {
    /// Compiles the section `jwt`, and reports its errors.
    pub(crate) fn compile(section: Section<'_>, problems: &mut Problems) -> Self {
        // A process chooses one provider. If another crate has chosen one already, that is fine too.
        let _ = CryptoProvider::install_default(&DEFAULT_PROVIDER);
        let Section { node, .. } = section;
        let texts = |key| node.texts_of(key).into_iter().map(|text| text.text).collect::<Vec<_>>();
        let rules = ClaimRules {
            issuers: texts("issuers"),
            audiences: texts("audiences"),
            leeway: node.text_of("leeway").and_then(|text| seconds(&text.text)).unwrap_or(60),
        };
        let entries = node.get("keys").map_or(&[][..], Node::elements).iter();
        let keys = entries.flat_map(|key| key_file::keys_of(key, section, problems)).collect();
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
            rules,
            memory: Memory::new(MOST_REMEMBERED),
        }
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

    /// Returns the digest of a token, by which it is remembered.
    pub(crate) fn digest(&self, token: &str) -> Digest {
        self.memory.digest(&[token.as_bytes()])
    }

    /// Returns the claims of the token in the headers, if it is valid. [`Lookup::Slow`]: that takes long.
    pub(crate) fn look_up(&self, headers: &HeaderMap) -> Lookup {
        let Some(text) = self.token(headers) else { return Lookup::Found(None) };
        let digest = self.digest(text);
        if let Some(known) = self.memory.get(&digest) {
            return Lookup::Found(known.finding.filter(|_| now() <= known.until));
        }
        let Some(token) = Token::parse(text) else { return Lookup::Found(None) };
        // One more than the most that is done at once is enough to know.
        if takes_long(token.algorithm, self.keys.candidates(&token).take(32).count()) {
            return Lookup::Slow;
        }
        let finding = self.verify(&token);
        if let Some((until, finding)) = &finding {
            let (until, finding) = (*until, Some(Arc::clone(finding)));
            self.memory.insert(digest, Remembered { until, finding }, text.len(), ACCEPTED);
        }
        Lookup::Found(finding.map(|(_, claims)| claims))
    }

    /// Verifies a token with all keys that may have signed it, and remembers what is found. Call it on a thread of the pool.
    pub(crate) fn verify_slowly(&self, text: &str, digest: Digest) -> Finding {
        let (until, finding) = Token::parse(text).and_then(|token| self.verify(&token)).unzip();
        let lifetime = if finding.is_some() { ACCEPTED } else { REFUSED };
        let remembered = Remembered { until: until.unwrap_or(u64::MAX), finding: finding.clone() };
        self.memory.insert(digest, remembered, text.len(), lifetime);
        finding
    }

    /// Returns the claims of a valid token, and the second until which it is accepted.
    fn verify(&self, token: &Token<'_>) -> Option<(u64, super::Fields)> {
        if !self.keys.candidates(token).any(|key| token.is_signed_by(key)) {
            return None;
        }
        let claims = token.claims()?;
        let until = self.rules.accepted_until(&claims, now())?;
        Some((until, Arc::new(claims)))
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
