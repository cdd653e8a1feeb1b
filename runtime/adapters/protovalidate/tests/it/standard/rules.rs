//! The table of the standard rules: the facts of `buf/validate/validate.proto` (names, numbers, types, identifiers),
//! with what each rule demands in this table's own words. [`proto`] makes a file of it that the tests import.

/// The rules for a type of field.
pub(crate) struct Kind {
    /// The field of `FieldRules`, which is the beginning of the identifiers.
    pub(crate) name: &'static str,
    pub(crate) number: u32,
    pub(crate) rules: Vec<Rule>,
}

pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) number: u32,
    /// The type of its field.
    pub(crate) ty: String,
    /// Its identifiers without the kind, each with what must hold. That is empty where the validator knows the rule
    /// without an expression.
    pub(crate) ids: Vec<(String, String)>,
}

/// A rule of one identifier, which is its name.
fn rule(name: &'static str, number: u32, ty: impl Into<String>, holds: &str) -> Rule {
    Rule { name, number, ty: ty.into(), ids: vec![(name.to_owned(), holds.to_owned())] }
}

/// A part of rules, or a switch, without an identifier of its own.
fn part(name: &'static str, number: u32, ty: &str) -> Rule {
    Rule { name, number, ty: ty.to_owned(), ids: Vec::new() }
}

/// A switch for a format of texts or bytes. An empty value breaks another identifier.
fn format(name: &'static str, number: u32, empty: &str, holds: &str) -> Rule {
    let ids = [
        (name.to_owned(), format!("!rule || this == {empty} || {holds}")),
        (format!("{name}_empty"), format!("!rule || this != {empty}")),
    ];
    Rule { name, number, ty: "bool".to_owned(), ids: ids.into() }
}

/// `lt`, `lte`, `gt`, `gte` of values with an order. Both ends together have identifiers of their own: a range, or its
/// complement if the ends are the other way round.
fn ordered(ty: &str, first: u32) -> Vec<Rule> {
    let mut rules = Vec::new();
    let ends = |one: &str, two: &str| format!("has(rules.{one}) || has(rules.{two})");
    for ((name, operator), number) in [("lt", "<"), ("lte", "<=")].into_iter().zip(first..) {
        rules.push(rule(name, number, ty, &format!("{} || this {operator} rule", ends("gt", "gte"))));
    }
    for ((name, operator), number) in [("gt", ">"), ("gte", ">=")].into_iter().zip(first + 2..) {
        let mut lower = rule(name, number, ty, &format!("{} || this {operator} rule", ends("lt", "lte")));
        for (upper, upper_operator) in [("lt", "<"), ("lte", "<=")] {
            let (below, above) = (format!("this {upper_operator} rules.{upper}"), format!("this {operator} rule"));
            let absent = format!("!has(rules.{upper})");
            let inside = format!("{absent} || rules.{upper} < rule || {above} && {below}");
            let outside = format!("{absent} || rules.{upper} >= rule || {above} || {below}");
            lower.ids.push((format!("{name}_{upper}"), inside));
            lower.ids.push((format!("{name}_{upper}_exclusive"), outside));
        }
        rules.push(lower);
    }
    rules
}

fn lists(ty: &str, first: u32) -> [Rule; 2] {
    let list = format!("repeated {ty}");
    [rule("in", first, list.as_str(), "this in rule"), rule("not_in", first + 1, list.as_str(), "!(this in rule)")]
}

fn example(ty: &str, number: u32) -> Rule {
    rule("example", number, format!("repeated {ty}"), "true")
}

pub(crate) const NUMBERS: [&str; 12] = [
    "float", "double", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
    "sfixed64",
];

