//! Values as text: CEL source.

use crate::support::each_value;
use celero::values::{Arena, EvalResult, HostList, List, Map};
use celero::{Bindings, Engine, Env, Scratch, Tier, Value};
use serde_json::json;

/// The text of a value is an expression with that value.
#[test]
fn values_read_as_they_are_written() {
    let env = Env::dynamic();
    let bindings = Bindings::new(&env);
    let engine = Engine::builder().tier(Tier::Interpret).build();
    each_value(|source, value| {
        let text = value.to_string();
        let program = engine.compile(&env, &text).unwrap_or_else(|error| panic!("{source}: {text}{error}"));
        let mut scratch = Scratch::new();
        let read = program.eval(&bindings, &mut scratch).unwrap();
        assert_eq!(format!("{read:?}"), format!("{value:?}"), "{source}: {text}");
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{source}: {text}");
        assert_eq!(value.source_text(usize::MAX).as_ref(), Ok(&text));
        assert_eq!(value.to_owned().unwrap().to_string(), text);
    });
}

/// Every character and every byte, and nothing in the text that can't be seen or changes its direction.
#[test]
fn all_characters_and_bytes_read_as_they_are_written() {
    let (env, engine) = (Env::dynamic(), Engine::builder().tier(Tier::Interpret).build());
    let bytes: Vec<u8> = (0..=u8::MAX).collect();
    let characters: Vec<char> = ('\0'..=char::MAX).collect();
    let texts: Vec<String> = characters.chunks(8_192).map(|chunk| chunk.iter().collect()).collect();
    for value in texts.iter().map(Value::from).chain([Value::Bytes(&bytes)]) {
        let text = value.to_string();
        let read = engine.compile(&env, &text).unwrap();
        assert_eq!(
            format!("{:?}", read.eval(&Bindings::new(&env), &mut Scratch::new()).unwrap()),
            format!("{value:?}")
        );
        let changes =
            |c| matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let invisible =
            |c| matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{feff}' | '\u{e0020}'..='\u{e007f}');
        assert!(!text.contains(|c: char| c.is_control() || changes(c) || invisible(c)));
    }
}

/// A host may give an IPv4 address as an IPv6 address: its text is one that rules can read.
#[test]
fn mapped_addresses_read_as_ipv4() {
    let mapped = "::ffff:192.0.2.1".parse().unwrap();
    assert_eq!(Value::Ip(mapped).to_string(), r#"ip("192.0.2.1")"#);
    assert_eq!(Value::Cidr(mapped, 120).to_string(), r#"cidr("192.0.2.1/24")"#);
    assert_eq!(Value::Cidr(mapped, 90).to_string(), r#"cidr("::ffff:c000:201/90")"#);
}

#[test]
fn data_of_the_host_reads_alike() {
    let document = json!({ "name": "ada", "tags": ["a", null], "n": 1.0 });
    assert_eq!(Value::from(&document).to_string(), r#"{"n": 1.0, "name": "ada", "tags": ["a", null]}"#);
    assert_eq!(format!("{:>6}|{:<4}|", Value::Int(5), Value::Bool(true)), "     5|true|");
}

#[test]
fn long_values_are_cut() {
    let text = "ééé".repeat(1000);
    let elements = [Value::String("ééé"); 1000];
    let list = Value::List(List::Slice(&elements));
    assert_eq!(list.source_text(10).unwrap(), "[\"ééé\",…");
    assert_eq!(Value::Bytes(&[0; 1000]).source_text(5).unwrap(), "b\"\\x0…");
    assert_eq!(Value::String("abc").source_text(5).unwrap(), "\"abc\"");
    assert_eq!(Value::String(&text).source_text(6).unwrap(), "\"éé…");
}

/// Fails for each element but the first.
#[derive(Debug)]
struct Fails;

impl HostList for Fails {
    fn len(&self) -> usize {
        2
    }

    fn get<'s>(&'s self, index: usize, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        if index == 0 { Ok(Some(Value::Int(1))) } else { Err(celero::ErrorKind::Overflow) }
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    let value = Value::List(List::Host(&Fails));
    assert_eq!(value.source_text(usize::MAX), Err(celero::ErrorKind::Overflow));
    assert_eq!(value.to_string(), "<value out of range>");
}

/// A small value whose text would not fit into any memory: its text is cut, and it can't be owned.
#[test]
fn values_that_share_their_parts_are_bounded() {
    let arena = Arena::new(1 << 20);
    let mut value = Value::String("x");
    for _ in 0..60 {
        value = Value::List(List::Slice(arena.alloc_slice(&[value; 4]).unwrap()));
    }
    let text = value.to_string();
    assert!(text.ends_with('…') && text.len() < 17 << 20, "{} bytes", text.len());
    assert_eq!(value.to_owned().unwrap_err(), celero::ErrorKind::OutOfBudget);
}

/// Nesting is bounded, so that no value of a host overflows the stack of a thread.
#[test]
fn deep_values_are_refused_on_small_stacks() {
    let run = || {
        for (levels, fits) in [(500, true), (5_000, false)] {
            let arena = Arena::new(1 << 22);
            let mut deep = Value::Int(1);
            for level in 0..levels {
                deep = match level % 3 {
                    0 => Value::List(List::Slice(arena.alloc_slice(&[deep]).unwrap())),
                    1 => Value::Map(Map::Sorted(arena.alloc_slice(&[(Value::Int(0), deep)]).unwrap())),
                    _ => Value::Optional(Some(arena.alloc(deep).unwrap())),
                };
            }
            assert_eq!(deep.source_text(usize::MAX).is_ok(), fits, "{levels}");
            assert_eq!(deep.to_owned().is_ok(), fits, "{levels}");
            if let Ok(owned) = deep.to_owned() {
                assert_eq!(owned, owned.clone());
                assert!(serde_json::to_string(&owned).is_ok());
                assert!(owned.to_string().len() > levels);
            }
            assert_eq!(deep.to_string().starts_with('<'), !fits);
        }
    };
    std::thread::Builder::new().stack_size(192 * 1024).spawn(run).unwrap().join().unwrap();
}
