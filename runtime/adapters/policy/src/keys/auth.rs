//! The keys of credentials: `jwt`, `apiKey`, `basicAuth`, `clientCert`. Part of the tables in `keys/policy.rs`.

use crate::schema::ValueSpec::{Integer, List, Map, Mapping, Seconds, Text, Word};
use crate::schema::{KeySpec, MappingSpec, ValueSpec};

const fn optional(name: &'static str, value: ValueSpec, description: &'static str) -> KeySpec {
    KeySpec::optional(name, value, description)
}

const fn required(name: &'static str, value: ValueSpec, description: &'static str) -> KeySpec {
    KeySpec::required(name, value, description)
}

/// The algorithms of signatures.
const ALGORITHMS: &[&str] =
    &["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

pub(crate) static JWT: MappingSpec = MappingSpec::new(
    "`jwt`",
    &[
        optional(
            "header",
            Text,
            "The header that holds the token. Default: `authorization`, where the token follows `Bearer`.",
        ),
        optional("cookie", Text, "The cookie that holds the token, instead of a header."),
        optional("issuers", List(&Text), "The accepted issuers (`iss`). Default: any."),
        optional(
            "audiences",
            List(&Text),
            "The accepted audiences (`aud`). Default: only tokens without an audience are accepted.",
        ),
        optional("leeway", Seconds, "The accepted difference between clocks. Default: 60s."),
        required("keys", List(&Mapping(&JWT_KEY)), "The keys that may sign tokens."),
    ],
);

static JWT_KEY: MappingSpec = MappingSpec::new(
    "a key of `jwt`",
    &[
        optional("jwks", Text, "A file with a JSON Web Key Set."),
        optional(
            "jwksUrl",
            Text,
            "The URL of a JSON Web Key Set: `https://`, or `http://` on this machine. The host fetches it.",
        ),
        optional("refresh", Seconds, "The time between two fetches of `jwksUrl`. Default: 900s."),
        optional(
            "maxStale",
            Seconds,
            "How long keys of `jwksUrl` count after they were fetched. Later, tokens are refused. Default: 86400s.",
        ),
        optional(
            "cooldown",
            Seconds,
            "The least time between two fetches of `jwksUrl` if one fails, or a token names an unknown `kid`. Default: 10s.",
        ),
        optional("timeout", Seconds, "The longest time of a fetch of `jwksUrl`. Default: 5s."),
        optional("pem", Text, "A file with a public key."),
        optional("secret", Text, "A file with the secret of HS256, HS384 or HS512."),
        optional("algorithm", Word(ALGORITHMS), "The algorithm of the key. Required with `pem` and `secret`."),
        optional("kid", Text, "The id of the key. A token that names another id is not verified with this key."),
    ],
);

pub(crate) static API_KEYS: MappingSpec = MappingSpec::new(
    "`apiKey`",
    &[
        optional("header", Text, "The header that holds the key. Default: `x-api-key`."),
        required("keys", List(&Mapping(&API_KEY)), "The keys."),
    ],
);

static API_KEY: MappingSpec = MappingSpec::new(
    "a key of `apiKey`",
    &[
        required("name", Text, "The owner of the key: `apiKey.name`."),
        required(
            "sha256",
            Text,
            "The SHA-256 hash of the key, in hexadecimal. A policy never contains the key itself.",
        ),
        optional("metadata", Map(&Text), "More fields of the key: `apiKey.KEY`."),
    ],
);

pub(crate) static CLIENT_CERT: MappingSpec = MappingSpec::new(
    "`clientCert`",
    &[optional(
        "trusted",
        List(&Text),
        "The addresses and networks of peers that may send the header. It is removed from requests of other peers. Default: none.",
    )],
);

pub(crate) static BASIC_AUTH: MappingSpec = MappingSpec::new(
    "`basicAuth`",
    &[
        required(
            "users",
            Text,
            "A file with a line `name:hash` for each user, with bcrypt hashes as `htpasswd -B` writes them.",
        ),
        optional(
            "threads",
            Integer { least: 1, most: 64 },
            "The largest number of threads that verify passwords. Default: half the processors, at most 8.",
        ),
        optional(
            "maxWaiting",
            Integer { least: 1, most: 100_000 },
            "The largest number of passwords that wait for a thread: of one client address and for one user a quarter, and only as many as are free. Addresses take turns. Further requests are answered with 503. Default: 64.",
        ),
    ],
);
