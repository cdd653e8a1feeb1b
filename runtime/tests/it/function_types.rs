//! The types of parameters and results of host functions, in both tiers, and what the checker refuses.
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

use celero::{Bindings, Engine, Env, ErrorKind, Limits, Scratch, Tier, Value};
use serde_json::json;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;

fn results(env: Env<Bindings<'static>>) -> Env<Bindings<'static>> {
    env.function("texts", |count: u8| (0..count).map(|n| n.to_string()).collect::<Vec<_>>())
        .function("numbers", || vec![1_i32, -2])
        .function("bytes", || vec![1_u8, 2])
        .function("pages", || vec![vec![1_u8], vec![]])
        .function("nested", || vec![vec![1_u16], vec![]])
        .function("positive", |n: i64| (n > 0).then_some(n))
        .function("user", |name: &str| (name == "ann").then(|| vec![name.to_owned()]))
        .function("ages", || HashMap::from([("ann".to_owned(), 41_u8), ("bob".to_owned(), 7)]))
        .function("names", || BTreeMap::from([(2_i64, "two"), (1, "one")]))
        .function("flags", || HashMap::from([(true, Some(0.5_f32)), (false, None)]))
        .function("shared", || Arc::<str>::from("shared"))
        .function("boxed", || Box::<str>::from("boxed"))
        .function("cow", |n: i64| if n == 0 { Cow::Borrowed("zero") } else { Cow::Owned(n.to_string()) })
        .function("checked", |n: i64| if n > 0 { Ok(vec![n]) } else { Err("not positive") })
        .function("document", || json!({"b": [1, 18446744073709551615_u64, -0.5, null, true, "x"], "a": {}}))
        .function("object", || json!({"k": 1}).as_object().unwrap().clone())
}

fn parameters(env: Env<Bindings<'static>>) -> Env<Bindings<'static>> {
    env.function("greet", |name: Option<&str>| name.map_or("nobody".to_owned(), str::to_uppercase))
        .function("join", |texts: Vec<&str>| texts.join("+"))
        .function("joined", |texts: &[&str]| texts.join("+"))
        .function("owned", |text: String, texts: Vec<String>| text + &texts.concat())
        .function("sum", |numbers: &[i64]| numbers.iter().sum::<i64>())
        .function("sizes", |bytes: Vec<u8>, slice: &[u8]| bytes.len() * 10 + slice.len())
        .function("any", |flags: &[bool], doubles: &[f64], uints: &[u64], values: &[Value<'_>]| {
            flags.len() + doubles.len() + uints.len() + values.len()
        })
        .function("total", |ages: HashMap<&str, i64>| ages.values().sum::<i64>())
        .function("keys", |map: BTreeMap<u8, Vec<&str>>| format!("{map:?}"))
        .function("maybe", |list: Vec<Option<i64>>| list.iter().flatten().sum::<i64>())
        .function("json_text", |value: serde_json::Value| value.to_string())
        .method("among", |text: &str, texts: Vec<&str>| texts.contains(&text))
}

fn env() -> Env<Bindings<'static>> {
    let env = parameters(results(Env::dynamic()));
    assert_eq!(env.problems(), []);
    env
}

#[test]
fn types_are_those_of_the_elements() {
    let mut text = String::new();
    for function in env().declarations().functions() {
        let params: Vec<_> = function.signature.params.iter().map(ToString::to_string).collect();
        writeln!(text, "{}({}) -> {}", function.name, params.join(", "), function.signature.result).unwrap();
    }
    assert_eq!(
        text,
        "texts(uint) -> list(string)\n\
         numbers() -> list(int)\n\
         bytes() -> bytes\n\
         pages() -> list(bytes)\n\
         nested() -> list(list(uint))\n\
         positive(int) -> optional_type(int)\n\
         user(string) -> optional_type(list(string))\n\
         ages() -> map(string, uint)\n\
         names() -> map(int, string)\n\
         flags() -> map(bool, optional_type(double))\n\
         shared() -> string\n\
         boxed() -> string\n\
         cow(int) -> string\n\
         checked(int) -> list(int)\n\
         document() -> dyn\n\
         object() -> map(string, dyn)\n\
         greet(optional_type(string)) -> string\n\
         join(list(string)) -> string\n\
         joined(list(string)) -> string\n\
         owned(string, list(string)) -> string\n\
         sum(list(int)) -> int\n\
         sizes(bytes, bytes) -> uint\n\
         any(list(bool), list(double), list(uint), list(dyn)) -> uint\n\
         total(map(string, int)) -> int\n\
         keys(map(uint, list(string))) -> string\n\
         maybe(list(optional_type(int))) -> int\n\
         json_text(dyn) -> string\n\
         among(string, list(string)) -> bool\n"
    );
}

/// What a rule gives, which must be the same in both tiers.
fn result(env: &Env<Bindings<'static>>, rule: &str) -> Result<String, ErrorKind> {
    let [interpreted, native] = [Tier::Interpret, Tier::Native].map(|tier| {
        let program = Engine::builder().tier(tier).build().compile(env, rule).unwrap();
        let result = program.eval(&Bindings::new(env), &mut Scratch::new()).map(|value| format!("{value:?}"));
        result.map_err(|error| error.kind)
    });
    assert_eq!(interpreted, native, "{rule}");
    native
}

#[test]
fn results_and_arguments_are_values_of_rules() {
    let env = env();
    for rule in [
        "texts(3u) == ['0', '1', '2'] && '1' in texts(3u) && texts(0u) == []",
        "numbers() == [1, -2] && numbers()[1] < 0",
        "bytes() == b'\\x01\\x02' && pages() == [b'\\x01', b''] && nested() == [[1u], []]",
        "positive(5) == optional.of(5) && !positive(-5).hasValue() && positive(0).orValue(7) == 7",
        "user('ann').orValue([]).size() == 1 && user('bob') == optional.none()",
        "ages() == {'bob': 7u, 'ann': 41u} && ages().ann == 41u && has(ages().bob) && !has(ages().eve)",
        "names() == {1: 'one', 2: 'two'} && names()[2] == 'two' && names().exists(n, n == 1)",
        "flags()[true] == optional.of(0.5) && !flags()[false].hasValue()",
        "shared() + boxed() + cow(0) + cow(12) == 'sharedboxedzero12'",
        "checked(3) == [3] && (checked(0) == [0] || true)",
        "document() == {'a': {}, 'b': [1, 18446744073709551615u, -0.5, null, true, 'x']}",
        "document().b[1] == 18446744073709551615u && object().k == 1",
        "greet(optional.of('ann')) == 'ANN' && greet(optional.none()) == 'nobody'",
        "greet({'a': 'x'}[?'a']) == 'X' && greet({'a': 'x'}[?'b']) == 'nobody'",
        "join(['a', 'b']) == 'a+b' && joined(['a', 'b']) == 'a+b' && join([]) == '' && joined(texts(2u)) == '0+1'",
        "owned('a', ['b', 'c']) == 'abc' && sum([1, 2, 3]) == 6 && sum(numbers()) == -1",
        "sizes(b'12', b'123') == 23u && any([true], [1.0, 2.0], [1u], [null, 'x', 1]) == 7u",
        "total({'a': 1, 'b': 41}) == 42 && maybe([optional.of(1), optional.none(), optional.of(4)]) == 5",
        "keys({2u: ['b'], 1u: []}) == '{1: [], 2: [\"b\"]}'",
        "json_text({'b': [1, 2u, 1.5, null, true, 'x'], 'a': {}}) == '{\"a\":{},\"b\":[1,2,1.5,null,true,\"x\"]}'",
        "json_text(document()) == '{\"a\":{},\"b\":[1,18446744073709551615,-0.5,null,true,\"x\"]}'",
        "'a'.among(['b', 'a']) && !'c'.among(texts(2u))",
    ] {
        assert_eq!(result(&env, rule).as_deref(), Ok("Bool(true)"), "{rule}");
    }
}

#[test]
fn values_of_other_types_are_refused() {
    let env = env();
    // By the checker.
    for rule in [
        "1 in texts(3u)",
        "texts(3)",
        "texts(1u)[0] == 1",
        "positive(1) == 1",
        "positive(1) + 1 == 2",
        "ages()['ann'] == 'x'",
        "names()['one'] == 'x'",
        "join([1])",
        "join('a')",
        "joined([b'a'])",
        "greet('ann')",
        "greet(optional.of(1))",
        "sum([1u])",
        "total({'a': 'b'})",
        "total({1: 1})",
        "'a'.among([1])",
    ] {
        assert!(Engine::new().compile(&env, rule).is_err(), "{rule}");
    }
    // By the evaluation, which knows more.
    for (rule, kind) in [
        ("join(dyn([1]))", ErrorKind::NoSuchOverload),
        ("joined(dyn(['a', 1]))", ErrorKind::NoSuchOverload),
        ("sum(dyn('a'))", ErrorKind::NoSuchOverload),
        ("total(dyn({'a': 'b'}))", ErrorKind::NoSuchOverload),
        ("total(dyn({1: 1}))", ErrorKind::NoSuchOverload),
        ("greet(dyn(optional.of(1)))", ErrorKind::NoSuchOverload),
        ("checked(0)", ErrorKind::Host),
        ("json_text(b'')", ErrorKind::Host),
        ("json_text({1: 2})", ErrorKind::Host),
        ("json_text([0.0 / 0.0])", ErrorKind::Host),
    ] {
        assert_eq!(result(&env, rule), Err(kind), "{rule}");
    }
}

/// What a rule fails with, in words.
fn message(env: &Env<Bindings<'static>>, rule: &str) -> String {
    let context = Bindings::new(env);
    let [interpreted, native] = [Tier::Interpret, Tier::Native].map(|tier| {
        let program = Engine::builder().tier(tier).build().compile(env, rule).unwrap();
        let error = program.eval(&context, &mut Scratch::new()).map(|value| format!("{value:?}")).unwrap_err();
        program.describe(&error, &context).message().to_owned()
    });
    assert_eq!(interpreted, native, "{rule}");
    native
}

#[test]
fn integers_are_checked_on_the_way_in_and_widened_on_the_way_out() {
    macro_rules! of_type {
        ($env:ident, $($rust:ident $suffix:literal;)*) => {{
            let mut cases = Vec::new();
            $(
                let env = $env.function(stringify!($rust), |n: $rust| n);
                let $env = env.function(concat!("in_", stringify!($rust)), |_: &str, list: Vec<$rust>| list.len());
                cases.push((stringify!($rust), i128::from($rust::MIN), i128::from($rust::MAX), $suffix));
            )*
            ($env, cases)
        }};
    }
    let env = Env::dynamic();
    let (env, cases) = of_type!(env, i8 ""; i16 ""; i32 ""; i64 ""; u8 "u"; u16 "u"; u32 "u"; u64 "u";);
    assert_eq!(env.problems(), []);
    for (name, least, most, suffix) in cases {
        for number in [least, most] {
            let rule = format!("{name}({number}{suffix}) == {number}{suffix}");
            assert_eq!(result(&env, &rule).as_deref(), Ok("Bool(true)"), "{rule}");
        }
        if name.ends_with("64") {
            continue;
        }
        for number in [least - 1, most + 1].into_iter().filter(|number| suffix.is_empty() || *number >= 0) {
            let rule = format!("{name}({number}{suffix}) == 1{suffix}");
            assert_eq!(result(&env, &rule), Err(ErrorKind::Host), "{rule}");
            let needed = format!("a number of type `{name}`, {least} to {most}, not {number}");
            // A call with constants is not folded, so the function is not called again: the message is kept.
            let text = message(&env, &rule);
            assert!(text.starts_with(&format!("`{name}` failed")), "{text}");
            assert!(text.ends_with(&format!(": parameter 1 takes {needed}")), "{text}");
            if name != "u8" {
                let text = message(&env, &format!("in_{name}('', [1{suffix}, {number}{suffix}])"));
                assert!(text.ends_with(&format!(": parameter 2 takes {needed}")), "{text}");
            }
        }
    }
    let pure = Env::dynamic().pure_function("port", |port: u16| port);
    assert_eq!(
        message(&pure, "port(70000u) == 1u"),
        "`port` failed: parameter 1 takes a number of type `u16`, 0 to 65535, not 70000"
    );
    let env = self::env();
    assert!(message(&env, "json_text(b'')").ends_with("parameter 1 takes a JSON document, which a `bytes` is not"));
}

type Deep<T> = Vec<Vec<Vec<Vec<T>>>>;

/// A value can have the same parts many times, so that a copy is larger than all that was evaluated.
#[test]
fn copies_for_parameters_take_steps_of_the_budget() {
    let env = Env::dynamic()
        .function("document", |_: serde_json::Value| true)
        .function("vectors", |_: Deep<Deep<i64>>| true)
        .function("texts", |_: Deep<Vec<Vec<Vec<String>>>>| true);
    let nested = |inner: &str, levels: usize, call: &str| {
        let bind = |body: String, level: usize| {
            let inner = if level == 0 { inner.to_owned() } else { format!("v{}", level - 1) };
            format!("cel.bind(v{level}, [{}], {body})", vec![inner; 8].join(", "))
        };
        (0..levels).rev().fold(format!("{call}(v{})", levels - 1), bind)
    };
    let long = format!("'{}'", "x".repeat(1_000));
    for rule in [nested("1", 12, "document"), nested("1", 8, "vectors"), nested(&long, 7, "texts")] {
        for tier in [Tier::Interpret, Tier::Native] {
            let program = Engine::builder().tier(tier).build().compile(&env, &rule).unwrap();
            let error = program.test(&Bindings::new(&env)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::OutOfBudget, "{rule} {tier:?}");
        }
    }
}

#[test]
fn results_are_bounded_by_the_memory_of_the_evaluation() {
    let env = Env::dynamic()
        .function("texts", || vec!["x".repeat(100); 100])
        .function("numbers", || vec![0_i64; 1_000])
        .function("map", || (0..1_000_i64).map(|n| (n, n)).collect::<BTreeMap<_, _>>())
        .function("deep", || (0..1_000).fold(json!(0), |inner, _| json!([inner])))
        .function("wide", || json!(vec!["x".repeat(100); 100]));
    for (call, memory, kind) in [
        ("texts()", 1 << 12, ErrorKind::OutOfBudget),
        ("numbers()", 1 << 12, ErrorKind::OutOfBudget),
        ("map()", 1 << 12, ErrorKind::OutOfBudget),
        ("wide()", 1 << 12, ErrorKind::OutOfBudget),
        ("deep()", 1 << 20, ErrorKind::OutOfBudget),
    ] {
        for tier in [Tier::Interpret, Tier::Native] {
            let limits = Limits { memory, ..Limits::default() };
            let engine = Engine::builder().tier(tier).limits(limits).build();
            let program = engine.compile(&env, &format!("size({call}) > 0")).unwrap();
            assert_eq!(program.test(&Bindings::new(&env)).unwrap_err().kind, kind, "{call} {tier:?}");
        }
    }
}
