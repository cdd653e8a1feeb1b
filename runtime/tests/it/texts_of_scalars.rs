//! Comparisons of the texts of scalars with constants, which native code makes without a text.

use celero::{Bindings, Engine, Env, Scratch, Tier, Type, Value};

/// Values and their texts: the only one of each.
fn values() -> Vec<(Type, Value<'static>, String)> {
    let ints = [i64::MIN, -42, -1, 0, 1, 42, i64::MAX].map(|n| (Type::Int, Value::Int(n), n.to_string()));
    let uints = [0, 1, 42, u64::MAX].map(|n| (Type::Uint, Value::Uint(n), n.to_string()));
    let times = [
        (0, 0, "1970-01-01T00:00:00Z"),
        (1_700_000_000, 0, "2023-11-14T22:13:20Z"),
        (1_700_000_000, 500_000_000, "2023-11-14T22:13:20.5Z"),
        (1_700_000_000, 1, "2023-11-14T22:13:20.000000001Z"),
        (-62_135_596_800, 0, "0001-01-01T00:00:00Z"),
        (253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
    ];
    let times = times.map(|(seconds, nanos, text)| {
        (Type::Timestamp, Value::Timestamp(celero::values::Timestamp { seconds, nanos }), text.to_owned())
    });
    let spans = [(0, "0s"), (90_000_000_000, "90s"), (-1_500_000_000, "-1.5s"), (1, "0.000000001s")];
    let spans =
        spans.map(|(nanos, text)| (Type::Duration, Value::Duration(celero::values::Duration(nanos)), text.to_owned()));
    ints.into_iter().chain(uints).chain(times).chain(spans).collect()
}

/// Texts that could be taken for the text of a value.
const OTHERS: &[&str] = &[
    "",
    "042",
    "+42",
    " 42",
    "42u",
    "-0",
    "0x2a",
    "9223372036854775808",
    "18446744073709551616",
    "2023-11-14T22:13:20+00:00",
    "2023-11-14T22:13:20.500Z",
    "2023-11-14T23:13:20+01:00",
    "2023-11-14t22:13:20z",
    "1m30s",
    "90.0s",
    "90",
    "1s500ms",
];

#[test]
fn a_scalar_has_one_text_in_both_tiers() {
    let (values, mut scratch) = (values(), Scratch::new());
    let texts: Vec<&str> = values.iter().map(|(_, _, text)| &**text).chain(OTHERS.iter().copied()).collect();
    for (ty, value, own) in &values {
        let env = Env::dynamic().variable("x", ty.clone());
        let mut bindings = Bindings::new(&env);
        bindings.set("x", *value).unwrap();
        for tier in [Tier::Interpret, Tier::Native] {
            let engine = Engine::builder().tier(tier).build();
            for text in &texts {
                let mut test = |rule: &str| {
                    let program = engine.compile(&env, &rule.replace('@', text)).unwrap();
                    assert_eq!(program.is_native(), matches!(tier, Tier::Native));
                    program.test_with(&bindings, &mut scratch).unwrap()
                };
                let same = text == own;
                let answers = ["string(x) == '@'", "'@' == string(x)", "string(x) != '@'"].map(&mut test);
                assert_eq!(answers, [same, same, !same], "string({value:?}) and {text:?}, {tier:?}");
            }
        }
    }
}

#[test]
fn what_fails_still_fails() {
    let env = Env::dynamic().variable("x", Type::Int);
    let mut bindings = Bindings::new(&env);
    bindings.set("x", Value::Int(i64::MAX)).unwrap();
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        for rule in ["string(x + 1) == '42'", "string(x + 1) != '042'", "string(1 / (x - x)) == '1'"] {
            let error = engine.compile(&env, rule).unwrap().test_with(&bindings, &mut Scratch::new()).unwrap_err();
            assert!(matches!(error.kind, celero::ErrorKind::Overflow | celero::ErrorKind::DivideByZero), "{rule}");
        }
    }
}
