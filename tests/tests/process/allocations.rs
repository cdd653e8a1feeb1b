//! Evaluating a warm native rule takes nothing from the allocator: counted, per thread.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crate::exclusive;
use celero::http::RequestContext;
use celero::sets::Indexing;
use celero::{Context, Engine, Env, ErrorPolicy, Live, Rule, RuleSet, Scratch, Tier, Value};
use celero_tests::heap::allocations;
use std::hint::black_box;
use std::net::IpAddr;

#[derive(Context)]
struct Call<'a> {
    #[context(flatten)]
    http: RequestContext<'a>,
    #[context(name = "client.ip")]
    client: IpAddr,
    a: i64,
    b: i64,
}

const ROUNDS: usize = 1000;

fn request(tenant: &str) -> http::Request<()> {
    http::Request::get("https://shop.example.com/api/user/1234/view?tab=orders")
        .header("user-agent", "Mozilla/5.0 (X11; Linux x86_64) Chrome/128.0.0.0 Safari/537.36")
        .header("x-custom", "test-value")
        .header("x-tenant", tenant)
        .header("x-bytes", http::HeaderValue::from_bytes(b"a\xffb").unwrap())
        .body(())
        .unwrap()
}

const BODY: &[u8] =
    br#"{"model":"gpt-4o-mini","messages":[{"role":"user","content":"a \"b\" \u00e9"}],"stream":false}"#;

fn call(request: &http::Request<()>) -> Call<'_> {
    let http = RequestContext::new(request).with_source("192.168.1.77:40000".parse().unwrap()).with_body(BODY);
    Call { http, client: [192, 168, 1, 77].into(), a: 10, b: 7 }
}

/// Allocations of [`ROUNDS`] warm calls of `test` in native code, and the answer.
fn test(source: &str, tenant: &str) -> (u64, Result<bool, celero::ErrorKind>) {
    let env = Env::<Call<'_>>::new();
    let engine = Engine::builder().tier(Tier::Native).build();
    let program = engine.compile(&env, source).expect(source);
    let request = request(tenant);
    let call = call(&request);
    let mut answer = Ok(false);
    for _ in 0..3 {
        answer = program.test(&call).map_err(|e| e.kind);
    }
    let taken = allocations(|| {
        for _ in 0..ROUNDS {
            assert_eq!(program.test(&call).map_err(|e| e.kind), answer);
        }
    });
    (taken, answer)
}

