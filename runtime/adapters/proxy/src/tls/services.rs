//! TLS to services that the proxy calls by gRPC.

use super::pem::{self, read};
use crate::config::{Certificate, UpstreamTls};
use crate::error::Error;
use tonic::transport::{Certificate as Trusted, ClientTlsConfig, Identity};

/// Returns what a client of a service needs for handshakes.
///
/// # Errors
/// A file can't be read, or has another content than its key says.
pub(crate) fn client_of(config: &UpstreamTls) -> Result<ClientTlsConfig, Error> {
    let mut tls = ClientTlsConfig::new().domain_name(&config.server_name);
    tls = match &config.authorities {
        Some(file) => {
            pem::certificates(file)?;
            tls.ca_certificate(Trusted::from_pem(read(file)?))
        }
        None => tls.with_native_roots(),
    };
    if let Some(Certificate { chain, key, .. }) = &config.certificate {
        pem::certificates(chain)?;
        pem::private_key(key)?;
        tls = tls.identity(Identity::from_pem(read(chain)?, read(key)?));
    }
    Ok(tls)
}
