//! The keys of the section `record`.

use celero_policy::schema::ValueSpec::{List, PositiveSize, Share, Text};
use celero_policy::schema::{KeySpec, MappingSpec};

/// The headers whose values are never recorded. Those in which the policy expects credentials are added to them.
pub(super) const HEADERS: [&str; 7] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "x-amz-security-token",
    "x-api-key",
    "x-auth-token",
    "x-forwarded-client-cert",
];

/// The same of parameters of the query.
pub(super) const PARAMETERS: [&str; 15] = [
    "access_token",
    "api_key",
    "apikey",
    "client_secret",
    "code",
    "id_token",
    "key",
    "password",
    "refresh_token",
    "secret",
    "sig",
    "signature",
    "token",
    "x-amz-security-token",
    "x-amz-signature",
];

pub(super) static RECORD: MappingSpec = MappingSpec::new(
    "`record`",
    &[
        KeySpec::required("file", Text, "The file to which requests are appended, one JSON object a line."),
        KeySpec::optional("share", Share, "The share of the requests that are recorded. Default: 1."),
        KeySpec::optional(
            "maxSize",
            PositiveSize,
            "The size from which the file is renamed to one with `.1` at the end of its name, which it replaces. Default: 100MiB.",
        ),
        KeySpec::optional(
            "redactHeaders",
            List(&Text),
            "More headers whose values are replaced. Always: those in which the policy expects credentials, authorization, cookie, proxy-authorization, x-amz-security-token, x-api-key, x-auth-token, x-forwarded-client-cert.",
        ),
        KeySpec::optional(
            "redactParameters",
            List(&Text),
            "More parameters of the query whose values are replaced. Always: access_token, api_key, apikey, client_secret, code, id_token, key, password, refresh_token, secret, sig, signature, token, x-amz-security-token, x-amz-signature.",
        ),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_name_what_is_always_replaced() {
        for (key, names) in [("redactHeaders", &HEADERS[..]), ("redactParameters", &PARAMETERS[..])] {
            let said = RECORD.key(key).unwrap().description;
            assert!(said.ends_with(&format!("{}.", names.join(", "))), "{key}: {said}");
        }
    }
}
