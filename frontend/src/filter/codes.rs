//! The codes of what can be wrong with a rule in the filter language.

use crate::diagnostic::{CodeInfo, Stage};

macro_rules! codes {
    ($($name:ident $code:literal, $stage:ident $summary:literal;)*) => {
        $(pub(crate) const $name: &str = $code;)*

        /// What the front end of the filter language can report.
        pub const FILTER_CODES: &[CodeInfo] =
            &[$(CodeInfo { code: $code, stage: Stage::$stage, summary: $summary },)*];
    };
}

codes! {
    ADDRESS "filter-address", Parse "the text is not an address, a network or a range of addresses";
    BYTES "filter-bytes", Parse "the text is not a string or a sequence of hexadecimal bytes";
    ESCAPE "filter-escape", Parse "a backslash in a string is followed by something other than `\"`, `\\`, `xHH` or three octal digits";
    EXPECTED "filter-expected", Parse "a bracket, a quote or a comma is missing";
    IDENTIFIER "filter-identifier", Parse "the name of a field or function is expected";
    INDEX "filter-index", Parse "the text between `[` and `]` is not an index, a quoted UTF-8 key or `*`";
    LIST_NAME "filter-list-name", Parse "the text after `$` is not the name of a list: `a` to `z`, `0` to `9`, `_` and inner dots";
    NUMBER "filter-number", Parse "the text is not a number of 64 bits, or a byte";
    OPERATOR "filter-operator", Parse "a comparison operator is expected";
    PATTERN "filter-pattern", Parse "a regular expression is invalid";
    RANGE "filter-range", Parse "the bounds of a range are in the wrong order or of different kinds";
    TRAILING "filter-trailing", Parse "the text goes on after a complete expression, or is not an argument";
    UNTERMINATED "filter-unterminated", Parse "a string or pattern has no closing quote";
    WILDCARD "filter-wildcard", Parse "a wildcard pattern is invalid";

    ARGUMENT_COUNT "filter-argument-count", Check "a function has too few or too many arguments";
    ARGUMENT_KIND "filter-argument-kind", Check "an argument must be a literal, or must not be one";
    ARGUMENT_TYPE "filter-argument-type", Check "an argument has the wrong type";
    ARGUMENT_VALUE "filter-argument-value", Check "a literal argument is out of range or malformed";
    INDEX_ACCESS "filter-index-access", Check "the value cannot be indexed in this way";
    MAP_EACH "filter-map-each", Check "`[*]` is used where one value is needed";
    ONCE "filter-once", Check "a function is called more often in one expression than the product allows";
    OPERATION "filter-operation", Check "the operator does not apply to the type";
    TYPE "filter-type", Check "an expression has the wrong type";
    UNKNOWN_IDENTIFIER "filter-unknown-identifier", Check "no field or function of this name is declared";
    UNKNOWN_LIST "filter-unknown-list", Check "no list of this name is declared for the type";

    DUPLICATE "filter-duplicate", Check "a set has an item twice (a warning of strict mode)";
    EMPTY_SET "filter-empty-set", Check "a set is empty, so it never matches (a warning of strict mode)";
    GLUED "filter-glued", Check "a keyword is not separated from what follows (a warning of strict mode)";
    HYPHEN "filter-hyphen", Check "two numbers of a set look like a range with a hyphen; a range has two dots (a warning)";
    IP_ORDER "filter-ip-order", Check "addresses are ordered, which Cloudflare does not document (a warning of strict mode)";
    LENIENT_ADDRESS "filter-lenient-address", Check "an IPv4 address has leading zeros or fewer than four numbers (a warning of strict mode)";
    OCTAL "filter-octal", Check "a number with a leading 0 is octal (a warning of strict mode)";

    SOURCE_TOO_LONG "filter-source-too-long", Limit "the source has more bytes than `max_source_bytes`";
    TOO_DEEP "filter-too-deep", Limit "parentheses, `not`, quantifiers and calls are nested deeper than `max_nesting`";
    TOO_MANY_NODES "filter-too-many-nodes", Limit "the tree has more nodes than `max_nodes`, set items included";
}
