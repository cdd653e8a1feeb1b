//! Values that outlive the evaluation, its context and its thread.

use crate::support::{each_value, quietly};
use celero::values::{Arena, EvalResult, HostList, HostMap, List, Map};
use celero::{Bindings, Context, Engine, Env, ErrorKind, OwnedValue, Scratch, Tier, Type, Value};
use serde_json::json;
use std::collections::HashMap;

fn assert_kept<T: Send + Sync + Clone + std::fmt::Debug + std::fmt::Display + PartialEq + 'static>() {}

#[test]
fn an_owned_value_can_be_kept_anywhere() {
    assert_kept::<OwnedValue>();
}

#[test]
fn a_copy_is_the_same_value_of_any_type() {
    each_value(|source, value| {
        let owned = value.to_owned().unwrap();
        assert_eq!(format!("{:?}", owned.as_value()), format!("{value:?}"), "{source}");
        assert_eq!(format!("{:?}", Value::from(&owned)), format!("{value:?}"), "{source}");
        assert_eq!(owned == owned.clone(), !source.contains("NaN"), "{source}");
    });
}

/// Made on one thread, read on another after everything that it came from is gone.
#[test]
fn values_leave_their_evaluation() {
    let env = Env::dynamic().variable("user", Type::Dyn);
    let program =
        Engine::new().compile(&env, "{'name': user.name + '!', 'all': user, 'maybe': user.?tags[0]}").unwrap();
    let make = |program: &celero::Program<Bindings<'static>>| {
        let document = json!({ "name": "ada", "tags": ["a", "b"] });
        let mut bindings = Bindings::new(&env);
        bindings.set("user", &document).unwrap();
        let mut scratch = Scratch::new();
        program.eval(&bindings, &mut scratch).unwrap().to_owned().unwrap()
    };
    let made: OwnedValue = std::thread::scope(|scope| scope.spawn(|| make(&program)).join().unwrap());
    let copies: Vec<_> = (0..4).map(|_| made.clone()).collect();
    drop(made);
    drop(program);
    let shown = copies.into_iter().map(|copy| std::thread::spawn(move || copy.to_string()).join().unwrap());
    let expected = r#"{"all": {"name": "ada", "tags": ["a", "b"]}, "maybe": optional.of("a"), "name": "ada!"}"#;
    assert!(shown.into_iter().all(|text| text == expected));
}

/// What a rule returned is given to another rule, in both tiers.
#[test]
fn rules_read_owned_values() {
    let env = Env::dynamic().variable("previous", Type::Dyn);
    let document = json!({ "scores": [1, 2.5, "x"], "user": { "name": "ada" } });
    let owned = Value::from(&document).to_owned().unwrap();
    let mut bindings = Bindings::new(&env);
    bindings.set("previous", &owned).unwrap();
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        let rule = "previous.user.name == 'ada' && previous.scores.exists(s, s == 2.5) && !has(previous.user.age)";
        assert_eq!(engine.compile(&env, rule).unwrap().test(&bindings), Ok(true));
        let missing = engine.compile(&env, "previous.missing").unwrap();
        assert_eq!(missing.test(&bindings).unwrap_err().kind, ErrorKind::NoSuchKey);
    }
}

#[test]
fn equality_is_that_of_cel() {
    let own = |value: Value<'_>| value.to_owned().unwrap();
    let numbers = [own(Value::Int(1)), own(Value::Uint(1)), own(Value::Double(1.0))];
    for a in &numbers {
        for b in &numbers {
            assert_eq!(a, b);
        }
        assert_ne!(*a, own(Value::String("1")));
        assert_ne!(*a, own(Value::Bool(true)));
    }
    let (a, b) = (json!({ "x": 1, "y": [2.0] }), json!({ "y": [2], "x": 1.0 }));
    assert_eq!(own(Value::from(&a)), own(Value::from(&b)));
    assert_eq!(own(Value::Cidr("::ffff:10.0.0.0".parse().unwrap(), 104)), own(Value::Cidr([10, 0, 0, 0].into(), 8)));
}

#[derive(Context)]
struct Data {
    map: HashMap<u16, Vec<String>>,
    addresses: Vec<std::net::IpAddr>,
    text: String,
}

