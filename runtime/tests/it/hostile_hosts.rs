//! Hosts that misbehave: data that does not fit its declaration, lists that lie, elements that
//! can't be read, threads with small stacks. An evaluation ends, with the same answer in each tier.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use celero::values::{Arena, EvalResult, HostList, List, Map};
use celero::{Bindings, Context, Engine, Env, EvalError, Limits, Program, Scratch, Tier, Type, Value};
use celero_timing::{assert_linear, cpu_time_of};
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, SystemTime};

/// What the interpreter, native code, and native code without passes answer, each by all functions that evaluate.
fn answers<E: Context, C: Context<Static = E::Static>>(env: &Env<E>, source: &str, context: &C) -> [String; 3] {
    [(Tier::Interpret, true), (Tier::Native, true), (Tier::Native, false)].map(|(tier, optimize)| {
        let program: Program<E::Static> =
            Engine::builder().tier(tier).optimize(optimize).build().compile(env, source).unwrap();
        let mut scratch = Scratch::new();
        let tests = [program.test(context), program.test_with(context, &mut scratch)];
        let answer = program.eval(context, &mut scratch);
        if matches!(answer, Ok(Value::Bool(_)) | Err(_)) {
            let answer = shown(answer);
            assert!(tests.iter().all(|test| shown(test.map(Value::Bool)) == answer), "{tier:?}: {source}\n{tests:?}");
        }
        shown(answer)
    })
}

fn shown(answer: Result<Value<'_>, EvalError>) -> String {
    match answer {
        Ok(value) => format!("{value:?}"),
        Err(EvalError { kind, start, end }) => format!("{} at {start}..{end}", kind.name()),
    }
}

#[track_caller]
pub(crate) fn all<E: Context, C: Context<Static = E::Static>>(env: &Env<E>, source: &str, context: &C, expected: &str) {
    let answers = answers(env, source, context);
    assert!(answers.iter().all(|answer| answer == expected), "{source}\n{answers:#?}");
}

/// Says that it has three elements, and has one.
#[derive(Debug)]
pub(crate) struct Short;

impl HostList for Short {
    fn len(&self) -> usize {
        3
    }

    fn get<'s>(&'s self, index: usize, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok((index == 0).then_some(Value::Int(7)))
    }
}

/// Says that it has more elements than can be, and has none.
#[derive(Debug)]
struct Endless;

impl HostList for Endless {
    fn len(&self) -> usize {
        usize::MAX
    }

    fn get<'s>(&'s self, _: usize, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        Ok(None)
    }
}

/// Panics again when it is dropped.
pub(crate) struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Panics when it is read.
#[derive(Debug)]
struct Panics;

impl HostList for Panics {
    fn len(&self) -> usize {
        3
    }

    fn get<'s>(&'s self, _: usize, _: &'s Arena) -> EvalResult<Option<Value<'s>>> {
        std::panic::panic_any(Bomb)
    }
}

#[test]
fn panics_of_the_host_end_the_evaluation() {
    let env = Env::dynamic()
        .variable("list", Type::list(Type::Int))
        .pure_function("bomb", |_: i64| -> i64 { std::panic::panic_any(Bomb) });
    let mut bindings = Bindings::new(&env);
    bindings.set("list", Value::List(List::Host(&Panics))).unwrap();
    for (source, expected) in [
        ("list.all(x, x == 0)", "host at 0..0"),
        ("list == list", "host at 0..0"),
        ("list[size(list)]", "host at 0..0"),
        ("bomb(size(list))", "host at 0..16"),
        ("bomb(size(list)) == 1 || true", "Bool(true)"),
    ] {
        all(&env, source, &bindings, expected);
    }
}

#[test]
fn lists_that_lie_about_their_length() {
    let ints = || Type::list(Type::Int);
    let env = Env::dynamic().variable("short", ints()).variable("endless", ints());
    let mut bindings = Bindings::new(&env);
    bindings.set("short", Value::List(List::Host(&Short))).unwrap();
    bindings.set("endless", Value::List(List::Host(&Endless))).unwrap();
    for (source, expected) in [
        ("short.all(x, x == 7)", "invalid_argument at 0..20"),
        ("short.exists(x, x == 7)", "Bool(true)"),
        ("short.map(x, x)", "invalid_argument at 0..15"),
        ("short.all(i, x, x == 7)", "Bool(true)"),
        ("short == short", "Bool(false)"),
        ("endless.all(x, true)", "invalid_argument at 0..20"),
        ("endless.all(i, x, true)", "out_of_budget at 0..23"),
        ("1 in endless", "out_of_budget at 0..12"),
    ] {
        all(&env, source, &bindings, expected);
    }
}

