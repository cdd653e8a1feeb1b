//! The TLS connection over which a client speaks to the host, as rules read it: `source.tls`.

use crate::auth::ClientCertificate;
use crate::host::tls_hello::as_host;
use crate::yaml::Node;
use celero::Context;
use std::sync::Arc;

/// The TLS connection of a client, for [`Exchange::set_tls`](crate::Exchange::set_tls). Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsConnection {
    inner: Arc<Inner>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Inner {
    fields: TlsFields,
    certificate: Option<ClientCertificate>,
}

/// What rules read. All is absent without TLS, the last five without a verified certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Context)]
#[context(rename_all = "camelCase")]
pub(crate) struct TlsFields {
    pub(crate) version: Option<String>,
    pub(crate) cipher: Option<String>,
    pub(crate) sni: Option<String>,
    pub(crate) subject: Option<String>,
    pub(crate) issuer: Option<String>,
    pub(crate) sans: Option<Vec<String>>,
    pub(crate) spiffe_id: Option<String>,
    pub(crate) fingerprint: Option<String>,
}

impl TlsConnection {
    /// Returns a connection of this version (`TLSv1.3`) with this cipher, by its name in the
    /// registry of IANA (`TLS_AES_128_GCM_SHA256`).
    #[must_use]
    pub fn new(version: &str, cipher: &str) -> Self {
        let fields =
            TlsFields { version: Some(version.to_owned()), cipher: Some(cipher.to_owned()), ..TlsFields::default() };
        Self { inner: Arc::new(Inner { fields, certificate: None }) }
    }

    /// Sets the name that the client has asked for (SNI, RFC 6066, section 3). Rules read it as
    /// they read hosts: in lower case, without a dot at its end.
    #[must_use]
    pub fn with_sni(mut self, name: &str) -> Self {
        Arc::make_mut(&mut self.inner).fields.sni = Some(as_host(name));
        self
    }

    /// Sets the certificate that the client has shown. **The host must have verified it**: rules decide by it.
    #[must_use]
    pub fn with_certificate(mut self, certificate: ClientCertificate) -> Self {
        let Inner { fields, certificate: kept } = Arc::make_mut(&mut self.inner);
        let data = certificate.data();
        fields.subject = Some(data.subject.clone());
        fields.fingerprint = Some(data.fingerprint.clone());
        fields.issuer.clone_from(&data.issuer);
        fields.sans = Some(data.sans.clone());
        fields.spiffe_id.clone_from(&data.spiffe_id);
        *kept = Some(certificate);
        self
    }

    /// Reads the mapping `tls` of a case.
    pub(crate) fn of_case(node: &Node) -> Self {
        let text = |key: &str| node.text_of(key).map(|text| text.text);
        let fields = TlsFields {
            version: text("version"),
            cipher: text("cipher"),
            sni: text("sni").map(|name| as_host(&name)),
            subject: text("subject"),
            issuer: text("issuer"),
            sans: node.get("sans").map(|_| node.texts_of("sans").into_iter().map(|text| text.text).collect()),
            spiffe_id: text("spiffeId"),
            fingerprint: text("fingerprint"),
        };
        Self { inner: Arc::new(Inner { fields, certificate: None }) }
    }

    /// Returns what rules read.
    pub(crate) fn fields(&self) -> &TlsFields {
        &self.inner.fields
    }

    /// Returns the certificate that the client has shown.
    #[must_use]
    pub fn certificate(&self) -> Option<&ClientCertificate> {
        self.inner.certificate.as_ref()
    }
}
