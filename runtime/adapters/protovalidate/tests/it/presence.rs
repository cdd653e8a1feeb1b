//! Which fields are tested: `required`, `ignore`, oneofs; and rules in CEL of fields and messages.
#![expect(clippy::panic, reason = "tests")]

use crate::standard::{PATH, proto, whole_file};
use crate::support::{Set, found};
use celero::{Engine, Tier};
use celero_protovalidate::Validator;

/// A message: its name, the value in the text format, and what is found.
type Case = (&'static str, &'static str, &'static [&'static str]);

/// Runs the cases with the rules of the table, and with those of the whole file if it is there.
fn run(folder: &str, file: &str, cases: &[Case]) {
    for (suffix, validate) in [("", Some(proto())), ("-whole", whole_file())] {
        let Some(validate) = validate else { continue };
        let head = file.replace("IMPORT", &format!("import \"{PATH}\";"));
        let set = Set::of(&format!("{folder}{suffix}"), &[(PATH, &validate), ("test.proto", &head)]);
        for (name, text, expected) in cases {
            for tier in [Tier::Native, Tier::Interpret] {
                let engine = Engine::builder().tier(tier).build();
                let validator = Validator::with_engine(&engine, &set.bytes, &format!("test.{name}"));
                let validator = validator.unwrap_or_else(|error| panic!("{name}: {error}"));
                let found = found(&validator, &set.message(&format!("test.{name}"), text));
                assert_eq!(found, *expected, "{name} {{{text}}}");
            }
        }
    }
}

const REQUIRED: &str = "required field=v rule=required key=false";

#[test]
fn required_fields_are_set() {
    let file = r#"syntax = "proto3";
package test;
IMPORT
message Sub { int32 n = 1; }
enum E { ZERO = 0; ONE = 1; }
message Int { int32 v = 1 [(buf.validate.field).required = true]; }
message Optional { optional int32 v = 1 [(buf.validate.field).required = true]; }
message Text { string v = 1 [(buf.validate.field).required = true]; }
message Enum { E v = 1 [(buf.validate.field).required = true]; }
message Nested { Sub v = 1 [(buf.validate.field).required = true]; }
message List { repeated int32 v = 1 [(buf.validate.field).required = true]; }
message Map { map<int32, int32> v = 1 [(buf.validate.field).required = true]; }
message Member { oneof o { int32 v = 1 [(buf.validate.field).required = true]; int32 w = 2; } }
message Both { int32 v = 1 [(buf.validate.field) = { required: true int32: { gt: 5 } }]; }
message Items { repeated int32 v = 1 [(buf.validate.field).repeated.items.required = true]; }
"#;
    run(
        "required",
        file,
        &[
            ("Int", "", &[REQUIRED]),
            ("Int", "v: 0", &[REQUIRED]),
            ("Int", "v: 1", &[]),
            ("Optional", "", &[REQUIRED]),
            ("Optional", "v: 0", &[]),
            ("Text", "v: ''", &[REQUIRED]),
            ("Text", "v: 'a'", &[]),
            ("Enum", "v: ZERO", &[REQUIRED]),
            ("Enum", "v: ONE", &[]),
            ("Nested", "", &[REQUIRED]),
            ("Nested", "v: {}", &[]),
            ("List", "", &[REQUIRED]),
            ("List", "v: 0", &[]),
            ("Map", "", &[REQUIRED]),
            ("Map", "v: {}", &[]),
            ("Member", "w: 1", &[REQUIRED]),
            ("Member", "v: 0", &[]),
            // The other rules are about values.
            ("Both", "", &[REQUIRED]),
            ("Both", "v: 5", &["int32.gt field=v rule=int32.gt key=false"]),
            // Elements are always there.
            ("Items", "v: [0]", &[]),
        ],
    );
    let file = r#"syntax = "proto2";
package test;
IMPORT
enum E { ONE = 1; TWO = 2; }
message Int { optional int32 v = 1 [(buf.validate.field).required = true]; }
message Default { optional int32 v = 1 [default = 7, (buf.validate.field).required = true]; }
message Enum { optional E v = 1 [(buf.validate.field).required = true]; }
"#;
    run(
        "required-proto2",
        file,
        &[
            ("Int", "", &[REQUIRED]),
            ("Int", "v: 0", &[]),
            ("Default", "", &[REQUIRED]),
            ("Default", "v: 7", &[]),
            ("Enum", "", &[REQUIRED]),
            ("Enum", "v: ONE", &[]),
        ],
    );
}

const GT: &str = "int32.gt field=v rule=int32.gt key=false";
const ITEM: &str = "int32.gt field=v[0] rule=repeated.items.int32.gt key=false";

