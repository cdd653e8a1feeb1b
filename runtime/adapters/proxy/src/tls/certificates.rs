//! The certificates of a listener, and which of them a client gets.

use super::pem::{self, problem};
use crate::config::Certificate;
use crate::error::Error;
use jiff::Timestamp;
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The certificates of a listener.
#[derive(Debug)]
pub(super) struct Certificates {
    /// Those for each name, in lower case: a host, or `*.` and the rest of hosts with one label
    /// more (RFC 6125, section 6.4.3).
    by_name: HashMap<String, Vec<Arc<CertifiedKey>>>,
    /// All of them, in the order of the configuration.
    all: Vec<Arc<CertifiedKey>>,
}

impl Certificates {
    /// Reads the files.
    pub(super) fn load(configured: &[Certificate], provider: &CryptoProvider) -> Result<Self, Error> {
        let mut found = Self { by_name: HashMap::new(), all: Vec::new() };
        for Certificate { chain: file, key, ocsp } in configured {
            let (chain, private) = (pem::certificates(file)?, pem::private_key(key)?);
            let names = names(&chain).map_err(|error| problem(file, error))?;
            let mut certified = CertifiedKey::from_der(chain, private, provider).map_err(|error| {
                problem(file, format!("it can't be used with the key in {}: {error}", key.display()))
            })?;
            if let Some(file) = ocsp {
                certified.ocsp = Some(pem::read(file)?);
            }
            let certified = Arc::new(certified);
            for name in names {
                found.by_name.entry(name).or_default().push(Arc::clone(&certified));
            }
            found.all.push(certified);
        }
        Ok(found)
    }

    /// Returns the certificates that are valid for a name, those of the name itself before those with a wildcard.
    fn named(&self, name: &str) -> impl Iterator<Item = &Arc<CertifiedKey>> {
        // rustls gives names in lower case.
        let wildcard = name.split_once('.').and_then(|(_, rest)| self.by_name.get(&format!("*.{rest}")));
        self.by_name.get(name).into_iter().chain(wildcard).flatten()
    }
}

impl ResolvesServerCert for Certificates {
    /// Chooses a certificate that the client can verify: there may be one with an ECDSA key and one
    /// with an RSA key for the same name.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let usable = |key: &&Arc<CertifiedKey>| key.key.choose_scheme(hello.signature_schemes()).is_some();
        let named = hello.server_name().into_iter().flat_map(|name| self.named(name));
        named.chain(&self.all).find(usable).map(Arc::clone)
    }
}

/// Returns the file of a certificate, the names for which it is valid, and its end, as a text for people.
pub(crate) fn describe(file: &Path) -> Result<String, Error> {
    let chain = pem::certificates(file)?;
    let names = names(&chain).map_err(|error| problem(file, error))?;
    let parsed = chain.first().and_then(|first| x509_parser::parse_x509_certificate(first).ok());
    let (_, parsed) = parsed.ok_or_else(|| problem(file, "it contains something that is not a certificate"))?;
    let end = Timestamp::from_second(parsed.validity().not_after.timestamp()).unwrap_or(Timestamp::MAX);
    let days = end.duration_since(Timestamp::now()).as_hours() / 24;
    let rest = if end < Timestamp::now() { "EXPIRED".to_owned() } else { format!("{days} days left") };
    let names = if names.is_empty() { "no DNS names".to_owned() } else { names.join(", ") };
    Ok(format!("{}: {names}; valid until {end:.0} ({rest})", file.display()))
}

/// Returns the names for which the first certificate of a chain is valid.
fn names(chain: &[rustls::pki_types::CertificateDer<'_>]) -> Result<Vec<String>, webpki::Error> {
    let Some(first) = chain.first() else { return Ok(Vec::new()) };
    let certificate = webpki::EndEntityCert::try_from(first)?;
    Ok(certificate.valid_dns_names().map(str::to_ascii_lowercase).collect())
}
