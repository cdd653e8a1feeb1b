//! The keys of answers, with which a rule ends its phase.

use crate::schema::ValueSpec::{Integer, Map, Mapping, OneOf, Template, True, Word};
use crate::schema::{KeySpec, MappingSpec, ValueSpec};

const fn optional(name: &'static str, value: ValueSpec, description: &'static str) -> KeySpec {
    KeySpec::optional(name, value, description)
}

pub(crate) const STATUS: ValueSpec = Integer { least: 200, most: 599 };

static DENIALS: [ValueSpec; 3] = [True, STATUS, Mapping(&ANSWER)];
static TARGETS: [ValueSpec; 2] = [Template, Mapping(&REDIRECT)];
pub(crate) const DENY: KeySpec =
    optional("deny", OneOf(&DENIALS), "Ends the phase with an answer. Default status: 403.");
pub(crate) const RESPOND: KeySpec =
    optional("respond", Mapping(&ANSWER), "Ends the phase with an answer. Default status: 200.");
pub(crate) const REDIRECTS: KeySpec =
    optional("redirect", OneOf(&TARGETS), "Ends the phase with a redirect to this address. Default status: 302.");

pub(crate) static ANSWER: MappingSpec = MappingSpec::new(
    "an answer",
    &[
        optional("status", STATUS, "The status."),
        optional("headers", Map(&Template), "The headers."),
        optional("body", Template, "The body. Default: empty."),
    ],
);

static REDIRECT: MappingSpec = MappingSpec::new(
    "a redirect",
    &[
        KeySpec::required("to", Template, "The address."),
        optional("status", Word(&["301", "302", "303", "307", "308"]), "The status. Default: 302."),
    ],
);
