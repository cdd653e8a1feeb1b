//! Certificates of clients: those that the host has verified, and those that a TLS terminator in
//! front has verified and names in `x-forwarded-client-cert`, as Envoy writes it. Only trusted
//! peers may send the header; from others it is removed.

use super::{Fields, Finding, single_value};
use crate::file::document::Section;
use crate::problems::Problems;
use celero_canonical::Head;
use http::{HeaderMap, HeaderName};
use ipnet::IpNet;
use serde_json::{Map as JsonMap, Value as Json};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

pub(super) static HEADER: HeaderName = HeaderName::from_static("x-forwarded-client-cert");

/// A certificate that a client has shown and the host has verified, for
/// [`Exchange::set_client_certificate`](crate::Exchange::set_client_certificate). Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    data: Arc<CertificateData>,
}

/// What is known of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CertificateData {
    /// What rules read as `clientCert`.
    fields: Fields,
    pub(crate) subject: String,
    pub(crate) fingerprint: String,
    pub(crate) issuer: Option<String>,
    /// The subject's alternative names, each with its kind: a name of one kind can't pass for one of another.
    pub(crate) sans: Vec<String>,
    pub(crate) spiffe_id: Option<String>,
}

impl ClientCertificate {
    /// Returns a certificate with these fields: the subject's name as a text (RFC 4514), the
    /// SHA-256 digest of the certificate in lower-case hexadecimal digits, the URIs and the DNS
    /// names among the subject's alternative names (RFC 5280, section 4.2.1.6).
    #[must_use]
    pub fn new(subject: &str, hash: &str, uris: &[&str], dns_names: &[&str]) -> Self {
        let mut fields = JsonMap::new();
        fields.insert("subject".to_owned(), subject.into());
        fields.insert("hash".to_owned(), hash.into());
        for (name, values) in [("uris", uris), ("dnsNames", dns_names)] {
            if !values.is_empty() {
                fields.insert(name.to_owned(), values.into());
            }
        }
        let of_kind =
            |kind: &str, names: &[&str]| -> Vec<String> { names.iter().map(|name| format!("{kind}:{name}")).collect() };
        let data = CertificateData {
            fields: Arc::new(fields),
            subject: subject.to_owned(),
            fingerprint: hash.to_owned(),
            issuer: None,
            sans: [of_kind("URI", uris), of_kind("DNS", dns_names)].concat(),
            spiffe_id: spiffe_id(uris).map(str::to_owned),
        };
        Self { data: Arc::new(data) }
    }

    /// Sets the name of the certificate's issuer as a text (RFC 4514).
    #[must_use]
    pub fn with_issuer(mut self, issuer: &str) -> Self {
        Arc::make_mut(&mut self.data).issuer = Some(issuer.to_owned());
        self
    }

    /// Adds mail and IP addresses among the subject's alternative names.
    #[must_use]
    pub fn with_addresses(mut self, mail: &[&str], ip: &[IpAddr]) -> Self {
        let sans = &mut Arc::make_mut(&mut self.data).sans;
        sans.extend(mail.iter().map(|address| format!("email:{address}")));
        sans.extend(ip.iter().map(|address| format!("IP:{address}")));
        self
    }

    pub(crate) fn data(&self) -> &CertificateData {
        &self.data
    }
}

/// Returns the SPIFFE ID among the URIs of a certificate, which must be the only one (X.509-SVID,
/// section 2). `None`: there is none, or it is outside the grammar (SPIFFE-ID, section 2).
fn spiffe_id<'u>(uris: &[&'u str]) -> Option<&'u str> {
    let &[id] = uris else { return None };
    let rest = id.strip_prefix("spiffe://").filter(|_| id.len() <= 2048)?;
    let (domain, path) = rest.split_at_checked(rest.find('/').unwrap_or(rest.len()))?;
    let other = |byte: u8| matches!(byte, b'.' | b'-' | b'_');
    let in_domain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || other(byte);
    let in_path = |byte: u8| byte.is_ascii_alphanumeric() || other(byte);
    let segment = |text: &str| !matches!(text, "" | "." | "..") && text.bytes().all(in_path);
    let path_is_right = path.strip_prefix('/').is_none_or(|path| path.split('/').all(segment));
    (!domain.is_empty() && domain.len() <= 255 && domain.bytes().all(in_domain) && path_is_right).then_some(id)
}

/// Who may say which certificate a client has.
#[derive(Debug)]
pub(crate) struct ClientCerts {
    trusted: Vec<IpNet>,
}

impl ClientCerts {
    /// Compiles the section `clientCert`, and reports its errors.
    pub(crate) fn compile(section: Section<'_>, problems: &mut Problems) -> Self {
        let mut trusted = Vec::new();
        for text in section.node.texts_of("trusted") {
            let single = || IpAddr::from_str(&text.text).map(IpNet::from);
            match IpNet::from_str(&text.text).or_else(|_| single()) {
                Ok(network) => trusted.push(network.trunc()),
                Err(_) => {
                    let message = format!("`{}` is neither an address nor a network", text.text);
                    problems.add("policy-value", text.place, message).help("networks are written as `10.0.0.0/8`");
                }
            }
        }
        Self { trusted }
    }

    /// Removes the header from a request of a peer that is not trusted. Returns whether it is. Call
    /// it before rules read the request.
    pub(crate) fn decide_peer(&self, head: &mut impl Head, peer: Option<SocketAddr>) -> bool {
        let trusted = self.trusts(peer);
        if !trusted && head.headers().contains_key(&HEADER) {
            head.remove_field(&HEADER);
        }
        trusted
    }

