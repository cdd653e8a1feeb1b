//! Structs of the host as parameters and results of its functions, in both tiers.

use celero::{Bindings, Context, Engine, Env, ErrorKind, Limits, Scratch, Tier, Type, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Clone, Context)]
struct Upstream {
    name: String,
    weight: u32,
    zone: Option<Zone>,
    #[context(skip)]
    secret: u64,
}

#[derive(Clone, Context)]
struct Zone {
    name: String,
}

#[derive(Context)]
struct Label<'a> {
    key: &'a str,
    text: Cow<'a, str>,
}

#[derive(Context)]
struct Pair<T> {
    left: T,
    right: T,
}

#[derive(Context)]
struct Request {
    upstreams: Vec<Upstream>,
    shared: Vec<Arc<Upstream>>,
    by_name: HashMap<String, Upstream>,
    zones: Vec<Zone>,
}

fn upstream(name: &str, weight: u32) -> Upstream {
    let zone = (weight > 1).then(|| Zone { name: format!("z{weight}") });
    Upstream { name: name.to_owned(), weight, zone, secret: u64::from(weight) * 100 }
}

fn request() -> Request {
    Request {
        upstreams: vec![upstream("a", 1), upstream("b", 2)],
        shared: vec![Arc::new(upstream("c", 3))],
        by_name: HashMap::from([("d".to_owned(), upstream("d", 4))]),
        zones: vec![Zone { name: "west".to_owned() }],
    }
}

fn with_functions<C: Context>(env: Env<C>) -> Env<C> {
    let env = env
        .function("secret", |upstream: &Upstream| upstream.secret)
        .function("heaviest", |upstreams: Vec<&Upstream>| {
            upstreams.into_iter().max_by_key(|upstream| upstream.weight).cloned()
        })
        .function("known", |upstream: Option<&Upstream>| upstream.is_some())
        .function("upper", |zone: &Zone| zone.name.to_uppercase())
        .function("make", |name: &str, weight: u32| upstream(name, weight))
        .function("several", |count: u8| (0..count).map(|n| upstream("x", n.into())).collect::<Vec<_>>())
        .function("label", |text: &str| Label { key: "k", text: text.to_owned().into() })
        .function("pair", |left: &str| Pair { left: left.to_owned(), right: "r".to_owned() })
        .function("half", |number: f32| number / 2.0);
    assert_eq!(env.problems(), []);
    env
}

fn engines() -> [Engine; 2] {
    [Tier::Native, Tier::Interpret].map(|tier| Engine::builder().tier(tier).build())
}

#[test]
fn elements_are_the_structs_themselves() {
    let env = with_functions(Env::<Request>::new());
    let request = request();
    let rules = [
        "secret(upstreams[0]) == 100u && upstreams.map(u, secret(u)) == [100u, 200u]",
        "upstreams.exists(u, secret(u) == 200u) && upstreams.filter(u, secret(u) > 100u)[0].name == 'b'",
        "upstreams.all(u, secret(u) == uint(u.weight) * 100u)",
        "secret(shared[0]) == 300u && secret(by_name['d']) == 400u && by_name.all(k, secret(by_name[k]) == 400u)",
        "heaviest(upstreams).value().name == 'b' && heaviest(upstreams + shared).value().weight == 3u",
        "!heaviest([]).hasValue()",
        "known(upstreams[?1]) && !known(upstreams[?2])",
        "upper(zones[0]) == 'WEST'",
        "half(3.0) == 1.5 && half(0.1) != 0.05",
    ];
    for engine in engines() {
        for rule in rules {
            let program = engine.compile(&env, rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
            assert!(program.test(&request).unwrap_or_else(|error| panic!("{rule}: {error}")), "{rule}");
        }
    }
}

#[test]
fn a_map_that_is_no_such_struct_is_an_error_that_says_so() {
    let env = with_functions(Env::<Request>::new());
    let request = request();
    let rules = [
        "secret({'name': 'a', 'weight': 1u}) == 1u",
        "secret(zones[0]) == 1u",
        "secret(upstreams[1].zone) == 1u",
        "secret(make('a', 1u)) == 1u",
        "heaviest([upstreams[0], {'name': 'x'}]).hasValue()",
    ];
    for engine in engines() {
        for rule in rules {
            let program = engine.compile(&env, rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
            let error = program.test(&request).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Host, "{rule}");
            let text = program.describe(&error, &request).to_string();
            assert!(
                text.contains("parameter 1 takes a struct `Upstream` of the host, not another map"),
                "{rule}: {text}"
            );
        }
    }
    for rule in ["secret('a') == 1u", "secret({1: 2}) == 1u", "upper(upstreams) == ''"] {
        assert!(Engine::new().compile(&env, rule).is_err(), "{rule}");
    }
}

#[test]
fn results_are_maps_of_the_fields() {
    let env = with_functions(Env::dynamic());
    let rules = [
        "make('a', 1u) == {'name': 'a', 'weight': 1u}",
        "make('b', 2u) == {'name': 'b', 'weight': 2u, 'zone': {'name': 'z2'}}",
        "!has(make('b', 2u).secret) && make('b', 2u).zone.name == 'z2'",
        "several(3u).map(u, u.weight) == [0u, 1u, 2u] && several(0u) == []",
        "label('t') == {'key': 'k', 'text': 't'}",
        "pair('l') == {'left': 'l', 'right': 'r'}",
    ];
    for engine in engines() {
        for rule in rules {
            let program = engine.compile(&env, rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
            assert!(program.test(&Bindings::new(&env)).unwrap_or_else(|error| panic!("{rule}: {error}")), "{rule}");
        }
    }
    let result = |name: &str| {
        env.declarations()
            .functions()
            .iter()
            .find(|function| &*function.name == name)
            .unwrap()
            .signature
            .result
            .to_string()
    };
    assert_eq!(result("make"), "map(string, dyn)");
    assert_eq!(result("several"), "list(map(string, dyn))");
}

#[test]
fn results_take_no_more_than_the_memory_of_an_evaluation() {
    let env =
        Env::dynamic().variable("x", Type::Dyn).function("large", || vec![upstream(&"n".repeat(1 << 16), 2); 100]);
    for tier in [Tier::Native, Tier::Interpret] {
        let engine = Engine::builder().tier(tier).limits(Limits { memory: 1 << 20, ..Limits::default() }).build();
        let program = engine.compile(&env, "large().size() == 100").unwrap();
        let mut scratch = Scratch::new();
        let mut bindings = Bindings::new(&env);
        bindings.set("x", Value::Null).unwrap();
        assert_eq!(program.eval(&bindings, &mut scratch).unwrap_err().kind, ErrorKind::OutOfBudget);
    }
}
