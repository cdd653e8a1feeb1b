//! Limits of steps, of memory and of compiled patterns hold for indexed rules as for standalone ones.

use super::*;

#[test]
fn a_found_rule_has_the_budget_of_one_alone() {
    let limits = Limits { steps: 200, memory: 4096, ..Limits::default() };
    let env = Env::dynamic()
        .variable("host", Type::String)
        .variable("text", Type::String)
        .variable("list", Type::list(Type::Int));
    let mut sources = vec![
        "host == 'a' && list.all(x, list.all(y, y == x))".to_owned(),
        "host == 'a' && (text + text + text + text + text + text).size() > 0".to_owned(),
    ];
    sources.extend((0..30).map(|n| format!("host == 'a' && (text + '{n}').size() > 1000")));
    sources.extend((0..30).map(|n| format!("host == 'a' && list.all(x, x > -{n} - 1)")));
    sources.extend((0..30).map(|n| format!("host == 'b{n}' && list.all(x, list.all(y, y == x))")));
    let (items, text) = ([Value::Int(1); 60], "a".repeat(1000));
    for tier in TIERS {
        let engine = Engine::builder().tier(tier).limits(limits).build();
        let alone: Vec<_> = sources.iter().map(|source| engine.compile(&env, source).unwrap()).collect();
        for policy in POLICIES {
            let set = build(&engine, &env, &sources, Indexing::Always, policy);
            assert_eq!(set.indexed_rules(), sources.len());
            for host in ["a", "b3", "c"] {
                let mut bindings = Bindings::new(&env);
                bindings.set("host", Value::String(host)).unwrap();
                bindings.set("text", Value::String(&text)).unwrap();
                bindings.set("list", Value::List(List::Slice(&items))).unwrap();
                as_alone(&set, &alone, &bindings);
                let mut scratch = Scratch::new();
                let _ = set.indices(&bindings, &mut scratch);
                let spent: Vec<usize> = scratch.errors().iter().map(|error| error.rule).collect();
                let expected = match host {
                    "a" if policy == ErrorPolicy::Stop => vec![0],
                    "a" => vec![0, 1],
                    "b3" => vec![sources.iter().position(|source| source.contains("'b3'")).unwrap()],
                    _ => vec![],
                };
                assert_eq!(spent, expected, "{host}, {policy:?} in {tier:?}");
                assert!(scratch.errors().iter().all(|error| error.error.kind == ErrorKind::OutOfBudget));
            }
        }
    }
}

/// Patterns with tables of their own, found by literals and by tables of all, large, and of more than ASCII.
fn pattern_rules() -> Vec<String> {
    let of = |n: usize| {
        let rest = format!("request.host == 'a' && request.path.matches('/{n}[a-z]+/x')");
        let patterns = ["^/{n}/[^/]+$", "/user{n}.*view", "{n}[0-9]{2}", "[{n}-9][^a-z][a-z]$", "(?i){n}k+[äk]"];
        let all = patterns.map(|pattern| format!("request.path.matches('{}')", pattern.replace("{n}", &n.to_string())));
        [rest].into_iter().chain(all)
    };
    (1..8).flat_map(of).collect()
}

#[test]
fn patterns_without_room_answer_as_those_with_it() {
    let env = env();
    let sources = pattern_rules();
    let alone: Vec<_> = sources.iter().map(|source| engine(Tier::Native).compile(&env, source).unwrap()).collect();
    let paths = ["/1/a", "/user3/view", "/x123", "/5abc/x", "/7-a", "/%C3%A4", "/2kkK"];
    let inputs: Vec<Input> = paths.iter().map(|path| Input::new(&format!("path={path} :host=a"))).collect();
    for patterns in [0, 1 << 12, 1 << 15, 1 << 18] {
        let engine = Engine::builder().limits(Limits { patterns, ..Limits::default() }).build();
        for indexing in [Indexing::Always, Indexing::Off] {
            let set = build(&engine, &env, &sources, indexing, ErrorPolicy::Match);
            for _ in 0..2 {
                inputs.iter().for_each(|input| as_alone(&set, &alone, &input.call()));
            }
        }
        let programs = sources.iter().map(|source| engine.compile(&env, source).unwrap());
        for (program, alone) in programs.zip(&alone) {
            inputs.iter().for_each(|input| assert_eq!(program.test(&input.call()), alone.test(&input.call())));
        }
    }
}

#[test]
fn a_pattern_without_room_is_paid_for_with_steps() {
    let env = env();
    let input = Input::new("path=/ab/x12y :host=h");
    for (patterns, compiled) in [(0, false), (1 << 20, true)] {
        for (indexing, rule) in [(Indexing::Always, "steps[0-9]"), (Indexing::Off, "steps[0-8]")] {
            let limits = Limits { patterns, steps: 500, ..Limits::default() };
            let engine = Engine::builder().tier(Tier::Native).limits(limits).build();
            let source = format!("request.host == 'h' && !request.path.matches('{rule}.*x')");
            let set = build(&engine, &env, &[source], indexing, ErrorPolicy::Stop);
            let answer = set.any(&input.call(), &mut Scratch::new());
            let wanted = if compiled { Ok(true) } else { Err(ErrorKind::OutOfBudget) };
            assert_eq!(answer.map_err(|error| error.error.kind), wanted, "{indexing:?}");
        }
    }
}
