//! Truth values, enums, lists, maps, and messages of Google.

use super::{Case, case};

pub(super) fn cases() -> Vec<Case> {
    let any = "google.protobuf.Any";
    let mask = "google.protobuf.FieldMask";
    let mut all = vec![
        case("bool", "bool", "const: true", &["true"], &[("false", "const")]),
        case("bool", "bool", "const: false", &["false"], &[("true", "const")]),
        case("bool", "bool", "example: true", &["true", "false"], &[]),
        case("bool", "google.protobuf.BoolValue", "const: true", &["{value: true}"], &[("{}", "const")]),
        case("enum", "E", "const: 1", &["ONE"], &[("ZERO", "const"), ("2", "const")]),
        case("enum", "E", "defined_only: true", &["ZERO", "TWO"], &[("3", "defined_only"), ("-1", "defined_only")]),
        case("enum", "E", "defined_only: false", &["3"], &[]),
        case("enum", "E", "in: [1, 3]", &["ONE", "3"], &[("ZERO", "in")]),
        case("enum", "E", "not_in: [1, 3]", &["ZERO"], &[("ONE", "not_in"), ("3", "not_in")]),
        case("enum", "E", "example: 1", &["ZERO", "3"], &[]),
        case("repeated", "repeated int32", "min_items: 2", &["[1, 1]"], &[("[1]", "min_items"), ("[]", "min_items")]),
        case("repeated", "repeated int32", "max_items: 1", &["[]", "[1]"], &[("[1, 2]", "max_items")]),
        case("repeated", "repeated int32", "unique: true", &["[]", "[1, 2]"], &[("[1, 2, 1]", "unique")]),
        case("repeated", "repeated string", "unique: true", &["['a', 'A']"], &[("['', '']", "unique")]),
        case("repeated", "repeated bytes", "unique: true", &["['a', '']"], &[("['\\xff', '\\xff']", "unique")]),
        case("repeated", "repeated double", "unique: true", &["[1, 2]"], &[("[1, 1]", "unique")]),
        case("repeated", "repeated bool", "unique: true", &["[true, false]"], &[("[true, true]", "unique")]),
        case("repeated", "repeated int32", "unique: false", &["[1, 1]"], &[]),
        case(
            "repeated",
            "repeated int32",
            "items: {int32: {gt: 5}}",
            &["[]", "[6, 7]"],
            &[("[6, 5, 7]", "int32.gt field=v[1] rule=repeated.items.int32.gt key=false")],
        ),
        case(
            "repeated",
            "repeated E",
            "items: {enum: {defined_only: true}}",
            &["[ZERO, TWO]"],
            &[("[ONE, 3]", "enum.defined_only field=v[1] rule=repeated.items.enum.defined_only key=false")],
        ),
        case(
            "repeated",
            "repeated google.protobuf.Any",
            "items: {any: {in: ['t/a']}}",
            &["[{type_url: 't/a'}]"],
            &[("[{type_url: 't/a'}, {}]", "any.in field=v[1] rule=repeated.items.any.in key=false")],
        ),
        case("any", any, "in: ['t/a', 't/b']", &["{type_url: 't/a'}"], &[("{type_url: 't/c'}", "in"), ("{}", "in")]),
        case("any", any, "not_in: ['t/a', 't/b']", &["{type_url: 't/c'}", "{}"], &[("{type_url: 't/b'}", "not_in")]),
        case(
            "field_mask",
            mask,
            "const: {paths: ['a', 'b']}",
            &["{paths: ['a', 'b']}"],
            &[("{paths: ['b', 'a']}", "const"), ("{}", "const")],
        ),
        case(
            "field_mask",
            mask,
            "in: ['a', 'b.c']",
            &["{paths: ['a', 'a.x', 'b.c']}", "{}"],
            &[("{paths: ['a', 'ab']}", "in"), ("{paths: 'b'}", "in")],
        ),
        case(
            "field_mask",
            mask,
            "not_in: ['a', 'b.c']",
            &["{paths: ['ab', 'b']}", "{}"],
            &[("{paths: ['x', 'a']}", "not_in"), ("{paths: 'a.x'}", "not_in")],
        ),
        case("field_mask", mask, "example: {paths: 'a'}", &["{}"], &[]),
    ];
    let map = |ty: &str, rules: &str, valid: &[&str], invalid: &[(&str, &'static str)]| {
        case("map", ty, rules, valid, invalid)
    };
    let pairs = "[{key: 'a' value: 1}, {key: 'b' value: 2}]";
    all.extend([
        map("map<string, int32>", "min_pairs: 1", &[pairs, "[{}]"], &[("[]", "min_pairs")]),
        map("map<string, int32>", "max_pairs: 1", &["[]", "[{key: 'a'}, {key: 'a'}]"], &[(pairs, "max_pairs")]),
        map(
            "map<string, int32>",
            "keys: {string: {min_len: 2}}",
            &["[{key: 'ab'}]"],
            &[("[{key: 'a' value: 1}]", "string.min_len field=v[\"a\"] rule=map.keys.string.min_len key=true")],
        ),
        map(
            "map<string, int32>",
            "values: {int32: {gt: 5}}",
            &["[{key: 'a' value: 6}]"],
            &[("[{key: 'a' value: 5}]", "int32.gt field=v[\"a\"] rule=map.values.int32.gt key=false")],
        ),
        map(
            "map<int64, E>",
            "values: {enum: {defined_only: true}}",
            &["[{key: -1 value: ONE}]"],
            &[("[{key: -1 value: 7}]", "enum.defined_only field=v[-1] rule=map.values.enum.defined_only key=false")],
        ),
        map(
            "map<uint32, bytes>",
            "values: {bytes: {len: 1}}",
            &["[{key: 1 value: 'a'}]"],
            &[("[{key: 4294967295}]", "bytes.len field=v[4294967295] rule=map.values.bytes.len key=false")],
        ),
        map(
            "map<bool, string>",
            "keys: {bool: {const: true}}",
            &["[{key: true}]"],
            &[("[{key: false}]", "bool.const field=v[false] rule=map.keys.bool.const key=true")],
        ),
        map(
            "map<sint32, google.protobuf.Duration>",
            "values: {duration: {gt: {seconds: 5}}}",
            &["[{key: 1 value: {seconds: 6}}]"],
            &[("[{key: -7 value: {}}]", "duration.gt field=v[-7] rule=map.values.duration.gt key=false")],
        ),
    ]);
    all
}
