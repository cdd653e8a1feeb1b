//! The keys of a file of cases, which `celero test` runs: names, values and descriptions.

use crate::cases::messages::VERSIONS;
use crate::keys::policy::CODES;
use crate::schema::ValueSpec::{Any, Duration, Integer, List, Map, Mapping, OneOf, Template, Text, True, Word};
use crate::schema::{DocumentSpec, KeySpec, MappingSpec, ValueSpec};

const fn optional(name: &'static str, value: ValueSpec, description: &'static str) -> KeySpec {
    KeySpec::optional(name, value, description)
}

/// What a service can say about a request in a case.
pub(crate) const REMOTE_ANSWERS: &[&str] = &["within", "above", "unavailable"];

/// A whole file.
pub(crate) static CASES: DocumentSpec = DocumentSpec::new("a file of cases", List(&Mapping(&CASE)), CODES);

static CASE: MappingSpec = MappingSpec::new(
    "a case",
    &[
        KeySpec::required("name", Text, "What the case shows."),
        optional(
            "before",
            List(&Mapping(&EARLIER)),
            "Requests that precede the request of the case, in order. Limits begin unused in each case.",
        ),
        optional(
            "at",
            Duration,
            "When the request arrives, after the beginning of the case. Default: when the last of `before` does.",
        ),
        REQUEST_KEY,
        GIVEN,
        LABELS,
        VARIABLES,
        REMOTE,
        RESPONSE_KEY,
        KeySpec::required("expect", Mapping(&EXPECTATION), "The expected result. What is not listed is not compared."),
    ],
);

const REQUEST_KEY: KeySpec = optional("request", Mapping(&REQUEST), "The request. Default: `GET /`.");
const GIVEN: KeySpec =
    optional("given", Mapping(&CREDENTIALS), "Credentials that count as verified, so that a case needs no signatures.");
const REMOTE: KeySpec = optional(
    "remote",
    Map(&Word(REMOTE_ANSWERS)),
    "What the services say that count limits, by the names of the limits: `within` (the default), `above` or `unavailable`.",
);
const VARIABLES: KeySpec = optional(
    "variables",
    Map(&Any),
    "Values of the host's own variables, by their names. A variable without a value is absent.",
);
const LABELS: KeySpec = optional("labels", Map(&Text), "Labels that the host gives the request.");
const RESPONSE_KEY: KeySpec =
    optional("response", Mapping(&RESPONSE), "The response of the server. Default: status 200.");

static EARLIER: MappingSpec = MappingSpec::new(
    "an entry of `before`",
    &[
        optional("at", Duration, "When the request arrives, after the beginning of the case. Default: 0s."),
        optional("times", Integer { least: 1, most: 100_000 }, "How many such requests arrive then. Default: 1."),
        optional("open", True, "The requests are open until the case ends."),
        REQUEST_KEY,
        GIVEN,
        LABELS,
        VARIABLES,
        REMOTE,
        RESPONSE_KEY,
    ],
);

static REQUEST: MappingSpec = MappingSpec::new(
    "a request",
    &[
        optional("method", Text, "The method. Default: `GET`."),
        optional("uri", Text, "The request target. Default: `/`."),
        optional(
            "version",
            Word(VERSIONS),
            "The version. Default: `HTTP/2` if `uri` is a URL, which is then what a client is asked for; else `HTTP/1.1`.",
        ),
        optional(
            "headers",
            Map(&TEXT_OR_TEXTS),
            "The headers. A list is a header that is sent several times, or with `[]` not at all. Default of `host`: `localhost`; of `content-length`, in HTTP/1 with a body and without `transfer-encoding`, the length of the body.",
        ),
        optional("body", Text, "The body. Default: empty."),
        optional(
            "message",
            Any,
            "The message of a call of gRPC, as JSON, by the type of the method that `uri` is the path of: `/package.Service/Method`. Default of `method` is then `POST`, of `version` `HTTP/2`, of the header `content-type` `application/grpc`.",
        ),
        optional("messages", List(&Any), "The messages of a call whose client sends a stream; else as `message`."),
        optional(
            "time",
            Integer { least: 0, most: 253_402_300_799 },
            "When the request arrives (`request.startTime`), in seconds since the beginning of 1970. Default: 0.",
        ),
        optional("source", Text, "The address of the client: `192.0.2.7:4711`."),
        optional("destination", Text, "The address of the proxy: `10.0.0.1:443`."),
        optional("tls", Mapping(&TLS), "The client's TLS connection, as rules read it: `source.tls`. Default: no TLS."),
    ],
);