fn numbers() -> impl Iterator<Item = Kind> {
    NUMBERS.into_iter().zip(1..).map(|(name, number)| {
        let mut rules = vec![rule("const", 1, name, "this == rule")];
        rules.extend(ordered(name, 2));
        rules.extend(lists(name, 6));
        if matches!(name, "float" | "double") {
            rules.push(rule("finite", 8, "bool", "!rule || !this.isNan() && !this.isInf()"));
            rules.push(example(name, 9));
        } else {
            rules.push(example(name, if name == "int64" { 9 } else { 8 }));
        }
        Kind { name, number, rules }
    })
}

fn strings() -> Vec<Rule> {
    let hex = |digits: &str| format!("[0-9a-fA-F]{{{digits}}}");
    let uuid = [hex("8"), hex("4"), hex("4"), hex("4"), hex("12")].join("-");
    let matches = |pattern: &str| format!("this.matches(r'^{pattern}$')");
    let name = "[a-zA-Z_][a-zA-Z0-9_]*";
    let mut rules = vec![
        rule("const", 1, "string", "this == rule"),
        rule("len", 19, "uint64", "uint(this.size()) == rule"),
        rule("min_len", 2, "uint64", "uint(this.size()) >= rule"),
        rule("max_len", 3, "uint64", "uint(this.size()) <= rule"),
        rule("len_bytes", 20, "uint64", "uint(bytes(this).size()) == rule"),
        rule("min_bytes", 4, "uint64", "uint(bytes(this).size()) >= rule"),
        rule("max_bytes", 5, "uint64", "uint(bytes(this).size()) <= rule"),
        rule("pattern", 6, "string", "this.matches(rule)"),
        rule("prefix", 7, "string", "this.startsWith(rule)"),
        rule("suffix", 8, "string", "this.endsWith(rule)"),
        rule("contains", 9, "string", "this.contains(rule)"),
        rule("not_contains", 23, "string", "!this.contains(rule)"),
    ];
    rules.extend(lists("string", 10));
    for (name, number, holds) in [
        ("email", 12, "this.isEmail()".to_owned()),
        ("hostname", 13, "this.isHostname()".to_owned()),
        ("ip", 14, "this.isIp()".to_owned()),
        ("ipv4", 15, "this.isIp(4)".to_owned()),
        ("ipv6", 16, "this.isIp(6)".to_owned()),
        ("uri", 17, "this.isUri()".to_owned()),
        ("address", 21, "(this.isIp() || this.isHostname())".to_owned()),
        ("uuid", 22, matches(&uuid)),
        ("tuuid", 33, matches(&hex("32"))),
        ("ip_with_prefixlen", 26, "this.isIpPrefix()".to_owned()),
        ("ipv4_with_prefixlen", 27, "this.isIpPrefix(4)".to_owned()),
        ("ipv6_with_prefixlen", 28, "this.isIpPrefix(6)".to_owned()),
        ("ip_prefix", 29, "this.isIpPrefix(true)".to_owned()),
        ("ipv4_prefix", 30, "this.isIpPrefix(4, true)".to_owned()),
        ("ipv6_prefix", 31, "this.isIpPrefix(6, true)".to_owned()),
        ("host_and_port", 32, "this.isHostAndPort(true)".to_owned()),
        ("ulid", 35, matches("[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}")),
        ("protobuf_fqn", 37, matches(&format!(r"{name}(\.{name})*"))),
        ("protobuf_dot_fqn", 38, matches(&format!(r"(\.{name})+"))),
    ] {
        rules.push(format(name, number, "''", &holds));
    }
    rules.push(rule("uri_ref", 18, "bool", "!rule || this.isUriRef()"));
    // Of `strict`, which is on where it is not set, and of the other way.
    let either = |strict: &str, loose: &str| {
        format!("(rules.strict || !has(rules.strict) ? this.matches('^{strict}$') : this.matches('^{loose}$'))")
    };
    let header = either(":?[-0-9a-zA-Z!#$%&\\'*+.^_`|~]+", "[^\\x00\\n\\r]+");
    let value = either("[^\\x00-\\x08\\x0a-\\x1f\\x7f]*", "[^\\x00\\n\\r]*");
    let ids = [
        ("header_name", format!("rule != 1 || this == '' || {header}")),
        ("header_name_empty", "rule != 1 || this != ''".to_owned()),
        ("header_value", format!("rule != 2 || {value}")),
    ];
    let ids = ids.map(|(id, holds)| (format!("well_known_regex.{id}"), holds)).into();
    rules.push(Rule { name: "well_known_regex", number: 24, ty: "KnownRegex".to_owned(), ids });
    rules.extend([part("strict", 25, "bool"), example("string", 34)]);
    rules
}

