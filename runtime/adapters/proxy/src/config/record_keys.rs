//! The keys of the section `record`.

use celero_policy::schema::ValueSpec::{List, Share, Size, Text};
use celero_policy::schema::{KeySpec, MappingSpec};

/// The headers whose values are not recorded, unless the configuration says others.
pub(super) const HEADERS: [&str; 5] =
    ["authorization", "cookie", "proxy-authorization", "x-api-key", "x-forwarded-client-cert"];

/// The same of parameters of the query.
pub(super) const PARAMETERS: [&str; 9] =
    ["access_token", "api_key", "apikey", "code", "key", "password", "secret", "signature", "token"];

pub(super) static RECORD: MappingSpec = MappingSpec::new(
    "`record`",
    &[
        KeySpec::required("file", Text, "The file to which requests are appended, one JSON object a line."),
        KeySpec::optional("share", Share, "The share of the requests that are recorded. Default: 1."),
        KeySpec::optional(
            "maxSize",
            Size,
            "The size from which the file is renamed to one with `.1` at the end of its name, which it replaces. Default: 100MiB.",
        ),
        KeySpec::optional(
            "redactHeaders",
            List(&Text),
            "The headers whose values are replaced. Default: authorization, cookie, proxy-authorization, x-api-key, x-forwarded-client-cert.",
        ),
        KeySpec::optional(
            "redactParameters",
            List(&Text),
            "The parameters of the query whose values are replaced. Default: access_token, api_key, apikey, code, key, password, secret, signature, token.",
        ),
    ],
);
