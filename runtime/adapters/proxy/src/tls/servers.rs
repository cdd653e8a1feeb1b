//! TLS to servers.

use super::pem::{self, problem};
use crate::config::{Certificate, Upstream, UpstreamTls};
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
    /// Those that the servers' certificates must lead to, and the same as Pingora takes them.
    /// `None`: those of the system.
    authorities: Option<(Vec<CertificateDer<'static>>, Arc<[WrappedX509]>)>,
    /// The certificate for servers that ask for one.
    own: Option<Arc<CertKey>>,
    http2: bool,
    /// A hash of the authorities, the own certificates and their key; 0 if there are none.
    /// Connections of another group are not used again.
    group: u64,
}

impl ServerTrust {
    /// Reads the files of an upstream's TLS, if it has TLS.
    pub(crate) fn of(upstream: &Upstream) -> Result<Option<Self>, Error> {
        let tls = upstream.tls.as_ref().map(Self::load).transpose();
        tls.map_err(|error| error.within(&format!("`tls` of the upstream {}", upstream.name)))
    }

    fn load(config: &UpstreamTls) -> Result<Self, Error> {
        let name = config.server_name.clone();
        let mut trust = Self { name, authorities: None, own: None, http2: config.http2, group: 0 };
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
        trust.group = trust.group_key();
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
        if let Some((_, parsed)) = &self.authorities {
            peer.options.ca = Some(Arc::clone(parsed));
        }
        // Pingora's pool takes connections for equal that were verified by other authorities, and
        // those with other own certificates if these have equal serial numbers.
        peer.group_key = self.group;
    }

    /// Returns the hash that tells these authorities, own certificates and key from others.
    fn group_key(&self) -> u64 {
        if self.authorities.is_none() && self.own.is_none() {
            return 0;
        }
        let mut hasher = DefaultHasher::new();
        self.certificates().hash(&mut hasher);
        self.key_and_chain().hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the own key, leaf certificate and intermediate certificates, as bytes.
    fn key_and_chain(&self) -> Option<(&[u8], Vec<&[u8]>)> {
        let own = self.own.as_ref()?;
        let chain = std::iter::once(own.leaf()).chain(own.intermediates());
        Some((own.key().as_slice(), chain.map(|certificate| certificate.borrow_raw_cert().as_slice()).collect()))
    }

    fn certificates(&self) -> Option<&[CertificateDer<'static>]> {
        self.authorities.as_ref().map(|(certificates, _)| &**certificates)
    }
}

impl PartialEq for ServerTrust {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.certificates() == other.certificates()
            && self.key_and_chain() == other.key_and_chain()
    }
}

impl fmt::Debug for ServerTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerTrust").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, SerialNumber};

    /// A certificate, always with the same serial number.
    fn certificate(name: &str) -> Vec<u8> {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from(1_u64));
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn connections_are_kept_apart_by_own_certificates_and_keys() {
        let trust = |chain: &[&Vec<u8>], key: &[u8]| {
            let chain = chain.iter().map(|certificate| certificate.to_vec()).collect();
            let own = Some(Arc::new(CertKey::new(chain, key.to_vec())));
            let mut trust = ServerTrust { name: "a".to_owned(), authorities: None, own, http2: false, group: 0 };
            trust.group = trust.group_key();
            trust
        };
        let (a, b) = (certificate("a"), certificate("b"));
        let first = trust(&[&a], b"key");
        let same = trust(&[&a], b"key");
        assert!(first == same && first.group == same.group && first.group != 0);
        for other in [trust(&[&a], b"other"), trust(&[&b], b"key"), trust(&[&a, &b], b"key")] {
            assert!(first != other && first.group != other.group);
        }
    }
}
