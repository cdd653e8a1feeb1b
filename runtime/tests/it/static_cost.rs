//! Static costs of rules: how they are shown, and held against what the interpreter evaluates.
#![cfg(feature = "http")]
#![expect(clippy::panic, clippy::string_slice, reason = "tests")]

use celero::http::RequestContext;
use celero::settings::{PartCost, StaticCost};
use celero::{Engine, Env, Limits, Scratch, Tier};

fn env() -> Env<RequestContext<'static>> {
    Env::new().define("ours(path: string) -> bool", "path == '/' || path.startsWith('/ours')")
}

fn filter_env() -> Env<RequestContext<'static>> {
    env().filter_language(celero::filter::FilterLanguage::http())
}

fn parts(source: &str, is_filter: bool) -> Vec<PartCost> {
    let env = if is_filter { filter_env() } else { env() };
    Engine::new().check(&env, source).unwrap_or_else(|error| panic!("{source}: {error}")).part_costs()
}

#[test]
fn costs_are_shown() {
    for (source, shown) in [
        ("true", "0 operations"),
        ("request.path", "1 operation"),
        ("request.path == '/'", "2 operations"),
        ("request.path == request.host", "3 operations; the time of 1 grows with the length of a text"),
        ("request.path.startsWith('/a') && request.headers['x'] != 'y'", "3 to 6 operations"),
        ("request.path.contains('a') ? 1 : 1 + 2", "3 to 4 operations; the time of 1 grows with the length of a text"),
        ("request.method in ['GET', 'HEAD']", "2 operations"),
        ("[1, 2, 3].exists(x, x > 1)", "3 to 7 operations"),
        ("[1, 2, 3].map(x, x + 1)", "7 operations"),
        ("request.headers.exists(h, h == 'a')", "2 to 2 + 2n operations (n: elements of the largest list or map)"),
        (
            "request.headers.map(h, request.headers.map(g, 1))",
            "2 to 2 + 2n operations (n: elements of the largest list or map)",
        ),
        (
            "request.headers.all(h, request.headers.all(g, g == h))",
            "2 to 2 + 2n + 3n² operations (n: elements of the largest list or map); the time of 1 grows with the length of a text",
        ),
        ("cel.bind(a, request.path, true || a == 'x')", "2 to 5 operations"),
        // A definition costs what its body costs.
        ("request.path == '/' || request.path.startsWith('/ours')", "3 to 5 operations"),
        ("ours(request.path)", "3 to 5 operations"),
    ] {
        let cost = parts(source, false).last().map_or(StaticCost::default(), |part| part.cost);
        assert_eq!(cost.to_string(), shown, "{source}");
    }
    for (source, shown) in [
        ("ssl", "1 operation"),
        (
            "http.host eq \"a\" or http.host contains \"b\"",
            "3 to 5 operations; the time of 1 grows with the length of a text",
        ),
        (
            "any(http.request.headers.names[*] eq \"a\")",
            "3 to 3 + 2n operations (n: elements of the largest list or map)",
        ),
    ] {
        assert_eq!(parts(source, true).last().unwrap().cost.to_string(), shown, "{source}");
    }
}

#[test]
fn loops_that_are_nested_deeper_are_said() {
    let nested = (0..6).fold("true".to_owned(), |inner, n| format!("request.headers.all(h{n}, {inner})"));
    let cost = parts(&nested, false).last().unwrap().cost;
    assert!(cost.deeper && cost.to_string().ends_with("or more: its loops are nested too deep"), "{cost}");
}

#[test]
fn bounds_are_known_for_the_largest_list() {
    let cost = StaticCost { least: 1, most: [2, 3, 5, 0, 0], ..StaticCost::default() };
    assert_eq!((cost.most_for(0), cost.most_for(10), cost.most_for(u64::MAX)), (2, 532, u64::MAX));
    assert_eq!(StaticCost { deeper: true, ..cost }.most_for(0), u64::MAX);
}

/// A rule of the most nodes takes a time that is linear in them.
#[test]
fn parts_are_no_more_than_nodes() {
    let many = vec!["ours(request.path)"; 200].join(" && ");
    let rule = Engine::new().check(&env(), &many).unwrap();
    let parts = rule.part_costs();
    assert!((200..=rule.inlined_nodes().max(2_000)).contains(&parts.len()), "{}", parts.len());
    assert_eq!(rule.static_cost(), parts.last().unwrap().cost);
    assert_eq!(Engine::new().check(&env(), "1 == 1").unwrap().static_cost().least, 1);
    assert_eq!(Engine::new().check(&env(), "true").unwrap().static_cost(), StaticCost::default());
}