fn tenants() -> String {
    (0..100).map(|i| format!("'tenant-{i}'")).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_counter_counts() {
    let _exclusive = exclusive();
    assert_eq!(allocations(|| drop(black_box(Box::new(1_u8)))), 1);
    assert_eq!(allocations(|| drop(black_box(vec![0_u8; 100]))), 1);
    let mut grown = vec![1_u8];
    assert_eq!(allocations(|| grown.extend([0; 1000])), 1);
    assert_eq!(allocations(|| ()), 0);
    let env = Env::<Call<'_>>::new();
    assert!(allocations(|| drop(Engine::new().compile(&env, "a == 1"))) > 100, "compiling allocates");
}

#[test]
fn workloads_take_nothing() {
    let _exclusive = exclusive();
    let tenants = tenants();
    let rules = [
        ("W1", "request.method == 'GET'".to_owned(), true),
        ("W3", "request.headers['x-custom'] == 'test-value'".to_owned(), true),
        ("W4", "request.path.startsWith('/api/') && request.method in ['GET', 'HEAD']".to_owned(), true),
        ("W5", "request.headers['user-agent'].contains('Googlebot')".to_owned(), false),
        ("W6", "request.path.matches('/user/([^/]+)/view$')".to_owned(), true),
        (
            "W7",
            "cidr('10.0.0.0/8').containsIP(client.ip) || cidr('192.168.0.0/16').containsIP(client.ip)".to_owned(),
            true,
        ),
        (
            "W7 of a source that may be unknown",
            "cidr('10.0.0.0/8').containsIP(source.address) || cidr('192.168.0.0/16').containsIP(source.address)"
                .to_owned(),
            true,
        ),
        ("W8", format!("request.headers['x-tenant'] in [{tenants}]"), true),
        ("W10", "(a * 3 + b) % 7 == 2 && a < 100".to_owned(), true),
        ("W12", "json(request.body).model == 'gpt-4o-mini'".to_owned(), true),
        (
            "W12 of several parts",
            "json(request.body).stream == false && json(request.body).messages[0].role == 'user'".to_owned(),
            true,
        ),
        ("W12, no", "json(request.body).model == 'other'".to_owned(), false),
    ];
    for (name, source, want) in rules {
        assert_eq!(test(&source, "tenant-57"), (0, Ok(want)), "{name}");
    }
    assert_eq!(test(&format!("request.headers['x-tenant'] in [{tenants}]"), "nobody"), (0, Ok(false)), "W8, a miss");
}

#[test]
fn errors_take_nothing() {
    let _exclusive = exclusive();
    use celero::ErrorKind;
    for (source, kind) in [
        ("request.headers['x-none'] == 'a'", ErrorKind::NoSuchKey),
        ("a / (b - 7) == 1", ErrorKind::DivideByZero),
        ("a + 9223372036854775800 > 0", ErrorKind::Overflow),
    ] {
        assert_eq!(test(source, "t"), (0, Err(kind)), "{source}");
    }
}

#[test]
fn what_is_built_reuses_memory() {
    let _exclusive = exclusive();
    let sources = [
        "request.headers['x-custom'].size() == 10",
        "request.method + request.path == 'GET/api/user/1234/view'",
        "[1, 2, 3].exists(x, x == a - 7)",
        "[1, 2].map(x, x * a).size() == 2",
        "request.path.matches('^' + request.path)",
        "client.ip.startsWith('192.')",
        "request.headers.exists(h, h == 'x-tenant')",
        "string(a) + 'x' == '10x'",
    ];
    let found: Vec<_> = sources.iter().map(|source| (*source, test(source, "t"))).collect();
    let bad: Vec<_> = found.iter().filter(|(_, outcome)| *outcome != (0, Ok(true))).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn sets_take_nothing() {
    let _exclusive = exclusive();
    let env = Env::<Call<'_>>::new();
    let engine = Engine::builder().tier(Tier::Native).build();
    let rules = (0..150).fold(engine.rules(&env).on_error(ErrorPolicy::NoMatch), |rules, n| {
        let source = match n % 5 {
            0 => format!("request.headers['x-custom'] == 'test-value' && a == {n}"),
            1 => format!("request.headers['x-{n}'] == 'none'"),
            2 => format!("request.path.matches('/user/([^/]+)/view$') || b == {n}"),
            3 => format!("request.method + '{n}' == 'GET{n}'"),
            _ => format!("a / (b - 7) == {n}"),
        };
        rules.rule("r", &source, n)
    });
    let set = rules.index(Indexing::Off).build().unwrap();
    let request = request("t");
    let call = call(&request);
    let mut scratch = Scratch::new();
    let mut run = || {
        let matched = set.indices(&call, &mut scratch).unwrap().len();
        assert_eq!((matched, scratch.errors().len()), (61, 60));
        assert_eq!(set.first(&call, &mut scratch).unwrap().unwrap().index, 2);
    };
    run();
    run();
    assert_eq!(allocations(|| (0..ROUNDS).for_each(|_| run())), 0);
}

/// What an index finds, by every kind of key, and what is left of it.
#[test]
fn indexed_sets_take_nothing() {
    let _exclusive = exclusive();
    let env = Env::<Call<'_>>::new();
    let engine = Engine::builder().tier(Tier::Native).build();
    let source = |n: i64| match n % 12 {
        0 => format!("request.host == '{n}.example.com' || request.path == '/api/user/{n}/view'"),
        1 => format!("request.headers['x-custom'] == 'test-value' && a == {n} - {n} + 10"),
        2 => format!("request.headers['x-{n}'] == 'none'"),
        3 => format!("cidr('192.168.{}.0/24').containsIP(client.ip)", n % 7),
        4 => format!("request.path.contains('/user/12{}')", n % 5),
        5 => format!("request.path.matches('^/api/user/[0-9]+/view$') && b == {}", n % 8),
        6 => format!("request.headers['user-agent'].matches('(?i)CHROME/1{}[0-9]') && a < {n}", n % 4),
        7 => format!("request.path.startsWith('/api/u') && request.path.endsWith('{n}/view')"),
        8 => format!("request.headers['x-bytes'].startsWith('a') && b == {}", n % 9),
        9 => format!("request.headers['x-tenant'].lowerAscii() == 'tenant-{}'", n % 16),
        10 => format!("b in [{n}, 7] && request.method == 'GET'"),
        _ => format!(
            "request.path.matches(r'/\\d{{{}}}/') && default(request.headers['x-twice'], '') == 'a,b'",
            n % 5 + 1
        ),
    };
    let built = |policy| {
        let rules = engine.rules(&env).on_error(policy).index(Indexing::Always).counters(policy == ErrorPolicy::Match);
        (0..360).fold(rules, |rules, n| rules.rule("r", &source(n), n)).build().unwrap()
    };
    let sets = [ErrorPolicy::NoMatch, ErrorPolicy::Match].map(built);
    let mut request = request("Tenant-9");
    for value in ["a", "b"] {
        request.headers_mut().append("x-twice", http::HeaderValue::from_static(value));
    }
    let call = call(&request);
    let mut scratch = Scratch::new();
    let mut run = |set: &RuleSet<_, i64>| {
        let all = set.indices(&call, &mut scratch).unwrap().len();
        let (errors, first) = (scratch.errors().len(), set.first(&call, &mut scratch).unwrap().unwrap().index);
        assert_eq!((set.count(&call, &mut scratch), set.any(&call, &mut scratch)), (Ok(all), Ok(true)));
        (all, errors, first, set.candidates(&call, &mut scratch).len())
    };
    for set in &sets {
        assert!(set.indexed_rules() > 330 && set.native_rules() == 360, "{} indexed", set.indexed_rules());
        let expected = run(set);
        let (all, _, _, found) = expected;
        assert!(all > 50 && found > 50 && found < 330, "{all} match, {found} found");
        run(set);
        assert_eq!(allocations(|| (0..ROUNDS / 10).for_each(|_| assert_eq!(run(set), expected))), 0);
    }
}

#[test]
fn live_rules_take_nothing() {
    let _exclusive = exclusive();
    let (engine, env) = (Engine::builder().tier(Tier::Native).build(), Env::<Call<'_>>::new());
    for live in [Live::new(engine.clone(), env.clone()), Live::with_counters(engine.clone(), env.clone())] {
        live_takes_nothing(&live);
    }
}

fn live_takes_nothing(live: &Live<<Call<'static> as Context>::Static, i64>) {
    let source = |n: i64| if n % 2 == 0 { format!("a < {n}") } else { format!("a / (b - 7) == {n}") };
    live.replace(|set| {
        (0..50).fold(set.on_error(ErrorPolicy::NoMatch), |set, n| set.rule(&format!("r{n}"), &source(n), n))
    })
    .unwrap();
    live.insert(Rule::new("before", "a == 10", 50).priority(-1)).unwrap();
    live.insert(Rule::new("fails", "b % (a - 10) == 0", 51).priority(-2)).unwrap();
    assert_eq!(
        (live.remove("r20"), live.disable("r21"), live.wait_idle(std::time::Duration::from_secs(600))),
        (1, 1, true)
    );
    assert!(live.status().sets > 1, "there is nothing to merge");
    let request = request("t");
    let (call, reader, mut scratch) = (call(&request), live.reader(), Scratch::new());
    let mut run = || {
        let rules = reader.load();
        assert_eq!(rules.indices(&call, &mut scratch).unwrap().len(), 19);
        assert_eq!(scratch.errors().len(), 25);
        assert_eq!(rules.first(&call, &mut scratch).unwrap().unwrap().name, "before");
    };
    run();
    run();
    assert_eq!(allocations(|| (0..ROUNDS).for_each(|_| run())), 0);
}

/// What must be decoded is built in the scratch of the caller, where there is one.
#[test]
fn a_scratch_is_reused() {
    let _exclusive = exclusive();
    let env = Env::<Call<'_>>::new();
    let engine = Engine::builder().tier(Tier::Native).build();
    let program = engine.compile(&env, "request.headers['x-bytes'].size() == 3").unwrap();
    let request = request("t");
    let call = call(&request);
    let mut scratch = Scratch::new();
    let mut run = || assert_eq!(program.test_with(&call, &mut scratch), Ok(true));
    run();
    run();
    assert_eq!(allocations(run), 0);
}

#[test]
fn values_borrow() {
    let _exclusive = exclusive();
    let env = Env::<Call<'_>>::new();
    let engine = Engine::builder().tier(Tier::Native).build();
    let program = engine.compile(&env, "request.headers['x-custom']").unwrap();
    let request = request("t");
    let call = call(&request);
    let mut scratch = Scratch::new();
    for round in 0..3 {
        let taken = allocations(|| {
            let value = program.eval(&call, &mut scratch);
            assert!(matches!(value, Ok(Value::String("test-value"))), "{value:?}");
        });
        assert!(round == 0 || taken == 0, "{taken} allocations in round {round}");
    }
}

#[test]
fn the_ready_made_context_takes_nothing() {
    let _exclusive = exclusive();
    let env = Env::<RequestContext<'_>>::new();
    let program = Engine::builder().tier(Tier::Native).build();
    let program = program.compile(&env, "request.headers['x-custom'] == 'test-value' && request.path != '/'").unwrap();
    let request = request("t");
    let run = || {
        let context = RequestContext::new(&request);
        assert_eq!(program.test(&context), Ok(true));
    };
    run();
    assert_eq!(allocations(run), 0);
}

#[test]
fn a_warm_policy_takes_nothing_where_nothing_is_built() {
    let _exclusive = exclusive();
    use celero_policy::{Exchange, Outcome, Policy};
    let text = r#"
headerSets: {internal: {names: [x-route], prefixes: [x-internal-]}}
request:
  - removeHeaderSets: [internal]
    setHeaders: {x-served-by: celero}
  - when: request.path.startsWith("/admin") && request.headers["x-team"] == "ops"
    deny: 403
  - when: source.address == "192.0.2.7" && labels.listener == "edge"
    count: inside
  - when: request.headers["x-missing"] == "1"
    setHeaders: {x-a: b}
"#;
    let policy = Policy::parse("policy.yaml", text, std::path::Path::new(".")).unwrap();
    let (mut head, ()) = request("acme").into_parts();
    head.version = http::Version::HTTP_2;
    let mut exchange = Exchange::new(Some("192.0.2.7:80".parse().unwrap()), None);
    exchange.set_label("listener", "edge");
    let mut ask = || {
        assert!(matches!(policy.request(&mut head, &mut exchange).outcome, Outcome::Continue));
        assert_eq!(exchange.edits().iter().count(), 1);
    };
    ask();
    assert_eq!(allocations(|| (0..ROUNDS).for_each(|_| ask())), 0);
    assert_eq!(policy.counters().next(), Some(("inside", ROUNDS as u64 + 1)));
}
