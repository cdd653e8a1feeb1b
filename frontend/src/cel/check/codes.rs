//! The codes of everything the checker can report: one table, from which the catalogue is made.

use crate::diagnostic::{CodeInfo, Stage};

macro_rules! codes {
    ($($name:ident $code:literal $stage:ident $summary:literal;)*) => {
        $(pub(super) const $name: &str = $code;)*

        /// Every code the checker reports.
        pub const CHECKER_CODES: &[CodeInfo] =
            &[$(CodeInfo { code: $code, stage: Stage::$stage, summary: $summary },)*];
    };
}

codes! {
    UNDECLARED_NAME "undeclared-name" Check "no variable, macro variable or type has this name";
    UNDECLARED_FUNCTION "undeclared-function" Check "no function has this name, in any form";
    UNDECLARED_TYPE "undeclared-type" Check "no message type has this name";
    LIBRARY_OFF "library-off" Check "a function or a form of syntax, or the library that it is of, was taken away by the environment";
    CALL_FORM "call-form" Check "a function is called as `f(x)` that exists as `x.f()` only, or the other way round";
    NO_OVERLOAD "no-matching-overload" Check "the operands or arguments fit no overload of the operator or function";
    NO_FIELDS "no-fields" Check "a field is selected from a value that has none";
    FIELD_VALUE "field-value" Check "a field of a message is set twice, or to a value of another type";
    NOT_BOOL "not-bool" Check "a condition, a predicate or an operand of `&&` or `||` is not a `bool`";
    BRANCH_TYPES "branch-types" Check "the branches of `?:`, or the operands of `default` or `coalesce`, have different types";
    NOT_ITERABLE "not-iterable" Check "a macro ranges over what is neither a list nor a map";
    NOT_OPTIONAL "not-optional" Check "an entry marked `?`, or a part of an optional macro, is not an optional";
    NOT_MAP "not-map" Check "the transform of `transformMapEntry`, or what `mapValues` or `filterKeys` takes, is not a map";
    RESULT_TYPE "result-type" Check "the body of a function is of another type than its declaration says";
    DECLARATION "declaration" Check "a function defined in CEL has no declaration of the form `name(parameter: type) -> type`, or one that clashes";
    TYPE_TOO_COMPLEX "type-too-complex" Limit "a type, or the work of inferring types, exceeds its bound";
    UNKNOWN_LIST "unknown-list" Check "no list has the name after `lists.`";
    LIST_USE "list-use" Check "a list is used in another way than as `value in lists.NAME`, or asked for a value of a type that it never contains";
    UNUSED_BINDING "unused-binding" Check "the body of `cel.bind` or `with` does not use the variable (a warning)";
}
