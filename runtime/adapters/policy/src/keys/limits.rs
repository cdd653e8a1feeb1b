//! The keys of limits, of requests and of connections.

use crate::keys::answers::{DENY, REDIRECTS, RESPOND};
use crate::limits::settings::{LimitErrorPolicy, TellsClient};
use crate::schema::ValueSpec::{
    Duration, Expression, Integer, List, Map, Mapping, OneOf, Rate, Template, Text, True, Word,
};
use crate::schema::{KeySpec, MappingSpec, ValueSpec};

const fn optional(name: &'static str, value: ValueSpec, description: &'static str) -> KeySpec {
    KeySpec::optional(name, value, description)
}

const LIMIT_NAME: KeySpec = optional(
    "name",
    Text,
    "The name in metrics and headers. Default: the name of the rule. A reload keeps the counters of a limit whose name and definition stay.",
);
const LIMIT_KEY: KeySpec = optional(
    "key",
    OneOf(&[List(&Template), Template]),
    "Who is counted: a text, or a list of texts that are one key together. Default: all requests are one key.",
);
const LIMIT_RATE: KeySpec = optional("rate", Rate, "How often: `100/s`, `5/m`, `1000/h`, `1/d`, `100/10s`.");
const LIMIT_BURST: KeySpec = optional(
    "burst",
    Integer { least: 1, most: 1_000_000_000 },
    "How much of a token bucket may be used at once after a pause. Default: the number of `rate`.",
);
const LIMIT_ALGORITHM: KeySpec = optional(
    "algorithm",
    Word(&["tokenBucket", "slidingWindow"]),
    "`tokenBucket` (the default) gives back evenly; `slidingWindow` never admits more than `rate` in any window.",
);
const LIMIT_CONCURRENT: KeySpec = optional(
    "concurrent",
    Integer { least: 0, most: 1_000_000 },
    "How many requests of a key may be open at once, instead of `rate`.",
);
const LIMIT_COST: KeySpec =
    optional("cost", Template, "How much a request uses: a whole number from 0, or one `${..}`. Default: 1.");
const GROUP_V4: KeySpec = optional(
    "groupV4",
    Integer { least: 0, most: 32 },
    "A key, a part of one, or a computed value of a descriptor that is an IPv4 address stands for the network with this prefix length. Default: 32.",
);
const CONNECTION_GROUP_V4: KeySpec = optional(
    "groupV4",
    Integer { least: 0, most: 32 },
    "A key, or a part of one, that is an IPv4 address stands for the network with this prefix length. Default: 32.",
);
const GROUP_V6: KeySpec = optional(
    "groupV6",
    Integer { least: 0, most: 128 },
    "The same for IPv6 addresses. Default: 64, because one client usually has all addresses of such a network.",
);
const PENALTY: KeySpec = optional("penalty", Duration, "How long a key that exceeds the limit stays out. Default: 0s.");
const LIMIT_KEYS: KeySpec = optional(
    "keys",
    Integer { least: 8, most: 4_194_304 },
    "How many keys are remembered; 40 bytes each, 112 with a sliding window. Default: 65536.",
);
const LIMIT_ON_ERROR: KeySpec = optional(
    "onError",
    Word(LimitErrorPolicy::NAMES),
    "What becomes of a request whose key or cost fails: `closed` (it is answered like one above the limit; the default), `shared` (all such requests are one key), `pass`.",
);
const DRY_RUN: KeySpec = optional("dryRun", True, "Counts and logs requests above the limit, and lets them pass.");

/// The keys of limits that are counted here only.
pub(crate) const LOCAL: [&str; 9] =
    ["key", "rate", "burst", "algorithm", "concurrent", "cost", "countWhen", "penalty", "keys"];

/// The keys of limits with `rate` only.
pub(crate) const ONLY_RATES: [&str; 7] = ["burst", "algorithm", "cost", "countWhen", "penalty", "keys", "headers"];

/// The keys of limits that a service counts only.
pub(crate) const REMOTE: [&str; 3] = ["descriptors", "hits", "onUnavailable"];

pub(crate) static LIMIT: MappingSpec = MappingSpec::new(
    "a limit",
    &[
        optional("remote", Text, "The name of a service that counts the limit for many machines, which the host asks."),
        optional(
            "descriptors",
            OneOf(&[List(&Map(&Template)), Map(&Template)]),
            "What the service counts: a descriptor with its keys and values, or a list of descriptors. With `remote`.",
        ),
        optional(
            "hits",
            Template,
            "How much a request uses of a remote limit: a whole number, or one `${..}`. 0: the service is not asked. Default: 1.",
        ),
        optional(
            "onUnavailable",
            Word(&["closed", "pass"]),
            "What becomes of a request if the service gives no answer: `closed` (503; the default), `pass`.",
        ),
        LIMIT_NAME,
        LIMIT_KEY,
        LIMIT_RATE,
        LIMIT_BURST,
        LIMIT_ALGORITHM,
        LIMIT_CONCURRENT,
        LIMIT_COST,
        optional(
            "countWhen",
            Expression,
            "A condition on the response (`response.code == 401`). Only requests for which it is true count. Until then the cost is reserved.",
        ),
        GROUP_V4,
        GROUP_V6,
        PENALTY,
        LIMIT_KEYS,
        optional("onLimit", Mapping(&ON_LIMIT), "What becomes of a request above the limit. Default: `deny: 429`."),
        LIMIT_ON_ERROR,
        optional(
            "headers",
            Word(TellsClient::NAMES),
            "Which responses have `RateLimit` and `RateLimit-Policy`: `limited` (those above the limit; the default), `always`, `never`.",
        ),
        DRY_RUN,
    ],
);

pub(crate) static CONNECTION_LIMIT: MappingSpec = MappingSpec::new(
    "a limit of connections",
    &[
        LIMIT_NAME,
        LIMIT_KEY,
        LIMIT_RATE,
        LIMIT_BURST,
        LIMIT_ALGORITHM,
        LIMIT_CONCURRENT,
        LIMIT_COST,
        CONNECTION_GROUP_V4,
        GROUP_V6,
        PENALTY,
        LIMIT_KEYS,
        LIMIT_ON_ERROR,
        optional(
            "dryRun",
            True,
            "Lets connections above the limit pass, and counts them: as `tolerated` in the metrics. No log has them.",
        ),
    ],
);

static ON_LIMIT: MappingSpec = MappingSpec::new(
    "`onLimit`",
    &[
        DENY,
        RESPOND,
        REDIRECTS,
        optional(
            "delay",
            Template,
            "How long the request waits before it is answered, or goes on: a time (`2s`), or one `${..}` whose value is a duration.",
        ),
        optional("pass", True, "The request goes on after `delay`, with the other actions of the rule."),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_of_one_kind_of_limit_or_of_both() {
        const BOTH: [&str; 8] = ["remote", "name", "groupV4", "groupV6", "onLimit", "onError", "headers", "dryRun"];
        let mut all: Vec<&str> = LOCAL.into_iter().chain(REMOTE).chain(BOTH).collect();
        let mut known: Vec<&str> = LIMIT.keys.iter().map(|key| key.name).collect();
        all.sort_unstable();
        known.sort_unstable();
        assert_eq!(all, known);
        assert!(ONLY_RATES.iter().all(|key| known.contains(key)));
    }
}
