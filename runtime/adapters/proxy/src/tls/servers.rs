//! TLS to servers.

use super::pem::{self, problem};
use crate::config::{Certificate, UpstreamTls};
use crate::error::Error;
use pingora::upstreams::peer::{HttpPeer, Scheme};
use pingora::utils::tls::{CertKey, WrappedX509, parse_x509};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Whose certificates the servers of an upstream must have.
pub(crate) struct ServerTrust {
    name: String,
    /// Those that the servers' certificates must lead to, and the same as Pingora takes them. `None`: those of the system.
    authorities: Option<(Vec<CertificateDer<'static>>, Arc<[WrappedX509]>)>,
    /// The certificate for servers that ask for one.
    own: Option<Arc<CertKey>>,
    http2: bool,
}

impl ServerTrust {
    /// Reads the files of a configuration.
    pub(crate) fn load(config: &UpstreamTls) -> Result<Self, Error> {
        let mut trust = Self { name: config.server_name.clone(), authorities: None, own: None, http2: config.http2 };
        if let Some(file) = &config.authorities {
            let certificates = pem::certificates(file)?;
            // Pingora's parser panics at what is no certificate.
            if certificates.iter().any(|certificate| x509_parser::parse_x509_certificate(certificate).is_err()) {
                return Err(problem(file, "it contains something that is not a certificate"));
            }
            let parsed = certificates.iter().map(|certificate| WrappedX509::new(certificate.to_vec(), parse_x509));
            trust.authorities = Some((certificates.clone(), parsed.collect()));
        }
        if let Some(Certificate { chain: file, key, .. }) = &config.certificate {
            let (chain, private) = (pem::certificates(file)?, pem::private_key(key)?);
            // The same check as in the handshake, where Pingora could only fail.
            CertifiedKey::from_der(chain.clone(), private.clone_key(), &default_provider()).map_err(|error| {
                problem(file, format!("it can't be used with the key in {}: {error}", key.display()))
            })?;
            if chain.iter().any(|certificate| x509_parser::parse_x509_certificate(certificate).is_err()) {
                return Err(problem(file, "it contains something that is not a certificate"));
            }
            // Pingora passes on the bytes alone, and panics if they don't say which kind of key they are.
            if PrivateKeyDer::try_from(private.secret_der()).is_err() {
                return Err(problem(key, "the key must be in PKCS #8, PKCS #1 or SEC1"));
            }
            let chain = chain.iter().map(|certificate| certificate.to_vec()).collect();
            trust.own = Some(Arc::new(CertKey::new(chain, private.secret_der().to_vec())));
        }
        Ok(trust)
    }

    /// Makes a connection use TLS, and verify the certificate of the server.
    pub(crate) fn apply(&self, peer: &mut HttpPeer) {
        peer.scheme = Scheme::HTTPS;
        peer.sni.clone_from(&self.name);
        peer.options.verify_cert = true;
        peer.options.verify_hostname = true;
        if self.http2 {
            peer.options.set_http_version(2, 1);
        }
        peer.client_cert_key.clone_from(&self.own);
        if let Some((certificates, parsed)) = &self.authorities {
            peer.options.ca = Some(Arc::clone(parsed));
            // Pingora's pool takes connections for equal that were verified by other authorities.
            let mut hasher = DefaultHasher::new();
            certificates.hash(&mut hasher);
            peer.group_key = hasher.finish();
        }
    }

    fn certificates(&self) -> Option<&[CertificateDer<'static>]> {
        self.authorities.as_ref().map(|(certificates, _)| &**certificates)
    }
}

impl PartialEq for ServerTrust {
    fn eq(&self, other: &Self) -> bool {
        let own =
            |trust: &Self| trust.own.as_ref().map(|own| (own.key().clone(), own.leaf().borrow_raw_cert().clone()));
        self.name == other.name && self.certificates() == other.certificates() && own(self) == own(other)
    }
}

impl fmt::Debug for ServerTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerTrust").field("name", &self.name).finish_non_exhaustive()
    }
}
