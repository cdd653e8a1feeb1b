//! What a client says when it begins TLS, as rules of the phase `connection` read it: `source.tls`.

use crate::yaml::Node;
use celero::Context;

/// What a client says when it begins TLS, before anything is agreed on or verified (the
/// `ClientHello`, RFC 8446, section 4.1.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsHello {
    fields: HelloFields,
}

/// What rules of the phase `connection` read as `source.tls`. All is absent without TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Context)]
pub(crate) struct HelloFields {
    pub(crate) sni: Option<String>,
    pub(crate) alpn: Option<Vec<String>>,
}

/// Returns a name of TLS as `request.host` is written.
pub(crate) fn as_host(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

impl TlsHello {
    /// Returns a hello that names no server and no protocols.
    #[must_use]
    pub fn new() -> Self {
        Self { fields: HelloFields { sni: None, alpn: Some(Vec::new()) } }
    }

    /// Sets the name that the client asks for (SNI, RFC 6066, section 3). Rules read it as they
    /// read hosts: in lower case, without a dot at its end.
    #[must_use]
    pub fn with_sni(mut self, name: &str) -> Self {
        self.fields.sni = Some(as_host(name));
        self
    }

    /// Sets the protocols that the client offers, in its order (ALPN, RFC 7301). What is not UTF-8
    /// in a name is replaced by U+FFFD.
    #[must_use]
    pub fn with_alpn<'n>(mut self, names: impl IntoIterator<Item = &'n [u8]>) -> Self {
        let names = names.into_iter().map(|name| String::from_utf8_lossy(name).into_owned());
        self.fields.alpn = Some(names.collect());
        self
    }

    /// Reads the mapping `tls` of a case.
    pub(crate) fn of_case(node: &Node) -> Self {
        let alpn = node.texts_of("alpn").into_iter().map(|text| text.text).collect();
        Self { fields: HelloFields { sni: node.text_of("sni").map(|text| as_host(&text.text)), alpn: Some(alpn) } }
    }

    /// Returns what rules read.
    pub(crate) fn fields(&self) -> &HelloFields {
        &self.fields
    }
}