/// Data that a host's types make when it is read is in the copy too.
#[test]
fn data_of_the_host_is_copied() {
    let data = Data {
        map: (0..300).map(|n| (n, vec![])).collect(),
        addresses: vec![[10, 0, 0, 1].into(), "::1".parse().unwrap()],
        text: "t".repeat(100_000),
    };
    let env = Env::<Data>::new();
    let own = |source: &str| {
        let program = Engine::new().compile(&env, source).unwrap();
        program.eval(&data, &mut Scratch::new()).unwrap().to_owned().unwrap()
    };
    let map = own("map");
    let Value::Map(Map::Sorted(entries)) = map.as_value() else { panic!("{map:?}") };
    assert!(entries.is_sorted_by_key(|(key, _)| if let Value::Uint(n) = key { *n } else { u64::MAX }));
    assert_eq!(entries.len(), 300);
    assert_eq!(own("addresses").to_string(), r#"["10.0.0.1", "::1"]"#);
    assert!(matches!(own("text").as_value(), Value::String(text) if text == data.text));
}

/// Says that it has more elements than it has.
#[derive(Debug)]
struct Short(usize);

impl HostList for Short {
    fn len(&self) -> usize {
        self.0
    }

    fn get<'s>(&'s self, index: usize, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok((index == 0).then_some(Value::Int(7)))
    }
}

/// A map with any entries, equal keys too.
struct Entries(&'static [(Value<'static>, Value<'static>)]);

impl HostMap for Entries {
    fn len(&self) -> usize {
        usize::MAX
    }

    fn get<'s>(&'s self, _: &Value<'_>, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(None)
    }

    fn entry<'s>(&'s self, index: usize, _: &'s Arena) -> EvalResult<Option<(Value<'s>, Value<'s>)>> {
        Ok(self.0.get(index).copied())
    }

    fn entries<'s>(&'s self, _: &'s Arena) -> EvalResult<&'s [(Value<'s>, Value<'s>)]> {
        Ok(self.0)
    }
}

#[test]
fn hosts_that_lie_are_errors() {
    use Value::{Double, Int, Null, Uint};
    let twice = Entries(&[(Int(1), Null), (Uint(1), Null)]);
    let no_key = Entries(&[(Double(1.5), Null)]);
    let unsorted = [(Int(2), Null), (Int(1), Null)];
    for (value, kind) in [
        (Value::List(List::Host(&Short(3))), ErrorKind::InvalidArgument),
        (Value::List(List::Host(&Short(usize::MAX))), ErrorKind::OutOfBudget),
        (Value::Map(Map::Host(&twice)), ErrorKind::DuplicateKey),
        (Value::Map(Map::Host(&no_key)), ErrorKind::NoSuchOverload),
    ] {
        assert_eq!(value.to_owned().unwrap_err(), kind, "{kind}");
    }
    let sorted = Value::Map(Map::Sorted(&unsorted)).to_owned().unwrap();
    assert_eq!(sorted.to_string(), "{1: null, 2: null}");
}

/// The copy ends at its bound, whatever the value consists of.
#[test]
fn the_copy_is_bounded() {
    let (text, elements) = ("x".repeat(1 << 20), vec![Value::Null; 1 << 16]);
    for value in [Value::String(&text), Value::Bytes(text.as_bytes()), Value::List(List::Slice(&elements))] {
        assert_eq!(value.to_owned_within(1 << 19).unwrap_err(), ErrorKind::OutOfBudget);
        assert!(value.to_owned_within(1 << 22).is_ok());
    }
    assert!(Value::Int(1).to_owned_within(0).is_ok());
}

/// A panic of the host reaches the caller and leaves nothing behind.
#[test]
fn panics_of_the_host_pass_through() {
    #[derive(Debug)]
    struct Panics;
    impl HostList for Panics {
        fn len(&self) -> usize {
            3
        }

        fn get<'s>(&'s self, index: usize, arena: &'s Arena) -> EvalResult<Option<Value<'s>>> {
            assert!(index < 2, "the third");
            Ok(Some(Value::String(arena.alloc_str("made")?)))
        }
    }
    quietly(|| {
        let copy = std::panic::catch_unwind(|| Value::List(List::Host(&Panics)).to_owned().map(drop));
        assert!(copy.is_err());
    });
}
