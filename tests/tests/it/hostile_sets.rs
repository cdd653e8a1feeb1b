//! Rule sets made to hurt: however rules are planned, searched for and compiled together, it takes
//! time about linear in their size, and what they answer is what they must.
#![expect(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "tests")]

use celero::http::RequestContext;
use celero::sets::Indexing;
use celero::settings::SourceLimits;
use celero::{Engine, Env, ErrorPolicy, Limits, RuleSet, Scratch};
use celero_tests::shared::say;
use celero_timing::{cpu_time, least_times};
use std::time::Duration;

/// An engine whose sources may be large, so that the planner's own bounds have to hold.
fn roomy() -> Engine {
    let source = SourceLimits { max_source_bytes: 8 << 20, max_nodes: 1 << 20, ..SourceLimits::default() };
    Engine::builder().limits(Limits { source, ..Limits::default() }).build()
}

fn any(each: impl Iterator<Item = String>) -> String {
    format!("({})", each.collect::<Vec<_>>().join(" || "))
}

/// `||` of 16 `&&` of two such, so deep: 16 branches at each level.
fn branches(depth: usize, n: &mut usize) -> String {
    if depth == 0 {
        *n += 1;
        return format!("request.path == '/{n}'");
    }
    let each: Vec<String> = (0..16).map(|k| format!("({} && request.host != '{k}')", branches(depth - 1, n))).collect();
    any(each.into_iter())
}

/// Texts, one for each number, that have one hash of 64 bits if they are hashed by foldhash with its fixed seed.
fn colliding(n: usize) -> String {
    format!("lcf5dzji8s6agywjkRVK?,l@Y8mJX[c^{n:015}l6ez9m7zm32mhb3j")
}

/// The rule that the path is one of these colliding texts.
fn one_of(texts: std::ops::Range<usize>) -> String {
    let texts: Vec<String> = texts.map(|n| format!("'{}'", colliding(n))).collect();
    format!("request.path in [{}]", texts.join(","))
}

/// A name, sources whose size is about proportional to `n`, and the largest `n`.
type Shape = (&'static str, fn(usize) -> Vec<String>, usize);

const SHAPES: &[Shape] = &[
    ("branches in branches", |n| (0..n).map(|rule| branches(2, &mut (rule * 256))).collect(), 8),
    ("deep branches", |n| (0..n).map(|rule| branches(3, &mut (rule * 4096))).collect(), 4),
    (
        "conjuncts of branches",
        |n| {
            let conjunct = |k: usize| any((0..16).map(|m| format!("request.headers['x-{k}'] == '{m}'")));
            (0..n).map(|rule| (0..8).map(|k| conjunct(rule % 3 + k)).collect::<Vec<_>>().join(" && ")).collect()
        },
        24,
    ),
    (
        "many conjuncts",
        |n| {
            vec![
                (0..n)
                    .map(|k| format!("request.path != '{k}' && request.path.contains('{k}')"))
                    .collect::<Vec<_>>()
                    .join(" && "),
            ]
        },
        200,
    ),
    (
        "a large set",
        |n| vec![format!("request.host in [{}]", (0..n).map(|k| format!("'h{k}'")).collect::<Vec<_>>().join(","))],
        40_000,
    ),
    (
        "many sets",
        |n| {
            (0..n)
                .map(|r| {
                    format!(
                        "request.host in [{}]",
                        (0..100).map(|k| format!("'h{}'", k * r)).collect::<Vec<_>>().join(",")
                    )
                })
                .collect()
        },
        200,
    ),
    (
        "texts that collide",
        |n| {
            (0..n)
                .map(|rule| match (rule / 3, rule % 3) {
                    (k, 0) => format!("request.path == '{}'", colliding(k)),
                    (k, 1) => format!("request.path.startsWith('{}')", colliding(k)),
                    (k, _) => one_of(k * 100..(k + 1) * 100),
                })
                .collect()
        },
        600,
    ),
    ("a large set of texts that collide", |n| vec![one_of(0..n)], 10_000),
    ("a long literal", |n| vec![format!("request.path.contains('{}')", "ab".repeat(n / 2))], 1 << 19),
    ("a long prefix", |n| vec![format!("request.path.startsWith('{}')", "/a".repeat(n / 2)); 3], 1 << 19),
    ("one host", |n| (0..n).map(|k| format!("request.host == 'a' && size(request.path) > {k}")).collect(), 1200),
    (
        "one host and two keys more",
        |n| {
            (0..n)
                .map(|k| {
                    format!("request.host == 'a' && request.path.startsWith('/{}/') && request.method == 'PUT'", k % 50)
                })
                .collect()
        },
        800,
    ),
    (
        "failing headers",
        |n| {
            (0..n)
                .map(|k| format!("request.headers['x-{}'] == '1' && request.headers['x-{k}'] == '2'", k / 2))
                .collect()
        },
        800,
    ),
    (
        "nested prefixes",
        |n| (1..=n.isqrt()).map(|k| format!("request.path.startsWith('{}')", "/".repeat(k))).collect(),
        250_000,
    ),
    (
        "nested suffixes and parts",
        |n| {
            let nested = (1..=n.isqrt()).map(|k| "ab".repeat(k));
            nested
                .flat_map(|text| {
                    [format!("request.path.endsWith('{text}')"), format!("request.path.contains('{text}')")]
                })
                .collect()
        },
        80_000,
    ),
    ("identical", |n| vec!["request.host == 'a' && request.path.matches('^/a[0-9]+$')".to_owned(); n], 1600),
    (
        "identical of many keys",
        |n| vec!["request.host in ['a', 'b', 'c', 'd'] && request.headers['x'] in ['a', 'b']".to_owned(); n],
        1200,
    ),
    (
        "patterns without literals",
        |n| (0..n).map(|k| format!(r"request.path.matches('^/?[a-z]{{{}}}[0-9]+$')", k + 1)).collect(),
        160,
    ),
    (
        "patterns with one literal",
        |n| (0..n).map(|k| format!("request.path.matches('(?i)a{{{}}}.*wp-login')", k % 9 + 1)).collect(),
        600,
    ),
    (
        "nested networks",
        |n| {
            (0..n)
                .map(|k| format!("cidr('10.{}.{}.0/{}').containsIP(source.address)", k / 256 % 256, k % 256, k % 32))
                .collect()
        },
        1200,
    ),
    (
        "intervals that overlap",
        |n| (0..n).map(|k| format!("source.port > {k} && source.port < {}", 2 * n - k)).collect(),
        800,
    ),
];

fn build(
    engine: &Engine,
    sources: &[String],
    indexing: Indexing,
    policy: ErrorPolicy,
) -> RuleSet<RequestContext<'static>, ()> {
    let env = Env::<RequestContext<'_>>::new();
    let rules = engine.rules(&env).index(indexing).on_error(policy);
    sources.iter().fold(rules, |rules, source| rules.rule("r", source, ())).build().unwrap()
}

