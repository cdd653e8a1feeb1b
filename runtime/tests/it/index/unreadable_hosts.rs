//! An index over hosts whose fields fail, panic or have another type than declared.

use super::*;
use crate::support::quietly;

/// What a field of [`Odd`] does when it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Text(&'static str),
    Number(i64),
    Truth(bool),
    Nothing,
    Fails,
    Panics,
}

/// A host whose fields are what they like, whatever they were declared as.
struct Odd([Does; 3]);

impl Host for Odd {
    fn field<'s>(&'s self, index: u32, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        match self.0.get(index as usize) {
            Some(Does::Text(text)) => Ok(Some(Value::String(text))),
            Some(Does::Number(number)) => Ok(Some(Value::Int(*number))),
            Some(Does::Truth(truth)) => Ok(Some(Value::Bool(*truth))),
            Some(Does::Fails) => Err(ErrorKind::Overflow),
            Some(Does::Panics) => std::panic::panic_any("read"),
            Some(Does::Nothing) | None => Ok(None),
        }
    }
}

// SAFETY: all fields are read through `Host::field`.
unsafe impl Context for Odd {
    type Static = Odd;

    fn fields() -> Vec<Field> {
        let layout = || layout::Field::new(Ty::Value, true, Access::Get);
        let types = [("any", Type::Dyn), ("text", Type::String), ("number", Type::Int)];
        types.map(|(name, ty)| Field { name: name.to_owned(), ty, layout: layout() }).into()
    }
}

#[test]
fn hosts_that_cannot_be_read_are_asked_rule_by_rule() {
    let does = [
        Does::Text("a"),
        Does::Text("b"),
        Does::Number(1),
        Does::Number(7),
        Does::Truth(true),
        Does::Nothing,
        Does::Fails,
        Does::Panics,
    ];
    let env = Env::<Odd>::new();
    let sources = [
        "any == 'a'",
        "any in ['a', 'b']",
        "any == 'a' && number == 7",
        "text == 'a'",
        "  text == 'a' || number < 3",
        "text.startsWith('a') && any == 'b'",
        "text.lowerAscii() == 'a'",
        "number == 7",
        "number in [1, 7]",
        "text.matches('^[ab]$')",
        "true",
        "size(text) == 1",
        "default(text, 'a') == 'a'",
        "any",
        "!any",
    ];
    quietly(|| {
        for tier in TIERS {
            let engine = engine(tier);
            let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
            for policy in POLICIES {
                let set = build(&engine, &env, &sources, Indexing::Always, policy);
                assert!(set.indexed_rules() >= 8, "{} in {tier:?}", set.indexed_rules());
                for any in does {
                    for text in does {
                        for number in does {
                            as_alone(&set, &alone, &Odd([any, text, number]));
                        }
                    }
                }
                let unread = Odd([Does::Text("x"), Does::Panics, Does::Number(0)]);
                let mut scratch = Scratch::new();
                let found = set.candidates(&unread, &mut scratch).len();
                assert_eq!(found, set.indexed_rules(), "all that an index can't decide is found");
            }
        }
    });
}

#[test]
fn bindings_of_another_type_are_asked_rule_by_rule() {
    let env = Env::dynamic().variable("any", Type::Dyn).variable("host", Type::String);
    let sources: Vec<String> = (0..40)
        .flat_map(|n| {
            [format!("any == 'a{n}'"), format!("any in ['a{n}', 'b']"), format!("host == 'h{n}' && any == 'b'")]
        })
        .collect();
    let values = [Value::String("a3"), Value::String("b"), Value::Int(3), Value::Null, Value::Double(f64::NAN)];
    for tier in TIERS {
        let engine = engine(tier);
        let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
        for policy in POLICIES {
            let set = build(&engine, &env, &sources, Indexing::Auto, policy);
            assert_eq!(set.indexed_rules(), sources.len());
            for any in values.iter().map(Some).chain([None]) {
                for host in [Some("h3"), None] {
                    let mut bindings = Bindings::new(&env);
                    if let Some(any) = any {
                        bindings.set("any", *any).unwrap();
                    }
                    if let Some(host) = host {
                        bindings.set("host", Value::String(host)).unwrap();
                    }
                    as_alone(&set, &alone, &bindings);
                }
            }
        }
    }
}
