//! The keys of TLS, to clients, servers and services.

use celero_policy::schema::ValueSpec::{Bool, List, Mapping, Text, Word};
use celero_policy::schema::{KeySpec, MappingSpec, ValueSpec};

const fn optional(name: &'static str, value: ValueSpec, description: &'static str) -> KeySpec {
    KeySpec::optional(name, value, description)
}

const fn required(name: &'static str, value: ValueSpec, description: &'static str) -> KeySpec {
    KeySpec::required(name, value, description)
}

/// The values of `minVersion`.
pub(super) const VERSIONS: &[&str] = &["1.2", "1.3"];

pub(super) static LISTENER_TLS: MappingSpec = MappingSpec::new(
    "`tls` of a listener",
    &[
        required(
            "certificates",
            List(&Mapping(&CERTIFICATE)),
            "The certificates of the proxy. A client gets the first that is valid for the name it asks for; otherwise, the first.",
        ),
        optional("clients", Mapping(&CLIENTS), "Certificates of clients. Default: they are not asked for."),
        optional("minVersion", Word(VERSIONS), "The oldest version of TLS that is accepted. Default: 1.2."),
        optional("http2", Bool, "Whether clients may use HTTP/2 besides HTTP/1. Default: true."),
    ],
);

static CERTIFICATE: MappingSpec = MappingSpec::new(
    "a certificate",
    &[
        required("chain", Text, "The file of the certificate and those above it, in PEM."),
        required("key", Text, "The file of the private key, in PEM."),
        optional(
            "ocsp",
            Text,
            "The file of an OCSP response in DER, which is sent with the certificate. Default: none.",
        ),
    ],
);

static CLIENTS: MappingSpec = MappingSpec::new(
    "`clients`",
    &[
        required("authorities", Text, "The file of the certificates that clients' certificates must lead to, in PEM."),
        optional("required", Bool, "Whether clients without a certificate are refused. Default: true."),
        optional(
            "revoked",
            Text,
            "The file of revocation lists in PEM, one for each authority on the way to a client's certificate. Default: none.",
        ),
    ],
);

pub(super) static UPSTREAM_TLS: MappingSpec = MappingSpec::new(
    "`tls` of an upstream",
    &[
        required(
            "serverName",
            Text,
            "The name for which the servers' certificates must be valid. It is sent to them, too.",
        ),
        optional(
            "authorities",
            Text,
            "The file of the certificates that the servers' must lead to, in PEM. Default: those of the system.",
        ),
        optional("certificate", Mapping(&CERTIFICATE), "The certificate for servers that ask for one. Default: none."),
        optional("http2", Bool, "Whether HTTP/2 is used with servers that can. Default: false."),
    ],
);

pub(super) static SERVICE_TLS: MappingSpec = MappingSpec::new(
    "`tls` of a service",
    &[
        required("serverName", Text, "The name for which the service's certificate must be valid. It is sent, too."),
        optional(
            "authorities",
            Text,
            "The file of the certificates that the service's must lead to, in PEM. Default: those of the system.",
        ),
        optional(
            "certificate",
            Mapping(&CERTIFICATE),
            "The certificate for a service that asks for one. Default: none.",
        ),
    ],
);