/// A time that CEL can't hold.
fn distant() -> SystemTime {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(1 << 40)).unwrap()
}

#[test]
fn elements_that_cannot_be_read() {
    #[derive(Context)]
    struct Times {
        list: Vec<SystemTime>,
        map: BTreeMap<String, SystemTime>,
    }
    let near = SystemTime::UNIX_EPOCH;
    let times =
        Times { list: vec![near, distant()], map: [("a".to_owned(), near), ("b".to_owned(), distant())].into() };
    let env = Env::<Times>::new();
    for (source, expected) in [
        ("list.exists(x, true)", "Bool(true)"),
        ("list.exists(x, false)", "overflow at 0..21"),
        ("list.exists(i, x, i == 0)", "overflow at 0..25"),
        ("map.exists(k, k == 'a')", "overflow at 0..23"),
        ("map.exists(k, v, k == 'a')", "overflow at 0..26"),
        ("'b' in map", "overflow at 0..10"),
    ] {
        all(&env, source, &times, expected);
    }
}

#[test]
fn going_over_a_map_of_the_host_takes_linear_time() {
    // Counting from the first entry to each would be quadratic.
    assert_linear("a map of the host", [10_000, 80_000], |entries| {
        let map: HashMap<String, i64> = (0..entries).map(|n| (n.to_string(), 1)).collect();
        let env = Env::dynamic().variable("map", Type::Dyn);
        let mut bindings = Bindings::new(&env);
        bindings.set("map", Value::Map(Map::Host(&map))).unwrap();
        cpu_time_of(|| {
            for source in ["map.all(k, true)", "map.all(k, v, v >= 0)"] {
                all(&env, source, &bindings, "Bool(true)");
            }
        })
    });
}

#[test]
fn deep_values_are_compared_on_small_stacks() {
    let compare = || {
        let env = Env::dynamic().variable("deep", Type::Dyn);
        let arena = Arena::new(1 << 20);
        let mut deep = Value::Int(1);
        for level in 0..500 {
            deep = match level % 2 {
                0 => Value::List(List::Slice(arena.alloc_slice(&[deep]).unwrap())),
                _ => Value::Map(Map::Sorted(arena.alloc_slice(&[(Value::Int(0), deep)]).unwrap())),
            };
        }
        let mut bindings = Bindings::new(&env);
        bindings.set("deep", deep).unwrap();
        let program = Engine::builder().tier(Tier::Interpret).build().compile(&env, "deep == deep").unwrap();
        assert_eq!(program.test(&bindings), Ok(true));
        let program = Engine::new().compile(&env, "[deep, 1] == [deep, 1]").unwrap();
        assert_eq!(program.test(&bindings), Ok(true));
    };
    std::thread::Builder::new().stack_size(192 * 1024).spawn(compare).unwrap().join().unwrap();
}

#[test]
fn peers_of_sockets_for_both_families() {
    #[derive(Context)]
    struct Peers {
        peer: IpAddr,
        maybe: Option<IpAddr>,
        six: Ipv6Addr,
    }
    let mapped = "::ffff:192.0.2.1".parse().unwrap();
    let peers = Peers { peer: IpAddr::V6(mapped), maybe: Some(IpAddr::V6(mapped)), six: mapped };
    let env = Env::<Peers>::new();
    for field in ["peer", "maybe", "six"] {
        all(&env, field, &peers, "String(\"192.0.2.1\")");
        for (network, expected) in
            [("192.0.2.0/24", "Bool(true)"), ("10.0.0.0/8", "Bool(false)"), ("::/0", "Bool(false)")]
        {
            all(&env, &format!("cidr('{network}').containsIP({field})"), &peers, expected);
        }
    }
}

