//! The keys of `traces` and `metrics`. The head of `keys.rs` says how to add a key.

use celero_policy::schema::ValueSpec::{Duration, Expression, Integer, List, Map, Mapping, Ratio, Share, Text, Word};
use celero_policy::schema::{KeySpec, MappingSpec};

/// The values of `accept`.
pub(super) const ACCEPT: &[&str] = &["trusted", "all"];

pub(super) static TRACES: MappingSpec = MappingSpec::new(
    "`traces`",
    &[
        KeySpec::optional(
            "accept",
            Word(ACCEPT),
            "Whose `traceparent` is kept: that of proxies in `forwarded.trusted`, or of all. Default: trusted.",
        ),
        KeySpec::optional(
            "sampled",
            Share,
            "The share of started traces that servers are asked to record. Default: 0.01.",
        ),
        KeySpec::optional(
            "sample",
            List(&Mapping(&SAMPLE)),
            "Other shares for some requests, instead of `sampled`. The first entry that fits counts. Default: none.",
        ),
        KeySpec::optional(
            "export",
            Mapping(&EXPORT),
            "The proxy records spans of these traces too. Default: it records none.",
        ),
    ],
);

static SAMPLE: MappingSpec = MappingSpec::new(
    "an entry of `sample`",
    &[
        KeySpec::required("when", Expression, "Which requests are meant: a condition on the request and its source."),
        KeySpec::required("share", Ratio, "The share of their traces that servers are asked to record, from 0 to 1."),
    ],
);

static EXPORT: MappingSpec = MappingSpec::new(
    "`export` of `traces`",
    &[
        KeySpec::required(
            "url",
            Text,
            "Where a collector takes spans (OTLP over HTTP): `http://127.0.0.1:4318/v1/traces`.",
        ),
        KeySpec::optional("serviceName", Text, "The attribute `service.name` of all spans. Default: celero-proxy."),
        KeySpec::optional(
            "attributes",
            Map(&Text),
            "More attributes of all spans: `deployment.environment.name: production`.",
        ),
        KeySpec::optional(
            "queue",
            Integer { least: 1, most: 1_000_000 },
            "How many spans wait for the collector; further ones are dropped. Default: 4096.",
        ),
        KeySpec::optional(
            "always",
            Expression,
            "Which finished requests have a span also if their trace is not recorded: `response.code >= 500`. Default: none.",
        ),
    ],
);

pub(super) static METRICS: MappingSpec = MappingSpec::new(
    "`metrics`",
    &[
        KeySpec::optional(
            "address",
            Text,
            "The IP address and port of `/metrics`, `/health` and `/ready`. Default: none.",
        ),
        KeySpec::optional(
            "export",
            Mapping(&METRICS_EXPORT),
            "Metrics are sent to a collector too. Default: they are not.",
        ),
    ],
);

/// The values of `histograms`.
pub(super) const HISTOGRAMS: &[&str] = &["exponential", "explicit"];

static METRICS_EXPORT: MappingSpec = MappingSpec::new(
    "`export` of `metrics`",
    &[
        KeySpec::required(
            "url",
            Text,
            "Where a collector takes metrics (OTLP over HTTP): `http://127.0.0.1:4318/v1/metrics`.",
        ),
        KeySpec::optional("serviceName", Text, "The attribute `service.name` of all metrics. Default: celero-proxy."),
        KeySpec::optional(
            "attributes",
            Map(&Text),
            "More attributes of all metrics: `deployment.environment.name: production`.",
        ),
        KeySpec::optional("interval", Duration, "The time between two requests, at least 1s. Default: 60s."),
        KeySpec::optional(
            "histograms",
            Word(HISTOGRAMS),
            "The buckets of histograms. `explicit`: those of `/metrics`. Default: exponential.",
        ),
    ],
);
