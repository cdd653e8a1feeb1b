//! Rules come and go for years: what is dropped is given back, and code pages are never writable
//! and executable at once. `CELERO_RELOADS=100000` runs the long form.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crate::exclusive;
use celero::http::RequestContext;
use celero::{Engine, Env, ErrorPolicy, Program, Scratch, Tier};
use celero_tests::heap;
use celero_tests::shared::say;

/// Permissions and names of the mappings of this process.
fn mappings() -> Vec<(String, String)> {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        (words.nth(1).unwrap().to_owned(), words.nth(3).unwrap_or_default().to_owned())
    };
    text.lines().map(line).collect()
}

/// Executable mappings that are of no file: generated code.
fn generated() -> usize {
    mappings().iter().filter(|(permissions, name)| permissions.contains('x') && name.is_empty()).count()
}

fn writable_and_executable() -> usize {
    mappings().iter().filter(|(permissions, _)| permissions.contains('x') && permissions.contains('w')).count()
}

fn compile(engine: &Engine, env: &Env<RequestContext<'static>>, i: u64) -> Program<RequestContext<'static>> {
    let source = match i % 4 {
        0 => format!("request.headers['x-{i}'] == 'value-{i}'"),
        1 => format!("request.path.matches('^/user/{i}/[^/]+$') || request.method in ['A{i}', 'B', 'C', 'D', 'E']"),
        2 => format!("cidr('10.0.0.0/8').containsIP(source.address) && request.query.contains('{i}')"),
        _ => format!("[{i}, 2, 3].map(x, x * 2).exists(x, x == {i}) ? 'a' + request.path == 'b' : true"),
    };
    engine.compile(env, &source).expect(&source)
}

/// The number of the first rule. Numbers of one length make rules of few shapes, whose code the
/// engine keeps from the first rounds on.
const FIRST: u64 = 1_000_000;

#[test]
fn dropped_rules_are_given_back() {
    let _exclusive = exclusive();
    let env = Env::<RequestContext<'_>>::new();
    let engine = Engine::builder().tier(Tier::Native).build();
    let request = http::Request::get("/a?b").body(()).unwrap();
    let context = RequestContext::new(&request);
    let reloads: u64 = std::env::var("CELERO_RELOADS").map_or(2000, |n| n.parse().unwrap());
    let warm = reloads / 2;
    let before = generated();
    let mut base = 0;
    for i in 0..reloads {
        if i == warm {
            base = heap::held();
        }
        let _ = compile(&engine, &env, FIRST + i).test(&context);
    }
    let grown = heap::held().saturating_sub(base);
    say(&format!("reload: {grown} bytes grown in {} reloads after {warm}", reloads - warm));
    // A byte lost in every reload would show.
    assert!((grown as u64) < reloads - warm, "{grown} bytes in {} reloads", reloads - warm);
    assert_eq!(generated(), before, "code stays mapped");
}

#[test]
fn dropping_an_engine_leaves_its_programs_alive() {
    let _exclusive = exclusive();
    let env = Env::<RequestContext<'_>>::new();
    let before = generated();
    let program = compile(&Engine::builder().tier(Tier::Native).build(), &env, 3);
    let twin = program.clone();
    drop(program);
    let request = http::Request::get("/a?b").body(()).unwrap();
    assert!(generated() > before, "there is no code to look at");
    assert!(twin.test(&RequestContext::new(&request)).is_ok());
    drop(twin);
    assert_eq!(generated(), before);
}

#[test]
fn dropped_sets_are_given_back() {
    let _exclusive = exclusive();
    let env = Env::<RequestContext<'_>>::new();
    let engine = Engine::builder().tier(Tier::Native).build();
    let request = http::Request::get("/a?b").body(()).unwrap();
    let context = RequestContext::new(&request);
    let before = generated();
    let round = |round: usize| {
        let rules = (0..150).fold(engine.rules(&env).on_error(ErrorPolicy::NoMatch), |rules, n| {
            let source = format!("request.path == '/{round}-{n}' || request.headers['x-{n}'].contains('{n}x')");
            rules.rule("r", &source, n)
        });
        let set = rules.build().unwrap();
        assert_eq!(set.native_rules(), 150);
        assert!(generated() > before, "there is no code to look at");
        assert_eq!(set.count(&context, &mut Scratch::new()), Ok(0));
    };
    (0..8).for_each(round);
    let base = heap::held();
    (8..28).for_each(round);
    let grown = heap::held().saturating_sub(base);
    say(&format!("reload: {grown} bytes grown in 20 sets"));
    assert_eq!(generated(), before, "code stays mapped");
    // A byte lost with every rule would show.
    assert!(grown < 20 * 150, "{grown} bytes");
}

#[test]
fn no_page_is_writable_and_executable() {
    let _exclusive = exclusive();
    let env = Env::<RequestContext<'_>>::new();
    let engine = Engine::builder().tier(Tier::Native).build();
    let before = generated();
    let mut alive = Vec::new();
    for i in 0..40 {
        alive.push(compile(&engine, &env, i));
        assert_eq!(writable_and_executable(), 0, "after {} rules", alive.len());
    }
    assert!(generated() > before, "there is no code to look at");
    drop(alive);
    assert_eq!(generated(), before);
    assert_eq!(writable_and_executable(), 0);
}
