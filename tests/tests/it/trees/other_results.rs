//! Results that cel-go has otherwise than celero, each with its reason.

/// A kind of results that cel-go has in another way.
pub(super) struct OtherResult {
    /// What is the result here.
    pub(super) own: &'static str,
    /// The kinds of cel-go's results; none stands for all.
    pub(super) kinds: &'static [&'static str],
    /// Words of the expressions, one of which is there.
    pub(super) words: &'static [&'static str],
    /// Why.
    pub(super) reason: &'static str,
}

const fn other(
    own: &'static str,
    kinds: &'static [&'static str],
    words: &'static [&'static str],
    reason: &'static str,
) -> OtherResult {
    OtherResult { own, kinds, words, reason }
}

/// Words of expressions for which cel-go itself has another result from celero's trees, and why.
pub(super) const OTHER_FROM_TREES: [(&str, &str); 3] = [
    ("json.encode(", "cel-go writes the entries of a map in a random order"),
    ("math.greatest(", OF_A_LIST),
    ("math.least(", OF_A_LIST),
];

pub(super) const OTHER_RESULTS: [OtherResult; 47] = [
    other("no such field", &[], &["has("], OF_NO_MAP),
    other("no such key", &["bool", "optional"], &["has(", ".?"], OF_NO_MAP),
    other("no such overload", &["bool", "int", "list", "map", "null", "optional", "string"], &[".?", "[?"], OF_NO_MAP),
    other("division by zero", &["bool"], &["[?"], OF_NO_MAP),
    other("invalid argument", &["bool"], &["[?'missing']"], OF_NO_MAP),
    other("duplicate map key", &[], &["{"], OF_EQUAL_KEYS),
    other("no such overload", &["bool"], &[": cidr(", "{0: m.sizes, m.must: "], OF_EQUAL_KEYS),
    other("modulus by zero", &["bool"], &[": cidr("], OF_EQUAL_KEYS),
    other(
        "no such overload",
        &["bool", "int", "map"],
        &[": 1, b: 2}", "{n.w_", "{m.w_", ", n.w_", ", m.w_", "{m.any: 1"],
        "cel-go takes keys of every type, as null is",
    ),
    other(
        "invalid argument",
        &["bool", "int", "double"],
        &["indexOf(", "lastIndexOf("],
        "the suite has this error for an index behind the end",
    ),
    other("a value", &["error"], &["lastIndexOf("], "cel-go finds nothing from the end of the text on"),
    other(
        "invalid argument",
        &["bool", "list", "optional", "string", "type", "uint"],
        &["regex.replace("],
        OF_NO_REPLACEMENT,
    ),
    other("invalid argument", &["bool", "int"], &[".sort(", ".sortBy("], "a list with NaN has no order"),
    other(
        "invalid argument",
        &["bool", "double", "int", "list", "type"],
        &[".getFullYear(", ".getDa", ".getHours(", ".getMinutes(", ".getSeconds(", ".getMilliseconds(", ".getMonth("],
        "cel-go reads the empty name of a zone as UTC",
    ),
    other(
        "a value",
        &["error"],
        &["containsIP(", "containsCIDR(", "ip.isCanonical(", "::ffff", "::FFFF"],
        OF_MAPPED_ADDRESSES,
    ),
    other("a value", &["bool"], &["isCIDR(", "isIP("], OF_MAPPED_ADDRESSES),
    other("no such key", &["bool"], &["isCIDR(", "isIP("], OF_MAPPED_ADDRESSES),
    other("no such overload", &["bool"], &["isCIDR("], OF_MAPPED_ADDRESSES),
    other("no such overload", &["bool"], &["regex.replace("], OF_NO_REPLACEMENT),
    other(
        "no such overload",
        &["bool", "bytes"],
        &[" >= ", " > ", " <= ", " < "],
        "cel-go finds NaN before it looks at the types",
    ),
    other(
        "no such overload",
        &["bool", "list"],
        &[".transformList(", ".map(", ".exists(k, ", ".all(k, "],
        "cel-go goes through empty bytes and texts, which are no lists",
    ),
    other("invalid argument", &["double"], &["double('1_000')"], "cel-go reads doubles as Go does, with underscores"),
    other("no such overload", &["duration"], &["-"], "cel-go negates durations, the language definition does not"),
    other("no such overload", &["int"], &["int("], "cel-go converts durations to integers"),
    other(
        "a value",
        &["error"],
        &["google.protobuf.Any{", "m.any", "n.any", ".?any", "any: "],
        "cel-go looks for the type of the message in those of its program, and not in the descriptors",
    ),
    other(
        "a value",
        &["bool", "error", "int"],
        &["?m.text:", "?false: ", "?has(m.sizes): optional.none()"],
        OF_EMPTY_OPTIONALS,
    ),
    other("value out of range", &["bool"], &["?true: optional.none()"], OF_EMPTY_OPTIONALS),
    other(
        "no such overload",
        &["bool", "int"],
        &["optional.none().or("],
        "cel-go does not look at the type of the value in place of an empty optional",
    ),
    other(
        "invalid argument",
        &["bool", "map", "optional"],
        &["optional.none()[", "[?m.packed[0]]", "m.?sizes[m.sizes[0]]"],
        "cel-go does not evaluate the index into an empty optional",
    ),
    other("a value", &["no program"], OVER_TYPES, OF_A_TYPE),
    other("invalid argument", &["no program"], OVER_TYPES, OF_A_TYPE),
    other("no such overload", &["no program"], OVER_TYPES, OF_A_TYPE),
    other("no such field", &["no program"], OVER_TYPES, OF_A_TYPE),
    other("no such key", &["no program"], OVER_TYPES, OF_A_TYPE),
    other("value out of range", &["no program"], OVER_TYPES, OF_A_TYPE),
    other(
        "a value",
        &["error"],
        &["-9223372036.854775808s", " - auth.claims", " - b)", " - req.size"],
        "cel-go adds the negated duration where one is subtracted, which the least one has not",
    ),
    other("a value", &["int", "uint", "bool", "error"], &["getMilliseconds("], OF_MILLISECONDS),
    other("modulus by zero", &["bool", "int"], &["getMilliseconds("], OF_MILLISECONDS),
    other(
        "a value",
        &["optional"],
        &["json.parse(", "yaml.parse(string(req.headers"],
        "cel-go reads integers beyond 63 bits as doubles, halves of surrogate pairs, and numbers beyond a double",
    ),
    other(
        "a value",
        &["optional", "string"],
        &["json.encode(", "yaml.encode("],
        "cel-go writes maps in a random order, messages with blanks, and large integers as keys in two quotes",
    ),
    other("a value", &["error"], &["math.greatest(", "math.least("], OF_A_LIST),
    other(
        "a value",
        &["bool", "bytes", "string", "list", "int", "optional"],
        &["string("],
        "cel-go formats a duration as a double, and infinity as `Inf`",
    ),
    other(
        "a value",
        &["duration", "map"],
        &["ofNonZeroValue("],
        "cel-go's zero of timestamps is the year 1, here it is that of the message, 1970",
    ),
    other("evaluation budget exceeded", &["bool"], &["lists.range("], "cel-go has no such limits"),
    other("a value", &["error"], &[")[n.w_uint64]", "[?m.w_bool]"], "cel-go looks for no null in a map"),
    other("a value", &["error"], &["(req.headers in d)"], "cel-go's maps of the host have no way to look up a map"),
    other(
        "a value",
        &["error"],
        &["optional.none()})[", "[m.on].a"],
        "cel-go selects no field of an optional whose type is not known, or that is in a map",
    ),
];

/// Macros with a variable.
const OVER_TYPES: &[&str] = &["cel.bind(", "optMap(", "optFlatMap(", ".filter(", ".map("];

const OF_EMPTY_OPTIONALS: &str = "cel-go takes away the entry of an equal key before an empty optional";
const OF_EQUAL_KEYS: &str =
    "the language definition has an error for equal keys; cel-go takes the last one of computed keys";
const OF_A_LIST: &str = "cel-go chooses the overload for a list by its static type only";
const OF_A_TYPE: &str = "cel-go looks a variable of a macro up as a type, if its value is a type";
const OF_MAPPED_ADDRESSES: &str = "cel-go refuses IPv4 addresses in IPv6 form";
const OF_MILLISECONDS: &str = "cel-go has the whole duration, the language definition a part of it";
const OF_NO_REPLACEMENT: &str = "cel-go reads the pattern and the replacement only where something is replaced";
const OF_NO_MAP: &str = "a value that has no fields or keys; cel-go says that they are absent";
