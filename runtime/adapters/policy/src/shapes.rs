//! The keys of a policy: their names, what they hold, and what they are for.

use crate::error_policy::PhaseErrorPolicy;
use crate::shape::Kind::{
    Any, Chance, Data, Expression, Integer, List, Map, Object, Seconds, Size, Template, Text, True, Word,
};
use crate::shape::{Key, Kind, Shape};

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, required: false, about }
}

const fn required(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, required: true, about }
}

const STATUS: Kind = Integer { least: 200, most: 599 };

/// The algorithms of signatures.
pub(crate) const ALGORITHMS: &[&str] =
    &["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

/// A whole file.
pub(crate) static DOCUMENT: Shape = Shape {
    name: "a policy",
    keys: &[
        key("include", List(&Text), "Files whose content stands before that of this one, by their paths from it."),
        key(
            "env",
            List(&Text),
            "Variables of the process's environment that expressions may read as `env.NAME`, as they are when the policy is read.",
        ),
        key("variables", Map(&Expression), "Names for expressions, which others mention as `variables.NAME`."),
        key("functions", Map(&Expression), "Functions: `name(parameter: type) -> type` with an expression as body."),
        key("headerSets", Map(&Object(&HEADER_SET)), "Sets of header names and prefixes, for `removeHeaderSets`."),
        key("defaults", Object(&DEFAULTS), "What all phases have in common."),
        key("jwt", Object(&JWT), "How tokens are verified whose claims expressions read as `jwt.CLAIM`."),
        key("apiKey", Object(&API_KEY), "Keys of clients, of which expressions read `apiKey.name` and more."),
        key("basicAuth", Object(&BASIC), "Users with passwords, of whom expressions read `basicAuth.username`."),
        key("request", PHASE_OR_RULES, "What happens when the head of a request has come."),
        key(
            "requestBody",
            Any(&[RULES, Object(&BODY_PHASE)]),
            "What happens when the body of a request has come; with rules here bodies are gathered.",
        ),
        key("response", PHASE_OR_RULES, "What happens when the head of a response has come."),
        key("log", Any(&[List(&Object(&LOG_RULE)), Object(&LOG_PHASE)]), "What is logged when a request is over."),
    ],
};

const RULES: Kind = List(&Object(&RULE));
const PHASE_OR_RULES: Kind = Any(&[RULES, Object(&PHASE)]);
const ON_ERROR_KEY: Key = key(
    "onError",
    Word(PhaseErrorPolicy::NAMES),
    "What a rule whose condition fails counts as: `closed` (it matches if it denies), `noMatch`, `match`, or `stop` (the phase ends with an error).",
);
const ERROR_STATUS: Key =
    key("errorStatus", STATUS, "The status of the answer when the phase ends with an error; 500 if nothing is said.");

static HEADER_SET: Shape = Shape {
    name: "a set of headers",
    keys: &[
        key("names", List(&Text), "Names of headers."),
        key("prefixes", List(&Text), "What names of headers begin with."),
    ],
};

static DEFAULTS: Shape = Shape {
    name: "`defaults`",
    keys: &[ON_ERROR_KEY, ERROR_STATUS, key("deny", Object(&ANSWER), "What `deny: true` answers.")],
};

static PHASE: Shape =
    Shape { name: "a phase", keys: &[ON_ERROR_KEY, ERROR_STATUS, key("rules", RULES, "The rules, in order.")] };

static BODY_PHASE: Shape = Shape {
    name: "the phase `requestBody`",
    keys: &[
        ON_ERROR_KEY,
        ERROR_STATUS,
        key("rules", RULES, "The rules, in order."),
        key("limit", Size, "How many bytes of a body are gathered; 64KiB if nothing is said."),
        key(
            "tooLarge",
            Word(&["deny", "skip"]),
            "What becomes of a request with a larger body: `deny` answers with 413, `skip` lets it by without the rules of this phase.",
        ),
    ],
};

static LOG_PHASE: Shape = Shape {
    name: "the phase `log`",
    keys: &[ON_ERROR_KEY, key("rules", List(&Object(&LOG_RULE)), "The rules, in order.")],
};

const NAME: Key = key("name", Text, "What the rule is called in logs and figures.");
const WHEN: Key = key("when", Expression, "The condition; a rule without one always matches.");
const PRIORITY: Key = key(
    "priority",
    Integer { least: 0, most: 1_000_000 },
    "Rules with smaller numbers come first; those without have 1000.",
);
const SAMPLE: Key = key("sample", Chance, "The share of matching requests for which the rule acts.");
const LOG_FIELDS: Key =
    key("logFields", Map(&Template), "Fields of the log entry; one whose expression has no value is left out.");
const COUNT: Key = key("count", Text, "A counter that goes up by one.");

static RULE: Shape = Shape {
    name: "a rule",
    keys: &[
        NAME,
        WHEN,
        PRIORITY,
        SAMPLE,
        key("setHeaders", Map(&Template), "Headers to set, in place of those of the name."),
        key("addHeaders", Map(&Template), "Headers to add to those of the name."),
        key("removeHeaders", List(&Text), "Headers to remove."),
        key("removePrefixes", List(&Text), "Headers to remove whose names begin so."),
        key("removeHeaderSets", List(&Text), "Headers to remove that are in these sets."),
        key(
            "labels",
            Map(&Template),
            "Labels for the host, which may choose a server by them; later phases read them as `labels.NAME`.",
        ),
        LOG_FIELDS,
        COUNT,
        key("allow", True, "Ends the phase; the request or response goes on."),
        key("deny", Any(&[True, STATUS, Object(&ANSWER)]), "Ends with an answer, 403 if nothing else is said."),
        key("respond", Object(&ANSWER), "Ends with an answer, 200 if nothing else is said."),
        key(
            "redirect",
            Any(&[Template, Object(&REDIRECT)]),
            "Ends by sending the client elsewhere, with 302 if nothing else is said.",
        ),
    ],
};

static LOG_RULE: Shape = Shape { name: "a rule of `log`", keys: &[NAME, WHEN, PRIORITY, SAMPLE, LOG_FIELDS, COUNT] };

static ANSWER: Shape = Shape {
    name: "an answer",
    keys: &[
        key("status", STATUS, "The status."),
        key("headers", Map(&Template), "The headers."),
        key("body", Template, "The body."),
    ],
};

static REDIRECT: Shape = Shape {
    name: "a redirect",
    keys: &[
        required("to", Template, "The address."),
        key("status", Word(&["301", "302", "303", "307", "308"]), "The status."),
    ],
};

static JWT: Shape = Shape {
    name: "`jwt`",
    keys: &[
        key(
            "header",
            Text,
            "The header with the token; `authorization` if nothing is said, where the token follows `Bearer`.",
        ),
        key("cookie", Text, "The cookie with the token, in place of a header."),
        key("issuers", List(&Text), "Whose tokens are taken (`iss`); anybody's if nothing is said."),
        key(
            "audiences",
            List(&Text),
            "For whom tokens may be (`aud`). Tokens for somebody are refused if nothing is said.",
        ),
        key("leeway", Seconds, "By how much clocks may differ; 60s if nothing is said."),
        required("keys", List(&Object(&JWT_KEY)), "The keys that tokens may be signed with."),
    ],
};

static JWT_KEY: Shape = Shape {
    name: "a key of `jwt`",
    keys: &[
        key("jwks", Text, "A file with a JSON Web Key Set."),
        key("pem", Text, "A file with a public key."),
        key("secret", Text, "A file with the secret of HS256, HS384 or HS512."),
        key("algorithm", Word(ALGORITHMS), "The algorithm of the key; needed for `pem` and `secret`."),
        key("kid", Text, "The key's id: tokens that name another one are not checked with it."),
    ],
};

static API_KEY: Shape = Shape {
    name: "`apiKey`",
    keys: &[
        key("header", Text, "The header with the key; `x-api-key` if nothing is said."),
        required("keys", List(&Object(&ONE_API_KEY)), "The keys."),
    ],
};

static ONE_API_KEY: Shape = Shape {
    name: "a key of `apiKey`",
    keys: &[
        required("name", Text, "Whose key it is: `apiKey.name`."),
        required("sha256", Text, "The SHA-256 of the key, in hexadecimal: the key itself has no place in a policy."),
        key("metadata", Map(&Text), "What else is known: `apiKey.KEY`."),
    ],
};

static BASIC: Shape = Shape {
    name: "`basicAuth`",
    keys: &[required(
        "users",
        Text,
        "A file with a line `name:hash` for each user, with hashes by bcrypt as `htpasswd -B` makes them.",
    )],
};

/// A file of examples.
pub(crate) static CASES: Kind = List(&Object(&CASE));

static CASE: Shape = Shape {
    name: "a case",
    keys: &[
        required("name", Text, "What it shows."),
        key("request", Object(&CASE_REQUEST), "The request; `GET /` if nothing is said."),
        key("given", Object(&GIVEN), "What was verified of the client, so that a case needs no signatures."),
        key("labels", Map(&Text), "Labels that the host gave the request."),
        key("response", Object(&CASE_RESPONSE), "What the server answers; 200 if nothing is said."),
        required("expect", Object(&EXPECT), "What must come of it; of what is not said everything is right."),
    ],
};

static CASE_REQUEST: Shape = Shape {
    name: "a request",
    keys: &[
        key("method", Text, "The method."),
        key("uri", Text, "The request target."),
        key("headers", Map(&TEXT_OR_TEXTS), "The headers; a list is one sent several times."),
        key("body", Text, "The body."),
        key("source", Text, "Where it comes from: `192.0.2.7:4711`."),
        key("destination", Text, "Where it comes to: `10.0.0.1:443`."),
    ],
};

const TEXT_OR_TEXTS: Kind = Any(&[List(&Text), Template]);

static GIVEN: Shape = Shape {
    name: "what is given",
    keys: &[
        key("jwt", Map(&Data), "The claims of a token."),
        key("apiKey", Map(&Data), "What is known of the client's key: `name` and its metadata."),
        key("basicAuth", Map(&Data), "`username`."),
    ],
};

static CASE_RESPONSE: Shape = Shape {
    name: "a response",
    keys: &[
        key("status", Integer { least: 100, most: 999 }, "The status."),
        key("headers", Map(&TEXT_OR_TEXTS), "The headers."),
    ],
};

static EXPECT: Shape = Shape {
    name: "an expectation",
    keys: &[
        key("status", Integer { least: 100, most: 999 }, "The status that the client gets."),
        key("rule", Text, "The rule that answers; `server` if none does."),
        key("body", Template, "The body of the policy's answer."),
        key("requestHeaders", Map(&Data), "Headers as the server gets them; `null` is none."),
        key("responseHeaders", Map(&Data), "Headers as the client gets them; `null` is none."),
        key("labels", Map(&Data), "Labels; `null` is none."),
        key("log", Map(&Data), "Fields of the log entry; `null` is none."),
    ],
};
