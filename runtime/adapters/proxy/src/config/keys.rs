//! The keys of a configuration: names, values and descriptions.
//!
//! The tables here and in the other files whose names end in `_keys.rs` are the only list of keys.
//! The check of a file, the JSON schema ([`json_schema`](super::Config::json_schema), in the
//! repository as `examples/proxy.schema.json`) and the test that `docs/proxy-reference.md`
//! describes every key read them.
//!
//! # How to add a key
//!
//! 1. Add a [`KeySpec`] to the table of its mapping, with a description that says unit and default.
//! 2. Add a field to the type in `config/mod.rs`, and read the key in `config/read.rs`. The check
//!    has run by then; report only what the table can't express, such as an address or a reference
//!    to another entry.
//! 3. Use the field: of a [`Generation`](crate::generation) if it may change while the proxy runs,
//!    otherwise in `proxy.rs`, and then also list the key in `State::read_once`, which warns that
//!    its change needs a restart.
//! 4. Describe the key in `docs/proxy-reference.md`, where the test `every_key_is_described` looks for it.
//! 5. Write the schema anew: `BLESS=1 cargo test -p celero-proxy schema`.

use super::compression_keys::COMPRESSION;
use super::record_keys::RECORD;
use super::telemetry_keys::{METRICS, TRACES};
use super::tls_keys::{LISTENER_TLS, SERVICE_TLS, UPSTREAM_TLS};
use celero_policy::schema::ValueSpec::{
    Bool, Duration, Expression, Integer, List, Map, Mapping, OneOf, PositiveDuration, PositiveSize, Share, Text, Word,
};
use celero_policy::schema::{DiagnosticCodes, DocumentSpec, KeySpec, MappingSpec, ValueSpec};

const fn optional(name: &'static str, value: ValueSpec, description: &'static str) -> KeySpec {
    KeySpec::optional(name, value, description)
}

const fn required(name: &'static str, value: ValueSpec, description: &'static str) -> KeySpec {
    KeySpec::required(name, value, description)
}

/// A whole file.
pub(super) static CONFIG: DocumentSpec = DocumentSpec::new(
    "a configuration",
    Mapping(&SECTIONS),
    DiagnosticCodes { unknown_key: "config-key", missing_key: "config-missing", value: "config-value" },
);

/// The values of `balance`.
pub(super) const BALANCE: &[&str] = &["roundRobin", "random", "leastRequests", "consistent"];

pub(super) static SECTIONS: MappingSpec = MappingSpec::new(
    "a configuration",
    &[
        optional(
            "include",
            List(&Text),
            "Files with more keys: their listeners, upstreams and routes precede those of this file. `DIR/*.EXT` stands for all files of that folder with that extension; other patterns are errors: `routes/*.yaml`.",
        ),
        required("listeners", List(&Mapping(&LISTENER)), "The addresses where clients connect."),
        required("policy", Text, "The file of the policy."),
        required("upstreams", List(&Mapping(&UPSTREAM)), "Groups of equivalent servers."),
        required(
            "routes",
            List(&Mapping(&ROUTE)),
            "Which requests are sent to which upstream. The first route that fits is taken.",
        ),
        optional(
            "rateLimitServices",
            List(&Mapping(&RATE_LIMIT_SERVICE)),
            "Services that count limits for many machines. Limits of the policy name them with `remote`. Default: none.",
        ),
        optional("forwarded", Mapping(&FORWARDED), "Which proxies may say who the client is. Default: none."),
        optional(
            "traces",
            Mapping(&TRACES),
            "Traces that the proxy starts. Default: it starts none, and keeps all valid ones.",
        ),
        optional(
            "compression",
            Mapping(&COMPRESSION),
            "Which responses are compressed for clients that accept it. Default: none.",
        ),
        optional("timeouts", Mapping(&TIMEOUTS), "The longest waiting times."),
        optional("reload", Mapping(&RELOAD), "When changed files are loaded."),
        optional("limits", Mapping(&LIMITS), "The bounds on what clients may use."),
        optional(
            "retries",
            Integer { least: 0, most: 10 },
            "How many other servers of the upstream are tried after a failed connection. Default: 1.",
        ),
        optional(
            "metrics",
            OneOf(&[Text, Mapping(&METRICS)]),
            "The IP address and port of `/metrics`, `/health` and `/ready`, or where else metrics go. Default: none.",
        ),
        optional(
            "admin",
            Mapping(&ADMIN),
            "Who may change lists at the address of `metrics`, and where changes are kept. Default: nobody.",
        ),
        optional(
            "listCopies",
            Text,
            "The folder in which copies of what lists have at URLs are kept, for starts without network. It is created if its parent exists. Default: no copies.",
        ),
        optional(
            "accessLog",
            Text,
            "A file to which the access log is appended, or `-` for standard output. Default: no log.",
        ),
        optional(
            "record",
            Mapping(&RECORD),
            "Which requests are recorded, to try other configurations with them. Default: none.",
        ),
        optional(
            "threads",
            Integer { least: 1, most: 1024 },
            "The number of threads of each listener. Default: the number of processor cores.",
        ),
        optional("grace", Duration, "How long open requests may continue after SIGTERM. Default: 10s."),
        optional(
            "drainDelay",
            Duration,
            "How long new connections are still accepted after SIGTERM, while `/ready` answers 503. Default: 0s.",
        ),
    ],
);