#[test]
fn mapped_addresses_of_hosts_are_ipv4_addresses() {
    let env = Env::dynamic().variable("address", Type::Dyn).variable("network", Type::Dyn);
    let mut bindings = Bindings::new(&env);
    bindings.set("address", Value::Ip("::ffff:10.1.2.3".parse().unwrap())).unwrap();
    bindings.set("network", Value::Cidr("::ffff:10.0.0.0".parse().unwrap(), 104)).unwrap();
    for (rule, expected) in [
        ("address == ip('10.1.2.3') && ip('10.1.2.3') == address", "Bool(true)"),
        ("address in [ip('::1'), ip('10.1.2.3')]", "Bool(true)"),
        ("network == cidr('10.0.0.0/8')", "Bool(true)"),
        ("network.containsIP('10.9.9.9') && network.containsIP(address)", "Bool(true)"),
        ("cidr('10.0.0.0/8').containsIP(address)", "Bool(true)"),
        ("cidr('::/0').containsIP(address)", "Bool(false)"),
        ("network.containsCIDR('10.1.0.0/16') && cidr('0.0.0.0/0').containsCIDR(network)", "Bool(true)"),
        ("string(address) + ' ' + string(network)", "String(\"10.1.2.3 10.0.0.0/8\")"),
        ("address.family() + network.prefixLength() + network.ip().family()", "Int(16)"),
        ("network.masked() == cidr('10.0.0.0/8')", "Bool(true)"),
    ] {
        all(&env, rule, &bindings, expected);
    }
}

#[test]
fn a_field_that_cannot_be_read_is_present() {
    #[derive(Context)]
    #[context(prefix = "token")]
    struct Token {
        expires: SystemTime,
        issued: Option<SystemTime>,
        used: Option<SystemTime>,
    }
    let token = Token { expires: distant(), issued: Some(distant()), used: None };
    let env = Env::<Token>::new();
    for (source, expected) in [
        ("has(token.expires)", "Bool(true)"),
        ("has(token.issued)", "Bool(true)"),
        ("has(token.used)", "Bool(false)"),
        ("token.issued", "overflow at 0..12"),
    ] {
        all(&env, source, &token, expected);
    }
}

#[test]
fn searching_is_paid_for_with_prepared_patterns_too() {
    let text = "a".repeat(1 << 20);
    let texts = [Value::String(&text); 1000];
    let env = Env::dynamic().variable("texts", Type::list(Type::String));
    let mut bindings = Bindings::new(&env);
    bindings.set("texts", Value::List(List::Slice(&texts))).unwrap();
    for source in [
        "texts.all(t, texts.all(u, !u.contains('b')))",
        "texts.all(t, texts.all(u, !u.matches('[b-c]b')))",
        "texts.all(t, texts.all(u, !u.matches(t == '' ? '' : 'b.b')))",
    ] {
        let program = Engine::builder().tier(Tier::Native).build().compile(&env, source).unwrap();
        let error = program.test(&bindings).unwrap_err();
        assert_eq!(error.kind, celero::ErrorKind::OutOfBudget, "{source}");
    }
}

#[test]
fn a_straight_chain_of_searches_ends_with_the_budget() {
    // Native code searches for many literals in one pass, and pays for each pass.
    let text = "a".repeat(1 << 24);
    let env = Env::dynamic().variable("text", Type::String);
    let mut bindings = Bindings::new(&env);
    bindings.set("text", Value::String(&text)).unwrap();
    for one in ["text.contains('b{}')", "text.matches('b{}+$')", "(text + '{}').contains('b')"] {
        let terms: Vec<String> = (0..500).map(|n| one.replace("{}", &n.to_string())).collect();
        for tier in [Tier::Interpret, Tier::Native] {
            let engine = Engine::builder().tier(tier).build();
            let error = engine.compile(&env, &terms.join(" || ")).unwrap().test(&bindings).unwrap_err();
            assert_eq!(error.kind, celero::ErrorKind::OutOfBudget, "{one} in {tier:?}");
        }
    }
}

