//! The keys of a policy: names, values and descriptions.
//!
//! The tables here, those of credentials in `keys/auth.rs`, of limits in `keys/limits.rs`, of named
//! lists in `keys/lists.rs`, of answers in `keys/answers.rs` and of gRPC in `keys/grpc.rs`, are the
//! only list of keys. The check of a file, the JSON schema (`celero schema`) and the test that
//! `docs/policy-reference.md` and `docs/limits.md` describe every key read them.
//!
//! # How to add a key
//!
//! 1. Add a [`KeySpec`] to the table of its mapping, with a description that says unit and default.
//! 2. Read the key where its mapping is compiled: rules and phases in `compile/mod.rs`, credentials
//!    in `auth/`, whole sections in `policy/mod.rs`. The check has run by then, so a value is
//!    present or absent, never of the wrong kind.
//! 3. Carry out a new action of a rule in `rules/actions.rs` (what it does) and `phases/phase.rs`
//!    (when). What it changes is declared in `compile/rule_claims.rs`, which decides whether lower
//!    levels may use it.
//! 4. Describe the key in `docs/policy-reference.md` (of limits in `docs/limits.md`), and test it
//!    in `tests/policy/` (`actions.rs`, `auth.rs`, `failures.rs`).
//! 5. Write the schema anew: `BLESS=1 cargo test -p celero-policy schema`.

use crate::keys::answers::{ANSWER, DENY, REDIRECTS, RESPOND, STATUS};
use crate::keys::auth::{API_KEYS, BASIC_AUTH, CLIENT_CERT, JWT};
use crate::keys::error_policy::PhaseErrorPolicy;
use crate::keys::grpc::{GRPC_KEY, METHOD_KEY};
use crate::keys::limits::{CONNECTION_LIMIT, LIMIT};
use crate::keys::lists::{EMPTY, NAMED_LIST};
use crate::language::Language;
use crate::schema::ValueSpec::{
    Duration, Expression, Integer, JsonTemplate, KnownWord, List, Map, Mapping, OneOf, Share, Size, Template, Text,
    True, Word,
};
use crate::schema::{DiagnosticCodes, DocumentSpec, KeySpec, MappingSpec, ValueSpec};

const fn optional(name: &'static str, value: ValueSpec, description: &'static str) -> KeySpec {
    KeySpec::optional(name, value, description)
}

const fn required(name: &'static str, value: ValueSpec, description: &'static str) -> KeySpec {
    KeySpec::required(name, value, description)
}

/// The codes of diagnostics about the keys of policies and cases.
pub(crate) const CODES: DiagnosticCodes =
    DiagnosticCodes { unknown_key: "policy-key", missing_key: "policy-missing", value: "policy-value" };

/// A whole file.
pub(crate) static POLICY: DocumentSpec = DocumentSpec::new("a policy", Mapping(&SECTIONS), CODES);