    /// Returns the fields of the client's certificate: of a trusted peer the one in the headers of
    /// the request, of any other the one that it has `shown` itself.
    /// [`decide_peer`](Self::decide_peer) must have removed what nobody may trust.
    pub(crate) fn find(
        &self,
        headers: &HeaderMap,
        peer: Option<SocketAddr>,
        shown: Option<&ClientCertificate>,
    ) -> Finding {
        if self.trusts(peer) {
            return fields(single_value(headers, &HEADER)?).map(Arc::new);
        }
        shown.map(|certificate| Arc::clone(&certificate.data.fields))
    }

    fn trusts(&self, peer: Option<SocketAddr>) -> bool {
        let address = peer.map(|peer| peer.ip().to_canonical());
        address.is_some_and(|address| self.trusted.iter().any(|network| network.contains(&address)))
    }
}

/// Returns the fields of the last certificate in a value: that which the peer itself has verified.
/// The ones before it were in the header that the peer received. `None`: the value is malformed.
fn fields(value: &str) -> Option<JsonMap<String, Json>> {
    let mut known = JsonMap::new();
    let mut rest = value;
    loop {
        let (name, after) = rest.split_once('=')?;
        let (text, after) = text(after)?;
        match name.trim().to_ascii_lowercase().as_str() {
            "by" => add(&mut known, "by", text),
            "uri" => add(&mut known, "uris", text),
            "dns" => add(&mut known, "dnsNames", text),
            "subject" => set(&mut known, "subject", text)?,
            "hash" => set(&mut known, "hash", text.to_ascii_lowercase())?,
            // The certificate itself and its chain are of no use to rules.
            "cert" | "chain" => {}
            _ => return None,
        }
        rest = match after.split_at_checked(1) {
            None => return Some(known),
            Some((";", rest)) => rest,
            Some((",", rest)) => {
                known.clear();
                rest
            }
            Some(_) => return None,
        };
    }
}

/// Reads a text, quoted or not. Returns it with what follows.
fn text(from: &str) -> Option<(String, &str)> {
    let Some(quoted) = from.strip_prefix('"') else {
        let (text, rest) = from.split_at_checked(from.find([',', ';']).unwrap_or(from.len()))?;
        return (!text.contains(['"', '='])).then(|| (text.trim().to_owned(), rest));
    };
    let mut text = String::new();
    let mut characters = quoted.char_indices();
    loop {
        match characters.next()? {
            (_, '\\') => text.push(characters.next()?.1),
            (_, '"') => return Some((text, characters.as_str())),
            (_, other) => text.push(other),
        }
    }
}

/// Adds a text to a list.
fn add(known: &mut JsonMap<String, Json>, name: &str, text: String) {
    if let Json::Array(list) = known.entry(name).or_insert_with(|| Json::Array(Vec::new())) {
        list.push(text.into());
    }
}

/// Sets a text that may occur once.
fn set(known: &mut JsonMap<String, Json>, name: &str, text: String) -> Option<()> {
    known.insert(name.to_owned(), text.into()).is_none().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_certificate_counts() {
        let value = r#"By=spiffe://c/x;Hash=AB12;Subject="/C=US/CN=a, b; \"c\"";URI=;DNS=a.example;dns=b.example"#;
        let one = json!({
            "by": ["spiffe://c/x"], "hash": "ab12", "subject": "/C=US/CN=a, b; \"c\"", "uris": [""],
            "dnsNames": ["a.example", "b.example"],
        });
        assert_eq!(fields(value).map(Json::Object), Some(one.clone()));
        assert_eq!(fields(&format!("Subject=\"CN=root\";Hash=ff,{value}")).map(Json::Object), Some(one));
        let last = fields(&format!("{value},Hash=00;Cert=\"-----BEGIN%20\"")).map(Json::Object);
        assert_eq!(last, Some(json!({ "hash": "00" })));
    }

    #[test]
    fn a_spiffe_id_stands_alone() {
        for id in ["spiffe://a", "spiffe://a.example/b", "spiffe://a-1_b/C/d.e/f_g-h", "spiffe://a/..."] {
            assert_eq!(spiffe_id(&[id]), Some(id));
        }
        let long = format!("spiffe://a/{}", "b".repeat(2048));
        for id in [
            "spiffe://",
            "spiffe:///b",
            "spiffe://a/",
            "spiffe://a//b",
            "spiffe://a/./b",
            "spiffe://a/../b",
            "spiffe://A/b",
            "SPIFFE://a/b",
            "spiffe://a:1/b",
            "spiffe://u@a/b",
            "spiffe://a/b?c",
            "spiffe://a/b#c",
            "spiffe://a/%62",
            "spiffe://a/b c",
            "https://a/b",
            &long,
        ] {
            assert_eq!(spiffe_id(&[id]), None, "{id}");
        }
        assert_eq!(spiffe_id(&[]), None);
        assert_eq!(spiffe_id(&["spiffe://a/b", "https://a"]), None, "a second URI");
    }

    #[test]
    fn malformed_values_are_no_certificate() {
        for value in [
            "",
            ",",
            ";",
            "Hash",
            "Hash=a,",
            "Hash=a;",
            ",Hash=a",
            "Hash=a;Hash=b",
            "Subject=\"a",
            "Subject=\"a\"b",
            "Subject=a\"b\"",
            "Subject=\"a\\",
            "Subject=CN=a",
            "Other=a",
            "Hash=a Hash=b",
            "=a",
            "Hash =a;;",
        ] {
            assert_eq!(fields(value), None, "{value}");
        }
    }
}
