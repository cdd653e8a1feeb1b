//! Certificates for tests, and clients of TLS.

use crate::running::{Folder, LONG};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyIdMethod, KeyPair, RevokedCertParams, SanType, date_time_ymd,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, StreamOwned, SupportedProtocolVersion};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

/// Who signs certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
pub(crate) struct Signed {
    pub(crate) chain: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for hosts.
    pub(crate) fn server(&self, names: &[&str]) -> Signed {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        self.sign(CertificateParams::new(names).unwrap(), ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// A certificate of a client with a serial number.
    pub(crate) fn numbered_client(&self, serial: u64) -> Signed {
        let mut params = CertificateParams::new(vec!["client.example".to_owned()]).unwrap();
        params.serial_number = Some(serial.into());
        self.sign(params, ExtendedKeyUsagePurpose::ClientAuth)
    }

    /// A revocation list with these serial numbers, in PEM, that is valid until the beginning of a year.
    pub(crate) fn revokes(&self, serials: &[u64], until: i32) -> String {
        let revoked = serials.iter().map(|serial| RevokedCertParams {
            serial_number: (*serial).into(),
            revocation_time: date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 1),
            next_update: date_time_ymd(until, 1, 1),
            crl_number: 1_u64.into(),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.0).unwrap().pem().unwrap()
    }

    /// A certificate of a client.
    pub(crate) fn client(&self, common_name: &str, uri: &str) -> Signed {
        let mut params = CertificateParams::new(vec!["client.example".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::OrganizationName, "Example, Inc.");
        params.distinguished_name.push(DnType::CommonName, common_name);
        params.subject_alt_names.push(SanType::URI(uri.try_into().unwrap()));
        self.sign(params, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, mut params: CertificateParams, purpose: ExtendedKeyUsagePurpose) -> Signed {
        params.extended_key_usages = vec![purpose];
        let key = KeyPair::generate().unwrap();
        Signed { chain: params.signed_by(&key, &self.0).unwrap().pem(), key: key.serialize_pem() }
    }

    /// A client that trusts this authority.
    pub(crate) fn trust(&self) -> TlsClient {
        let provider = rustls::crypto::ring::default_provider();
        TlsClient {
            authority: self.pem(),
            shown: None,
            versions: rustls::ALL_VERSIONS,
            protocols: Vec::new(),
            provider,
        }
    }
}

impl Signed {
    /// Writes `NAME.pem` and `NAME.key`.
    pub(crate) fn write(&self, folder: &Folder, name: &str) {
        folder.write(&format!("{name}.pem"), &self.chain);
        folder.write(&format!("{name}.key"), &self.key);
    }

    pub(crate) fn der(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.chain.as_bytes()).unwrap()
    }
}

/// A client of TLS.
#[derive(Clone)]
pub(crate) struct TlsClient {
    authority: String,
    shown: Option<(String, String)>,
    versions: &'static [&'static SupportedProtocolVersion],
    protocols: Vec<Vec<u8>>,
    provider: CryptoProvider,
}

/// A connection with TLS.
pub(crate) type TlsConnection = StreamOwned<ClientConnection, TcpStream>;

impl TlsClient {
    /// Shows a certificate.
    pub(crate) fn with(mut self, certificate: &Signed) -> Self {
        self.shown = Some((certificate.chain.clone(), certificate.key.clone()));
        self
    }

    pub(crate) fn versions(mut self, versions: &'static [&'static SupportedProtocolVersion]) -> Self {
        self.versions = versions;
        self
    }

    pub(crate) fn provider(self, provider: CryptoProvider) -> Self {
        Self { provider, ..self }
    }

    pub(crate) fn protocols(mut self, protocols: &[&str]) -> Self {
        self.protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        self
    }

    /// Sends a request on each of two connections, the second of which may resume the session of
    /// the first. Returns how the handshakes were done.
    pub(crate) fn handshakes(&self, address: SocketAddr, name: &str) -> [HandshakeKind; 2] {
        // Sessions are resumed by connections of one configuration.
        let config = Arc::new(self.config());
        [0, 1].map(|_| {
            let mut connection = connect(&config, address, name).unwrap();
            write!(connection, "GET / HTTP/1.1\r\nhost: {name}\r\nconnection: close\r\n\r\n").unwrap();
            std::io::copy(&mut connection, &mut std::io::sink()).unwrap();
            connection.conn.handshake_kind().unwrap()
        })
    }

    pub(crate) fn config(&self) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.authority.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(self.provider.clone());
        let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(self.versions).unwrap();
        let builder = builder.with_root_certificates(roots);
        let mut config = match &self.shown {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let chain = CertificateDer::pem_slice_iter(chain.as_bytes()).collect::<Result<_, _>>().unwrap();
                builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap()).unwrap()
            }
        };
        config.alpn_protocols.clone_from(&self.protocols);
        config
    }

    /// Connects and does the handshake.
    pub(crate) fn connect(&self, address: SocketAddr, name: &str) -> std::io::Result<TlsConnection> {
        connect(&Arc::new(self.config()), address, name)
    }

    /// Does the handshake on a connection.
    pub(crate) fn over(&self, socket: TcpStream, name: &str) -> std::io::Result<TlsConnection> {
        over(&Arc::new(self.config()), socket, name)
    }

    /// Sends a request on a connection of its own. Returns the whole response.
    pub(crate) fn get(&self, address: SocketAddr, name: &str, path: &str, headers: &str) -> std::io::Result<String> {
        let mut connection = self.connect(address, name)?;
        write!(connection, "GET {path} HTTP/1.1\r\nhost: {name}\r\n{headers}connection: close\r\n\r\n")?;
        let mut response = String::new();
        connection.read_to_string(&mut response)?;
        Ok(response)
    }
}

/// The certificate that the other side has shown.
pub(crate) fn shown(connection: &TlsConnection) -> CertificateDer<'static> {
    connection.conn.peer_certificates().unwrap()[0].clone().into_owned()
}

fn connect(config: &Arc<ClientConfig>, address: SocketAddr, name: &str) -> std::io::Result<TlsConnection> {
    over(config, TcpStream::connect(address)?, name)
}

fn over(config: &Arc<ClientConfig>, mut socket: TcpStream, name: &str) -> std::io::Result<TlsConnection> {
    socket.set_read_timeout(Some(LONG))?;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut connection = ClientConnection::new(Arc::clone(config), name).map_err(std::io::Error::other)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    Ok(StreamOwned::new(connection, socket))
}
