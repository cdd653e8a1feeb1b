//! Conversions into values, and what `Bindings::set` accepts.

use celero::values::{Arena, Duration, List, Map, Timestamp};
use celero::{Bindings, Engine, Env, ErrorKind, FieldType, Scratch, Type, Value};
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use std::sync::Arc;

/// Each conversion gives what a field of the type gives.
#[test]
fn conversions_give_what_fields_of_the_type_give() {
    fn alike<'a, T: FieldType>(host: &'a T, converted: Value<'a>) {
        let arena = Arena::new(1 << 16);
        let field = format!("{:?}", host.value(&arena).unwrap().unwrap());
        assert_eq!(format!("{converted:?}"), field, "{}", std::any::type_name::<T>());
    }
    macro_rules! all {
        ($($host:expr;)*) => { $({ let host = $host; alike(&host, Value::from(host)); })* };
    }
    macro_rules! borrowed {
        ($($host:expr;)*) => { $({ let host = $host; alike(&host, Value::from(&host)); })* };
    }
    all! {
        true;
        i8::MIN; i16::MIN; i32::MIN; i64::MIN; isize::MIN;
        u8::MAX; u16::MAX; u32::MAX; u64::MAX; usize::MAX;
        -1.5_f32; f32::INFINITY; 1e300_f64;
        "text"; &b"bytes"[..];
        Duration(7); Timestamp { seconds: 1, nanos: 2 };
    }
    borrowed! {
        String::from("text"); Box::<str>::from("text"); Arc::<str>::from("text"); Rc::<str>::from("text");
        Cow::Borrowed("text"); Cow::<'static, str>::Owned("text".to_owned());
        b"bytes".to_vec(); *b"bytes"; Box::<[u8]>::from(*b"bytes"); Arc::<[u8]>::from(*b"bytes");
        Cow::Borrowed(&b"bytes"[..]);
        json!(null); json!(true); json!(-1); json!(u64::MAX); json!(0.5); json!("text");
        json!([1, "a", null, [{"b": 2}]]); json!({"a": {"b": [1]}, "c": u64::MAX});
        json!({"a": 1}).as_object().unwrap().clone();
    }
}

#[test]
fn addresses_are_addresses() {
    let four = Ipv4Addr::new(192, 0, 2, 1);
    assert!(matches!(Value::from(four), Value::Ip(IpAddr::V4(ip)) if ip == four));
    assert!(matches!(Value::from(Ipv6Addr::LOCALHOST), Value::Ip(IpAddr::V6(ip)) if ip.is_loopback()));
    assert!(matches!(Value::from(()), Value::Null));
}

/// A document is neither copied nor read before a rule reads it: values point into it.
#[test]
fn documents_are_not_copied() {
    let document = json!({ "user": { "name": "ada", "tags": ["a"] } });
    let user = document.get("user").unwrap();
    let name = user.get("name").unwrap().as_str().unwrap();
    assert!(matches!(Value::from(user), Value::Map(Map::Host(_))));
    assert!(matches!(Value::from(user.get("tags").unwrap()), Value::List(List::Host(_))));
    let arena = Arena::new(0);
    let Value::Map(map) = Value::from(user) else { panic!("another value") };
    let Some(Value::String(read)) = map.get(&"name".into(), &arena).unwrap() else { panic!("another value") };
    assert!(std::ptr::eq(read, name));
}

/// The documentation of `Bindings` promises this: everything that is a value can be set as it is.
#[test]
fn variables_are_set_to_what_the_host_has() -> Result<(), Box<dyn Error>> {
    let names = ["i", "u", "d", "s", "b", "j", "v"];
    let env = names.iter().fold(Env::dynamic(), |env, name| env.variable(name, Type::Dyn));
    let (text, document) = (String::from("ada"), json!({ "a": [1, { "b": "c" }] }));
    let mut bindings = Bindings::new(&env);
    bindings.set("i", 5)?;
    bindings.set("u", 7_u16)?;
    bindings.set("d", 0.5)?;
    bindings.set("s", &text)?;
    bindings.set("b", b"\x01")?;
    bindings.set("j", &document)?;
    bindings.set("v", Value::Null)?;
    let rule = "i == 5 && u == 7u && d == 0.5 && s == 'ada' && b == b'\\x01' && j.a[1].b == 'c' && v == null";
    for tier in [celero::Tier::Interpret, celero::Tier::Native] {
        let program = Engine::builder().tier(tier).build().compile(&env, rule)?;
        assert!(program.test(&bindings)?);
    }
    Ok(())
}

/// `?` works on each error of a conversion, in a function that returns any error.
#[test]
fn errors_of_conversions_are_errors() {
    fn read(json: &Json) -> Result<String, Box<dyn Error + Send + Sync>> {
        let arena = Arena::new(1 << 10);
        let value = json.value(&arena)?;
        let env = Env::dynamic().variable("x", "int".parse()?);
        let mut bindings = Bindings::new(&env);
        bindings.set("x", value.unwrap_or(Value::Null))?;
        let program = Engine::new().compile(&env, "[x]")?;
        let mut scratch = Scratch::new();
        Ok(program.eval(&bindings, &mut scratch)?.to_owned()?.to_string())
    }
    assert_eq!(read(&json!(5)).unwrap(), "[5]");
    assert!(read(&json!("a")).unwrap_err().to_string().contains("declared as `int`"));
    let boxed: Box<dyn Error> = ErrorKind::Overflow.into();
    assert_eq!(boxed.to_string(), ErrorKind::Overflow.message());
}