/// The interpreter evaluates parts between `least` and `most` times.
#[test]
fn evaluations_are_within_the_bounds() {
    let mut request = http::Request::new(());
    *request.uri_mut() = "/admin/keys?a=1".parse().unwrap();
    for name in ["x-a", "x-b", "x-c"] {
        request.headers_mut().append(name, http::HeaderValue::from_static("v"));
    }
    let context = RequestContext::new(&request);
    let engine = Engine::builder().tier(Tier::Interpret).build();
    let cel = [
        "request.path.startsWith('/admin') && request.method != 'GET'",
        "request.path.startsWith('/x') && request.method != 'GET'",
        "request.headers.exists(h, h == 'x-b') || request.path == '/'",
        "request.headers.map(h, h.size() + 1).filter(n, n > 1).size() == 3",
        "request.headers.all(h, request.headers.exists(g, g == h))",
        "request.method == 'GET' ? request.path.size() : request.headers.size()",
        "[1, 2, 3].all(x, x > 0) && [1, 2].exists(x, x == 2)",
        "request.headers[?'x-a'].optMap(v, v + 'b').orValue('') == 'vb'",
        "cel.bind(p, request.path, p == '/admin/keys' || p.contains('z'))",
        "request.path.lowerAscii().split('/').map(s, s + '!').join('') != ''",
    ];
    let filter = [
        "http.request.method eq \"GET\" and http.request.uri.path contains \"keys\"",
        "any(http.request.headers.names[*] eq \"x-b\") or ssl",
        "all(lower(http.request.headers.names[*])[*] contains \"x\")",
        "not http.request.uri.path in {\"/a\" \"/b\"} xor ssl",
    ];
    for (source, is_filter) in cel.iter().map(|rule| (rule, false)).chain(filter.iter().map(|rule| (rule, true))) {
        let env = if is_filter { filter_env() } else { env() };
        let program = engine.compile(&env, source).unwrap_or_else(|error| panic!("{source}: {error}"));
        let mut scratch = Scratch::new();
        let trace = program.trace(&context, &mut scratch).unwrap();
        assert!(trace.result().is_ok(), "{source}");
        for part in parts(source, is_filter) {
            let span = part.span;
            let around = |other: &&celero::settings::TracedPart<'_>| {
                span.start <= other.span().start && other.span().end <= span.end
            };
            // A list of literals is no operation, but the interpreter makes it.
            let is_operation =
                |other: &&celero::settings::TracedPart<'_>| !source[other.span().start as usize..].starts_with('[');
            let whole = trace.parts().iter().find(|other| other.span() == span);
            let Some(times) = whole.map(celero::settings::TracedPart::evaluations).filter(|times| *times > 0) else {
                continue;
            };
            let evaluated: u64 = trace
                .parts()
                .iter()
                .filter(around)
                .filter(is_operation)
                .map(celero::settings::TracedPart::evaluations)
                .sum();
            let bounds = part.cost.least * times..=part.cost.most_for(3) * times;
            assert!(bounds.contains(&evaluated), "{source}: {span:?}: {evaluated} is not in {bounds:?}");
        }
    }
}

#[test]
fn rules_above_the_limit_are_refused_and_the_part_to_blame_is_named() {
    let check = |operations, elements, source: &str| {
        let engine = Engine::builder().limits(Limits { operations: Some(operations), elements, ..Limits::default() });
        engine.build().check(&env(), source).map_err(|error| {
            let [found] = error.diagnostics() else { panic!("{error}") };
            assert_eq!(found.code, "too-costly");
            source[found.span.start as usize..found.span.end as usize].to_owned()
        })
    };
    let source = "1 + 1 == 2 && [1, 2].exists(x, x == size(string(x)))";
    let cost = Engine::new().check(&env(), source).unwrap().static_cost().most_for(0);
    assert!(check(cost, 0, source).is_ok());
    assert_eq!(check(cost - 1, 0, source).unwrap_err(), source);
    assert_eq!(check(5, 0, source).unwrap_err(), "[1, 2].exists(x, x == size(string(x)))");
    let set = |operations| {
        let limits = Limits { operations, ..Limits::default() };
        Engine::builder().limits(limits).build().rules(&env()).rule("a", source, ()).build().is_ok()
    };
    assert_eq!([set(None), set(Some(cost)), set(Some(cost - 1))], [true, true, false]);
}