fn bytes() -> Vec<Rule> {
    let mut rules = vec![
        rule("const", 1, "bytes", "this == rule"),
        rule("len", 13, "uint64", "uint(this.size()) == rule"),
        rule("min_len", 2, "uint64", "uint(this.size()) >= rule"),
        rule("max_len", 3, "uint64", "uint(this.size()) <= rule"),
        rule("pattern", 4, "string", "string(this).matches(rule)"),
        rule("prefix", 5, "bytes", "this.startsWith(rule)"),
        rule("suffix", 6, "bytes", "this.endsWith(rule)"),
        rule("contains", 7, "bytes", "this.contains(rule)"),
        format("ip", 10, "b''", "this.size() in [4, 16]"),
        format("ipv4", 11, "b''", "this.size() == 4"),
        format("ipv6", 12, "b''", "this.size() == 16"),
        format("uuid", 15, "b''", "this.size() == 16"),
        example("bytes", 14),
    ];
    rules.extend(lists("bytes", 8));
    rules
}

/// `const` has another number than in numbers.
fn times(ty: &str) -> Vec<Rule> {
    let mut rules = vec![rule("const", 2, ty, "this == rule")];
    rules.extend(ordered(ty, 3));
    rules
}

/// The rules for all types.
pub(crate) fn kinds() -> Vec<Kind> {
    let (duration, timestamp, mask) =
        ("google.protobuf.Duration", "google.protobuf.Timestamp", "google.protobuf.FieldMask");
    let mut kinds: Vec<Kind> = numbers().collect();
    kinds.push(Kind {
        name: "bool",
        number: 13,
        rules: vec![rule("const", 1, "bool", "this == rule"), example("bool", 2)],
    });
    kinds.push(Kind { name: "string", number: 14, rules: strings() });
    kinds.push(Kind { name: "bytes", number: 15, rules: bytes() });
    let mut enums = vec![rule("const", 1, "int32", "this == rule"), rule("defined_only", 2, "bool", "")];
    enums.extend(lists("int32", 3));
    enums.push(example("int32", 5));
    kinds.push(Kind { name: "enum", number: 16, rules: enums });
    let repeated = vec![
        rule("min_items", 1, "uint64", "uint(this.size()) >= rule"),
        rule("max_items", 2, "uint64", "uint(this.size()) <= rule"),
        rule("unique", 3, "bool", "!rule || this.unique()"),
        part("items", 4, "FieldRules"),
    ];
    kinds.push(Kind { name: "repeated", number: 18, rules: repeated });
    let map = vec![
        rule("min_pairs", 1, "uint64", "uint(this.size()) >= rule"),
        rule("max_pairs", 2, "uint64", "uint(this.size()) <= rule"),
        part("keys", 4, "FieldRules"),
        part("values", 5, "FieldRules"),
    ];
    kinds.push(Kind { name: "map", number: 19, rules: map });
    let any = vec![rule("in", 2, "repeated string", ""), rule("not_in", 3, "repeated string", "")];
    kinds.push(Kind { name: "any", number: 20, rules: any });
    let mut durations = times(duration);
    durations.extend(lists(duration, 7));
    durations.push(example(duration, 9));
    kinds.push(Kind { name: "duration", number: 21, rules: durations });
    let mut timestamps = times(timestamp);
    timestamps.extend([
        rule("lt_now", 7, "bool", "!rule || this <= now"),
        rule("gt_now", 8, "bool", "!rule || this >= now"),
        rule("within", 9, duration, "this >= now - rule && this <= now + rule"),
        example(timestamp, 10),
    ]);
    kinds.push(Kind { name: "timestamp", number: 22, rules: timestamps });
    let under = |path: &str| format!("{path} in rule || rule.exists(f, {path}.startsWith(f + '.'))");
    let masks = vec![
        rule("const", 1, mask, "this.paths == rule.paths"),
        rule("in", 2, "repeated string", &format!("this.paths.all(p, {})", under("p"))),
        rule("not_in", 3, "repeated string", &format!("!this.paths.exists(p, {})", under("p"))),
        example(mask, 4),
    ];
    kinds.push(Kind { name: "field_mask", number: 28, rules: masks });
    kinds
}

