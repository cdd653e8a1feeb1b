//! The codes of the diagnostics that this crate adds to those of the front end, with their summaries.
//!
//! A code is part of the public interface: hosts filter by it, and `diagnostic_codes` lists it with its summary.

use celero_frontend::{CodeInfo, Stage};

macro_rules! codes {
    ($($name:ident $code:literal $stage:ident $summary:literal;)*) => {
        $(pub(crate) const $name: &str = $code;)*

        /// All codes of this crate, in the order in which they are documented.
        pub(crate) const CODES: &[CodeInfo] = &[$(CodeInfo { code: $code, stage: Stage::$stage, summary: $summary },)*];
    };
}

codes! {
    ENVIRONMENT "environment" Check "a variable or function that the host declares can't be declared";
    NATIVE_CODE "native-code" Limit "the rule exceeds a bound of the compiler to native code, and the host asks for native code only";
    TOO_MANY_CASES "too-many-cases" Limit "patterns that ignore case have too many classes of most characters: see `Limits::case_steps`";
    TOO_COSTLY "too-costly" Limit "a rule takes too many operations by its static cost: see `Limits::operations`";
    NO_TEXT "no-text" Check "a result that is to be a part of a text has none";
    NO_EQUAL "no-equal" Check "a part of a rule has no equal in the language that it is translated to";
    FALSE_FOR_FAILURE "false-for-failure" Check "a translated rule is false where the original one fails (a warning)";
    OTHER_MEANING "other-meaning" Check "the nearest form of a part of a rule in another language, and where it differs (a warning)";
    NEVER_VALID "literal-never-valid" Check "a call on this literal fails whenever it is evaluated (a warning)";
    NEVER_EQUAL "never-equal" Check "the compared types are never the same (a warning)";
    CONSTANT_CONDITION "constant-condition" Check "a condition is `true` or `false` as written (a warning)";
    INVALID_HEADER_NAME "invalid-header-name" Check "no header can have this name (a warning)";
    HEADER_NAME_CASE "header-name-case" Check "the name of a header is not in lower case (a warning)";
    GUARD_PASSED_BY_ABSENCE "guard-passed-by-absence" Check "a client passes a rule that denies by leaving out what it reads (a warning)";
    GUARD_PASSED_BY_REPEATING "guard-passed-by-repeating" Check "a client passes a rule that denies by sending a header twice (a warning)";
    FIELD_MISSING "filter-field-missing" Check "the host gives a field of the filter language no value, so no comparison with it is true (a warning)";
    NEVER_THAT_CASE "never-that-case" Check "text in lower or upper case is compared with text that has letters of the other case (a warning)";
    DOUBLED_BACKSLASH "doubled-backslash" Check "a pattern has two backslashes where one was probably meant (a warning)";
    NEVER_THAT_VALUE "never-that-value" Check "a field is compared with a value that it never has (a warning)";
    MIXED_LITERAL "mixed-literal" Check "a list or a map has parts of several types, and the environment allows one: see `Validator`";
    NESTED_TOO_DEEP "nested-too-deep" Check "loops or bindings are nested deeper than the environment allows: see `Validator`";
    UNKNOWN_FIELD "unknown-field" Check "a field is selected of an element of a list whose struct has no such field";
    NETWORK_AS_TEXT "network-as-text" Check "an address is compared as text with a network, which its text never is, or with the beginning of one (a warning)";
    NETWORK_HOST_BITS "network-host-bits" Check "a network is written with an address inside it (a warning)";
    WILDCARD_AS_TEXT "wildcard-as-text" Check "a path or a host is compared with a text that has a `*`, which stands for itself (a warning)";
    ALTERNATIVES_AS_TEXT "alternatives-as-text" Check "a field is compared with a text that has several of its values, with `,` or `|` between them (a warning)";
    COVERED_ITEM "covered-item" Check "an item of a set is in another item of the set (a warning)";
    NEVER_MATCHES "never-matches" Check "a rule of a set is never true (a warning)";
    DUPLICATE_RULE "duplicate-rule" Check "a rule of a set has the condition of one before it (a warning)";
    SHADOWED_RULE "shadowed-rule" Check "a rule of a set is never the first match, because one before it is true wherever it is (a warning)";
}
