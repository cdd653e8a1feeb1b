//! The client for keys, documents of lists and collectors.

use rustls::crypto::ring::default_provider;
use std::sync::Arc;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Returns a client that trusts the system's certificate authorities. It follows no redirects,
/// because requests go to the place that a file names.
pub(crate) fn agent() -> Agent {
    let provider = Arc::new(default_provider());
    let system = rustls_native_certs::load_native_certs();
    for error in &system.errors {
        log::warn!("a certificate authority of the system can't be read: {error}");
    }
    let roots: Vec<_> = system.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    let roots = RootCerts::new_with_certs(&roots);
    let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(provider).root_certs(roots);
    let config = Agent::config_builder()
        .max_redirects(0)
        .proxy(None)
        .max_idle_connections(0)
        .user_agent(concat!("celero-proxy/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls.build());
    config.build().into()
}
