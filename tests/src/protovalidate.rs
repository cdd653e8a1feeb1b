//! Messages that protovalidate judges, and sets of files with rules: what the fuzz target calls.
//!
//! The standard rules are those of the table of the tests of `celero-protovalidate`.

#![expect(clippy::panic, reason = "tests")]

#[path = "../../runtime/adapters/protovalidate/tests/it/standard/rules.rs"]
mod rules;

use crate::generate::Rng;
use crate::generate::messages::random_message;
use celero::{Engine, Limits, Tier};
use celero_protovalidate::Validator;
use prost_reflect::DescriptorPool;
use std::sync::LazyLock;

/// A type with a rule of each kind, each of which random messages break and keep; nothing depends on the time.
const FILE: &str = r#"syntax = "proto3";
package fuzz;
import "buf/validate/validate.proto";
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum E { ZERO = 0; ONE = 1; TWO = 2; }
message All {
  option (buf.validate.message).cel = { id: "whole" expression: "this.a < this.b || this.items.size() > 1" };
  option (buf.validate.message).oneof = { fields: ["a", "b"] };
  int32 a = 1 [(buf.validate.field).int32 = { gt: 1 lte: 100 }];
  uint64 b = 2 [(buf.validate.field).uint64 = { gt: 100 lt: 5 }];
  double c = 3 [(buf.validate.field).double = { finite: true not_in: [0, 1] }];
  float d = 4 [(buf.validate.field).float.gte = 0];
  optional sint64 e = 5 [(buf.validate.field) = { required: true sint64: { in: [1, 2, 3] } }];
  bool f = 6 [(buf.validate.field).bool.const = true];
  string g = 7 [(buf.validate.field).string = { min_len: 1 max_bytes: 5 pattern: "^[a-z]*$" }];
  string h = 8 [(buf.validate.field) = { ignore: IGNORE_IF_ZERO_VALUE string: { email: true } }];
  string i = 9 [(buf.validate.field).string.uri_ref = true];
  string j = 10 [(buf.validate.field).string.host_and_port = true];
  string k = 11 [(buf.validate.field).string.ip_prefix = true];
  string l = 12 [(buf.validate.field).string.well_known_regex = KNOWN_REGEX_HTTP_HEADER_VALUE];
  bytes m = 13 [(buf.validate.field).bytes = { ip: true prefix: "a" }];
  E n = 14 [(buf.validate.field).enum = { defined_only: true not_in: 1 }];
  repeated int32 items = 15 [(buf.validate.field).repeated = { unique: true items: { int32: { gt: 0 } } }];
  repeated All nested = 16 [(buf.validate.field).repeated.max_items = 2];
  map<string, All> values = 17 [(buf.validate.field).map = { min_pairs: 1 keys: { string: { len: 2 } } }];
  map<int32, string> texts = 18 [(buf.validate.field).map = {
    keys: { cel: { id: "odd" expression: "this % 2 == 1" } }
    values: { ignore: IGNORE_IF_ZERO_VALUE string: { uuid: true } }
  }];
  google.protobuf.Duration o = 19 [(buf.validate.field).duration = { gt: { seconds: 1 } lt: { seconds: 9 } }];
  google.protobuf.Timestamp p = 20 [(buf.validate.field).timestamp.gt = { seconds: 1 }];
  google.protobuf.Any q = 21 [(buf.validate.field).any.in = "a"];
  google.protobuf.FieldMask r = 22 [(buf.validate.field).field_mask.in = "a"];
  google.protobuf.StringValue s = 23 [(buf.validate.field).string.not_contains = "a"];
  repeated google.protobuf.Any t = 24 [(buf.validate.field).repeated.items.any.not_in = "a"];
  oneof choice {
    option (buf.validate.oneof).required = true;
    string u = 25 [(buf.validate.field).string.tuuid = true];
    All v = 26;
  }
  int64 w = 27 [(buf.validate.field).cel_expression = "100 / (this - 1) < 50"];
}
"#;

/// Most bytes of a set of files. Compiling the rules of a larger one takes long.
const MOST_BYTES: usize = 1 << 16;

/// Inputs to begin with.
const SEEDS: usize = 60;

struct Judges {
    set: Vec<u8>,
    /// Of native code, and of the interpreter.
    validators: [Validator; 2],
}

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).limits(Limits { steps: 100_000, ..Limits::default() }).build()
}

static JUDGES: LazyLock<Judges> = LazyLock::new(|| {
    let set = compiled(FILE);
    let of = |tier| Validator::with_engine(&engine(tier), &set, "fuzz.All").unwrap_or_else(|error| panic!("{error}"));
    Judges { validators: [Tier::Native, Tier::Interpret].map(of), set }
});