static ADMIN: MappingSpec = MappingSpec::new(
    "`admin`",
    &[
        required(
            "token",
            Text,
            "The file of the token that requests to `/lists` must show: 32 to 512 visible characters.",
        ),
        optional(
            "listChanges",
            Text,
            "The file in which changes of lists are kept over restarts. Default: they last until the proxy stops.",
        ),
    ],
);

static LISTENER: MappingSpec = MappingSpec::new(
    "a listener",
    &[
        required("address", Text, "An IP address and a port. Port 0 is any free port."),
        optional("h2c", Bool, "Whether clients may use HTTP/2 without TLS besides HTTP/1. Default: false."),
        optional("tls", Mapping(&LISTENER_TLS), "TLS to clients. Default: no TLS."),
        optional(
            "proxyProtocol",
            List(&Text),
            "The addresses and networks of load balancers whose connections begin with a header of the PROXY protocol. Default: none.",
        ),
    ],
);

/// The values of `header`.
pub(super) const FORWARDED_HEADERS: &[&str] = &["x-forwarded-for", "forwarded"];

static FORWARDED: MappingSpec = MappingSpec::new(
    "`forwarded`",
    &[
        required("trusted", List(&Text), "The addresses and networks of the proxies in front, whose headers count."),
        optional(
            "header",
            Word(FORWARDED_HEADERS),
            "The header in which these proxies name the client. Default: x-forwarded-for.",
        ),
    ],
);

static RATE_LIMIT_SERVICE: MappingSpec = MappingSpec::new(
    "a rate limit service",
    &[
        required("name", Text, "The name, which limits of the policy refer to."),
        required("address", Text, "A host and a port. It speaks gRPC, with or without TLS."),
        required("domain", Text, "The domain of all questions, by which the service chooses its limits."),
        optional("tls", Mapping(&SERVICE_TLS), "TLS to the service. Default: no TLS."),
        optional(
            "timeout",
            PositiveDuration,
            "The longest time of a call, opening a connection included. Default: 50ms.",
        ),
        optional(
            "concurrent",
            Integer { least: 1, most: 100_000 },
            "How many calls are open at a time. For further requests the service counts as unavailable. Default: 100.",
        ),
        optional(
            "failures",
            Integer { least: 1, most: 10_000 },
            "After how many failures in a row the service is not called for a while. Default: 5.",
        ),
        optional("pause", Duration, "How long it is not called then. After it one call tries again. Default: 1s."),
    ],
);

static UPSTREAM: MappingSpec = MappingSpec::new(
    "an upstream",
    &[
        required("name", Text, "The name, which routes refer to."),
        optional(
            "demo",
            Bool,
            "Whether the upstream is the built-in demo server, instead of `servers`. Default: false.",
        ),
        optional(
            "servers",
            List(&OneOf(&[Text, Mapping(&SERVER)])),
            "The servers, each a host and a port. Host names are resolved when the file is read, and again as `resolve` says.",
        ),
        optional("resolve", Duration, "How often host names are resolved again. 0s: never. Default: 30s."),
        optional(
            "balance",
            Word(BALANCE),
            "How a server is chosen. `consistent`: equal keys choose the same server. Default: roundRobin.",
        ),
        optional(
            "by",
            Text,
            "The key of `balance: consistent`: `address` (the client's, the default), `path`, `header` or `label` and a name.",
        ),
        optional("h2c", Bool, "Whether the servers are spoken to in HTTP/2 without TLS. Default: false."),
        optional("tls", Mapping(&UPSTREAM_TLS), "TLS to the servers. Default: no TLS."),
        optional("health", Mapping(&HEALTH), "Health checks of the servers. Default: no checks."),
        optional(
            "ejection",
            Mapping(&EJECTION),
            "When a server whose responses fail gets no requests for a while. Default: never.",
        ),
        optional(
            "slowStart",
            Duration,
            "How long the share of a server grows that is back after failures. Default: 0s.",
        ),
        optional(
            "requests",
            Integer { least: 1, most: 1_000_000 },
            "How many requests of the upstream are open at a time; further ones are answered with 503. Default: no bound.",
        ),
        optional("pool", Mapping(&POOL), "The connections to each server."),
    ],
);