/// One search for many literals needs no more of the budget than the searches that the rules need.
#[test]
fn a_text_that_resembles_many_literals_costs_one_search() {
    #[derive(Context)]
    struct Request {
        path: String,
    }
    let keys: Vec<String> = (0..63).map(|n| format!("z{n:02}")).collect();
    // The first key, then another one again and again, next to which keys that are alike are compared.
    let path = ["z00", &"z09".repeat(340_000)].concat();
    let env = Env::<Request>::new();
    let chain = |keys: &[String]| {
        let terms: Vec<String> = keys.iter().map(|key| format!("path.contains('{key}')")).collect();
        terms.join(" || ")
    };
    // Each search of the text takes a little more than a 63rd of the budget.
    let request = Request { path };
    all(&env, &chain(&keys), &request, "Bool(true)");
    let (others, more) = (keys.iter().skip(20).take(30), keys.iter().skip(33));
    let [others, more] = [others.cloned().collect::<Vec<_>>(), more.cloned().collect()];
    all(&env, &chain(&others), &request, "Bool(false)");
    let absent = Request { path: "z09".repeat(340_000) };
    all(&env, &format!("path == '' && path.contains('z01') || {}", chain(&keys)), &absent, "Bool(true)");
    let guarded: Vec<String> = keys.iter().map(|key| format!("path == '{key}' && path.contains('{key}')")).collect();
    all(&env, &format!("{} || {}", chain(&more), guarded.join(" || ")), &absent, "Bool(false)");
    for tier in [Tier::Interpret, Tier::Native] {
        let engine = Engine::builder().tier(tier).build();
        for indexing in [celero::sets::Indexing::Auto, celero::sets::Indexing::Off] {
            let rules = engine.rules(&env).index(indexing).on_error(celero::ErrorPolicy::NoMatch);
            let rules = rules.rule("all", &chain(&keys), ()).rule("others", &chain(&others), ());
            let set = rules.rule("more", &format!("{} || path.contains('z00')", chain(&more)), ()).build().unwrap();
            let scratch = &mut Scratch::new();
            assert_eq!(set.indices(&request, scratch).unwrap(), [0, 2], "{tier:?}");
            assert!(scratch.errors().is_empty(), "{tier:?}");
        }
    }
}

#[test]
fn without_static_types() {
    let env = Env::dynamic().variable("x", Type::Int).unchecked(true);
    let mut bindings = Bindings::new(&env);
    bindings.set("x", Value::Int(5)).unwrap();
    for (source, expected) in [
        ("optional.of(1).optFlatMap(y, dyn(5))", "Int(5)"),
        ("optional.of(1).optFlatMap(y, 5)", "Int(5)"),
        ("optional.of(1).optFlatMap(y, 5).value()", "no_such_overload at 0..39"),
        ("optional.of(1).optFlatMap(y, optional.of(x)).value()", "Int(5)"),
        ("optional.of(1).optFlatMap(y, optional.none()).hasValue()", "Bool(false)"),
        ("optional.of(1).optFlatMap(y, optional.of(y).optMap(z, z + 1)).value()", "Int(2)"),
        ("Message{a: 1}", "no_such_overload at 0..13"),
        ("[undeclared] == [1]", "no_such_key at 1..11"),
    ] {
        all(&env, source, &bindings, expected);
    }
}

#[cfg(feature = "http")]
#[test]
fn a_name_that_no_header_can_have() {
    use celero::http::RequestContext;

    let request = http::Request::get("/").body(()).unwrap();
    let context = RequestContext::new(&request);
    let env = Env::<RequestContext<'_>>::new();
    for (source, expected) in [
        ("request.headers['x y']", "no_such_key at 0..22"),
        ("request.headers['x y'] in ['a', 'b']", "no_such_key at 0..22"),
        ("'x y' in request.headers", "Bool(false)"),
        ("request.headers[?''].hasValue()", "Bool(false)"),
    ] {
        all(&env, source, &context, expected);
    }
}

