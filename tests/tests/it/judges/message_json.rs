//! Messages of protocol buffers as JSON, judged by another implementation: random ones of types with a field of every
//! kind.

use super::messages::{rules, shown};
use celero_tests::generate::messages::random_message;
use celero_tests::generate::{Owned, Rng};
use celero_tests::messages::own;
use serde_json::Value as Json;

/// The judge writes infinite numbers in wrappers as null, and all others by name.
fn name_infinite_numbers(json: &mut Json, by: &Json) {
    match (json, by) {
        (json @ Json::Null, Json::String(name)) if ["NaN", "Infinity", "-Infinity"].contains(&name.as_str()) => {
            *json = by.clone();
        }
        (Json::Array(all), Json::Array(by)) => {
            all.iter_mut().zip(by).for_each(|(json, by)| name_infinite_numbers(json, by))
        }
        (Json::Object(all), Json::Object(by)) => {
            all.iter_mut()
                .for_each(|(key, json)| by.get(key).into_iter().for_each(|by| name_infinite_numbers(json, by)));
        }
        _ => {}
    }
}

/// `toJson` has the same mapping as `json.encode`, but for numbers that are whole.
#[test]
fn messages_are_the_json_that_another_implementation_writes() {
    let types = own();
    let mut rng = Rng::new(12);
    let mut written = 0;
    for name in ["test.three.All", "test.two.All"] {
        let ty = types.message(name).unwrap();
        let rules = rules(&types.types, name);
        for _ in 0..150 {
            let message = random_message(&mut rng, &ty, 4);
            let Ok(want) = serde_json::to_string(&message) else { continue };
            let bound = [("m", &message)];
            let Ok(Owned::String(got)) = rules.eval("toJson(m)", &bound) else { panic!("{}", shown(&message)) };
            let [got, mut want] = [got, want].map(|text| serde_json::from_str(&text).unwrap());
            name_infinite_numbers(&mut want, &got);
            assert_eq!(got, want, "{}", shown(&message));
            let again = rules.eval("json.encode(m) == json.encode(json(toJson(m)))", &bound).unwrap();
            assert!(again.same(&Owned::Bool(true)), "{}", shown(&message));
            written += 1;
        }
    }
    assert!(written > 200, "{written}");
}