/// The files as a set with their options.
fn compiled(file: &str) -> Vec<u8> {
    let folder = std::env::temp_dir().join(format!("celero-protovalidate-{}", std::process::id()));
    let written = std::fs::create_dir_all(folder.join("buf/validate"))
        .and_then(|()| std::fs::write(folder.join("buf/validate/validate.proto"), rules::proto()))
        .and_then(|()| std::fs::write(folder.join("all.proto"), file));
    written.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut compiler = protox::Compiler::new([&folder]).unwrap_or_else(|error| panic!("{error}"));
    compiler.include_imports(true);
    compiler.open_file("all.proto").map(|_| ()).unwrap_or_else(|error| panic!("{error:?}"));
    let _ = std::fs::remove_dir_all(folder);
    compiler.encode_file_descriptor_set()
}

/// Both tiers find the same, or both fail.
fn judged(validators: &[Validator; 2], message: &[u8]) {
    match validators.each_ref().map(|validator| validator.validate(message)) {
        [Ok(native), Ok(interpreted)] => {
            assert_eq!(native, interpreted);
            assert!(native.len() <= 10_000, "{}", native.len());
            for violation in native {
                assert!(!violation.rule_id.is_empty() && !violation.to_string().is_empty(), "{violation:?}");
                // Of a field, the path ends in it; of a message or a oneof there is no path to a rule.
                assert!(violation.rule.is_empty() || !violation.field.is_empty(), "{violation:?}");
            }
        }
        [Err(_), Err(_)] => {}
        [native, interpreted] => panic!("{native:?} and {interpreted:?}"),
    }
}

/// The first byte says what the others are. Even: a message of the type `fuzz.All`, which both tiers judge alike.
/// Odd: a set of files, which is taken or refused; messages of its types are judged.
pub fn judge(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    if first & 1 == 0 {
        return judged(&JUDGES.validators, rest);
    }
    if rest.len() > MOST_BYTES {
        return;
    }
    let Ok(pool) = DescriptorPool::decode(rest) else {
        // The judge of descriptors refuses other things: it must still end.
        let _ = Validator::with_engine(&engine(Tier::Interpret), rest, "fuzz.All");
        return;
    };
    let own =
        pool.all_messages().filter(|ty| !ty.full_name().starts_with("google.") && !ty.full_name().starts_with("buf."));
    for ty in own.take(2) {
        let of = |tier| Validator::with_engine(&engine(tier), rest, ty.full_name());
        match [Tier::Native, Tier::Interpret].map(of) {
            [Ok(native), Ok(interpreted)] => judged(&[native, interpreted], rest.get(..64).unwrap_or(rest)),
            [Err(_), Err(_)] => {}
            [native, interpreted] => panic!("{}: {native:?} and {interpreted:?}", ty.full_name()),
        }
    }
}

/// Random messages, and small sets with rules.
#[must_use]
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let pool = DescriptorPool::decode(JUDGES.set.as_slice()).unwrap_or_else(|error| panic!("{error}"));
    let Some(ty) = pool.get_message_by_name("fuzz.All") else { return Vec::new() };
    let mut rng = Rng::new(57);
    let message = |_| {
        use prost_reflect::prost::Message as _;
        [&[0][..], &random_message(&mut rng, &ty, 2).encode_to_vec()].concat()
    };
    let mut seeds: Vec<Vec<u8>> = (0..SEEDS).map(message).collect();
    let is_judged = |seed: &&Vec<u8>| {
        let found = JUDGES.validators[0].validate(seed.get(1..).unwrap_or_default());
        found.is_ok_and(|violations| !violations.is_empty())
    };
    let judged = seeds.iter().filter(is_judged).count();
    assert!(judged > SEEDS / 2, "{judged} of {SEEDS} messages are judged: the others are errors");
    let head = "syntax = \"proto3\";\npackage fuzz;\nimport \"buf/validate/validate.proto\";\n";
    for field in [
        "int32 v = 1 [(buf.validate.field).int32 = { gt: 1 lt: 5 }];",
        "repeated string v = 1 [(buf.validate.field).repeated.items.string.email = true];",
        "string v = 1 [(buf.validate.field).cel = { id: \"a\" expression: \"this.size() > 1\" }];",
    ] {
        seeds.push([&[1][..], &compiled(&format!("{head}message All {{ {field} }}\n"))].concat());
    }
    seeds
}
