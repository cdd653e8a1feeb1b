//! The keys of a file that says what a host declares for the expressions of policies.

use crate::keys::lists::{LIST_ENTRIES, LIST_KIND, LIST_VALUE_TYPES};
use crate::keys::policy::CODES;
use crate::schema::ValueSpec::{Bool, List, Map, Mapping, OneOf, Text};
use crate::schema::{DocumentSpec, KeySpec, MappingSpec};

/// A whole file.
pub(crate) static ENVIRONMENT: DocumentSpec =
    DocumentSpec::new("a file of a host's declarations", Mapping(&DECLARATIONS), CODES);

static DECLARATIONS: MappingSpec = MappingSpec::new(
    "a file of a host's declarations",
    &[
        KeySpec::optional(
            "variables",
            Map(&OneOf(&[Mapping(&VARIABLE), Text])),
            "The types of variables by their names: `tenant.seats: int`. Expressions of all phases but `connection` read them.",
        ),
        KeySpec::optional(
            "functions",
            List(&Text),
            "Declarations of functions: `\"plan(tenant: string) -> string\"`; `\"string.plan() -> string\"` is called on a value.",
        ),
        KeySpec::optional(
            "lists",
            Map(&Mapping(&LIST)),
            "The lists that the host keeps, by their names. Expressions ask them as those of a policy.",
        ),
    ],
);

/// A list of the host. Its entries are what cases find in it.
static LIST: MappingSpec = MappingSpec::new("a list of the host", &[LIST_KIND, LIST_VALUE_TYPES, LIST_ENTRIES]);

static VARIABLE: MappingSpec = MappingSpec::new(
    "a variable",
    &[
        KeySpec::required("type", Text, "The type: `string`, `list(int)`, `map(string, dyn)`."),
        KeySpec::optional("optional", Bool, "Whether the variable may be absent. Default: `false`."),
    ],
);