static POOL: MappingSpec = MappingSpec::new(
    "`pool`",
    &[
        optional(
            "connections",
            Integer { least: 1, most: 100_000 },
            "How many connections to each server are open at a time, unused ones included. Default: no bound.",
        ),
        optional(
            "wait",
            Duration,
            "How long a request waits for a connection beyond that; then it is answered with 503. At most 1m. Default: 1s.",
        ),
        optional("idle", Duration, "How long an unused connection is kept open. Default: `timeouts.idle`."),
        optional(
            "streams",
            Integer { least: 1, most: 10_000 },
            "How many requests a connection with HTTP/2 has at a time. Default: 1.",
        ),
    ],
);

static SERVER: MappingSpec = MappingSpec::new(
    "a server",
    &[
        required("address", Text, "A host and a port."),
        optional(
            "weight",
            Integer { least: 1, most: 100 },
            "Its share of the requests, relative to those of the others. Default: 1.",
        ),
    ],
);

/// The statuses of failures.
const STATUSES: ValueSpec = List(&Integer { least: 400, most: 599 });

static EJECTION: MappingSpec = MappingSpec::new(
    "`ejection`",
    &[
        optional("failures", Integer { least: 1, most: 1000 }, "The number of failures in a row. Default: 5."),
        optional("time", PositiveDuration, "How long the server gets no requests. Default: 30s."),
        optional("statuses", STATUSES, "The statuses of responses that count as failures. Default: 502, 503 and 504."),
    ],
);

static HEALTH: MappingSpec = MappingSpec::new(
    "`health`",
    &[
        optional("path", Text, "The path whose GET must be answered with 200. Default: a connection is enough."),
        optional("interval", PositiveDuration, "The time between two checks. Default: 5s."),
        optional("timeout", PositiveDuration, "The longest time of a check. Default: 1s."),
        optional(
            "healthyAfter",
            Integer { least: 1, most: 100 },
            "How many successful checks in a row make a server healthy. Default: 1.",
        ),
        optional(
            "unhealthyAfter",
            Integer { least: 1, most: 100 },
            "How many failed checks in a row make a server unhealthy. Default: 2.",
        ),
    ],
);

static ROUTE: MappingSpec = MappingSpec::new(
    "a route",
    &[
        optional("host", Text, "The host of the request without port, or `*.` and a suffix. Default: any."),
        optional("path", Text, "The path of the request, or whole segments that it starts with. Default: any."),
        optional("label", Text, "A label that the policy set, and its value: `tier=canary`. Default: any."),
        optional("upstream", Text, "The name of the upstream."),
        optional("split", List(&Mapping(&PART)), "Several upstreams, instead of `upstream`."),
        optional(
            "by",
            Text,
            "What decides in `split`: `address` (the client's, the default), `path`, `header` or `label` and a name.",
        ),
        optional("answer", Mapping(&ANSWER), "The answer of the proxy itself, instead of `upstream`."),
        optional("timeouts", Mapping(&ROUTE_TIMEOUTS), "Waiting times for servers that differ from those of the file."),
        optional(
            "retry",
            Mapping(&RETRY),
            "When another server is tried after one that took the request and failed. Default: never.",
        ),
        optional("mirror", Mapping(&MIRROR), "Where copies of requests are sent. Default: nowhere."),
        optional(
            "compression",
            Bool,
            "Whether responses are compressed, if the file has `compression`. Default: true.",
        ),
    ],
);

static PART: MappingSpec = MappingSpec::new(
    "an entry of `split`",
    &[
        required("upstream", Text, "The name of the upstream."),
        required(
            "weight",
            Integer { least: 0, most: 1_000_000 },
            "Its share of the keys, relative to those of the others.",
        ),
    ],
);

/// The largest body of an answer, in bytes.
pub(super) const LARGEST_ANSWER: usize = 1 << 20;
/// The same for messages.
pub(super) const LARGEST_ANSWER_TEXT: &str = "1 MiB";

static ANSWER: MappingSpec = MappingSpec::new(
    "`answer`",
    &[
        required("status", Integer { least: 200, most: 599 }, "The status."),
        optional(
            "headers",
            Map(&Text),
            "The headers. Default: `content-type: text/plain; charset=utf-8` if there is a body.",
        ),
        optional("body", Text, "The body. Default: none."),
        optional("file", Text, "The file of the body, at most 1 MiB, instead of `body`. It is read with this file."),
    ],
);

