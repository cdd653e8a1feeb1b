//! Sets of rules from the outside: building, asking, errors, budgets, memory.

use celero::sets::Indexing;
use celero::{
    Bindings, Context, Engine, Env, ErrorKind, ErrorPolicy, Limits, Rule, RuleSet, RuleSetError, Scratch, Tier, Type,
    Value,
};
use std::sync::Arc;

#[derive(Context)]
struct Call<'a> {
    path: &'a str,
    size: i64,
    tags: Vec<String>,
}

fn call(path: &str) -> Call<'_> {
    Call { path, size: 7, tags: vec!["red".into(), "blue".into()] }
}

const TIERS: [Tier; 2] = [Tier::Native, Tier::Interpret];

fn engine(tier: Tier) -> Engine {
    Engine::builder().tier(tier).build()
}

fn build(tier: Tier, sources: &[&str], policy: ErrorPolicy) -> Result<RuleSet<Call<'static>, usize>, RuleSetError> {
    let env = Env::<Call<'_>>::new();
    let rules = engine(tier).rules(&env).on_error(policy);
    sources.iter().enumerate().fold(rules, |rules, (n, source)| rules.rule(&format!("r{n}"), source, n)).build()
}

#[test]
fn modes() {
    for tier in TIERS {
        let set =
            build(tier, &["path == '/a'", "size == 7", "path == '/b'", "size > 5"], ErrorPolicy::NoMatch).unwrap();
        let scratch = &mut Scratch::new();
        assert_eq!(set.indices(&call("/b"), scratch).unwrap(), [1, 2, 3]);
        assert_eq!(set.count(&call("/b"), scratch), Ok(3));
        assert_eq!(set.any(&call("/b"), scratch), Ok(true));
        let first = set.first(&call("/b"), scratch).unwrap().unwrap();
        assert_eq!((first.index, first.name, *first.action), (1, "r1", 1));
        assert_eq!(set.indices(&call("/a"), scratch).unwrap(), [0, 1, 3]);
        assert_eq!((set.len(), set.source(2)), (4, Some("path == '/b'")));
        assert_eq!(set.native_rules(), if tier == Tier::Native { 4 } else { 0 });
    }
}

#[test]
fn an_empty_set_matches_nothing() {
    for tier in TIERS {
        let set = build(tier, &[], ErrorPolicy::Match).unwrap();
        let scratch = &mut Scratch::new();
        assert!(set.is_empty());
        assert_eq!(set.any(&call("/"), scratch), Ok(false));
        assert_eq!(set.indices(&call("/"), scratch).unwrap(), [0_usize; 0]);
        assert_eq!(set.first(&call("/"), scratch), Ok(None));
    }
}

#[test]
fn sizes_around_those_of_a_function() {
    for count in [1, 2, 63, 64, 65, 128, 129, 1000] {
        for tier in TIERS {
            let env = Env::<Call<'_>>::new();
            let rules = (0..count).fold(engine(tier).rules(&env), |rules, n| {
                rules.rule("r", &format!("size == {} && path.startsWith('/{}')", 7 + n % 3, n % 5), n)
            });
            let set = rules.build().unwrap();
            let want: Vec<usize> = (0..count).filter(|n| n % 3 == 0 && n % 5 == 2).collect();
            let scratch = &mut Scratch::new();
            assert_eq!(set.indices(&call("/2"), scratch).unwrap(), want, "{count} in {tier:?}");
            assert_eq!(set.first(&call("/2"), scratch).unwrap().map(|m| m.index), want.first().copied());
        }
    }
}

#[test]
fn duplicates_all_match() {
    for tier in TIERS {
        let set = build(tier, &["path == '/a' || size == 1"; 5], ErrorPolicy::NoMatch).unwrap();
        assert_eq!(set.indices(&call("/a"), &mut Scratch::new()).unwrap(), [0, 1, 2, 3, 4]);
        assert_eq!(set.count(&call("/b"), &mut Scratch::new()), Ok(0));
        let set = build(tier, &["1 / (size - 7) == 1"; 3], ErrorPolicy::Match).unwrap();
        assert_eq!(set.indices(&call("/a"), &mut Scratch::new()).unwrap(), [0, 1, 2]);
    }
}