#[test]
fn building_sets_is_about_linear() {
    let engine = roomy();
    let request = http::Request::get("/abababab?x=1").header("host", "a").header("x-1", "1").header("x", "b");
    let request = request.body(()).unwrap();
    let context = RequestContext::new(&request).with_source(([10, 1, 2, 3], 4000).into());
    let mut scratch = Scratch::new();
    let mut steep: Vec<String> = Vec::new();
    for (name, make, most) in SHAPES {
        for (indexing, policy) in [(Indexing::Auto, ErrorPolicy::NoMatch), (Indexing::Always, ErrorPolicy::Match)] {
            let (mut asked, mut compared) = (Duration::MAX, false);
            let time = |n: usize| {
                let sources = make(n);
                let start = cpu_time();
                let set = build(&engine, &sources, indexing, policy);
                let built = cpu_time() - start;
                // The index must not change the answer, nor take long to find it.
                let start = cpu_time();
                let matched = set.count(&context, &mut scratch).unwrap();
                asked = cpu_time() - start;
                if !std::mem::replace(&mut compared, true) {
                    let plain = build(&engine, &sources, Indexing::Off, policy);
                    assert_eq!(plain.count(&context, &mut scratch), Ok(matched), "{name} x {n}");
                }
                built
            };
            // Linear is 4 and 2, quadratic 16 and 4; a cache that becomes too small is a step, and
            // is seen in one of them. What takes hardly any time says nothing.
            let fit =
                |[quarter, half, whole]: [f64; 3]| whole <= 0.02 || whole / quarter <= 10.0 || whole / half <= 3.0;
            let times = least_times([most / 4, most / 2, *most], 1..=6, time, fit);
            let ([quarter, half, whole], seconds) = (times, times.map(|time| time.as_secs_f64()));
            let ratio = |a: Duration, b: Duration| b.as_secs_f64() / a.as_secs_f64();
            say(&format!(
                "  {indexing:?} {name} x {most}: {quarter:.2?} {half:.2?} {whole:.2?}, ratios {:.1} {:.1}, asked in {asked:.2?}",
                ratio(quarter, half),
                ratio(half, whole)
            ));
            if !fit(seconds) {
                steep.push(format!(
                    "{indexing:?} {name}: {quarter:.2?}, {half:.2?}, {whole:.2?} for a quarter, half, all of {most}"
                ));
            }
        }
    }
    assert!(steep.is_empty(), "{steep:#?}");
}
