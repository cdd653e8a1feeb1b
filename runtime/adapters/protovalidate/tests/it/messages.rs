//! Messages with rules of their own: what is found, and what is wrong with rules and messages.
#![expect(clippy::unwrap_used, reason = "tests")]

use celero_protovalidate::Validator;
use std::path::Path;

fn set() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protos");
    let mut compiler = protox::Compiler::new([folder]).unwrap();
    compiler.include_imports(true).open_file("orders.proto").unwrap();
    // The options, which other forms of the set lose.
    compiler.encode_file_descriptor_set()
}

/// A field with bytes, and one with a number.
fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = content.len();
    while length > 127 {
        field.push(u8::try_from(length & 127).unwrap() | 128);
        length >>= 7;
    }
    field.push(u8::try_from(length).unwrap());
    field.extend(content);
    field
}

fn number(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

fn found(validator: &Validator, message: &[u8]) -> Vec<String> {
    validator.validate(message).unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn violations_have_places_and_messages() {
    let validator = Validator::new(&set(), "orders.Order").unwrap();
    let right = [bytes(1, b"abc"), number(2, 5), bytes(3, &number(1, 9)), bytes(5, b"x")].concat();
    assert_eq!(found(&validator, &right), [""; 0]);
    let item = number(1, 100);
    let wrong = [bytes(1, b"ab"), number(2, 0), bytes(3, &number(1, 1)), bytes(3, &item), bytes(3, b"")].concat();
    let expected = [
        "the total is too small (order.total)",
        "name: too short (string.min_len)",
        "total: must be greater than 0 (int32.gt)",
        "items[1]: \"this.price < 100\" returned false (item.price)",
        "items[2].price: must be greater than 0 (int32.gt)",
        "code: value is required (required)",
    ];
    assert_eq!(found(&validator, &wrong), expected);
    let nested = [right.clone(), bytes(4, &[right, bytes(1, b"a")].concat())].concat();
    assert_eq!(found(&validator, &nested), ["next.name: too short (string.min_len)"]);
}

#[test]
fn rules_that_do_not_compile_are_errors_with_the_field() {
    let set = set();
    for (name, message) in [
        ("orders.WrongExpression", "field `name` of `orders.WrongExpression`"),
        ("orders.WrongResult", "gives `int`, and must give `bool` or `string`"),
        ("orders.WrongRules", "the rules `int32` are not for the type `string`"),
        ("orders.None", "there is no message `orders.None`"),
    ] {
        let error = Validator::new(&set, name).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    for end in [1, 10, set.len() / 2] {
        assert!(Validator::new(&set[..end], "orders.Order").is_err());
    }
}

#[test]
fn rules_that_fail_and_malformed_messages_are_errors() {
    let set = set();
    let failing = Validator::new(&set, "orders.Failing").unwrap();
    assert_eq!(found(&failing, &number(1, 1)), [""; 0]);
    let error = failing.validate(&number(1, 0)).unwrap_err().to_string();
    assert!(error.contains("rule `a` failed"), "{error}");
    let validator = Validator::new(&set, "orders.Order").unwrap();
    for malformed in [&b"\x0a\x05ab"[..], b"\x0a\x02\xff\xff", b"\xff", b"\x1a\x01\x08"] {
        assert!(validator.validate(malformed).is_err(), "{malformed:?}");
    }
}

#[test]
fn messages_are_nested_to_a_bound() {
    let validator = Validator::new(&set(), "orders.Order").unwrap();
    let nested = |depth: usize| (0..depth).fold(Vec::new(), |inner, _| bytes(4, &inner));
    assert!(validator.validate(&nested(50)).is_ok());
    let error = validator.validate(&nested(1_000)).unwrap_err().to_string();
    assert!(error.contains("nested deeper than 100"), "{error}");
}