#[test]
fn an_error_is_of_its_rule() {
    let sources = ["size == 7", "  1 / (size - 7) == 1", "1 / (size - 7) == 1", "path == '/'"];
    for tier in TIERS {
        let scratch = &mut Scratch::new();
        let set = build(tier, &sources, ErrorPolicy::NoMatch).unwrap();
        assert_eq!(set.indices(&call("/"), scratch).unwrap(), [0, 3]);
        let places: Vec<_> = scratch.errors().iter().map(|e| (e.rule, e.error.kind, e.error.start)).collect();
        let by_zero = ErrorKind::DivideByZero;
        assert_eq!(places, [(1, by_zero, 2), (2, by_zero, 0)], "{tier:?}: each in its own source");
        let set = build(tier, &sources, ErrorPolicy::Match).unwrap();
        assert_eq!(set.indices(&call("/"), scratch).unwrap(), [0, 1, 2, 3]);
        assert_eq!(scratch.errors().len(), 2);
        let set = build(tier, &sources, ErrorPolicy::Stop).unwrap();
        assert_eq!(set.count(&call("/"), scratch).unwrap_err().rule, 1);
        assert_eq!(scratch.errors().len(), 1);
        assert_eq!(set.first(&call("/"), scratch).unwrap().map(|m| m.index), Some(0), "it matches before the error");
        assert!(scratch.errors().is_empty());
    }
}

#[test]
fn every_rule_that_does_not_compile_is_reported() {
    for tier in TIERS {
        let error = build(tier, &["pth == '/'", "true", "size", "path =="], ErrorPolicy::NoMatch).unwrap_err();
        let names: Vec<&str> = error.rules().map(|(name, _)| name).collect();
        assert_eq!(names, ["r0", "r2", "r3"]);
        let codes: Vec<&str> = error.rules().flat_map(|(_, e)| e.diagnostics()).map(|d| d.code).collect();
        assert_eq!(codes, ["undeclared-name", "not-bool", "unexpected-end"]);
        assert!(error.to_string().contains("r2:1:1"), "{error}");
    }
}

#[test]
fn warnings_name_their_rule() {
    let set = build(Tier::Native, &["size == 7", "path == '/' || true"], ErrorPolicy::NoMatch).unwrap();
    assert!(matches!(set.warnings(), [(1, warning)] if warning.code == "constant-condition"), "{:?}", set.warnings());
}

#[test]
fn each_rule_has_its_own_steps() {
    let limits = Limits { steps: 100, ..Limits::default() };
    let env = Env::<Bindings<'static>>::dynamic().variable("l", Type::list(Type::Int));
    let items = [Value::Int(1); 60];
    let mut bindings = Bindings::new(&env);
    bindings.set("l", Value::List(celero::values::List::Slice(&items))).unwrap();
    for tier in TIERS {
        let engine = Engine::builder().tier(tier).limits(limits).build();
        let rules = engine.rules(&env).on_error(ErrorPolicy::NoMatch).rule("long", "l.all(x, l.all(y, y == x))", ());
        let set = (0..9).fold(rules, |rules, n| rules.rule("short", &format!("l.all(x, x > -{n} - 1)"), ())).build();
        let scratch = &mut Scratch::new();
        assert_eq!(set.unwrap().indices(&bindings, scratch).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9], "{tier:?}");
        let errors: Vec<_> = scratch.errors().iter().map(|e| (e.rule, e.error.kind)).collect();
        assert_eq!(errors, [(0, ErrorKind::OutOfBudget)]);
    }
}

#[test]
fn a_rule_alone_answers_as_in_its_set_and_leaves_no_trace() {
    let limits = Limits { steps: 100, memory: 4096, ..Limits::default() };
    let env = Env::<Bindings<'static>>::dynamic().variable("l", Type::list(Type::Int)).variable("s", Type::String);
    let other = Env::<Bindings<'static>>::dynamic().variable("x", Type::Int);
    let (items, text) = ([Value::Int(1); 60], "a".repeat(1000));
    let mut bindings = Bindings::new(&env);
    bindings.set("l", Value::List(celero::values::List::Slice(&items))).unwrap();
    bindings.set("s", Value::String(&text)).unwrap();
    for (tier, alone) in [(Tier::Native, true), (Tier::Native, false), (Tier::Interpret, true)] {
        let engine = Engine::builder().tier(tier).limits(limits).build();
        let rules = engine.rules(&env).on_error(ErrorPolicy::NoMatch).standalone(alone).counters(true).rule(
            "true",
            "l.all(x, x == 1)",
            (),
        );
        let rules = rules.rule("many steps", "l.all(x, l.all(y, y == x))", ());
        let rules = rules.rule("much memory", "(s + s + s + s + s + s).size() > 0", ());
        let set = rules.rule("false", "(s + '1').size() > 3000", ()).rule("fails", "l[60] == 1", ()).build().unwrap();
        let scratch = &mut Scratch::new();
        assert_eq!(set.count(&bindings, scratch), Ok(1));
        let errors = scratch.errors().to_vec();
        assert_eq!(errors.iter().map(|e| e.rule).collect::<Vec<_>>(), [1, 2, 4]);
        for rule in (0..set.len()).chain(0..set.len()) {
            let error = errors.iter().find(|error| error.rule == rule);
            let want = error.map_or(Ok(rule == 0), |error| Err(error.error));
            assert_eq!(set.test(rule, &bindings, scratch), Some(want), "{tier:?} {alone}");
        }
        assert_eq!(set.test(5, &bindings, scratch), None);
        assert_eq!(scratch.errors(), errors);
        let counts = set.counts().unwrap();
        assert_eq!((counts.evaluations, counts.rules.iter().map(|rule| rule.matches + rule.errors).sum()), (1, 4_u64));
        let refused = set.test(0, &Bindings::new(&other), scratch);
        assert!(refused.is_some_and(|answer| answer.is_err_and(|error| error.kind == ErrorKind::Host)));
    }
}

