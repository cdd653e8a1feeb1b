//! TLS to clients.

use super::certificates::Certificates;
use super::client_certificate;
use super::pem::{self, problem};
use crate::config::{Listener, ListenerTls};
use crate::error::Error;
use async_trait::async_trait;
use celero_policy::TlsConnection;
use pingora::listeners::TlsAccept;
use pingora::listeners::tls::Acceptor;
use pingora::protocols::IO;
use pingora::protocols::tls::server::handshake_with_callback;
use pingora::protocols::tls::{TlsRef, TlsStream};
use rustls::crypto::ring::default_provider;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig};
use std::any::Any;
use std::sync::Arc;

/// What a listener needs for handshakes.
pub(crate) struct ClientTls {
    acceptor: Acceptor,
}

impl ClientTls {
    /// Reads the files of a listener's TLS, if it has TLS.
    pub(crate) fn of(listener: &Listener) -> Result<Option<Self>, Error> {
        let tls = listener.tls.as_ref().map(Self::load).transpose();
        tls.map_err(|error| error.within(&format!("`tls` of the listener {}", listener.address)))
    }

    fn load(config: &ListenerTls) -> Result<Self, Error> {
        let provider = Arc::new(default_provider());
        let versions = if config.only_tls13 { &[&TLS13][..] } else { &[&TLS13, &TLS12] };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(|error| Error::new(format!("error: TLS: {error}")))?;
        let builder = match &config.clients {
            None => builder.with_no_client_auth(),
            Some(clients) => {
                let file = &clients.authorities;
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(authorities(file)?), Arc::clone(&provider));
                let verifier = if clients.required { verifier } else { verifier.allow_unauthenticated() };
                // Without a list of its issuer, or with one that has expired, a certificate counts as revoked.
                let (verifier, file) = match &clients.revoked {
                    Some(lists) => {
                        (verifier.with_crls(pem::revocation_lists(lists)?).enforce_revocation_expiration(), lists)
                    }
                    None => (verifier, file),
                };
                builder.with_client_cert_verifier(verifier.build().map_err(|error| problem(file, error))?)
            }
        };
        let mut tls = builder.with_cert_resolver(Arc::new(Certificates::load(&config.certificates, &provider)?));
        if config.clients.is_some() {
            // A session that is resumed would bring a certificate back without another look at it.
            tls.session_storage = Arc::new(NoServerSessionStorage {});
            tls.send_tls13_tickets = 0;
        }
        let protocols = if config.http2 { &["h2", "http/1.1"][..] } else { &["http/1.1"] };
        tls.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Ok(Self { acceptor: Acceptor::from_server_config(Arc::new(tls)) })
    }
}

/// Returns the certificates of a file as those that others may lead to.
fn authorities(file: &std::path::Path) -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    for certificate in pem::certificates(file)? {
        store.add(certificate).map_err(|error| problem(file, error))?;
    }
    Ok(store)
}

/// Does the handshake of a connection.
pub(crate) async fn accept<S: IO>(tls: &ClientTls, socket: S) -> pingora::Result<TlsStream<S>> {
    handshake_with_callback(&tls.acceptor, socket, &KeepForPolicy).await
}

/// Keeps for the policy what is known of a connection when its handshake is complete. A certificate
/// that is there was verified: a handshake with another one fails, and clients are asked for
/// certificates only by a verifier.
struct KeepForPolicy;

#[async_trait]
impl TlsAccept for KeepForPolicy {
    async fn handshake_complete_callback(&self, tls: &TlsRef) -> Option<Arc<dyn Any + Send + Sync>> {
        // rustls writes `TLSv1_3` and `TLS13_AES_128_GCM_SHA256`; the others have the names of the standards.
        let version = tls.version().unwrap_or_default().replace('_', ".");
        let cipher = tls.current_cipher_name().unwrap_or_default().replacen("TLS13_", "TLS_", 1);
        let mut connection = TlsConnection::new(&version, &cipher);
        if let Some(name) = tls.server_name() {
            connection = connection.with_sni(name);
        }
        if let Some(certificate) = tls.peer_certificate_der().and_then(client_certificate::read) {
            connection = connection.with_certificate(certificate);
        }
        Some(Arc::new(connection))
    }
}