pub(crate) static SECTIONS: MappingSpec = MappingSpec::new(
    "a policy",
    &[
        optional(
            "include",
            List(&Text),
            "Files whose content precedes the content of this file. Paths are relative to this file.",
        ),
        optional(
            "empty",
            Word(EMPTY),
            "`allowed`: this file may be without content, its phases without rules, and a policy may replace one of which more phases have rules. Default: that is an error, because a file may have been cut to nothing.",
        ),
        optional(
            "levels",
            List(&Text),
            "Files with rules of lower levels, the higher first: they run after the rules of this file, and can undo nothing of them. Paths are relative to this file.",
        ),
        optional(
            "env",
            List(&Text),
            "Environment variables that expressions may read as `env.NAME`. Their values are read when the policy is loaded.",
        ),
        optional(
            "lists",
            Map(&Mapping(&NAMED_LIST)),
            "Named lists. Expressions ask them as `value in lists.NAME`, in the filter language as `value in $NAME`.",
        ),
        optional("variables", Map(&Expression), "Named expressions. Other expressions use them as `variables.NAME`."),
        optional(
            "functions",
            Map(&Expression),
            "Functions: the key is `name(parameter: type) -> type`, the value is the body.",
        ),
        optional(
            "fields",
            Map(&Expression),
            "Values of fields that Cloudflare documents for its filter language and a host has to give: `ip.src.country: lists.geo[source.address].country`. Where the expression fails, the field is missing. Not in files of lower levels.",
        ),
        optional(
            "headerSets",
            Map(&Mapping(&HEADER_SET)),
            "Named sets of header names and prefixes, for `removeHeaderSets`.",
        ),
        optional("defaults", Mapping(&DEFAULTS), "Settings of all phases."),
        optional(
            "normalize",
            Mapping(&NORMALIZE),
            "What is done to make one canonical request of all its spellings, before any rule reads it. Every default is the safe choice.",
        ),
        optional("jwt", Mapping(&JWT), "How JSON Web Tokens are verified. Expressions read the claims as `jwt.CLAIM`."),
        optional(
            "apiKey",
            Mapping(&API_KEYS),
            "The API keys of clients. Expressions read `apiKey.name` and the key's metadata.",
        ),
        optional("basicAuth", Mapping(&BASIC_AUTH), "Users with passwords. Expressions read `basicAuth.username`."),
        optional(
            "clientCert",
            Mapping(&CLIENT_CERT),
            "Certificates of clients, verified by the host, or by a peer that names them in `x-forwarded-client-cert`. Expressions read `clientCert.subject`, `.hash`, `.uris`, `.dnsNames` and `.by`.",
        ),
        GRPC_KEY,
        optional(
            "connection",
            OneOf(&[List(&Mapping(&CONNECTION_RULE)), Mapping(&CONNECTION_PHASE)]),
            "Rules that run when a connection has arrived, before anything of HTTP is read. A connection that they deny is closed without an answer.",
        ),
        optional("delays", Mapping(&DELAYS), "The bounds of `delay` in rules."),
        optional("request", RULES_OR_PHASE, "Rules that run when the head of a request has arrived."),
        optional(
            "requestBody",
            OneOf(&[RULES, Mapping(&BODY_PHASE)]),
            "Rules that run when the body of a request has arrived. Bodies are buffered only where such a rule may match.",
        ),
        optional("response", RULES_OR_PHASE, "Rules that run when the head of the server's response has arrived."),
        optional(
            "responseBody",
            OneOf(&[RULES, Mapping(&RESPONSE_BODY_PHASE)]),
            "Rules that run when the body of the server's response has arrived, before its head is sent on. Bodies are buffered only where such a rule may match.",
        ),
        optional(
            "log",
            OneOf(&[List(&Mapping(&LOG_RULE)), Mapping(&LOG_PHASE)]),
            "Rules that run when a request is over. They add fields to its log entry.",
        ),
    ],
);

static DELAYS: MappingSpec = MappingSpec::new(
    "`delays`",
    &[
        optional(
            "longest",
            Duration,
            "The longest delay. A longer one in a rule is an error, a computed one is shortened. At most 1m. Default: 10s.",
        ),
        optional("waiting", Integer { least: 1, most: 1_000_000 }, "How many requests wait at a time. Default: 1000."),
        optional(
            "onFull",
            Word(&["deny", "pass"]),
            "What becomes of a request that is to be delayed while as many wait: `deny` (503; the default), `pass` (it goes on at once). One that is answered anyway is answered at once.",
        ),
    ],
);

static DELAY: MappingSpec = MappingSpec::new(
    "a delay",
    &[
        required(
            "time",
            Template,
            "How long the request waits: a time (`250ms`), or one `${..}` whose value is a duration.",
        ),
        optional(
            "dryRun",
            True,
            "The request does not wait. The field `dryRunDelay` of its log entry says how long it would, in seconds.",
        ),
    ],
);

const RULES: ValueSpec = List(&Mapping(&RULE));
const RULES_OR_PHASE: ValueSpec = OneOf(&[RULES, Mapping(&PHASE)]);
const RULES_KEY: KeySpec = optional("rules", RULES, "The rules, in order.");
const ON_ERROR: KeySpec = optional(
    "onError",
    Word(PhaseErrorPolicy::NAMES),
    "What a rule with a failed condition counts as: `closed` (it matches if it ends the phase with `deny`, `redirect` or another answer of status 300 or more; the default), `noMatch`, `match`, or `stop` (the phase ends with an error).",
);
const ERROR_STATUS: KeySpec =
    optional("errorStatus", STATUS, "The status of the answer when the phase ends with an error. Default: 500.");

static HEADER_SET: MappingSpec = MappingSpec::new(
    "a header set",
    &[optional("names", List(&Text), "Header names."), optional("prefixes", List(&Text), "Prefixes of header names.")],
);