static TLS: MappingSpec = MappingSpec::new(
    "`tls`",
    &[
        optional("version", Text, "The version: `TLSv1.3`."),
        optional("cipher", Text, "The cipher: `TLS_AES_128_GCM_SHA256`."),
        optional("sni", Text, "The name that the client asks for."),
        optional(
            "alpn",
            List(&Text),
            "The protocols that the client offers, for rules of `connection`: `[h2, http/1.1]`.",
        ),
        optional("subject", Text, "The subject of the client's certificate."),
        optional("issuer", Text, "The issuer of the certificate."),
        optional("sans", List(&Text), "The subject's alternative names: `DNS:a.example`, `URI:spiffe://example/a`."),
        optional("spiffeId", Text, "The SPIFFE ID."),
        optional("fingerprint", Text, "The SHA-256 digest of the certificate in lower-case hexadecimal digits."),
    ],
);

const TEXT_OR_TEXTS: ValueSpec = OneOf(&[List(&Template), Template]);

static CREDENTIALS: MappingSpec = MappingSpec::new(
    "`given`",
    &[
        optional("jwt", Map(&Any), "The claims of a token."),
        optional("apiKey", Map(&Any), "The fields of an API key: `name` and its metadata."),
        optional("basicAuth", Map(&Any), "The user: `username`."),
        optional("clientCert", Map(&Any), "The client's certificate: `subject`, `hash`, `uris`, `dnsNames`, `by`."),
    ],
);

static RESPONSE: MappingSpec = MappingSpec::new(
    "a response",
    &[
        optional("status", Integer { least: 100, most: 999 }, "The status."),
        optional("headers", Map(&TEXT_OR_TEXTS), "The headers."),
        optional("body", Text, "The body. Default: empty."),
        optional(
            "message",
            Any,
            "The message of a response to a call of gRPC, as JSON, by the type of the method. Default of the header `content-type` is then `application/grpc`.",
        ),
        optional("messages", List(&Any), "The messages of a server that sends a stream; else as `message`."),
    ],
);

static EXPECTATION: MappingSpec = MappingSpec::new(
    "an expectation",
    &[
        optional("status", Integer { least: 100, most: 999 }, "The status that the client gets."),
        optional(
            "connection",
            Word(&["accepted", "closed"]),
            "What the phase `connection` does with the connection of the request. One that is closed has no status.",
        ),
        optional("rule", Text, "The rule that answers or closes the connection, or `server` if no rule does."),
        optional(
            "body",
            Template,
            "The body that the client gets: that of the policy's answer, or the server's, which a rule may have changed.",
        ),
        optional("delay", Duration, "How long the request waits, in all phases together; `0s`: not at all."),
        optional("requestBody", Template, "The body that the server gets."),
        optional("uri", Text, "Path and query that the server gets."),
        optional(
            "requestHeaders",
            Map(&Any),
            "Headers of the request that the server gets. `null`: the header is absent.",
        ),
        optional(
            "responseHeaders",
            Map(&Any),
            "Headers of the response that the client gets. `null`: the header is absent.",
        ),
        optional("labels", Map(&Any), "Labels. `null`: the label is absent."),
        optional("log", Map(&Any), "Fields of the log entry. `null`: the field is absent."),
    ],
);