#[test]
fn each_rule_has_its_own_memory() {
    let limits = Limits { memory: 4096, ..Limits::default() };
    let env = Env::<Bindings<'static>>::dynamic().variable("s", Type::String);
    let text = "a".repeat(1000);
    let mut bindings = Bindings::new(&env);
    bindings.set("s", Value::String(&text)).unwrap();
    for tier in TIERS {
        let engine = Engine::builder().tier(tier).limits(limits).build();
        let rules =
            (0..20).fold(engine.rules(&env), |rules, n| rules.rule("r", &format!("(s + '{n}').size() > 1000"), n));
        let set = rules
            .on_error(ErrorPolicy::NoMatch)
            .rule("much", "(s + s + s + s + s + s).size() > 0", 20)
            .build()
            .unwrap();
        let scratch = &mut Scratch::new();
        assert_eq!(set.count(&bindings, scratch), Ok(20), "{tier:?}");
        let errors: Vec<_> = scratch.errors().iter().map(|e| (e.rule, e.error.kind)).collect();
        assert_eq!(errors, [(20, ErrorKind::OutOfBudget)]);
    }
}

/// Whether a set allows or denies, nobody passes it by making a rule fail, unless the host says so.
#[test]
fn a_set_without_a_policy_returns_the_error() {
    let env = Env::<Call<'_>>::new();
    for tier in TIERS {
        let rules = engine(tier).rules(&env).rule("fails", "1 / (size - 7) == 1", ()).rule("matches", "true", ());
        let set = rules.build().unwrap();
        let error =
            set.first(&call("/"), &mut Scratch::new()).map(|_| ()).map_err(|error| (error.rule, error.error.kind));
        assert_eq!((set.on_error(), error), (ErrorPolicy::Stop, Err((0, ErrorKind::DivideByZero))), "{tier:?}");
    }
}

#[test]
fn a_failing_function_of_the_host_ends_its_rule_alone() {
    let env = Env::<Call<'_>>::new()
        .pure_function("bad", |_: i64| -> bool { std::panic::panic_any("host") })
        .pure_function("good", |n: i64| n == 7);
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let mut answers = Vec::new();
    for tier in TIERS {
        let rules = engine(tier).rules(&env).on_error(ErrorPolicy::NoMatch).rule("a", "good(size)", ()).rule(
            "b",
            "bad(size)",
            (),
        );
        let set = rules.rule("c", "good(size) && path == '/'", ()).build().unwrap();
        let scratch = &mut Scratch::new();
        answers.push((set.indices(&call("/"), scratch).unwrap().to_vec(), scratch.errors().to_vec()));
    }
    std::panic::set_hook(quiet);
    for (matched, errors) in answers {
        assert_eq!(matched, [0, 2]);
        assert!(matches!(errors.as_slice(), [e] if e.rule == 1 && e.error.kind == ErrorKind::Host), "{errors:?}");
    }
}

#[test]
fn other_variables_fail_every_rule() {
    let env = Env::<Bindings<'static>>::dynamic().variable("x", Type::Int);
    let other = Env::<Bindings<'static>>::dynamic().variable("y", Type::Int);
    for (policy, want) in [(ErrorPolicy::NoMatch, Ok(0)), (ErrorPolicy::Match, Ok(2)), (ErrorPolicy::Stop, Err(0))] {
        let rules = engine(Tier::Native).rules(&env).on_error(policy);
        let set = rules.rule("a", "true", ()).rule("b", "x == 1", ()).build().unwrap();
        let scratch = &mut Scratch::new();
        assert_eq!(set.count(&Bindings::new(&other), scratch).map_err(|e| e.rule), want);
        assert!(scratch.errors().iter().all(|e| e.error.kind == ErrorKind::Host));
    }
}

