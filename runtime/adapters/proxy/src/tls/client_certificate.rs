//! The certificate that a client has shown, as rules read it.

use crate::hex::hex;
use celero_policy::ClientCertificate;
use ring::digest::{SHA256, digest};
use std::net::IpAddr;
use x509_parser::prelude::{AttributeTypeAndValue, GeneralName, X509Certificate, X509Name};

/// The types of attributes that have a name in texts (RFC 4514, section 3).
const NAMED: [(&str, &str); 9] = [
    ("2.5.4.3", "CN"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("2.5.4.6", "C"),
    ("2.5.4.9", "STREET"),
    ("0.9.2342.19200300.100.1.25", "DC"),
    ("0.9.2342.19200300.100.1.1", "UID"),
];

/// Reads a certificate in DER, which was verified. Returns `None` if it can't be read.
pub(super) fn read(der: &[u8]) -> Option<ClientCertificate> {
    let (_, certificate) = x509_parser::parse_x509_certificate(der).ok()?;
    let hash = hex(digest(&SHA256, der).as_ref());
    let AlternativeNames { uris, dns, mail, ip } = alternative_names(&certificate)?;
    let read = ClientCertificate::new(&text_of(certificate.subject()), &hash, &uris, &dns);
    Some(read.with_issuer(&text_of(certificate.issuer())).with_addresses(&mail, &ip))
}

/// The alternative names of a certificate's subject (RFC 5280, section 4.2.1.6) of the kinds that rules read.
#[derive(Default)]
struct AlternativeNames<'c> {
    uris: Vec<&'c str>,
    dns: Vec<&'c str>,
    mail: Vec<&'c str>,
    ip: Vec<IpAddr>,
}

fn alternative_names<'c>(certificate: &'c X509Certificate<'_>) -> Option<AlternativeNames<'c>> {
    let mut found = AlternativeNames::default();
    for name in certificate.subject_alternative_name().ok()?.iter().flat_map(|found| &found.value.general_names) {
        match name {
            GeneralName::URI(uri) => found.uris.push(uri),
            GeneralName::DNSName(name) => found.dns.push(name),
            GeneralName::RFC822Name(address) => found.mail.push(address),
            GeneralName::IPAddress(bytes) => found.ip.extend(address(bytes)),
            _ => {}
        }
    }
    Some(found)
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

/// Returns a name as a text (RFC 4514): the last part first.
fn text_of(name: &X509Name<'_>) -> String {
    let mut parts: Vec<_> = name.iter_rdn().collect();
    parts.reverse();
    let mut text = String::new();
    for (number, part) in parts.into_iter().enumerate() {
        text.push_str(if number == 0 { "" } else { "," });
        for (number, attribute) in part.iter().enumerate() {
            text.push_str(if number == 0 { "" } else { "+" });
            add(&mut text, attribute);
        }
    }
    text
}

/// Adds an attribute to a text.
fn add(text: &mut String, attribute: &AttributeTypeAndValue<'_>) {
    let id = attribute.attr_type().to_id_string();
    let name = NAMED.iter().find(|(known, _)| *known == id).map(|(_, name)| *name);
    text.push_str(name.unwrap_or(&id));
    text.push('=');
    match (name, attribute.as_str()) {
        (Some(_), Ok(value)) => escape(text, value),
        _ => {
            text.push('#');
            text.push_str(&hex(attribute.attr_value().data));
        }
    }
}

/// Adds a value to a text (RFC 4514, section 2.4).
fn escape(text: &mut String, value: &str) {
    let last = value.chars().count().saturating_sub(1);
    for (number, c) in value.chars().enumerate() {
        match c {
            '"' | '+' | ',' | ';' | '<' | '>' | '\\' => text.extend(['\\', c]),
            ' ' if number == 0 || number == last => text.push_str("\\ "),
            '#' if number == 0 => text.push_str("\\#"),
            c if c.is_control() => c.to_string().bytes().for_each(|byte| text.push_str(&format!("\\{byte:02x}"))),
            c => text.push(c),
        }
    }
}
