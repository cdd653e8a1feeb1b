//! What an index costs: code by shape, memory by rule, patterns by need.

use super::{Input, as_alone, build, engine, env};
use celero::http::RequestContext;
use celero::sets::Indexing;
use celero::{Env, ErrorPolicy, Scratch, Tier};
use celero_timing::cpu_time_of;

#[test]
fn rules_of_one_shape_share_code() {
    let env = env();
    let build = |many: usize| {
        let sources: Vec<String> =
            (0..many).map(|n| format!("request.host == 'h{n}' && request.path.startsWith('/{n}/')")).collect();
        build(&engine(Tier::Native), &env, &sources, Indexing::Auto, ErrorPolicy::NoMatch)
    };
    let (some, many) = (build(100), build(1000));
    assert_eq!((many.indexed_rules(), many.native_rules()), (1000, 1000));
    assert_eq!(some.code_size(), many.code_size());
    assert!(many.code_size() < 4096, "{} bytes", many.code_size());
    let input = Input::new("path=/700/x :host=h700");
    assert_eq!(many.indices(&input.call(), &mut Scratch::new()).unwrap(), [700]);
}

/// Numbers with a point are parameters like others.
#[test]
fn rules_that_differ_in_any_constant_share_code() {
    let env = env();
    let sources: Vec<String> = (0..200)
        .flat_map(|n| {
            let rest = [
                format!("ratio > {n}.5"),
                format!("count > {n}u"),
                format!("size != {n}"),
                format!("request.headers['x-a'] != 'a{n}'"),
                format!("request.path.matches('a{n}.*b{n}')"),
                format!("!request.path.contains('c{n}')"),
                format!("!(request.path in ['d{n}', 'e{n}', 'f{n}', 'g{n}', 'h{n}', 'i{n}', 'j{n}', 'k{n}', 'l{n}'])"),
                format!("!(cidr('10.{n}.0.0/16').containsIP(client.ip))"),
            ];
            rest.map(|rest| format!("request.host == 'h{n}' && {rest}"))
        })
        .collect();
    let native = engine(Tier::Native);
    let set = build(&native, &env, &sources, Indexing::Auto, ErrorPolicy::Match);
    assert_eq!((set.indexed_rules(), set.native_rules()), (1600, 1600));
    assert!(set.code_size() < 16 << 10, "{} bytes", set.code_size());
    let alone: Vec<_> = sources.iter().map(|source| native.compile(&env, source).unwrap()).collect();
    for written in [
        ":host=h150 ratio=150.6 count=151 size=1 path=/a150b150",
        ":host=h150 ratio=150.5 count=150 size=150 path=/c150 ip=10.150.2.3 :x-a=a150",
        ":host=h150 ratio=NaN :x-a=x path=/d150",
        ":host=h20 ratio=21 :x-a=a21 path=d20",
    ] {
        as_alone(&set, &alone, &Input::new(written).call());
    }
}

#[test]
fn an_index_is_small() {
    const RULES: usize = 10_000;
    let env = Env::<RequestContext<'_>>::new();
    let mut literals = 0;
    let sources: Vec<String> = (0..RULES)
        .map(|n| {
            let (source, bytes) = match n % 6 {
                0 => (format!("request.host == 'tenant-{n}.example' && request.path.startsWith('/{n}/')"), 28),
                1 => (format!("request.headers['x-key'] == 'key-{n}'"), 9),
                2 => (format!("cidr('10.{}.{}.0/24').containsIP(source.address)", n / 256, n % 256), 0),
                3 => (format!("request.path.contains('/item-{n}/')"), 12),
                4 => (format!("request.path.matches('^/shop-{n}/[a-z]+/x$')"), 28),
                _ => (format!("request.host == 'h{n}' && request.method in ['PUT', 'POST']"), 13),
            };
            literals += bytes;
            source
        })
        .collect();
    let set = build(&engine(Tier::Native), &env, &sources, Indexing::Auto, ErrorPolicy::NoMatch);
    assert_eq!((set.indexed_rules(), set.native_rules()), (RULES, RULES));
    let beside = set.index_size().saturating_sub(literals) / RULES;
    assert!(beside <= 200, "{beside} bytes a rule beside literals");
    assert!(set.code_size() < 16 << 10, "{} bytes of code", set.code_size());
}

#[test]
fn patterns_of_found_rules_wait_until_they_are_needed() {
    const RULES: usize = 2000;
    let env = Env::<RequestContext<'_>>::new();
    let native = engine(Tier::Native);
    let pattern = |n: usize| format!("^/{n}/[a-z0-9-]{{1000}}-{n}$");
    let source = |n: usize| format!("request.host == 'h{n}' && request.path.matches(r'{}')", pattern(n));
    let sources: Vec<String> = (0..RULES).map(source).collect();
    let set = || build(&native, &env, &sources, Indexing::Auto, ErrorPolicy::NoMatch);
    let soon = || {
        let hundred = cpu_time_of(|| {
            for n in 0..100 {
                native.compile(&env, &format!("request.path.matches(r'{}')", pattern(n))).unwrap();
            }
        });
        // To compile them all takes twenty times as long as a hundred.
        cpu_time_of(set) < hundred * 8
    };
    assert!((0..4).any(|_| soon()), "all patterns are compiled");
    let set = set();
    assert_eq!((set.indexed_rules(), set.native_rules()), (RULES, RULES));
    let barrier = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut scratch = Scratch::new();
                barrier.wait();
                for n in (0..RULES).step_by(50) {
                    for (times, expected) in [(1000, &[n][..]), (999, &[])] {
                        let written = format!("path=/{n}/{}-{n} :host=h{n}", "a".repeat(times));
                        let input = Input::new(&written);
                        let context = RequestContext::new(&input.request);
                        assert_eq!(set.indices(&context, &mut scratch).unwrap(), expected, "{written}");
                    }
                }
            });
        }
    });
}