#[test]
fn the_memory_limit_does_not_hang_on_earlier_evaluations() {
    let env = Env::dynamic().variable("text", Type::String);
    let compile = |memory| {
        let limits = celero::Limits { memory, ..celero::Limits::default() };
        Engine::builder().limits(limits).build().compile(&env, "(text + 'x').size() > 0").unwrap()
    };
    let (small, large) = (compile(1 << 20), compile(1 << 24));
    let text = "a".repeat(8 << 20);
    let run = |program: &Program<Bindings<'static>>, length: usize, scratch: &mut Scratch| {
        let mut bindings = Bindings::new(&env);
        bindings.set("text", Value::String(text.get(..length).unwrap())).unwrap();
        program.test_with(&bindings, scratch).map_err(|error| error.kind.name())
    };
    let mut scratch = Scratch::new();
    for _ in 0..3 {
        for length in [600 << 10, 900 << 10, 700 << 10] {
            assert_eq!(run(&small, length, &mut scratch), Ok(true), "{length}");
        }
        assert_eq!(run(&small, 8 << 20, &mut scratch), Err("out_of_budget"));
        assert_eq!(run(&large, 8 << 20, &mut scratch), Ok(true));
        assert_eq!(run(&small, 8 << 20, &mut scratch), Err("out_of_budget"));
    }
}

#[test]
fn a_rule_of_many_patterns_compiles_soon() {
    let env = Env::dynamic().variable("text", Type::String);
    let mut bindings = Bindings::new(&env);
    bindings.set("text", Value::String("abc7")).unwrap();
    let engine = Engine::builder().tier(Tier::Native).build();
    let one_by_one = |pattern: &str, count: u32| {
        cpu_time_of(|| {
            for n in 0..count {
                engine.compile(&env, &format!("text.matches('{pattern}{n}$')")).unwrap();
            }
        })
    };
    for pattern in [r"\\pL{9}", r"\\pL{1000}", r"^[a-c]+", r"("] {
        let tests: Vec<String> = (0..1800).map(|n| format!("text.matches('{pattern}{n}$')")).collect();
        let source = tests.join(" || ");
        let timed = || {
            // All of them would take 18 times as long as a hundred, each time.
            (
                cpu_time_of(|| engine.compile(&env, &source).unwrap()),
                one_by_one(pattern, 100).max(Duration::from_millis(100)),
            )
        };
        let mut times = Vec::new();
        let soon = (0..4).any(|_| {
            let (all, hundred) = timed();
            times.push((all, hundred));
            all < hundred * 9
        });
        assert!(soon, "{pattern}: {times:?} for all and for a hundred");
        let program = engine.compile(&env, &source).unwrap();
        let answer = program.test(&bindings).map_err(|error| error.kind.name());
        let expected = match pattern {
            r"^[a-c]+" => Ok(true),
            // Those that were left to the evaluation are too many for it, which no error before them hides.
            _ => Err("out_of_budget"),
        };
        assert_eq!(answer, expected, "{pattern}");
    }
}

#[test]
fn bindings_of_another_environment_are_refused() {
    let declare = |first: &str, second: &str| Env::dynamic().variable(first, Type::Int).variable(second, Type::Int);
    let env = declare("a", "b");
    let refused = [declare("b", "a"), declare("a", "c"), env.clone().variable("c", Type::Int), Env::dynamic()];
    let empty = Env::dynamic().variable("a", Type::String).variable("b", Type::Int);
    for other in refused.iter().chain([&empty]) {
        all(&env, "1 == 1", &Bindings::new(other), "host at 0..0");
    }
    for same in [declare("a", "b"), env.clone().container("c")] {
        let mut bindings = Bindings::new(&same);
        bindings.set("b", Value::Int(2)).unwrap();
        all(&env, "b", &bindings, "Int(2)");
    }
}

/// Turns of a loop over the host's own list are paid, however the loop is left.
#[test]
fn loops_that_fail_are_paid_for() {
    #[derive(Context)]
    struct Numbers {
        numbers: Vec<i64>,
    }
    let numbers = Numbers { numbers: (0..1000).collect() };
    let env = Env::<Numbers>::new();
    for inner in ["exists_one", "exists", "all"] {
        // The last number divides by zero; the outer loop goes on after the error.
        let test = if inner == "all" { "1 / (n - 999) < 5" } else { "1 / (n - 999) > 5" };
        let source = format!("lists.range(100).exists(x, numbers.{inner}(n, {test}) && x < 0)");
        let limits = Limits { steps: 20_000, ..Limits::default() };
        for tier in [Tier::Interpret, Tier::Native] {
            let program = Engine::builder().tier(tier).limits(limits).build().compile(&env, &source).unwrap();
            let outcome = program.test(&numbers).map_err(|error| error.kind.name());
            assert_eq!(outcome, Err("out_of_budget"), "{tier:?} {source}");
        }
    }
}
