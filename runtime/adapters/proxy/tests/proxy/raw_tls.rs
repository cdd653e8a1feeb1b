//! A client of TLS that sends any records, also those that a well-behaved client would not send.

use crate::certificates::TlsClient;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk};
use rustls::crypto::ring::cipher_suite::{TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS13_AES_128_GCM_SHA256};
use rustls::crypto::{CryptoProvider, ring::default_provider};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, ConnectionTrafficSecrets, KeyLog, SupportedProtocolVersion};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

pub(crate) const CHANGE_CIPHER_SPEC: u8 = 20;
pub(crate) const ALERT: u8 = 21;
pub(crate) const HANDSHAKE: u8 = 22;
pub(crate) const CONTENT: u8 = 23;

/// A connection after its handshake. It has the protocol version 1.3, or 1.2.
pub(crate) struct RawTls {
    pub(crate) socket: TcpStream,
    is_13: bool,
    key: LessSafeKey,
    iv: [u8; 12],
    /// Of TLS 1.3, from which the next keys are made.
    secret: Vec<u8>,
    sequence: u64,
}

/// Keeps the secret of the records of a client.
#[derive(Debug, Default)]
struct Secret(Mutex<Vec<u8>>);

impl KeyLog for Secret {
    fn log(&self, label: &str, _: &[u8], secret: &[u8]) {
        if label == "CLIENT_TRAFFIC_SECRET_0" {
            *self.0.lock().unwrap() = secret.to_vec();
        }
    }
}

impl RawTls {
    /// Connects to a server of this name.
    pub(crate) fn connect(client: &TlsClient, address: SocketAddr, name: &'static str) -> Self {
        let mut config = client.config();
        let secret = Arc::new(Secret::default());
        (config.key_log, config.enable_secret_extraction) = (Arc::<Secret>::clone(&secret), true);
        let mut socket = TcpStream::connect(address).unwrap();
        let name = ServerName::try_from(name).unwrap();
        let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).unwrap();
        }
        let version = connection.protocol_version();
        let (sequence, secrets) = connection.dangerous_extract_secrets().unwrap().tx;
        let ConnectionTrafficSecrets::Aes128Gcm { key, iv } = secrets else { panic!("another cipher") };
        let iv = iv.as_ref().try_into().unwrap();
        let secret = secret.0.lock().unwrap().clone();
        let is_13 = version == Some(rustls::ProtocolVersion::TLSv1_3);
        Self { socket, is_13, key: self::key(key.as_ref()), iv, secret, sequence }
    }

    /// Returns a record with this content.
    pub(crate) fn record(&mut self, kind: u8, content: &[u8]) -> Vec<u8> {
        if self.is_13 {
            return self.record_13(&[content, &[kind]].concat());
        }
        let sequence = self.sequence.to_be_bytes();
        let mut iv = self.iv;
        iv[4..].copy_from_slice(&sequence);
        let plain = u16::try_from(content.len()).unwrap();
        let about = [&sequence[..], &[kind, 3, 3], &plain.to_be_bytes()].concat();
        let sealed = self.seal(iv, &about, content);
        let length = u16::try_from(sequence.len() + sealed.len()).unwrap().to_be_bytes();
        [&[kind, 3, 3][..], &length, &sequence, &sealed].concat()
    }

    /// Returns a record of TLS 1.3: content, its kind, and perhaps zeros.
    pub(crate) fn record_13(&mut self, inner: &[u8]) -> Vec<u8> {
        let mut iv = self.iv;
        iv[4..].iter_mut().zip(self.sequence.to_be_bytes()).for_each(|(byte, number)| *byte ^= number);
        let length = u16::try_from(inner.len() + AES_128_GCM.tag_len()).unwrap().to_be_bytes();
        let head = [CONTENT, 3, 3, length[0], length[1]];
        let sealed = self.seal(iv, &head, inner);
        [&head[..], &sealed].concat()
    }

    /// Returns a record that says that the next one has other keys (RFC 8446, section 4.6.3), and
    /// perhaps asks for the same.
    pub(crate) fn key_update(&mut self, is_requested: bool) -> Vec<u8> {
        let record = self.record(HANDSHAKE, &[24, 0, 0, 1, is_requested.into()]);
        self.secret = expand(&self.secret, "traffic upd", 32);
        self.key = key(&expand(&self.secret, "key", 16));
        self.iv = expand(&self.secret, "iv", 12).try_into().unwrap();
        self.sequence = 0;
        record
    }

    fn seal(&mut self, iv: [u8; 12], about: &[u8], content: &[u8]) -> Vec<u8> {
        let mut sealed = content.to_vec();
        let nonce = Nonce::assume_unique_for_key(iv);
        self.key.seal_in_place_append_tag(nonce, Aad::from(about), &mut sealed).unwrap();
        self.sequence += 1;
        sealed
    }
}

/// What a [`TlsClient`] must have for this.
pub(crate) fn provider() -> CryptoProvider {
    let cipher_suites = vec![TLS13_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256];
    CryptoProvider { cipher_suites, ..default_provider() }
}

/// The versions of TLS.
pub(crate) const VERSIONS: [&[&SupportedProtocolVersion]; 2] = [&[&rustls::version::TLS13], &[&rustls::version::TLS12]];

fn key(bytes: &[u8]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_128_GCM, bytes).unwrap())
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// `HKDF-Expand-Label` (RFC 8446, section 7.1).
fn expand(secret: &[u8], label: &str, length: usize) -> Vec<u8> {
    let label = format!("tls13 {label}");
    let [high, low] = u16::try_from(length).unwrap().to_be_bytes();
    let about = [&[high, low, u8::try_from(label.len()).unwrap()], label.as_bytes(), &[0]];
    let mut out = vec![0; length];
    let secret = Prk::new_less_safe(HKDF_SHA256, secret);
    secret.expand(&about, Length(length)).unwrap().fill(&mut out).unwrap();
    out
}