#[test]
fn zero_values_are_ignored_where_rules_say_so() {
    let file = r#"syntax = "proto3";
package test;
IMPORT
import "google/protobuf/duration.proto";
message Sub { int32 n = 1 [(buf.validate.field).int32.gt = 5]; }
enum E { ZERO = 0; ONE = 1; }
message Plain { int32 v = 1 [(buf.validate.field).int32.gt = 5]; }
message Int { int32 v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE int32: { gt: 5 } }]; }
message Optional {
  optional int32 v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE int32: { gt: 5 } }];
}
message Text { string v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE string: { len: 2 } }]; }
message Bytes { bytes v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE bytes: { len: 2 } }]; }
message Bool { bool v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE bool: { const: true } }]; }
message Double { double v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE double: { gt: 5 } }]; }
message Enum { E v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE enum: { const: 7 } }]; }
message List {
  repeated int32 v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE repeated: { min_items: 2 } }];
}
message Map {
  map<int32, int32> v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE map: { min_pairs: 2 } }];
}
message Nested { Sub v = 1 [(buf.validate.field).ignore = IGNORE_IF_ZERO_VALUE]; }
message Items {
  repeated int32 v = 1 [(buf.validate.field).repeated.items = { ignore: IGNORE_IF_ZERO_VALUE int32: { gt: 5 } }];
}
message Enums {
  repeated E v = 1 [(buf.validate.field).repeated.items = { ignore: IGNORE_IF_ZERO_VALUE enum: { const: 7 } }];
}
message Keys {
  map<int32, int32> v = 1 [(buf.validate.field).map = {
    keys: { ignore: IGNORE_IF_ZERO_VALUE int32: { gt: 5 } }
    values: { ignore: IGNORE_IF_ZERO_VALUE int32: { gt: 5 } }
  }];
}
message Always {
  int32 v = 1 [(buf.validate.field) = { ignore: IGNORE_ALWAYS required: true int32: { gt: 5 } }];
  Sub w = 2 [(buf.validate.field).ignore = IGNORE_ALWAYS];
  repeated Sub x = 3 [(buf.validate.field).repeated.items.ignore = IGNORE_ALWAYS];
}
"#;
    run(
        "ignore",
        file,
        &[
            ("Plain", "", &[GT]),
            ("Int", "", &[]),
            ("Int", "v: 5", &[GT]),
            // Where presence is tracked it changes nothing.
            ("Optional", "", &[]),
            ("Optional", "v: 0", &[GT]),
            ("Text", "", &[]),
            ("Text", "v: 'a'", &["string.len field=v rule=string.len key=false"]),
            ("Bytes", "", &[]),
            ("Bytes", "v: 'a'", &["bytes.len field=v rule=bytes.len key=false"]),
            ("Bool", "v: false", &[]),
            ("Bool", "v: true", &[]),
            ("Double", "v: 0", &[]),
            ("Double", "v: 1", &["double.gt field=v rule=double.gt key=false"]),
            ("Enum", "v: ZERO", &[]),
            ("Enum", "v: ONE", &["enum.const field=v rule=enum.const key=false"]),
            ("List", "", &[]),
            ("List", "v: 0", &["repeated.min_items field=v rule=repeated.min_items key=false"]),
            ("Map", "", &[]),
            ("Map", "v: {}", &["map.min_pairs field=v rule=map.min_pairs key=false"]),
            ("Nested", "", &[]),
            ("Nested", "v: {}", &["int32.gt field=v.n rule=int32.gt key=false"]),
            ("Items", "v: [0, 6]", &[]),
            ("Items", "v: [1, 0]", &[ITEM]),
            ("Enums", "v: [ZERO]", &[]),
            ("Enums", "v: [ONE]", &["enum.const field=v[0] rule=repeated.items.enum.const key=false"]),
            ("Keys", "v: {}", &[]),
            (
                "Keys",
                "v: {key: 1 value: 2}",
                &[
                    "int32.gt field=v[1] rule=map.keys.int32.gt key=true",
                    "int32.gt field=v[1] rule=map.values.int32.gt key=false",
                ],
            ),
            ("Always", "v: 1 w: {n: 1} x: {n: 1}", &[]),
            ("Always", "", &[]),
        ],
    );
}

/// In proto2 the zero value of an enum is its first one, whatever its number is, and scalars track presence.
#[test]
fn the_zero_value_of_an_enum_is_its_first_one() {
    let file = r#"syntax = "proto2";
package test;
IMPORT
enum E { TWO = 2; ONE = 1; ZERO = 0; }
message Int { optional int32 v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE int32: { gt: 5 } }]; }
message Default {
  optional int32 v = 1 [default = 3, (buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE int32: { gt: 5 } }];
}
message Enum { optional E v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE enum: { const: 7 } }]; }
message Required { required E v = 1 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE enum: { const: 7 } }]; }
message Enums {
  repeated E v = 1 [(buf.validate.field).repeated.items = { ignore: IGNORE_IF_ZERO_VALUE enum: { const: 7 } }];
}
message Values {
  map<int32, E> v = 1 [(buf.validate.field).map.values = { ignore: IGNORE_IF_ZERO_VALUE enum: { const: 7 } }];
}
"#;
    run(
        "ignore-proto2",
        file,
        &[
            ("Int", "", &[]),
            ("Int", "v: 0", &[GT]),
            ("Default", "", &[]),
            ("Default", "v: 3", &[GT]),
            ("Enum", "", &[]),
            ("Enum", "v: TWO", &["enum.const field=v rule=enum.const key=false"]),
            ("Enum", "v: ZERO", &["enum.const field=v rule=enum.const key=false"]),
            ("Required", "v: TWO", &["enum.const field=v rule=enum.const key=false"]),
            ("Enums", "v: [TWO]", &[]),
            ("Enums", "v: [TWO, ZERO]", &["enum.const field=v[1] rule=repeated.items.enum.const key=false"]),
            ("Values", "v: {key: 1 value: TWO}", &[]),
            ("Values", "v: {key: 1}", &[]),
            ("Values", "v: {key: 1 value: ZERO}", &["enum.const field=v[1] rule=map.values.enum.const key=false"]),
        ],
    );
}