#[test]
fn a_rule_too_large_for_native_code_is_interpreted() {
    let limits = Limits { constants: 64, ..Limits::default() };
    let long = format!("path == '{}'", "b".repeat(1000));
    let env = Env::<Call<'_>>::new();
    let build = |tier| {
        let engine = Engine::builder().tier(tier).limits(limits).build();
        engine.rules(&env).rule("a", "size == 7", ()).rule("b", &long, ()).rule("c", "size > 2", ()).build()
    };
    let set = build(Tier::Auto).unwrap();
    assert_eq!(set.native_rules(), 2);
    assert_eq!(set.indices(&call("/"), &mut Scratch::new()).unwrap(), [0, 2]);
    assert_eq!(set.indices(&call(&"b".repeat(1000)), &mut Scratch::new()).unwrap(), [0, 1, 2]);
    let error = build(Tier::Native).unwrap_err();
    assert!(error.rules().map(|(name, e)| (name, e.diagnostics().len())).eq([("b", 1)]), "{error}");
}

#[test]
fn sets_can_be_shared_between_threads() {
    let set =
        Arc::new(build(Tier::Native, &["path == '/a'", "tags.exists(t, t == 'blue')"], ErrorPolicy::NoMatch).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let set = Arc::clone(&set);
            scope.spawn(move || {
                let scratch = &mut Scratch::new();
                for _ in 0..1000 {
                    assert_eq!(set.indices(&call("/a"), scratch).unwrap(), [0, 1]);
                }
            });
        }
    });
}

#[test]
fn priorities_order_the_rules() {
    let env = Env::<Call<'_>>::new();
    let builder =
        engine(Tier::Native).rules(&env).rule("b", "true", 1).with_rule(Rule::new("c", "true", 2).priority(7));
    let rules = builder.with_rule(Rule::new("a", "size == 7", 3).priority(-1)).rule("b2", "true", 4).build().unwrap();
    let names: Vec<&str> = (0..rules.len()).filter_map(|index| rules.get(index)).map(|rule| rule.name).collect();
    assert_eq!(names, ["a", "b", "b2", "c"]);
    assert_eq!(rules.source(0), Some("size == 7"));
    let first = rules.first(&call("/"), &mut Scratch::new()).unwrap().unwrap();
    assert_eq!((first.index, *first.action), (0, 3));
}

#[test]
fn each_tag_has_its_first_match() {
    for tier in TIERS {
        let env = Env::<Call<'_>>::new();
        let rules = engine(tier).rules(&env).with_rules([
            Rule::new("a", "path == '/a'", 1).tag("path").tag("any"),
            Rule::new("all", "true", 2).tag("path").tag("any").tag("all"),
            Rule::new("none", "false", 3).tag("never"),
            Rule::new("bare", "true", 4),
        ]);
        let rules = rules.build().unwrap();
        let mut scratch = Scratch::new();
        let mut ask = |path: &str| {
            let found = rules.first_per_tag(&call(path), &mut scratch).unwrap();
            found.map(|(tag, rule)| (tag.to_owned(), rule.name.to_owned())).collect::<Vec<_>>()
        };
        let pair = |tag: &str, rule: &str| (tag.to_owned(), rule.to_owned());
        // In the order of the rules, then of the alphabet.
        assert_eq!(ask("/a"), [pair("any", "a"), pair("path", "a"), pair("all", "all")]);
        assert_eq!(ask("/b"), [pair("all", "all"), pair("any", "all"), pair("path", "all")]);
        assert_eq!(rules.tags(1).collect::<Vec<_>>(), ["all", "any", "path"]);
    }
}

#[test]
fn lists_find_rules_by_values_of_any_type() {
    let env = Env::dynamic().variable("v", Type::Dyn).variable("n", Type::Int);
    let sources = ["v in ['a', 'b']", "v in ['b', 'c'] && n > 1", "v in ['a', 1]", "v in []", "!(v in ['a'])"];
    for policy in [ErrorPolicy::NoMatch, ErrorPolicy::Match, ErrorPolicy::Stop] {
        let set = |indexing| {
            let rules = Engine::new().rules(&env).on_error(policy).index(indexing);
            sources.iter().fold(rules, |rules, source| rules.rule("r", source, ())).build().unwrap()
        };
        let (always, off) = (set(Indexing::Always), set(Indexing::Off));
        assert!(always.indexed_rules() >= 2 && off.indexed_rules() == 0);
        let values = [Value::String("a"), Value::String("b"), Value::String("d"), Value::Int(1), Value::Null];
        for value in values.into_iter().map(Some).chain([None]) {
            let mut bindings = Bindings::new(&env);
            bindings.set("n", Value::Int(2)).unwrap();
            if let Some(value) = value {
                bindings.set("v", value).unwrap();
            }
            let (mut a, mut b) = (Scratch::new(), Scratch::new());
            assert_eq!(always.indices(&bindings, &mut a), off.indices(&bindings, &mut b), "{value:?} {policy:?}");
            assert!(policy == ErrorPolicy::NoMatch || a.errors() == b.errors(), "{value:?} {policy:?}");
        }
    }
}
