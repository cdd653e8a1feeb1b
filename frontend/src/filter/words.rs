//! The words of the filter language that are neither fields nor functions, for tools.

/// Each word and how it is used, in alphabetical order. `true` and `false` are fields.
pub const FILTER_WORDS: &[(&str, &str)] = &[
    ("all", "all(condition with [*])"),
    ("and", "condition and condition"),
    ("any", "any(condition with [*])"),
    ("bitwise_and", "Int bitwise_and Int"),
    ("contains", "Bytes contains Bytes"),
    ("eq", "value eq value"),
    ("ge", "value ge value"),
    ("gt", "value gt value"),
    ("in", "value in {value ..} or value in $list"),
    ("le", "value le value"),
    ("lt", "value lt value"),
    ("matches", "Bytes matches pattern"),
    ("ne", "value ne value"),
    ("not", "not condition"),
    ("or", "condition or condition"),
    ("strict wildcard", "Bytes strict wildcard pattern"),
    ("wildcard", "Bytes wildcard pattern"),
    ("xor", "condition xor condition"),
];