static NORMALIZE: MappingSpec = MappingSpec::new(
    "`normalize`",
    &[
        optional(
            "dotSegments",
            Word(&["remove", "refuse"]),
            "The segments `.` and `..` of paths: `remove` resolves them (the default), `refuse` answers with 400.",
        ),
        optional(
            "slashes",
            Word(&["merge", "keep"]),
            "Several slashes in a row: `merge` makes them one (the default), `keep` leaves them for servers that tell them apart.",
        ),
        optional(
            "encodedSlashes",
            Word(&["refuse", "keep", "decode"]),
            "`%2F` and `%5C` in paths: `refuse` answers with 400 (the default), `keep` leaves them for servers that never decode them, `decode` makes them slashes.",
        ),
        optional(
            "underscores",
            Word(&["guarded", "refuse", "keep"]),
            "Header names with other characters than letters, digits and `-`, which some servers read as `-`: `guarded` answers with 400 if the name imitates one that the policy sets or removes, or one of identity, routing or framing (the default); `refuse` answers all of them with 400; `keep` accepts them.",
        ),
        optional(
            "connect",
            Word(&["refuse", "accept"]),
            "Requests with the method CONNECT: `refuse` answers with 400 (the default), `accept` is for hosts that make tunnels.",
        ),
        optional(
            "forwardRaw",
            True,
            "Sends path and query to the server as they were received. Rules still read the canonical ones. Default: the canonical ones are sent.",
        ),
    ],
);

static DEFAULTS: MappingSpec = MappingSpec::new(
    "`defaults`",
    &[
        ON_ERROR,
        ERROR_STATUS,
        LANGUAGE,
        optional("deny", Mapping(&ANSWER), "The answer of `deny: true`."),
        optional(
            "maxOperations",
            Integer { least: 1, most: 1_000_000_000 },
            "The most operations of an expression by its static cost, where lists and maps have 100 elements. One that takes more is an error. Default: no limit.",
        ),
    ],
);

static PHASE: MappingSpec = MappingSpec::new("a phase", &[ON_ERROR, ERROR_STATUS, RULES_KEY]);

const ENCODED: &[&str] = &["refuse", "decode", "raw"];
const PREFIX: KeySpec = optional(
    "prefix",
    Size,
    "The phase reads only the first bytes of the body, as `bodyPrefix`, and the rest is forwarded as it arrives. Default: it reads the whole body.",
);

static BODY_PHASE: MappingSpec = MappingSpec::new(
    "the phase `requestBody`",
    &[
        ON_ERROR,
        ERROR_STATUS,
        RULES_KEY,
        optional("limit", Size, "The largest body that is buffered, in bytes. Default: 64KiB."),
        optional(
            "tooLarge",
            Word(&["deny", "skip"]),
            "What happens to a request with a larger body: `deny` (the default) answers with 413, `skip` forwards it without running this phase.",
        ),
        PREFIX,
        optional(
            "encoded",
            Word(ENCODED),
            "What happens to a body with a content coding: `refuse` (the default) answers with 415, `decode` decodes it for the rules (gzip, deflate, br), `raw` lets them read it coded.",
        ),
    ],
);

static RESPONSE_BODY_PHASE: MappingSpec = MappingSpec::new(
    "the phase `responseBody`",
    &[
        ON_ERROR,
        ERROR_STATUS,
        RULES_KEY,
        optional("limit", Size, "The largest body that is buffered, in bytes. Default: 1MiB."),
        optional(
            "tooLarge",
            Word(&["deny", "skip"]),
            "What happens to a response with a larger body: `deny` (the default) answers with 502, `skip` forwards it without running this phase.",
        ),
        PREFIX,
        optional(
            "encoded",
            Word(ENCODED),
            "What happens to a body with a content coding: `decode` (the default) decodes it for the rules (gzip, deflate, br), `refuse` answers with 502, `raw` lets them read it coded.",
        ),
    ],
);

static LOG_PHASE: MappingSpec = MappingSpec::new(
    "the phase `log`",
    &[ON_ERROR, optional("rules", List(&Mapping(&LOG_RULE)), "The rules, in order.")],
);

const LANGUAGE: KeySpec = optional(
    "language",
    KnownWord(Language::names),
    "The language of the expressions of a rule: `cel` (the default) or `filter`, Cloudflare's filter language. In `defaults`, that of all rules without the key.",
);
const NAME: KeySpec = optional("name", Text, "The name of the rule in logs and metrics.");
const WHEN: KeySpec = optional("when", Expression, "The condition. A rule without a condition always matches.");
const PRIORITY: KeySpec =
    optional("priority", Integer { least: 0, most: 1_000_000 }, "Rules with smaller numbers run first. Default: 1000.");
const SAMPLE: KeySpec = optional(
    "sample",
    Share,
    "The share of matching requests for which the rule acts, above 0 and at most 1. Default: 1.",
);
const REQUIRE: KeySpec = optional(
    "require",
    Expression,
    "A condition that messages must meet. The rule denies those for which it is false or fails; the answer is that of `deny`, `respond` or `redirect`, or the usual denial.",
);
const LOG_FIELDS: KeySpec =
    optional("logFields", Map(&Template), "Fields of the log entry. A field whose expression fails is left out.");