#[test]
fn oneofs_have_members_that_are_set() {
    let file = r#"syntax = "proto3";
package test;
IMPORT
message Native {
  oneof o {
    option (buf.validate.oneof).required = true;
    int32 v = 1 [(buf.validate.field).int32.gt = 5];
    string w = 2;
  }
}
message AtMostOne {
  option (buf.validate.message).oneof = { fields: ["v", "w"] };
  int32 v = 1 [(buf.validate.field).int32.gt = 5];
  repeated int32 w = 2;
}
message ExactlyOne {
  option (buf.validate.message).oneof = { fields: ["v", "w"] required: true };
  int32 v = 1;
  optional int32 w = 2;
}
message Always {
  option (buf.validate.message).oneof = { fields: ["v", "w"] };
  int32 v = 1 [(buf.validate.field) = { ignore: IGNORE_UNSPECIFIED int32: { gt: 5 } }];
  int32 w = 2;
}
"#;
    run(
        "oneofs",
        file,
        &[
            ("Native", "", &["required field=o rule= key=false"]),
            ("Native", "w: ''", &[]),
            ("Native", "v: 5", &[GT]),
            ("AtMostOne", "", &[]),
            ("AtMostOne", "v: 5", &[GT]),
            ("AtMostOne", "v: 6 w: 0", &["message.oneof field= rule= key=false"]),
            ("ExactlyOne", "", &["message.oneof field= rule= key=false"]),
            ("ExactlyOne", "v: 0", &["message.oneof field= rule= key=false"]),
            ("ExactlyOne", "w: 0", &[]),
            ("ExactlyOne", "v: 1 w: 0", &["message.oneof field= rule= key=false"]),
            // `ignore` of the field is stronger.
            ("Always", "w: 1", &[GT]),
        ],
    );
}

#[test]
fn rules_in_cel_have_their_own_identifiers() {
    let file = r#"syntax = "proto3";
package test;
IMPORT
message Field {
  int32 v = 1 [
    (buf.validate.field).cel = { id: "even" message: "odd" expression: "this % 2 == 0" },
    (buf.validate.field).cel = { id: "small" expression: "this < 10 ? '' : 'large'" }
  ];
}
message Short { int32 v = 1 [(buf.validate.field).cel_expression = "this > 5"]; }
message Whole {
  option (buf.validate.message).cel = { id: "order" expression: "this.v < this.w" };
  option (buf.validate.message).cel_expression = "this.w < 10";
  int32 v = 1;
  int32 w = 2;
}
message Items { repeated Whole v = 1 [(buf.validate.field).repeated.items.cel = { id: "w" expression: "this.w > 0" }]; }
message Values { map<string, Whole> v = 1; }
message Optional { optional string v = 1 [(buf.validate.field).cel = { id: "a" expression: "this == 'a'" }]; }
"#;
    run(
        "cel",
        file,
        &[
            ("Field", "v: 2", &[]),
            ("Field", "v: 3", &["even field=v rule=cel[0] key=false"]),
            ("Field", "v: 11", &["even field=v rule=cel[0] key=false", "small field=v rule=cel[1] key=false"]),
            ("Short", "v: 5", &["this > 5 field=v rule=cel_expression[0] key=false"]),
            ("Short", "v: 6", &[]),
            ("Whole", "v: 1 w: 2", &[]),
            ("Whole", "v: 12 w: 11", &["this.w < 10 field= rule= key=false", "order field= rule= key=false"]),
            ("Items", "v: [{v: 1 w: 2}]", &[]),
            ("Items", "v: [{v: 1 w: 2}, {v: -1}]", &["w field=v[1] rule=repeated.items.cel[0] key=false"]),
            ("Items", "v: [{v: 1 w: 1}]", &["order field=v[0] rule= key=false"]),
            ("Values", "v: {key: 'k' value: {v: 1 w: 1}}", &["order field=v[\"k\"] rule= key=false"]),
            ("Optional", "", &[]),
            ("Optional", "v: ''", &["a field=v rule=cel[0] key=false"]),
        ],
    );
}