static ROUTE_TIMEOUTS: MappingSpec = MappingSpec::new(
    "`timeouts` of a route",
    &[
        optional("connect", PositiveDuration, "The longest time until a server accepts a connection."),
        optional(
            "read",
            PositiveDuration,
            "The longest time for the head of a server's response, and between pieces of its body.",
        ),
        optional("write", PositiveDuration, "The longest time until a server takes bytes."),
    ],
);

static RETRY: MappingSpec = MappingSpec::new(
    "`retry`",
    &[
        optional(
            "when",
            Expression,
            "A condition on the request and the server's response (`response.code == 503`): which responses count as failures, instead of `statuses`. A condition that fails counts as false.",
        ),
        optional("attempts", Integer { least: 1, most: 10 }, "How many other servers are tried. Default: 1."),
        optional("statuses", STATUSES, "The statuses of responses that count as failures. Default: 502, 503 and 504."),
        optional(
            "methods",
            List(&Text),
            "The methods of requests that may be sent twice. Default: the idempotent ones (GET, HEAD, OPTIONS, TRACE, PUT, DELETE).",
        ),
        optional(
            "budget",
            Share,
            "The retries for each request of the upstream on average; besides, one a second is allowed. Default: 0.2.",
        ),
    ],
);

static MIRROR: MappingSpec = MappingSpec::new(
    "`mirror`",
    &[
        required("upstream", Text, "The name of the upstream that gets the copies."),
        optional("share", Share, "The share of the requests that are copied. Default: 1."),
    ],
);

static TIMEOUTS: MappingSpec = MappingSpec::new(
    "`timeouts`",
    &[
        optional("connect", PositiveDuration, "The longest time until a server accepts a connection. Default: 3s."),
        optional(
            "read",
            PositiveDuration,
            "The longest time for the head of a server's response, from when the whole request has arrived, and between pieces of its body. Default: 60s.",
        ),
        optional("write", PositiveDuration, "The longest time until a server takes bytes. Default: 60s."),
        optional(
            "head",
            PositiveDuration,
            "The longest time for the whole head of a request, from its first byte; of a connection's first head, from the connection's start. Default: 10s.",
        ),
        optional("body", PositiveDuration, "The longest time between bytes of a client's body. Default: 60s."),
        optional(
            "bodyTotal",
            Duration,
            "The longest time for a whole body of a client, before what `bodyRate` adds. Default: 60s.",
        ),
        optional("send", PositiveDuration, "The longest time until a client takes bytes. Default: 60s."),
        optional("keepAlive", Duration, "How long a client's connection without a request is kept open. Default: 60s."),
        optional("idle", Duration, "How long an unused connection to a server is kept open. Default: 60s."),
    ],
);

static RELOAD: MappingSpec = MappingSpec::new(
    "`reload`",
    &[
        optional(
            "settle",
            Duration,
            "How long a file that was written in place must stay unchanged before it is loaded. Default: 1s.",
        ),
        optional(
            "endMarker",
            Bool,
            "Whether this file, the policy and the YAML files that it includes must end with the line `...`. Default: false.",
        ),
    ],
);

static LIMITS: MappingSpec = MappingSpec::new(
    "`limits`",
    &[
        optional(
            "connections",
            Integer { least: 1, most: 1_000_000 },
            "The number of open connections of each listener. Default: 10000.",
        ),
        optional(
            "connectionsPerAddress",
            Integer { least: 1, most: 1_000_000 },
            "The number of open connections of each client address (IPv6: of each /64 network) and listener. Default: no bound.",
        ),
        optional(
            "requests",
            Integer { least: 1, most: 1_000_000 },
            "The number of open requests of all listeners; further ones are answered with 503. Default: 10000.",
        ),
        optional("headers", Integer { least: 1, most: 256 }, "The number of header lines of a request. Default: 100."),
        optional("head", PositiveSize, "The size of a request's head. Default: 64KiB."),
        optional("requestLine", PositiveSize, "The size of the request line. Default: 8KiB."),
        optional(
            "streams",
            Integer { least: 1, most: 10_000 },
            "The number of requests that an HTTP/2 connection may have open. Default: 100.",
        ),
        optional(
            "controlFrames",
            Integer { least: 10, most: 1_000_000 },
            "The number of frames without content of an HTTP/2 connection in ten seconds that requests and responses do not pay for. Default: 1000.",
        ),
        optional(
            "bodyRate",
            PositiveSize,
            "The bytes of a body for which the client gets a second more than `bodyTotal`. Default: 1KiB.",
        ),
        optional(
            "idleConnections",
            Integer { least: 1, most: 100_000 },
            "The number of unused connections to servers that are kept: of HTTP/1.1, and as many of HTTP/2. Default: 128.",
        ),
    ],
);