const SETTLE: KeySpec = optional(
    "settle",
    Map(&Template),
    "The real costs of limits that the request has asked, by their names, instead of the reserved ones. In `response`, `responseBody` and `log`.",
);
const COUNT: KeySpec = optional("count", Text, "The name of a counter that the rule increments.");

pub(crate) static RULE: MappingSpec = MappingSpec::new(
    "a rule",
    &[
        NAME,
        LANGUAGE,
        METHOD_KEY,
        WHEN,
        PRIORITY,
        SAMPLE,
        REQUIRE,
        optional("setHeaders", Map(&Template), "Headers to set. They replace headers of the same name."),
        optional("addHeaders", Map(&Template), "Headers to add. Headers of the same name stay."),
        optional("removeHeaders", List(&Text), "The names of headers to remove."),
        optional("removePrefixes", List(&Text), "Prefixes of the names of headers to remove."),
        optional("removeHeaderSets", List(&Text), "The names of header sets whose headers are removed."),
        optional(
            "setPath",
            Template,
            "The new path of the request, without its query. In `request` and `requestBody`. It is made canonical; the phase ends with an error if it fails.",
        ),
        optional(
            "setQuery",
            Map(&Template),
            "Parameters of the query to set. They replace parameters of the same name. In `request` and `requestBody`.",
        ),
        optional(
            "removeQuery",
            List(&Text),
            "The names of parameters of the query to remove. In `request` and `requestBody`.",
        ),
        optional(
            "setStatus",
            STATUS,
            "The new status of the response, with the body of the server. In `response` and `responseBody`.",
        ),
        optional(
            "setBody",
            OneOf(&[Template, List(&JsonTemplate), Map(&JsonTemplate)]),
            "The new body: text, the value of one `${..}` (text and bytes as they are, other values as JSON), or a JSON value in which texts are templates. In `requestBody` and `responseBody`. The phase ends with an error if it fails.",
        ),
        optional(
            "patchBody",
            OneOf(&[List(&Mapping(&PATCH_OPERATION)), Map(&JsonTemplate)]),
            "Changes of a JSON body: a mapping is a merge patch (RFC 7396; `null` removes a member), a list a JSON Patch (RFC 6902). Texts in values are templates. In `requestBody` and `responseBody`. The phase ends with an error if it fails.",
        ),
        optional(
            "labels",
            Map(&Template),
            "Labels of the request. The host may choose a server by them; later phases read them as `labels.NAME`.",
        ),
        LOG_FIELDS,
        COUNT,
        optional(
            "delay",
            OneOf(&[Mapping(&DELAY), Template]),
            "How long the request waits before it goes on or is answered: a time (`250ms`), or one `${..}` whose value is a duration. The longest delay of a request counts. In `request` and `requestBody`.",
        ),
        optional(
            "limit",
            Mapping(&LIMIT),
            "How often a key may come, or how many of its requests may be open. Asked before the other actions of the rule, which a request above the limit does not reach. In `request` and `requestBody`.",
        ),
        SETTLE,
        optional("allow", True, "Ends the phase. The request or response continues."),
        DENY,
        RESPOND,
        REDIRECTS,
    ],
);

static PATCH_OPERATION: MappingSpec = MappingSpec::new(
    "an operation",
    &[
        required(
            "op",
            Word(&["add", "remove", "replace", "move", "copy", "test"]),
            "What is done. `test` ends the phase with an error unless the value at `path` is `value`.",
        ),
        required(
            "path",
            Template,
            "The place, as a JSON Pointer (RFC 6901): `/items/0/price`, `/items/-` behind the last element.",
        ),
        optional("from", Template, "The place from which `move` and `copy` take the value."),
        optional("value", JsonTemplate, "The value of `add`, `replace` and `test`."),
    ],
);

static CONNECTION_PHASE: MappingSpec = MappingSpec::new(
    "the phase `connection`",
    &[ON_ERROR, optional("rules", List(&Mapping(&CONNECTION_RULE)), "The rules, in order.")],
);

static CONNECTION_RULE: MappingSpec = MappingSpec::new(
    "a rule of `connection`",
    &[
        NAME,
        LANGUAGE,
        WHEN,
        PRIORITY,
        SAMPLE,
        REQUIRE,
        COUNT,
        optional(
            "limit",
            Mapping(&CONNECTION_LIMIT),
            "How often a key may connect, or how many of its connections may be open. A connection above the limit is closed.",
        ),
        optional("allow", True, "Ends the phase. The connection is served."),
        optional("deny", True, "Ends the phase. The connection is closed without an answer."),
    ],
);

static LOG_RULE: MappingSpec =
    MappingSpec::new("a rule of `log`", &[NAME, LANGUAGE, WHEN, PRIORITY, SAMPLE, LOG_FIELDS, COUNT, SETTLE]);