/// The name of the message with the rules for a type.
pub(crate) fn message_of(kind: &str) -> String {
    match kind {
        "field_mask" => "FieldMaskRules".to_owned(),
        _ => {
            // `UInt32Rules`, `SFixed64Rules`: two capital letters.
            let capitals =
                1 + usize::from(kind.starts_with("uint") || kind.starts_with("sint") || kind.starts_with("sfix"));
            let (first, rest) = kind.split_at(capitals);
            format!("{}{rest}Rules", first.to_uppercase())
        }
    }
}

const HEAD: &str = r#"syntax = "proto2";
package buf.validate;
import "google/protobuf/descriptor.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/timestamp.proto";
extend google.protobuf.MessageOptions { optional MessageRules message = 1159; }
extend google.protobuf.OneofOptions { optional OneofRules oneof = 1159; }
extend google.protobuf.FieldOptions {
  optional FieldRules field = 1159;
  optional PredefinedRules predefined = 1160;
}
message Rule { optional string id = 1; optional string message = 2; optional string expression = 3; }
message PredefinedRules { repeated Rule cel = 1; }
message MessageOneofRule { repeated string fields = 1; optional bool required = 2; }
message MessageRules {
  repeated string cel_expression = 5;
  repeated Rule cel = 3;
  repeated MessageOneofRule oneof = 4;
}
message OneofRules { optional bool required = 1; }
enum Ignore { IGNORE_UNSPECIFIED = 0; IGNORE_IF_ZERO_VALUE = 1; IGNORE_ALWAYS = 3; }
enum KnownRegex {
  KNOWN_REGEX_UNSPECIFIED = 0; KNOWN_REGEX_HTTP_HEADER_NAME = 1; KNOWN_REGEX_HTTP_HEADER_VALUE = 2;
}
"#;

/// A file with these rules, as `buf/validate/validate.proto`.
pub(crate) fn proto() -> String {
    let kinds = kinds();
    let mut text = HEAD.to_owned();
    text.push_str("message FieldRules {\n  repeated string cel_expression = 29;\n  repeated Rule cel = 23;\n");
    text.push_str("  optional bool required = 25;\n  optional Ignore ignore = 27;\n  oneof type {\n");
    for Kind { name, number, .. } in &kinds {
        text.push_str(&format!("    {} {name} = {number};\n", message_of(name)));
    }
    text.push_str("  }\n}\n");
    for Kind { name: kind, rules, .. } in &kinds {
        text.push_str(&format!("message {} {{\n", message_of(kind)));
        for Rule { name, number, ty, ids } in rules {
            let label = if ty.starts_with("repeated ") { "" } else { "optional " };
            let ids = ids.iter().filter(|(_, holds)| !holds.is_empty());
            let options: Vec<String> = ids
                .map(|(id, holds)| format!("(predefined).cel = {{id: \"{kind}.{id}\" expression: {holds:?}}}"))
                .collect();
            let options = if options.is_empty() { String::new() } else { format!(" [{}]", options.join(", ")) };
            text.push_str(&format!("  {label}{ty} {name} = {number}{options};\n"));
        }
        text.push_str("  extensions 1000 to max;\n}\n");
    }
    text
}
