//! Closures of the host as functions of rules.

use celero::host::Cx;
use celero::values::{Arena, Duration, List, Map, Timestamp};
use celero::{Bindings, Engine, Env, ErrorKind, Value};
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::thread::current;

fn starts(text: &str, prefix: &str) -> bool {
    text.starts_with(prefix)
}

fn call(env: &Env<Bindings<'static>>, index: u32, args: &[Value<'_>]) -> Result<String, ErrorKind> {
    let arena = Arena::new(1 << 12);
    let cx = Cx::new(100, &arena);
    env.functions().call(index, &cx, args).map(|value| format!("{value:?}"))
}

fn signatures(env: &Env<Bindings<'static>>) -> Vec<String> {
    let show = |f: &celero_frontend::HostFunction| {
        let params: Vec<_> = f.signature.params.iter().map(ToString::to_string).collect();
        let form = if f.signature.receiver { "method " } else { "" };
        format!("{form}{}({}) -> {}", f.name, params.join(", "), f.signature.result)
    };
    env.declarations().functions().iter().map(show).collect()
}

#[test]
fn types_follow_from_closures() {
    let env = Env::dynamic()
        .function("f0", || 1u64)
        .function("a.f1", |_: &str| -> bool { true })
        .pure_method("f2", |_: &[u8], _: i64| 1.5)
        .function("f3", |_: Duration, _: Timestamp, _: bool| String::new())
        .function("f4", |_: Value<'_>, _: List<'_>, _: Map<'_>, _: IpAddr| Vec::<u8>::new())
        .function("f5", |_: f64, _: u64, _: &str, _: &str, _: &str| -> Result<i64, String> { Ok(1) })
        .pure_function("f6", |_: i64, _: i64, _: i64, _: i64, _: i64, _: i64| Value::Null)
        .function("starts", starts);
    assert_eq!(env.problems(), []);
    assert_eq!(
        signatures(&env),
        [
            "f0() -> uint",
            "a.f1(string) -> bool",
            "method f2(bytes, int) -> double",
            "f3(google.protobuf.Duration, google.protobuf.Timestamp, bool) -> string",
            "f4(dyn, list(dyn), map(dyn, dyn), net.IP) -> bytes",
            "f5(double, uint, string, string, string) -> int",
            "f6(int, int, int, int, int, int) -> dyn",
            "starts(string, string) -> bool",
        ]
    );
    let pure: Vec<_> = (0..8).map(|index| env.functions().is_pure(index)).collect();
    assert_eq!(pure, [false, false, true, false, false, false, true, false]);
}

/// The caller may hold a lock that the function takes again.
#[test]
fn a_large_set_calls_pure_functions_on_the_thread_that_builds_it() {
    let threads = Arc::new(Mutex::new(HashSet::new()));
    let seen = Arc::clone(&threads);
    let env = Env::dynamic().pure_function("odd", move |n: i64| {
        seen.lock().unwrap().insert(current().id());
        n % 2 == 1
    });
    let rules = (0..1_000).fold(Engine::new().rules(&env), |rules, n| rules.rule("r", &format!("odd({n})"), ()));
    assert_eq!(rules.build().unwrap().len(), 1_000);
    assert_eq!(*threads.lock().unwrap(), HashSet::from([current().id()]));
}

#[test]
fn arguments_and_results_pass_through() {
    let env = Env::dynamic()
        .function("starts", starts)
        .function("shout", |text: &str| text.to_uppercase())
        .function("twice", |bytes: &[u8]| [bytes, bytes].concat())
        .function("count", |list: List<'_>| -> i64 { i64::try_from(list.len()).unwrap() })
        .function("parse", |text: &str| text.parse::<i64>())
        .function("third", |_: i64, _: i64, c: i64| c)
        .function("address", |text: &str| text.parse::<IpAddr>());
    let owned = String::from("/admin");
    assert_eq!(call(&env, 0, &[Value::String(&owned), Value::String("/a")]).unwrap(), "Bool(true)");
    assert_eq!(call(&env, 1, &[Value::String("ß!")]).unwrap(), r#"String("SS!")"#);
    assert_eq!(call(&env, 2, &[Value::Bytes(&[1, 2])]).unwrap(), "Bytes([1, 2, 1, 2])");
    assert_eq!(call(&env, 3, &[Value::List(List::Slice(&[Value::Null]))]).unwrap(), "Int(1)");
    assert_eq!(call(&env, 4, &[Value::String("-7")]).unwrap(), "Int(-7)");
    assert_eq!(call(&env, 4, &[Value::String("x")]), Err(ErrorKind::Host));
    assert_eq!(call(&env, 5, &[Value::Int(1), Value::Int(2), Value::Int(3)]).unwrap(), "Int(3)");
    assert_eq!(call(&env, 6, &[Value::String("::1")]).unwrap(), "Ip(::1)");
}

#[test]
fn arguments_that_do_not_fit_are_no_such_overload() {
    let env = Env::dynamic().function("f", |n: i64| n);
    for args in [&[Value::Uint(1)][..], &[], &[Value::Int(1), Value::Int(1)]] {
        assert_eq!(call(&env, 0, args), Err(ErrorKind::NoSuchOverload), "{args:?}");
    }
    assert_eq!(call(&env, 1, &[]), Err(ErrorKind::NoSuchOverload));
}

#[test]
fn a_panic_of_the_host_is_an_error_and_a_full_arena_too() {
    let env = Env::dynamic()
        .function("broken", |n: i64| -> i64 {
            if n == 0 { panic!("planted") } else { n }
        })
        .function("long", || "x".repeat(1 << 13));
    assert_eq!(call(&env, 0, &[Value::Int(0)]), Err(ErrorKind::Host));
    assert_eq!(call(&env, 0, &[Value::Int(5)]).unwrap(), "Int(5)");
    assert_eq!(call(&env, 1, &[]), Err(ErrorKind::OutOfBudget));
}

#[test]
fn clashes_and_bad_names_are_problems_and_take_no_index() {
    let env = Env::dynamic()
        .function("good", |n: i64| n)
        .function("size", |text: &str| text.is_empty())
        .method("contains", |_: Value<'_>, _: &str| true)
        .function("good", |n: i64| n + 1)
        .function("a b", || true)
        .function("has", |_: i64| true)
        .method("map", |_: i64| true)
        .method("a.b", |_: i64| true)
        .method("none", || true)
        // Not in the way: another form, another type.
        .method("good", |n: i64| n)
        .function("good", |text: &str| text.is_empty())
        .function("size", |n: i64| n);
    let problems: Vec<_> = env.problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "function `size`: the library `standard` already has `size(string) -> int`",
            "function `contains`: the library `standard` already has `string.contains(string) -> bool`",
            "function `good`: the environment already has `good(int) -> int`",
            "function `a b`: `a b` is not an identifier (a letter or `_`, then letters, digits and `_`)",
            "function `has`: a macro has this name",
            "function `map`: a macro has this name",
            "function `a.b`: the name of a method has no dots",
            "function `none`: a method needs a parameter for what it is called on",
        ]
    );
    assert_eq!(
        signatures(&env),
        ["good(int) -> int", "method good(int) -> int", "good(string) -> bool", "size(int) -> int"]
    );
    assert_eq!(call(&env, 2, &[Value::String("")]).unwrap(), "Bool(true)");
}

#[test]
fn environments_are_cheap_to_share() {
    fn shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    let env = Env::dynamic().variable("a", celero::Type::Int);
    shared(&env);
    let more = env.clone().variable("b", celero::Type::Int);
    assert_eq!((env.fields().len(), more.fields().len()), (1, 2));
    assert!(Bindings::new(&env).set("b", Value::Int(1)).is_err());
}

#[test]
fn a_library_that_is_off_leaves_its_names_to_the_host() {
    use celero::Engine;
    use celero::settings::Library;
    let taken = Env::dynamic().method("trim", |_: &str| 1_i64);
    assert_eq!(
        taken.problems().iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["function `trim`: the library `strings` already has `string.trim() -> string`"]
    );
    let env = Env::dynamic().library(Library::Strings, false).method("trim", |_: &str| 1_i64);
    assert_eq!(env.problems(), []);
    let rule = Engine::new().compile(&env, "'a'.trim() == 1").unwrap();
    assert!(rule.test(&Bindings::new(&env)).unwrap());
    assert_eq!(env.library(Library::Strings, true).problems().len(), 1);
}

#[test]
fn a_method_may_have_the_name_of_a_reserved_word() {
    let env = Env::dynamic().method("namespace", |text: &str| text.len() as i64);
    assert_eq!(env.problems(), []);
    let rule = Engine::new().compile(&env, "'abc'.namespace() == 3").unwrap();
    assert!(rule.test(&Bindings::new(&env)).unwrap());
    assert_eq!(Env::dynamic().function("namespace", |text: &str| text.len() as i64).problems().len(), 1);
    assert_eq!(Env::dynamic().method("in", |text: &str| text.len() as i64).problems().len(), 1);
}

#[test]
fn a_macro_hides_no_function_of_the_host() {
    use celero::Engine;
    use celero::settings::Library;
    let declare = |env: Env<Bindings<'static>>| {
        env.function("default", |a: i64, b: i64| a.max(b))
            .method("with", |a: i64, b: i64, c: i64| a + b + c)
            .function("cel.bind", |a: i64, b: i64, c: i64| a * b * c)
            .function("coalesce", || 1_i64)
            .function("other.bind", |a: i64, _: i64, _: i64| a)
            .function("default", |a: i64| a)
    };
    let problems: Vec<_> = declare(Env::dynamic()).problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "function `default`: calls of it are calls of a macro of the library `gateway`",
            "function `with`: calls of it are calls of a macro of the library `gateway`",
            "function `cel.bind`: calls of it are calls of a macro of the library `bindings`",
        ]
    );
    let env = declare(Env::dynamic().library(Library::Gateway, false).library(Library::Bindings, false));
    assert_eq!(env.problems(), []);
    let rule = "default(1, 2) == 2 && 1.with(2, 3) == 6 && cel.bind(2, 3, 4) == 24 && coalesce() + default(5) == 6";
    let rule = Engine::new().compile(&env, rule).unwrap();
    assert!(rule.test(&Bindings::new(&env)).unwrap());
    let error = Engine::new().compile(&env, "1.mapValues(v, v)").unwrap_err();
    assert_eq!(error.diagnostics().iter().map(|d| d.code).collect::<Vec<_>>(), ["library-off"]);
}
